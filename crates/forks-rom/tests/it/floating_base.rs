//! Models whose base floats: momentum, energy, stability, poses and velocities.

use std::sync::Arc;

use forks_reduce::{MassModel, Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    BaseCoupling, EffectorLoad, FloatingModel, FloatingState, FloatingStepper, Isa, LoadFrame,
    ModelError, PoseBuffer, ReducedModel, StepStatus, System,
    lie::{Pose, Twist, Wrench, glam::DVec3},
};
use forks_testkit::{
    Rng,
    floating::{floating_hub, floating_loop},
};

const FORMS: [BaseCoupling; 4] = [
    BaseCoupling::Full,
    BaseCoupling::Inertial,
    BaseCoupling::External,
    BaseCoupling::ExternalCorrected,
];

fn problem(looped: bool) -> Problem {
    let (m, effectors): (_, &[&str]) = if looped {
        (floating_loop(), &["bar", "c5"])
    } else {
        (floating_hub(), &["a5", "b5", "c5"])
    };
    Problem::new(&m, effectors, &ProblemOptions::default()).unwrap()
}

fn reduced(looped: bool, mass: MassModel) -> Arc<ReducedModel> {
    let p = problem(looped);
    let options = ReduceOptions { mass, floating: true, ..ReduceOptions::default() };
    Arc::new(p.reduce(p.at_rest(), &options).unwrap().model)
}

fn floating(looped: bool, form: BaseCoupling) -> Arc<FloatingModel> {
    Arc::new(FloatingModel::new(reduced(looped, MassModel::Condensed), form).unwrap())
}

fn vector(rng: &mut Rng, size: f64) -> DVec3 {
    DVec3::new(rng.range(-size, size), rng.range(-size, size), rng.range(-size, size))
}

/// A state bent so that the effectors move by about `bend`, base and links in motion.
fn random_state(model: &FloatingModel, rng: &mut Rng, bend: f64, speed: f64) -> FloatingState {
    let mut out = FloatingState::new(model);
    let n = out.shape().coordinates().len();
    let eta: Vec<f64> = (0..n).map(|_| rng.range(-bend, bend)).collect();
    let rate: Vec<f64> = (0..n).map(|_| rng.range(-speed, speed)).collect();
    let pose = Pose::exp(Twist::new(vector(rng, 2.0), vector(rng, 2.0)));
    let velocity = Twist::new(vector(rng, speed), vector(rng, speed));
    out.set(model, &eta, &rate, pose, velocity).unwrap();
    out
}

fn random_loads(model: &FloatingModel, rng: &mut Rng, size: f64) -> Vec<EffectorLoad> {
    (0..model.reduced().effector_count())
        .map(|effector| EffectorLoad {
            effector,
            wrench: Wrench::new(vector(rng, size), vector(rng, 0.1 * size)),
            frame: if effector % 2 == 0 { LoadFrame::World } else { LoadFrame::Body },
        })
        .collect()
}

fn difference(a: Twist, b: Twist) -> f64 {
    (a - b).norm() / (1.0 + b.norm())
}

#[test]
fn a_state_gives_back_what_it_was_set_to() {
    let mut rng = Rng::new(1);
    for form in FORMS {
        let model = floating(true, form);
        let mut s = FloatingState::new(&model);
        let n = s.shape().coordinates().len();
        for _ in 0..10 {
            let eta: Vec<f64> = (0..n).map(|_| rng.range(-0.1, 0.1)).collect();
            let rate: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
            let pose = Pose::exp(Twist::new(vector(&mut rng, 2.0), vector(&mut rng, 2.0)));
            let velocity = Twist::new(vector(&mut rng, 3.0), vector(&mut rng, 3.0));
            s.set(&model, &eta, &rate, pose, velocity).unwrap();
            // Condition numbers of the inertia below 1e3, some tens of operations.
            assert!(difference(model.base_velocity(&s), velocity) < 1e-11);
            assert!(s.world_from_base().twist_to(&pose).norm() < 1e-14);
        }
    }
}

