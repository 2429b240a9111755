//! A mechanism's spanning forest laid out for speed.
//!
//! Slot 0 is the ground, slot i + 1 the outer link of edge i of the forest, so that inner slots
//! come first. Every slot has a frame of its own, fixed in its link: the carrying joint's frame on
//! the outer side, turned for one-dof joints so that the axis is +z. A hinge then is x ↦ K Rot_z(θ)
//! x with a constant K, its column the unit vector e_ωz, and a joint whose child is the inner link
//! is turned round by the choice of the frame alone.

use forks_mechanism::{
    JointId, JointKind, LinkId, Mechanism,
    lie::{
        Adjoint, Pose, Twist, Wrench,
        glam::{DMat3, DQuat, DVec3},
    },
};

use super::block::{RigidInertia, Transform};

/// What joint carries a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// No motion.
    Fixed,
    /// Rotation about z.
    Revolute,
    /// Translation along z.
    Prismatic,
    /// Any other kind; the index counts such joints.
    Multi(u32),
}

/// A tree joint and the link outward of it.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) inner: u32,
    pub(crate) carrier: Carrier,
    pub(crate) position: u32,
    pub(crate) velocity: u32,
    pub(crate) dof: u32,
    /// Value of a one-dof coordinate at the zero pose.
    pub(crate) reference: f64,
    pub(crate) armature: f64,
    /// K: the slot's frame in the inner slot's, at the zero pose.
    pub(crate) at_zero: Transform,
    pub(crate) inertia: RigidInertia,
}

/// What a joint of several or general coordinates needs beside its slot.
#[derive(Clone, Debug)]
pub(crate) struct MultiJoint {
    pub(crate) kind: JointKind,
    pub(crate) reversed: bool,
    pub(crate) reference: [f64; 7],
    pub(crate) positions: u32,
    pub(crate) armature: [f64; 6],
}

/// A mechanism's spanning forest compiled for the O(n) algorithms: flat arrays, constants folded.
///
/// It keeps the tree joints alone: loop-closing joints, couplings, springs, dampers and servos are
/// not part of it. Build it once; it does not follow later changes of the mechanism.
///
/// ```
/// use forks_dynamics::{
///     passive::{PassiveWorkspace, passive_forces},
///     tree::{AbaWorkspace, LinkLoads, Tree, aba},
/// };
/// use forks_models::{HelixJoints, helix};
///
/// let mechanism = helix(50, HelixJoints::Hinge3).mechanism;
/// let tree = Tree::new(&mechanism);
/// let (mut ws, mut springs) = (AbaWorkspace::new(&tree), PassiveWorkspace::new(&mechanism));
/// let n = tree.velocity_count();
/// let (q, v) = (mechanism.start_positions(), vec![0.0; n]);
/// let (mut tau, mut acceleration) = (vec![0.0; n], vec![0.0; n]);
/// passive_forces(&mechanism, &mut springs, &q, &v, &mut tau);
/// aba(&tree, &mut ws, &q, &v, &tau, &LinkLoads::GRAVITY, &mut acceleration)?;
/// # Ok::<(), forks_dynamics::tree::DynamicsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) slots: Vec<Slot>,
    pub(crate) multi: Vec<MultiJoint>,
    pub(crate) gravity: DVec3,
    /// Slot by slot: fraction of gravity cancelled; empty where none is.
    pub(crate) compensation: Vec<f64>,
    /// Slot by slot: the link, and its frame seen from the slot's frame.
    pub(crate) links: Vec<SlotLink>,
    slot_of_link: Vec<u32>,
    positions: usize,
    velocities: usize,
    slot_of_velocity: Vec<u32>,
}

/// The link of a slot.
#[derive(Clone, Debug)]
pub(crate) struct SlotLink {
    pub(crate) link: LinkId,
    pub(crate) link_from_slot: Adjoint,
    /// What messages call the carrying joint and the link.
    pub(crate) joint_label: String,
    pub(crate) link_name: String,
}

impl Tree {
    /// Compiles a mechanism's tree joints.
    pub fn new(m: &Mechanism) -> Self {
        let edges = m.forest().edges();
        let mut out = Self::ground(m);
        let mut link_from_slot = vec![Pose::IDENTITY; m.links().len()];
        for (i, e) in edges.iter().enumerate() {
            out.slot_of_link[e.outer.index()] = (i + 1) as u32;
            let j = m.joint(e.joint);
            let (inner_from_joint, outer_from_joint) = if e.reversed {
                (j.child_from_joint, j.parent_from_joint)
            } else {
                (j.parent_from_joint, j.child_from_joint)
            };
            let turn = Pose::from_rotation(turn_to_axis(&j.kind, e.reversed));
            let own = outer_from_joint * turn;
            link_from_slot[e.outer.index()] = own;
            let inner = link_from_slot[e.inner.index()].inverse() * inner_from_joint * turn;
            let carrier = out.add_multi(m, e.joint, e.reversed);
            let link = m.link(e.outer);
            out.slots.push(Slot {
                inner: out.slot_of_link[e.inner.index()],
                carrier,
                position: m.position_range(e.joint).start as u32,
                velocity: m.velocity_range(e.joint).start as u32,
                dof: j.dof() as u32,
                reference: j.reference.first().copied().unwrap_or(0.0),
                armature: j.armature.first().copied().unwrap_or(0.0),
                at_zero: transform(&inner),
                inertia: RigidInertia::new(&link.inertia.transformed(&own.inverse())),
            });
            out.links.push(SlotLink {
                link: e.outer,
                link_from_slot: own.adjoint(),
                joint_label: m.joint_label(e.joint),
                link_name: link.name.clone(),
            });
            out.compensation.push(link.gravity_compensation);
            for k in m.velocity_range(e.joint) {
                out.slot_of_velocity[k] = (i + 1) as u32;
            }
        }
        if out.compensation.iter().all(|&c| c == 0.0) {
            out.compensation.clear();
        }
        out
    }

