//! `forks blend -o` and `forks simulate --reduced` of a blend as a user calls them, beside the
//! library in process.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use forks_blend::{BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, LinkBlend};
use forks_mechanism::lie::{Wrench, glam::DVec3};
use forks_models::{HelixJoints, helix};
use forks_rom::{EffectorLoad, LoadFrame, Reconstruction, System};
use serde_json::Value;
use support::{forks, json, numbers, path_in, refuses, text};

use crate::support;

fn path(name: &str) -> PathBuf {
    path_in("blended", name)
}

/// A helix of eight links as MJCF.
static HELIX: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = path("helix.xml");
    forks_import::write::save_mjcf(&helix(8, HelixJoints::Hinge3).mechanism, &path).unwrap();
    path
});

fn blend(output: &Path) -> Value {
    // Tolerances that cannot be reached: three samples in any case.
    let where_to = ["--effector", "link7", "--cone", "0,0,-1", "--until", "0.6"];
    let tolerance = ["--tolerance", "1e-9", "--static-tolerance", "1e-9"];
    let how = ["--chart", "joints", "--samples", "3", "--training", "6"];
    let file = ["-o", text(output)];
    json(&[&["blend", text(&HELIX)][..], &where_to, &tolerance, &how, &file].concat())
}

/// Its blend of three samples.
static BLEND: LazyLock<PathBuf> = LazyLock::new(|| {
    let file = path("helix.forkb");
    let report = blend(&file);
    assert_eq!(report["samples"].as_array().unwrap().len(), 3);
    assert_eq!(report["status"], "sample limit");
    file
});

fn simulate<'a>(file: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["simulate", "--reduced", text(file), "--time", "0.1005", "--step", "0.001"], more].concat()
}

#[test]
fn the_program_steps_a_blend_as_the_library_does() {
    let csv = path("run.csv");
    let wrench = ["--wrench", "5,-10,-40,0.1,0,-0.2", "--frame", "body"];
    let record = ["--every", "50", "-o", text(&csv)];
    let answer = json(&simulate(&BLEND, &[&wrench[..], &record].concat()));
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["steps"], 101);
    assert_eq!(answer["time"], 0.1005);
    assert_eq!(answer["elasticity"], "energy");

    let model = Arc::new(BlendedModel::load(&*BLEND).unwrap());
    let mut state = BlendedState::new(&model, &vec![0.0; model.dof()]).unwrap();
    let mut work = BlendedWorkspace::new(&model);
    let wrench = Wrench::new(DVec3::new(5.0, -10.0, -40.0), DVec3::new(0.1, 0.0, -0.2));
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::Body };
    let last = 0.1005 - 100.0 * 0.001;
    for (h, steps) in [(0.001, 100), (last, 1)] {
        let stepper = BlendedStepper::new(model.clone(), h).unwrap();
        let mut work = stepper.workspace();
        (0..steps).for_each(|_| {
            let _ = stepper.step(&mut state, &mut work, &[load]);
        });
    }
    // The JSON reader of this test rounds to one unit in the last place.
    let close = |a: f64, b: f64| (a - b).abs() <= f64::EPSILON * b.abs();
    let all_close = |found: &Value, expected: &[f64]| {
        let found = numbers(found);
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| close(*a, *b)), "{found:?} {expected:?}");
    };
    assert!(state.coordinates().iter().any(|x| x.abs() > 1e-3), "{:?}", state.coordinates());
    all_close(&answer["eta"], state.coordinates());
    all_close(&answer["velocity"], state.velocity());
    all_close(&answer["weights"], model.evaluated_at(&state).weights());
    let elastic = answer["energy"]["elastic"].as_f64().unwrap();
    assert!(close(elastic, model.evaluated_at(&state).potential_energy()));
    let kinetic = answer["energy"]["kinetic"].as_f64().unwrap();
    assert!(close(kinetic, model.kinetic_energy(&state)));
    let error =
        model.constraint_error(&state, &mut work, Reconstruction::Twist, LinkBlend::default());
    assert!(close(answer["constraint_error"]["position"].as_f64().unwrap(), error.position));
    let mut buffer = model.pose_buffer();
    model.poses(&state, &mut work, LinkBlend::default(), &mut buffer);
    let links = answer["links"].as_array().unwrap();
    assert_eq!(links.len(), 8);
    let names = &model.data().samples[0].model.data().links;
    for (link, (l, pose)) in links.iter().zip(buffer.iter()) {
        assert_eq!(link["name"], names[l].name);
        all_close(&link["position"], &pose.translation.to_array());
    }
    let shown = model.effector_pose(0, state.coordinates());
    all_close(&answer["effectors"][0]["position"], &shown.translation.to_array());
    let table = fs::read_to_string(&csv).unwrap();
    // Title, start, steps 50 and 100, the last one.
    assert_eq!(table.lines().count(), 5);
    assert!(
        table.starts_with("time (s),kinetic (J),gravitational (J),elastic (J),loop gap,link0 x")
    );
    let recording = path("run.json");
    json(&simulate(&BLEND, &["-o", text(&recording)]));
    let value: Value = serde_json::from_str(&fs::read_to_string(&recording).unwrap()).unwrap();
    assert_eq!(value["samples"].as_array().unwrap().len(), 102);
}

