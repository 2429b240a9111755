//! `forks control`: commands from tasks, checked by the motion that they bring.

use crate::support;

use std::{fs, path::PathBuf, sync::LazyLock};

use serde_json::Value;

use support::{forks, json, norm, numbers, path_in, refuses, repository, text};

/// Three links of 0.5 m on hinges about y, and a wrist; a site at the tip.
static ARM: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = path_in("control", "arm.xml");
    let link = |name: &str, inner: &str| {
        format!(
            r#"<body name="{name}" pos="0.5 0 0"><inertial mass="1" pos="0.25 0 0"
            diaginertia="0.01 0.02 0.02"/><joint name="{name}_joint" axis="0 1 0"
            range="-2 2" damping="0.1"/>{inner}</body>"#
        )
    };
    let tip = link("hand", r#"<site name="tip" pos="0.5 0 0"/>"#);
    let arm = link("upper", &link("lower", &tip));
    let all = format!(
        r#"<mujoco><compiler angle="radian" autolimits="true"/><worldbody>{arm}</worldbody>
        <keyframe><key name="bent" qpos="-0.5 0.9 0.4"/></keyframe></mujoco>"#
    );
    fs::write(&path, all).unwrap();
    path
});

fn bent<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let path: &'static str = Box::leak(text(&ARM).to_owned().into_boxed_str());
    [&["control", path, "--state", "key:bent"], more].concat()
}

fn position(report: &Value, link: &str) -> [f64; 3] {
    let links = report["links"].as_array().unwrap();
    let l = links.iter().find(|l| l["name"] == link).unwrap();
    numbers(&l["position"]).try_into().unwrap()
}

#[test]
fn a_dragged_site_arrives_with_every_objective() {
    for objective in ["torque", "acceleration", "velocity", "energy", "jerk"] {
        let task = "link site:tip position 1.4,0,0.2 rows=x,z axes=world";
        let posture = "posture level=2";
        let steps = ["--steps", "400", "--step", "0.005", "--minimise", objective];
        let run = bent(&[&["--task", task, "--task", posture], &steps[..]].concat());
        let report = json(&run);
        assert_eq!(report["minimise"], objective);
        assert_eq!(report["steps"], 400);
        let rows = report["tasks"][0]["rows"].as_array().unwrap();
        assert_eq!(rows.iter().map(|r| r["row"].as_str().unwrap()).collect::<Vec<_>>(), ["x", "z"]);
        for r in rows {
            assert!(r["error"].as_f64().unwrap().abs() < 1e-6, "{objective}: {r}");
            assert!(r["met"].as_bool().unwrap());
        }
        // Where the hand is says that the tip is there.
        let q = numbers(&report["qpos"]);
        let (a, b, c) = (q[0], q[0] + q[1], q[0] + q[1] + q[2]);
        let x = 0.5 + 0.5 * (a.cos() + b.cos() + c.cos());
        let z = -0.5 * (a.sin() + b.sin() + c.sin());
        assert!((x - 1.4).abs() < 1e-6 && (z - 0.2).abs() < 1e-6, "{x} {z}");
    }
}

#[test]
fn one_step_gives_the_least_commands_by_name() {
    let report = json(&bent(&["--task", "joint lower_joint 1.0"]));
    assert_eq!(report["status"], "solved");
    let commands = report["commands"].as_array().unwrap();
    let names: Vec<&str> = commands.iter().map(|c| c["joint"].as_str().unwrap()).collect();
    assert_eq!(names, ["upper_joint", "lower_joint", "hand_joint"]);
    assert!(commands.iter().all(|c| c["unit"] == "N·m" && c["limit"].is_null()));
    let values: Vec<f64> = commands.iter().map(|c| c["value"].as_f64().unwrap()).collect();
    assert!((norm(&values) - report["norm"].as_f64().unwrap()).abs() < 1e-12);
    // Damped towards 1.0 from 0.9 at rest: a rate of h k e.
    let rate = numbers(&report["qvel"])[1];
    assert!((rate - 1e-3 * 100.0 * 0.1).abs() < 1e-10, "{rate}");
    // Only one joint has a command: the same rate by another way.
    let one = json(&bent(&["--task", "joint lower_joint 1.0", "--actuate", "lower_joint"]));
    assert!((numbers(&one["qvel"])[1] - rate).abs() < 1e-10);
    assert!(one["norm"].as_f64().unwrap() > report["norm"].as_f64().unwrap());
}

