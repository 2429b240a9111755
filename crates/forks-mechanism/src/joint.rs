//! Joints: an allowed motion between two links, with its spring, damping and limits.

use forks_lie::{Pose, Twist, Wrench};

use crate::{
    JointColumns, JointKind, JointSpring, LinkId, released::ReleasedDirections, spring::JointMatrix,
};

/// Range of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Least value.
    pub lower: f64,
    /// Greatest value.
    pub upper: f64,
}

/// A joint between a parent link and a child link; either may be the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name; empty where the user gave none.
    pub name: String,
    /// Allowed motion.
    pub kind: JointKind,
    /// Parent link.
    pub parent: LinkId,
    /// Child link.
    pub child: LinkId,
    /// Joint frame in the parent.
    pub parent_from_joint: Pose,
    /// Joint frame in the child; the two coincide at the zero pose.
    pub child_from_joint: Pose,
    /// Value of scalar coordinates at the zero pose (MJCF `ref`); motion = kind.motion(q −
    /// reference).
    pub reference: Vec<f64>,
    /// Positions of the start pose.
    pub start: Vec<f64>,
    /// Spring; `None` for a passive joint.
    pub spring: Option<JointSpring>,
    /// Damping matrix D ≥ 0: torque −D θ̇.
    pub damping: JointMatrix,
    /// Rotor inertia added to each coordinate's inertia.
    pub armature: Vec<f64>,
    /// Dry friction: the largest force against the motion of each velocity coordinate, N or N·m, at
    /// any speed and at rest. Data for worlds that ask for it; static equilibria and plain
    /// simulations leave it out.
    pub friction: Vec<f64>,
    /// Range of each coordinate, where limited.
    pub limits: Vec<Option<Limit>>,
    /// Nominal stiffness of the progressive springs beyond the limits
    /// ([`Mechanism::with_limit_springs`]); 0: limits are data only. Adaptive quasi-statics do not
    /// know them.
    ///
    /// [`Mechanism::with_limit_springs`]: crate::Mechanism::with_limit_springs
    pub limit_stiffness: f64,
    /// True for what was added while building and is no joint in the user's sense: the weld of a
    /// body without joints, the free joint of a link that nothing holds.
    pub implicit: bool,
    /// True for a joint that would move and is only held for the time being
    /// ([`crate::Preparation`]): what it carries still counts in the mechanism's size.
    pub held: bool,
    /// Directions in which the joint does not hold where it closes a loop, because its equations
    /// repeat others there; see [`crate::redundancy::release_redundant`].
    pub released: ReleasedDirections,
}

impl Joint {
    /// A joint without spring, frames at both links' origins.
    pub fn new(name: impl Into<String>, kind: JointKind, parent: LinkId, child: LinkId) -> Self {
        let (n, d) = (kind.position_count(), kind.dof());
        Self {
            name: name.into(),
            start: kind.zero_positions(),
            reference: vec![0.0; if kind.has_scalar_coordinates() { n } else { 0 }],
            kind,
            parent,
            child,
            parent_from_joint: Pose::IDENTITY,
            child_from_joint: Pose::IDENTITY,
            spring: None,
            damping: JointMatrix::zeros(d),
            armature: vec![0.0; d],
            friction: vec![0.0; d],
            limits: vec![None; n],
            limit_stiffness: 0.0,
            implicit: false,
            held: false,
            released: ReleasedDirections::default(),
        }
    }

    /// With the joint frame at a pose in the parent.
    pub fn at(mut self, parent_from_joint: Pose) -> Self {
        self.parent_from_joint = parent_from_joint;
        self
    }

    /// With the joint frame at a pose in the child.
    pub fn child_at(mut self, child_from_joint: Pose) -> Self {
        self.child_from_joint = child_from_joint;
        self
    }

    /// With scalar coordinates that have the given values at the zero pose; the start pose is the
    /// zero pose.
    pub fn with_reference(mut self, reference: Vec<f64>) -> Self {
        self.start.clone_from(&reference);
        self.reference = reference;
        self
    }

