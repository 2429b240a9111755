//! What one joint allows, and how far a pose is from that.

use alloc::{vec, vec::Vec};

use forks_lie::{
    Pose, Twist,
    glam::{DQuat, DVec3},
    se3::right_jacobian,
};
use forks_linalg::{Matrix, OrthogonalRows};

use crate::data::{JointPath, JointRest};

/// parent_from_child = left · M(q) · joint_from_child, M the motion of the child-side joint frame.
pub(super) struct Motion {
    pub(super) left: Pose,
    pub(super) joint_from_child: Pose,
    /// In the joint's frame, in order of multiplication.
    columns: Vec<Twist>,
    form: Form,
    start: Vec<f64>,
}

/// A position of a joint.
pub(super) struct Place {
    q: Vec<f64>,
    /// M of a group.
    turned: Pose,
}

#[derive(PartialEq)]
enum Form {
    /// exp(Σ columns q), where the columns span rotations and translations that make a group.
    Group,
    /// exp(Σ columns q).
    Exponential,
    /// ∏ exp(column q).
    Product,
}

impl Motion {
    const ITERATIONS: usize = 50;
    const RANK_TOLERANCE: f64 = 1e-12;

    pub(super) fn new(j: &JointRest) -> Self {
        let rest = parent_from_child(j, &j.inner_from_outer);
        let joint_from_child = j.child_from_joint.inverse();
        // Columns move the outer link, in its frame; turned round the child is the inner one.
        let in_child = |c: Twist| match j.reversed {
            false => c,
            true => -j.inner_from_outer.adjoint().apply(c),
        };
        let in_joint = |c: &Twist| joint_from_child.adjoint().apply(in_child(*c));
        let left = rest * j.child_from_joint;
        let (columns, form): (Vec<Twist>, _) = match &j.path {
            JointPath::Exponential { columns } => {
                let columns: Vec<Twist> = columns.iter().map(in_joint).collect();
                let form = if is_group(&columns) { Form::Group } else { Form::Exponential };
                (columns, form)
            }
            JointPath::Product { factors } => {
                let mut columns: Vec<Twist> = factors.iter().map(|(_, c)| in_joint(c)).collect();
                if j.reversed {
                    columns.reverse();
                }
                (columns, Form::Product)
            }
            JointPath::Subspace { before, subspace, start, after, .. } => {
                return Self {
                    left: *before,
                    joint_from_child: *after,
                    columns: subspace.clone(),
                    form: Form::Exponential,
                    start: start.clone(),
                };
            }
        };
        let start = vec![0.0; columns.len()];
        Self { left, joint_from_child, columns, form, start }
    }

    /// True if products of the joint's motions are motions of it.
    pub(super) fn is_group(&self) -> bool {
        self.form == Form::Group
    }

    pub(super) fn dof(&self) -> usize {
        self.columns.len()
    }

    /// M(q) and what it moves by per unit of q̇, in the child-side frame.
    fn at(&self, q: &[f64]) -> (Pose, Vec<Twist>) {
        if self.form != Form::Product {
            let xi = self.columns.iter().zip(q).fold(Twist::ZERO, |sum, (c, q)| sum + *c * *q);
            let jacobian = right_jacobian(xi);
            let column = |c: &Twist| Twist::from_array(jacobian.mul_vec(&c.to_array()));
            return (Pose::exp(xi), self.columns.iter().map(column).collect());
        }
        let mut pose = Pose::IDENTITY;
        let mut columns: Vec<Twist> = Vec::with_capacity(q.len());
        for (c, q) in self.columns.iter().zip(q) {
            let step = Pose::exp(*c * *q);
            let back = step.inverse().adjoint();
            columns.iter_mut().for_each(|c| *c = back.apply(*c));
            columns.push(*c);
            pose = pose * step;
        }
        (pose, columns)
    }

    /// Where the iterations of a row of joints begin.
    pub(super) fn start(&self) -> Place {
        Place { q: self.start.clone(), turned: Pose::IDENTITY }
    }

    /// Moves a place by small changes of the coordinates: a group's motion goes on from where it
    /// is.
    pub(super) fn advance(&self, place: &mut Place, step: &[f64]) {
        if self.form == Form::Group {
            place.turned = (place.turned * self.at(step).0).normalized();
        } else {
            place.q.iter_mut().zip(step).for_each(|(q, s)| *q += s);
        }
    }