/// The impulse by its definition: forces at their points, carried along by the centre of mass.
#[test]
fn momentum_changes_by_the_external_impulse() {
    for looped in [false, true] {
        for form in FORMS {
            let model = floating(looped, form);
            let mut rng = Rng::new(7);
            for h in [1e-3, 1.0 / 60.0, 0.1] {
                let stepper = FloatingStepper::new(model.clone(), h).unwrap();
                let mut s = random_state(&model, &mut rng, 0.05, 2.0);
                let mut work = stepper.workspace();
                let (mut worst, mut turned) = (0.0f64, 0.0f64);
                for _ in 0..200 {
                    let loads = random_loads(&model, &mut rng, 5.0);
                    let before = model.momentum(&s);
                    let drift = s.center_velocity() * (0.5 * h);
                    let weight = model.gravity() * model.mass();
                    let mut linear = weight;
                    let mut angular = (model.center_of_mass(&s) + drift).cross(weight);
                    for l in &loads {
                        let pose = model.effector_pose(l.effector, &s);
                        let world = |v: DVec3| match l.frame {
                            LoadFrame::World => v,
                            LoadFrame::Body => pose.rotation * v,
                        };
                        let force = world(l.wrench.force);
                        linear += force;
                        angular += (pose.translation + drift).cross(force) + world(l.wrench.torque);
                    }
                    assert_ne!(stepper.step(&mut s, &mut work, &loads), StepStatus::NotFinite);
                    let after = model.momentum(&s);
                    let error = |a: DVec3, b: DVec3| (a - b).length() / (1.0 + a.length());
                    worst = worst.max(error(after.linear, before.linear + linear * h));
                    turned = turned.max(error(after.angular, before.angular + angular * h));
                }
                assert!(worst < 1e-12 && turned < 1e-9, "{form:?} {h}: {worst:e} {turned:e}");
            }
        }
    }
}

/// No damping helps here; the scheme alone must not gain.
#[test]
fn energy_never_grows_without_work() {
    for looped in [false, true] {
        for mass in
            [MassModel::Condensed, MassModel::Accelerability, MassModel::CraigBampton { modes: 6 }]
        {
            let mut data = reduced(looped, mass).data().clone();
            data.damping = forks_rom::linalg::Matrix::zeros(data.mass.rows(), data.mass.rows());
            let data = Arc::new(ReducedModel::new(data).unwrap());
            for form in [BaseCoupling::Full, BaseCoupling::Inertial, BaseCoupling::External] {
                let model = Arc::new(FloatingModel::new(data.clone(), form).unwrap());
                for h in [1e-3, 1.0 / 60.0, 0.1, 1.0] {
                    let stepper = FloatingStepper::new(model.clone(), h).unwrap();
                    let mut rng = Rng::new(3);
                    for speed in [0.5, 3.0, 20.0] {
                        let mut s = random_state(&model, &mut rng, 0.02, speed);
                        let mut work = stepper.workspace();
                        let mut last = model.energy(&s);
                        let (mut settled, mut skipped) = (0, 0);
                        for i in 0..300 {
                            let status = stepper.step(&mut s, &mut work, &[]);
                            let energy = model.energy(&s);
                            let size = model.kinetic_energy(&s) + energy.abs() + last.abs();
                            let fall = 9.81 * model.mass() * model.center_of_mass(&s).length();
                            if status == StepStatus::Completed {
                                settled += 1;
                                let gain = (energy - last) / (size + fall);
                                assert!(
                                    gain < 1e-12,
                                    "{mass:?} {form:?} h {h} speed {speed} step {i}: {gain:e}"
                                );
                            } else {
                                skipped += 1;
                            }
                            last = energy;
                        }
                        println!("{looped} {mass:?} {form:?} {h} {speed}: {settled} + {skipped}");
                        // Turns of more than a radian per step need not settle, nor shapes far out
                        // of range.
                        let mild = speed < 4.0 && speed * h <= 1.0;
                        assert!(!mild || skipped < 30, "{mass:?} {form:?} {h} {speed}");
                    }
                }
            }
        }
    }
}