#[test]
fn limits_hold_and_what_gives_way_is_named() {
    let run = bent(&["--task", "joint lower_joint 1.9 k=400 name=bend", "--largest", "3"]);
    let out = forks(&[&run[..], &["--json"]].concat());
    assert!(out.status.success());
    let warning = String::from_utf8(out.stderr).unwrap();
    assert!(warning.contains("task 'bend' (level 1) gives way: row angle ends -"), "{warning}");
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["status"], "relaxed");
    let values = report["commands"].as_array().unwrap().iter();
    let largest = values.map(|c| c["value"].as_f64().unwrap().abs()).fold(0.0, f64::max);
    assert!((largest - 3.0).abs() < 1e-9, "{largest}");
    let relaxed = &report["relaxed"][0];
    assert_eq!(
        (&relaxed["name"], &relaxed["row"], &relaxed["level"]),
        (&Value::from("bend"), &Value::from("angle"), &Value::from(1))
    );
    assert_eq!(relaxed["by"], report["tasks"][0]["rows"][0]["residual"]);
}

#[test]
fn tasks_that_contradict_each_other_share_by_level() {
    let same = json(&bent(&[
        "--task",
        "joint lower_joint 1.0 name=a",
        "--task",
        "joint lower_joint 0.6 name=b weight=2",
    ]));
    assert_eq!(same["status"], "relaxed");
    let named = same["relaxed"].as_array().unwrap().iter();
    assert_eq!(named.map(|r| r["name"].as_str().unwrap()).collect::<Vec<_>>(), ["a", "b"]);
    // Weights 1 and 2 count squared: the rate is h k (0.1 − 4 · 0.3)/5.
    let rate = numbers(&same["qvel"])[1];
    assert!((rate - 1e-3 * 100.0 * (0.1 - 1.2) / 5.0).abs() < 1e-10, "{rate}");
    let apart = json(&bent(&[
        "--task",
        "joint lower_joint 1.0 name=a level=0",
        "--task",
        "joint lower_joint 0.6 name=b",
    ]));
    assert_eq!(apart["relaxed"].as_array().unwrap().len(), 1);
    assert_eq!(apart["relaxed"][0]["name"], "b");
    assert!((numbers(&apart["qvel"])[1] - 1e-3 * 100.0 * 0.1).abs() < 1e-10);
}

#[test]
fn joints_stay_within_their_ranges() {
    let run = ["--task", "joint hand_joint 3", "--steps", "400", "--step", "0.005"];
    let free = json(&bent(&run));
    assert!(numbers(&free["qpos"])[2] > 2.5);
    let kept = json(&bent(&[&run[..], &["--joint-limits", "30"]].concat()));
    let q = numbers(&kept["qpos"])[2];
    assert!(q <= 2.0 + 1e-9 && q > 1.999, "{q}");
    assert!(kept["relaxed_steps"].as_u64().unwrap() > 0);
}

#[test]
fn mechanisms_with_loops_are_driven_and_stay_closed() {
    // A parallelogram: the coupler moves on a circle about the crank's angle.
    let path = path_in("control", "parallelogram.xml");
    let link = |name: &str, place: &str, length: &str, inner: &str| {
        format!(
            r#"<body name="{name}" pos="{place}"><inertial mass="0.5" pos="{length}"
            diaginertia="0.01 0.01 0.01"/><joint name="{name}_joint" axis="0 1 0"
            damping="0.01"/>{inner}</body>"#
        )
    };
    let coupler = link("coupler", "0 0 0.3", "0.2 0 0", "");
    let crank = link("crank", "0 0 0", "0 0 0.15", &coupler);
    let rocker = link("rocker", "0.4 0 0", "0 0 0.15", "");
    let all = format!(
        r#"<mujoco><worldbody>{crank}{rocker}</worldbody><equality><connect body1="coupler"
        body2="rocker" anchor="0.4 0 0"/></equality></mujoco>"#
    );
    fs::write(&path, all).unwrap();
    let angle = 0.4f64;
    let target = format!("link coupler position {},0,{}", 0.3 * angle.sin(), 0.3 * angle.cos());
    let task = format!("{target} rows=x axes=world");
    let steps = ["--actuate", "rocker_joint", "--steps", "400", "--step", "0.005"];
    let report = json(&[&["control", text(&path), "--task", &task], &steps[..]].concat());
    let end = position(&report, "coupler");
    let error = norm(&[end[0] - 0.3 * angle.sin(), end[2] - 0.3 * angle.cos()]);
    assert!(error < 1e-6, "{error}: {}", report["tasks"]);
    assert!(report["largest_loop_gap"].as_f64().unwrap() < 1e-9);
    // Virtual work: the two links' weights at half their length, the coupler's at the whole.
    let torque = -9.81 * 0.3 * angle.sin() * (0.5 * (0.5 + 0.5 + 1.0));
    let command = report["commands"][0]["value"].as_f64().unwrap();
    assert!((command - torque).abs() < 1e-4, "{command} {torque}");
}

