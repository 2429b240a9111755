//! An object in a grasp as a link of the mechanism that holds it: the other end of the fidelity
//! dial of \[A16\] §1, where the grasped body itself is the effector and its fingers are joined to
//! it.

use forks_lie::{Pose, SpatialInertia, glam::DVec3};

use crate::{BuildError, Joint, JointKind, Keyframe, Link, LinkId, Mechanism, MechanismBuilder};

/// A rigid object and the points where links hold it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grasp {
    /// Name of the object, which becomes a link.
    pub name: String,
    /// Its mass properties in its own frame.
    pub inertia: SpatialInertia,
    /// Its pose in the start pose.
    pub world_from_object: Pose,
    /// Links and the points, in their frames, that hold the object. A point on a link holds three
    /// directions, so three that are not on one line hold it wholly.
    pub contacts: Vec<(LinkId, DVec3)>,
    /// What carries the object in the spanning forest.
    pub carrier: GraspCarrier,
}

/// What carries a grasped object in the spanning forest. The motions are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraspCarrier {
    /// The link of the first contact, by a ball; all other contacts close loops.
    #[default]
    FirstContact,
    /// The ground, by a springless free joint; all contacts close loops. The object's coordinates
    /// are its pose, and other programs can let go of it by dropping the loops.
    Ground,
}

impl Mechanism {
    /// The mechanism with the object as a further link, the last one, tied to the links that hold
    /// it by springless balls at the points where they are in the start pose.
    ///
    /// Joints are called `OBJECT.grasp0`, `OBJECT.grasp1`… by the contacts' order, the free joint
    /// `OBJECT`. The object turns freely where its contacts let it: about the line through two of
    /// them, about one. What no spring resists is refused by the reduction.
    ///
    /// # Errors
    /// A link that is not there, numbers and names that cannot be right, as
    /// [`MechanismBuilder::build`].
    pub fn grasping(&self, grasp: &Grasp) -> Result<Self, BuildError> {
        let mut b = MechanismBuilder::from_mechanism(self);
        let object = b.add_link(Link::new(grasp.name.clone()).with_inertia(grasp.inertia));
        let poses = self.link_poses(&self.start_positions());
        let p = grasp.world_from_object;
        // What nothing holds floats where it is.
        if grasp.carrier == GraspCarrier::Ground || grasp.contacts.is_empty() {
            let joint = Joint::new(grasp.name.clone(), JointKind::Free, LinkId::WORLD, object);
            b.add_joint(Joint { start: free_start(&p), ..joint });
        }
        for (i, &(link, point)) in grasp.contacts.iter().enumerate() {
            let name = format!("{}.grasp{i}", grasp.name);
            let Some(pose) = poses.get(link.index()) else {
                return Err(BuildError::UnknownElement {
                    element: format!("joint '{name}'"),
                    kind: "link",
                    index: link.index(),
                    count: self.links().len(),
                });
            };
            // Axes of the object on both sides, so that the ball starts at its zero.
            let at = Pose::new(p.rotation, pose.transform_point(point));
            let joint = Joint::new(name, JointKind::Spherical, link, object)
                .at(Pose { translation: point, ..pose.inverse() * at })
                .child_at(Pose::from_translation(p.inverse().transform_point(at.translation)));
            b.add_joint(joint);
        }
        // The object's tree joint is the last one: its coordinates are appended.
        let joint = &b.joints()[self.joints().len()];
        let start = joint.start.clone();
        b.clear_keyframes();
        for k in self.keyframes() {
            let positions = [&k.positions[..], &start].concat();
            b.add_keyframe(Keyframe { name: k.name.clone(), positions });
        }
        b.build()
    }
}

/// Coordinates of a free joint at a pose.
fn free_start(p: &Pose) -> Vec<f64> {
    let (r, t) = (p.rotation, p.translation);
    vec![t.x, t.y, t.z, r.w, r.x, r.y, r.z]
}
