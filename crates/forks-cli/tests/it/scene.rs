//! Scenes as a user meets them: the report, recordings in all forms, MJCF with controls, errors.

use crate::support;

use std::{fs, path::PathBuf};

use serde_json::Value;
use support::{forks, json, numbers, path_in, refuses, text};

/// Writes a file; every name is used by one test alone.
fn file(name: &str, content: &str) -> PathBuf {
    let path = path_in("scene", name);
    fs::write(&path, content).unwrap();
    path
}

/// A ball of 2 kg and radius 0.1 m that falls 0.05 m onto a plane; more tables can follow.
fn ball(more: &str) -> String {
    format!(
        r#"title = "A ball"
about = "It falls."
[world]
duration = 1.0
step = 0.002
frames = 50
[[body]]
name = "ball"
mass = 2.0
position = [0, 0, 0.15]
shape = [{{ form = {{ sphere = {{ radius = 0.1 }} }} }}]
[[ground]]
form = {{ plane = {{}} }}
{more}"#
    )
}

const WEIGHT: f64 = 2.0 * 9.81;

#[test]
fn the_report_says_what_happened() {
    let scene = file("report.toml", &ball(""));
    let v = json(&["simulate", text(&scene)]);
    assert_eq!(v["scene"], "A ball");
    assert_eq!((&v["status"], &v["fidelity"]), (&"completed".into(), &"reduced".into()));
    assert_eq!(v["steps"], 500);
    assert_eq!(v["statuses"]["completed"], 500);
    assert_eq!(v["statuses"]["not_finite"], 0);
    assert_eq!((&v["max_contacts"], &v["max_touching"]), (&1.into(), &1.into()));
    assert_eq!(v["notes"], serde_json::json!([]));
    let number = |field: &str| v[field].as_f64().unwrap();
    assert!((number("duration") - 1.0).abs() < 1e-12);
    // It starts at rest at 0.15 m and ends at rest at its radius, which the surface may be inside
    // by what a step moves.
    let height = numbers(&v["bodies"][0]["position"])[2];
    assert!((v["start_energy"]["gravitational"].as_f64().unwrap() - WEIGHT * 0.15).abs() < 1e-12);
    assert!((v["energy"]["gravitational"].as_f64().unwrap() - WEIGHT * height).abs() < 1e-12);
    assert!((height - 0.1).abs() < 1e-3, "{height}");
    assert!(number("max_penetration") < 1e-3);
    assert!(v["energy"]["kinetic"].as_f64().unwrap() < 1e-9);
    // The impact: the momentum of the fall within a step.
    let impact = 2.0 * (2.0_f64 * 9.81 * 0.05).sqrt() / 0.002;
    let largest = number("largest_contact_force");
    assert!(largest > 0.5 * impact && largest < 1.1 * impact, "{largest} for {impact}");
    assert!(number("seconds_per_step") > 0.0 && number("real_time_factor") > 0.0);
    assert!(number("mean_sweeps") > 0.0);
}

#[test]
fn the_table_shows_the_same() {
    let scene = file("table.toml", &ball(""));
    let out = forks(&["simulate", text(&scene)]);
    assert_eq!(out.status.code(), Some(0));
    let shown = String::from_utf8(out.stdout).unwrap();
    for words in ["scene                      A ball", "completed", "500 of 0.002 s", "positions"] {
        assert!(shown.contains(words), "{words} in:\n{shown}");
    }
    assert!(shown.lines().all(|l| l.trim_end() == l));
}

#[test]
fn time_and_step_can_be_others() {
    let scene = file("pace.toml", &ball(""));
    let v = json(&["simulate", text(&scene), "--time", "0.3", "--step", "0.001"]);
    assert_eq!((&v["steps"], &v["step"]), (&300.into(), &0.001.into()));
}

