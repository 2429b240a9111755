//! Kinematics in any precision: a joint's gap as a function of both links' motions and its
//! coordinates.

use forks_mechanism::{Joint, JointKind, Mechanism, lie::Pose, lie::Twist};

use super::Taylor;
use crate::{rigid::Rigid, scalar::Scalar};

/// The rotation of a quaternion (w, x, y, z) of any length but zero.
fn rotation<T: Scalar>(q: [f64; 4]) -> [[T; 3]; 3] {
    let [w, x, y, z] = q.map(T::constant);
    let s = T::constant(2.0) * (w * w + x * x + y * y + z * z).reciprocal();
    let one = T::constant(1.0);
    [
        [one - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), one - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), one - s * (x * x + y * y)],
    ]
}

/// A pose of the crates, its rotation made exact.
pub(super) fn rigid_of<T: Scalar>(p: &Pose) -> Rigid<T> {
    let r = p.rotation;
    Rigid { a: rotation([r.w, r.x, r.y, r.z]), b: p.translation.to_array().map(T::constant) }
}

/// exp of a twist by its series, after halving; accurate to the precision of `T`.
pub(super) fn exp<T: Scalar>(t: &[T; 6]) -> Rigid<T> {
    let largest = t[3..].iter().fold(0.0, |m: f64, x| m.max(x.real().abs()));
    let halvings = if largest > 0.125 { (8.0 * largest).log2().ceil() as i32 } else { 0 };
    let x = Rigid::hat(&t.map(|x| x.scale(0.5f64.powi(halvings))));
    // Horner: 1 + x (1 + x/2 (1 + x/3 (…))); (√3/8)²¹/21! is below 1e-33.
    let mut e = Rigid::identity();
    for k in (1..=20).rev() {
        let share = T::constant(f64::from(k)).reciprocal();
        let p = affine(&x, &e);
        let one = Rigid::<T>::identity();
        e = Rigid {
            a: std::array::from_fn(|i| std::array::from_fn(|j| one.a[i][j] + p.a[i][j] * share)),
            b: p.b.map(|x| x * share),
        };
    }
    (0..halvings).for_each(|_| e = e.times(&e));
    e
}

/// x e for a twist's matrix x (last row 0) and a motion e (last row 0, 0, 0, 1).
fn affine<T: Scalar>(x: &Rigid<T>, e: &Rigid<T>) -> Rigid<T> {
    let dot = |r: &[T; 3], c: [T; 3]| r[0] * c[0] + r[1] * c[1] + r[2] * c[2];
    let column = |j: usize| [e.a[0][j], e.a[1][j], e.a[2][j]];
    Rigid {
        a: x.a.map(|r| [dot(&r, column(0)), dot(&r, column(1)), dot(&r, column(2))]),
        b: std::array::from_fn(|i| dot(&x.a[i], e.b) + x.b[i]),
    }
}

fn scaled<T: Scalar>(t: &Twist, s: T) -> [T; 6] {
    t.to_array().map(|x| T::constant(x) * s)
}

fn sum<T: Scalar>(a: [T; 6], b: [T; 6]) -> [T; 6] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Motion of the child-side frame in the parent-side one at q ⊞ δ.
fn joint_motion<T: Scalar>(j: &Joint, q: &[f64], delta: &[T]) -> Rigid<T> {
    let o = T::constant(0.0);
    let x = |i: usize| {
        let r = j.reference.get(i).copied().unwrap_or(0.0);
        T::constant(q[i]) - T::constant(r) + delta[i]
    };
    let turn = |axis: [f64; 3], s: T| exp(&scaled(&Twist::new([0.0; 3].into(), axis.into()), s));
    let shift =
        |axis: [f64; 3], s: T| Rigid { b: axis.map(|x| T::constant(x) * s), ..Rigid::identity() };
    let d = delta;
    match &j.kind {
        JointKind::Fixed => Rigid::identity(),
        JointKind::Revolute { axis } => turn(axis.to_array(), x(0)),
        JointKind::Prismatic { axis } => shift(axis.to_array(), x(0)),
        JointKind::Cylindrical { axis } => {
            shift(axis.to_array(), x(0)).times(&turn(axis.to_array(), x(1)))
        }
        JointKind::Universal { first, second } => {
            turn(first.to_array(), x(0)).times(&turn(second.to_array(), x(1)))
        }
        JointKind::Spherical => {
            let at = Rigid { a: rotation([q[0], q[1], q[2], q[3]]), b: [o; 3] };
            at.times(&exp(&[o, o, o, d[0], d[1], d[2]]))
        }
        JointKind::Planar => {
            let at = shift([1.0, 0.0, 0.0], T::constant(q[0]))
                .times(&shift([0.0, 1.0, 0.0], T::constant(q[1])));
            let at = at.times(&turn([0.0, 0.0, 1.0], T::constant(q[2])));
            at.times(&exp(&[d[0], d[1], o, o, o, d[2]]))
        }
        JointKind::Free => {
            let b = [q[0], q[1], q[2]].map(T::constant);
            let at = Rigid { a: rotation([q[3], q[4], q[5], q[6]]), b };
            at.times(&exp(&[d[0], d[1], d[2], d[3], d[4], d[5]]))
        }
        JointKind::General { subspace } => {
            let start = [o; 6];
            exp(&subspace.iter().enumerate().fold(start, |t, (i, s)| sum(t, scaled(s, x(i)))))
        }
    }
}

