//! Manifolds: one sample whose links and effectors follow its joints.

use std::{ops::ControlFlow, sync::Arc};

use forks_blend::{
    BlendedModel, BlendedState, BlendedStepper, BlendedWorkspace, Kinematics, LinkBlend,
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia, Twist, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
    linalg::Matrix,
};
use forks_models::{HelixJoints, arm20, helix, irregular_ladder};
use forks_place::{Chart, Gauge, LoadRegion, Placed, Placement, place, unseen_loads};
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::{EffectorLoad, LoadFrame, ModelError, Reconstruction, StepStatus};

/// Two screws at once.
fn general() -> JointKind {
    let screw = |v: DVec3, w: DVec3| Twist::new(v, w);
    let first = screw(DVec3::new(0.0, 0.1, 0.0), DVec3::X);
    let second = screw(DVec3::new(0.05, 0.0, 0.0), DVec3::new(0.0, 0.6, 0.8));
    JointKind::General { subspace: vec![first, second] }
}

/// A chain of joints of every kind.
fn chain() -> Problem {
    let v = DVec3::new;
    let kinds = [
        (JointKind::Universal { first: DVec3::X, second: DVec3::Y }, 8.0),
        (JointKind::Revolute { axis: v(0.0, 0.6, 0.8) }, 10.0),
        (JointKind::Prismatic { axis: v(0.6, 0.0, 0.8) }, 300.0),
        (JointKind::Cylindrical { axis: DVec3::Z }, 60.0),
        (JointKind::Spherical, 7.0),
        (JointKind::Planar, 90.0),
        (JointKind::Free, 50.0),
        (general(), 5.0),
        (JointKind::Revolute { axis: DVec3::Y }, 6.0),
    ];
    let mut b = MechanismBuilder::new("chain");
    b.set_gravity(DVec3::ZERO);
    let mut inner = LinkId::WORLD;
    for (k, (kind, stiffness)) in kinds.into_iter().enumerate() {
        let inertia = SpatialInertia::new(0.2, v(0.0, 0.01, -0.05), DMat3::IDENTITY * 1e-3);
        let outer = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let at = Pose::new(DQuat::from_rotation_y(0.2 * k as f64), v(0.02, 0.03, -0.12));
        let mut joint = Joint::new(format!("joint{k}"), kind, inner, outer).at(at);
        joint = joint.with_stiffness(stiffness).with_damping(0.01 * stiffness);
        b.add_joint(joint);
        inner = outer;
    }
    problem(&b.build().unwrap(), "link8")
}

fn problem(m: &Mechanism, tip: &str) -> Problem {
    Problem::new(m, &[tip], &ProblemOptions::default()).unwrap()
}

fn placement(axis: DVec3) -> Placement {
    let region = LoadRegion { displacement: 0.3, ..LoadRegion::cone(0, axis, 0.4) };
    Placement {
        regions: vec![region],
        chart: Chart::Manifold,
        training_loads: 8,
        unseen_loads: 6,
        ..Placement::default()
    }
}

