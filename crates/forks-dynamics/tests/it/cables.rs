//! Cables in the full solver: forces, exact tangent, equilibria and motion.

use forks_dynamics::{
    Loads, body_axes_derivative, generalized_forces,
    integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus},
    mechanism::{
        Cable, CableNode, CableObstacle, CablePoint, Joint, JointKind, Link, LinkId, Mechanism,
        MechanismBuilder, ObstacleKind,
        kinematics::loops,
        lie::{
            Pose, SpatialInertia,
            glam::{DMat3, DVec3},
        },
    },
    passive::{PassiveWorkspace, passive_forces},
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
    tangent_stiffness,
};
use forks_testkit::{
    Potential, RandomMechanismOptions, Rng,
    dynamics::{StateOptions, forward_dynamics, random_state},
    random_mechanism,
};

fn taut(seed: u64) -> RandomMechanismOptions {
    RandomMechanismOptions {
        links: 2 + seed as usize % 8,
        extra_loops: seed as usize % 3,
        cables: 1 + seed as usize % 3,
        preload: 0.3,
        reversed_edges: 0.3,
        ..RandomMechanismOptions::default()
    }
}

#[test]
fn forces_and_tangent_are_those_of_exact_differentiation() {
    let (mut force, mut tangent) = (0.0f64, 0.0f64);
    for seed in 0..60 {
        let m = random_mechanism(seed, &taut(seed));
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let none = forks_testkit::Loads { gravity: true, ..Default::default() };
        let rival = Potential::new(&m, &none);
        let expected = rival.gradient(&q);
        let found = generalized_forces(&m, &q, &poses, &Loads::gravity());
        let size = expected.iter().fold(1e-3f64, |s, x| s.max(x.abs()));
        let off = |a: &[f64], b: &[f64], sign: f64| {
            a.iter().zip(b).fold(0.0f64, |s, (a, b)| s.max((a - sign * b).abs()))
        };
        force = force.max(off(&found, &expected, -1.0) / size);
        let rows = vec![0.0; loops::constraint_rows(&m)];
        let expected = rival.lagrangian_hessian(&q, &rows);
        let found = tangent_stiffness(&m, &q, &poses, &Loads::gravity(), &rows);
        let size = expected.max_abs();
        tangent = tangent.max(off(found.as_slice(), expected.as_slice(), 1.0) / size);
    }
    println!("forces within {force:e}, tangents within {tangent:e}");
    assert!(force < 1e-11 && tangent < 1e-11, "{force:e} {tangent:e}");
}

/// A random mechanism whose cables may wrap spheres and cylinders of its links.
fn wrapping(seed: u64) -> Mechanism {
    let m = random_mechanism(seed, &taut(seed));
    let mut rng = Rng::new(seed ^ 0xcab1e);
    let mut b = MechanismBuilder::from_mechanism(&m);
    for c in b.cables_mut() {
        for branch in &mut c.branches {
            let link = LinkId::new(rng.index(m.links().len()));
            let side = CablePoint { link, position: DVec3::from_array(rng.vector()) };
            let obstacle = CableObstacle {
                link,
                link_from_obstacle: Pose::from_translation(DVec3::from_array(rng.vector()) * 0.1),
                kind: [ObstacleKind::Sphere, ObstacleKind::Cylinder][rng.index(2)],
                radius: 0.15,
                side: rng.chance(0.5).then_some(side),
            };
            branch.nodes.insert(1, CableNode::Obstacle(obstacle));
        }
    }
    b.build().expect("obstacles lie between points")
}

