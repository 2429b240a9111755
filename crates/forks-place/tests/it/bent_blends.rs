//! Blends in which some samples bend and others do not, and samples added to them while they run.

use std::sync::Arc;

use forks_blend::{BlendedModel, BlendedState, Weights};
use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{EquilibriumOptions, continue_equilibrium, solve_equilibrium},
};
use forks_mechanism::lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_models::{HelixJoints, Parametric};
use forks_place::{
    Sample, blend_data,
    live::{LiveOptions, add_sample_here, extended},
};
use forks_reduce::{Problem, ProblemOptions};

fn problem(p: &Parametric) -> Arc<Problem> {
    let tip = p.mechanism.link(p.effectors[0]).name.clone();
    Arc::new(Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default()).unwrap())
}

fn load(problem: &Problem, force: DVec3) -> Loads {
    let e = &problem.effectors[0];
    Loads::none().with(e.applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World))
}

fn sample(problem: &Problem, force: DVec3, bent: bool) -> Sample {
    let (loads, options) = (load(problem, force), EquilibriumOptions::default());
    let at = solve_equilibrium(problem.mechanism(), &problem.start, &loads, &options);
    assert!(at.status.is_equilibrium());
    let sample = match bent {
        true => Sample::bent(problem, &at, &loads, &options),
        false => Sample::new(problem, &at, &loads),
    };
    sample.unwrap()
}

fn blend(samples: &[Sample], weights: Weights) -> Arc<BlendedModel> {
    let reference = samples[0].effector_poses();
    Arc::new(BlendedModel::new(blend_data(&reference, samples, weights).unwrap()).unwrap())
}

fn coordinates(m: &BlendedModel, poses: &[Pose]) -> Vec<f64> {
    let (x, _, lost) = m.coordinates_of(poses, &[Twist::ZERO]).unwrap();
    assert!(lost < 1e-9, "{lost:e}");
    x
}

const WEIGHTS: [Weights; 3] = [
    Weights::Shepard { exponent: 6 },
    Weights::Neighbours { exponent: 4, count: 2 },
    Weights::Metric { exponent: 6, energy: 2.0 },
];

/// Samples are reproduced, forces are gradients, the order does not matter.
fn check(samples: &[Sample], weights: Weights, softest: f64) {
    let m = blend(samples, weights);
    let turned: Vec<Sample> = samples.iter().rev().cloned().collect();
    let reference = samples[0].effector_poses();
    let other = BlendedModel::new(blend_data(&reference, &turned, weights).unwrap()).unwrap();
    let data = m.data();
    for (s, lifted) in samples.iter().zip(&data.samples) {
        assert_eq!(lifted.curvature.rows() > 0, s.curvature.rows() > 0);
        if s.curvature.rows() > 0 {
            let n = m.dof();
            assert_eq!((lifted.curvature.rows(), lifted.curvature.columns()), (n, n * (n + 1) / 2));
        }
        let poses = s.effector_poses();
        let x = coordinates(&m, &poses);
        let u = m.potential_energy(&x);
        // Rounding of poses times stiffness that may be 10⁹ times the softest.
        assert!((u - s.potential).abs() < 1e-9 * (1.0 + s.potential.abs()), "{u} {}", s.potential);
        let held = m.effector_wrenches(&x)[0] - s.data.effectors[0].static_wrench;
        let along = s.data.basis.transpose_mul_vec(&held.to_array());
        let size = s.data.hessian.max_abs();
        assert!(along.iter().all(|w| w.abs() < 1e-11 * size + 1e-7), "{along:?} {size:e}");
    }
    let steps: Vec<Vec<f64>> = (1..4)
        .map(|k| (0..m.dof()).map(|i| softest * f64::from(3 * i as i32 + 5 * k).sin()).collect())
        .collect();
    for step in &steps {
        let start = coordinates(&m, &samples[1].effector_poses());
        let x: Vec<f64> = start.iter().zip(step).map(|(a, b)| a + b).collect();
        let pose = m.effector_pose(0, &x);
        let force = m.elastic_force(&x);
        let size = force.iter().fold(1e-3f64, |m, f| m.max(f.abs()));
        for (k, force) in force.iter().enumerate() {
            let side = |h: f64| {
                let mut y = x.clone();
                y[k] += h;
                m.potential_energy(&y)
            };
            let d = |h: f64| side(h) - side(-h);
            let h = 0.02 * softest;
            let slope = (45.0 * d(h) - 9.0 * d(2.0 * h) + d(3.0 * h)) / (60.0 * h);
            assert!((force - slope).abs() < 1e-7 * size, "{weights:?} {k}: {force} {slope}");
        }
        let u = m.potential_energy(&x);
        let v = other.potential_energy(&coordinates(&other, &[pose]));
        assert!((u - v).abs() < 1e-10 * (1.0 + u.abs()), "{u} {v}");
    }
}

