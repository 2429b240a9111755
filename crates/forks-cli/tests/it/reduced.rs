//! `forks reduce -o` and `forks simulate --reduced` as a user calls them, beside the library in
//! process.

use crate::support;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_models::{HelixJoints, helix};
use forks_rom::{EffectorLoad, LoadFrame, ReducedModel, State, Stepper, System};
use serde_json::Value;

use support::{forks, json, numbers, path_in, refuses, text};

fn path(name: &str) -> PathBuf {
    path_in("reduced", name)
}

/// A helix of ten links as MJCF.
static HELIX: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = path("helix.xml");
    forks_import::write::save_mjcf(&helix(10, HelixJoints::Hinge3).mechanism, &path).unwrap();
    path
});

/// Its reduced model.
static REDUCED: LazyLock<PathBuf> = LazyLock::new(|| {
    let file = path("helix.forks");
    json(&["reduce", text(&HELIX), "--effector", "link9", "-o", text(&file)]);
    file
});

fn simulate<'a>(file: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["simulate", "--reduced", text(file), "--time", "0.1005", "--step", "0.001"], more].concat()
}

#[test]
fn the_program_steps_as_the_library_does() {
    let csv = path("run.csv");
    let wrench = ["--wrench", "0.5,-1,2,0.1,0,-0.2", "--frame", "body"];
    let record = ["--every", "50", "-o", text(&csv)];
    let answer = json(&simulate(&REDUCED, &[&wrench[..], &record].concat()));
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["steps"], 101);
    assert_eq!(answer["time"], 0.1005);
    assert_eq!(answer["out_of_range_steps"], 0);

    let model = Arc::new(ReducedModel::load(&*REDUCED).unwrap());
    let mut state = State::new(&model);
    let wrench = Wrench::new(DVec3::new(0.5, -1.0, 2.0), DVec3::new(0.1, 0.0, -0.2));
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::Body };
    let last = 0.1005 - 100.0 * 0.001;
    for (h, steps) in [(0.001, 100), (last, 1)] {
        let stepper = Stepper::new(model.clone(), h).unwrap();
        let mut work = stepper.workspace();
        (0..steps).for_each(|_| {
            let _ = stepper.step(&mut state, &mut work, &[load]);
        });
    }
    // The JSON reader of this test rounds to one unit in the last place.
    let close = |a: f64, b: f64| (a - b).abs() <= f64::EPSILON * b.abs();
    let eta = numbers(&answer["eta"]);
    assert_eq!(eta.len(), state.coordinates().len());
    assert!(eta.iter().zip(state.coordinates()).all(|(a, b)| close(*a, *b)), "{eta:?}");
    let links = answer["links"].as_array().unwrap();
    assert_eq!(links.len(), 10);
    for (i, link) in links.iter().enumerate() {
        assert_eq!(link["name"], format!("link{i}"));
        let name = format!("link{i}");
        let index = model.data().links.iter().position(|l| l.name == name).unwrap();
        let pose = model.pose_of_link(index, &state);
        let found = numbers(&link["position"]);
        assert!(found.iter().zip(pose.translation.to_array()).all(|(a, b)| close(*a, b)));
    }
    let table = fs::read_to_string(&csv).unwrap();
    // Title, start, steps 50 and 100, the last one.
    assert_eq!(table.lines().count(), 5);
    assert!(
        table.starts_with("time (s),kinetic (J),gravitational (J),elastic (J),loop gap,link0 x")
    );
}

#[test]
fn without_work_energy_never_grows() {
    let answer = json(&simulate(&REDUCED, &["--scheme", "exponential"]));
    assert_eq!(answer["scheme"], "exponential");
    assert_eq!(answer["largest_energy_growth"], 0.0);
    let shown = String::from_utf8(forks(&simulate(&REDUCED, &[])).stdout).unwrap();
    assert!(shown.contains("status                     completed") && shown.contains("link9"));
}

#[test]
fn a_push_out_of_range_is_said() {
    let out = forks(&simulate(&REDUCED, &["--wrench", "0,0,-1e6,0,0,0", "--json"]));
    assert_eq!(out.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["status"], "out-of-range");
    assert_eq!(answer["first_out_of_range"]["effector"], "link9");
    assert!(answer["out_of_range_steps"].as_u64().unwrap() > 0);
    let message = String::from_utf8(out.stderr).unwrap();
    assert!(message.starts_with("error: ") && message.lines().count() == 1, "{message}");
    assert!(message.contains("effector 'link9' left the range"), "{message}");
    assert!(message.contains(answer["problem"].as_str().unwrap()), "{message}");
}

