//! A scene as one mechanism: all mechanisms and bodies side by side, with the scene's shapes alone.

use forks_lie::Pose;
use forks_mechanism::{
    Bushing, Cable, CableId, Combination, CombinationSpring, ContactMask, Coordinate, Coupling,
    Frame, Geometry, Joint, JointId, JointKind, Keyframe, Link, LinkId, Mechanism,
    MechanismBuilder, Preparation, Servo, Shape, Transmission,
};

use super::{
    Scene, SceneMechanism,
    error::{SceneError, invalid},
    spec::MechanismSpec,
};
use crate::{CollisionShape, Owner, RigidBody};

/// A scene as one mechanism.
pub(super) struct Combined {
    pub(super) mechanism: Mechanism,
    /// Link of each owner of shapes in the order of the scene's shapes, and the owner's frame in
    /// it.
    pub(super) carriers: Vec<(LinkId, Pose)>,
    /// Links of the free bodies.
    pub(super) bodies: Vec<LinkId>,
    /// The shapes that MJCF has no primitive for.
    pub(super) others: Vec<Shape>,
}

/// Where a mechanism's elements are in the whole.
struct Place {
    links: Vec<LinkId>,
    joints: Vec<JointId>,
}

/// Names of a mechanism's elements begin with its own.
pub(super) struct Names<'a>(pub(super) &'a str);

impl Names<'_> {
    pub(super) fn of(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }

    /// The same; what has no name gets none.
    fn of_named(&self, name: &str) -> String {
        if name.is_empty() { String::new() } else { self.of(name) }
    }
}

/// Name of the state in which the scene starts.
pub(super) const START: &str = "start";

impl Scene {
    /// All of it as one mechanism.
    pub(super) fn combined(&self) -> Result<Combined, SceneError> {
        let build = |source| SceneError::Build { mechanism: self.spec.title.clone(), source };
        let mut b = MechanismBuilder::new(self.spec.title.clone());
        b.set_gravity(forks_lie::glam::DVec3::from_array(self.spec.world.gravity));
        let mut starts: Vec<(JointId, Vec<f64>)> = Vec::new();
        let mut places = Vec::new();
        for (m, spec) in self.mechanisms.iter().zip(&self.spec.mechanisms) {
            let fixed = held(m)?;
            let q = start_of(m, &fixed)?;
            let place = add(&mut b, m, &fixed, spec);
            for (i, joint) in place.joints.iter().enumerate() {
                starts.push((*joint, q[fixed.position_range(JointId::new(i))].to_vec()));
            }
            places.push(place);
        }
        let bodies: Vec<LinkId> =
            self.bodies.iter().map(|body| Self::add_free(&mut b, body)).collect();
        let mut carriers = Vec::new();
        let mut others = Vec::new();
        for (k, (owner, shape)) in self.shapes.iter().enumerate() {
            let (link, link_from_owner) = self.carrier(*owner, &places, &bodies)?;
            carriers.push((link, link_from_owner));
            let written = Shape {
                name: numbered(shape, k),
                link,
                link_from_shape: link_from_owner * shape.owner_from_shape,
                geometry: shape.form.clone(),
                friction: shape.material.friction,
                mask: ContactMask::default(),
            };
            match &shape.form {
                Geometry::Mesh { .. } => return Err(no_meshes(shape)),
                Geometry::HeightField { .. } if *owner != Owner::World => {
                    return Err(no_meshes(shape));
                }
                Geometry::Hull { .. } | Geometry::HeightField { .. } => others.push(written),
                _ => {
                    b.add_shape(written);
                }
            }
        }
        let mechanism = b.build().map_err(build)?;
        let mut start = mechanism.start_positions();
        for (joint, q) in starts {
            start[mechanism.position_range(joint)].copy_from_slice(&q);
        }
        start.truncate(mechanism.tree_position_count());
        let mut b = MechanismBuilder::from_mechanism(&mechanism);
        b.add_keyframe(Keyframe { name: START.into(), positions: start });
        Ok(Combined { mechanism: b.build().map_err(build)?, carriers, bodies, others })
    }

    fn add_free(b: &mut MechanismBuilder, body: &RigidBody) -> LinkId {
        let link = b.add_link(Link::new(body.name.clone()).with_inertia(body.inertia));
        let mut joint = Joint::new(body.name.clone(), JointKind::Free, LinkId::WORLD, link);
        joint.start = joint.closest_positions(&body.pose);
        b.add_joint(joint);
        link
    }

    fn carrier(
        &self,
        owner: Owner,
        places: &[Place],
        bodies: &[LinkId],
    ) -> Result<(LinkId, Pose), SceneError> {
        Ok(match owner {
            Owner::World => (LinkId::WORLD, Pose::IDENTITY),
            Owner::Body(body) => (bodies[body.0], Pose::IDENTITY),
            Owner::Effector { mechanism, effector } => {
                let m = &self.mechanisms[mechanism.0];
                let frame = &m.effector_frames()?[effector];
                (places[mechanism.0].links[frame.link.index()], frame.link_from_effector)
            }
        })
    }
}

