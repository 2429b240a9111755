//! The sweep's step beside the dense one.

use forks_mechanism::{
    Mechanism,
    lie::Wrench,
    linalg::{Matrix, dense},
};
use forks_testkit::{JointChoice, RandomMechanismOptions, Rng, random_mechanism};

use super::{Failure, Sweep};
use crate::integrate::{
    implicit::{Implicit, LoadStiffness},
    state::{SimulationState, SimulationStatus, System},
    work::Drive,
};

fn random_state(m: &Mechanism, rng: &mut Rng) -> SimulationState {
    let mut q = m.start_positions();
    q.truncate(m.tree_position_count());
    let v: Vec<f64> = (0..m.tree_velocity_count()).map(|_| rng.range(-1.0, 1.0)).collect();
    crate::integrate::advance(m, &mut q, &v, 0.3);
    SimulationState { q, v: v.iter().map(|x| 2.0 * x * rng.range(0.0, 1.0)).collect() }
}

/// Condition of Ã on the open tree.
fn condition(
    system: &mut System<'_>,
    state: &SimulationState,
    h: f64,
    stiffness: LoadStiffness,
) -> f64 {
    let n = state.v.len();
    let mut scheme = Implicit::default();
    scheme.step(system, state, h, stiffness).unwrap();
    let mut inverse = Matrix::zeros(n, n);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        let column = scheme.solve_open(system, &unit);
        (0..n).for_each(|i| inverse[(i, k)] = column[i]);
    }
    spread(&inverse)
}

/// Largest over smallest singular value, those that are rounding left out.
fn spread(a: &Matrix) -> f64 {
    let s = dense::svd(a).map_or(vec![1.0], |svd| svd.s);
    let least = s.iter().rev().find(|x| **x > 1e-9 * s[0]).unwrap_or(&s[0]);
    s[0] / least
}

fn status_of(failure: Failure) -> SimulationStatus {
    match failure {
        Failure::Refused(status) => status,
        Failure::Undecided => SimulationStatus::LoopsOpen,
    }
}

fn options(seed: u64) -> RandomMechanismOptions {
    RandomMechanismOptions {
        links: 1 + seed as usize % 12,
        extra_loops: 0,
        springless_fraction: [0.0, 0.3, 1.0][seed as usize % 3],
        floating_base: seed.is_multiple_of(4),
        reversed_edges: 0.3,
        armature: seed.is_multiple_of(2),
        preload: 0.3,
        gravity: if seed.is_multiple_of(5) { 50.0 } else { 9.81 },
        joint_kinds: if seed.is_multiple_of(7) {
            vec![JointChoice::Revolute, JointChoice::Prismatic]
        } else {
            JointChoice::USUAL.to_vec()
        },
        ..RandomMechanismOptions::default()
    }
}

#[test]
fn the_sweep_agrees_with_the_dense_step_on_random_trees() {
    let (mut worst, mut compared, mut refused) = (0.0f64, 0, 0);
    for seed in 0..500 {
        let m = random_mechanism(seed, &options(seed));
        let mut rng = Rng::new(seed);
        let state = random_state(&m, &mut rng);
        let (n, h) = (state.v.len(), [1e-3, 0.01, 0.1][seed as usize / 3 % 3]);
        let mut system = System::new(&m, true);
        let mut external = vec![Wrench::ZERO; m.links().len()];
        if seed % 2 == 1 {
            let last = external.len() - 1;
            external[last] = Wrench::from_array(core::array::from_fn(|_| rng.range(-5.0, 5.0)));
        }
        let mut drive = Drive::default();
        if seed % 6 < 2 {
            // Forces that keep their direction, and torques with them.
            let torque = if seed % 12 < 2 { 1.0 } else { 0.0 };
            let part = |i: usize| if i < 3 { 5.0 } else { 5.0 * torque };
            let w = core::array::from_fn(|i| part(i) * rng.range(-1.0, 1.0));
            drive.dead.push((external.len() - 1, Wrench::from_array(w)));
        }
        system.dead.clone_from(&drive.dead);
        system.external = external;
        for stiffness in [LoadStiffness::Linearised, LoadStiffness::LeftOut] {
            system.tau.iter_mut().for_each(|t| *t = rng.range(-1.0, 1.0));
            let tau = system.tau.clone();
            let dense = Implicit::default().step(&mut system, &state, h, stiffness);
            let mut sweep = Sweep::new(&m, true, system.dynamics.size);
            sweep.set(&m, &state);
            let mut next = state.clone();
            drive.set(&tau, &system.external);
            let loads = (tau.as_slice(), &drive);
            let made = sweep.step(&m, &state, loads, h, stiffness, &mut next);
            let made = made.map(|_| ()).map_err(status_of);
            let dense = match dense {
                Ok(dense) => dense,
                Err(status) => {
                    refused += 1;
                    assert_eq!(made, Err(status), "seed {seed}");
                    continue;
                }
            };
            assert_eq!(made, Ok(()), "seed {seed}");
            let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let difference: Vec<f64> = next.v.iter().zip(&dense.v).map(|(a, b)| a - b).collect();
            let kappa = condition(&mut system, &state, h, stiffness);
            // Forces and momenta cancel: what is added up is larger than what is left.
            let size = largest(&dense.v).max(largest(&state.v));
            let error = largest(&difference) / (n as f64 * kappa * f64::EPSILON * size);
            worst = worst.max(error);
            compared += 1;
            assert!(error < 64.0, "seed {seed}, {stiffness:?}: {error} n κ ε");
        }
    }
    assert!(compared > 900, "{compared} compared, {refused} refused alike, worst {worst} n κ ε");
}

