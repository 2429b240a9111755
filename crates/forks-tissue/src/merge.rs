//! Skeletons and free bodies as one tree.

use forks_deform::dynamics::mechanism::{
    Geometry, Joint, JointId, JointKind, JointMatrix, JointSpring, LinkId, Mechanism,
    MechanismBuilder, Shape, lie::Pose,
};

/// A tree that grows.
pub(crate) struct Tree {
    builder: MechanismBuilder,
}

/// What joints of one axis get in place of their own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Springs {
    pub(crate) stiffness: Option<f64>,
    pub(crate) damping: Option<f64>,
}

/// What a skeleton's links and joints are called in the tree.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    /// The ground first.
    pub(crate) links: Vec<LinkId>,
    pub(crate) joints: Vec<JointId>,
}

impl Tree {
    pub(crate) fn new(title: &str, gravity: [f64; 3]) -> Self {
        let mut builder = MechanismBuilder::new(title);
        builder.set_gravity(gravity.into());
        Self { builder }
    }

    /// Adds a tree of links; names begin with its own.
    pub(crate) fn add(
        &mut self,
        name: &str,
        m: &Mechanism,
        placement: Pose,
        springs: Springs,
    ) -> Members {
        let b = &mut self.builder;
        let mut links = vec![LinkId::WORLD];
        for (_, l) in m.moving_links() {
            let mut link = l.clone();
            link.name = format!("{name}/{}", l.name);
            links.push(b.add_link(link));
        }
        let placed = |l: LinkId, p: Pose| if l == LinkId::WORLD { placement * p } else { p };
        let mut joints = Vec::new();
        for j in m.joints() {
            let mut joint = j.clone();
            joint.name =
                if j.name.is_empty() { String::new() } else { format!("{name}/{}", j.name) };
            joint.parent_from_joint = placed(j.parent, j.parent_from_joint);
            joint.child_from_joint = placed(j.child, j.child_from_joint);
            (joint.parent, joint.child) = (links[j.parent.index()], links[j.child.index()]);
            if joint.dof() == 1 && joint.kind.has_scalar_coordinates() {
                if let Some(k) = springs.stiffness {
                    let rest = joint.start.clone();
                    let stiffness = JointMatrix::isotropic(1, k);
                    joint.spring = (k > 0.0).then_some(JointSpring { stiffness, rest });
                }
                if let Some(d) = springs.damping {
                    joint.damping = JointMatrix::isotropic(1, d);
                }
            }
            joints.push(b.add_joint(joint));
        }
        for s in m.shapes() {
            let mut shape = s.clone();
            shape.name = format!("{name}/{}", s.name);
            shape.link_from_shape = placed(s.link, s.link_from_shape);
            shape.link = links[s.link.index()];
            b.add_shape(shape);
        }
        Members { links, joints }
    }

    /// Adds a link that moves freely; `None` for a form without an end.
    pub(crate) fn add_free(
        &mut self,
        name: &str,
        mass: f64,
        form: &Geometry,
        pose: &Pose,
        friction: f64,
    ) -> Option<LinkId> {
        let inertia = form.solid_inertia(mass)?;
        let mut link = forks_deform::dynamics::mechanism::Link::new(name);
        link.inertia = inertia;
        let link = self.builder.add_link(link);
        let mut joint = Joint::new(name, JointKind::Free, LinkId::WORLD, link);
        joint.start = joint.closest_positions(pose);
        self.builder.add_joint(joint);
        self.add_shape(link, form, &Pose::IDENTITY, friction);
        Some(link)
    }

    /// Adds a shape to a link.
    pub(crate) fn add_shape(&mut self, link: LinkId, form: &Geometry, pose: &Pose, friction: f64) {
        self.builder.add_shape(Shape {
            name: String::new(),
            link,
            link_from_shape: *pose,
            geometry: form.clone(),
            friction,
            mask: Default::default(),
        });
    }

    pub(crate) fn build(self) -> Result<Mechanism, forks_deform::dynamics::mechanism::BuildError> {
        self.builder.build()
    }
}
