//! Skeleton and tissue in motion: accelerations against a dense solve, momentum, energy, both
//! coordinates, steppers against each other, prescribed joints.

use forks_deform::{
    Commands, Coordinates, Curvature, Material, Momentum, SoftError, SoftSimulation, StepStatus,
    Stepper,
    dynamics::mechanism::{
        JointKind, LinkId,
        kinematics::link_jacobian,
        lie::{SplitMix64, glam::DVec3},
        linalg::{Matrix, Pivots},
    },
};

use crate::{
    support::{largest, vector},
    two_bones::{disturbed, mechanism, moving, options, tissue},
};

const STEPPERS: [Stepper; 4] = [
    Stepper::MixedEuler(Coordinates::Absolute),
    Stepper::MixedEuler(Coordinates::Relative),
    Stepper::LinearlyImplicit,
    Stepper::BackwardEuler { tolerance: 1e-9 },
];

fn drift(s: &SoftSimulation, start: (DVec3, DVec3)) -> f64 {
    let (p, l) = s.momentum();
    let part = |a: DVec3, b: DVec3| (a - b).length() / b.length();
    part(p, start.0).max(part(l, start.1))
}

/// Σ Jᵀ f of the nodes' forces on the skeleton, M q̈ + bias = τ by a dense solve.
#[test]
fn accelerations_are_those_of_a_dense_system() {
    let mut s = moving(JointKind::Free, 9.81, options(STEPPERS[0], Momentum::Free));
    let mut state = s.state().clone();
    state.q[7] = 0.7;
    let mut rng = SplitMix64::new(3);
    state.x.iter_mut().for_each(|x| *x += vector(&mut rng) * 0.01);
    s.set_state(state).unwrap();
    let (a, nodes) = s.accelerations(&Commands::default()).unwrap();

    let (m, state, body) = (s.mechanism().clone(), s.state().clone(), s.body().clone());
    let mut forces = vec![DVec3::ZERO; state.x.len()];
    body.elastic().forces(&state.x, &mut forces);
    let poses = m.link_poses(&state.q);
    let mut tau = vec![0.0; 7];
    for n in 0..forces.len() {
        match body.holder(n) {
            None => {
                let expected = forces[n] / body.masses()[n] + m.gravity();
                assert!((nodes[n] - expected).length() < 1e-12 * expected.length());
            }
            Some(link) => {
                let j = link_jacobian(&m, &state.q, &poses, link);
                let pose = poses[link.index()];
                let f = pose.rotation.conjugate() * forces[n];
                let at = pose.inverse().transform_point(state.x[n]);
                let w = [f.to_array(), at.cross(f).to_array()].concat();
                tau.iter_mut().zip(j.transpose_mul_vec(&w)).for_each(|(t, x)| *t += x);
            }
        }
    }
    use forks_deform::dynamics::{mass_matrix, tree};
    let t = tree::Tree::new(&m);
    let mut bias = vec![0.0; 7];
    let mut ws = tree::RneaWorkspace::new(&t);
    tree::bias(&t, &mut ws, &state.q, &state.v, &tree::LinkLoads::GRAVITY, &mut bias);
    tau.iter_mut().zip(&bias).for_each(|(t, b)| *t -= b);
    let expected = mass_matrix(&m, &state.q).solve_vec(&tau, Pivots::AboveZero).unwrap();
    let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for (a, e) in a.iter().zip(&expected) {
        assert!((a - e).abs() < 1e-12 * size, "{a} {e}");
    }
}

#[test]
fn momentum_is_kept_by_projection_and_drifts_without() {
    for stepper in STEPPERS {
        for momentum in [Momentum::Projected, Momentum::Free] {
            let mut s = moving(JointKind::Free, 0.0, options(stepper, momentum));
            let start = s.momentum();
            for _ in 0..200 {
                s.step(5e-4, &Commands::default()).unwrap();
            }
            let found = drift(&s, start);
            match momentum {
                Momentum::Projected => assert!(found < 1e-13, "{stepper:?}: {found}"),
                Momentum::Free => assert!(found > 1e-9, "{stepper:?}: {found}"),
            }
        }
    }
}