fn placed(problem: &Problem, axis: DVec3) -> Placed {
    place(problem, &placement(axis), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Trees and a mechanism with loops, each with the axis of its loads.
fn cases() -> Vec<(&'static str, Problem, DVec3)> {
    let of = |p: &forks_models::Parametric| {
        problem(&p.mechanism, &p.mechanism.link(p.effectors[0]).name)
    };
    vec![
        ("joints of every kind", chain(), DVec3::new(1.0, 0.4, 0.2)),
        ("helix", of(&helix(6, HelixJoints::Hinge3)), -DVec3::Z),
        ("ladder", of(&irregular_ladder(3)), DVec3::X),
    ]
}

/// Places inside the guard, on its way out, and beyond.
fn places(model: &BlendedModel) -> Vec<Vec<f64>> {
    let guard = model.data().guard.as_ref().expect("charts have a guard");
    let n = model.dof();
    let direction: Vec<f64> = (0..n).map(|i| ((7 * i + 3) % 5) as f64 - 1.7).collect();
    let size: f64 =
        guard.metric.mul_vec(&direction).iter().zip(&direction).map(|(a, b)| a * b).sum();
    let at = |s: f64| direction.iter().map(|d| s * d / size.sqrt()).collect();
    [0.0, 0.3, 0.9, 1.0, 1.1, 2.0].map(at).to_vec()
}

/// Central differences of fourth order.
fn differences(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - f(2.0 * h) + f(-2.0 * h)) / (12.0 * h)
}

fn along(x: &[f64], k: usize, t: f64) -> Vec<f64> {
    let mut x = x.to_vec();
    x[k] += t;
    x
}

#[test]
fn forces_and_motions_are_derivatives() {
    for (name, problem, axis) in cases() {
        let placed = placed(&problem, axis);
        let m = &placed.model;
        assert_eq!(m.data().kinematics, Kinematics::Joints, "{name}");
        let (force, torque) = (DVec3::new(0.7, -0.4, 0.5), DVec3::new(0.1, 0.3, -0.2));
        for x in places(m) {
            let h = 1e-4 * x.iter().fold(0.1f64, |m, x| m.max(x.abs()));
            let gradient = m.elastic_force(&x);
            let wrench = Wrench::new(force, torque);
            let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
            let pulled = m.generalised_force(&x, &[load]);
            let mut jacobian = Matrix::zeros(6, m.dof());
            m.effector_jacobian(0, &x, &mut jacobian);
            let here = m.effector_pose(0, &x);
            let size = gradient.iter().fold(1e-3f64, |m, g| m.max(g.abs()));
            for k in 0..m.dof() {
                let slope = differences(|t| m.potential_energy(&along(&x, k, t)), h);
                assert!(
                    (slope - gradient[k]).abs() < 1e-7 * size,
                    "{name} {k}: {slope} {gradient:?}"
                );
                let twist =
                    |t: f64| here.twist_to(&m.effector_pose(0, &along(&x, k, t))).to_array();
                let mut work = 0.0;
                for i in 0..6 {
                    let found = differences(|t| twist(t)[i], h);
                    assert!((found - jacobian[(i, k)]).abs() < 1e-7, "{name} {k} {i}: {found}");
                    let body = here.rotation.conjugate();
                    let w = Wrench::new(body * force, body * torque).to_array();
                    work += w[i] * jacobian[(i, k)];
                }
                assert!((work - pulled[k]).abs() < 1e-12, "{name}: {work} {}", pulled[k]);
            }
        }
    }
}

#[test]
fn joints_of_the_tree_stay_closed_and_loops_open_with_the_third_power() {
    for (name, problem, axis) in cases() {
        let m = placed(&problem, axis).model;
        let gap = |x: &[f64]| {
            let state = BlendedState::new(&m, x).unwrap();
            let mut work = BlendedWorkspace::new(&m);
            let (mode, blend) = (Reconstruction::Twist, LinkBlend::Average);
            m.constraint_error(&state, &mut work, mode, blend).position
        };
        let x = &places(&m)[2];
        if problem.mechanism().joints().len() == problem.mechanism().forest().edges().len() {
            assert!(gap(x) < 1e-13, "{name}");
            continue;
        }
        let gaps = [1.0, 0.5, 0.25].map(|s| gap(&x.iter().map(|x| s * x).collect::<Vec<_>>()));
        for pair in gaps.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((2.6..3.6).contains(&order), "{name}: {gaps:?}");
        }
    }
}

