//! The scenes of `fixtures/scenes/direct` end, keep to their tasks, and are in the world what
//! plans said.

use std::path::PathBuf;

use forks_direct::Direct;
use forks_sim::{
    WorldStatus,
    scene::{Fidelity, Scene},
};

struct Run {
    direct: Direct,
    /// Steps that did not end as they should.
    odd: usize,
}

fn run(name: &str, fidelity: Fidelity) -> Run {
    run_steps(name, fidelity, u64::MAX)
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../fixtures/scenes/direct/{name}.toml"))
}

/// At most so many steps.
fn run_steps(name: &str, fidelity: Fidelity, most: u64) -> Run {
    let mut direct = Direct::load(&file(name), fidelity).unwrap();
    let mut odd = 0;
    for _ in 0..direct.scene.step_count().min(most) {
        let report = direct.step().unwrap();
        odd += usize::from(!matches!(
            report.status,
            WorldStatus::Completed | WorldStatus::ContactInexact
        ));
    }
    for (m, w) in direct.watched() {
        println!(
            "{name} {m}: {} {:e} rms {:e} last {:e} {}",
            w.name,
            w.largest,
            w.rms(),
            w.now,
            w.unit
        );
    }
    println!("{name}: {:?}", direct.report());
    Run { direct, odd }
}

impl Run {
    fn number(&self, name: &str, unit: &str) -> &forks_direct::Watched {
        let found = self.direct.watched().find(|(_, w)| w.name == name && w.unit == unit);
        found.unwrap_or_else(|| panic!("no {name}")).1
    }
}

#[test]
fn an_arm_writes_on_a_tilted_plane() {
    for fidelity in [Fidelity::Reduced, Fidelity::Full] {
        let r = run("arm-writes", fidelity);
        assert_eq!(r.odd, 0);
        let pen = r.number("pen error", "m");
        // Three tenths of a millimetre are how far the target is below the board.
        assert!(pen.rms() < 6e-4 && pen.largest < 1e-3, "{pen:?}");
        assert!(r.number("upright error", "rad").largest < 2e-3);
        assert!(r.direct.scene.world.contacts().len() <= 1);
    }
}

#[test]
fn a_hexapod_is_dragged_while_its_feet_stay() {
    for fidelity in [Fidelity::Reduced, Fidelity::Full] {
        let feet = |r: &Run| -> Vec<_> {
            let world = &r.direct.scene.world;
            let m = r.direct.scene.mechanism("hexapod").unwrap();
            (0..6).map(|e| world.effector_pose(m, e).unwrap().translation).collect()
        };
        // Decisions with six feet are slow: the beginning of the circle.
        let r = run_steps("hexapod-dragged", fidelity, 60);
        assert_eq!(r.odd, 0);
        let body = r.number("body error", "m");
        assert!(body.rms() < 2e-3 && body.largest < 3e-3, "{body:?}");
        assert_eq!(r.direct.report().relaxed_steps, 0);
        let start = forks_models::hexapod();
        let poses = start.mechanism.link_poses(&start.mechanism.start_positions());
        for (e, at) in start.effectors.iter().zip(feet(&r)) {
            let moved = at.truncate().distance(poses[e.index()].translation.truncate());
            assert!(moved < 3e-3, "{moved}");
        }
    }
}

#[test]
fn a_humanoid_reaches_while_its_feet_stay() {
    // Decisions on 56 hinges and eight points are slow: until the hand is well on its way.
    let r = run_steps("humanoid-reaches", Fidelity::Full, 140);
    assert_eq!(r.odd, 0);
    let (balance, hand) = (r.number("balance error", "m"), r.number("hand error", "m"));
    assert!(balance.largest < 2e-3, "{balance:?}");
    assert!(hand.largest < 1e-2, "{hand:?}");
    let scene = &r.direct.scene;
    let start = Direct::read(&file("humanoid-reaches")).unwrap().1;
    let start = Scene::build(start, file("").parent().unwrap(), Fidelity::Full).unwrap();
    let m = scene.mechanism("humanoid").unwrap();
    for foot in 0..2 {
        let at = |s: &Scene| s.world.effector_pose(m, foot).unwrap().translation;
        // Soles settle: half of their points touch at first.
        assert!(at(scene).distance(at(&start)) < 5e-3, "{} {}", at(scene), at(&start));
    }
}

#[test]
fn a_cassie_squats_by_its_loops_and_springs() {
    let pelvis = |r: &Run, link: usize| {
        let scene = &r.direct.scene;
        scene.world.effector_pose(scene.mechanism("cassie").unwrap(), link).unwrap().translation
    };
    let (up, down) = (
        run_steps("cassie-squats", Fidelity::Full, 350),
        run_steps("cassie-squats", Fidelity::Full, 900),
    );
    assert_eq!((up.odd, down.odd), (0, 0));
    // 80 mm, and what springs and servos give way beyond the weight's own sag.
    let lower = pelvis(&up, 2).z - pelvis(&down, 2).z;
    assert!((0.08..0.13).contains(&lower), "{lower}");
    for foot in 0..2 {
        let slip = (pelvis(&up, foot) - pelvis(&down, foot)).truncate().length();
        assert!(slip < 0.02, "{slip}");
    }
}

#[test]
fn a_hand_turns_a_ball_by_set_points() {
    for fidelity in [Fidelity::Reduced, Fidelity::Full] {
        let r = run("hand-turns-ball", fidelity);
        assert_eq!(r.odd, 0);
        let (place, angle) = (r.number("ball error", "m"), r.number("ball angle", "rad"));
        assert!(place.rms() < 2e-4, "{place:?}");
        assert!(angle.rms() < 6e-3, "{angle:?}");
    }
}

#[test]
fn fingertips_follow_circles_by_prediction() {
    for fidelity in [Fidelity::Reduced, Fidelity::Full] {
        let r = run("hand-follows", fidelity);
        assert_eq!(r.odd, 0);
        let report = r.direct.report();
        assert_eq!(report.decisions[2], 0, "{report:?}");
        for name in ["rh_ffdistal error", "rh_mfdistal error", "rh_thdistal error"] {
            let tip = r.number(name, "m");
            assert!(tip.rms() < 1e-3, "{tip:?}");
        }
    }
}

#[test]
fn bounds_that_are_too_close_are_kept_and_counted() {
    let file = file("hand-follows");
    let (mut spec, scene) = Direct::read(&file).unwrap();
    spec.mpc.iter_mut().for_each(|m| m.largest = 0.01);
    let folder = file.parent().unwrap();
    let mut direct = Direct::build(&spec, scene, folder, Fidelity::Reduced).unwrap();
    for _ in 0..100 {
        assert_eq!(direct.step().unwrap().status, WorldStatus::Completed);
    }
    let report = direct.report();
    assert!(report.decisions[1] > 50 && report.decisions[2] == 0, "{report:?}");
}
