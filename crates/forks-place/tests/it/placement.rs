//! Automatic placement: deterministic, cancellable at every stage, honest about what it left out;
//! and blends whose samples' order does not matter.

use std::ops::ControlFlow;

use forks_blend::{BlendedModel, BlendedState, BlendedWorkspace, LinkBlend, Weights};
use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_mechanism::lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_models::{HelixJoints, Parametric};
use forks_place::{
    BlendError, Chart, LoadRegion, Placed, Placement, PlacementStatus, Progress, Round, Sample,
    blend_data, place,
};
use forks_reduce::{Problem, ProblemOptions};

fn problem(p: &Parametric) -> Problem {
    let tip = p.mechanism.link(p.effectors[0]).name.clone();
    Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default()).unwrap()
}

fn helix() -> Problem {
    problem(&forks_models::helix(6, HelixJoints::Hinge3))
}

fn placement(seed: u64) -> Placement {
    let down = LoadRegion::cone(0, -DVec3::Z, 0.5);
    Placement {
        regions: vec![LoadRegion { displacement: 0.4, ..down }],
        // Out of reach: samples are added up to the limit.
        constraint_tolerance: 1e-9,
        static_tolerance: 1e-9,
        max_samples: 3,
        training_loads: 6,
        seed,
        ..Placement::default()
    }
}

