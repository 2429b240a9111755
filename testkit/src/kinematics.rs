//! Kinematics by matrices; derivatives by dual numbers.

use forks_mechanism::{
    Bushing, Cable, CableNode, Combination, Joint, JointId, JointKind, LinkId, Mechanism,
};

use crate::{
    Matrix,
    rigid::{Rigid, rotation_of_quaternion},
    scalar::{Dual, Scalar},
};

fn twist_of<T: Scalar>(linear: [f64; 3], angular: [f64; 3], s: T) -> [T; 6] {
    let [a, b, c] = linear;
    let [d, e, f] = angular;
    [a, b, c, d, e, f].map(|x| s.scale(x))
}

fn about<T: Scalar>(axis: [f64; 3], angle: T) -> Rigid<T> {
    Rigid::exp(&twist_of([0.0; 3], axis, angle))
}

fn along<T: Scalar>(axis: [f64; 3], distance: T) -> Rigid<T> {
    let mut m = Rigid::identity();
    m.b = axis.map(|x| distance.scale(x));
    m
}

const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// The motion at positions without displacement, for joints whose velocities are body twists.
fn group_motion(kind: &JointKind, q: &[f64]) -> Rigid<f64> {
    match kind {
        JointKind::Spherical => {
            Rigid { a: rotation_of_quaternion([q[0], q[1], q[2], q[3]]), b: [0.0; 3] }
        }
        JointKind::Planar => along([q[0], q[1], 0.0], 1.0).times(&about(Z, q[2])),
        JointKind::Free => {
            Rigid { a: rotation_of_quaternion([q[3], q[4], q[5], q[6]]), b: [q[0], q[1], q[2]] }
        }
        _ => unreachable!("not a joint with body twists"),
    }
}

/// The body twist that the local coordinates of a spherical, planar or free joint stand for.
fn group_twist<T: Scalar>(kind: &JointKind, d: &[T]) -> [T; 6] {
    let o = T::constant(0.0);
    match kind {
        JointKind::Spherical => [o, o, o, d[0], d[1], d[2]],
        JointKind::Planar => [d[0], d[1], o, o, o, d[2]],
        JointKind::Free => [d[0], d[1], d[2], d[3], d[4], d[5]],
        _ => unreachable!("not a joint with body twists"),
    }
}

fn is_group(kind: &JointKind) -> bool {
    matches!(kind, JointKind::Spherical | JointKind::Planar | JointKind::Free)
}

/// Motion of the child-side joint frame relative to the parent-side one at q ⊞ δ.
pub fn joint_motion<T: Scalar>(j: &Joint, q: &[f64], delta: &[T]) -> Rigid<T> {
    if is_group(&j.kind) {
        let moved = Rigid::exp(&group_twist(&j.kind, delta));
        return Rigid::of(&group_motion(&j.kind, q)).times(&moved);
    }
    let x = |i: usize| T::constant(q[i] - j.reference[i]) + delta[i];
    match &j.kind {
        JointKind::Fixed => Rigid::identity(),
        JointKind::Revolute { axis } => about(axis.to_array(), x(0)),
        JointKind::Prismatic { axis } => along(axis.to_array(), x(0)),
        JointKind::Cylindrical { axis } => {
            along(axis.to_array(), x(0)).times(&about(axis.to_array(), x(1)))
        }
        JointKind::Universal { first, second } => {
            about(first.to_array(), x(0)).times(&about(second.to_array(), x(1)))
        }
        JointKind::General { subspace } => {
            let mut t = [T::constant(0.0); 6];
            for (i, s) in subspace.iter().enumerate() {
                let column = twist_of(s.linear.to_array(), s.angular.to_array(), x(i));
                for k in 0..6 {
                    t[k] = t[k] + column[k];
                }
            }
            Rigid::exp(&t)
        }
        _ => unreachable!("handled above"),
    }
}

