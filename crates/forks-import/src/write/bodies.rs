//! `<worldbody>`: bodies with inertia, joints, shapes and sites.

use forks_mechanism::{
    ContactMask, Geometry, Joint, LinkId, Shape,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
        so3::wxyz_from_quaternion,
    },
    linalg::{Matrix, dense},
};

use super::{
    Chain, WriteError, Writer,
    chain::{Motion, WrittenJoint},
    xml::{Xml, number, numbers},
};
use crate::note::Effect;

/// Masses and moments below this do not count in a moving body, as in MuJoCo.
const LEAST: f64 = 1e-15;
/// Stands for a limit that is infinitely far away.
const FAR: f64 = 1e10;

/// `pos` and `quat`, left out where they are zero and identity.
pub(crate) fn pose_attributes(p: &Pose) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if p.translation != DVec3::ZERO {
        out.push(("pos", numbers(&p.translation.to_array())));
    }
    if p.rotation != DQuat::IDENTITY {
        out.push(("quat", numbers(&wxyz_from_quaternion(p.rotation))));
    }
    out
}

impl Writer<'_> {
    pub(crate) fn bodies(&mut self) -> Result<Xml, WriteError> {
        self.check_masses()?;
        let m = self.m;
        let mut x = Xml::new(2);
        self.contents(LinkId::WORLD, false, &mut x);
        let shared = self.one_root();
        if let Some(name) = &shared {
            x.open("body", &[("name", name.clone())]);
            self.inertial(&SpatialInertia::ZERO, &mut x);
        }
        let mut open: Vec<LinkId> = Vec::new();
        let mut moving = vec![false; m.links().len()];
        let chains = std::mem::take(&mut self.chains);
        for (i, c) in chains.iter().enumerate() {
            while open.last().is_some_and(|&l| l != c.carrier) {
                open.pop();
                x.close("body");
            }
            moving[c.link.index()] = moving[c.carrier.index()] || !c.joints.is_empty();
            self.open_body(c, i + 1, &mut x)?;
            self.contents(c.link, moving[c.link.index()], &mut x);
            open.push(c.link);
        }
        self.chains = chains;
        for _ in open.iter().map(|_| ()).chain(shared.map(|_| ())) {
            x.close("body");
        }
        if !m.link(LinkId::WORLD).inertia.is_zero() {
            self.note(
                "link 'world'",
                "inertia",
                Effect::Ignored,
                "the world has no inertia in MJCF",
            );
        }
        Ok(x)
    }

    /// The name of a body that holds all others, where that was asked for and they are several that
    /// can be held.
    fn one_root(&mut self) -> Option<String> {
        let roots = self.chains.iter().filter(|c| c.carrier == LinkId::WORLD);
        let free = |c: &Chain| c.joints.iter().any(|j| j.motions.contains(&Motion::Free));
        if !self.one_root || roots.clone().count() < 2 {
            return None;
        }
        if roots.clone().any(free) {
            let reason = "free joints must hang on the world";
            self.note("mechanism", "one_root", Effect::Ignored, reason);
            return None;
        }
        let mut name = "ground".to_owned();
        while self.m.find_link(&name).is_some() {
            name.push('\'');
        }
        let reason = "all bodies hang on one more, which does not move";
        self.note("mechanism", "one_root", Effect::Approximated, reason);
        Some(name)
    }

    fn open_body(&mut self, c: &Chain, index: usize, x: &mut Xml) -> Result<(), WriteError> {
        let link = self.m.link(c.link);
        let mut attributes = Vec::new();
        // Unnamed bodies are called `#i` when they are read.
        let unnamed = link.name == format!("#{index}") && !self.referred(c.link);
        if !unnamed {
            attributes.push(("name", link.name.clone()));
        }
        if link.name.is_empty() {
            self.note(
                "link ''",
                "name",
                Effect::Approximated,
                "the empty name becomes '#' and a number",
            );
        }
        attributes.extend(pose_attributes(&c.carrier_from_body));
        if link.gravity_compensation != 0.0 {
            attributes.push(("gravcomp", number(link.gravity_compensation)));
        }
        x.open("body", &attributes);
        self.inertial(&link.inertia, x);
        for j in &c.joints {
            self.joint(j, x)?;
        }
        if c.joints.is_empty() {
            let e = self.m.forest().carrying_edge(c.link).expect("bodies are carried");
            let j = self.m.joint(e.joint);
            if !j.implicit && !j.name.is_empty() {
                let label = self.label(e.joint);
                self.note(label, "name", Effect::Ignored, "a welded body has no joint in MJCF");
            }
        }
        Ok(())
    }

    /// A loop refers to the body by name, or whoever uses the scene may.
    fn referred(&self, link: LinkId) -> bool {
        self.scene.is_some() || self.closed_links.contains(&link)
    }

    /// Massless bodies say so: Pinocchio refuses those that say nothing.
    fn inertial(&mut self, i: &SpatialInertia, x: &mut Xml) {
        let mut attributes =
            vec![("pos", numbers(&i.center_of_mass.to_array())), ("mass", number(i.mass))];
        let t = i.inertia;
        let diagonal = DVec3::new(t.x_axis.x, t.y_axis.y, t.z_axis.z);
        if t == DMat3::from_diagonal(diagonal) {
            attributes.push(("diaginertia", numbers(&diagonal.to_array())));
        } else if i.principal_moments()[0] > 0.0 {
            let full = [t.x_axis.x, t.y_axis.y, t.z_axis.z, t.y_axis.x, t.z_axis.x, t.z_axis.y];
            attributes.push(("fullinertia", numbers(&full)));
        } else {
            let (moments, rotation) = principal(t);
            attributes.push(("quat", numbers(&wxyz_from_quaternion(rotation))));
            attributes.push(("diaginertia", numbers(&moments.to_array())));
        }
        x.empty("inertial", &attributes);
    }

    fn joint(&mut self, w: &WrittenJoint, x: &mut Xml) -> Result<(), WriteError> {
        let j = self.m.joint(w.id);
        let forces = self.joint_forces(w, j)?;
        let names = self.names.joint(w.id).to_vec();
        for (i, motion) in w.motions.iter().enumerate() {
            let mut attributes = Vec::new();
            if !names[i].is_empty() {
                attributes.push(("name", names[i].clone()));
            }
            let (kind, axis) = match motion {
                Motion::Hinge(a) => ("hinge", Some(a)),
                Motion::Slide(a) => ("slide", Some(a)),
                Motion::Ball => ("ball", None),
                Motion::Free => ("free", None),
            };
            attributes.push(("type", kind.into()));
            if kind != "free" && w.anchor != DVec3::ZERO {
                attributes.push(("pos", numbers(&w.anchor.to_array())));
            }
            if let Some(axis) = axis {
                attributes.push(("axis", numbers(&axis.to_array())));
                self.scalar_attributes(w, j, i, &mut attributes);
            }
            if let Some(s) = j.spring.as_ref().filter(|s| !s.stiffness.is_zero()) {
                attributes.push(("stiffness", number(forces.stiffness[i])));
                if axis.is_some() {
                    attributes.push(("springref", number(s.rest[i])));
                }
            }
            let more = [
                ("damping", forces.damping[i]),
                ("armature", forces.armature[i]),
                ("frictionloss", forces.friction[i]),
            ];
            for (name, value) in more {
                if value != 0.0 {
                    attributes.push((name, number(value)));
                }
            }
            x.empty("joint", &attributes);
        }
        Ok(())
    }

    fn scalar_attributes(
        &mut self,
        w: &WrittenJoint,
        j: &Joint,
        i: usize,
        attributes: &mut Vec<(&'static str, String)>,
    ) {
        let start = self.start[self.m.position_range(w.id)][i];
        if start != 0.0 {
            attributes.push(("ref", number(start)));
        }
        let Some(l) = j.limits[i] else { return };
        let label = self.label(w.id);
        if l.lower >= l.upper {
            self.note(label, "limits", Effect::Ignored, "a range of one point is none in MJCF");
            return;
        }
        if !(l.lower.is_finite() && l.upper.is_finite()) {
            self.note(
                label,
                "limits",
                Effect::Approximated,
                "the open end of the range becomes 1e10",
            );
        }
        attributes.push(("limited", "true".into()));
        attributes.push(("range", numbers(&[l.lower.max(-FAR), l.upper.min(FAR)])));
    }

    /// Shapes and sites of a link.
    fn contents(&mut self, link: LinkId, moves: bool, x: &mut Xml) {
        let m = self.m;
        for &i in &self.shapes_of[link.index()].clone() {
            let s = &m.shapes()[i];
            if moves && s.geometry == Geometry::Plane {
                let name = format!("shape '{}'", s.name);
                self.note(
                    name,
                    "",
                    Effect::Ignored,
                    "MJCF has planes only on bodies that do not move",
                );
                continue;
            }
            let Some((kind, size)) = primitive(&s.geometry) else {
                let reason = "only MjcfScene has hulls and height fields";
                self.note(format!("shape '{}'", s.name), "", Effect::Ignored, reason);
                continue;
            };
            let name = self.geom_name(&s.name);
            x.empty("geom", &shape_attributes(&name, s, kind, &size));
        }
        self.forms(link, moves, x);
        for &i in &self.frames_of[link.index()] {
            let f = &m.frames()[i];
            let mut attributes = vec![("name", f.name.clone())];
            attributes.extend(pose_attributes(&f.link_from_frame));
            x.empty("site", &attributes);
        }
        for (l, text) in &self.sites {
            if *l == link.index() {
                x.text.push_str(text);
            }
        }
    }

    fn check_masses(&self) -> Result<(), WriteError> {
        let mut heavy: Vec<bool> = self
            .m
            .links()
            .iter()
            .map(|l| l.inertia.mass >= LEAST && l.inertia.principal_moments()[0] >= LEAST)
            .collect();
        for c in self.chains.iter().rev() {
            if heavy[c.link.index()] && c.joints.is_empty() {
                heavy[c.carrier.index()] = true;
            }
        }
        match self.chains.iter().find(|c| !c.joints.is_empty() && !heavy[c.link.index()]) {
            Some(c) => Err(WriteError::Massless { link: self.m.link(c.link).name.clone() }),
            None => Ok(()),
        }
    }
}

