//! Joints of every kind: columns and curvature against differences, inverses of all maps.

use crate::common;

use common::{DERIVATIVE_ERROR, derivative, kinds, pose, positions};
use forks_mechanism::{
    Joint, JointKind, LinkId,
    lie::{Pose, SplitMix64, Twist, Wrench, glam::DVec3, so3::exp_rotation},
};

/// A joint of a kind between turned and displaced frames, scalar coordinates with a reference.
fn joint(r: &mut SplitMix64, kind: JointKind) -> Joint {
    let reference = vec![0.3; if kind.has_scalar_coordinates() { kind.dof() } else { 0 }];
    let j = Joint::new("j", kind, LinkId::new(1), LinkId::new(2))
        .at(pose(r, 1.0, 2.0))
        .child_at(pose(r, 1.0, 2.0));
    if reference.is_empty() { j } else { j.with_reference(reference) }
}

fn joints(seed: u64) -> Vec<(Joint, Vec<f64>)> {
    let mut r = SplitMix64::new(seed);
    let mut out = Vec::new();
    for _ in 0..5 {
        for kind in kinds(&mut r) {
            let q = positions(&mut r, &kind, 0.9);
            out.push((joint(&mut r, kind), q));
        }
    }
    out
}

fn moved(j: &Joint, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut q = q.to_vec();
    j.kind.integrate(&mut q, v);
    q
}

#[test]
fn columns_are_derivatives_of_the_pose() {
    for (j, q) in joints(1) {
        let at = j.parent_from_child(&q);
        let columns = j.columns(&q);
        assert_eq!(columns.as_slice().len(), j.dof());
        for (k, column) in columns.as_slice().iter().enumerate() {
            let expected = derivative(|h| {
                let mut v = vec![0.0; j.dof()];
                v[k] = h;
                at.twist_to(&j.parent_from_child(&moved(&j, &q, &v))).to_array()
            });
            for (a, b) in column.to_array().iter().zip(expected) {
                assert!((a - b).abs() < DERIVATIVE_ERROR, "{} {k}: {a} {b}", j.kind.name());
            }
        }
    }
}

/// Bᵢⱼ against the mixed second difference of w · log(…), step h = 1e-3: truncation h²·C with C
/// below 30 for these sizes, rounding 4ε/h² = 1e-9.
#[test]
fn curvature_is_the_second_derivative_of_the_displacement() {
    let w = Wrench::from_array([0.3, -0.7, 0.2, 0.5, 0.4, -0.6]);
    let h = 1e-3;
    for (j, q) in joints(2) {
        let at = j.parent_from_child(&q);
        let value = |i: usize, k: usize, a: f64, b: f64| {
            let mut v = vec![0.0; j.dof()];
            v[i] += a;
            v[k] += b;
            at.twist_to(&j.parent_from_child(&moved(&j, &q, &v))).dot(w)
        };
        let curvature = j.curvature(&q, w);
        for i in 0..j.dof() {
            for k in 0..j.dof() {
                let second = (value(i, k, h, h) - value(i, k, h, -h) - value(i, k, -h, h)
                    + value(i, k, -h, -h))
                    / (4.0 * h * h);
                let b = curvature.as_ref().map_or(0.0, |c| c.get(i, k));
                let bound = 30.0 * h * h + 1e-9;
                assert!((b - second).abs() < bound, "{} {i}{k}: {b} {second}", j.kind.name());
            }
        }
        let straight = !matches!(j.kind, JointKind::Universal { .. } | JointKind::General { .. });
        assert!(!straight || curvature.is_none());
    }
}

/// Rounding of a few products of poses with entries up to ten.
const ROUNDING: f64 = 200.0 * f64::EPSILON;

#[test]
fn closest_positions_invert_the_pose() {
    for (j, q) in joints(3) {
        let target = j.parent_from_child(&q);
        let found = j.closest_positions(&target);
        let gap = j.parent_from_child(&found).twist_to(&target).norm();
        // General joints can be poorly conditioned in their coordinates, hence the pose.
        assert!(gap < 10.0 * ROUNDING, "{}: {gap}", j.kind.name());
        if !matches!(j.kind, JointKind::General { .. }) {
            let d = j.kind.difference(&found, &q);
            // Two random axes can be 10 degrees apart: condition below 10.
            assert!(d.iter().all(|x| x.abs() < 10.0 * ROUNDING), "{}: {d:?}", j.kind.name());
        }
    }
}

