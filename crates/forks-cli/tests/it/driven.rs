//! Driven scenes and `forks control` of reduced models, as a user calls them.

use crate::support;

use std::{fs, path::PathBuf, sync::LazyLock};

use forks_models::peg_arm;
use forks_rom::ReducedModel;

use support::{forks, json, numbers, path_in, refuses, text};

/// An arm of six servos as MJCF, and reduced to its peg.
static ARM: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    let model = path_in("driven", "arm.xml");
    forks_import::write::save_mjcf(&peg_arm().mechanism, &model).unwrap();
    let file = path_in("driven", "arm.forks");
    json(&["reduce", text(&model), "--effector", "peg", "-o", text(&file)]);
    [model, file]
});

/// Where the peg is, and so far aside.
fn aside(by: f64) -> String {
    let model = ReducedModel::load(&ARM[1]).unwrap();
    let at = model.data().effectors[0].rest.translation;
    format!("{},{},{}", at.x, at.y + by, at.z)
}

fn scene(name: &str, tables: &str) -> PathBuf {
    let path = path_in("driven", name);
    let text = format!(
        "title = \"aside\"\nworld = {{ duration = 0.5, step = 0.005, frames = 20 }}\n\
         [[mechanism]]\nname = \"arm\"\nparametric = \"peg_arm\"\neffectors = [\"peg\"]\n\
         own_shapes = false\n{tables}"
    );
    fs::write(&path, text).unwrap();
    path
}

const ASIDE: &str = "[[task]]\nlink = \"peg\"\nlevel = 0\n\
    way = { times = [0, 0.4], keys = [[0, 0, 0], [0, 0.02, 0]], relative = true }\n";

#[test]
fn a_driven_scene_reports_what_became_of_its_tasks() {
    let path = scene("aside.toml", ASIDE);
    for more in [&[][..], &["--full"]] {
        let report = json(&[&["simulate", text(&path)], more].concat());
        assert_eq!(report["status"], "completed");
        let driven = &report["driven"];
        assert_eq!(driven["relaxed_steps"], 0);
        assert!(driven["first_relaxed"].is_null());
        let error = &driven["watched"][0];
        assert_eq!(
            (&error["mechanism"], &error["name"]),
            (&"arm".into(), &"peg position error".into())
        );
        assert_eq!(error["unit"], "m");
        assert!(error["last"].as_f64().unwrap() < 2e-4, "{error}");
        assert!(error["largest"].as_f64().unwrap() < 1e-3, "{error}");
        // What was planned is what the world did.
        let plan = &driven["watched"][2];
        assert_eq!(plan["name"], "rates beside the plan");
        assert!(plan["largest"].as_f64().unwrap() < 1e-9, "{plan}");
    }
    let plain = scene("plain.toml", "");
    assert!(json(&["simulate", text(&plain)])["driven"].is_null());
}

#[test]
fn recordings_have_targets_and_errors() {
    let path = scene("recorded.toml", ASIDE);
    let [csv, page, data] = ["r.csv", "r.html", "r.json"].map(|name| path_in("driven", name));
    let outputs = ["-o", text(&csv), "-o", text(&page), "-o", text(&data)];
    json(&[&["simulate", text(&path)], &outputs[..]].concat());
    let head = fs::read_to_string(&csv).unwrap();
    let head = head.lines().next().unwrap();
    assert!(head.contains("arm: peg position error (m)"), "{head}");
    assert!(head.contains("target of peg position x (m)"), "{head}");
    assert!(fs::read_to_string(&page).unwrap().contains("target of peg position"));
    let data: serde_json::Value = serde_json::from_slice(&fs::read(&data).unwrap()).unwrap();
    assert_eq!(data["driven"][0], "arm: peg position error");
    let last = data["samples"].as_array().unwrap().last().unwrap();
    assert_eq!(numbers(&last["driven"]).len(), data["driven"].as_array().unwrap().len());
    // The knob is where the target ends.
    let place = numbers(last["positions"].as_array().unwrap().last().unwrap());
    let links = data["links"].as_array().unwrap();
    assert_eq!(links.last().unwrap(), "target of peg position");
    assert!((place[1] - 0.02).abs() < 1e-12, "{place:?}");
}

