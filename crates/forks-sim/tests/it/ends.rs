//! Scenes with neighbouring links as effectors, and with limits of joints that the effectors do not
//! move.

use forks_sim::{
    StepReport,
    scene::{Fidelity, Scene, spec::SceneSpec},
};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/ends")
}

fn scene(file: &str, fidelity: Fidelity) -> Scene {
    Scene::load(&folder().join(file), fidelity).unwrap()
}

/// Runs a scene to its end.
fn run(scene: &mut Scene, mut look: impl FnMut(&Scene, &StepReport)) {
    for _ in 0..scene.step_count() {
        let report = scene.step();
        look(scene, &report);
    }
}

fn coordinate(scene: &Scene, joint: &str) -> f64 {
    scene.world.joint_coordinate(scene.mechanism("g").unwrap(), joint, 0).unwrap()
}

#[test]
fn links_do_not_touch_the_ones_that_carry_them() {
    for fidelity in [Fidelity::Reduced, Fidelity::Full] {
        let mut s = scene("adjacent_effectors.toml", fidelity);
        run(&mut s, |s, report| {
            assert_eq!((report.contacts, report.inexact), (0, 0));
            assert!(s.world.energy().kinetic < 1e-3, "{:?}", s.world.energy());
        });
    }
}

#[test]
fn a_scene_has_the_pairs_that_the_model_has() {
    // Three balls in a row on joints of their own, all of which overlap; the middle one is the
    // first one's carrier.
    let model = |masks: [&str; 3], contact: &str| {
        let ball = |name: &str, x: f64, mask: &str, inside: &str| {
            format!(
                "<body name='{name}' pos='{x} 0 0'><joint name='{name}' axis='0 1 0' \
                 stiffness='5'/>\
                 <geom name='{name}' size='.1' {mask}/>{inside}</body>"
            )
        };
        let outer = ball("c", 0.05, masks[2], "");
        let inner = ball("a", 0.05, masks[0], &ball("b", 0.05, masks[1], &outer));
        format!("<mujoco><worldbody>{inner}</worldbody><contact>{contact}</contact></mujoco>")
    };
    let none = ["", "", ""];
    let first = ["contype='2' conaffinity='0'", "", ""];
    let exclude = "<exclude body1='c' body2='a'/>";
    let cases = [(none, "", 1), (none, exclude, 0), (first, "", 0)];
    for (k, (masks, contact, pairs)) in cases.into_iter().enumerate() {
        let folder = std::env::temp_dir().join(format!("forks-ends-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let name = format!("pairs{k}.xml");
        std::fs::write(folder.join(&name), model(masks, contact)).unwrap();
        let text = format!(
            "title = 'pairs'\n[[mechanism]]\nname = 'g'\nfile = '{name}'\neffectors = ['a', 'b', \
             'c']\n\
             gravity = false\n"
        );
        let spec = SceneSpec::parse(&text, "pairs").unwrap();
        let mut s = Scene::build(spec, &folder, Fidelity::Reduced).unwrap();
        let report = s.step();
        assert_eq!(report.contacts, pairs, "{masks:?} {contact}");
    }
}

#[test]
fn limits_act_on_joints_that_the_effectors_do_not_move() {
    // The equilibrium that the models are about is beyond the limits: joints come back within 10
    // ms.
    let ends = |file: &str, fidelity| {
        let mut s = scene(file, fidelity);
        run(&mut s, |s, report| {
            assert_eq!(report.inexact, 0, "{report:?}");
            for (joint, low, high) in [("j", 0.0, 1.0), ("k", -1.0, 0.0)] {
                let q = coordinate(s, joint);
                let within = (low - 1e-3..=high + 1e-3).contains(&q);
                assert!(within || s.world.time() < 0.1, "{file}: {joint} is {q}");
            }
        });
        [coordinate(&s, "j"), coordinate(&s, "k")]
    };
    // MuJoCo 4.0.0, whose limits are soft, ends at (0.7302, 0.0040) after 10 s.
    let right = ends("limits_in_reach.toml", Fidelity::Reduced);
    let found = ends("limits_beyond_reach.toml", Fidelity::Reduced);
    let full = ends("limits_beyond_reach.toml", Fidelity::Full);
    assert!((found[0] - 0.734).abs() < 0.05, "{found:?}");
    for ((a, b), c) in found.iter().zip(right).zip(full) {
        assert!((a - b).abs() < 1e-9 && (a - c).abs() < 0.05, "{found:?} {right:?} {full:?}");
    }
}

#[test]
fn limits_of_a_hand_with_loops_hold_its_driver() {
    let mut s = scene("limits_driver.toml", Fidelity::Reduced);
    let (mut inexact, mut most) = (0, 0f64);
    run(&mut s, |s, report| {
        inexact += report.inexact;
        most = most.max(coordinate(s, "left_driver_joint"));
    });
    let names: Vec<_> = s.mechanisms[0].effectors.clone();
    let end = coordinate(&s, "left_driver_joint");
    assert_eq!((inexact, names[0].as_str(), s.mechanisms[0].touching), (0, "left_driver", 1));
    assert!(s.notes.iter().any(|n| n.contains("became effectors")), "{:?}", s.notes);
    // Its range is 0 to 0.9.
    assert!((-1e-3..=0.9 + 1e-3).contains(&end) && most < 0.9 + 1e-3, "{end}, {most}");
}