/// Pose of a joint's child in its parent at q ⊞ δ (`q` and `delta` of this joint alone).
pub fn parent_from_child<T: Scalar>(j: &Joint, q: &[f64], delta: &[T]) -> Rigid<T> {
    let before = Rigid::of(&Rigid::from_pose(&j.parent_from_joint));
    let after = Rigid::of(&Rigid::from_pose(&j.child_from_joint).inverse());
    before.times(&joint_motion(j, q, delta)).times(&after)
}

/// World poses of all links at q ⊞ δ, the ground first.
pub fn link_poses<T: Scalar>(m: &Mechanism, q: &[f64], delta: &[T]) -> Vec<Rigid<T>> {
    let mut poses = vec![Rigid::identity(); m.links().len()];
    for e in m.forest().edges() {
        let step = parent_from_child(
            m.joint(e.joint),
            &q[m.position_range(e.joint)],
            &delta[m.velocity_range(e.joint)],
        );
        let step = if e.reversed { step.inverse() } else { step };
        poses[e.outer.index()] = poses[e.inner.index()].times(&step);
    }
    poses
}

/// The gap of a closing joint: log of where the child is, seen from where the joint puts it.
pub fn closure_gap<T: Scalar>(
    m: &Mechanism,
    id: JointId,
    q: &[f64],
    delta: &[T],
    poses: &[Rigid<T>],
) -> [T; 6] {
    let j = m.joint(id);
    let step = parent_from_child(j, &q[m.position_range(id)], &delta[m.velocity_range(id)]);
    let expected = poses[j.parent.index()].times(&step);
    expected.inverse().times(&poses[j.child.index()]).log()
}

/// Value of a linear combination of coordinates at q ⊞ δ.
pub fn combination<T: Scalar>(m: &Mechanism, c: &Combination, q: &[f64], delta: &[T]) -> T {
    let mut sum = T::constant(c.offset);
    for (coordinate, a) in &c.terms {
        let x = T::constant(q[m.position_index(*coordinate)]);
        sum = sum + (x + delta[m.velocity_index(*coordinate)]).scale(*a);
    }
    sum
}

/// Residuals of all loop equations: six per closing joint in joint order, then one per coupling.
pub fn constraints<T: Scalar>(m: &Mechanism, q: &[f64], delta: &[T], poses: &[Rigid<T>]) -> Vec<T> {
    let mut out = Vec::new();
    for &id in m.forest().closures() {
        out.extend(closure_gap(m, id, q, delta, poses));
    }
    for c in m.couplings() {
        let mut sum = T::constant(0.0);
        for t in &c.terms {
            let l = combination(m, &t.combination, q, delta);
            let horner = |p: T, c: &f64| p * l + T::constant(*c);
            sum = sum + t.polynomial.iter().rev().fold(T::constant(0.0), horner);
        }
        out.push(sum);
    }
    out
}

/// Displacement of a joint from spring rest positions `rest`, d numbers.
pub fn joint_displacement<T: Scalar>(j: &Joint, rest: &[f64], q: &[f64], delta: &[T]) -> Vec<T> {
    if !is_group(&j.kind) {
        return (0..j.dof()).map(|i| T::constant(q[i] - rest[i]) + delta[i]).collect();
    }
    let back = Rigid::of(&group_motion(&j.kind, rest).inverse());
    let t = back.times(&joint_motion(j, q, delta)).log();
    match j.kind {
        JointKind::Spherical => t[3..].to_vec(),
        JointKind::Planar => vec![t[0], t[1], t[5]],
        _ => t.to_vec(),
    }
}

/// Displacement of a bushing, six numbers.
pub fn bushing_displacement<T: Scalar>(b: &Bushing, poses: &[Rigid<T>]) -> [T; 6] {
    let frame = |link: LinkId, p| poses[link.index()].times(&Rigid::of(&Rigid::from_pose(p)));
    let (a, b) = (frame(b.link_a, &b.a_from_bushing), frame(b.link_b, &b.b_from_bushing));
    a.inverse().times(&b).log()
}