#[test]
fn the_tangent_of_wrapping_cables_is_that_of_differences() {
    let h = 1e-4;
    let (mut worst, mut wrapped) = (0.0f64, 0);
    for seed in 0..400 {
        let m = wrapping(seed);
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let ways = |poses: &[Pose]| -> Vec<bool> {
            m.cables()
                .iter()
                .flat_map(|c| c.segments(poses).map(|s| s.wraps()).collect::<Vec<_>>())
                .collect()
        };
        let same = ways(&poses);
        let count = same.iter().filter(|w| **w).count();
        let n = m.velocity_count();
        let moved = |i: usize, s: f64| {
            let mut v = vec![0.0; n];
            v[i] = s;
            let mut out = q.clone();
            m.integrate(&mut out, &v);
            let poses = m.link_poses(&out);
            (out, poses)
        };
        // Where a way changes within the stencil there is a kink.
        let kink = (0..n).any(|i| [-0.01, 0.01].iter().any(|s| ways(&moved(i, *s).1) != same));
        let rows = vec![0.0; loops::constraint_rows(&m)];
        let tangent = tangent_stiffness(&m, &q, &poses, &Loads::none(), &rows);
        let size = tangent.max_abs();
        if count == 0 || kink || size > 1e4 {
            continue;
        }
        wrapped += count;
        let force =
            |(q, poses): (Vec<f64>, Vec<Pose>)| generalized_forces(&m, &q, &poses, &Loads::none());
        let found = body_axes_derivative(&m, &tangent, &force((q.clone(), poses.clone())));
        for j in 0..n {
            let slope = |h: f64| -> Vec<f64> {
                let (up, down) = (force(moved(j, h)), force(moved(j, -h)));
                up.iter().zip(&down).map(|(u, d)| (d - u) / (2.0 * h)).collect()
            };
            // Richardson.
            let (one, two) = (slope(h), slope(2.0 * h));
            for i in 0..n {
                let slope = (4.0 * one[i] - two[i]) / 3.0;
                worst = worst.max((found[(i, j)] - slope).abs() / size);
            }
        }
    }
    println!("{wrapped} stretches wrap, tangent within {worst:e} of differences");
    assert!(wrapped > 40, "{wrapped} stretches wrap");
    assert!(worst < 1e-7, "{worst:e}");
}

#[test]
fn accelerations_are_those_of_maximal_coordinates() {
    let mut worst = 0.0f64;
    for seed in 0..60 {
        let mut o = taut(seed);
        o.extra_loops = 0;
        let m = random_mechanism(seed, &o);
        let s = random_state(seed, &m, &StateOptions { wrench: 0.0, ..StateOptions::default() });
        let d = forks_dynamics::constrained::ConstrainedDynamics::new(&m);
        let mut work = d.workspace();
        let found = d.accelerations(s.tree_q(&m), s.tree_v(&m), &s.tau, &[], &mut work);
        let expected = forward_dynamics(&m, &s);
        let size = found.acceleration.iter().fold(1.0f64, |s, x| s.max(x.abs()));
        let off = found.acceleration.iter().zip(&expected.joints);
        worst = off.fold(worst, |w, (a, b)| w.max((a - b).abs() / size));
    }
    println!("accelerations within {worst:e}");
    assert!(worst < 1e-9, "{worst:e}");
}

/// A bead of 0.2 kg between two strings of natural length `rest` to pins 2 m apart.
fn bead(rest: f64, stiffness: f64) -> Mechanism {
    let mut b = MechanismBuilder::new("bead");
    let tensor = DMat3::IDENTITY * 1e-4;
    let inertia = SpatialInertia::new(0.2, DVec3::ZERO, tensor);
    let bead = b.add_link(Link::new("bead").with_inertia(inertia));
    let subspace = vec![
        forks_dynamics::mechanism::lie::Twist::new(DVec3::X, DVec3::ZERO),
        forks_dynamics::mechanism::lie::Twist::new(DVec3::Z, DVec3::ZERO),
    ];
    b.add_joint(Joint::new("slide", JointKind::General { subspace }, LinkId::WORLD, bead));
    for x in [-1.0, 1.0] {
        let ends = [(LinkId::WORLD, DVec3::X * x), (bead, DVec3::ZERO)];
        b.add_cable(
            Cable::straight(format!("string {x}"), ends, stiffness, rest).slack_below_rest(),
        );
    }
    b.build().expect("a bead on two strings")
}

