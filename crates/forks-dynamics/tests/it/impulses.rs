//! Steps in two halves, against whole steps of the same scheme.

use std::{f64::consts::FRAC_PI_2, sync::Arc};

use forks_dynamics::{
    integrate::{ImpulseStepper, Integrator, Simulation, SimulationOptions, SimulationStatus},
    mechanism::{
        JointId, LinkId, Mechanism, MechanismBuilder,
        lie::{Pose, Wrench, glam::DVec3},
    },
};
use forks_models::{HelixJoints, four_bar, helix, irregular_ladder, parallelogram};
use forks_testkit::{JointChoice, RandomMechanismOptions, Rng, random_mechanism};

/// With a gravity that no pose at rest resists along its chains alone.
fn under_gravity(m: &Mechanism) -> Mechanism {
    let mut b = MechanismBuilder::from_mechanism(m);
    b.set_gravity(DVec3::new(3.0, 1.0, -9.0));
    b.build().unwrap()
}

/// Largest difference of tree positions from the whole steps' over their largest displacement.
fn difference(m: &Mechanism, h: f64, steps: usize) -> f64 {
    let q = &m.start_positions()[..m.tree_position_count()];
    let v = vec![0.0; m.tree_velocity_count()];
    let options = SimulationOptions {
        integrator: Integrator::Implicit,
        energy_halvings: 0,
        ..SimulationOptions::default()
    };
    let mut whole = Simulation::new(m, q, &v, options);
    let mut halves = ImpulseStepper::new(Arc::new(m.clone()), q, &v, true, h).unwrap();
    let start = whole.state().q.clone();
    let apart =
        |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    let (mut worst, mut moved) = (0.0f64, 0.0f64);
    for _ in 0..steps {
        assert_eq!(whole.step(h), SimulationStatus::Completed);
        halves.free(&[], &[]).unwrap();
        let u = halves.velocities().to_vec();
        halves.finish(&u).unwrap();
        worst = worst.max(apart(halves.positions(), &whole.state().q));
        moved = moved.max(apart(&start, &whole.state().q));
        assert!(halves.loop_gap() < 1e-12);
    }
    assert_eq!(whole.statistics().damped, 0);
    worst / moved
}

#[test]
fn without_impulses_steps_of_hinges_are_whole_steps() {
    // Under weights and springs the stiffness in scalar coordinates is a Hessian.
    for m in [helix(20, HelixJoints::Hinge3).mechanism, irregular_ladder(15).mechanism] {
        let m = under_gravity(&m);
        let errors = [2e-3, 1e-3, 5e-4].map(|h| difference(&m, h, (0.1 / h) as usize));
        println!("{}: {errors:?}", m.name());
        assert!(errors.iter().all(|e| *e < 1e-10));
    }
}

#[test]
fn without_impulses_steps_of_balls_are_whole_steps_but_for_the_asymmetry_of_the_stiffness() {
    for seed in [3, 4, 5] {
        let m = random_mechanism(
            seed,
            &RandomMechanismOptions {
                links: 8,
                extra_loops: 0,
                joint_kinds: vec![JointChoice::Spherical],
                stiffness: 50.0,
                ..RandomMechanismOptions::default()
            },
        );
        let m = under_gravity(&m);
        let errors = [2e-3, 1e-3, 5e-4].map(|h| difference(&m, h, (0.1 / h) as usize));
        println!("seed {seed}: {errors:?}");
        // The part left out is of order h², so over a given time the difference is of order h.
        assert!(errors[1] < 0.6 * errors[0] && errors[2] < 0.6 * errors[1]);
    }
}

#[test]
fn a_loop_of_one_motion_has_no_asymmetry() {
    let m = under_gravity(&four_bar().mechanism);
    let error = difference(&m, 1e-3, 100);
    println!("{error:e}");
    assert!(error < 1e-11);
}

/// Velocities after a step with an impulse on a link, from rest and unstressed: in halves, and as a
/// whole step under the force impulse / h. The force's own stiffness, in whole steps only, is of
/// second order in it.
fn response(m: &Mechanism, link: LinkId, impulse: Wrench, h: f64) -> [Vec<f64>; 2] {
    let q = &m.start_positions()[..m.tree_position_count()];
    let v = vec![0.0; m.tree_velocity_count()];
    let options = SimulationOptions { gravity: false, ..SimulationOptions::default() };
    let mut whole = Simulation::new(m, q, &v, options);
    let mut external = vec![Wrench::ZERO; m.links().len()];
    external[link.index()] = impulse * (1.0 / h);
    whole.set_loads(&v, &external);
    assert_eq!(whole.step(h), SimulationStatus::Completed);

    let mut halves = ImpulseStepper::new(Arc::new(m.clone()), q, &v, false, h).unwrap();
    halves.free(&[], &[]).unwrap();
    let jacobian = halves.frame_jacobian(link, &Pose::IDENTITY);
    let change = jacobian.transpose_mul_vec(&impulse.to_array());
    let change = halves.inverse_system().mul_vec(&change);
    let u: Vec<f64> = halves.velocities().iter().zip(change).map(|(u, d)| u + d).collect();
    halves.finish(&u).unwrap();
    [halves.tree_velocities().to_vec(), whole.state().v.clone()]
}

