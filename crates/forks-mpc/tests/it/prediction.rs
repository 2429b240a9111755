//! Prediction on reduced models: the quadratic problem against an interior point method, the
//! horizon against steps, tracking through the full solver against set points.

use std::{sync::Arc, time::Duration};

use forks_dynamics::integrate::{Simulation, SimulationOptions, SimulationStatus};
use forks_models::{HelixJoints, Parametric, helix, peg_arm};
use forks_mpc::{
    BoxQp, Commands, Goal, Mpc, MpcError, MpcSettings, MpcStatus, QpStatus, set_point,
};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    Stepper, System,
    lie::{Pose, Wrench, glam::DVec3},
    linalg::{Matrix, dense::min_norm_solve},
};
use forks_testkit::{
    Rng,
    box_qp::{interior, polished, value},
};

#[test]
fn five_hundred_problems_with_bounds_are_those_of_an_interior_point_method() {
    let mut rng = Rng::new(8);
    let mut most = 0;
    for _ in 0..100 {
        let n = 1 + rng.index(40);
        let root = Matrix::from_fn(n + 2, n, |_, _| rng.symmetric());
        let ridge = 10f64.powf(-4.0 * rng.unit());
        let mut h = root.transpose_mul(&root);
        (0..n).for_each(|i| h[(i, i)] += ridge);
        let mut qp = BoxQp::new(h.clone()).unwrap();
        // Several problems of one matrix: the later ones start warm.
        for _ in 0..5 {
            let g: Vec<f64> = (0..n).map(|_| 3.0 * rng.symmetric()).collect();
            let (mut lower, mut upper) = (vec![], vec![]);
            for _ in 0..n {
                let (a, b) = (rng.symmetric(), rng.symmetric());
                lower.push(if rng.chance(0.3) { f64::NEG_INFINITY } else { a.min(b) });
                upper.push(if rng.chance(0.3) { f64::INFINITY } else { a.max(b) });
            }
            assert_eq!(qp.solve(&g, &lower, &upper, 500, || true), QpStatus::Solved);
            most = most.max(qp.pivots());
            let x = qp.solution();
            for i in 0..n {
                assert!(lower[i] <= x[i] + 1e-11 && x[i] <= upper[i] + 1e-11);
            }
            // The optimality conditions, and the rival's value: neither is far from the other.
            let slope = h.mul_vec(x);
            for i in 0..n {
                let s = slope[i] + g[i];
                let free = lower[i] + 1e-9 < x[i] && x[i] + 1e-9 < upper[i];
                let at_lower = (x[i] - lower[i]).abs() <= 1e-9;
                let size = 1e-9 * (1.0 + g[i].abs());
                assert!(if free {
                    s.abs() < size
                } else if at_lower {
                    s > -size
                } else {
                    s < size
                });
            }
            let other = interior(&h, &g, &lower, &upper);
            let (ours, theirs) = (value(&h, &g, x), value(&h, &g, &other));
            assert!((ours - theirs).abs() < 1e-8 * (1.0 + theirs.abs()), "{ours} {theirs}");
        }
    }
    println!("most pivots {most}");
}

#[test]
fn a_problem_that_is_cut_keeps_its_bounds_and_bad_ones_are_refused() {
    let h = Matrix::from_fn(3, 3, |i, j| if i == j { 2.0 } else { -0.9 });
    let mut qp = BoxQp::new(h).unwrap();
    let (g, lower, upper) = ([-9.0, 4.0, 1.0], [-1.0; 3], [1.0; 3]);
    assert_eq!(qp.solve(&g, &lower, &upper, 1, || true), QpStatus::Cut);
    assert!(qp.solution().iter().all(|x| x.abs() <= 1.0));
    assert_eq!(qp.solve(&g, &lower, &upper, 100, || false), QpStatus::Cut);
    assert_eq!(qp.solve(&[f64::NAN, 0.0, 0.0], &lower, &upper, 9, || true), QpStatus::Refused);
    assert_eq!(qp.solve(&g, &[2.0; 3], &upper, 9, || true), QpStatus::Refused);
    assert!(BoxQp::new(Matrix::from_fn(2, 2, |_, _| 1.0)).is_err());
    assert!(BoxQp::new(Matrix::from_fn(1, 1, |_, _| f64::NAN)).is_err());
}

