//! External loads: gravity and wrenches on links.

use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Mat6, Pose, Wrench, glam::DMat3, skew},
};

/// In which axes a wrench keeps its components while the link moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrenchFrame {
    /// World axes: a dead load. A constant force has a potential, a constant torque has none.
    World,
    /// The axes of the point frame: a follower load, which has no potential.
    Body,
}

/// A wrench that acts at the origin of a frame fixed in a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AppliedWrench {
    /// The loaded link.
    pub link: LinkId,
    /// The point frame in the link.
    pub link_from_point: Pose,
    /// Force (N) and torque about the point (N·m), components as `frame` says.
    pub wrench: Wrench,
    /// The axes of the components.
    pub frame: WrenchFrame,
}

/// All external loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    /// True if the mechanism's gravity acts.
    pub gravity: bool,
    /// Wrenches on links.
    pub wrenches: Vec<AppliedWrench>,
}

impl Default for Loads {
    fn default() -> Self {
        Self::gravity()
    }
}

impl Loads {
    /// Gravity alone.
    pub fn gravity() -> Self {
        Self { gravity: true, wrenches: vec![] }
    }

    /// No load at all.
    pub fn none() -> Self {
        Self { gravity: false, wrenches: vec![] }
    }

    /// With a further dead wrench: world axes, at the origin of the link's frame.
    pub fn with_world_wrench(self, link: LinkId, wrench: Wrench) -> Self {
        self.with(AppliedWrench {
            link,
            link_from_point: Pose::IDENTITY,
            wrench,
            frame: WrenchFrame::World,
        })
    }

    /// With a further follower wrench: axes and origin of the link's frame.
    pub fn with_body_wrench(self, link: LinkId, wrench: Wrench) -> Self {
        self.with(AppliedWrench {
            link,
            link_from_point: Pose::IDENTITY,
            wrench,
            frame: WrenchFrame::Body,
        })
    }

    /// With a further wrench.
    pub fn with(mut self, wrench: AppliedWrench) -> Self {
        self.wrenches.push(wrench);
        self
    }
}

/// A wrench on a link in the link's frame, and how it changes with the link's body twist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkLoad {
    pub(crate) wrench: Wrench,
    /// ∂wrench/∂ξ for a displacement exp(ξ) of the link.
    pub(crate) slope: Mat6,
}

impl AppliedWrench {
    /// The wrench in the link's frame at the link's origin.
    pub fn in_link(&self, world_from_link: &Pose) -> Wrench {
        self.link_load(world_from_link).wrench
    }

    pub(crate) fn link_load(&self, world_from_link: &Pose) -> LinkLoad {
        match self.frame {
            WrenchFrame::Body => LinkLoad {
                wrench: self.link_from_point.adjoint().apply_to_wrench(self.wrench),
                slope: Mat6::ZERO,
            },
            WrenchFrame::World => {
                dead_load(self.wrench, self.link_from_point.translation, world_from_link)
            }
        }
    }
}

/// A wrench with constant world components at a point of the link.
///
/// The link sees f = Rᵀ F and τ = r × f + Rᵀ T; both turn backwards as it turns: δ(Rᵀ F) = f × δω.
pub(crate) fn dead_load(
    world: Wrench,
    point: forks_mechanism::lie::glam::DVec3,
    world_from_link: &Pose,
) -> LinkLoad {
    let back = world_from_link.rotation.conjugate();
    let force = back * world.force;
    let free_torque = back * world.torque;
    LinkLoad {
        wrench: Wrench::new(force, point.cross(force) + free_torque),
        slope: Mat6::from_blocks(
            DMat3::ZERO,
            skew(force),
            DMat3::ZERO,
            skew(point) * skew(force) + skew(free_torque),
        ),
    }
}

/// Gravity on a link.
pub(crate) fn weight(m: &Mechanism, link: usize, world_from_link: &Pose) -> LinkLoad {
    let l = &m.links()[link];
    let force = m.gravity() * (l.inertia.mass * (1.0 - l.gravity_compensation));
    dead_load(Wrench::new(force, Default::default()), l.inertia.center_of_mass, world_from_link)
}
