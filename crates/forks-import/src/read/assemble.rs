//! From the tree as it is written to links, joints, frames and shapes.

use forks_mechanism::{
    CableId, Combination, Coordinate, Frame, Joint, JointId, JointKind, JointMatrix, JointSpring,
    Link, LinkId, Look, MechanismBuilder, Servo, Shape,
    lie::{Pose, glam::DVec3, so3::wxyz_from_quaternion},
};

use super::{
    Reader,
    joint::{JointType, RawJoint},
    names::{BodyId, GeomId, Names, SiteId, TendonId, TreeJointId},
    tree::{RawBody, RawGeom, RawSite, RawTree},
};
use crate::{ImportError, Location};

/// A tree joint of the mechanism and what the file says about it.
#[derive(Clone, Debug)]
pub(crate) struct ModelJoint {
    pub(crate) id: JointId,
    pub(crate) raw: RawJoint,
}

impl ModelJoint {
    /// The joint's coordinate, for hinges and slides.
    pub(crate) fn coordinate(&self) -> Coordinate {
        Coordinate::of(self.id)
    }
}

/// A tendon: a combination of coordinates, or a cable; neither for a path that is left out.
#[derive(Clone, Debug)]
pub(crate) struct ModelTendon {
    pub(crate) combination: Option<Combination>,
    pub(crate) cable: Option<CableId>,
    /// Length in the start pose.
    pub(crate) start_length: f64,
}

/// A servo whose damping may have to wait for the mass matrix.
#[derive(Clone, Debug)]
pub(crate) struct PendingServo {
    pub(crate) servo: Servo,
    /// Damping ratio that replaces the damping.
    pub(crate) damping_ratio: Option<f64>,
    pub(crate) gear: f64,
    pub(crate) at: Location,
    pub(crate) label: String,
}

/// The mechanism under construction.
pub(crate) struct Model {
    pub(crate) builder: MechanismBuilder,
    link_of_body: Vec<LinkId>,
    /// Poses of all bodies in the start pose.
    world_from_body: Vec<Pose>,
    pub(crate) body_names: Names<BodyId>,
    /// All joints in MuJoCo's order: depth first, those of a body before those of the bodies that
    /// it carries.
    pub(crate) joints: Vec<ModelJoint>,
    /// Number in that list of the first joint of each body.
    first_joint: Vec<usize>,
    pub(crate) joint_names: Names<TreeJointId>,
    sites: Vec<RawSite>,
    pub(crate) site_names: Names<SiteId>,
    geoms: Vec<RawGeom>,
    pub(crate) geom_names: Names<GeomId>,
    tendons: Vec<ModelTendon>,
    pub(crate) tendon_names: Names<TendonId>,
    pub(crate) equality_names: Names<()>,
    pub(crate) actuator_names: Names<()>,
    pub(crate) servos: Vec<PendingServo>,
    /// Start positions of all tree joints: MuJoCo's qpos0.
    pub(crate) start: Vec<f64>,
}

impl Model {
    /// The joint that a name stands for.
    pub(crate) fn joint(&self, id: TreeJointId) -> &ModelJoint {
        &self.joints[self.first_joint[id.body.0] + id.place]
    }

    /// The link of a body.
    pub(crate) fn link(&self, id: BodyId) -> LinkId {
        self.link_of_body[id.0]
    }

    /// The pose of a body in the start pose.
    pub(crate) fn world_from(&self, id: BodyId) -> Pose {
        self.world_from_body[id.0]
    }

    /// The site that a name stands for.
    pub(crate) fn site(&self, id: SiteId) -> &RawSite {
        &self.sites[id.0]
    }

    /// The geom that a name stands for.
    pub(crate) fn geom(&self, id: GeomId) -> &RawGeom {
        &self.geoms[id.0]
    }

    /// The tendon that a name stands for.
    pub(crate) fn tendon(&self, id: TendonId) -> &ModelTendon {
        &self.tendons[id.0]
    }

    /// The id of the tendon that is added next.
    pub(crate) fn next_tendon(&self) -> TendonId {
        TendonId(self.tendons.len())
    }

    /// Adds a tendon.
    pub(crate) fn add_tendon(&mut self, tendon: ModelTendon) {
        self.tendons.push(tendon);
    }
}