    /// M and its columns at a place.
    pub(super) fn at_place(&self, place: &Place) -> (Pose, Vec<Twist>) {
        match self.form {
            Form::Group => (place.turned, self.columns.clone()),
            _ => self.at(&place.q),
        }
    }

    /// Where the child has the joint's frame, seen from where the joint can put it at best.
    pub(super) fn gap(&self, parent_from_child: &Pose) -> Pose {
        let motion = self.left.inverse() * *parent_from_child * self.joint_from_child.inverse();
        let closest = match self.form {
            Form::Group => self.projected(&motion),
            _ => self.least_twist(&motion),
        };
        closest.inverse() * motion
    }

    /// Rotation and translation projected on the group's directions.
    fn projected(&self, motion: &Pose) -> Pose {
        let is_rotation = |c: &&Twist| is_rotation(c);
        let rotation = match self.columns.iter().filter(is_rotation).count() {
            0 => DQuat::IDENTITY,
            1 => {
                let axis = self.columns.iter().find(is_rotation).map_or(DVec3::Z, |c| c.angular);
                let q = motion.rotation;
                let sine = DVec3::new(q.x, q.y, q.z).dot(axis);
                if sine == 0.0 && q.w == 0.0 {
                    DQuat::IDENTITY
                } else {
                    let v = axis * sine;
                    DQuat::from_xyzw(v.x, v.y, v.z, q.w).normalize()
                }
            }
            _ => motion.rotation,
        };
        let along = |p: DVec3, c: &Twist| p + c.linear * c.linear.dot(motion.translation);
        let free = self.columns.iter().filter(|c| !is_rotation(c));
        Pose::new(rotation, free.fold(DVec3::ZERO, along))
    }

    /// The pose of the joint that leaves the smallest twist, by Gauss–Newton steps.
    fn least_twist(&self, motion: &Pose) -> Pose {
        let step = |columns: &[Twist], twist: Twist| {
            let a = Matrix::from_fn(6, columns.len(), |i, j| columns[j].to_array()[i]);
            let rows = OrthogonalRows::new(&a);
            rows.solve(&twist.to_array(), Self::RANK_TOLERANCE * rows.largest())
        };
        let mut q = step(&self.columns, motion.log());
        for _ in 0..Self::ITERATIONS {
            let (pose, columns) = self.at(&q);
            let mut settled = true;
            for (q, s) in q.iter_mut().zip(step(&columns, pose.twist_to(motion))) {
                *q += s;
                settled &= s.abs() <= 4.0 * f64::EPSILON * (1.0 + q.abs());
            }
            if settled {
                break;
            }
        }
        self.at(&q).0
    }
}

/// The pose of the child in the parent from that of the outer link in the inner one.
pub(super) fn parent_from_child(j: &JointRest, inner_from_outer: &Pose) -> Pose {
    if j.reversed { inner_from_outer.inverse() } else { *inner_from_outer }
}

fn is_rotation(c: &Twist) -> bool {
    c.angular.length_squared() > 0.5
}

/// True for unit rotations about the origin (one or three) and orthonormal translations that they
/// leave alone.
fn is_group(columns: &[Twist]) -> bool {
    const TOLERANCE: f64 = 1e-9;
    let (rotations, translations): (Vec<&Twist>, Vec<&Twist>) =
        columns.iter().partition(|c| is_rotation(c));
    let orthonormal = |v: &[DVec3]| {
        (0..v.len())
            .all(|i| (0..=i).all(|j| (v[i].dot(v[j]) - f64::from(i == j)).abs() < TOLERANCE))
    };
    let [axes, shifts] = [
        rotations.iter().map(|c| c.angular).collect::<Vec<_>>(),
        translations.iter().map(|c| c.linear).collect::<Vec<_>>(),
    ];
    let pure = rotations.iter().all(|c| c.linear.length() < TOLERANCE)
        && translations.iter().all(|c| c.angular.length() < TOLERANCE);
    let closed = match (axes.len(), shifts.len()) {
        (0, _) | (_, 0) | (_, 3) => true,
        (1, 1) => axes[0].cross(shifts[0]).length() < TOLERANCE,
        (1, 2) => shifts.iter().all(|s| axes[0].dot(*s).abs() < TOLERANCE),
        _ => false,
    };
    pure && closed && orthonormal(&axes) && orthonormal(&shifts) && axes.len() != 2
}
