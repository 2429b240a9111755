//! A block of tissue on the ground and on an incline.

use forks_tissue::{TissueScene, deform::dynamics::mechanism::lie::glam::DVec3};

use crate::support::built;

/// A block of 1 kg of which some nodes stand on the ground, under a gravity of the given direction.
fn block(gravity: [f64; 3], contact: &str, more: &str) -> TissueScene {
    built(&format!(
        "title = 'block'
        [world]
        duration = 1.0
        step = 0.01
        gravity = {gravity:?}
        contact = {contact}
        {more}
        [[tissue]]
        mesh = {{ size = [0.1, 0.1, 0.1], cells = [2, 2, 2] }}
        material = {{ young = 5e4, poisson = 0.3, density = 1000.0 }}
        damping = {{ external = 20.0 }}
        friction = 0.5
        [[ground]]
        form = 'plane'
        friction = 0.5"
    ))
    .unwrap()
}

fn force(s: &TissueScene) -> DVec3 {
    s.touching().iter().map(|t| t.force).sum()
}

#[test]
fn it_rests_with_its_weight() {
    let mut s = block([0.0, 0.0, -9.81], "{ exact = {} }", "");
    for _ in 0..400 {
        s.step().unwrap();
    }
    // Dampers and the scheme take motion away by a tenth at least in every step.
    assert!((force(&s) - DVec3::Z * 9.81).length() < 9.81e-9, "{}", force(&s));
    assert_eq!(s.touching().len(), 9);
    assert!(s.totals().overlap < 1e-6 && s.totals().inexact == 0, "{:?}", s.totals());
    // Rounding of its energy is no rise for which steps are divided.
    let before = s.totals();
    for _ in 0..200 {
        s.step().unwrap();
    }
    assert_eq!(s.totals().parts - before.parts, 200);
}

#[test]
fn penalties_let_it_sink_by_weight_over_stiffness() {
    let penalty = "{ penalty = { stiffness = 500.0, damping = 2.0 } }";
    let mut s = block([0.0, 0.0, -9.81], penalty, "stepper = 'mixed-euler'");
    s.spec.world.step = Some(1e-3);
    for _ in 0..4000 {
        s.step().unwrap();
    }
    assert!((force(&s) - DVec3::Z * 9.81).length() < 9.81e-6, "{}", force(&s));
    // Nine springs share the weight, but not evenly.
    let sunk: f64 = s.touching().iter().map(|t| -t.gap).sum::<f64>() * 500.0;
    assert!((sunk / 9.81 - 1.0).abs() < 1e-6, "{sunk}");
}

#[test]
fn it_holds_on_inclines_below_friction_and_slips_above() {
    for (part, slips) in [(0.98, false), (1.02, true)] {
        let angle = (0.5f64 * part).atan();
        let g = [9.81 * angle.sin(), 0.0, -9.81 * angle.cos()];
        let mut s = block(g, "{ exact = {} }", "");
        for _ in 0..300 {
            s.step().unwrap();
        }
        let at = |s: &TissueScene| {
            let x = &s.simulation.state().x;
            x.iter().sum::<DVec3>() / x.len() as f64
        };
        let from = at(&s);
        for _ in 0..100 {
            s.step().unwrap();
        }
        let moved = (at(&s) - from).x;
        if slips {
            // Dampers of 20/s to the ground hold the speed at g (sin a − µ cos a)/20.
            let speed = 9.81 * (angle.sin() - 0.5 * angle.cos()) / 20.0;
            assert!((moved / speed - 1.0).abs() < 0.01, "{moved} {speed}");
        } else {
            assert!(moved.abs() < 1e-9, "{moved}");
        }
    }
}

#[test]
fn explicit_steps_touch_by_the_same_law() {
    let mut s = block([0.0, 0.0, -9.81], "{ exact = {} }", "stepper = 'mixed-euler'");
    s.spec.world.step = Some(1e-3);
    for _ in 0..2000 {
        s.step().unwrap();
    }
    assert!((force(&s) - DVec3::Z * 9.81).length() < 9.81e-6, "{}", force(&s));
}

#[test]
fn a_box_is_carried_by_tissue_and_tissue_by_the_ground() {
    let mut s = built(
        "title = 'box on a block'
        world = { step = 0.01 }
        [[tissue]]
        mesh = { size = [0.2, 0.2, 0.1], cells = [4, 4, 1] }
        material = { young = 1e5, poisson = 0.3, density = 500.0 }
        position = [-0.1, -0.1, 0.0]
        damping = { external = 10.0 }
        [[body]]
        name = 'box'
        mass = 0.5
        form = { box = { half_extents = [0.06, 0.06, 0.05] } }
        position = [0.0, 0.0, 0.152]
        [[ground]]
        form = 'plane'",
    )
    .unwrap();
    for _ in 0..300 {
        s.step().unwrap();
    }
    // Up on the block's base what it and the box weigh, down on its top what the box does.
    let up: f64 = s.touching().iter().map(|t| t.force.z).sum();
    assert!((up / (9.81 * 2.0) - 1.0).abs() < 1e-4, "{up}");
    let at = s.simulation.link_poses()[1].translation;
    assert!(at.x.abs() < 1e-3 && at.y.abs() < 1e-3 && at.z < 0.151, "{at}");
}