/// Positions of a mechanism, its base held, at the scene's start: its equilibrium where it was
/// linearised about that.
fn start_of(m: &SceneMechanism, held: &Mechanism) -> Result<Vec<f64>, SceneError> {
    if m.gravity { Ok(m.equilibrium(&m.problem()?)?.q.clone()) } else { Ok(held.start_positions()) }
}

/// The mechanism with its base held where its problem holds it and free bodies beside it still,
/// unless it floats.
fn held(m: &SceneMechanism) -> Result<Mechanism, SceneError> {
    if m.floating {
        return Ok(m.mechanism.clone());
    }
    let held = m.problem()?.prepared.held.is_some();
    // Servos of the problem hold as well: what it holds nothing else does, without them even less.
    let wanted: Vec<LinkId> = m.effector_frames()?.iter().map(|e| e.link).collect();
    let root = wanted.first().copied().filter(|_| held);
    let preparation = Preparation { hold_root_of: root, wanted, ..Preparation::default() };
    let prepared = preparation.apply(&m.mechanism);
    Ok(prepared
        .map_err(|source| SceneError::Build { mechanism: m.name.clone(), source })?
        .mechanism)
}

/// Adds a mechanism's links, joints, springs and servos under names that begin with its own; joint
/// limits and dry friction only where the scene has them, gravity compensated where it has none.
fn add(
    b: &mut MechanismBuilder,
    of: &SceneMechanism,
    m: &Mechanism,
    spec: &MechanismSpec,
) -> Place {
    let names = Names(&of.name);
    let named = |name: &str| names.of_named(name);
    let weightless = !(of.gravity || of.floating);
    let mut links = vec![LinkId::WORLD];
    for (_, l) in m.moving_links() {
        let gravity_compensation = if weightless { 1.0 } else { l.gravity_compensation };
        links.push(b.add_link(Link { name: names.of(&l.name), gravity_compensation, ..l.clone() }));
    }
    let link = |l: LinkId| links[l.index()];
    let mut joints = Vec::new();
    for j in m.joints() {
        let mut joint = j.clone();
        joint.name = named(&j.name);
        if !spec.limits && joint.limit_stiffness == 0.0 {
            joint.limits.fill(None);
        }
        if !spec.joint_friction {
            joint.friction.fill(0.0);
        }
        (joint.parent, joint.child) = (link(j.parent), link(j.child));
        if j.parent == LinkId::WORLD {
            joint.parent_from_joint = of.placement * j.parent_from_joint;
        }
        if j.child == LinkId::WORLD {
            joint.child_from_joint = of.placement * j.child_from_joint;
        }
        joints.push(b.add_joint(joint));
    }
    let moved = |c: &Combination| Combination {
        terms: c
            .terms
            .iter()
            .map(|(c, a)| (Coordinate { joint: joints[c.joint.index()], ..*c }, *a))
            .collect(),
        offset: c.offset,
    };
    for f in m.frames() {
        let placed = if f.link == LinkId::WORLD { of.placement } else { Pose::IDENTITY };
        let link_from_frame = placed * f.link_from_frame;
        b.add_frame(Frame { name: names.of(&f.name), link: link(f.link), link_from_frame });
    }
    for c in m.couplings() {
        let mut coupling = Coupling { name: named(&c.name), ..c.clone() };
        coupling.terms.iter_mut().for_each(|t| t.combination = moved(&t.combination));
        b.add_coupling(coupling);
    }
    for s in m.combination_springs() {
        let combination = moved(&s.combination);
        b.add_combination_spring(CombinationSpring {
            name: named(&s.name),
            combination,
            ..s.clone()
        });
    }
    for x in m.bushings() {
        let placed = |l: LinkId, p: Pose| if l == LinkId::WORLD { of.placement * p } else { p };
        b.add_bushing(Bushing {
            name: named(&x.name),
            link_a: link(x.link_a),
            a_from_bushing: placed(x.link_a, x.a_from_bushing),
            link_b: link(x.link_b),
            b_from_bushing: placed(x.link_b, x.b_from_bushing),
            ..x.clone()
        });
    }
    let first_cable = b.cables().len();
    for c in m.cables() {
        let placed = |l: LinkId| {
            let pose = if l == LinkId::WORLD { of.placement } else { Pose::IDENTITY };
            (link(l), pose)
        };
        b.add_cable(Cable { name: named(&c.name), ..c.relinked(placed) });
    }
    for s in m.servos() {
        b.add_servo(Servo {
            name: names.of(&s.name),
            combination: moved(&s.combination),
            transmission: match s.transmission {
                Transmission::Cable(id) => {
                    Transmission::Cable(CableId::new(first_cable + id.index()))
                }
                other => other,
            },
            ..s.clone()
        });
    }
    Place { links, joints }
}

fn no_meshes(shape: &CollisionShape) -> SceneError {
    let problem = "cannot be written as MJCF, which has no triangle meshes that are not convex";
    invalid(format!("shape {:?}", shape.name), problem)
}

/// What a shape is called in the file, where names are unique.
fn numbered(shape: &CollisionShape, number: usize) -> String {
    format!("{}#{number}", shape.name)
}