    fn ground(m: &Mechanism) -> Self {
        let slot = Slot {
            inner: 0,
            carrier: Carrier::Fixed,
            position: 0,
            velocity: 0,
            dof: 0,
            reference: 0.0,
            armature: 0.0,
            at_zero: Transform::IDENTITY,
            inertia: RigidInertia::ZERO,
        };
        let link = SlotLink {
            link: LinkId::WORLD,
            link_from_slot: Adjoint::IDENTITY,
            joint_label: String::new(),
            link_name: m.link(LinkId::WORLD).name.clone(),
        };
        Self {
            slots: vec![slot],
            multi: vec![],
            gravity: m.gravity(),
            compensation: vec![0.0],
            links: vec![link],
            slot_of_link: vec![0; m.links().len()],
            positions: m.tree_position_count(),
            velocities: m.tree_velocity_count(),
            slot_of_velocity: vec![0; m.tree_velocity_count()],
        }
    }

    fn add_multi(&mut self, m: &Mechanism, id: JointId, reversed: bool) -> Carrier {
        let j = m.joint(id);
        match j.kind {
            JointKind::Fixed => return Carrier::Fixed,
            JointKind::Revolute { .. } => return Carrier::Revolute,
            JointKind::Prismatic { .. } => return Carrier::Prismatic,
            _ => {}
        }
        let mut reference = [0.0; 7];
        reference[..j.reference.len()].copy_from_slice(&j.reference);
        let mut armature = [0.0; 6];
        armature[..j.armature.len()].copy_from_slice(&j.armature);
        self.multi.push(MultiJoint {
            kind: j.kind.clone(),
            reversed,
            reference,
            positions: j.kind.position_count() as u32,
            armature,
        });
        Carrier::Multi((self.multi.len() - 1) as u32)
    }

    /// Number of links, the ground included.
    pub fn link_count(&self) -> usize {
        self.slot_of_link.len()
    }

    /// Number of position coordinates of the tree joints.
    pub fn position_count(&self) -> usize {
        self.positions
    }

    /// Number of velocity coordinates of the tree joints.
    pub fn velocity_count(&self) -> usize {
        self.velocities
    }

    pub(crate) fn slot_of_velocity(&self, index: usize) -> usize {
        self.slot_of_velocity[index] as usize
    }

    /// Armature of a coordinate of a slot.
    pub(crate) fn armature(&self, slot: &Slot, k: usize) -> f64 {
        match slot.carrier {
            Carrier::Multi(i) => self.multi[i as usize].armature[k],
            _ => slot.armature,
        }
    }

    /// A body wrench on a link, in the axes and at the origin of its slot's frame.
    pub(crate) fn wrench_in_slot(&self, slot: usize, w: &Wrench) -> Wrench {
        self.links[slot].link_from_slot.transpose_apply(*w)
    }

    /// A twist in a slot's frame as the link's body twist.
    pub(crate) fn twist_in_link(&self, slot: usize, t: &Twist) -> Twist {
        self.links[slot].link_from_slot.apply(*t)
    }
}

/// The rotation that takes z to the axis along which the outer link moves against the inner one.
fn turn_to_axis(kind: &JointKind, reversed: bool) -> DQuat {
    let axis = match kind {
        JointKind::Revolute { axis } | JointKind::Prismatic { axis } => *axis,
        _ => return DQuat::IDENTITY,
    };
    rotation_of_z(if reversed { -axis } else { axis })
}

/// A rotation that takes z to a unit vector; the half turn about x for −z.
fn rotation_of_z(axis: DVec3) -> DQuat {
    if axis.z < -0.5 {
        // z → −z about x, then −z to the axis: both well conditioned.
        let to = shortest(DVec3::NEG_Z, axis);
        return to * DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0);
    }
    shortest(DVec3::Z, axis)
}

fn shortest(from: DVec3, to: DVec3) -> DQuat {
    let c = from.cross(to);
    DQuat::from_xyzw(c.x, c.y, c.z, 1.0 + from.dot(to)).normalize()
}

pub(crate) fn transform(p: &Pose) -> Transform {
    Transform { rotation: DMat3::from_quat(p.rotation.normalize()), translation: p.translation }
}