#[test]
fn at_rest_nothing_moves_and_no_energy_comes_from_nowhere() {
    let answer = json(&simulate(&BLEND, &[]));
    assert_eq!(answer["largest_energy_growth"], 0.0);
    assert!(numbers(&answer["eta"]).iter().all(|x| x.abs() < 1e-12));
    let shown = String::from_utf8(forks(&simulate(&BLEND, &[])).stdout).unwrap();
    assert!(shown.contains("status                     completed") && shown.contains("link7"));
}

#[test]
fn a_push_out_of_range_is_said() {
    // Joint displacements that are asked for by name have no guard: the chart chosen by itself has.
    let file = path("guarded.forkb");
    let where_to = ["--effector", "link7", "--cone", "0,0,-1", "--until", "0.6"];
    json(&[&["blend", text(&HELIX)][..], &where_to, &["-o", text(&file)]].concat());
    let out = forks(&simulate(&file, &["--wrench", "0,0,-1e5,0,0,0", "--json"]));
    assert_eq!(out.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["status"], "out-of-range");
    assert_eq!(answer["first_out_of_range"]["effector"], "link7");
    assert!(answer["out_of_range_steps"].as_u64().unwrap() > 0);
    let message = String::from_utf8(out.stderr).unwrap();
    assert!(message.starts_with("error: ") && message.lines().count() == 1, "{message}");
    assert!(message.contains("effector 'link7' left the range"), "{message}");
    assert!(message.contains(answer["problem"].as_str().unwrap()), "{message}");
}

#[test]
fn the_file_holds_the_blend_and_equal_seeds_give_equal_bytes() {
    let again = path("again.forkb");
    blend(&again);
    let (a, b) = (fs::read(&*BLEND).unwrap(), fs::read(&again).unwrap());
    assert_eq!(a, b);
    assert_eq!(BlendedModel::from_bytes(&a).unwrap().to_bytes(), a);
    let exported = path("helix.json");
    blend(&exported);
    let value: Value = serde_json::from_str(&fs::read_to_string(&exported).unwrap()).unwrap();
    assert_eq!(value["samples"].as_array().unwrap().len(), 3);
    refuses(&simulate(&exported, &[]), &["helix.json", "for other programs"]);
}