#[test]
fn momentum_changes_by_outer_impulses() {
    for stepper in STEPPERS {
        let mut s = moving(JointKind::Free, 9.81, options(stepper, Momentum::Projected));
        let mut pull = vec![DVec3::ZERO; s.state().x.len()];
        pull[3] = DVec3::new(0.1, -0.2, 0.3);
        let forces = [0.02, 0.0, -0.01, 1e-3, 0.0, 2e-3, 1e-2];
        let (h, mass) = (5e-4, s.mechanism().total_mass());
        let free: f64 = (0..s.state().x.len())
            .filter(|&n| s.body().holder(n).is_none())
            .map(|n| s.body().masses()[n])
            .sum();
        let (before, pose) = (s.momentum(), s.mechanism().link_poses(&s.state().q)[1]);
        let commands = Commands { forces: &forces, node_forces: &pull, ..Commands::default() };
        s.step(h, &commands).unwrap();
        let force = pose.rotation * DVec3::new(forces[0], forces[1], forces[2]);
        let expected = (DVec3::Z * (-9.81 * (mass + free)) + pull[3] + force) * h;
        let found = s.momentum().0 - before.0;
        assert!((found - expected).length() < 1e-13 * before.0.length(), "{stepper:?}");
    }
}

/// Table 5 rewrites absolute coordinates: a step in either differs in second order of h alone.
#[test]
fn relative_coordinates_have_the_same_accelerations() {
    let of = |c| moving(JointKind::Free, 9.81, options(Stepper::MixedEuler(c), Momentum::Free));
    let mut difference = [0.0; 2];
    for (d, h) in difference.iter_mut().zip([1e-4, 5e-5]) {
        let (mut a, mut b) = (of(Coordinates::Absolute), of(Coordinates::Relative));
        a.step(h, &Commands::default()).unwrap();
        b.step(h, &Commands::default()).unwrap();
        assert!(a.state().v.iter().zip(&b.state().v).all(|(a, b)| a == b));
        let moved: Vec<DVec3> =
            a.state().velocity.iter().zip(&b.state().velocity).map(|(a, b)| *a - *b).collect();
        *d = largest(&moved) / h;
    }
    let ratio = difference[0] / difference[1];
    assert!((ratio - 2.0).abs() < 0.05, "{difference:?}");
}

#[test]
fn steps_of_all_schemes_agree_to_first_order() {
    let after = |stepper, h: f64| {
        let mut s = moving(JointKind::Free, 9.81, options(stepper, Momentum::Free));
        for _ in 0..(2e-3 / h).round() as usize {
            assert_eq!(s.step(h, &Commands::default()).unwrap().status, StepStatus::Completed);
        }
        s.state().x.clone()
    };
    let fine = after(STEPPERS[0], 2e-6);
    for stepper in STEPPERS {
        let error = |h: f64| {
            let x = after(stepper, h);
            largest(&x.iter().zip(&fine).map(|(a, b)| *a - *b).collect::<Vec<_>>())
        };
        let order = (error(1e-4) / error(5e-5)).log2();
        assert!((order - 1.0).abs() < 0.15, "{stepper:?}: {order}");
    }
}

#[test]
fn implicit_steps_lose_energy_and_stay_finite_at_long_steps() {
    for stepper in [Stepper::LinearlyImplicit, Stepper::BackwardEuler { tolerance: 1e-8 }] {
        let mut s = moving(JointKind::Free, 0.0, options(stepper, Momentum::Projected));
        let start = s.energy().total();
        for _ in 0..60 {
            s.step(1.0 / 60.0, &Commands::default()).unwrap();
            assert!(s.energy().total() < start, "{stepper:?}: {} {start}", s.energy().total());
        }
    }
}

/// Steps at rest were divided: rounding of the energy is a rise as large as what moves there.
#[test]
fn a_body_at_rest_takes_whole_steps() {
    for base in [JointKind::Fixed, JointKind::Free] {
        for h in [1e-5, 1e-4, 1e-3, 1.0 / 60.0] {
            let m = mechanism(base.clone(), 0.0);
            let body = tissue(&m, Material::stvk(2e4, 0.3, 1000.0).unwrap(), false);
            let settings = options(Stepper::LinearlyImplicit, Momentum::Free);
            let mut s = SoftSimulation::new(&m, body, settings).unwrap();
            for _ in 0..20 {
                assert_eq!(s.step(h, &Commands::default()).unwrap().steps, 1, "{h}");
            }
        }
    }
}

