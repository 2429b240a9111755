//! A loop-closing joint seen from the tree: what it forbids and what it lets move.
//!
//! With ρ = φ_c − Ad φ_p the twist of the child relative to the parent (child's frame), a closed
//! loop moves with ρ = J θ̇. The rows wᵀρ = 0, w spanning the wrenches that do no work on J, are
//! the constraints, and the dual wrenches j* (j*ᵀJ = 1) give the joint's own velocities θ̇ = j*ᵀρ:
//! these are eliminated. At the acceleration level ρ̇ = φ̇_c − Ad φ̇_p + ad_ρ Ad φ_p and wᵀ(ρ̇ −
//! J̇θ̇) = 0, θ̈ = j*ᵀ(ρ̇ − J̇θ̇).

use forks_mechanism::{
    Joint, JointId, Mechanism,
    lie::{Twist, Wrench},
    linalg::dot,
};

use super::motion::{TreeMotion, column_bias};

/// Entries of a row below this part of the column they come from are rounding, and are set to 0.
const NOISE: f64 = 1e-13;
/// A released direction with less than this part outward of the joint's own is no new one.
const DEPENDENT: f64 = 1e-6;

/// One closing joint at a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub(crate) joint: JointId,
    /// Wrenches on the child, in its frame, that span what the joint can transmit; lengths over r.
    pub(crate) forbidden: Vec<Wrench>,
    /// Dual wrenches of the joint's own coordinates.
    pub(crate) own: Vec<Wrench>,
    /// Velocity coordinates that move ρ, with their twists in the child's frame.
    pub(crate) movers: Vec<(usize, Twist)>,
    /// ρ̇ − J̇θ̇ for zero tree accelerations.
    pub(crate) bias: Twist,
    /// The gap log(E) in the child's frame.
    pub(crate) gap: Twist,
}

impl Closing {
    /// `positions` and `velocities` of the whole mechanism; the joint's own entries are set here.
    pub(crate) fn new(
        m: &Mechanism,
        joint: JointId,
        motion: &TreeMotion,
        size: f64,
        positions: &mut [f64],
        velocities: &mut [f64],
    ) -> Self {
        let j = m.joint(joint);
        let (p, c) = (j.parent.index(), j.child.index());
        let poses = &motion.world_from_link;
        let parent_from_child = poses[p].inverse() * poses[c];
        let range = m.position_range(joint);
        let near = positions[range.clone()].to_vec();
        positions[range.clone()].copy_from_slice(&closest(j, &parent_from_child, &near));
        let q = &positions[range];
        let (own, forbidden) = wrench_bases(j, q, size);
        let child_from_parent = parent_from_child.inverse().adjoint();
        let carried = child_from_parent.apply(motion.twists[p]);
        let rho = motion.twists[c] - carried;
        let rates: Vec<f64> = own.iter().map(|w| rho.dot(*w)).collect();
        velocities[m.velocity_range(joint)].copy_from_slice(&rates);
        let bias = motion.bias_accelerations[c]
            - child_from_parent.apply(motion.bias_accelerations[p])
            + rho.ad(carried)
            - column_bias(j, q, &rates);
        let gap = j.parent_from_child(q).twist_to(&parent_from_child);
        let movers = movers(m, joint, motion);
        Self { joint, forbidden, own, movers, bias, gap }
    }

    /// A row wᵀρ over the tree velocities, rounding removed.
    pub(crate) fn write_row(&self, w: Wrench, size: f64, row: &mut [f64]) {
        let w_size = scaled_wrench(w, size);
        for (k, t) in &self.movers {
            let x = t.dot(w);
            let column = t.scale_linear(1.0 / size).norm();
            row[*k] = if x.abs() <= NOISE * column * w_size { 0.0 } else { x };
        }
    }
}

/// Closest coordinates; whole turns are chosen so that they are nearest to where they were.
fn closest(j: &Joint, parent_from_child: &forks_mechanism::lie::Pose, near: &[f64]) -> Vec<f64> {
    use forks_mechanism::JointKind::{Cylindrical, Planar, Revolute};
    let mut q = j.closest_positions(parent_from_child);
    let angle = match j.kind {
        Revolute { .. } => Some(0),
        Cylindrical { .. } => Some(1),
        Planar => Some(2),
        _ => None,
    };
    if let Some(i) = angle {
        q[i] = nearest_turn(q[i], near[i]);
    }
    q
}