fn run(problem: &Problem, placement: &Placement) -> Placed {
    place(problem, placement, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn equal_seeds_give_equal_bits() {
    let problem = helix();
    let (a, b) = (run(&problem, &placement(3)), run(&problem, &placement(3)));
    assert_eq!(a.model.to_bytes(), b.model.to_bytes());
    assert_eq!((a.rounds, a.loads, a.skipped), (b.rounds, b.loads, b.skipped));
    assert_eq!(a.status, b.status);
    for (x, y) in a.training.iter().zip(&b.training) {
        let bits = |q: &[f64]| q.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(x.forces, y.forces);
        assert_eq!(bits(&x.equilibrium.q), bits(&y.equilibrium.q));
    }
    let other = run(&problem, &placement(4));
    assert_ne!(a.model.to_bytes(), other.model.to_bytes());
    // What was written is read, bit by bit.
    let bytes = a.model.to_bytes();
    assert_eq!(BlendedModel::from_bytes(&bytes).unwrap().to_bytes(), bytes);
}

#[test]
fn every_call_of_the_callback_can_stop_the_work() {
    let problem = helix();
    let placement = Placement { chart: Chart::Poses, ..placement(1) };
    let stopped = |at: usize| {
        let (mut calls, mut seen) = (0, vec![]);
        let placed = place(&problem, &placement, &mut |p| {
            calls += 1;
            seen.push(*p);
            if calls > at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (placed.unwrap(), calls, seen)
    };
    let (whole, calls, seen) = stopped(usize::MAX);
    assert_eq!(whole.status, PlacementStatus::SampleLimit);
    let trained = seen.iter().filter(|p| matches!(p, Progress::Trained { .. })).count();
    assert_eq!(trained, 6);
    let measured: Vec<usize> = seen
        .iter()
        .filter_map(|p| match p {
            Progress::Measured { samples, .. } => Some(*samples),
            _ => None,
        })
        .collect();
    assert_eq!(measured, [1, 2, 3]);
    let searching = seen.iter().filter(|p| matches!(p, Progress::Searching { .. })).count();
    assert_eq!(calls, trained + 3 + searching);
    assert!(searching >= 2, "{searching}");
    for at in 0..calls {
        let (placed, made, before) = stopped(at);
        // Not asked again, and the blend so far is a sound one: the best on the way to the whole.
        assert_eq!(made, at + 1, "{at}");
        assert_eq!(placed.status, PlacementStatus::Cancelled, "{at}");
        assert_eq!(before, seen[..=at], "{at}");
        let measured = before.iter().filter(|p| matches!(p, Progress::Measured { .. })).count();
        if at >= trained {
            assert_eq!(placed.rounds, whole.rounds[..measured], "{at}");
        }
        // The tolerances are equal.
        let bad = |r: &Round| r.constraint.max(r.statics);
        let best = placed.rounds.iter().min_by(|a, b| bad(a).total_cmp(&bad(b))).unwrap();
        assert_eq!(placed.model.data().samples.len(), best.samples, "{at}");
        assert_eq!(placed.loads.len(), best.samples, "{at}");
        let zero = vec![0.0; placed.model.dof()];
        assert!(placed.model.elastic_force(&zero).iter().all(|f| f.is_finite()), "{at}");
    }
}

#[test]
fn loads_without_an_equilibrium_are_skipped_and_listed() {
    let problem = helix();
    let reach = |placement: Placement| Placement {
        regions: vec![LoadRegion { displacement: 1.0, ..LoadRegion::cone(0, -DVec3::Z, 1.2) }],
        training_loads: 24,
        ..placement
    };
    // A solver that gives up early: one load step, few iterations, no relaxation.
    let hasty = EquilibriumOptions {
        load_steps: 1,
        min_load_step: 1.0,
        max_iterations: 3,
        max_relaxation_steps: 0,
        ..EquilibriumOptions::default()
    };
    let placement = reach(Placement { equilibrium: hasty.clone(), ..placement(2) });
    let placed = run(&problem, &placement);
    println!("{} used, {} skipped", placed.training.len(), placed.skipped.len());
    assert!(!placed.skipped.is_empty() && !placed.training.is_empty());
    // Forces grow until the solver fails: what it reached is used, what it failed at is listed.
    assert!(placed.training.len() <= 24 && placed.skipped.len() <= 24);
    assert!(placed.training.len() + placed.skipped.len() >= 24);
    for s in &placed.skipped {
        assert_ne!(s.reason, "converged");
        assert!(s.forces.iter().any(|f| f.1 != DVec3::ZERO));
    }
    for t in &placed.training {
        assert_eq!(t.equilibrium.status, EquilibriumStatus::Converged);
        assert!(t.forces.iter().any(|f| f.1 != DVec3::ZERO));
    }
    // Samples come from loads that could be used.
    for forces in &placed.loads[1..] {
        assert!(placed.training.iter().any(|t| t.forces == *forces));
    }
    // A patient solver finds what the hasty one left out.
    let patient = run(&problem, &reach(self::placement(2)));
    assert!(patient.skipped.len() < placed.skipped.len());
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let problem = helix();
    let refused = |change: &dyn Fn(&mut Placement)| {
        let mut p = placement(1);
        change(&mut p);
        place(&problem, &p, &mut |_| ControlFlow::Continue(())).unwrap_err()
    };
    assert_eq!(refused(&|p| p.regions.clear()), BlendError::NoRegion);
    let far = refused(&|p| p.regions[0].effector = 3);
    assert_eq!(far, BlendError::UnknownEffector { effector: 3, count: 1 });
    for change in [
        (&|p: &mut Placement| p.max_samples = 0) as &dyn Fn(&mut Placement),
        &|p| p.training_loads = 0,
        &|p| p.static_tolerance = f64::NAN,
        &|p| p.regions[0].axis = DVec3::ZERO,
        &|p| p.regions[0].half_angle = 4.0,
    ] {
        assert!(matches!(refused(change), BlendError::Setting { .. }));
    }
}

fn sample(problem: &Problem, force: DVec3) -> Sample {
    let e = &problem.effectors[0];
    let loads = Loads::none().with(e.applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World));
    let (start, options) = (&problem.start, EquilibriumOptions::default());
    let at = solve_equilibrium(problem.mechanism(), start, &loads, &options);
    assert!(at.status.is_equilibrium());
    Sample::new(problem, &at, &loads).unwrap()
}

#[test]
fn the_order_of_samples_does_not_matter() {
    let problem = helix();
    let poses = problem.mechanism().link_poses(&problem.start);
    let e = &problem.effectors[0];
    let reference = [poses[e.link.index()] * e.link_from_effector];
    let forces = [
        DVec3::ZERO,
        DVec3::new(0.0, 0.0, -80.0),
        DVec3::new(60.0, -20.0, -30.0),
        DVec3::new(-30.0, 50.0, -40.0),
    ];
    let samples = forces.map(|f| sample(&problem, f));
    let radii: Vec<f64> = samples.iter().map(|s| s.data.radius).collect();
    assert!(radii[1..].iter().all(|r| *r != radii[0]), "{radii:?}");
    for weights in [Weights::Shepard { exponent: 6 }, Weights::Metric { exponent: 6, energy: 1.0 }]
    {
        let of = |order: [usize; 4]| {
            let samples = order.map(|i| samples[i].clone());
            BlendedModel::new(blend_data(&reference, &samples, weights).unwrap()).unwrap()
        };
        let first = of([0, 1, 2, 3]);
        assert_eq!(first.data().radius, radii[0]);
        let at = |k: usize| -> (Vec<f64>, Pose) {
            let x: Vec<f64> =
                (0..first.dof()).map(|i| 0.1 * ((3 * i + 5 * k + 1) as f64).sin()).collect();
            let pose = first.effector_pose(0, &x);
            (x, pose)
        };
        for order in [[3, 1, 0, 2], [1, 2, 3, 0], [2, 3, 1, 0]] {
            let other = of(order);
            assert_eq!(other.data().radius, radii[0]);
            for k in 0..5 {
                let (x, pose) = at(k);
                let (y, _, lost) = other.coordinates_of(&[pose], &[Twist::ZERO]).unwrap();
                assert!(lost < 1e-12);
                let energy = first.potential_energy(&x);
                let change = other.potential_energy(&y) - energy;
                assert!(change.abs() <= 1e-12 * energy.abs().max(1.0), "{order:?} {change:e}");
                let (a, b) = (first.effector_wrenches(&x)[0], other.effector_wrenches(&y)[0]);
                let size = a.to_array().iter().fold(1.0f64, |m, w| m.max(w.abs()));
                let off = (a - b).to_array().iter().fold(0.0f64, |m, w| m.max(w.abs()));
                assert!(off <= 1e-12 * size, "{order:?} {off:e} of {size:e}");
                let (v, w) = (first.weights(&x), other.weights(&y));
                assert!(order.iter().zip(w).all(|(&i, w)| (v[i] - w).abs() < 1e-12));
                for mode in [LinkBlend::Average, LinkBlend::Logarithm] {
                    let shown = |m: &BlendedModel, x: &[f64]| {
                        let state = BlendedState::new(m, x).unwrap();
                        let mut work = BlendedWorkspace::new(m);
                        let mut buffer = m.pose_buffer();
                        m.poses(&state, &mut work, mode, &mut buffer);
                        buffer.iter().map(|(_, p)| p).collect::<Vec<Pose>>()
                    };
                    for (a, b) in shown(&first, &x).iter().zip(shown(&other, &y)) {
                        assert!(a.twist_to(&b).norm() < 1e-12, "{order:?} {mode:?}");
                    }
                }
            }
        }
    }
}