#[test]
fn energy_and_poses_are_those_of_the_mechanism() {
    for seed in 0..200 {
        let looped = seed % 2 == 1;
        let m =
            if looped { looped_mechanism(seed) } else { random_mechanism(seed, &options(seed)) };
        let mut state = random_state(&m, &mut Rng::new(seed));
        let mut system = System::new(&m, true);
        if looped {
            state.q = m.start_positions()[..m.tree_position_count()].to_vec();
            if system.project(&mut state).is_err() {
                continue;
            }
        }
        let expected = system.energy_of(&state);
        let mut sweep = Sweep::new(&m, true, system.dynamics.size);
        let found = sweep.set(&m, &state);
        let size = expected.size();
        for (a, b) in [
            (found.kinetic, expected.kinetic),
            (found.gravitational, expected.gravitational),
            (found.elastic, expected.elastic),
        ] {
            assert!((a - b).abs() < 1e-12 * size, "seed {seed}: {found:?} {expected:?}");
        }
        for (link, pose) in system.work.motion.world_from_link.iter().enumerate() {
            let gap = sweep.pose(link).twist_to(pose).norm();
            assert!(gap < 1e-12, "seed {seed}, link {link}: {gap}");
        }
    }
}

fn looped_mechanism(seed: u64) -> Mechanism {
    let planar = seed.is_multiple_of(3);
    random_mechanism(
        seed,
        &RandomMechanismOptions {
            links: 3 + seed as usize % 10,
            extra_loops: 1 + seed as usize % 3,
            couplings: usize::from(seed.is_multiple_of(4)),
            combination_springs: usize::from(seed % 4 == 1),
            bushings: usize::from(seed % 5 == 2),
            cables: usize::from(seed % 7 == 3),
            planar,
            joint_kinds: vec![
                JointChoice::Revolute,
                JointChoice::Spherical,
                JointChoice::Universal,
                JointChoice::Cylindrical,
            ],
            ..options(seed)
        },
    )
}

#[test]
fn the_sweep_agrees_with_the_dense_step_on_random_loops() {
    let (mut worst, mut compared, mut redundant, mut left, mut closed) = (0.0f64, 0, 0, 0, 0);
    for seed in 0..500 {
        let m = looped_mechanism(seed);
        let mut rng = Rng::new(seed);
        let mut system = System::new(&m, true);
        let mut state = random_state(&m, &mut rng);
        let start = m.start_positions();
        state.q = start[..m.tree_position_count()].to_vec();
        let v: Vec<f64> = state.v.iter().map(|v| 0.05 * v).collect();
        crate::integrate::advance(&m, &mut state.q, &v, 1.0);
        if system.project(&mut state).is_err() {
            continue;
        }
        let (n, h) = (state.v.len(), [1e-3, 0.01, 0.1][seed as usize / 3 % 3]);
        let stiffness = LoadStiffness::Linearised;
        system.tau.iter_mut().for_each(|t| *t = rng.range(-1.0, 1.0));
        let tau = system.tau.clone();
        let mut drive = Drive::default();
        drive.set(&tau, &[]);
        if seed % 2 == 1 {
            let w = core::array::from_fn(|i| if i < 3 { rng.range(-5.0, 5.0) } else { 0.0 });
            drive.dead.push((m.links().len() - 1, Wrench::from_array(w)));
        }
        system.dead.clone_from(&drive.dead);
        let dense = Implicit::default().step(&mut system, &state, h, stiffness);
        let mut sweep = Sweep::new(&m, true, system.dynamics.size);
        sweep.set(&m, &state);
        let mut v = vec![0.0; n];
        let made = sweep.velocities(&m, &state, (&tau, &drive), h, stiffness, &mut v);
        let Ok(dense) = dense else { continue };
        if made != Ok(()) {
            left += 1;
            continue;
        }
        let rows = system.dynamics.clone().prepare(&state.q, &state.v, &mut system.work);
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let violated = largest(&rows.jacobian.mul_vec(&v));
        let difference: Vec<f64> = v.iter().zip(&dense.v).map(|(a, b)| a - b).collect();
        let kappa = condition(&mut system, &state, h, stiffness) * spread(&rows.jacobian);
        let size = largest(&dense.v).max(largest(&state.v));
        // What is locked comes to rest: only what the loops carried is left to round.
        let unit = n as f64 * kappa * f64::EPSILON * size.max(1e-2);
        let error = largest(&difference) / unit;
        redundant += usize::from(sweep.loops.as_ref().unwrap().redundant() > 0);
        worst = worst.max(error).max(violated / unit);
        compared += 1;
        assert!(error < 64.0, "seed {seed}: {error} n κ ε");
        let mut next = state.clone();
        if sweep.step(&m, &state, (&tau, &drive), h, stiffness, &mut next).is_ok() {
            sweep.accept();
            closed += 1;
            let gap = sweep.gap(&m, &next);
            let rows = system.dynamics.clone().prepare(&next.q, &next.v, &mut system.work);
            let violated = largest(&rows.jacobian.mul_vec(&next.v));
            let size = largest(&next.v).max(1.0);
            assert!(gap < 1e-12 && violated < 1e-12 * size, "seed {seed}: {gap:e} {violated:e}");
            assert!(largest(&rows.gaps) < 1e-12, "seed {seed}");
        }
    }
    assert!(closed > 400, "{closed} steps closed");
    assert!(compared > 400 && redundant > 100, "{compared} compared, {redundant} redundant");
    assert!(worst < 64.0 && left == 0, "{left} left, worst {worst} n κ ε");
}