#[test]
fn prescribed_joints_go_where_they_are_told() {
    for stepper in STEPPERS {
        let mut s = moving(JointKind::Free, 9.81, options(stepper, Momentum::Projected));
        let (h, v) = (5e-4, s.state().v[6]);
        let commands = Commands { accelerations: &[(6, -30.0)], ..Commands::default() };
        for _ in 0..10 {
            s.step(h, &commands).unwrap();
        }
        let expected = v - 30.0 * 10.0 * h;
        assert!((s.state().v[6] - expected).abs() < 1e-12, "{stepper:?}: {}", s.state().v[6]);
    }
}

/// S from the border against the full matrix of skeleton and nodes.
#[test]
fn eliminating_nodes_is_the_full_matrix() {
    for h in [1e-4, 1e-3, 1.0 / 60.0] {
        let mut s =
            moving(JointKind::Fixed, 0.0, options(Stepper::LinearlyImplicit, Momentum::Free));
        let rest = s.state().clone();
        let body = s.body().clone();
        let mut k = body.elastic().matrix();
        body.elastic().stiffness(&rest.x, Curvature::Projected, &mut k);
        let k = k.to_dense();
        let m = s.mechanism().clone();
        let poses = m.link_poses(&rest.q);
        // Velocities of all nodes per (hinge, free nodes).
        let free: Vec<usize> = (0..rest.x.len()).filter(|&n| body.holder(n).is_none()).collect();
        let mut map = Matrix::zeros(3 * rest.x.len(), 1 + 3 * free.len());
        for n in 0..rest.x.len() {
            if body.holder(n) == Some(LinkId::new(2)) {
                let c = DVec3::Y.cross(rest.x[n] - poses[2].translation).to_array();
                (0..3).for_each(|i| map[(3 * n + i, 0)] = c[i]);
            }
        }
        for (f, &n) in free.iter().enumerate() {
            (0..3).for_each(|i| map[(3 * n + i, 1 + 3 * f + i)] = 1.0);
        }
        let mut full = map.transpose_mul(&k.mul(&map));
        full.as_mut_slice().iter_mut().for_each(|x| *x *= h * h);
        full[(0, 0)] += forks_deform::dynamics::mass_matrix(&m, &rest.q)[(0, 0)];
        for (f, &n) in free.iter().enumerate() {
            (0..3).for_each(|i| full[(1 + 3 * f + i, 1 + 3 * f + i)] += body.masses()[n]);
        }
        let mut unit = vec![0.0; full.rows()];
        unit[0] = 1.0;
        let expected = full.solve_vec(&unit, Pivots::AboveZero).unwrap()[0];
        s.step(h, &Commands::default()).unwrap();
        let found = 1.0 / s.border().schur()[(0, 0)];
        assert!((found / expected - 1.0).abs() < 1e-11, "{h}: {found} {expected}");
    }
}

#[test]
fn explicit_steps_beyond_the_limit_explode_and_below_do_not() {
    let limit =
        moving(JointKind::Fixed, 0.0, options(STEPPERS[0], Momentum::Free)).explicit_step_limit();
    for (part, good) in [(0.9, true), (1.3, false)] {
        let mut s = moving(JointKind::Fixed, 0.0, options(STEPPERS[0], Momentum::Free));
        let small = disturbed(&s, 1e-4);
        let mut small = small;
        small.v.fill(0.0);
        s.set_state(small).unwrap();
        let start = s.energy().total();
        let mut ended = Ok(());
        for _ in 0..2000 {
            ended = s.step(part * limit, &Commands::default()).map(|_| ());
            if ended.is_err() {
                break;
            }
        }
        let grown = ended.is_err() || s.energy().total() > 100.0 * start;
        assert_eq!(grown, !good, "{part} of {limit}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_the_state_stays() {
    let mut s = moving(JointKind::Free, 0.0, options(STEPPERS[0], Momentum::Free));
    let before = s.state().clone();
    let refused = s.step(0.0, &Commands::default()).unwrap_err();
    assert_eq!(refused, SoftError::NotPositive { what: "the step", value: 0.0 });
    let wrong = Commands { forces: &[1.0], ..Commands::default() };
    assert!(matches!(s.step(1e-3, &wrong), Err(SoftError::Length { found: 1, expected: 7, .. })));
    let mut bad = before.clone();
    bad.x[2].y = f64::NAN;
    assert!(matches!(s.set_state(bad), Err(SoftError::NotFinite { what: "node", index: 2, .. })));
    let nan = [f64::NAN; 7];
    assert!(s.step(1e-3, &Commands { forces: &nan, ..Commands::default() }).is_err());
    assert_eq!(*s.state(), before);
}
