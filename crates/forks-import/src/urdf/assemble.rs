//! From links and joints as they are written to the mechanism.

use forks_mechanism::{
    Joint, JointId, JointKind, JointMatrix, Link, LinkId, Look, Mechanism, MechanismBuilder, Shape,
    lie::{Pose, so3::wxyz_from_quaternion},
};

use super::{
    Reader, Robot,
    graph::Order,
    joint::{JointType, RawJoint},
};
use crate::{ImportError, inertia, note::Effect, read::orientation::z_axis};

/// Name of the ground.
const WORLD: &str = "world";

/// The mechanism under construction.
struct Assembly {
    builder: MechanismBuilder,
    /// Link of each link of the file, once it is made.
    link_of: Vec<LinkId>,
    /// Pose in the world of links that cannot move.
    still: Vec<Option<Pose>>,
}

impl Reader<'_> {
    pub(crate) fn assemble(
        &mut self,
        robot: &Robot<'_>,
        order: &Order,
    ) -> Result<Mechanism, ImportError> {
        let count = robot.links.len();
        let mut assembly = Assembly {
            builder: MechanismBuilder::new(robot.name),
            link_of: vec![LinkId::WORLD; count],
            still: vec![None; count],
        };
        self.add_root(robot, order.root, &mut assembly)?;
        let mut ids = vec![JointId::new(0); robot.joints.len()];
        for &i in &order.joints {
            ids[i] = add_joint(robot, &robot.joints[i], &mut assembly)?;
        }
        for coupling in self.couplings(robot, &order.joints, &ids)? {
            assembly.builder.add_coupling(coupling);
        }
        self.judge_inertias(robot, &mut assembly)?;
        let links =
            std::iter::once(order.root).chain(order.joints.iter().map(|&i| robot.joints[i].child));
        for l in links {
            add_shapes(robot, l, &mut assembly);
        }
        self.note_massless_ends(robot, order);
        let file = robot.links[order.root].attributes.at.file.clone();
        let file = file.unwrap_or_else(|| "text".into());
        assembly.builder.build().map_err(|source| ImportError::Mechanism { file, source })
    }

    /// Inertia that no body has is refused where it moves one, or balanced where that was asked
    /// for.
    fn judge_inertias(
        &mut self,
        robot: &Robot<'_>,
        assembly: &mut Assembly,
    ) -> Result<(), ImportError> {
        for found in assembly.builder.impossible_inertias() {
            let Some(l) = assembly.link_of.iter().position(|l| *l == found.link) else { continue };
            let a = &robot.links[l].attributes;
            let (effect, reason) =
                inertia::judge(&found, &mut assembly.builder, self.options.balance_inertia)
                    .map_err(|problem| a.error(problem))?;
            self.notes.add(a.label(), "inertia", effect, reason, &a.at);
        }
        Ok(())
    }

    /// The root link is welded to the ground; one that is called `world` is the ground.
    fn add_root(
        &mut self,
        robot: &Robot<'_>,
        root: usize,
        assembly: &mut Assembly,
    ) -> Result<(), ImportError> {
        let link = &robot.links[root];
        assembly.still[root] = Some(Pose::IDENTITY);
        if link.name() == WORLD {
            if !link.inertia.is_zero() {
                let a = &link.attributes;
                let reason = "the link is the ground, which has no mass";
                self.notes.add(a.label(), "inertial", Effect::Ignored, reason, &a.at);
            }
            return Ok(());
        }
        let b = &mut assembly.builder;
        let id = b.add_link(Link::new(link.name()).with_inertia(link.inertia));
        let mut weld = Joint::new("", JointKind::Fixed, LinkId::WORLD, id);
        weld.implicit = true;
        b.add_joint(weld);
        assembly.link_of[root] = id;
        Ok(())
    }

    /// A moving part at the end of a chain that has no mass cannot be accelerated: worth a word.
    fn note_massless_ends(&mut self, robot: &Robot<'_>, order: &Order) {
        let count = robot.links.len();
        let mut heavy: Vec<bool> = robot.links.iter().map(|l| !l.inertia.is_zero()).collect();
        let mut carries_joint = vec![false; count];
        // From the ends inwards: fixed joints hand on what hangs on them.
        for &i in order.joints.iter().rev() {
            let j = &robot.joints[i];
            let fixed = j.kind == JointType::Fixed;
            if fixed {
                heavy[j.parent] |= heavy[j.child];
            }
            carries_joint[j.parent] |= !fixed || carries_joint[j.child];
        }
        for &i in &order.joints {
            let j = &robot.joints[i];
            // A joint that follows another one moves with the mass of that one.
            let follows = j.mimic.is_some();
            if j.kind == JointType::Fixed || heavy[j.child] || carries_joint[j.child] || follows {
                continue;
            }
            let a = &robot.links[j.child].attributes;
            let reason = "the moving end of a chain has no mass; dynamics cannot accelerate it, \
                unless a loop determines its motion";
            self.notes.add(a.label(), "inertial", Effect::Approximated, reason, &a.at);
        }
    }
}