/// √x by Newton's method from the root of the real part, which makes both derivatives exact.
fn root<T: Scalar>(x: T) -> T {
    let mut y = T::constant(x.real().sqrt());
    for _ in 0..2 {
        y = (y + x * y.reciprocal()).scale(0.5);
    }
    y
}

/// Length of a cable that runs straight from point to point.
///
/// # Panics
/// If it wraps something.
pub fn cable_length<T: Scalar>(c: &Cable, poses: &[Rigid<T>]) -> T {
    let mut sum = T::constant(0.0);
    for branch in &c.branches {
        let points = branch.nodes.iter().map(|n| match n {
            CableNode::Point(p) => poses[p.link.index()].point(&p.position.to_array()),
            CableNode::Obstacle(_) => panic!("the rival knows straight cables only"),
        });
        let points: Vec<[T; 3]> = points.collect();
        for w in points.windows(2) {
            let square = (0..3).fold(T::constant(0.0), |s, k| {
                let d = w[1][k] - w[0][k];
                s + d * d
            });
            sum = sum + root(square).scale(1.0 / branch.divisor);
        }
    }
    sum
}

/// Everything of first order at a configuration.
#[derive(Clone, Debug)]
pub struct FirstOrder {
    /// World poses of all links.
    pub poses: Vec<Rigid<f64>>,
    /// Body Jacobians of all links, 6×nv; the ground's is zero.
    pub links: Vec<Matrix>,
    /// Residuals of the loop equations.
    pub residual: Vec<f64>,
    /// Their Jacobian, rows×nv.
    pub constraints: Matrix,
    /// Jacobians of the bushings' displacements, 6×nv.
    pub bushings: Vec<Matrix>,
    /// Slopes of the cables' lengths, nv each.
    pub cables: Vec<Vec<f64>>,
}

/// Poses, loop residuals and all Jacobians at `q`, one dual direction per coordinate.
pub fn first_order(m: &Mechanism, q: &[f64]) -> FirstOrder {
    let nv = m.velocity_count();
    let still = vec![0.0; nv];
    let poses = link_poses(m, q, &still);
    let residual = constraints(m, q, &still, &poses);
    let mut out = FirstOrder {
        links: vec![Matrix::zeros(6, nv); poses.len()],
        constraints: Matrix::zeros(residual.len(), nv),
        bushings: vec![Matrix::zeros(6, nv); m.bushings().len()],
        cables: vec![vec![0.0; nv]; m.cables().len()],
        poses,
        residual,
    };
    for k in 0..nv {
        let mut delta = vec![Dual::constant(0.0); nv];
        delta[k].eps = 1.0;
        let moved = link_poses(m, q, &delta);
        for (l, p) in moved.iter().enumerate() {
            let t = body_twist(p);
            (0..6).for_each(|i| out.links[l][(i, k)] = t[i]);
        }
        for (i, g) in constraints(m, q, &delta, &moved).iter().enumerate() {
            out.constraints[(i, k)] = g.eps;
        }
        for (b, bushing) in m.bushings().iter().enumerate() {
            let d = bushing_displacement(bushing, &moved);
            (0..6).for_each(|i| out.bushings[b][(i, k)] = d[i].eps);
        }
        for (row, c) in out.cables.iter_mut().zip(m.cables()) {
            row[k] = cable_length(c, &moved).eps;
        }
    }
    out
}

/// The body twist of a moving pose: H⁻¹ dH.
pub(crate) fn body_twist(p: &Rigid<Dual>) -> [f64; 6] {
    let still = Rigid { a: p.a.map(|r| r.map(|x| x.real)), b: p.b.map(|x| x.real) };
    let moved = Rigid::of(&still).inverse().times(p);
    moved.vee().map(|x| x.eps)
}