/// A reduced mechanism beside itself in full.
struct Both {
    parametric: Parametric,
    stepper: Stepper,
    start: Pose,
}

fn both(parametric: Parametric, h: f64) -> Both {
    let name = parametric.mechanism.link(parametric.effectors[0]).name.clone();
    let problem =
        Problem::new(&parametric.mechanism, &[&name], &ProblemOptions::default()).unwrap();
    let model = problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model;
    let stepper = Stepper::new(Arc::new(model), h).unwrap();
    let start = stepper.model().data().effectors[0].rest;
    Both { parametric, stepper, start }
}

impl Both {
    /// Coordinates at which the model has its effector where the mechanism has it.
    fn seen(&self, pose: &Pose) -> Vec<f64> {
        let xi = (self.start.inverse() * *pose).log().to_array();
        min_norm_solve(&self.stepper.model().data().basis, &xi, 1e-12)
    }

    /// Root mean square distance from moving targets, of the mechanism in full.
    fn tracked(
        &self,
        commands: &Commands,
        steps: usize,
        target: &dyn Fn(usize) -> Pose,
        mut choose: impl FnMut((&[f64], &[f64]), usize) -> Vec<f64>,
    ) -> f64 {
        const PARTS: usize = 5;
        let m = &self.parametric.mechanism;
        let link = self.parametric.effectors[0].index();
        let still = vec![0.0; m.velocity_count()];
        let mut full =
            Simulation::new(m, &m.start_positions(), &still, SimulationOptions::default());
        let h = self.stepper.step_size() / PARTS as f64;
        let mut x = self.seen(&full.link_poses()[link]);
        let mut v = vec![0.0; x.len()];
        let mut sum = 0.0;
        for k in 0..steps {
            let u = choose((&x, &v), k);
            for _ in 0..PARTS {
                let pose = full.link_poses()[link];
                let mut tau = vec![0.0; m.tree_velocity_count()];
                let mut external = vec![Wrench::ZERO; m.links().len()];
                match commands {
                    // The joints' damping stands in the mechanism.
                    Commands::Servos => {
                        let gains = [1200.0, 1200.0, 1200.0, 100.0, 100.0, 100.0];
                        for (i, (k, u)) in gains.iter().zip(&u).enumerate() {
                            tau[i] = k * (u - full.state().q[i]);
                        }
                    }
                    Commands::Forces(_) => {
                        let force = pose.rotation.conjugate() * DVec3::from_slice(&u);
                        external[link] = Wrench::new(force, DVec3::ZERO);
                    }
                }
                full.set_loads(&tau, &external);
                assert_eq!(full.step(h), SimulationStatus::Completed);
                let next = self.seen(&full.link_poses()[link]);
                v = next.iter().zip(&x).map(|(a, b)| (a - b) / h).collect();
                x = next;
            }
            let at = full.link_poses()[link].translation;
            sum += at.distance_squared(target(k + 1).translation);
        }
        (sum / steps as f64).sqrt()
    }
}

fn settings(commands: Commands, count: usize, bound: f64, cost: (f64, f64)) -> MpcSettings {
    MpcSettings {
        horizon: 20,
        commands,
        bounds: vec![(-bound, bound); count],
        goals: vec![Goal::position(0)],
        effort: cost.0,
        change: cost.1,
        pivots: 100,
        budget: None,
    }
}

/// A circle of a radius (m) across x, once in a time (s).
fn circle(start: Pose, radius: f64, time: f64, h: f64) -> impl Fn(usize) -> Pose {
    move |k: usize| {
        let (s, c) = (core::f64::consts::TAU * k as f64 * h / time).sin_cos();
        let shift = radius * DVec3::new(0.0, s, c - 1.0);
        Pose { translation: start.translation + shift, ..start }
    }
}

