//! Servo targets of blends, against the single model, finite differences and full equilibria.

use forks_blend::{
    Blend, BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, LinkBlend, Weights,
};
use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{Equilibrium, EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{
    Combination, Coordinate, JointId, Mechanism, MechanismBuilder, Servo, ServoSpring,
    Transmission,
    kinematics::loops,
    lie::{Pose, Wrench, glam::DVec3},
};
use forks_models::{HelixJoints, Parametric};
use forks_place::{Sample, blend_data};
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{
    EffectorLoad, LoadFrame, Reconstruction, ServoTerms, State, StaticStatus, StepStatus, Stepper,
    System,
};

/// The mechanism with a servo on a joint and another along a combination of joints.
fn driven(p: &Parametric) -> Problem {
    let joints: Vec<usize> =
        (0..p.mechanism.joints().len()).filter(|&j| p.mechanism.joints()[j].dof() == 1).collect();
    let mut b = MechanismBuilder::from_mechanism(&p.mechanism);
    let mut add = |name: &str, transmission, terms: &[(usize, f64)], stiffness| {
        let term = |&(j, a): &(usize, f64)| (Coordinate::of(JointId::new(joints[j])), a);
        b.add_servo(Servo {
            name: name.into(),
            transmission,
            combination: Combination { terms: terms.iter().map(term).collect(), offset: 0.0 },
            stiffness,
            damping: 1.0,
        });
    };
    add("joint", Transmission::Joint, &[(1, 1.0)], 900.0);
    add("tendon", Transmission::Tendon, &[(2, 1.0), (4, -0.5), (5, 0.7)], 600.0);
    let m = b.build().unwrap();
    let tip = m.link(p.effectors[0]).name.clone();
    Problem::new(&m, &[&tip], &ProblemOptions::default()).unwrap()
}

/// Helix and a ladder with loops that are not parallel.
fn cases() -> [(&'static str, Problem, DVec3); 2] {
    [
        (
            "helix",
            driven(&forks_models::helix(8, HelixJoints::Hinge3)),
            DVec3::new(8.0, -6.0, -90.0),
        ),
        ("ladder", driven(&forks_models::irregular_ladder(6)), DVec3::new(60.0, 0.0, -20.0)),
    ]
}

fn loads(problem: &Problem, force: DVec3) -> Loads {
    let e = &problem.effectors[0];
    Loads::none().with(e.applied(Wrench::new(force, DVec3::ZERO), WrenchFrame::World))
}

fn effector_load(force: DVec3) -> [EffectorLoad; 1] {
    [EffectorLoad { effector: 0, wrench: Wrench::new(force, DVec3::ZERO), frame: LoadFrame::World }]
}

/// The mechanism with its servos' springs at rest at other values.
pub(crate) fn with_targets(problem: &Problem, targets: &[f64]) -> Mechanism {
    let mut b = MechanismBuilder::from_mechanism(problem.mechanism());
    for ((_, id), s) in problem.prepared.servo_springs.iter().zip(targets) {
        match *id {
            ServoSpring::Combination(id) => b.combination_springs_mut()[id.index()].rest += s,
            ServoSpring::Cable(id) => {
                b.cables_mut()[id.index()].rest.iter_mut().for_each(|rest| *rest += s);
            }
        }
    }
    b.build().unwrap()
}

pub(crate) fn full(problem: &Problem, force: DVec3, targets: &[f64]) -> Equilibrium {
    let m = with_targets(problem, targets);
    let options = EquilibriumOptions::default();
    let e = solve_equilibrium(&m, &problem.start, &loads(problem, force), &options);
    assert!(e.status.is_equilibrium(), "{:?}", e.status);
    e
}

fn sample(problem: &Problem, force: DVec3) -> Sample {
    Sample::new(problem, &full(problem, force, &[0.0, 0.0]), &loads(problem, force)).unwrap()
}

fn rest_pose(problem: &Problem) -> Vec<Pose> {
    let poses = problem.mechanism().link_poses(&problem.start);
    let e = &problem.effectors[0];
    vec![poses[e.link.index()] * e.link_from_effector]
}

fn blend(problem: &Problem, samples: &[Sample]) -> BlendedModel {
    let weights = Weights::Shepard { exponent: 4 };
    BlendedModel::new(blend_data(&rest_pose(problem), samples, weights).unwrap()).unwrap()
}

#[test]
fn one_sample_is_the_single_model() {
    for (name, problem, force) in cases() {
        for force in [DVec3::ZERO, force] {
            let blend = std::sync::Arc::new(blend(&problem, &[sample(&problem, force)]));
            let single = blend.data().samples[0].model.clone();
            let targets = [0.15, -0.1];
            let further = force * 1.1 + DVec3::new(0.0, 0.0, 3.0);
            // The ladder's chart has fewer than six directions: about another pose that is another
            // set.
            let x = match single.dof() {
                6 => {
                    let loads = effector_load(further);
                    let found = blend.solve_static(&loads, &targets).unwrap();
                    let alone = single.solve_static(&loads, &targets).unwrap();
                    assert_eq!(found.status, StaticStatus::Converged, "{name}");
                    assert_eq!(alone.status, StaticStatus::Converged, "{name}");
                    let expected = single.effector_pose(0, &alone.coordinates);
                    let gap =
                        (blend.effector_pose(0, &found.coordinates).inverse() * expected).log();
                    assert!(gap.norm() < 1e-9, "{name}: {}", gap.norm());
                    found.coordinates
                }
                _ => blend.place(0).iter().map(|x| x + 0.03).collect(),
            };
            let mut state = BlendedState::new(&blend, &x).unwrap();
            let mut work = BlendedWorkspace::new(&blend);
            state.set_servo_targets(&blend, &targets).unwrap();
            let left = blend.leave(&state, &single).unwrap();
            assert_eq!(left.servo_targets(), targets);
            let back = blend.enter(&single, &left).unwrap();
            assert_eq!(back.servo_targets(), targets);
            // Links: equal maps and targets; coordinates from logarithms to a few roundings, times
            // the maps.
            let maps = single.data().links.iter().map(|l| l.map.max_abs());
            let tolerance = 64.0 * f64::EPSILON * maps.fold(1.0, f64::max);
            let mut poses = vec![Pose::IDENTITY; single.data().links.len()];
            for mode in [Reconstruction::Twist, Reconstruction::JointSpace] {
                blend.link_poses_into(&state, &mut work, mode, LinkBlend::default(), &mut poses);
                let expected = single.link_poses(left.coordinates(), &targets, mode);
                let still = single.link_poses(left.coordinates(), &[], mode);
                let mut moved: f64 = 0.0;
                for ((p, e), s) in poses.iter().zip(&expected).zip(&still) {
                    let gap = (p.inverse() * *e).log().norm();
                    assert!(gap < tolerance, "{name} {mode:?}: {gap:e} {tolerance:e}");
                    moved = moved.max((s.inverse() * *e).log().norm());
                }
                assert!(moved > 1e-3, "{name} {mode:?}: the targets move no link");
            }
            let mut buffer = blend.pose_buffer();
            blend.poses(&state, &mut work, LinkBlend::default(), &mut buffer);
            let expected = single.link_poses(left.coordinates(), &targets, Reconstruction::Twist);
            for (l, p) in buffer.iter() {
                assert!((p.inverse() * expected[l]).log().norm() < tolerance, "{name}");
            }
        }
    }
}

#[test]
fn one_sample_steps_as_the_single_model() {
    let (_, problem, _) = cases().into_iter().next().unwrap();
    let blend = std::sync::Arc::new(blend(&problem, &[sample(&problem, DVec3::ZERO)]));
    let single = blend.data().samples[0].model.clone();
    let targets = [0.05, -0.03];
    let mut state = BlendedState::new(&blend, &vec![0.0; blend.dof()]).unwrap();
    state.set_servo_targets(&blend, &targets).unwrap();
    let mut alone = State::new(&single);
    alone.set_servo_targets(&single, &targets).unwrap();
    let steppers =
        (BlendedStepper::new(blend.clone(), 1e-3).unwrap(), Stepper::new(single.clone(), 1e-3));
    let one = steppers.1.unwrap();
    let mut work = steppers.0.workspace();
    let mut alone_work = one.workspace();
    let mut largest: f64 = 0.0;
    for _ in 0..300 {
        assert_eq!(steppers.0.step(&mut state, &mut work, &[]), StepStatus::Completed);
        assert_eq!(one.step(&mut alone, &mut alone_work, &[]), StepStatus::Completed);
        let pose = single.effector_pose(0, alone.coordinates());
        let gap = blend.effector_pose(0, state.coordinates()).inverse() * pose;
        largest = largest.max(gap.log().norm());
    }
    let moved =
        single.data().effectors[0].rest.twist_to(&single.effector_pose(0, alone.coordinates()));
    // Both are implicit Euler; the blend stops its corrections at 1e-3 of the forces.
    assert!(largest < 1e-3 * moved.norm(), "{largest:e} of {:e}", moved.norm());
}

/// ∂U/∂s of the full mechanism at an equilibrium: the negative forces of the servos.
fn servo_forces(problem: &Problem, e: &Equilibrium, targets: &[f64]) -> Vec<f64> {
    let m = problem.mechanism();
    let springs = problem.prepared.servo_springs.iter().zip(targets);
    springs
        .map(|((_, id), target)| {
            let ServoSpring::Combination(id) = *id else { panic!("no cables here") };
            let s = &m.combination_springs()[id.index()];
            -s.stiffness * (loops::combination_value(m, &s.combination, &e.q) - s.rest - target)
        })
        .collect()
}

#[test]
fn samples_know_the_energys_derivatives_by_targets() {
    let mut worst: f64 = 0.0;
    for (name, problem, force) in cases() {
        for force in [DVec3::ZERO, force] {
            let sample = sample(&problem, force);
            let model = forks_rom::ReducedModel::held_by_loads(sample.data.clone()).unwrap();
            let at_rest = servo_forces(&problem, &full(&problem, force, &[0.0; 2]), &[0.0; 2]);
            for (p, expected) in sample.servos.force.iter().zip(&at_rest) {
                assert!((p - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{name}");
            }
            for k in 0..2 {
                // Richardson: errors h⁴ and ε/h.
                let slope = |of: &dyn Fn(f64) -> Vec<f64>| -> Vec<f64> {
                    let h = 4e-3;
                    let central = |h: f64| -> Vec<f64> {
                        of(h).iter().zip(of(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
                    };
                    let (far, near) = (central(h), central(0.5 * h));
                    near.iter().zip(far).map(|(n, f)| (4.0 * n - f) / 3.0).collect()
                };
                let target = |h: f64| {
                    let mut t = [0.0; 2];
                    t[k] = h;
                    t
                };
                let found_full = slope(&|h| {
                    servo_forces(&problem, &full(&problem, force, &target(h)), &target(h))
                });
                // The effectors move under the dead force: ∂²U/∂s² + ∂²U/∂s∂η dη/ds.
                let eta = slope(&|h| {
                    let loads = effector_load(force);
                    let s = model.solve_static(&loads, &target(h)).unwrap();
                    assert_eq!(s.status, StaticStatus::Converged, "{name}");
                    s.coordinates
                });
                let pulled = sample.data.hessian.mul_vec(&eta);
                for j in 0..2 {
                    let coupled: f64 =
                        (0..eta.len()).map(|i| sample.data.servo_rest[(i, j)] * pulled[i]).sum();
                    let found = sample.servos.stiffness[(j, k)] - coupled;
                    let error = (found - found_full[j]).abs() / 900.0;
                    worst = worst.max(error);
                    assert!(error < 1e-7, "{name} {j} {k}: {found} {}", found_full[j]);
                }
            }
        }
    }
    println!("worst {worst:e}");
}

#[test]
fn the_force_between_samples_is_the_gradient_of_the_energy() {
    for (name, problem, force) in cases() {
        let samples = [
            sample(&problem, DVec3::ZERO),
            sample(&problem, force),
            sample(&problem, 0.5 * force + DVec3::new(4.0, 0.0, 9.0)),
        ];
        let blend = blend(&problem, &samples);
        let n = blend.dof();
        let targets = [0.2, -0.1];
        let x: Vec<f64> = (0..n).map(|i| 0.04 * ((3 * i + 1) as f64).sin()).collect();
        let at = |x: &[f64]| {
            let mut s = BlendedState::new(&blend, x).unwrap();
            s.set_servo_targets(&blend, &targets).unwrap();
            s
        };
        let here = at(&x);
        let size =
            blend.evaluated_at(&here).elastic_force().iter().fold(0.0f64, |m, f| m.max(f.abs()));
        for k in 0..n {
            let energy = |h: f64| {
                let mut x = x.clone();
                x[k] += h;
                blend.evaluated_at(&at(&x)).potential_energy()
            };
            let h = 1e-4;
            let central = |h: f64| (energy(h) - energy(-h)) / (2.0 * h);
            let slope = (4.0 * central(0.5 * h) - central(h)) / 3.0;
            let error = (slope - blend.evaluated_at(&here).elastic_force()[k]).abs() / size;
            assert!(error < 1e-7, "{name} {k}: {error:e}");
        }
        // The other blends know the targets too, and without any nothing has changed.
        let plain = BlendedState::new(&blend, &x).unwrap();
        let mut back = at(&x);
        back.set_servo_targets(&blend, &[0.0; 2]).unwrap();
        assert_eq!(
            blend.evaluated_at(&plain).elastic_force(),
            blend.evaluated_at(&back).elastic_force()
        );
        assert_ne!(
            blend.evaluated_at(&plain).elastic_force(),
            blend.evaluated_at(&here).elastic_force()
        );
        let eigen = blend.clone().with_blend(Blend::Eigenvectors);
        let mut state = BlendedState::new(&eigen, &x).unwrap();
        let before = blend.evaluated_at(&state).elastic_force().to_vec();
        state.set_servo_targets(&eigen, &targets).unwrap();
        assert_ne!(before, blend.evaluated_at(&state).elastic_force());
        assert!(state.set_servo_targets(&eigen, &[0.0; 3]).is_err());
        assert!(state.set_servo_targets(&eigen, &[f64::NAN, 0.0]).is_err());
    }
}

/// Distance of the blend's static effector from the full one, over r.
pub(crate) fn static_error(
    problem: &Problem,
    blend: &BlendedModel,
    force: DVec3,
    targets: &[f64],
) -> f64 {
    let found = blend.solve_static(&effector_load(force), targets).unwrap();
    assert_eq!(found.status, StaticStatus::Converged);
    let e = full(problem, force, targets);
    let effector = &problem.effectors[0];
    let pose = e.world_from_link[effector.link.index()] * effector.link_from_effector;
    let shown = blend.effector_pose(0, &found.coordinates);
    shown.translation.distance(pose.translation) / blend.data().radius
}

#[test]
fn near_samples_targets_move_the_effector_as_full_equilibria_do() {
    let (_, problem, force) = cases().into_iter().next().unwrap();
    let forces = [DVec3::ZERO, force, DVec3::new(40.0, 10.0, -50.0)];
    let samples = forces.map(|f| sample(&problem, f));
    let blend = blend(&problem, &samples);
    let no_terms = samples.clone().map(|s| {
        let n = s.servos.force.len();
        let stiffness = forks_mechanism::linalg::Matrix::zeros(n, n);
        Sample { servos: ServoTerms { force: vec![0.0; n], stiffness }, ..s }
    });
    let incomplete = self::blend(&problem, &no_terms);
    let step = DVec3::new(2.0, 1.0, 3.0);
    for force in forces {
        let error = |scale: f64| {
            let targets = [0.08 * scale, -0.05 * scale];
            static_error(&problem, &blend, force + step * scale, &targets)
        };
        let errors = [error(1.0), error(0.5), error(0.25)];
        println!("{errors:?}");
        // Exact to first order at samples: at a quarter of the way an error of first order would be
        // a quarter, one of second order a sixteenth.
        assert!(errors[2] < 0.125 * errors[0], "{errors:?}");
    }
    // Between samples the terms that are constants of one model matter.
    let between = 0.5 * (forces[0] + forces[1]);
    let targets = [0.15, -0.1];
    let with = static_error(&problem, &blend, between, &targets);
    let without = static_error(&problem, &incomplete, between, &targets);
    println!("between: {with:.4} with the servos' terms, {without:.4} without");
    assert!(with < 0.5 * without);
}

#[test]
fn files_keep_the_terms() {
    let (_, problem, force) = cases().into_iter().next().unwrap();
    let blend = blend(&problem, &[DVec3::ZERO, force].map(|f| sample(&problem, f)));
    let bytes = blend.to_bytes();
    let read = BlendedModel::from_bytes(&bytes).unwrap();
    assert!(read.data() == blend.data());
    assert_eq!(read.to_bytes(), bytes);
    assert!(blend.data().samples[1].servos.force.iter().all(|f| f.abs() > 1.0));
    let mut wrong = blend.data().clone();
    wrong.samples[1].servos = ServoTerms::default();
    assert!(BlendedModel::new(wrong).is_err());
}

/// In a chart of joint displacements targets move the blend as they move the mechanism.
#[test]
fn targets_move_a_chart_of_joint_displacements() {
    use std::ops::ControlFlow;

    use forks_place::{Chart, LoadRegion, Placement, place};
    for (name, problem, force) in cases() {
        let region = LoadRegion { displacement: 0.5, ..LoadRegion::cone(0, force, 0.5) };
        let placement = Placement {
            regions: vec![region],
            training_loads: 16,
            max_samples: 4,
            chart: Chart::Joints,
            ..Placement::default()
        };
        let blend = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).unwrap().model;
        for targets in [[0.1, 0.0], [0.0, -0.1], [0.15, -0.1]] {
            let loads = effector_load(force);
            let truth = full(&problem, force, &targets);
            let at = |e: &Equilibrium| {
                let effector = &problem.effectors[0];
                e.world_from_link[effector.link.index()] * effector.link_from_effector
            };
            let still = at(&full(&problem, force, &[0.0; 2]));
            let found = blend.solve_static(&loads, &targets).unwrap();
            assert_eq!(found.status, StaticStatus::Converged, "{name}");
            let moved = at(&truth).translation.distance(still.translation);
            let off = blend
                .effector_pose(0, &found.coordinates)
                .translation
                .distance(at(&truth).translation);
            // What the targets do is right to a tenth; what is left is of third order in them.
            assert!(off < 0.1 * moved, "{name} {targets:?}: {off:e} of {moved:e}");
        }
    }
}