#[test]
fn servos_move_links_of_a_blend() {
    let model = path("servo.xml");
    fs::write(
        &model,
        r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="upper"><inertial mass="1" pos="0.3 0 0"
        diaginertia="0.01 0.01 0.01"/><joint name="shoulder" axis="0 0 1" damping="20" stiffness="100"/>
        <body name="arm" pos="0.5 0 0"><inertial mass="1" pos="0.3 0 0" diaginertia="0.01 0.01 0.01"/>
        <joint name="hinge" axis="0 0 1" damping="20"/></body></body></worldbody>
        <actuator><position name="motor" joint="hinge" kp="400"/></actuator></mujoco>"#,
    )
    .unwrap();
    let file = path("servo.forkb");
    let region = ["--effector", "arm", "--cone", "0,-1,0", "--normal", "0,0,1", "--until", "0.3"];
    let chart = ["--chart", "poses"];
    let how = ["--tolerance", "1e-9", "--samples", "3", "--training", "4", "-o", text(&file)];
    json(&[&["blend", text(&model)][..], &region, &chart, &how].concat());
    let run = ["simulate", "--reduced", text(&file), "--time", "5", "--step", "0.01"];
    let answer = json(&[&run[..], &["--servo", "motor=0.05"]].concat());
    assert_eq!(numbers(&answer["servo_targets"]), [0.05]);
    // Nothing turns the shoulder; the arm turns by the target about z, up to the blend's error of
    // second order: there is no sample with another target.
    for (link, angle) in [(0, 0.0), (1, 0.05)] {
        assert_eq!(answer["links"][link]["name"], ["upper", "arm"][link]);
        let q = numbers(&answer["links"][link]["quaternion_wxyz"]);
        assert!((2.0 * q[3].atan2(q[0]) - angle).abs() < 0.01 * 0.05, "{link}: {q:?}");
    }
    refuses(&[&run[..], &["--servo", "engine=1"]].concat(), &["servo.forkb", "engine", "'motor'"]);
}

#[test]
fn what_a_blend_cannot_do_is_refused_by_name() {
    let exponential = simulate(&BLEND, &["--scheme", "exponential"]);
    refuses(&exponential, &["helix.forkb", "--scheme exponential", "blended"]);
    let linear = simulate(&BLEND, &["--elasticity", "linear"]);
    refuses(&linear, &["helix.forkb", "--elasticity linear", "blended"]);
    let names = ["--wrench", "0,0,1,0,0,0", "--effector", "tip"];
    refuses(&simulate(&BLEND, &names), &["effector 'tip'", "'link7'"]);
    let sound = fs::read(&*BLEND).unwrap();
    let altered = |name: &str, bytes: &[u8], words: &[&str]| {
        let file = path(name);
        fs::write(&file, bytes).unwrap();
        refuses(&simulate(&file, &[]), &[&[name], words].concat());
    };
    altered("cut.forkb", &sound[..sound.len() / 2], &["bytes, but should have"]);
    let mut bytes = sound.clone();
    bytes[sound.len() / 2] ^= 1;
    altered("damaged.forkb", &bytes, &["damaged", "checksum"]);
}

/// A region without an equilibrium, or along which nothing moves, is an error in one sentence, and
/// nothing is written.
#[test]
fn regions_that_cannot_be_learnt_from_are_said_in_a_sentence() {
    let arm = path("arm.xml");
    let text_of = |stiffness: &str| {
        format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><joint axis="0 1 0" {stiffness}/>
            <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/>
            <body name="b" pos=".3 0 0"><joint axis="0 1 0" {stiffness}/>
            <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/></body></body></worldbody></mujoco>"#
        )
    };
    fs::write(&arm, text_of(r#"stiffness="3""#)).unwrap();
    let written = path("none.forkb");
    // Along the straight arm nothing gives way; across its plane nothing ever does.
    for cone in ["1,0,0", "0,1,0"] {
        let options = ["--effector", "b", "--cone", cone, "-o", text(&written), "--json"];
        refuses(
            &[&["blend", text(&arm)], &options[..]].concat(),
            &["effector 'b'", "does not move"],
        );
        assert!(!written.exists());
    }
    let loose = path("loose.xml");
    fs::write(&loose, text_of("")).unwrap();
    let options = ["--effector", "b", "--cone", "0,0,1", "-o", text(&written)];
    refuses(&[&["blend", text(&loose)], &options[..]].concat(), &[]);
    assert!(!written.exists());
}
