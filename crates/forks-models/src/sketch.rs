//! Laying out a mechanism by the start poses of its links and the places of its joints in the
//! world.

use forks_mechanism::{
    BuildError, Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};

/// A mechanism under construction, all poses in the world at the start.
pub(super) struct Sketch {
    builder: MechanismBuilder,
    world_from_link: Vec<Pose>,
}

/// Stiffness and damping per coordinate of a joint.
#[derive(Clone, Copy)]
pub(super) struct Compliance {
    /// N·m/rad or N/m.
    pub(super) stiffness: f64,
    /// N·m·s/rad or N·s/m.
    pub(super) damping: f64,
}

impl Compliance {
    pub(super) const fn new(stiffness: f64, damping: f64) -> Self {
        Self { stiffness, damping }
    }
}

impl Sketch {
    /// The ground alone; gravity is off.
    pub(super) fn new(name: impl Into<String>) -> Self {
        let mut builder = MechanismBuilder::new(name);
        builder.set_gravity(DVec3::ZERO);
        Self { builder, world_from_link: vec![Pose::IDENTITY] }
    }

    /// A link whose frame is at `origin`, axes parallel to the world's.
    pub(super) fn link(
        &mut self,
        name: impl Into<String>,
        origin: DVec3,
        inertia: SpatialInertia,
    ) -> LinkId {
        self.link_at(name, Pose::from_translation(origin), inertia)
    }

    /// A link with its frame at a pose.
    pub(super) fn link_at(
        &mut self,
        name: impl Into<String>,
        world_from_link: Pose,
        inertia: SpatialInertia,
    ) -> LinkId {
        self.add(Link::new(name).with_inertia(inertia), world_from_link)
    }

    /// A link as it is, its frame at a pose.
    pub(super) fn add(&mut self, link: Link, world_from_link: Pose) -> LinkId {
        self.world_from_link.push(world_from_link);
        self.builder.add_link(link)
    }

    /// Where a link is at the start.
    pub(super) fn pose(&self, link: LinkId) -> Pose {
        self.world_from_link[link.index()]
    }

    /// The builder behind the sketch.
    pub(super) fn builder(&mut self) -> &mut MechanismBuilder {
        &mut self.builder
    }

    /// A joint whose frame is at `world_from_joint`. A sprung one is unstressed at the start.
    pub(super) fn joint_at(
        &mut self,
        name: impl Into<String>,
        kind: JointKind,
        [parent, child]: [LinkId; 2],
        world_from_joint: Pose,
        spring: Option<Compliance>,
    ) -> JointId {
        let local = |l: LinkId| self.world_from_link[l.index()].inverse() * world_from_joint;
        let mut joint =
            Joint::new(name, kind, parent, child).at(local(parent)).child_at(local(child));
        if let Some(s) = spring {
            joint = joint.with_stiffness(s.stiffness).with_damping(s.damping);
        }
        self.builder.add_joint(joint)
    }

    /// A joint at a point, its axes in the axes of the child.
    pub(super) fn joint(
        &mut self,
        name: impl Into<String>,
        kind: JointKind,
        links: [LinkId; 2],
        point: DVec3,
        spring: Option<Compliance>,
    ) -> JointId {
        let rotation = self.world_from_link[links[1].index()].rotation;
        self.joint_at(name, kind, links, Pose::new(rotation, point), spring)
    }

    /// A hinge at a point, its axis in the axes of the child.
    pub(super) fn hinge(
        &mut self,
        name: impl Into<String>,
        links: [LinkId; 2],
        point: DVec3,
        axis: DVec3,
        spring: Option<Compliance>,
    ) {
        self.joint(name, JointKind::Revolute { axis }, links, point, spring);
    }

    /// Three hinges x, y, z in that order at one point, chained through massless frames.
    pub(super) fn hinge3(
        &mut self,
        name: &str,
        [parent, child]: [LinkId; 2],
        point: DVec3,
        spring: Compliance,
    ) {
        let rotation = self.world_from_link[child.index()].rotation;
        let mut at = parent;
        for (suffix, axis) in [("x", DVec3::X), ("y", DVec3::Y)] {
            let link = Link::new(format!("{name}.{suffix}")).auxiliary();
            let next = self.add(link, Pose::new(rotation, point));
            self.hinge(format!("{name}.{suffix}"), [at, next], point, axis, Some(spring));
            at = next;
        }
        self.hinge(format!("{name}.z"), [at, child], point, DVec3::Z, Some(spring));
    }

    /// Checks and finishes a mechanism with numbers from the caller.
    pub(super) fn try_build(self) -> Result<Mechanism, BuildError> {
        self.builder.build()
    }

    /// Finishes a mechanism whose numbers are all constants.
    pub(super) fn build(self) -> Mechanism {
        self.try_build().expect("a parametric mechanism is valid by construction")
    }
}

/// A body along `axis` from its frame's origin, centre of mass in the middle, with an inertia that
/// is the same about every axis: m L²/12 + 1e-5 kg·m².
pub(super) fn isotropic_rod(mass: f64, axis: DVec3) -> SpatialInertia {
    let moment = mass * axis.length_squared() / 12.0 + 1e-5;
    SpatialInertia::new(mass, axis * 0.5, DMat3::from_diagonal(DVec3::splat(moment)))
}

/// A thin rod along `axis` from its frame's origin: m L²/12 across, `axial` about its own axis.
pub(super) fn slender_rod(mass: f64, axis: DVec3, axial: f64) -> SpatialInertia {
    let length = axis.length();
    let across = mass * length * length / 12.0;
    let along_x = DMat3::from_diagonal(DVec3::new(axial, across, across));
    let r = DMat3::from_quat(DQuat::from_rotation_arc(DVec3::X, axis / length));
    SpatialInertia::new(mass, axis * 0.5, r * along_x * r.transpose())
}