/// Set points and predictions along a circle: errors of both, the share of solves with commands at
/// bounds. Every tenth solve is compared with another solver.
fn compare(
    b: &Both,
    s: &MpcSettings,
    target: &dyn Fn(usize) -> Pose,
    steps: usize,
) -> (f64, f64, usize) {
    let goal = s.goals[0];
    let mut last = vec![0.0; s.bounds.len()];
    let held = b.tracked(&s.commands, steps, target, |_, k| {
        let goals = [(goal, target(k + 1))];
        let found = set_point(&b.stepper, &s.commands, &goals, &s.bounds, &[], &last).unwrap();
        last.clone_from(&found.commands);
        found.commands
    });
    let mut mpc = Mpc::new(b.stepper.clone(), s.clone()).unwrap();
    let (mut bound, mut worst) = (0, 0.0f64);
    let followed = b.tracked(&s.commands, steps, target, |state, k| {
        let report = mpc.solve(state, &[], |step, _| target(k + step)).unwrap();
        assert_eq!(report.status, MpcStatus::Solved);
        bound += usize::from(report.at_bounds > 0);
        if k % 10 == 0 {
            let ((h, x), (lower, upper)) = (mpc.problem(), mpc.step_bounds());
            let other = polished(h, mpc.slope(), lower, upper);
            let (ours, theirs) = (value(h, mpc.slope(), x), value(h, mpc.slope(), &other));
            assert!(ours <= theirs + 1e-8 * theirs.abs(), "{ours} {theirs}");
            let size = x.iter().chain(&other).fold(1e-9f64, |m, x| m.max(x.abs()));
            let apart = x.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            worst = worst.max(apart / size);
        }
        mpc.commands().to_vec()
    });
    println!("apart from the other solver by {worst:e}");
    assert!(worst < 1e-8, "{worst:e}");
    (held, followed, bound)
}

#[test]
fn servos_that_look_ahead_follow_a_circle_three_times_closer_than_set_points() {
    let b = both(peg_arm(), 5e-3);
    let mut s = settings(Commands::Servos, 6, 0.095, (1e-6, 1e-5));
    s.goals[0].orientation = 0.05;
    let target = circle(b.start, 0.02, 0.5, 5e-3);
    let (held, followed, bound) = compare(&b, &s, &target, 200);
    println!("set points {held:e} m, prediction {followed:e} m, {bound} of 200 at bounds");
    assert!(followed * 3.0 < held, "{followed} {held}");
    assert!(bound > 10, "{bound}");
}

#[test]
fn forces_on_a_helix_follow_a_circle_three_times_closer_than_set_points() {
    let b = both(helix(20, HelixJoints::Hinge3), 5e-3);
    let commands = Commands::Forces(vec![0]);
    let r = b.stepper.model().data().radius;
    let target = circle(b.start, 0.05 * r, 1.0, 5e-3);
    let held = set_point(
        &b.stepper,
        &commands,
        &[(Goal::position(0), target(100))],
        &[(-1e9, 1e9); 3],
        &[],
        &[0.0; 3],
    )
    .unwrap();
    assert!(held.settled, "{held:?}");
    let most = held.commands.iter().fold(0.0f64, |m, f| m.max(f.abs()));
    let s = settings(commands, 3, 0.97 * most, (1e-12, 1e-8));
    let (held, followed, bound) = compare(&b, &s, &target, 200);
    println!("set points {held:e} m, prediction {followed:e} m, {bound} of 200 at bounds");
    assert!(followed * 3.0 < held, "{followed} {held}");
    assert!(bound > 10, "{bound}");
}

#[test]
fn where_bounds_are_far_the_horizon_does_not_matter() {
    // What follows the horizon is known exactly: with a target that stays, a short one is a long
    // one.
    let b = both(peg_arm(), 5e-3);
    let target = Pose { translation: b.start.translation + DVec3::new(0.0, 0.01, 0.02), ..b.start };
    let first = |horizon: usize| {
        let s = MpcSettings { horizon, ..settings(Commands::Servos, 6, 1e6, (1e-6, 1e-6)) };
        let mut mpc = Mpc::new(b.stepper.clone(), s).unwrap();
        let n = b.stepper.dof();
        let report = mpc.solve((&vec![0.01; n], &vec![0.0; n]), &[], |_, _| target).unwrap();
        assert_eq!(report.status, MpcStatus::Solved);
        mpc.commands().to_vec()
    };
    let (short, long) = (first(2), first(40));
    let size = long.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for (a, b) in short.iter().zip(&long) {
        assert!((a - b).abs() < 1e-6 * size, "{short:?} {long:?}");
    }
}