/// Size r of the mechanism: largest distance of link frames, joint anchors and centres of mass from
/// the mean of the link frames; 1 if that is 0. Only links that are not one with the ground, if
/// there are any.
pub fn size(m: &Mechanism, poses: &[Rigid<f64>]) -> f64 {
    let mut still = vec![false; poses.len()];
    still[0] = true;
    // As many rounds as links at most: in each the ground grows by one link.
    for _ in 1..poses.len() {
        for (i, j) in m.joints().iter().enumerate() {
            let moves = match j.dof() {
                0 => j.held,
                1 => !m.couplings().iter().any(|c| {
                    let mut terms = c.terms.iter().flat_map(|t| &t.combination.terms).peekable();
                    terms.peek().is_some() && terms.all(|(c, _)| c.joint.index() == i)
                }),
                _ => true,
            };
            if !moves && still[j.parent.index()] != still[j.child.index()] {
                still[j.parent.index()] = true;
                still[j.child.index()] = true;
            }
        }
    }
    let real: Vec<usize> = (1..poses.len()).filter(|&l| !m.links()[l].auxiliary).collect();
    if real.iter().any(|&l| !still[l]) {
        return size_of(
            m,
            poses,
            &real.into_iter().filter(|&l| !still[l]).collect::<Vec<_>>(),
            &still,
        );
    }
    size_of(m, poses, &real, &vec![false; poses.len()])
}

/// Links `real`, and joints that do not join links that stand `still`.
fn size_of(m: &Mechanism, poses: &[Rigid<f64>], real: &[usize], still: &[bool]) -> f64 {
    if real.is_empty() {
        return 1.0;
    }
    let n = real.len() as f64;
    let mean: [f64; 3] =
        std::array::from_fn(|i| real.iter().map(|&l| poses[l].b[i]).sum::<f64>() / n);
    let mut points: Vec<[f64; 3]> = Vec::new();
    for &l in real {
        points.push(poses[l].b);
        if m.links()[l].inertia.mass > 0.0 {
            points.push(poses[l].point(&m.links()[l].inertia.center_of_mass.to_array()));
        }
    }
    let stands = |j: &Joint| still[j.parent.index()] && still[j.child.index()];
    for j in m.joints().iter().filter(|j| !j.implicit && !stands(j)) {
        points.push(poses[j.child.index()].point(&j.child_from_joint.translation.to_array()));
    }
    let distance = |p: &[f64; 3]| (0..3).map(|i| (p[i] - mean[i]).powi(2)).sum::<f64>().sqrt();
    let r = points.iter().map(distance).fold(0.0, f64::max);
    if r > 0.0 { r } else { 1.0 }
}

/// Positions of one joint at q ⊞ δ; quaternions stay of unit length.
pub fn displace_joint(j: &Joint, q: &[f64], delta: &[f64]) -> Vec<f64> {
    if !is_group(&j.kind) {
        return q.iter().zip(delta).map(|(x, d)| x + d).collect();
    }
    let p = joint_motion(j, q, delta).to_pose();
    let wxyz = [p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z];
    let x = p.translation.to_array();
    match j.kind {
        JointKind::Spherical => wxyz.to_vec(),
        JointKind::Planar => vec![x[0], x[1], q[2] + delta[2]],
        _ => [x.as_slice(), wxyz.as_slice()].concat(),
    }
}

/// Positions of all joints at q ⊞ δ, in the mechanism's layout.
pub fn displace(m: &Mechanism, q: &[f64], delta: &[f64]) -> Vec<f64> {
    let mut out = q.to_vec();
    for (i, j) in m.joints().iter().enumerate() {
        let (r, id) = (m.position_range(JointId::new(i)), JointId::new(i));
        let new = displace_joint(j, &q[r.clone()], &delta[m.velocity_range(id)]);
        out[r].copy_from_slice(&new);
    }
    out
}