/// Pose of a joint's child in its parent at q ⊞ δ.
pub(super) fn parent_from_child<T: Scalar>(j: &Joint, q: &[f64], delta: &[T]) -> Rigid<T> {
    let after = rigid_of::<T>(&j.child_from_joint).inverse();
    rigid_of::<T>(&j.parent_from_joint).times(&joint_motion(j, q, delta)).times(&after)
}

/// World poses of all links at q ⊞ δ along the tree joints, the ground first.
pub(super) fn link_poses<T: Scalar>(m: &Mechanism, q: &[f64], delta: &[T]) -> Vec<Rigid<T>> {
    let mut poses = vec![Rigid::identity(); m.links().len()];
    for e in m.forest().edges() {
        let (p, v) = (m.position_range(e.joint), m.velocity_range(e.joint));
        let step = parent_from_child(m.joint(e.joint), &q[p], &delta[v]);
        let step = if e.reversed { step.inverse() } else { step };
        poses[e.outer.index()] = poses[e.inner.index()].times(&step);
    }
    poses
}

/// How far the child is from where the joint puts it, `placed` in the parent, as a twist in the
/// child's frame; exact to second order in time where gap and gap rate are zero.
pub(super) fn gap<T: Scalar>(placed: &Rigid<T>, parent: &Rigid<T>, child: &Rigid<T>) -> [T; 6] {
    parent.times(placed).inverse().times(child).vee()
}

/// H exp(t φ) to second order: H (1 + t φ + t² φ²/2).
pub(super) fn moving<T: Scalar>(h: &Rigid<T>, twist: &[T; 6]) -> Rigid<Taylor<T>> {
    let x = Rigid::hat(twist);
    let linear = |m: &Rigid<T>| Rigid {
        a: std::array::from_fn(|i| std::array::from_fn(|j| row(&h.a[i], &m.a, j))),
        b: std::array::from_fn(|i| h.a[i][0] * m.b[0] + h.a[i][1] * m.b[1] + h.a[i][2] * m.b[2]),
    };
    let square = Rigid {
        a: std::array::from_fn(|i| std::array::from_fn(|j| row(&x.a[i], &x.a, j))),
        b: std::array::from_fn(|i| x.a[i][0] * x.b[0] + x.a[i][1] * x.b[1] + x.a[i][2] * x.b[2]),
    };
    let (first, second) = (linear(&x), linear(&square));
    let term = |a: T, b: T, c: T| Taylor { x: [a, b, c.scale(0.5)] };
    Rigid {
        a: std::array::from_fn(|i| {
            std::array::from_fn(|j| term(h.a[i][j], first.a[i][j], second.a[i][j]))
        }),
        b: std::array::from_fn(|i| term(h.b[i], first.b[i], second.b[i])),
    }
}

/// Entry j of a row times a 3×3 matrix.
fn row<T: Scalar>(r: &[T; 3], m: &[[T; 3]; 3], j: usize) -> T {
    r[0] * m[0][j] + r[1] * m[1][j] + r[2] * m[2][j]
}