    /// With a spring of equal stiffness in every coordinate, unstressed at the start pose.
    pub fn with_stiffness(self, k: f64) -> Self {
        let matrix = JointMatrix::isotropic(self.kind.dof(), k);
        self.with_spring(matrix)
    }

    /// With a spring that is unstressed at the start pose.
    pub fn with_spring(mut self, stiffness: JointMatrix) -> Self {
        self.spring = Some(JointSpring { stiffness, rest: self.start.clone() });
        self
    }

    /// With equal damping in every coordinate.
    pub fn with_damping(mut self, d: f64) -> Self {
        self.damping = JointMatrix::isotropic(self.kind.dof(), d);
        self
    }

    /// With equal dry friction in every coordinate.
    pub fn with_friction(mut self, most: f64) -> Self {
        self.friction = vec![most; self.kind.dof()];
        self
    }

    /// Number of velocity coordinates.
    pub fn dof(&self) -> usize {
        self.kind.dof()
    }

    /// q − reference.
    fn relative(&self, q: &[f64]) -> [f64; 7] {
        let mut out = [0.0; 7];
        for i in 0..q.len() {
            out[i] = q[i] - self.reference.get(i).copied().unwrap_or(0.0);
        }
        out
    }

    /// Pose of the child in the parent at positions `q`.
    pub fn parent_from_child(&self, q: &[f64]) -> Pose {
        self.parent_from_joint
            * self.kind.motion(&self.relative(q)[..q.len()])
            * self.child_from_joint.inverse()
    }

    /// Columns J(q): θ̇ to the child's body twist relative to the parent, in the child's frame.
    pub fn columns(&self, q: &[f64]) -> JointColumns {
        let ad = self.child_from_joint.adjoint();
        self.kind.columns(&self.relative(q)[..q.len()]).map(|c| ad.apply(c))
    }

    /// As [`JointKind::curvature`], for a wrench in the child's frame.
    pub fn curvature(&self, q: &[f64], w: Wrench) -> Option<JointMatrix> {
        let w = self.child_from_joint.adjoint().transpose_apply(w);
        self.kind.curvature(&self.relative(q)[..q.len()], w)
    }

    /// Positions whose pose is closest to `parent_from_child`; see
    /// [`JointKind::closest_positions`].
    pub fn closest_positions(&self, parent_from_child: &Pose) -> Vec<f64> {
        let motion = self.parent_from_joint.inverse() * *parent_from_child * self.child_from_joint;
        let mut q = self.kind.closest_positions(&motion);
        q.iter_mut().zip(&self.reference).for_each(|(q, r)| *q += r);
        q
    }
}

impl Joint {
    /// A twist of the child against the parent (child's frame) without its part along released
    /// directions.
    pub fn held_twist(&self, t: Twist) -> Twist {
        if self.released.is_empty() {
            return t;
        }
        let (ad, size) = (self.child_from_joint.adjoint(), self.released.size());
        let x = self.released.without(ad.apply_inverse(t).scale_linear(1.0 / size).to_array());
        ad.apply(Twist::from_array(x).scale_linear(size))
    }

    /// The transpose of [`Joint::held_twist`]: a wrench on the child (its frame) without its part
    /// that would do work along released directions.
    pub fn held_wrench(&self, w: Wrench) -> Wrench {
        if self.released.is_empty() {
            return w;
        }
        let (ad, size) = (self.child_from_joint.adjoint(), self.released.size());
        let w = ad.transpose_apply(w);
        let x = self.released.without(Wrench::new(w.force * size, w.torque).to_array());
        let w = Wrench::from_array(x);
        // Ad⁻ᵀ brings a wrench from the joint's frame to the child's.
        ad.apply_to_wrench(Wrench::new(w.force / size, w.torque))
    }

    /// A basis of the wrenches on the child (its frame) that do no work along released directions.
    pub fn held_wrenches(&self) -> Vec<Wrench> {
        let ad = self.child_from_joint.adjoint();
        let size = if self.released.is_empty() { 1.0 } else { self.released.size() };
        let wrench = |x: [f64; 6]| {
            let w = Wrench::from_array(x);
            ad.apply_to_wrench(Wrench::new(w.force / size, w.torque))
        };
        self.released.complement().into_iter().map(wrench).collect()
    }
}
