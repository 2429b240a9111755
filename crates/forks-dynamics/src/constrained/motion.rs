//! Motion of all links of the tree at given positions and velocities: one outward pass.

use std::ops::Range;

use forks_mechanism::{
    Joint, JointColumns, JointKind, Mechanism,
    kinematics::tree_joint_motion,
    lie::{Adjoint, Pose, Twist, Wrench},
};

/// A tree joint at one configuration, directed away from the ground.
#[derive(Clone, Debug)]
pub(crate) struct MovingJoint {
    pub(crate) inner: usize,
    pub(crate) outer: usize,
    pub(crate) velocities: Range<usize>,
    pub(crate) inner_from_outer: Adjoint,
    /// θ̇ to the outer link's body twist relative to the inner link, in the outer frame.
    pub(crate) columns: JointColumns,
}

/// Poses, velocities and bias accelerations of all links.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeMotion {
    /// Tree joints, inner ones first.
    pub(crate) joints: Vec<MovingJoint>,
    pub(crate) world_from_link: Vec<Pose>,
    /// Body twists.
    pub(crate) twists: Vec<Twist>,
    /// φ̇ of every link for zero joint accelerations, gravity left out.
    pub(crate) bias_accelerations: Vec<Twist>,
}

impl TreeMotion {
    /// Recomputes everything at `q`, `v` (both at least as long as the tree coordinates).
    pub(crate) fn update(&mut self, m: &Mechanism, q: &[f64], v: &[f64]) {
        let n = m.links().len();
        self.joints.clear();
        self.world_from_link.resize(n, Pose::IDENTITY);
        self.twists.resize(n, Twist::ZERO);
        self.bias_accelerations.resize(n, Twist::ZERO);
        for e in m.forest().edges() {
            let (inner, outer) = (e.inner.index(), e.outer.index());
            let velocities = m.velocity_range(e.joint);
            let motion = tree_joint_motion(m, e, q);
            let rates = &v[velocities.clone()];
            let inner_from_outer = motion.inner_from_outer.adjoint();
            let relative = motion.columns.combine(rates);
            let twist = inner_from_outer.apply_inverse(self.twists[inner]) + relative;
            let joint = m.joint(e.joint);
            let own = column_bias(joint, &q[m.position_range(e.joint)], rates);
            // A reversed joint carries its columns in the parent's frame: −Ad(parent_from_child).
            let own = if e.reversed { -inner_from_outer.apply_inverse(own) } else { own };
            // What φ̇ has beyond Ad⁻¹φ̇ of the inner link and Jθ̈: ad_φ Jθ̇ + J̇θ̇ ([K08] Table 3).
            let bias = twist.ad(relative) + own;
            self.world_from_link[outer] =
                (self.world_from_link[inner] * motion.inner_from_outer).normalized();
            self.twists[outer] = twist;
            self.bias_accelerations[outer] =
                inner_from_outer.apply_inverse(self.bias_accelerations[inner]) + bias;
            let columns = motion.columns;
            self.joints.push(MovingJoint { inner, outer, velocities, inner_from_outer, columns });
        }
    }
}

/// J̇θ̇ in the child's frame: the second derivative of the joint's motion along a straight line in
/// its coordinates. Zero for joints whose columns are constant in the child.
pub(crate) fn column_bias(joint: &Joint, q: &[f64], rates: &[f64]) -> Twist {
    let varies = match &joint.kind {
        JointKind::Universal { .. } => true,
        JointKind::General { subspace } => subspace.len() > 1,
        _ => false,
    };
    if !varies || rates.iter().all(|&x| x == 0.0) {
        return Twist::ZERO;
    }
    Twist::from_array(core::array::from_fn(|k| {
        joint.curvature(q, Wrench::unit(k)).map_or(0.0, |b| {
            (0..rates.len())
                .flat_map(|i| (0..rates.len()).map(move |j| (i, j)))
                .map(|(i, j)| b.get(i, j) * rates[i] * rates[j])
                .sum()
        })
    }))
}