/// Principal moments and axes of a tensor.
fn principal(t: DMat3) -> (DVec3, DQuat) {
    let m = Matrix::from_fn(3, 3, |r, c| t.col(c)[r]);
    let Some((values, v)) = dense::symmetric_eigen(&m) else {
        return (DVec3::ZERO, DQuat::IDENTITY);
    };
    let column = |k| DVec3::new(v[(0, k)], v[(1, k)], v[(2, k)]);
    let (x, y) = (column(0), column(1));
    let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)));
    (DVec3::from_slice(&values).max(DVec3::ZERO), rotation.normalize())
}

/// Type and size of a geom that is no asset.
fn primitive(geometry: &Geometry) -> Option<(&'static str, Vec<f64>)> {
    let kind = match geometry {
        // Unbounded, with grid lines 1 m apart.
        Geometry::Plane => return Some(("plane", vec![0.0, 0.0, 1.0])),
        Geometry::Sphere { .. } => "sphere",
        Geometry::Capsule { .. } => "capsule",
        Geometry::Cylinder { .. } => "cylinder",
        Geometry::Ellipsoid { .. } => "ellipsoid",
        Geometry::Box { .. } => "box",
        _ => return None,
    };
    Some((kind, geometry.sizes()))
}

fn shape_attributes(
    name: &str,
    s: &Shape,
    kind: &str,
    size: &[f64],
) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if !name.is_empty() {
        out.push(("name", name.to_owned()));
    }
    out.push(("type", kind.into()));
    out.push(("size", numbers(size)));
    out.extend(pose_attributes(&s.link_from_shape));
    if s.friction != 1.0 {
        out.push(("friction", number(s.friction)));
    }
    if s.mask != ContactMask::default() {
        // Signed, as MuJoCo reads them.
        out.push(("contype", (s.mask.own as i32).to_string()));
        out.push(("conaffinity", (s.mask.touches as i32).to_string()));
    }
    out
}