#[test]
fn mixed_samples_of_a_chain() {
    let problem = problem(&forks_models::helix(8, HelixJoints::Hinge3));
    let samples = [
        sample(&problem, DVec3::ZERO, false),
        sample(&problem, DVec3::new(20.0, 0.0, -40.0), true),
        sample(&problem, DVec3::new(-30.0, 25.0, -20.0), false),
        sample(&problem, DVec3::new(0.0, -40.0, -60.0), true),
    ];
    assert!(samples[1].curvature.rows() > 0 && samples[3].curvature.rows() > 0);
    WEIGHTS.iter().for_each(|w| check(&samples, *w, 0.05));
}

/// Ranks 1, 2 or 3: bent samples of fewer coordinates than the chart.
#[test]
fn mixed_samples_of_a_ladder() {
    let problem = problem(&forks_models::ladder(6));
    for first in [DVec3::ZERO, DVec3::new(20.0, 0.0, -6.0)] {
        let samples = [
            sample(&problem, first, true),
            sample(&problem, DVec3::new(30.0, 0.0, -8.0), true),
            sample(&problem, DVec3::new(50.0, 0.0, 10.0), false),
            sample(&problem, DVec3::new(80.0, 0.0, -20.0), true),
        ];
        let ranks: Vec<usize> = samples.iter().map(Sample::rank).collect();
        // At rest it is singular, and bends in no way that could be told.
        let singular = first == DVec3::ZERO;
        assert_eq!(ranks[0] < ranks[1], singular, "{ranks:?}");
        assert_eq!(samples[0].curvature.rows() == 0, singular);
        assert!(samples[1].curvature.rows() > 0 && samples[3].curvature.rows() > 0);
        WEIGHTS.iter().for_each(|w| check(&samples, *w, 1e-4));
    }
}

#[test]
fn live_samples_bend_where_the_others_do() {
    let problem = problem(&forks_models::helix(10, HelixJoints::Hinge3));
    let weights = Weights::Shepard { exponent: 6 };
    let samples =
        |bent| [DVec3::ZERO, DVec3::new(0.0, 0.0, -60.0)].map(|f| sample(&problem, f, bent));
    let options = LiveOptions::default();
    // Errors of the new sample's energy next to where it was made.
    let mut errors = [0.0; 2];
    for (k, bent) in [false, true].into_iter().enumerate() {
        let m = blend(&samples(bent), weights);
        let force = DVec3::new(40.0, 20.0, -30.0);
        let (at, next) = (load(&problem, force), load(&problem, force * 1.3));
        let settings = EquilibriumOptions::default();
        let mechanism = problem.mechanism();
        let here = solve_equilibrium(mechanism, &problem.start, &at, &settings);
        let e = &problem.effectors[0];
        let pose = |q: &forks_dynamics::statics::Equilibrium| {
            q.world_from_link[e.link.index()] * e.link_from_effector
        };
        let found = extended(&problem, &m, &[pose(&here)], &options, &|| true).unwrap();
        assert!(found.distance < 1e-8);
        let new = found.model.data().samples.last().unwrap();
        assert_eq!(new.curvature.rows() > 0, bent);
        let there = continue_equilibrium(mechanism, &here, &next, &settings);
        let potential = forks_dynamics::potential_energy(
            mechanism,
            &there.q,
            &there.world_from_link,
            &Loads::none(),
        );
        let mut alone = found.model.data().clone();
        alone.samples = vec![new.clone()];
        let alone = BlendedModel::new(alone).unwrap();
        let x = coordinates(&alone, &[pose(&there)]);
        errors[k] = (alone.potential_energy(&x) - potential).abs();
        // On another thread too.
        let state = BlendedState::new(&m, &coordinates(&m, &[pose(&here)])).unwrap();
        let other = add_sample_here(&problem, &m, &state, &options).wait().unwrap();
        let last = other.model.data().samples.last().unwrap();
        assert_eq!(last.curvature.rows() > 0, bent);
    }
    println!("{errors:?}");
    assert!(errors[1] < 0.2 * errors[0], "{errors:?}");
}

#[test]
fn live_samples_of_ladders_bend() {
    let problem = problem(&forks_models::ladder(6));
    let samples = [
        sample(&problem, DVec3::new(10.0, 0.0, -3.0), true),
        sample(&problem, DVec3::new(80.0, 0.0, -20.0), true),
    ];
    let m = blend(&samples, Weights::Metric { exponent: 6, energy: 1.0 });
    let there = sample(&problem, DVec3::new(40.0, 0.0, -8.0), false).effector_poses();
    let found = extended(&problem, &m, &there, &LiveOptions::default(), &|| true).unwrap();
    println!("{:e}", found.distance);
    assert!(found.distance < 1e-8);
    let new = found.model.data().samples.last().unwrap();
    assert!(new.curvature.rows() > 0);
    let x = coordinates(&found.model, &there);
    assert!((found.model.potential_energy(&x) - new.potential).abs() < 1e-9);
}