/// An angle with as many whole turns as bring it nearest to another.
pub(crate) fn nearest_turn(angle: f64, near: f64) -> f64 {
    let turn = 2.0 * core::f64::consts::PI;
    angle + turn * ((near - angle) / turn).round()
}

/// Norm of a wrench with torques in units of force times size.
fn scaled_wrench(w: Wrench, size: f64) -> f64 {
    (w.force.length_squared() * size * size + w.torque.length_squared()).sqrt()
}

/// (dual wrenches of the joint's columns, basis of the wrenches that do no work on them and on
/// released directions), on the child in its frame. Lengths are measured in `size` at the joint's
/// frame, where the columns are plain axes.
pub(crate) fn wrench_bases(j: &Joint, q: &[f64], size: f64) -> (Vec<Wrench>, Vec<Wrench>) {
    let to_joint = j.child_from_joint.adjoint();
    let columns = j.columns(q).map(|c| to_joint.apply_inverse(c).scale_linear(1.0 / size));
    let columns: Vec<[f64; 6]> = columns.as_slice().iter().map(|c| c.to_array()).collect();
    let d = columns.len();
    // Orthonormal directions: those of the columns first, then released ones, then unit directions,
    // the freest one first.
    let mut directions: Vec<[f64; 6]> = Vec::with_capacity(6);
    for c in &columns {
        directions.push(normalized(&without(&without(c, &directions), &directions)).0);
    }
    for t in j.released.directions() {
        let t = t.scale_linear(j.released.size() / size).to_array();
        let (x, length) = normalized(&without(&without(&t, &directions), &directions));
        if length > DEPENDENT * normalized(&t).1 {
            directions.push(x);
        }
    }
    let free = directions.len();
    while directions.len() < 6 {
        let free = (0..6).map(|i| {
            let mut e = [0.0; 6];
            e[i] = 1.0;
            normalized(&without(&without(&e, &directions), &directions))
        });
        let best = free.reduce(|a, b| if b.1 > a.1 + 1e-9 { b } else { a }).expect("six of them");
        directions.push(best.0);
    }
    let as_wrench = |x: [f64; 6]| {
        let w = Wrench::from_array(x);
        to_joint.apply_to_wrench(Wrench::new(w.force / size, w.torque))
    };
    // J = Q R: the dual basis is Q R⁻ᵀ, column by column from the last one.
    let mut dual = vec![[0.0; 6]; d];
    for k in (0..d).rev() {
        let mut x = directions[k];
        for l in k + 1..d {
            let r = dot(&directions[k], &columns[l]);
            (0..6).for_each(|i| x[i] -= r * dual[l][i]);
        }
        let r = dot(&directions[k], &columns[k]);
        dual[k] = x.map(|x| x / r);
    }
    let own = dual.into_iter().map(as_wrench).collect();
    (own, directions[free..].iter().copied().map(as_wrench).collect())
}

fn without(x: &[f64; 6], directions: &[[f64; 6]]) -> [f64; 6] {
    let mut out = *x;
    for d in directions {
        let c = dot(d, &out);
        (0..6).for_each(|i| out[i] -= c * d[i]);
    }
    out
}

fn normalized(x: &[f64; 6]) -> ([f64; 6], f64) {
    let length = dot(x, x).sqrt();
    (x.map(|x| x / length), length)
}

/// Tree velocities that move the child against the parent; joints that carry both are not among
/// them.
fn movers(m: &Mechanism, joint: JointId, motion: &TreeMotion) -> Vec<(usize, Twist)> {
    let j = m.joint(joint);
    let poses = &motion.world_from_link;
    let child_from_world = poses[j.child.index()].inverse();
    let mut out = Vec::new();
    for (e, carries_child) in m.forest().path_between(j.parent, j.child) {
        let at = m.forest().edge_of_link(e.outer).expect("a tree joint carries its outer link");
        let moving = &motion.joints[at];
        let ad = (child_from_world * poses[moving.outer]).adjoint();
        for (c, k) in moving.columns.as_slice().iter().zip(moving.velocities.clone()) {
            let t = ad.apply(*c);
            out.push((k, if carries_child { t } else { -t }));
        }
    }
    out
}
