//! The URDF reader: links and joints as they are written, the tree that they form, then the
//! mechanism.

mod assemble;
mod graph;
mod joint;
mod link;
mod mimic;
mod springs;
mod visual;

use std::collections::{HashMap, HashSet};

use forks_mechanism::lie::{
    Pose,
    glam::{DQuat, DVec3},
};

use crate::{
    CoordinateOrder, Import, ImportError, ImportOptions, UrdfOrder,
    note::{Effect, Notes},
    read::{Attributes, Names, label, orientation::unit_quaternion},
    schema::{self, Treatment},
    xml::{Element, Tree, XACRO, wrong_root},
};
use joint::RawJoint;
use link::RawLink;

/// Tag of a URDF file's outermost element.
pub(crate) const ROOT: &str = "robot";

/// Attributes of numbers that have a value where they are not given.
const NUMBERS: [&str; 7] = ["xyz", "rpy", "quat_xyzw", "lower", "upper", "multiplier", "offset"];

/// What all parts of the reader need.
struct Reader<'a> {
    tree: &'a Tree,
    options: &'a ImportOptions,
    notes: Notes,
    /// Springs that URDF does not have.
    springs: Vec<springs::Spring>,
    /// Colours by the names of materials.
    materials: HashMap<&'a str, [u8; 4]>,
    /// Mesh files that are not there, as they are named.
    missing: HashSet<String>,
}

/// Everything as it is written, in document order.
struct Robot<'a> {
    name: &'a str,
    links: Vec<RawLink<'a>>,
    joints: Vec<RawJoint<'a>>,
    /// Numbers in `joints`.
    joint_names: Names<usize>,
}

/// Reads a tree of elements.
pub(crate) fn read(tree: &Tree, options: &ImportOptions) -> Result<Import, ImportError> {
    let root = &tree.elements[tree.root];
    if root.tag != ROOT {
        return Err(wrong_root(
            tree,
            "URDF files are read here, whose outermost element must be 'robot'",
        ));
    }
    let mut reader = Reader {
        tree,
        options,
        notes: Notes::default(),
        springs: Vec::new(),
        materials: visual::materials(tree),
        missing: HashSet::new(),
    };
    let robot = reader.robot(root)?;
    let urdf_order = options.urdf_order.unwrap_or_default();
    let order = graph::depth_first(&robot, urdf_order, tree.location(root))?;
    let mechanism = reader.assemble(&robot, &order)?;
    let order = match urdf_order {
        UrdfOrder::Name => CoordinateOrder::Name,
        UrdfOrder::Mujoco => CoordinateOrder::Mujoco,
    };
    Ok(Import { mechanism, notes: reader.notes.list, effectors: Vec::new(), order })
}

impl<'a> Reader<'a> {
    fn robot(&mut self, root: &'a Element) -> Result<Robot<'a>, ImportError> {
        self.attributes("robot", root);
        let mut links = Vec::new();
        let mut link_names = Names::new("link");
        for e in self.tree.children(root).filter(|e| e.tag == "link") {
            let a = self.named("link", e)?;
            link_names.insert(&a, links.len())?;
            links.push(self.read_link(a, e)?);
        }
        let mut joints = Vec::new();
        let mut joint_names = Names::new("joint");
        let springs = springs::of_gazebo(self.tree, root);
        for e in self.tree.children(root).filter(|e| e.tag == "joint") {
            let a = self.named("joint", e)?;
            joint_names.insert(&a, joints.len())?;
            self.springs.extend(springs::of_joint(self.tree, e, &springs));
            joints.push(self.read_joint(a, e, &link_names)?);
        }
        self.skip_others(root, &["link", "joint"])?;
        self.note_springs();
        Ok(Robot { name: root.attribute("name").unwrap_or(""), links, joints, joint_names })
    }

    /// The attributes of an element that must have a name.
    fn named(&mut self, kind: &'static str, e: &'a Element) -> Result<Attributes<'a>, ImportError> {
        let a = self.attributes(kind, e);
        match a.name() {
            Some(_) => Ok(a),
            None => Err(a.error("attribute 'name' is missing or empty")),
        }
    }