#[test]
fn recordings_come_in_four_forms() {
    let scene = file("recorded.toml", &ball(""));
    let out = ["csv", "json", "html", "glb"].map(|e| path_in("scene", &format!("recorded.{e}")));
    let mut arguments = vec!["simulate", text(&scene)];
    out.iter().for_each(|o| arguments.extend(["-o", text(o)]));
    let report = json(&arguments);
    // A frame at the start and fifty per second.
    assert_eq!(report["samples"], 51);
    let [csv, recorded, page, glb] = out.map(|o| fs::read(o).unwrap());

    let v: Value = serde_json::from_slice(&recorded).unwrap();
    assert_eq!(v["links"], serde_json::json!(["ball"]));
    let samples = v["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 51);
    let last = &samples[50];
    assert!((last["time"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(last["contacts"], 1.0);
    // At rest the ground carries the weight; the solver leaves 1e-5 of the speed that gravity adds
    // in a step.
    let force = numbers(&last["contact_points"][0]["force"]);
    assert!((force[2] - WEIGHT).abs() < 1e-4 * WEIGHT, "{force:?}");
    assert!(numbers(&last["contact_points"][0]["position"])[2].abs() < 1e-3);
    let energies =
        ["kinetic", "gravitational", "elastic", "total"].map(|k| last[k].as_f64().unwrap());
    assert!((energies[3] - energies[..3].iter().sum::<f64>()).abs() < 1e-12);

    let csv = String::from_utf8(csv).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 52);
    assert!(rows[0].starts_with("time (s),kinetic (J),gravitational (J),elastic (J),total (J),"));
    assert!(rows[0].ends_with("ball x (m),ball y (m),ball z (m),ball qw,ball qx,ball qy,ball qz"));
    let row: Vec<f64> = rows[51].split(',').map(|x| x.parse().unwrap()).collect();
    assert_eq!(row[8..11], numbers(&last["positions"][0]));
    assert_eq!(row[11..], numbers(&last["quaternions_wxyz"][0]));

    let page = String::from_utf8(page).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>A ball"));
    assert!(page.contains("It falls.") && page.contains("largest contact force"));
    assert!(glb.starts_with(b"glTF"));
}

/// A helix of 20 links with a ball at its tip, pulled down onto a plane 0.01 m below.
const HELIX: &str = r#"title = "A helix"
[world]
duration = 0.4
[[mechanism]]
name = "helix"
parametric = "helix20"
effectors = ["link19"]
gravity = false
shape = [{ form = { sphere = { radius = 0.02 } }, position = [0, 0, -0.01] }]
[[ground]]
form = { plane = {} }
position = [0, 0, -0.2775]
[[action]]
mechanism = "helix"
effector = "link19"
direction = [0, 0, -1]
times = [0, 0.2]
values = [0, 40]
"#;

#[test]
fn all_links_of_a_mechanism_are_recorded() {
    let (scene, out) = (file("helix.toml", HELIX), path_in("scene", "helix.json"));
    let report = json(&["simulate", text(&scene), "-o", text(&out)]);
    assert_eq!(report["bodies"], serde_json::json!([]));
    let v: Value = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    let names: Vec<String> = (0..20).map(|k| format!("helix/link{k}")).collect();
    assert_eq!(v["links"], serde_json::json!(names));
    let samples = v["samples"].as_array().unwrap();
    // Link k rests at height -0.25 k/20.
    for (k, p) in samples[0]["positions"].as_array().unwrap().iter().enumerate() {
        assert!((numbers(p)[2] + 0.0125 * k as f64).abs() < 1e-9, "link {k}");
    }
    let last = samples.last().unwrap();
    let tip = numbers(&last["positions"][19])[2];
    // The tip was 0.01 m above the ground and is now pressed on it.
    assert!((tip + 0.2475).abs() < 2e-3 && last["contacts"] == 1.0, "{tip}");
    let force = numbers(&last["contact_points"][0]["force"]);
    assert!(force[2] > 1.0, "the ground pushes the tip up: {force:?}");
}

#[test]
fn the_full_solver_runs_the_same_scene() {
    let (scene, out) = (file("twin.toml", HELIX), path_in("scene", "twin.json"));
    let last = |more: &[&str], fidelity: &str| -> Value {
        let report = json(&[&["simulate", text(&scene), "-o", text(&out)], more].concat());
        assert_eq!(report["fidelity"], fidelity);
        let v: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
        assert_eq!(v["links"].as_array().unwrap().len(), 20);
        v["samples"].as_array().unwrap().last().unwrap().clone()
    };
    let (reduced, full) = (last(&[], "reduced"), last(&["--full"], "full"));
    // The tip is held by the ground; how hard it presses is what the pull leaves of the springs'
    // force, of which a helix of stiff hinges needs little for 0.01 m: 5 % of the pull is far above
    // what linearisation changes.
    let force = |v: &Value| numbers(&v["contact_points"][0]["force"])[2];
    assert!((force(&reduced) - force(&full)).abs() < 0.05 * 40.0, "{reduced} {full}");
    let tip = |v: &Value| numbers(&v["positions"][19])[2];
    assert!((tip(&reduced) - tip(&full)).abs() < 1e-4, "{} {}", tip(&reduced), tip(&full));
}

#[test]
fn scenes_are_exported_with_their_controls() {
    let driven = HELIX.replace(
        "[[action]]\nmechanism = \"helix\"\neffector = \"link19\"\ndirection = [0, 0, -1]",
        "[[mechanism.slide]]\nname = \"lift\"\naxis = [0, 0, 1]\nstiffness = 1e4\ndamping = 100\n\
         [[action]]\nmechanism = \"helix\"\nservos = [\"lift\"]",
    );
    let scene = file("driven.toml", &driven.replace("[0, 40]", "[0, 0.04]"));
    let model = path_in("scene", "driven.xml");
    json(&["simulate", text(&scene), "--time", "0.3", "--mjcf", text(&model)]);
    let inspected = json(&["inspect", text(&model)]);
    // Twenty links and the carriage of the slide.
    assert_eq!(inspected["links"].as_array().unwrap().len(), 21);
    let controls = fs::read_to_string(path_in("scene", "driven.xml.controls.csv")).unwrap();
    let rows: Vec<&str> = controls.lines().collect();
    assert_eq!((rows[0], rows.len()), ("time (s),helix/lift", 32));
    let row =
        |k: usize| -> Vec<f64> { rows[k + 1].split(',').map(|x| x.parse().unwrap()).collect() };
    // A smooth step from 0 to 0.04 within 0.2 s, half way after 0.1 s.
    assert_eq!((row(0), row(30)), (vec![0.0, 0.0], vec![0.3, 0.04]));
    let half = row(10);
    assert!((half[0] - 0.1).abs() < 1e-12 && (half[1] - 0.02).abs() < 1e-12, "{half:?}");
}

#[test]
fn a_scene_is_known_by_its_content() {
    let scene = file("scene.txt", &ball(""));
    assert_eq!(json(&["simulate", text(&scene), "--time", "0.01"])["scene"], "A ball");
}

#[test]
fn overflow_is_reported_and_exits_with_one() {
    let push = "[[action]]\nbody = \"ball\"\ndirection = [1e150, 0, 0]\ntimes = [0]\n\
                values = [1e150]";
    let light = ball(push).replace("mass = 2.0", "mass = 1e-10");
    let (scene, out) = (file("overflow.toml", &light), path_in("scene", "overflow.csv"));
    let run = forks(&["simulate", text(&scene), "--json", "-o", text(&out)]);
    assert_eq!(run.status.code(), Some(1));
    let v: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&v["status"], &v["statuses"]["not_finite"]), (&"not-finite".into(), &1.into()));
    assert_eq!(v["not_finite"]["what"], "ball");
    let message = String::from_utf8(run.stderr).unwrap();
    assert!(message.starts_with("warning: ") && message.contains("ball"), "{message}");
    assert!(fs::read_to_string(out).unwrap().lines().count() >= 2, "the start is kept");
}

#[test]
fn what_is_wrong_with_a_scene_is_named() {
    refuses(&["simulate", "no such scene.toml"], &["no such scene.toml"]);
    let wrong = |name: &str, content: &str, words: &[&str]| {
        let scene = file(name, content);
        refuses(&["simulate", text(&scene)], &[&[name], words].concat());
        refuses(&["simulate", text(&scene), "--json"], words);
    };
    wrong("typo.toml", &ball("").replace("duration", "durtion"), &["line 4", "durtion"]);
    wrong("cut.toml", "title = \"a", &["line 1"]);
    wrong("empty.toml", "", &["title"]);
    let missing = HELIX.replace("parametric = \"helix20\"", "file = \"no such model.xml\"");
    wrong("missing-model.toml", &missing, &["helix", "no such model.xml"]);
    let unknown = HELIX.replace("helix20", "helix21");
    wrong("unknown-kind.toml", &unknown, &["helix", "helix21", "helix20"]);
    let servo =
        "[[action]]\nmechanism = \"helix\"\nservos = [\"elbow\"]\ntimes = [0]\nvalues = [1]";
    wrong("unknown-servo.toml", &format!("{HELIX}{servo}"), &["action 2", "elbow"]);
    let effector = HELIX.replace("[\"link19\"]", "[\"link20\"]");
    wrong("unknown-effector.toml", &effector, &["helix", "link20"]);
    let twice = ball("[[body]]\nname = \"ball\"\nmass = 1\nshape = [{ form = { plane = {} } }]");
    wrong("twice.toml", &twice, &["ball", "two things"]);
    wrong("negative.toml", &ball("").replace("2.0", "-2.0"), &["ball", "-2"]);
}

#[test]
fn options_that_do_not_fit_exit_with_two() {
    let scene = file("options.toml", &ball(""));
    let (scene, model) = (text(&scene), "model.xml");
    let two = |arguments: &[&str], word: &str| {
        let out = forks(arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
        assert!(out.stdout.is_empty());
        let message = String::from_utf8(out.stderr).unwrap();
        assert!(message.contains(word), "'{word}' in: {message}");
    };
    two(&["simulate", scene, "--servos"], "--servos");
    two(&["simulate", scene, "--integrator", "rk4"], "--integrator");
    two(&["simulate", scene, "--every", "2"], "--every");
    two(&["simulate", scene, "-o", "trajectory.txt"], "trajectory.txt");
    two(&["simulate", model], "--time");
    two(&["simulate", model, "--time", "1", "--step", "0.1", "--full"], "--full");
    two(&["simulate", model, "--time", "1", "--step", "0.1", "--mjcf", "x.xml"], "--mjcf");
    two(&["simulate", model, "--time", "1", "--step", "0.1", "-o", "a.csv", "-o", "b.csv"], "-o");
}

#[test]
fn help_explains_scenes() {
    let out = forks(&["simulate", "--help"]);
    let shown = String::from_utf8(out.stdout).unwrap();
    for words in
        ["SCENE.toml", "--full", "--mjcf <FILE>", ".html", "controls.csv", "Options of a scene"]
    {
        assert!(shown.contains(words), "{words}");
    }
}

/// A scene of the repository's model of a gripper, whose servo goes to a target within a second.
fn gripper(name: &str, target: f64) -> PathBuf {
    let model = support::repository("fixtures/models/robotiq_2f85/2f85.nomesh.xml");
    let scene = format!(
        r#"title = "A gripper closes"
[world]
duration = 1.2
step = 0.002
[[mechanism]]
name = "g"
file = {model:?}
effectors = ["left_pad", "right_pad"]
[[action]]
mechanism = "g"
servos = ["fingers_actuator"]
times = [0, 1]
values = [0, {target}]
"#
    );
    file(name, &scene)
}

/// A run whose end is not as it should be: exit code 1, a sentence on both sides, the recording all
/// the same.
fn ends_badly(scene: &std::path::Path, status: &str, words: &[&str]) -> Value {
    let out = scene.with_extension("csv");
    let run = forks(&["simulate", text(scene), "--json", "-o", text(&out)]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(1), "{said}");
    let v: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(v["status"], status, "{said}");
    let message = v["message"].as_str().unwrap();
    for word in words {
        assert!(message.contains(word) && said.contains(word), "{word} in {message}, {said}");
    }
    assert!(fs::read_to_string(out).unwrap().lines().count() > 10);
    v
}

#[test]
fn servo_targets_beyond_what_a_linearisation_is_good_for_are_said() {
    let near = json(&["simulate", text(&gripper("near.toml", 0.2))]);
    assert_eq!((&near["status"], &near["message"]), (&"completed".into(), &Value::Null));
    // The loops of the linearised gripper open by 1.4 mm of 70 at a target of 0.5 rad; its pads are
    // off by 3.7 mm.
    let far = gripper("far.toml", 0.5);
    let v = ends_badly(&far, "out-of-range", &["servo targets of g", "--full"]);
    let time = v["first_targets_out_of_range"]["time"].as_f64().unwrap();
    assert!((0.3..1.0).contains(&time), "{time}");
    assert!((v["max_loop_gap"].as_f64().unwrap() - 0.0194).abs() < 1e-3, "{v}");
    // The full solver has no range.
    let full = json(&["simulate", text(&far), "--full", "--time", "0.1"]);
    assert_eq!(full["status"], "completed");
}

#[test]
fn effectors_out_of_range_and_open_loops_are_no_completed_run() {
    let helix = r#"title = "A pull"
[world]
duration = 0.2
[[mechanism]]
name = "helix"
parametric = "helix20"
effectors = ["link19"]
[[action]]
mechanism = "helix"
effector = "link19"
direction = [0, 0, -1]
times = [0]
values = [1e6]
"#;
    let v = ends_badly(&file("pull.toml", helix), "out-of-range", &["helix/link19", "steps"]);
    assert!(v["statuses"]["out_of_range"].as_u64().unwrap() > 0);
    let driver = support::repository("fixtures/ends/limits_driver.toml");
    let copy = fs::read_to_string(driver)
        .unwrap()
        .replace("../models/", &format!("{}/", support::repository("fixtures/models").display()));
    ends_badly(&file("driver.toml", &copy), "loops-open", &["loops of g", "%"]);
}

#[test]
fn contacts_that_contradict_each_other_are_no_completed_run() {
    // Two walls that come closer than the ball is wide push it from both sides.
    let walls = r#"title = "A ball between two walls"
[world]
duration = 0.1
step = 0.002
frames = 500
gravity = [0, 0, 0]
[[body]]
name = "ball"
mass = 1.0
shape = [{ form = { sphere = { radius = 0.1 } } }]
[[ground]]
form = { plane = {} }
position = [0, 0, -0.09]
[[ground]]
form = { plane = {} }
position = [0, 0, 0.09]
rpy_deg = [180, 0, 0]
"#;
    ends_badly(&file("walls.toml", walls), "contact-unsolved", &["ball", "half of the speed"]);
}