#[test]
fn masses_dampings_and_ranges_reach_the_file() {
    let file = path("modes.forks");
    let reduce = ["reduce", text(&HELIX), "--effector", "link9", "-o", text(&file)];
    let options = [
        "--mass",
        "craig-bampton:3",
        "--rayleigh",
        "0.5,1e-4",
        "--modal-damping",
        "0.02",
        "--range",
        "0.25",
    ];
    let report = json(&[&reduce[..], &options].concat());
    assert_eq!(report["rank"], 6);
    let model = ReducedModel::load(&file).unwrap();
    assert_eq!(model.dof(), 9);
    assert_eq!(model.data().range, 0.25);
    let rows = report["damping"].as_array().unwrap();
    for (i, row) in rows.iter().enumerate() {
        for (found, expected) in numbers(row).iter().zip(model.data().damping.row(i)) {
            assert!((found - expected).abs() <= f64::EPSILON * expected.abs());
        }
    }
    assert!(json(&simulate(&file, &[]))["eta"].as_array().unwrap().len() == 9);
    let exported = path("modes.json");
    json(&["reduce", text(&HELIX), "--effector", "link9", "-o", text(&exported)]);
    let value: Value = serde_json::from_str(&fs::read_to_string(&exported).unwrap()).unwrap();
    assert_eq!(value["effectors"][0]["name"], "link9");
    assert_eq!(value["basis"].as_array().unwrap().len(), 6);
}

#[test]
fn servos_move_their_links() {
    let model = path("servo.xml");
    fs::write(
        &model,
        r#"<mujoco><worldbody><body name="arm"><inertial mass="1" pos="0.3 0 0"
        diaginertia="0.01 0.01 0.01"/><joint name="hinge" axis="0 0 1" damping="20"/></body></worldbody>
        <actuator><position name="motor" joint="hinge" kp="400"/></actuator></mujoco>"#,
    )
    .unwrap();
    let file = path("servo.forks");
    json(&["reduce", text(&model), "--effector", "arm", "-o", text(&file)]);
    let run = ["simulate", "--reduced", text(&file), "--time", "5", "--step", "0.01"];
    let answer = json(&[&run[..], &["--servo", "motor=0.2"]].concat());
    // Turned by the target about z.
    let q = numbers(&answer["links"][0]["quaternion_wxyz"]);
    assert!((2.0 * q[3].atan2(q[0]) - 0.2).abs() < 1e-9, "{q:?}");
    refuses(&[&run[..], &["--servo", "engine=1"]].concat(), &["servo.forks", "engine", "'motor'"]);
}

#[test]
fn wrong_files_are_refused_in_one_sentence() {
    refuses(&simulate(Path::new("no such.forks"), &[]), &["no such.forks"]);
    refuses(&simulate(&HELIX, &[]), &["helix.xml", "not a reduced model", "forks reduce"]);
    let exported = path("exported.json");
    json(&["reduce", text(&HELIX), "--effector", "link9", "-o", text(&exported)]);
    refuses(&simulate(&exported, &[]), &["exported.json", "for other programs"]);
    let sound = fs::read(&*REDUCED).unwrap();
    let altered = |name: &str, bytes: &[u8], words: &[&str]| {
        let file = path(name);
        fs::write(&file, bytes).unwrap();
        refuses(&simulate(&file, &[]), &[&[name], words].concat());
    };
    altered("cut.forks", &sound[..sound.len() / 2], &["bytes, but should have"]);
    altered("empty.forks", b"", &["not a reduced model"]);
    let mut bytes = sound.clone();
    bytes[sound.len() / 2] ^= 1;
    altered("damaged.forks", &bytes, &["damaged", "checksum"]);
    bytes[8] = 9;
    altered("newer.forks", &bytes, &["version 9", "version 1"]);
    let names = ["--wrench", "0,0,1,0,0,0", "--effector", "tip"];
    refuses(&simulate(&REDUCED, &names), &["effector 'tip'", "'link9'"]);
}

#[test]
fn options_that_do_not_go_together_exit_with_two() {
    let (model, file) = (text(&HELIX), text(&REDUCED));
    for arguments in [
        &["simulate", "--time", "1", "--step", "0.1"][..],
        &["simulate", model, "--reduced", file, "--time", "1", "--step", "0.1"],
        &["simulate", model, "--wrench", "0,0,0,0,0,0", "--time", "1", "--step", "0.1"],
        &["simulate", "--reduced", file, "--servos", "--time", "1", "--step", "0.1"],
        &["simulate", "--reduced", file, "--servo", "motor", "--time", "1", "--step", "0.1"],
        &["simulate", "--reduced", file, "--effector", "link9", "--time", "1", "--step", "0.1"],
        &["reduce", model, "--effector", "link9", "--mass", "craig-bampton"],
    ] {
        let out = forks(arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
    }
}