    /// The attributes of an element; those that are not in the table, or are there to be noted, are
    /// noted once.
    fn attributes(&mut self, kind: &'static str, e: &'a Element) -> Attributes<'a> {
        let a = Attributes::new(kind, self.tree, e, &[]);
        for (name, value) in a.iter() {
            if kind == "dynamics" && springs::ATTRIBUTES.contains(&name) {
                continue;
            }
            if value.trim().is_empty() && NUMBERS.contains(&name) {
                let reason = "it is empty and counts as not given";
                self.notes.once(kind, name, Effect::Ignored, reason, &a.at);
                continue;
            }
            let reason = match schema::attribute(schema::urdf_features(), kind, name) {
                None => "not an attribute of URDF here",
                Some(f) if f.treatment == Treatment::Noted && value.trim() != "0" => f.remark,
                Some(_) => continue,
            };
            self.notes.once(kind, name, Effect::Ignored, reason, &a.at);
        }
        a
    }

    /// The only child of a kind. A repetition that says the same is noted, another one is an error.
    fn only(&mut self, e: &'a Element, tag: &str) -> Result<Option<&'a Element>, ImportError> {
        let mut found = self.tree.children(e).filter(|c| c.tag == tag);
        let Some(first) = found.next() else { return Ok(None) };
        for again in found {
            let at = self.tree.location(again);
            let element = label(&e.tag, e.attribute("name"));
            let same = first.attributes == again.attributes && again.children.is_empty();
            if !same && !self.options.lenient {
                let problem =
                    format!("has a second element '{tag}', which differs from the first one");
                return Err(ImportError::Element { at: Box::new(at), element, problem });
            }
            self.notes.add(element, tag, Effect::Ignored, "given twice, the first one counts", &at);
        }
        Ok(Some(first))
    }

    /// Notes the children that are left out, once per kind; macros are refused.
    fn skip_others(&mut self, e: &'a Element, read: &[&str]) -> Result<(), ImportError> {
        let mut seen = HashSet::new();
        for child in self.tree.children(e).filter(|c| !read.contains(&c.tag.as_str())) {
            let at = self.tree.location(child);
            if child.tag.starts_with(XACRO) {
                return Err(ImportError::Unsupported {
                    at: Box::new(at),
                    element: child.tag.clone(),
                    reason: "macros must be expanded first, by the program xacro".into(),
                });
            }
            let known = schema::element(schema::urdf_features(), &child.tag);
            let (treatment, reason) = known
                .map_or((Treatment::Noted, "not an element of URDF here"), |f| {
                    (f.treatment, f.remark)
                });
            if treatment == Treatment::Noted && seen.insert(&child.tag) {
                self.notes.once(&child.tag, "", Effect::Ignored, reason, &at);
            }
        }
        Ok(())
    }

    /// The pose that the `origin` of an element gives, the identity without one.
    ///
    /// `rpy` turns about the fixed axes x, y, z in turn: R = R_z(yaw) R_y(pitch) R_x(roll).
    fn origin(&mut self, e: &'a Element) -> Result<Pose, ImportError> {
        let Some(origin) = self.only(e, "origin")? else { return Ok(Pose::IDENTITY) };
        let a = self.attributes("origin", origin);
        let translation = a.vector("xyz")?.unwrap_or(DVec3::ZERO);
        let rotation = match (a.array::<3>("rpy")?, a.array::<4>("quat_xyzw")?) {
            (Some(_), Some(_)) => {
                return Err(a.error("the orientation is given twice, by 'rpy' and 'quat_xyzw'"));
            }
            (Some(rpy), None) => roll_pitch_yaw(rpy),
            (None, Some([x, y, z, w])) => unit_quaternion([w, x, y, z])
                .ok_or_else(|| a.invalid("quat_xyzw", "is the zero quaternion"))?,
            (None, None) => DQuat::IDENTITY,
        };
        Ok(Pose::new(rotation, translation))
    }
}

/// R_z(yaw) R_y(pitch) R_x(roll).
pub(crate) fn roll_pitch_yaw([roll, pitch, yaw]: [f64; 3]) -> DQuat {
    let half = |angle: f64| (0.5 * angle).sin_cos();
    let ((sr, cr), (sp, cp), (sy, cy)) = (half(roll), half(pitch), half(yaw));
    let x = DQuat::from_xyzw(sr, 0.0, 0.0, cr);
    let y = DQuat::from_xyzw(0.0, sp, 0.0, cp);
    let z = DQuat::from_xyzw(0.0, 0.0, sy, cy);
    z * y * x
}