#[test]
fn a_budget_that_runs_out_is_said_and_the_bounds_are_kept() {
    let b = both(peg_arm(), 5e-3);
    let far = Pose { translation: b.start.translation + DVec3::new(0.1, 0.2, 0.1), ..b.start };
    let n = b.stepper.dof();
    let mut s = settings(Commands::Servos, 6, 0.05, (1e-9, 1e-8));
    s.budget = Some(Duration::ZERO);
    let mut mpc = Mpc::new(b.stepper.clone(), s).unwrap();
    let report = mpc.solve((&vec![0.0; n], &vec![0.0; n]), &[], |_, _| far).unwrap();
    assert_eq!((report.status, report.pivots), (MpcStatus::Cut, 1));
    assert!(mpc.plan().iter().all(|u| u.abs() <= 0.05));
}

#[test]
fn bad_settings_and_numbers_end_in_a_sentence() {
    let b = both(peg_arm(), 5e-3);
    let good = settings(Commands::Servos, 6, 0.1, (1e-6, 1e-6));
    let said = |s: MpcSettings| Mpc::new(b.stepper.clone(), s).unwrap_err().to_string();
    let of = |change: &dyn Fn(&mut MpcSettings)| {
        let mut s = good.clone();
        change(&mut s);
        said(s)
    };
    assert_eq!(of(&|s| s.horizon = 0), "the horizon is 0");
    assert_eq!(of(&|s| s.bounds[2] = (1.0, -1.0)), "bounds of command 2 are 1 and -1");
    assert_eq!(of(&|s| s.bounds[0].0 = f64::NAN), "bounds of command 0 are NaN and 0.1");
    assert_eq!(of(&|s| _ = s.bounds.pop()), "5 bounds of commands, expected 6");
    assert_eq!(of(&|s| s.change = 0.0), "change is 0");
    assert_eq!(of(&|s| s.effort = f64::NAN), "effort is NaN");
    assert_eq!(of(&|s| s.goals[0].effector = 3), "effector 3 of 1");
    assert_eq!(of(&|s| s.goals[0].position = -1.0), "the weight of a goal is -1");
    assert_eq!(of(&|s| s.goals.clear()), "no goal has a weight");
    let nothing = MpcSettings { commands: Commands::Forces(vec![]), ..good.clone() };
    assert!(said(nothing).starts_with("there is nothing to command"));
    let mut mpc = Mpc::new(b.stepper.clone(), good).unwrap();
    let n = b.stepper.dof();
    let mut nan = b.start;
    nan.translation.y = f64::NAN;
    let zero = vec![0.0; n];
    let e = mpc.solve((&zero, &zero), &[], |_, _| nan).unwrap_err();
    assert_eq!(e, MpcError::Target { goal: 0, step: 1 });
    assert!(mpc.solve((&zero[1..], &zero), &[], |_, _| b.start).is_err());
    assert!(mpc.solve((&vec![f64::NAN; n], &zero), &[], |_, _| b.start).is_err());
}

#[test]
fn servos_hold_an_effector_where_it_shall_be() {
    let b = both(peg_arm(), 5e-3);
    let goal = Goal { effector: 0, position: 1.0, orientation: 0.05 };
    for shift in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, -1.0, 0.5)] {
        let target = Pose { translation: b.start.translation + 0.01 * shift, ..b.start };
        let bounds = [(-1.0, 1.0); 6];
        let found =
            set_point(&b.stepper, &Commands::Servos, &[(goal, target)], &bounds, &[], &[0.0; 6]);
        let found = found.unwrap();
        assert!(found.settled);
        assert!(found.errors.iter().all(|e| e.abs() < 1e-9), "{found:?}");
        // The full mechanism comes to rest there too; its way there is part of the mean.
        let commands = found.commands.clone();
        let still = |_: usize| target;
        let left = b.tracked(&Commands::Servos, 1000, &still, |_, _| commands.clone());
        assert!(left < 2e-3, "{left}");
    }
}
