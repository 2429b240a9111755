//! Things held along lines: nothing may slide or turn out of a grip that friction holds.
//!
//! Clipping a line to a face gives some points twice and others between them, differently from step
//! to step. Forces jumped between such points until one end of each line carried all, and the
//! object turned out.

use std::path::{Path, PathBuf};

use forks_lie::SplitMix64;
use forks_sim::{
    WorldStatus,
    lie::Pose,
    scene::{Fidelity, Scene, spec::SceneSpec},
};

/// The requirement, m and rad, over 5 s.
const DROP: f64 = 1e-4;
const TURN: f64 = 0.0175;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes/grip")
}

/// Steps a scene to its end. Returns how far the first body moved (m) and turned (rad) from 0.1 s
/// on.
fn held(mut scene: Scene) -> [f64; 2] {
    let steps = scene.step_count();
    let settled = (0.1 / scene.spec.world.step).ceil() as u64;
    let body = scene.body(&scene.spec.bodies[0].name.clone()).unwrap();
    let mut start = Pose::IDENTITY;
    for k in 0..steps {
        if k == settled {
            start = scene.world.body_pose(body).unwrap();
        }
        let report = scene.step();
        assert_eq!(report.status, WorldStatus::Completed, "step {k}");
    }
    let end = scene.world.body_pose(body).unwrap();
    let moved = (end.translation - start.translation).length();
    [moved, end.rotation.angle_between(start.rotation)]
}

#[track_caller]
fn holds(what: &str, scene: Scene) {
    let [moved, turned] = held(scene);
    assert!(moved < DROP && turned < TURN, "{what}: moved {moved} m, turned {turned} rad");
}

#[test]
fn a_capsule_between_two_pads_stays() {
    for file in ["drops1.toml", "drops2.toml", "hold.toml"] {
        holds(file, Scene::load(&folder().join(file), Fidelity::Reduced).unwrap());
    }
    holds("full", Scene::load(&folder().join("drops1.toml"), Fidelity::Full).unwrap());
}

#[test]
fn capsules_cylinders_and_edges_of_boxes_stay_in_grips_at_any_step() {
    let mut random = SplitMix64::new(7);
    let mut between = |low: f64, high: f64| low + (high - low) * random.uniform();
    let text = std::fs::read_to_string(folder().join("hold.toml")).unwrap();
    let forms = [
        ("form={capsule={radius=0.004,half_length=0.02}}", "rpy_deg=[90,0,0]"),
        ("form={cylinder={radius=0.004,half_length=0.02}}", "rpy_deg=[90,0,0]"),
        // On two edges, as far apart as the sides of the others.
        ("form={box={half_extents=[0.00282843,0.02,0.00282843]}}", "rpy_deg=[0,45,0]"),
    ];
    for step in [1e-3, 2e-3, 4e-3] {
        for (form, turn) in forms {
            for _ in 0..4 {
                let (y, mass) = (between(-0.006, 0.006), between(0.03, 0.06));
                let what = format!("{form}, step {step}, mass {mass}, off by {y}");
                let changed = text
                    .replace("duration=20", "duration=5")
                    .replace("step=0.002", &format!("step={step}"))
                    .replace("position=[0,0,0.2]", &format!("position=[0,{y},0.2]"))
                    .replace("mass=0.045", &format!("mass={mass}"))
                    .replace("rpy_deg=[90,0,0]", turn)
                    .replace("form={capsule={radius=0.004,half_length=0.02}}", form);
                let spec = SceneSpec::parse(&changed, &what).unwrap();
                holds(&what, Scene::build(spec, &folder(), Fidelity::Reduced).unwrap());
            }
        }
    }
}
