//! A mechanism on a carriage: driven slides between the ground and everything that was joined to
//! it.

use forks_lie::{
    Pose, SpatialInertia,
    glam::{DMat3, DVec3},
};

use crate::{
    BuildError, Combination, Coordinate, Joint, JointId, JointKind, Keyframe, Link, LinkId, Look,
    Mechanism, MechanismBuilder, Servo, Transmission,
};

/// Side of the cube whose inertia [`Mount::new`] gives to the carriage, m.
const SIDE: f64 = 0.1;

/// A driven slide of a [`Mount`].
#[derive(Clone, Debug, PartialEq)]
pub struct Slide {
    /// Name of its joint and of its servo.
    pub name: String,
    /// Direction in the world, of any length but zero.
    pub axis: DVec3,
    /// Position gain of its servo, N/m.
    pub stiffness: f64,
    /// Velocity gain of its servo, N·s/m.
    pub damping: f64,
}

impl Slide {
    /// A slide along an axis.
    pub fn new(name: impl Into<String>, axis: DVec3, stiffness: f64, damping: f64) -> Self {
        Self { name: name.into(), axis, stiffness, damping }
    }
}

/// A carriage on driven slides that carries a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Mount {
    /// Name of the new link.
    pub name: String,
    /// Mass properties of the new link, in the world's axes at the world's origin.
    pub inertia: SpatialInertia,
    /// The slides from the ground outwards.
    pub slides: Vec<Slide>,
}

impl Mount {
    /// A carriage called `mount`, a cube of 0.1 m at the world's origin with the given mass (kg).
    pub fn new(mass: f64, slides: Vec<Slide>) -> Self {
        let moment = mass * SIDE * SIDE / 6.0;
        let inertia =
            SpatialInertia::new(mass, DVec3::ZERO, DMat3::from_diagonal(DVec3::splat(moment)));
        Self { name: "mount".into(), inertia, slides }
    }
}

impl Mechanism {
    /// The mechanism on a carriage: what was joined to the ground is joined to a new link whose
    /// frame is the world's, which hangs on the ground by a chain of slides, each with a servo of
    /// its own name.
    ///
    /// The carriage and its slides come first: identifiers of links grow by the number of slides
    /// (by one without slides, which weld the carriage), those of joints too, and `q` begins with
    /// the slides' displacements. Links between slides are massless and called `MOUNT/SLIDE`.
    /// Shapes and frames of the ground stay there, and so do free bodies: links on springless free
    /// joints.
    ///
    /// # Errors
    /// Numbers and names that cannot be right, as [`MechanismBuilder::build`].
    pub fn mounted(&self, mount: &Mount) -> Result<Self, BuildError> {
        let mut b = MechanismBuilder::new(self.name());
        b.set_gravity(self.gravity());
        b.links_mut()[0] = self.link(LinkId::WORLD).clone();
        let carriage = add_carriage(&mut b, mount);
        let shift = Shift { links: b.links().len() - 1, joints: b.joints().len(), carriage };
        self.moving_links().for_each(|(_, l)| {
            b.add_link(l.clone());
        });
        for j in self.joints() {
            let mut joint = j.clone();
            let free = j.kind == JointKind::Free && j.spring.is_none();
            (joint.parent, joint.child) = match free {
                true => (shift.free(j.parent), shift.free(j.child)),
                false => (shift.held(j.parent), shift.held(j.child)),
            };
            b.add_joint(joint);
        }
        self.copy_frames_and_shapes(&mut b, &shift);
        self.copy_forces(&mut b, &shift);
        for k in self.keyframes() {
            let mut positions = vec![0.0; mount.slides.len()];
            positions.extend(&k.positions);
            b.add_keyframe(Keyframe { name: k.name.clone(), positions });
        }
        b.build()
    }

    fn copy_frames_and_shapes(&self, b: &mut MechanismBuilder, shift: &Shift) {
        for f in self.frames() {
            let mut f = f.clone();
            f.link = shift.free(f.link);
            b.add_frame(f);
        }
        for s in self.shapes() {
            let mut s = s.clone();
            s.link = shift.free(s.link);
            b.add_shape(s);
        }
        for look in self.looks() {
            b.add_look(Look { link: shift.free(look.link), ..look.clone() });
        }
        for [one, two] in self.exclusions() {
            b.exclude_contact(shift.free(*one), shift.free(*two));
        }
    }

    fn copy_forces(&self, b: &mut MechanismBuilder, shift: &Shift) {
        for c in self.couplings() {
            let mut c = c.clone();
            c.terms.iter_mut().for_each(|t| shift.combination(&mut t.combination));
            b.add_coupling(c);
        }
        for s in self.combination_springs() {
            let mut s = s.clone();
            shift.combination(&mut s.combination);
            b.add_combination_spring(s);
        }
        for s in self.servos() {
            let mut s = s.clone();
            shift.combination(&mut s.combination);
            b.add_servo(s);
        }
        for x in self.bushings() {
            let mut x = x.clone();
            (x.link_a, x.link_b) = (shift.held(x.link_a), shift.held(x.link_b));
            b.add_bushing(x);
        }
        for c in self.cables() {
            b.add_cable(c.relinked(|l| (shift.held(l), Pose::IDENTITY)));
        }
    }
}

/// The carriage with its slides on an otherwise empty ground.
fn add_carriage(b: &mut MechanismBuilder, mount: &Mount) -> LinkId {
    let body = || Link::new(mount.name.clone()).with_inertia(mount.inertia);
    let mut inner = LinkId::WORLD;
    for (i, s) in mount.slides.iter().enumerate() {
        let between = || Link::new(format!("{}/{}", mount.name, s.name)).auxiliary();
        let outer = b.add_link(if i + 1 < mount.slides.len() { between() } else { body() });
        let kind = JointKind::Prismatic { axis: s.axis };
        let joint = b.add_joint(Joint::new(s.name.clone(), kind, inner, outer));
        b.add_servo(Servo {
            name: s.name.clone(),
            transmission: Transmission::Joint,
            combination: Combination::of(joint),
            stiffness: s.stiffness,
            damping: s.damping,
        });
        inner = outer;
    }
    if mount.slides.is_empty() {
        inner = b.add_link(body());
        b.add_joint(Joint::new(mount.name.clone(), JointKind::Fixed, LinkId::WORLD, inner));
    }
    inner
}

/// Where links and joints are once the carriage stands before them.
struct Shift {
    links: usize,
    joints: usize,
    carriage: LinkId,
}

impl Shift {
    /// The same link; the ground stays the ground.
    fn free(&self, link: LinkId) -> LinkId {
        if link == LinkId::WORLD { link } else { LinkId::new(link.index() + self.links) }
    }

    /// The same link; the carriage instead of the ground.
    fn held(&self, link: LinkId) -> LinkId {
        if link == LinkId::WORLD { self.carriage } else { self.free(link) }
    }

    fn combination(&self, c: &mut Combination) {
        for (coordinate, _) in &mut c.terms {
            *coordinate = Coordinate {
                joint: JointId::new(coordinate.joint.index() + self.joints),
                ..*coordinate
            };
        }
    }
}
