//! Parts of the scenes' mechanisms: links on driven or sprung joints in one point, solid bodies,
//! shapes.

use forks_mechanism::{
    Combination, ContactMask, Geometry, Joint, JointId, JointKind, Link, LinkId, Mechanism, Servo,
    Shape, Transmission,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};

use crate::sketch::{Compliance, Sketch};

/// What resists a coordinate.
#[derive(Clone, Copy)]
pub(super) enum Resistance {
    /// A servo of the joint's name holds the position; the damping stands in the joint.
    Servo(Compliance),
    /// A spring and a damper in the joint.
    Spring(Compliance),
}

/// A joint with one coordinate.
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) kind: JointKind,
    pub(super) resistance: Resistance,
}

impl Axis {
    /// A hinge with a servo.
    pub(super) fn servo(name: impl Into<String>, axis: DVec3, gains: Compliance) -> Self {
        let resistance = Resistance::Servo(gains);
        Self { name: name.into(), kind: JointKind::Revolute { axis }, resistance }
    }
}

impl Sketch {
    /// A link that hangs on its parent by joints in one point, one after the other, axes in the
    /// link's own. Massless frames between them are called `LINK/JOINT`.
    pub(super) fn link_on(
        &mut self,
        name: &str,
        parent: LinkId,
        [world_from_link, world_from_joint]: [Pose; 2],
        inertia: SpatialInertia,
        axes: Vec<Axis>,
    ) -> LinkId {
        let count = axes.len();
        let mut inner = parent;
        for (i, axis) in axes.into_iter().enumerate() {
            let outer = if i + 1 < count {
                self.add(Link::new(format!("{name}/{}", axis.name)).auxiliary(), world_from_joint)
            } else {
                self.link_at(name, world_from_link, inertia)
            };
            self.axis(axis, [inner, outer], world_from_joint);
            inner = outer;
        }
        inner
    }

    fn axis(&mut self, axis: Axis, links: [LinkId; 2], world_from_joint: Pose) {
        let Axis { name, kind, resistance } = axis;
        let (spring, servo) = match resistance {
            Resistance::Servo(c) => (Compliance::new(0.0, c.damping), Some(c.stiffness)),
            Resistance::Spring(c) => (c, None),
        };
        let joint = self.joint_at(name.clone(), kind, links, world_from_joint, Some(spring));
        if let Some(stiffness) = servo {
            self.builder().joints_mut()[joint.index()].spring = None;
            self.builder().add_servo(Servo {
                name,
                transmission: Transmission::Joint,
                combination: Combination::of(joint),
                stiffness,
                damping: 0.0,
            });
        }
    }

    /// A springless ball at a point, its axes those of the child.
    pub(super) fn ball(&mut self, name: String, links: [LinkId; 2], point: DVec3) -> JointId {
        self.joint(name, JointKind::Spherical, links, point, None)
    }

    /// Lets a link of the ground float on a free joint whose coordinates are its pose in the world.
    pub(super) fn floating(&mut self, name: &str, link: LinkId) {
        let Pose { rotation: r, translation: t } = self.pose(link);
        let mut joint = Joint::new(name, JointKind::Free, LinkId::WORLD, link);
        joint.start = vec![t.x, t.y, t.z, r.w, r.x, r.y, r.z];
        self.builder().add_joint(joint);
    }

    /// A shape of friction 1 that has the name of its link.
    pub(super) fn shape(&mut self, link: LinkId, link_from_shape: Pose, geometry: Geometry) {
        let name = self.builder().links()[link.index()].name.clone();
        let mask = ContactMask::default();
        let shape = Shape { name, link, link_from_shape, geometry, friction: 1.0, mask };
        self.builder().add_shape(shape);
    }

    /// Finishes a mechanism with the weight of its links, 9.81 m/s² along −z, that cancels the
    /// share `held` of it.
    pub(super) fn build_heavy(mut self, held: f64) -> Mechanism {
        self.builder().set_gravity(DVec3::new(0.0, 0.0, -9.81));
        for l in self.builder().links_mut().iter_mut().filter(|l| !l.inertia.is_zero()) {
            l.gravity_compensation = held;
        }
        self.build()
    }
}

/// A solid box about its frame's origin.
pub(super) fn solid_box(mass: f64, half_extents: DVec3) -> SpatialInertia {
    Geometry::Box { half_extents }.solid_inertia(mass).expect("bounded")
}

/// A solid cylinder along z about its frame's origin.
pub(super) fn solid_cylinder(mass: f64, radius: f64, half_length: f64) -> SpatialInertia {
    Geometry::Cylinder { radius, half_length }.solid_inertia(mass).expect("bounded")
}

/// A solid cylinder from the frame's origin to `end`.
pub(super) fn solid_rod(mass: f64, end: DVec3, radius: f64) -> SpatialInertia {
    let along_z = solid_cylinder(mass, radius, 0.5 * end.length());
    let r = DMat3::from_quat(DQuat::from_rotation_arc(DVec3::Z, end.normalize()));
    let turned = r * along_z.inertia * r.transpose();
    SpatialInertia::new(mass, end * 0.5, (turned + turned.transpose()) * 0.5)
}