#[test]
fn a_humanoid_keeps_its_feet_while_it_reaches() {
    let model = repository("fixtures/models/dmc_humanoid_CMU/humanoid_CMU.xml");
    let tasks = [
        "link lfoot pose level=0",
        "link rfoot pose level=0",
        "link rhand position 0.3,-0.5,1.3",
        "posture level=2",
    ];
    let tasks: Vec<&str> = tasks.iter().flat_map(|t| ["--task", *t]).collect();
    let steps = ["--steps", "10", "--step", "0.001"];
    let report = json(&[&["control", text(&model)], &tasks[..], &steps[..]].concat());
    for foot in &report["tasks"].as_array().unwrap()[..2] {
        for r in foot["rows"].as_array().unwrap() {
            assert!(r["residual"].as_f64().unwrap().abs() < 1e-10, "{foot}");
            assert!(r["error"].as_f64().unwrap().abs() < 1e-3, "{foot}");
        }
    }
    let certificates = report["certificates"].as_array().unwrap();
    for c in certificates {
        assert!(c["primal"].as_f64().unwrap() < 1e-8, "{c}");
    }
}

#[test]
fn the_motion_is_written_in_every_form() {
    let files: Vec<PathBuf> =
        ["html", "glb", "csv", "json"].map(|e| path_in("control", &format!("arm.{e}"))).to_vec();
    let mut run = bent(&["--task", "link hand still", "--steps", "10", "--task", "com"]);
    for f in &files {
        run.extend(["-o", text(f)]);
    }
    json(&run);
    let page = fs::read_to_string(&files[0]).unwrap();
    assert!(page.contains("hand still: level 1") && page.contains("rows that give way"));
    assert!(fs::read(&files[1]).unwrap().starts_with(b"glTF"));
    let table = fs::read_to_string(&files[2]).unwrap();
    assert_eq!(table.lines().count(), 12);
    assert!(table.starts_with("time (s),norm of the commands"), "{table}");
    let recorded: Value = serde_json::from_slice(&fs::read(&files[3]).unwrap()).unwrap();
    assert_eq!(recorded["samples"].as_array().unwrap().len(), 11);
    let series = recorded["series"].as_array().unwrap();
    assert!(series.iter().any(|s| s["name"] == "command lower_joint" && s["unit"] == "N·m"));
    let out = forks(&[&run[..], &["-o", "motion.txt"]].concat());
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn what_is_not_there_is_said_with_what_may_be_meant() {
    refuses(
        &bent(&["--task", "link site:tipp position"]),
        &["task 'site:tipp position'", "no site 'tipp' (did you mean 'tip'?)"],
    );
    refuses(&bent(&["--task", "link Hand position"]), &["no link 'Hand' (did you mean 'hand'?)"]);
    refuses(
        &bent(&["--task", "joint knee 1"]),
        &["no joint 'knee' (it has 'upper_joint', 'lower_joint', 'hand_joint')"],
    );
    refuses(
        &bent(&["--task", "posture", "--actuate", "hand_jont"]),
        &["--actuate hand_jont: the model has no joint", "did you mean 'hand_joint'?"],
    );
    refuses(
        &bent(&["--task", "posture", "--limit", "hand=3"]),
        &["--limit hand=3: the model has no joint 'hand'", "hand_joint"],
    );
    refuses(
        &bent(&["--task", "link hand orientation 0,0,0,0"]),
        &["task hand orientation: the length of the quaternion is 0"],
    );
    let usage = |arguments: &[&str], word: &str| {
        let out = forks(arguments);
        assert_eq!(out.status.code(), Some(2));
        let message = String::from_utf8(out.stderr).unwrap();
        assert!(message.contains(word), "{message}");
    };
    usage(
        &bent(&["--task", "link hand position 0,nan,1"]),
        "number 2 of the target is NaN; it has to be finite",
    );
    usage(&bent(&[]), "--task <TASK>");
}

#[test]
fn the_text_has_commands_and_rows() {
    let out = forks(&bent(&["--task", "joint lower_joint 1.0"]));
    let said = String::from_utf8(out.stdout).unwrap();
    for word in ["status                     solved", "commands of the last step (3)", "angle"] {
        assert!(said.contains(word), "{said}");
    }
}
