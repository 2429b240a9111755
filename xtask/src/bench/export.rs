//! A mechanism as plain numbers for Pinocchio: one frame per moving joint, fixed links folded in.

use forks_mechanism::{
    JointKind, LinkId, Mechanism,
    lie::{Pose, SpatialInertia, so3::wxyz_from_quaternion},
};
use serde::Serialize;

/// Joints depth first; the frame of each is the child-side joint frame.
#[derive(Debug, Serialize)]
pub(super) struct Bodies {
    gravity: [f64; 3],
    joints: Vec<BodyJoint>,
}

#[derive(Debug, Serialize)]
struct BodyJoint {
    /// Index of the joint that carries this one; −1 for the ground.
    parent: i64,
    /// `revolute`, `prismatic` or `free`.
    kind: &'static str,
    axis: [f64; 3],
    /// Joint frame in the parent's.
    position: [f64; 3],
    quaternion_wxyz: [f64; 4],
    /// Mass, centre of mass, tensor xx yy zz xy xz yz.
    inertia: [f64; 10],
    armature: Vec<f64>,
    /// First position and velocity coordinate in the state.
    first_position: usize,
    first_velocity: usize,
    /// Value of the coordinate at the zero pose.
    reference: f64,
}

/// The joint that carries a link, and the link's pose in that joint's frame.
#[derive(Clone, Copy)]
struct Carried {
    joint: i64,
    joint_from_link: Pose,
}

impl Bodies {
    /// The tree of a mechanism whose joints are hinges, slides, free joints and welds.
    pub(super) fn new(m: &Mechanism) -> Result<Self, String> {
        let ground = Carried { joint: -1, joint_from_link: Pose::IDENTITY };
        let mut carried = vec![ground; m.links().len()];
        let mut joints: Vec<BodyJoint> = Vec::new();
        let mut inertias: Vec<SpatialInertia> = Vec::new();
        for e in m.forest().edges() {
            let j = m.joint(e.joint);
            if e.reversed {
                return Err(format!("joint '{}' points at the ground", j.name));
            }
            let inner = carried[e.inner.index()];
            let parent_from_joint = inner.joint_from_link * j.parent_from_joint;
            let joint_from_link = j.child_from_joint.inverse();
            let outer = if j.kind == JointKind::Fixed {
                Carried { joint: inner.joint, joint_from_link: parent_from_joint * joint_from_link }
            } else {
                joints.push(BodyJoint::new(m, e.joint, inner.joint, &parent_from_joint)?);
                inertias.push(SpatialInertia::ZERO);
                Carried { joint: joints.len() as i64 - 1, joint_from_link }
            };
            carried[e.outer.index()] = outer;
        }
        for (i, c) in carried.iter().enumerate().filter(|(_, c)| c.joint >= 0) {
            let body = m.link(LinkId::new(i)).inertia.transformed(&c.joint_from_link);
            let sum = &mut inertias[c.joint as usize];
            *sum = if sum.is_zero() { body } else { sum.combined(&body) };
        }
        for (j, i) in joints.iter_mut().zip(inertias) {
            j.inertia = i.to_array();
        }
        Ok(Self { gravity: m.gravity().to_array(), joints })
    }
}

impl BodyJoint {
    fn new(
        m: &Mechanism,
        id: forks_mechanism::JointId,
        parent: i64,
        pose: &Pose,
    ) -> Result<Self, String> {
        let j = m.joint(id);
        let (kind, axis) = match &j.kind {
            JointKind::Revolute { axis } => ("revolute", axis.to_array()),
            JointKind::Prismatic { axis } => ("prismatic", axis.to_array()),
            JointKind::Free => ("free", [0.0; 3]),
            other => return Err(format!("joint '{}' is {}", j.name, other.name())),
        };
        Ok(Self {
            parent,
            kind,
            axis,
            position: pose.translation.to_array(),
            quaternion_wxyz: wxyz_from_quaternion(pose.rotation),
            inertia: [0.0; 10],
            armature: j.armature.clone(),
            first_position: m.position_range(id).start,
            first_velocity: m.velocity_range(id).start,
            reference: j.reference.first().copied().unwrap_or(0.0),
        })
    }
}
