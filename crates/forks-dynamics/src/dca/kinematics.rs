//! Rotations and angular velocities of all links, world axes.
//!
//! What costs most, the joints' own motions and the matrices, is independent from link to link;
//! only a quaternion product and a sum per joint have to go from the ground outwards.

use forks_mechanism::{
    Joint, JointKind, Mechanism, TreeEdge,
    lie::{
        Pose, Twist,
        glam::{DMat3, DQuat, DVec3},
    },
};

use super::parallel::fill;

/// A tree joint's constants.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) inner: usize,
    pub(super) outer: usize,
    pub(super) reversed: bool,
    pub(super) joint: JointData,
}

/// A joint with the places of its coordinates.
#[derive(Clone, Debug)]
pub(super) struct JointData {
    pub(super) joint: Joint,
    pub(super) parent: usize,
    pub(super) child: usize,
    pub(super) q: usize,
    pub(super) q_len: usize,
    pub(super) v: usize,
    pub(super) dof: usize,
    /// Rotation of the child in the parent at the zero pose.
    zero_rotation: DQuat,
    child_from_joint: DMat3,
    parent_from_joint: DMat3,
    hinge: Option<Hinge>,
}

/// A one-coordinate rotation.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    /// Axis in the child's frame.
    axis: DVec3,
    reference: f64,
}

impl JointData {
    pub(super) fn new(m: &Mechanism, id: forks_mechanism::JointId) -> Self {
        let joint = m.joint(id).clone();
        let (p, c) = (joint.parent_from_joint.rotation, joint.child_from_joint.rotation);
        let hinge = match joint.kind {
            JointKind::Revolute { axis } => Some(Hinge {
                axis: c * axis,
                reference: joint.reference.first().copied().unwrap_or(0.0),
            }),
            _ => None,
        };
        Self {
            parent: joint.parent.index(),
            child: joint.child.index(),
            q: m.position_range(id).start,
            q_len: m.position_range(id).len(),
            v: m.velocity_range(id).start,
            dof: joint.dof(),
            zero_rotation: p * c.conjugate(),
            child_from_joint: DMat3::from_quat(c),
            parent_from_joint: DMat3::from_quat(p),
            hinge,
            joint,
        }
    }

    /// The motion between the joint's frames at `q`.
    pub(super) fn motion(&self, q: &[f64]) -> Pose {
        self.joint.kind.motion(&self.relative(q)[..self.q_len])
    }

    /// q − reference.
    pub(super) fn relative(&self, q: &[f64]) -> [f64; 7] {
        let mut out = [0.0; 7];
        for i in 0..self.q_len {
            out[i] = q[self.q + i] - self.joint.reference.get(i).copied().unwrap_or(0.0);
        }
        out
    }

    /// Rotation parent_from_child.
    fn rotation(&self, q: &[f64]) -> DQuat {
        if let Some(h) = &self.hinge {
            let (s, c) = (0.5 * (q[self.q] - h.reference)).sin_cos();
            let a = h.axis * s;
            return self.zero_rotation * DQuat::from_xyzw(a.x, a.y, a.z, c);
        }
        let (p, c) = (&self.joint.parent_from_joint, &self.joint.child_from_joint);
        p.rotation * self.motion(q).rotation * c.rotation.conjugate()
    }

    /// The joint's point on the parent, parent frame, after `motion`.
    pub(super) fn parent_point(&self, motion: &Pose) -> DVec3 {
        self.joint.parent_from_joint.translation + self.parent_from_joint * motion.translation
    }

    /// As [`JointData::parent_point`] for a tree joint at `q`.
    fn parent_point_at(&self, q: &[f64]) -> DVec3 {
        match self.joint.kind {
            JointKind::Revolute { .. } | JointKind::Universal { .. } | JointKind::Spherical => {
                self.joint.parent_from_joint.translation
            }
            _ => self.parent_point(&self.motion(q)),
        }
    }

    /// The joint's point on the child, child frame.
    pub(super) fn child_point(&self) -> DVec3 {
        self.joint.child_from_joint.translation
    }

    /// Axes of the joint's frame on the child, child frame.
    pub(super) fn child_axes(&self) -> &DMat3 {
        &self.child_from_joint
    }