fn add_joint(
    robot: &Robot<'_>,
    raw: &RawJoint<'_>,
    assembly: &mut Assembly,
) -> Result<JointId, ImportError> {
    let link = &robot.links[raw.child];
    if link.name() == WORLD {
        return Err(link.attributes.error("a link called 'world' must be the root"));
    }
    let parent = assembly.link_of[raw.parent];
    let child = assembly.builder.add_link(Link::new(link.name()).with_inertia(link.inertia));
    assembly.link_of[raw.child] = child;
    let base = assembly.still[raw.parent];
    if raw.kind == JointType::Fixed {
        assembly.still[raw.child] = base.map(|b| b * raw.parent_from_child);
    }
    Ok(assembly.builder.add_joint(joint(raw, parent, child, base)))
}

/// The joint; `base` is the parent's pose in the world where it cannot move.
fn joint(raw: &RawJoint<'_>, parent: LinkId, child: LinkId, base: Option<Pose>) -> Joint {
    let origin = raw.parent_from_child;
    let kind = match raw.kind {
        JointType::Fixed => JointKind::Fixed,
        JointType::Revolute | JointType::Continuous => JointKind::Revolute { axis: raw.axis },
        JointType::Prismatic => JointKind::Prismatic { axis: raw.axis },
        JointType::Planar => JointKind::Planar,
        JointType::Floating => JointKind::Free,
        JointType::Spherical => JointKind::Spherical,
    };
    let mut joint = Joint::new(raw.name(), kind, parent, child);
    match raw.kind {
        JointType::Floating => {
            // As MuJoCo's free joint: the coordinates are the pose in the world (in the parent,
            // where that moves), and the start pose is the one that the file gives.
            let start = base.unwrap_or(Pose::IDENTITY) * origin;
            joint = joint.at(base.unwrap_or(Pose::IDENTITY).inverse());
            joint.start = start.translation.to_array().to_vec();
            joint.start.extend(wxyz_from_quaternion(start.rotation));
        }
        JointType::Planar => {
            // The frame whose z axis is the normal of the plane, on both sides.
            let turn = Pose::from_rotation(z_axis(raw.axis).expect("the axis was checked"));
            joint = joint.at(origin * turn).child_at(turn);
        }
        _ => joint = joint.at(origin),
    }
    if raw.kind.is_scalar() {
        joint.limits[0] = raw.limit;
    }
    joint.damping = JointMatrix::isotropic(joint.dof(), raw.damping);
    joint.friction = vec![raw.friction; joint.dof()];
    joint
}

fn add_shapes(robot: &Robot<'_>, link: usize, assembly: &mut Assembly) {
    for (link_from_look, surface, colour) in &robot.links[link].looks {
        assembly.builder.add_look(Look {
            link: assembly.link_of[link],
            link_from_look: *link_from_look,
            surface: surface.clone(),
            colour: *colour,
        });
    }
    for s in &robot.links[link].shapes {
        assembly.builder.add_shape(Shape {
            name: s.name.clone(),
            link: assembly.link_of[link],
            link_from_shape: s.link_from_shape,
            geometry: s.geometry.clone(),
            friction: 1.0,
            mask: forks_mechanism::ContactMask::default(),
        });
    }
}