#[test]
fn impulses_do_what_forces_do_that_act_for_a_step() {
    let mut rng = Rng::new(3);
    let (mut looped, mut worst) = (0, 0.0f64);
    for seed in 0..120 {
        let options = RandomMechanismOptions {
            links: 2 + seed as usize % 9,
            extra_loops: seed as usize % 4,
            couplings: seed as usize % 2,
            combination_springs: 2,
            bushings: 2,
            cables: seed as usize % 3,
            floating_base: seed % 3 == 0,
            reversed_edges: 0.3,
            damping: true,
            armature: seed % 5 == 0,
            preload: 0.0,
            gravity: 0.0,
            displaced_start: false,
            ..RandomMechanismOptions::default()
        };
        let m = random_mechanism(seed, &options);
        let random = |rng: &mut Rng| DVec3::from_array([0; 3].map(|_| rng.range(-1e-7, 1e-7)));
        let impulse = Wrench::new(random(&mut rng), random(&mut rng));
        let link = LinkId::new(m.links().len() - 1);
        let [halves, whole] = response(&m, link, impulse, 1e-3);
        let size = whole.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let error = whole.iter().zip(&halves).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        looped += usize::from(!m.forest().closures().is_empty());
        if size > 1e-12 {
            worst = worst.max(error / size);
            // Poses that are unstressed to rounding are at rest to rounding.
            assert!(error < 1e-6 * size + 2e-13, "seed {seed}: {error:e} of {size:e}");
        }
    }
    println!("{looped} with loops; worst {worst:e}");
    assert!(looped > 60);
}

#[test]
fn poses_that_admit_another_number_of_motions_are_refused() {
    let m = parallelogram().mechanism;
    let n = m.tree_velocity_count();
    let q = m.start_positions();
    let tree = m.tree_position_count();
    let shared = Arc::new(m.clone());
    let mut stepper = ImpulseStepper::new(shared, &q[..tree], &vec![0.0; n], false, 1e-3).unwrap();
    assert_eq!(stepper.motion_count(), 1);
    // Flat: two motions at once. The first half still knows one.
    let mut flat = q.clone();
    for (i, j) in m.joints().iter().enumerate() {
        let turn = if j.parent == LinkId::WORLD { FRAC_PI_2 } else { -FRAC_PI_2 };
        flat[m.position_range(JointId::new(i)).start] = turn;
    }
    let refused = stepper.set(&flat, &[0.0]);
    assert_eq!(refused, Err(SimulationStatus::MotionsChanged { from: 1, to: 2 }));
    assert_eq!(stepper.positions(), &q[..]);
    stepper.free(&[], &[]).unwrap();
    stepper.finish(&[0.1]).unwrap();
    assert_eq!(stepper.set(&q, &[f64::NAN]), Err(SimulationStatus::NotFinite));
}

#[test]
fn rates_of_joints_are_what_their_coordinates_do() {
    let (h, four_bar) = (1e-5, four_bar().mechanism);
    for m in [four_bar, helix(3, HelixJoints::Hinge3).mechanism] {
        let q = &m.start_positions()[..m.tree_position_count()];
        let v = vec![0.0; m.tree_velocity_count()];
        let mut stepper = ImpulseStepper::new(Arc::new(m.clone()), q, &v, false, h).unwrap();
        let u: Vec<f64> = (0..stepper.motion_count()).map(|i| (i as f64).cos()).collect();
        let before = stepper.positions().to_vec();
        let mut row = u.clone();
        let rates: Vec<f64> = (0..m.velocity_count())
            .map(|k| {
                stepper.rate_row(k, &mut row);
                row.iter().zip(&u).map(|(r, u)| r * u).sum()
            })
            .collect();
        stepper.finish(&u).unwrap();
        for ((rate, after), before) in rates.iter().zip(stepper.positions()).zip(before) {
            // Curvature of the loop over h.
            assert!(((after - before) / h - rate).abs() < 10.0 * h, "{rate}");
        }
    }
}