#[test]
fn closest_positions_at_large_angles() {
    let mut r = SplitMix64::new(4);
    for _ in 0..200 {
        let kind = JointKind::Universal { first: r.direction(), second: r.direction() };
        let q = [r.range(-3.1, 3.1), r.range(-3.1, 3.1)];
        let target = kind.motion(&q);
        let gap = kind.motion(&kind.closest_positions(&target)).twist_to(&target).norm();
        assert!(gap < ROUNDING, "{gap}");
    }
    let hinge = JointKind::Revolute { axis: DVec3::Z };
    for angle in [-3.1, -1.0, 0.0, 2.0, core::f64::consts::PI] {
        let found = hinge.closest_positions(&hinge.motion(&[angle]));
        assert!((found[0] - angle).abs() < 4.0 * f64::EPSILON);
        // A turn too much is taken off.
        let wound = hinge.motion(&[angle + core::f64::consts::TAU]);
        assert!((hinge.closest_positions(&wound)[0] - angle).abs() < 16.0 * f64::EPSILON);
    }
}

/// Where the joint does not allow the motion, no neighbouring coordinates are closer: the twist
/// that is left is orthogonal to the columns.
#[test]
fn closest_positions_are_a_least_squares_fit() {
    let mut r = SplitMix64::new(5);
    for _ in 0..20 {
        for kind in kinds(&mut r) {
            if !matches!(kind, JointKind::Universal { .. } | JointKind::General { .. }) {
                continue;
            }
            let q = positions(&mut r, &kind, 0.5);
            let target = kind.motion(&q).displaced(common::twist(&mut r) * 0.05);
            let found = kind.closest_positions(&target);
            let left = kind.motion(&found).twist_to(&target).to_array();
            for c in kind.columns(&found).as_slice() {
                let along: f64 = c.to_array().iter().zip(left).map(|(a, b)| a * b).sum();
                // Gauss–Newton converges linearly here (ratio of the size of the gap).
                assert!(along.abs() < 1e-13, "{}: {along}", kind.name());
            }
        }
    }
}

#[test]
fn integrate_and_difference_are_inverse() {
    let mut r = SplitMix64::new(6);
    for (j, q) in joints(7) {
        let v: Vec<f64> = (0..j.dof()).map(|_| r.range(-0.8, 0.8)).collect();
        let there = moved(&j, &q, &v);
        let back = j.kind.difference(&q, &there);
        for (a, b) in back.iter().zip(&v) {
            assert!((a - b).abs() < ROUNDING, "{}: {back:?} {v:?}", j.kind.name());
        }
        assert!(j.kind.difference(&q, &q).iter().all(|x| x.abs() < ROUNDING));
    }
}

/// Group joints move by exp of their columns, exactly.
#[test]
fn group_joints_integrate_along_one_parameter_groups() {
    for (j, q) in joints(8) {
        if j.kind.has_scalar_coordinates() {
            continue;
        }
        let v: Vec<f64> = (0..j.dof()).map(|i| 0.4 - 0.2 * i as f64).collect();
        let step: Twist = j.columns(&q).combine(&v);
        let expected = j.parent_from_child(&q).displaced(step);
        let gap = j.parent_from_child(&moved(&j, &q, &v)).twist_to(&expected).norm();
        assert!(gap < ROUNDING, "{}: {gap}", j.kind.name());
    }
}

/// Motions written out by hand.
#[test]
fn motions() {
    let x = DVec3::X;
    let near = |a: Pose, b: Pose| assert!(a.twist_to(&b).norm() < 16.0 * f64::EPSILON);
    near(JointKind::Fixed.motion(&[]), Pose::IDENTITY);
    let turn = Pose::from_rotation(exp_rotation(DVec3::Z * 0.3));
    near(JointKind::Revolute { axis: DVec3::Z }.motion(&[0.3]), turn);
    near(JointKind::Prismatic { axis: x }.motion(&[0.3]), Pose::from_translation(x * 0.3));
    let screw = Pose::new(exp_rotation(x * 0.5), x * 0.2);
    near(JointKind::Cylindrical { axis: x }.motion(&[0.2, 0.5]), screw);
    let universal = JointKind::Universal { first: x, second: DVec3::Y };
    let two = exp_rotation(x * 0.1) * exp_rotation(DVec3::Y * 0.2);
    near(universal.motion(&[0.1, 0.2]), Pose::from_rotation(two));
    let planar = Pose::new(exp_rotation(DVec3::Z * 0.3), DVec3::new(0.1, 0.2, 0.0));
    near(JointKind::Planar.motion(&[0.1, 0.2, 0.3]), planar);
    let general = JointKind::General { subspace: vec![Twist::new(DVec3::Y, DVec3::Z)] };
    near(general.motion(&[0.7]), Pose::exp(Twist::new(DVec3::Y * 0.7, DVec3::Z * 0.7)));
}