#[test]
fn a_scene_whose_decisions_fail_stops_and_says_why() {
    let path = scene("refused.toml", "[[task]]\nlink = \"peg\"\nweight = -1\n");
    let out = forks(&["simulate", text(&path), "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["status"], "stopped");
    let message = report["message"].as_str().unwrap();
    assert!(message.contains("after 0 s") && message.contains("the weight is -1"), "{message}");
    let path = scene("unknown.toml", "[[task]]\nlink = \"pen\"\n");
    refuses(&["simulate", text(&path)], &["unknown.toml", "task 1", "no effector 'pen'"]);
}

#[test]
fn reduced_models_are_driven_by_tasks_and_by_prediction() {
    let task = format!("link peg position {} level=0", aside(0.01));
    let common = ["--steps", "300", "--step", "0.005", "--task", &task];
    let run = [&["control", text(&ARM[1])], &common[..]].concat();
    let report = json(&run);
    assert_eq!((&report["status"], &report["horizon"]), (&"solved".into(), &().into()));
    assert_eq!(report["commands"].as_array().unwrap().len(), 6);
    let largest = |report: &serde_json::Value| {
        let rows = report["rows"].as_array().unwrap();
        rows.iter().map(|r| r["error"].as_f64().unwrap().abs()).fold(0.0, f64::max)
    };
    assert!(largest(&report) < 1e-6, "{report}");
    // The same within bounds that hold it back, predicted.
    let ahead = ["--horizon", "20", "--largest", "0.05"];
    let report = json(&[&run[..], &ahead].concat());
    // At one step of the 300 the guesses go round in circles by rounding, and the report says so.
    let cut = report["cut_steps"].as_u64().unwrap();
    let status = if cut == 0 { "solved" } else { "cut" };
    assert!(cut <= 1, "{report}");
    assert_eq!((&report["status"], &report["horizon"]), (&status.into(), &20.into()));
    assert!(largest(&report) < 3e-4, "{report}");
    for c in report["commands"].as_array().unwrap() {
        assert!(c["value"].as_f64().unwrap().abs() <= 0.05);
    }
    let wrench = ["--actuate", "peg", "--priorities", "smooth=100"];
    let report = json(&[&run[..], &wrench].concat());
    assert_eq!(report["commands"][0]["name"], "peg.fx");
    assert!(largest(&report) < 1e-5, "{report}");
}

#[test]
fn options_that_do_not_fit_are_refused_with_the_reason() {
    let task = ["--task", "link peg still"];
    let reduced = |more: &[&'static str]| {
        [&["control", text(&ARM[1])], &task[..], more]
            .concat()
            .into_iter()
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let refused = |arguments: Vec<String>, words: &[&str]| {
        refuses(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), words);
    };
    refused(reduced(&["--joint-limits", "10"]), &["a reduced model keeps no joints"]);
    refused(reduced(&["--actuate", "turm"]), &["no servo or effector 'turm'", "'turn'"]);
    refused(reduced(&["--horizon", "5"]), &["effectors follow positions", "peg still"]);
    let full = ["control", text(&ARM[0]), "--task", "link peg still", "--horizon", "5"];
    refuses(&full, &["predictions are for reduced models"]);
    let out =
        forks(&["control", text(&ARM[0]), "--task", "link peg still", "--priorities", "soft"]);
    assert_eq!(out.status.code(), Some(2));
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("strict, smooth, smooth=MOST or published=ALPHA"), "{said}");
}

#[test]
fn smooth_priorities_bound_commands_where_strict_ones_explode() {
    // The arm is stretched as it starts: its hinges are about y, the task pulls along it.
    let path = path_in("driven", "stretched.xml");
    let link = |name: &str, inner: &str| {
        format!(
            r#"<body name="{name}" pos="0.5 0 0"><inertial mass="1" pos="0.25 0 0"
            diaginertia="0.01 0.02 0.02"/><joint name="{name}_joint" axis="0 1 0"/>{inner}</body>"#
        )
    };
    let arm = link("upper", &link("lower", r#"<site name="tip" pos="0.5 0 0"/>"#));
    let all = format!(
        r#"<mujoco><option gravity="0 0 0"/><worldbody>{arm}</worldbody>
        <keyframe><key name="bent" qpos="0 1e-5"/></keyframe></mujoco>"#
    );
    fs::write(&path, all).unwrap();
    let run = |priorities: &str| {
        let task = "link site:tip position 1.45,0,0 rows=x axes=world";
        let report = json(&[
            "control",
            text(&path),
            "--state",
            "key:bent",
            "--task",
            task,
            "--priorities",
            priorities,
        ]);
        report["largest_norm"].as_f64().unwrap()
    };
    let (strict, smooth) = (run("strict"), run("smooth=10"));
    // The task asks for 100/s² times 0.05 m.
    assert!(smooth <= 10.0 * 5.0 * (1.0 + 1e-6), "{smooth}");
    assert!(strict > 100.0 * smooth, "{strict} {smooth}");
}