#[test]
fn a_bead_on_two_strings_hangs_where_its_closed_form_says() {
    for (rest, stiffness) in [(0.6, 40.0), (0.99, 200.0), (1.0, 500.0), (1.05, 300.0)] {
        let m = bead(rest, stiffness);
        let mut start = m.start_positions();
        start[1] = -0.4;
        let found =
            solve_equilibrium(&m, &start, &Loads::gravity(), &EquilibriumOptions::default());
        assert_eq!(found.status, EquilibriumStatus::Converged, "rest {rest}");
        let sag = -found.q[1];
        let length = 1f64.hypot(sag);
        let lift = 2.0 * stiffness * (length - rest) * sag / length;
        assert!((lift - 0.2 * 9.81).abs() < 1e-10, "rest {rest}: {lift}");
        assert!(found.q[0].abs() < 1e-12);
    }
}

/// Energy, and what dampers took, along a path of Runge and Kutta's scheme.
#[test]
fn energy_is_kept_and_dampers_take_what_they_ought_to() {
    let mut m = bead(0.6, 40.0);
    let run = |m: &Mechanism, steps: usize| {
        let options =
            SimulationOptions { integrator: Integrator::RungeKutta4, ..Default::default() };
        let mut s = Simulation::new(m, &[0.1, 0.3], &[0.5, -0.2], options);
        let start = s.energy().total();
        let mut lost = 0.0;
        let h = 1.0 / steps as f64;
        for _ in 0..steps {
            let rate = |s: &Simulation<'_>| {
                let mut f = vec![0.0; 2];
                let mut still = vec![0.0; 2];
                let mut work = PassiveWorkspace::new(m);
                let state = s.state();
                passive_forces(m, &mut work, &state.q, &state.v, &mut f);
                passive_forces(m, &mut work, &state.q, &[0.0; 2], &mut still);
                (0..2).map(|i| (f[i] - still[i]) * state.v[i]).sum::<f64>()
            };
            let before = rate(&s);
            assert_eq!(s.step(h), SimulationStatus::Completed);
            lost += 0.5 * h * (before + rate(&s));
        }
        (s.energy().total() - start, lost)
    };
    let (change, _) = run(&m, 1000);
    assert!(change.abs() < 1e-8, "energy drifts by {change:e}");
    let mut b = MechanismBuilder::from_mechanism(&m);
    b.cables_mut().iter_mut().for_each(|c| c.damping = 1.5);
    m = b.build().expect("damped strings");
    let (change, lost) = run(&m, 4000);
    assert!(lost < -0.1, "dampers take {lost}");
    assert!((change - lost).abs() < 1e-5 * lost.abs(), "{change} is not {lost}");
}

#[test]
fn implicit_steps_end_on_the_equilibrium_whatever_their_length() {
    for seed in 0..12 {
        let m = wrapping(seed);
        let q = m.start_positions();
        let options = EquilibriumOptions::default();
        let found = solve_equilibrium(&m, &q, &Loads::gravity(), &options);
        if found.status != EquilibriumStatus::Converged {
            continue;
        }
        let n = m.tree_velocity_count();
        let tree = &found.q[..m.tree_position_count()];
        let options = SimulationOptions { integrator: Integrator::Implicit, ..Default::default() };
        let mut s = Simulation::new(&m, tree, &vec![0.0; n], options);
        for h in [1e-3, 0.02, 0.1] {
            let status = s.step(h);
            assert_eq!(status, SimulationStatus::Completed, "seed {seed}, h {h}");
        }
        let speed = s.state().v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(speed < 1e-7, "seed {seed}: {speed:e} at rest");
    }
}

#[test]
fn a_stiff_pretensioned_string_is_stable_at_long_steps() {
    // Transverse frequency √(2T/(m a)): 2,000 N on 0.2 kg is 140 rad/s, far from resolved.
    let m = bead(0.5, 4000.0);
    let options = SimulationOptions { integrator: Integrator::Implicit, ..Default::default() };
    let mut s = Simulation::new(&m, &[0.0, 0.05], &[0.0, 0.0], options);
    for _ in 0..200 {
        assert_eq!(s.step(0.05), SimulationStatus::Completed);
    }
    let exact =
        solve_equilibrium(&m, &[0.0, 0.05], &Loads::gravity(), &EquilibriumOptions::default());
    let state = s.state();
    assert!((state.q[1] - exact.q[1]).abs() < 1e-9, "{} {}", state.q[1], exact.q[1]);
    assert!(state.v[1].abs() < 1e-9);
}
