//! Bases that float as a user meets them: `blend --floating` and `reduce --floating`, their files
//! stepped and in scenes.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use forks_blend::{BlendedModel, FloatingBlend, FloatingBlendStepper};
use forks_rom::{ReducedModel, System};
use serde_json::Value;
use support::{forks, json, numbers, path_in, refuses, text};

use crate::support;

fn path(name: &str) -> PathBuf {
    path_in("floating", name)
}

/// A hub that nothing holds, with an arm of four hinges.
static HUB: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut arm = String::new();
    for k in 0..4 {
        let axis = if k % 2 == 0 { "0 1 0" } else { "0 0 1" };
        arm += &format!(
            "<body name='a{k}' pos='0.1 0 0'><joint name='j{k}' axis='{axis}' stiffness='20' \
             damping='0.1'/><geom type='capsule' fromto='0 0 0 0.1 0 0' size='0.01' mass='0.1'/>"
        );
    }
    let xml = format!(
        "<mujoco model='hub'><compiler angle='radian'/><worldbody><body name='hub' pos='0 0 1'>\
         <freejoint name='root'/><geom type='box' size='0.1 0.1 0.05' mass='5'/>{arm}{}</body>\
         </worldbody></mujoco>",
        "</body>".repeat(4)
    );
    let path = path("hub.xml");
    fs::write(&path, xml).unwrap();
    path
});

fn blend<'a>(output: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let where_to = ["--effector", "a3", "--cone", "0,0,-1", "--until", "0.3"];
    let how = ["--tolerance", "1e-9", "--samples", "2", "--training", "4"];
    [&["blend", text(&HUB)][..], &where_to, &how, more, &["-o", text(output)]].concat()
}

/// A blend of it in each chart.
fn blended(chart: &str) -> PathBuf {
    let file = path(&format!("hub-{chart}.forkb"));
    let report = json(&blend(&file, &["--floating", "--chart", chart]));
    assert_eq!(report["floating"], true);
    assert!(numbers(&report["held"]).is_empty() && report["notes"].as_array().unwrap().is_empty());
    assert!(report["microseconds_per_step"].as_f64().unwrap() > 0.0);
    file
}

static BLENDS: LazyLock<[PathBuf; 2]> = LazyLock::new(|| ["poses", "joints"].map(blended));

fn simulate<'a>(file: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["simulate", "--reduced", text(file), "--time", "0.2", "--step", "0.001"], more].concat()
}

#[test]
fn blends_that_float_fall_and_are_stepped_as_by_the_library() {
    for file in &*BLENDS {
        let answer = json(&simulate(file, &[]));
        assert_eq!(answer["status"], "completed", "{answer}");
        let model = FloatingBlend::new(Arc::new(BlendedModel::load(file).unwrap())).unwrap();
        let stepper = FloatingBlendStepper::new(Arc::new(model), 1e-3).unwrap();
        let (mut state, mut work) = (stepper.state(), stepper.workspace());
        (0..200).for_each(|_| {
            let _ = stepper.step(&mut state, &mut work, &[]);
        });
        let mut expected = vec![0.0; stepper.coordinate_count()];
        stepper.coordinates(&state, &mut expected);
        let found = numbers(&answer["eta"]);
        // The JSON reader of this test rounds to one unit in the last place.
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= f64::EPSILON * b.abs();
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(&expected).all(close), "{found:?} {expected:?}");
        // ½ g t², as in vacuum; energy of falling is told apart and all of it.
        let fallen = 0.5 * 9.81 * 0.2 * 0.2;
        assert!((found[2] - (1.0 - fallen)).abs() < 1e-9, "{found:?}");
        let energy = |at: &str, kind: &str| answer[at][kind].as_f64().unwrap();
        let gained = energy("energy", "kinetic");
        let lost = energy("start_energy", "gravitational") - energy("energy", "gravitational");
        assert!(gained > 1.0 && (gained - lost).abs() < 1e-9 * gained, "{answer}");
    }
}

#[test]
fn a_single_model_that_floats_falls_too() {
    let file = path("hub.forks");
    let reduce = ["reduce", text(&HUB), "--effector", "a3", "-o", text(&file)];
    let report = json(&[&reduce[..], &["--floating"]].concat());
    assert_eq!(report["floating"], true);
    assert!(ReducedModel::load(&file).unwrap().data().base.is_some());
    let answer = json(&simulate(&file, &[]));
    let found = numbers(&answer["eta"]);
    assert!((found[2] - (1.0 - 0.5 * 9.81 * 0.04)).abs() < 1e-9, "{found:?}");
    let blend = numbers(&json(&simulate(&BLENDS[0], &[]))["eta"]);
    assert!(
        found[..7].iter().zip(&blend).all(|(a, b)| (a - b).abs() < 1e-6),
        "{found:?} {blend:?}"
    );
    // Without the option its base is held, and the program says so.
    let held = json(&reduce);
    assert_eq!(held["held"][0], "root");
    assert!(ReducedModel::load(&file).unwrap().data().base.is_none());
}

#[test]
fn scenes_have_blends_that_float() {
    let scene = |name: &str, blend: &Path, floating: bool| {
        let file = path(&format!("{name}.toml"));
        let text = format!(
            "title = \"hub\"\n[world]\nduration = 0.3\n[[mechanism]]\nname = \"hub\"\n\
             file = \"{}\"\neffectors = [\"a3\"]\nfloating = {floating}\nblend = \"{}\"\n\
             own_shapes = false\n\
             shape = [{{ form = {{ sphere = {{ radius = 0.02 }} }}, position = [0.1, 0, 0] }}]\n\
             [[ground]]\nform = {{ plane = {{}} }}\nposition = [0, 0, 0.7]\n",
            text(&HUB),
            text(blend)
        );
        fs::write(&file, text).unwrap();
        file
    };
    for (k, blend) in BLENDS.iter().enumerate() {
        let file = scene(&format!("floats{k}"), blend, true);
        // On the ground the blend in joint displacements leaves the loads that it was made for,
        // which is said with exit code 1.
        let run = forks(&["simulate", text(&file), "--json"]);
        assert!(matches!(run.status.code(), Some(0 | 1)));
        let answer: Value = serde_json::from_slice(&run.stdout).unwrap();
        let status = answer["status"].as_str().unwrap();
        assert!(["completed", "out-of-range"].contains(&status), "{answer}");
        // Falls for 0.25 s, then its tip is on the ground.
        assert!(answer["largest_contact_force"].as_f64().unwrap() > 1.0, "{answer}");
    }
    let held = path("held.forkb");
    json(&blend(&held, &["--chart", "poses"]));
    let file = scene("held", &held, true);
    refuses(&["simulate", text(&file)], &["floats", "--floating"]);
}

#[test]
fn what_a_floating_base_cannot_have_is_refused() {
    refuses(&simulate(&BLENDS[0], &["--scheme", "exponential"]), &["a blended model", "implicit"]);
    let file = path("never.forkb");
    let out = forks(&blend(&file, &["--floating", "--gravity"]));
    assert_eq!(out.status.code(), Some(2));
    let mass = ["--floating", "--mass", "accelerability"];
    refuses(&blend(&file, &mass), &["floats", "static shapes"]);
    assert!(!file.exists());
}
