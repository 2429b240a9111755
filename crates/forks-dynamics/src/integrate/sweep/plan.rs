//! What of a mechanism the sweep needs, in the order in which it needs it: compiled once.

use forks_mechanism::{
    JointId, Mechanism,
    lie::{Pose, glam::DQuat},
    linalg::simd::Isa,
};

use crate::tree::{
    Tree,
    compile::{Carrier, Slot},
};

/// Spring, damper and rotor of a hinge or slide.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spring {
    pub(super) stiffness: f64,
    pub(super) rest: f64,
    pub(super) damping: f64,
    pub(super) armature: f64,
    /// Springs beyond its limits are on.
    pub(super) limited: bool,
}

/// A tree joint, seen from its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotJoint {
    pub(super) joint: JointId,
    pub(super) spring: Spring,
    /// Turn of the slot's frame in the inner slot's at zero.
    pub(super) turn: DQuat,
    pub(super) slot_from_link: Pose,
    /// Part of the weight that is left.
    pub(super) weight: f64,
}

/// The mechanism as the sweep sees it.
#[derive(Clone, Debug)]
pub(crate) struct SweepPlan {
    pub(super) tree: Tree,
    /// Slot by slot; the ground's first.
    pub(super) joints: Vec<SlotJoint>,
    /// Where each link's slot is.
    pub(super) slot_of_link: Vec<u32>,
    /// True if all coordinates are plain numbers: potentials have symmetric derivatives.
    pub(super) plain: bool,
    pub(super) isa: Isa,
}

impl SweepPlan {
    pub(crate) fn new(m: &Mechanism) -> Self {
        let tree = Tree::new(m);
        let edges = m.forest().edges();
        let mut joints = vec![SlotJoint {
            joint: JointId::new(0),
            spring: Spring::default(),
            turn: DQuat::IDENTITY,
            slot_from_link: Pose::IDENTITY,
            weight: 0.0,
        }];
        let mut slot_of_link = vec![0; m.links().len()];
        for (i, e) in edges.iter().enumerate() {
            slot_of_link[e.outer.index()] = (i + 1) as u32;
            let slot = &tree.slots[i + 1];
            let link_from_slot = tree.links[i + 1].link_from_slot;
            let link_from_slot = Pose::new(
                DQuat::from_mat3(&link_from_slot.rotation).normalize(),
                link_from_slot.translation,
            );
            joints.push(SlotJoint {
                joint: e.joint,
                spring: spring(m, e.joint, slot),
                turn: DQuat::from_mat3(&slot.at_zero.rotation).normalize(),
                slot_from_link: link_from_slot.inverse(),
                weight: 1.0 - m.link(e.outer).gravity_compensation,
            });
        }
        let plain = edges.iter().all(|e| m.joint(e.joint).kind.has_scalar_coordinates());
        Self { tree, joints, slot_of_link, plain, isa: Isa::detect() }
    }

    pub(crate) fn slot(&self, link: usize) -> usize {
        self.slot_of_link[link] as usize
    }
}

fn spring(m: &Mechanism, id: JointId, slot: &Slot) -> Spring {
    let j = m.joint(id);
    if !matches!(slot.carrier, Carrier::Revolute | Carrier::Prismatic) {
        return Spring::default();
    }
    let (stiffness, rest) =
        j.spring.as_ref().map_or((0.0, 0.0), |s| (s.stiffness.get(0, 0), s.rest[0]));
    Spring {
        stiffness,
        rest,
        damping: j.damping.get(0, 0),
        armature: slot.armature,
        limited: j.has_limit_springs(),
    }
}
