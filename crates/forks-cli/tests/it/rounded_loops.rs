//! Planar loops in files with rounded numbers: one decision about what their equations are, in all
//! commands.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

use crate::support::numbers;

fn model(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/models/rounded_five_bar")
        .join(name)
}

fn json(command: &str, model: &std::path::Path, arguments: &[&str]) -> Value {
    let o = Command::new(env!("CARGO_BIN_EXE_forks"))
        .arg(command)
        .arg(model)
        .args(arguments)
        .arg("--json")
        .output()
        .expect("the program starts");
    let error = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(0), "{command} {}: {error}", model.display());
    serde_json::from_slice(&o.stdout).unwrap()
}

/// The note that has both readings, if there is one.
fn note(v: &Value) -> Option<String> {
    let notes = v["notes"].as_array().unwrap().iter();
    let reasons = notes.map(|n| n["reason"].as_str().unwrap().to_string());
    reasons.into_iter().find(|r| r.contains("left out") && r.contains("mobility"))
}

/// tilt_0.xml with the axis of one hinge turned by `tilt`.
fn tilted(tilt: f64) -> PathBuf {
    let text = std::fs::read_to_string(model("tilt_0.xml")).unwrap();
    let axis = format!("name=\"kb\" axis=\"{:e} {:.17} 0\"", tilt.sin(), tilt.cos());
    let changed = text.replace("name=\"kb\" axis=\"0 1 0\"", &axis);
    assert_ne!(text, changed);
    let d = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rounded_loops");
    std::fs::create_dir_all(&d).unwrap();
    let path = d.join(format!("tilt_{tilt:e}.xml"));
    std::fs::write(&path, changed).unwrap();
    path
}

/// What one model gives in all commands.
struct Answers {
    compliance: f64,
    frequencies: Vec<f64>,
    acceleration: Vec<f64>,
    position: Vec<f64>,
    qpos: Vec<f64>,
}

fn answers(path: &std::path::Path) -> Answers {
    let inspect = json("inspect", path, &[]);
    assert_eq!((&inspect["mobility"], &inspect["constraint_rank"]), (&2.into(), &2.into()));
    assert_eq!(inspect["loop_closures"][0]["rank"], 2);
    let reduce = json("reduce", path, &["--effector", "a2"]);
    assert_eq!(reduce["rank"], 2);
    let dynamics = json("dynamics", path, &[]);
    assert_eq!(dynamics["constraint_rank"], 2);
    let load = ["--effector", "a2", "--wrench", "3,0,1,0,0.05,0"];
    let statics = json("statics", path, &load);
    assert_eq!(statics["status"], "converged");
    let links = statics["links"].as_array().unwrap();
    let link = links.iter().find(|l| l["name"] == "a2").unwrap();
    let simulate = json("simulate", path, &["--time", "1", "--step", "0.005"]);
    assert_eq!(simulate["status"], "completed");
    Answers {
        compliance: reduce["compliance"][0][0].as_f64().unwrap(),
        frequencies: numbers(&reduce["frequencies_rad_s"]["full"]),
        acceleration: numbers(&dynamics["acceleration"]),
        position: numbers(&link["position"]),
        qpos: numbers(&simulate["qpos"]),
    }
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let size = a.iter().fold(1e-9f64, |s, x| s.max(x.abs()));
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance * size), "{a:?} {b:?}");
}

#[test]
fn a_tilted_axis_takes_no_motion_away() {
    let exact = answers(&model("tilt_0.xml"));
    // The effector's frame turns about the first crank's pivot, whose spring is 2 N·m/rad.
    let lever = 0.1 * f64::sin(2.1);
    assert!((exact.compliance / (lever * lever / 2.0) - 1.0).abs() < 1e-9, "{}", exact.compliance);
    assert!(note(&json("inspect", &model("tilt_0.xml"), &[])).is_none());
    let given = model("tilt_3.7e-6.xml");
    let rest = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3].map(tilted);
    for path in rest.iter().chain([&given]) {
        let found = answers(path);
        close(&[exact.compliance], &[found.compliance], 1e-2);
        close(&exact.frequencies, &found.frequencies, 1e-2);
        close(&exact.acceleration, &found.acceleration, 1e-2);
        close(&exact.position, &found.position, 1e-2);
        close(&exact.qpos, &found.qpos, 1e-2);
        let words = note(&json("inspect", path, &[])).expect("a note");
        assert!(words.contains("mobility 2"), "{words}");
    }
    let words = note(&json("inspect", &given, &[])).unwrap();
    assert!(words.contains("mobility 2, or 1 with all equations"), "{words}");
}

/// Right angles of 4, 6 and 16 decimals give the same robot, and its joints start where the file
/// says.
#[test]
fn rounded_right_angles_of_a_urdf_are_right_angles() {
    let exact = answers(&model("fb16.urdf"));
    assert!(note(&json("inspect", &model("fb16.urdf"), &[])).is_none());
    for name in ["fb4.urdf", "fb6.urdf"] {
        let path = model(name);
        let found = answers(&path);
        close(&[exact.compliance], &[found.compliance], 1e-4);
        close(&exact.frequencies, &found.frequencies, 1e-4);
        close(&exact.qpos, &found.qpos, 1e-2);
        let start = numbers(&json("dynamics", &path, &[])["qpos"]);
        // By name: ka, kb, ma, mb are two depth-first chains ma, ka, mb, kb.
        for (q, given) in start.iter().zip([2.1, -1.0, 1.0, 1.0]) {
            assert!((q - given).abs() < 0.1, "{name}: {start:?}");
        }
        let words = note(&json("inspect", &path, &[])).expect("a note");
        assert!(words.contains("mobility 2, or 1 with all equations"), "{name}: {words}");
    }
}