#[test]
fn of_all_motions_statics_are_those_of_the_full_mechanism() {
    let p = arm20();
    let names: Vec<&str> = p.effectors.iter().map(|&l| p.mechanism.link(l).name.as_str()).collect();
    let mut heavy = MechanismBuilder::from_mechanism(&p.mechanism);
    heavy.set_gravity(DVec3::new(0.0, 3.0, -2.0));
    let heavy = heavy.build().unwrap();
    let problem = Problem::new(&heavy, &names, &ProblemOptions::default()).unwrap();
    let region = |e: usize| LoadRegion { displacement: 0.3, ..LoadRegion::cone(e, DVec3::Z, 0.5) };
    for gravity in [false, true] {
        let placement = Placement {
            regions: (0..3).map(region).collect(),
            together: false,
            training_loads: 6,
            unseen_loads: 4,
            gravity,
            ..Placement::default()
        };
        let placed = place(&problem, &placement, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((placed.chart, placed.model.dof()), (Chart::Manifold, 20));
        assert_eq!(placed.certificate.frequency, Some(0.0));
        let data = placed.model.data();
        assert_eq!(data.link_forces.is_empty(), !gravity);
        let copy = BlendedModel::from_bytes(&placed.model.to_bytes()).unwrap();
        assert!(copy.data() == data, "another blend is read");
        let gauge = Gauge::new(&problem, data.reference.clone(), data.radius);
        for truth in unseen_loads(&problem, &placement, 17, 6).unwrap() {
            let errors = gauge.errors(&placed.model, &truth);
            // Orders left out are those that differences cannot tell from rounding, 1e-5.
            assert!(errors.statics < 1e-4 && errors.constraint < 1e-12, "{errors:?}");
        }
        // The force is the energy's derivative.
        let x: Vec<f64> = (0..20).map(|k| 0.02 * f64::from(k % 5) - 0.03).collect();
        let (force, h) = (placed.model.elastic_force(&x), 1e-5);
        let size = force.iter().fold(0.0f64, |m, f| m.max(f.abs()));
        for k in 0..20 {
            let at = |d: f64| {
                let mut x = x.clone();
                x[k] += d;
                placed.model.potential_energy(&x)
            };
            let slope = (at(h) - at(-h)) / (2.0 * h);
            assert!((slope - force[k]).abs() < 1e-6 * size, "{k}: {slope} {}", force[k]);
        }
    }
}

#[test]
fn files_keep_every_bit_and_steps_keep_the_first_law() {
    for (name, problem, axis) in cases() {
        let m = placed(&problem, axis).model;
        let copy = BlendedModel::from_bytes(&m.to_bytes()).unwrap();
        assert!(copy.data() == m.data(), "{name}: another blend is read");
        let stepper = BlendedStepper::new(Arc::new(copy), 1e-3).unwrap();
        // From a place beyond the guard, at rest.
        let mut state = BlendedState::new(&m, &places(&m)[5]).unwrap();
        let mut work = BlendedWorkspace::new(&m);
        let energy = |s: &BlendedState| m.potential_energy(s.coordinates()) + m.kinetic_energy(s);
        let (mut last, first) = (energy(&state), energy(&state));
        let mut left = 0;
        for _ in 0..2000 {
            let status = stepper.step(&mut state, &mut work, &[]);
            assert_ne!(status, StepStatus::NotFinite, "{name}");
            left += usize::from(status != StepStatus::Completed);
            let now = energy(&state);
            assert!(now <= last + 1e-12 * first.abs(), "{name}: {now} after {last}");
            last = now;
        }
        assert!(left > 0, "{name}: it began out of range");
    }
}

#[test]
fn links_that_are_shown_are_those_of_the_joints() {
    let (_, problem, axis) = cases().swap_remove(0);
    let m = placed(&problem, axis).model;
    let x = &places(&m)[1];
    let state = BlendedState::new(&m, x).unwrap();
    let mut work = BlendedWorkspace::new(&m);
    let mut all = vec![Pose::IDENTITY; m.data().samples[0].model.data().links.len()];
    let blend = LinkBlend::Average;
    m.link_poses_into(&state, &mut work, Reconstruction::JointSpace, blend, &mut all);
    let mut buffer = m.pose_buffer();
    m.poses(&state, &mut work, blend, &mut buffer);
    assert!(buffer.len() > 5);
    for (l, pose) in buffer.iter() {
        assert_eq!(pose, all[l]);
    }
    // And effectors are found again from their poses.
    let pose = m.effector_pose(0, x);
    let (found, _, lost) = m.coordinates_of(&[pose], &[Twist::ZERO]).unwrap();
    let off = m.effector_pose(0, &found).twist_to(&pose).norm();
    assert!(lost < 1e-9 && off < 1e-9, "{lost} {off}");
}

#[test]
fn several_samples_are_refused() {
    let (_, problem, axis) = cases().swap_remove(1);
    let mut data = placed(&problem, axis).model.data().clone();
    data.samples.push(data.samples[0].clone());
    data.chart.push(data.chart[0].clone());
    let refused = BlendedModel::new(data);
    assert!(matches!(refused, Err(ModelError::WrongSize { .. })), "{refused:?}");
}