impl Reader<'_> {
    pub(crate) fn assemble(&mut self, name: &str, tree: RawTree) -> Result<Model, ImportError> {
        let inertias = self.inertias(&tree)?;
        let mut model = Model {
            builder: MechanismBuilder::new(name),
            link_of_body: vec![LinkId::WORLD],
            world_from_body: vec![Pose::IDENTITY],
            body_names: tree.body_names,
            joints: vec![],
            first_joint: vec![0],
            joint_names: tree.joint_names,
            sites: tree.sites,
            site_names: tree.site_names,
            geoms: tree.geoms,
            geom_names: tree.geom_names,
            tendons: vec![],
            tendon_names: Names::new("tendon"),
            equality_names: Names::new("equality"),
            actuator_names: Names::new("actuator"),
            servos: vec![],
            start: vec![],
        };
        let c = &self.compiler;
        model.builder.set_gravity(if c.no_gravity { DVec3::ZERO } else { c.gravity });
        let passive_forces = !(c.no_springs && c.no_dampers);
        let mut names: std::collections::HashSet<String> =
            tree.bodies.iter().map(|b| b.name.clone()).collect();
        for (body, inertia) in tree.bodies.iter().zip(inertias).skip(1) {
            model.world_from_body.push(model.world_from_body[body.parent] * body.parent_from_body);
            let mut link = Link::new(&body.name).with_inertia(inertia);
            if passive_forces {
                link.gravity_compensation = body.gravity_compensation;
            }
            model.first_joint.push(model.joints.len());
            self.add_body(&mut model, body, link, &mut names);
        }
        self.judge_inertias(&tree.bodies, &model.link_of_body, &mut model.builder)?;
        // Frames and shapes body by body, as MuJoCo numbers them.
        let mut sites: Vec<&RawSite> = model.sites.iter().collect();
        sites.sort_by_key(|s| s.body.0);
        for s in sites {
            model.builder.add_frame(Frame {
                name: s.name.clone(),
                link: model.link(s.body),
                link_from_frame: s.body_from_site,
            });
        }
        for (body, link_from_look, surface, colour) in tree.looks {
            let link = model.link(body);
            model.builder.add_look(Look { link, link_from_look, surface, colour });
        }
        let mut shapes = tree.shapes;
        shapes.sort_by_key(|s| s.body);
        for s in shapes {
            model.builder.add_shape(Shape {
                name: s.name,
                link: model.link_of_body[s.body],
                link_from_shape: s.body_from_shape,
                geometry: s.geometry,
                friction: s.friction,
                mask: s.mask,
            });
        }
        Ok(model)
    }

    /// The chain of joints from the parent's link to the body's, massless links between them.
    fn add_body(
        &self,
        model: &mut Model,
        body: &RawBody,
        link: Link,
        names: &mut std::collections::HashSet<String>,
    ) {
        let mut parent = model.link_of_body[body.parent];
        let mut offset = body.parent_from_body;
        let Some((last, before)) = body.joints.split_last() else {
            let child = model.builder.add_link(link);
            let mut joint = Joint::new("", JointKind::Fixed, parent, child).at(offset);
            joint.implicit = true;
            model.builder.add_joint(joint);
            model.link_of_body.push(child);
            return;
        };
        for (i, raw) in before.iter().enumerate() {
            let name = auxiliary_name(body, raw, i, names);
            let child = model.builder.add_link(Link::new(name).auxiliary());
            self.add_tree_joint(model, raw, parent, child, offset);
            parent = child;
            offset = Pose::IDENTITY;
        }
        let child = model.builder.add_link(link);
        self.add_tree_joint(model, last, parent, child, offset);
        model.link_of_body.push(child);
    }

    fn add_tree_joint(
        &self,
        model: &mut Model,
        raw: &RawJoint,
        parent: LinkId,
        child: LinkId,
        offset: Pose,
    ) {
        let joint = self.joint(raw, parent, child, offset);
        model.start.extend(&joint.start);
        let id = model.builder.add_joint(joint);
        model.joints.push(ModelJoint { id, raw: raw.clone() });
    }

    fn joint(&self, raw: &RawJoint, parent: LinkId, child: LinkId, offset: Pose) -> Joint {
        let kind = match raw.kind {
            JointType::Free => JointKind::Free,
            JointType::Ball => JointKind::Spherical,
            JointType::Slide => JointKind::Prismatic { axis: raw.axis },
            JointType::Hinge => JointKind::Revolute { axis: raw.axis },
        };
        let mut joint = Joint::new(&raw.name, kind, parent, child);
        if raw.kind == JointType::Free {
            // The coordinates are the pose in the world.
            joint.start = offset.translation.to_array().to_vec();
            joint.start.extend(wxyz_from_quaternion(offset.rotation));
        } else {
            let anchor = Pose::from_translation(raw.position);
            joint = joint.at(offset * anchor).child_at(anchor);
        }
        if raw.kind.is_scalar() {
            joint = joint.with_reference(vec![raw.reference]);
        }
        let dof = joint.dof();
        joint.armature = vec![raw.armature; dof];
        joint.friction = vec![raw.friction; dof];
        joint.limits[0] = raw.limit;
        set_spring(&mut joint, raw, if self.compiler.no_springs { 0.0 } else { raw.stiffness });
        if !self.compiler.no_dampers {
            joint.damping = JointMatrix::isotropic(dof, raw.damping);
        }
        joint
    }
}

/// Spring of a joint; rests at `springref`, balls and free joints at the start pose.
pub(crate) fn set_spring(joint: &mut Joint, raw: &RawJoint, stiffness: f64) {
    if stiffness == 0.0 {
        return;
    }
    let rest = if raw.kind.is_scalar() { vec![raw.spring_reference] } else { joint.start.clone() };
    joint.spring =
        Some(JointSpring { stiffness: JointMatrix::isotropic(joint.dof(), stiffness), rest });
}

/// `body/joint`, made unique among all links.
fn auxiliary_name(
    body: &RawBody,
    raw: &RawJoint,
    index: usize,
    names: &mut std::collections::HashSet<String>,
) -> String {
    let mut name = if raw.name.is_empty() {
        format!("{}/#{index}", body.name)
    } else {
        format!("{}/{}", body.name, raw.name)
    };
    while !names.insert(name.clone()) {
        name.push('\'');
    }
    name
}