    /// Axes of the joint's frame on the parent, parent frame.
    pub(super) fn parent_axes(&self) -> &DMat3 {
        &self.parent_from_joint
    }

    /// Twist of the child relative to the parent at the joint's point, world axes.
    fn relative_twist(&self, q: &[f64], v: &[f64], world_from_child: &DMat3) -> Twist {
        let v = &v[self.v..self.v + self.dof];
        if let Some(h) = &self.hinge {
            return Twist::new(DVec3::ZERO, *world_from_child * (h.axis * v[0]));
        }
        let t = self.joint.kind.columns(&self.relative(q)[..self.q_len]).combine(v);
        let r = *world_from_child * self.child_from_joint;
        Twist::new(r * t.linear, r * t.angular)
    }
}

/// State of all links, world axes, the ground first.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) rotation: Vec<DMat3>,
    /// Angular velocities.
    pub(super) omega: Vec<DVec3>,
    /// Positions and velocities of the origins; kept up to date only where loops need them.
    pub(super) position: Vec<DVec3>,
    pub(super) velocity: Vec<DVec3>,
    quaternion: Vec<DQuat>,
    local: Vec<DQuat>,
    relative: Vec<Twist>,
}

impl Links {
    pub(super) fn new(links: usize, edges: usize) -> Self {
        Self {
            rotation: vec![DMat3::IDENTITY; links],
            omega: vec![DVec3::ZERO; links],
            position: vec![DVec3::ZERO; links],
            velocity: vec![DVec3::ZERO; links],
            quaternion: vec![DQuat::IDENTITY; links],
            local: vec![DQuat::IDENTITY; edges],
            relative: vec![Twist::ZERO; edges],
        }
    }

    pub(super) fn update(
        &mut self,
        edges: &[Edge],
        q: &[f64],
        v: &[f64],
        loops: bool,
        parallel: bool,
    ) {
        self.rotations(edges, q, parallel);
        let moving = v.iter().any(|&x| x != 0.0);
        if moving {
            let rotation = &self.rotation;
            fill(parallel, &mut self.relative, |i| {
                let e = &edges[i];
                let t = e.joint.relative_twist(q, v, &rotation[e.joint.child]);
                if e.reversed { -t } else { t }
            });
            for (e, t) in edges.iter().zip(&self.relative) {
                self.omega[e.outer] = self.omega[e.inner] + t.angular;
            }
        } else {
            self.omega.fill(DVec3::ZERO);
            self.relative.fill(Twist::ZERO);
        }
        if loops {
            self.origins(edges, q);
        }
    }

    fn rotations(&mut self, edges: &[Edge], q: &[f64], parallel: bool) {
        fill(parallel, &mut self.local, |i| {
            let r = edges[i].joint.rotation(q);
            if edges[i].reversed { r.conjugate() } else { r }
        });
        for (e, r) in edges.iter().zip(&self.local) {
            let r = self.quaternion[e.inner] * *r;
            // One Newton step to unit length: the factors are of unit length to rounding.
            self.quaternion[e.outer] = r * (1.5 - 0.5 * r.length_squared());
        }
        let quaternion = &self.quaternion;
        fill(parallel, &mut self.rotation, |l| DMat3::from_quat(quaternion[l]));
    }

    fn origins(&mut self, edges: &[Edge], q: &[f64]) {
        for (e, t) in edges.iter().zip(&self.relative) {
            let j = &e.joint;
            let (parent, child) = (j.parent_point_at(q), j.child_point());
            let (inner, outer) = if e.reversed { (child, parent) } else { (parent, child) };
            let (inner, outer) = (self.rotation[e.inner] * inner, self.rotation[e.outer] * outer);
            self.position[e.outer] = self.position[e.inner] + inner - outer;
            let at_joint = self.velocity[e.inner] + self.omega[e.inner].cross(inner) + t.linear;
            self.velocity[e.outer] = at_joint - self.omega[e.outer].cross(outer);
        }
    }
}

impl Edge {
    pub(super) fn new(m: &Mechanism, e: &TreeEdge) -> Self {
        Self {
            inner: e.inner.index(),
            outer: e.outer.index(),
            reversed: e.reversed,
            joint: JointData::new(m, e.joint),
        }
    }
}