#[test]
fn random_wrenches_leave_it_finite() {
    for form in FORMS {
        let model = floating(false, form);
        for h in [1e-3, 1.0 / 60.0, 0.1] {
            let stepper = FloatingStepper::new(model.clone(), h).unwrap();
            let mut rng = Rng::new(11);
            let mut s = FloatingState::new(&model);
            let mut work = stepper.workspace();
            let mut counts = [0usize; 4];
            for _ in 0..10_000 {
                let loads = random_loads(&model, &mut rng, 20.0);
                let i = match stepper.step(&mut s, &mut work, &loads) {
                    StepStatus::Completed => 0,
                    StepStatus::OutOfRange { .. } => 1,
                    StepStatus::InertiaHeldBack => 2,
                    StepStatus::NotSettled => 3,
                    StepStatus::NotFinite => panic!("{form:?} {h}"),
                };
                counts[i] += 1;
            }
            println!("{form:?} {h}: completed, out of range, held back, not settled {counts:?}");
            assert!(s.world_from_base().is_finite() && model.energy(&s).is_finite());
            let q = s.world_from_base().rotation;
            assert!((q.length() - 1.0).abs() < 1e-15);
        }
    }
}

#[test]
fn loads_that_are_not_finite_leave_the_state() {
    let model = floating(false, BaseCoupling::Full);
    let stepper = FloatingStepper::new(model.clone(), 1e-3).unwrap();
    let mut s = random_state(&model, &mut Rng::new(5), 0.05, 1.0);
    let mut work = stepper.workspace();
    let before = s.clone();
    for x in [f64::NAN, f64::INFINITY] {
        let wrench = Wrench::new(DVec3::new(0.0, x, 0.0), DVec3::ZERO);
        let load = EffectorLoad { effector: 1, wrench, frame: LoadFrame::World };
        assert_eq!(stepper.step(&mut s, &mut work, &[load]), StepStatus::NotFinite);
        assert_eq!(s, before);
    }
}

/// Base pose times relative pose, for every link, and the kernel's pass over blocks against single
/// poses.
#[test]
fn poses_are_the_base_times_the_relative_poses() {
    let problem = problem(true);
    let base = reduced(true, MassModel::Condensed);
    let names = problem.mechanism().links();
    for isa in [Isa::Portable, Isa::detect()] {
        let model = Arc::new((*base).clone().with_isa(isa));
        let floating = FloatingModel::new(model.clone(), BaseCoupling::Full).unwrap();
        let s = random_state(&floating, &mut Rng::new(2), 0.05, 1.0);
        let mut buffer = PoseBuffer::new(&model);
        floating.poses(&s, &mut buffer);
        let carried = floating.world_from_rest(&s);
        for (link, pose) in buffer.iter() {
            let expected = carried * model.link_pose(link, s.shape().coordinates(), &[]);
            assert!(expected.twist_to(&pose).norm() < 1e-13, "{}", names[link].name);
            let single = floating.pose_of_link(link, &s);
            assert!(expected.twist_to(&single).norm() < 1e-13);
        }
        let b = model.data().base.as_ref().unwrap().link;
        let pose = floating.pose_of_link(b, &s);
        assert!(pose.twist_to(&s.world_from_base()).norm() < 1e-14);
    }
}

/// Effector velocities against differences of poses under a rigid and an internal motion.
#[test]
fn effector_velocities_are_rates_of_poses() {
    let model = floating(false, BaseCoupling::Full);
    let s = random_state(&model, &mut Rng::new(4), 0.1, 1.0);
    let velocity = model.base_velocity(&s);
    let moved = |e: usize, t: f64| {
        let mut other = s.clone();
        let eta: Vec<f64> = s
            .shape()
            .coordinates()
            .iter()
            .zip(s.shape().velocity())
            .map(|(x, y)| x + t * y)
            .collect();
        let pose = s.world_from_base().displaced(velocity * t);
        other.set(&model, &eta, s.shape().velocity(), pose, velocity).unwrap();
        model.effector_pose(e, &other)
    };
    for e in 0..3 {
        let found = model.effector_velocity(e, &s);
        // Central differences, one Richardson step: h⁴ and ε/h, both below 1e-10.
        let central = |h: f64| moved(e, -h).twist_to(&moved(e, h)) * (0.5 / h);
        let (coarse, fine) = (central(2e-3), central(1e-3));
        let rate = (fine * 4.0 - coarse) * (1.0 / 3.0);
        assert!(difference(found, rate) < 1e-10, "{e}: {:e}", difference(found, rate));
    }
}

#[test]
fn a_fixed_base_is_an_error() {
    let p = problem(false);
    let model = p.reduce(p.at_rest(), &ReduceOptions::default()).unwrap().model;
    let model = Arc::new(model);
    assert_eq!(FloatingModel::new(model, BaseCoupling::Full).unwrap_err(), ModelError::NoBase);
}
