//! Creatures in motion.

use forks_tissue::deform::dynamics::mechanism::lie::glam::DVec3;

use crate::support::built;

/// A worm of this material on the ground or in the air.
fn worm(world: &str, more: &str) -> String {
    format!(
        "title = 'worm'
        [world]
        {world}
        [[mechanism]]
        name = 'worm'
        parametric = 'worm'
        joint_stiffness = 2.0
        joint_damping = 0.02
        position = [0.0, 0.0, 0.051]
        [[tissue]]
        mesh = {{ parametric = 'worm' }}
        material = {{ young = 5e4, poisson = 0.3, density = 1000.0 }}
        {more}"
    )
}

#[test]
fn springs_inside_do_not_change_momentum() {
    let wave =
        "[[action]]\njoints = ['hinge*']\nlag_deg = 60\nwave = { amplitude = 0.4, frequency = 1 }";
    let text = worm("step = 0.01\ngravity = [0.0, 0.0, 0.0]", wave);
    let mut s = built(&text).unwrap();
    let mut bent = 0.0f64;
    for _ in 0..100 {
        s.step().unwrap();
        bent = s.simulation.state().q[7..].iter().fold(bent, |m, q| m.max(q.abs()));
    }
    let (p, l) = s.simulation.momentum();
    // From rest: what a body of 6 kg that moves at 0.1 m/s has is 0.6 N·s.
    assert!(p.length() < 1e-13 && l.length() < 1e-13, "{p} {l}");
    assert!(bent > 0.05, "{bent}");
}

#[test]
fn a_worm_lies_on_the_ground_with_its_weight() {
    let text = worm("step = 0.01", "damping = { external = 10.0 }\n[[ground]]\nform = 'plane'");
    let mut s = built(&text).unwrap();
    for _ in 0..120 {
        s.step().unwrap();
    }
    let up: DVec3 = s.touching().iter().map(|t| t.force).sum();
    let mass: f64 = s.simulation.mechanism().links().iter().map(|l| l.inertia.mass).sum();
    let free = (0..224).filter(|&n| s.simulation.body().holder(n).is_none());
    let mass = mass + free.map(|n| s.simulation.body().masses()[n]).sum::<f64>();
    assert!((up.z / (9.81 * mass) - 1.0).abs() < 1e-3, "{up} {}", 9.81 * mass);
    assert!(s.totals().overlap < 2e-3, "{:?}", s.totals());
}

#[test]
fn a_point_is_drawn_along_its_way() {
    let drag = "[[drag]]\npoint = [0.6, 0.05, 0.05]\nstiffness = 200\ndamping = 2\n\
        times = [0, 0.5]\nway = [[0, 0, 0], [0, 0.2, 0.1]]\nuntil = 2";
    let text = worm(
        "step = 0.01\ngravity = [0.0, 0.0, 0.0]",
        &format!("damping = {{ external = 2.0 }}\n{drag}"),
    );
    let mut s = built(&text).unwrap();
    let before = s.simulation.state().x[223];
    for _ in 0..100 {
        s.step().unwrap();
    }
    let moved = s.simulation.state().x[223] - before;
    assert!(moved.y > 0.1 && moved.z > 0.03, "{moved}");
}
