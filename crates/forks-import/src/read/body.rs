//! The kinematic tree as it is written: bodies in document order with their joints, geoms and
//! sites. Frames are folded into what they hold. An explicit stack, because files nest thousands of
//! bodies.

use forks_mechanism::{
    ContactMask, Geometry,
    lie::{Pose, SpatialInertia, glam::DVec3},
};

use super::{
    Attributes, Reader,
    geom::GeomMass,
    inertia::InertialFault,
    joint::RawJoint,
    names::{BodyId, Names, SiteId, TreeJointId},
    orientation::{from_to, pose},
};
use crate::{ImportError, Location, note::Effect, xml::Element};

/// What is wrong with a body that cannot be put by hand.
const MOCAP: &str = "a mocap body must be a child of the world without joints";

/// A body as it is written.
#[derive(Clone, Debug)]
pub(crate) struct RawBody {
    /// Name; `#i` for the unnamed body with index i.
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) at: Location,
    pub(crate) parent: usize,
    /// Position as it is written, frames around the body left out.
    pub(crate) position: DVec3,
    /// Pose in the parent at the start.
    pub(crate) parent_from_body: Pose,
    pub(crate) gravity_compensation: f64,
    pub(crate) joints: Vec<RawJoint>,
    pub(crate) inertial: Option<SpatialInertia>,
    /// What no body has in the inertial element; it matters where the body moves.
    pub(crate) inertial_fault: Option<InertialFault>,
    pub(crate) geoms: Vec<GeomMass>,
    /// The body or one that carries it has joints.
    pub(crate) moves: bool,
    /// It is put by hand where it stands.
    pub(crate) mocap: bool,
}

/// A named site.
#[derive(Clone, Debug)]
pub(crate) struct RawSite {
    pub(crate) name: String,
    pub(crate) body: BodyId,
    pub(crate) body_from_site: Pose,
}

/// A shape that takes part in contacts.
#[derive(Clone, Debug)]
pub(crate) struct RawShape {
    pub(crate) name: String,
    pub(crate) body: usize,
    pub(crate) body_from_shape: Pose,
    pub(crate) geometry: Geometry,
    pub(crate) friction: f64,
    pub(crate) mask: ContactMask,
}

/// The tree as it is written; body 0 is the world.
#[derive(Clone, Debug)]
pub(crate) struct RawTree {
    pub(crate) bodies: Vec<RawBody>,
    pub(crate) sites: Vec<RawSite>,
    pub(crate) shapes: Vec<RawShape>,
    pub(crate) body_names: Names<BodyId>,
    pub(crate) joint_names: Names<TreeJointId>,
    pub(crate) site_names: Names<SiteId>,
    pub(crate) geom_names: Names<()>,
}

/// Where the walk is: inside a body or a frame of it.
#[derive(Clone, Copy)]
struct Place {
    body: usize,
    /// Pose of the innermost frame in the body.
    body_from_frame: Pose,
    childclass: Option<usize>,
    in_frame: bool,
}

impl<'a> Reader<'a> {
    /// Reads all `<worldbody>` sections as one.
    pub(crate) fn read_bodies(&mut self, worlds: &[&'a Element]) -> Result<RawTree, ImportError> {
        let mut tree = RawTree {
            bodies: vec![RawBody {
                name: "world".into(),
                label: "worldbody".into(),
                at: Location::default(),
                parent: 0,
                position: DVec3::ZERO,
                parent_from_body: Pose::IDENTITY,
                gravity_compensation: 0.0,
                joints: vec![],
                inertial: None,
                inertial_fault: None,
                geoms: vec![],
                moves: false,
                mocap: false,
            }],
            sites: vec![],
            shapes: vec![],
            body_names: Names::new("body"),
            joint_names: Names::new("joint"),
            site_names: Names::new("site"),
            geom_names: Names::new("geom"),
        };
        tree.body_names.insert_text("world", BodyId(0));
        let world =
            Place { body: 0, body_from_frame: Pose::IDENTITY, childclass: None, in_frame: false };
        for w in worlds {
            if let Some((name, value)) = w.attributes.first() {
                let a = Attributes::new("body", self.tree, w, &[]);
                self.unknown_attribute(&a, name, value)?;
            }
            self.walk(w, world, &mut tree)?;
        }
        // Only now all joints are known: those of a body may stand behind the bodies that it
        // carries.
        for i in 1..tree.bodies.len() {
            let b = &tree.bodies[i];
            tree.bodies[i].moves = !b.joints.is_empty() || tree.bodies[b.parent].moves;
        }
        Ok(tree)
    }

    fn walk(
        &mut self,
        root: &'a Element,
        at: Place,
        tree: &mut RawTree,
    ) -> Result<(), ImportError> {
        let mut stack = vec![(root, 0, at)];
        while let Some((e, next, place)) = stack.pop() {
            let Some(&child) = e.children.get(next) else { continue };
            stack.push((e, next + 1, place));
            let child = &self.tree.elements[child];
            match child.tag.as_str() {
                "body" => stack.push((child, 0, self.open_body(child, place, tree)?)),
                "frame" => stack.push((child, 0, self.open_frame(child, place)?)),
                _ => self.read_content(child, place, tree)?,
            }
        }
        Ok(())
    }

    fn open_frame(&mut self, e: &'a Element, place: Place) -> Result<Place, ImportError> {
        let a = self.attributes("frame", e)?;
        Ok(Place {
            body_from_frame: place.body_from_frame * pose(&a, &self.compiler)?,
            childclass: self.childclass(e, place.childclass)?,
            in_frame: true,
            ..place
        })
    }

    fn childclass(&self, e: &Element, around: Option<usize>) -> Result<Option<usize>, ImportError> {
        match e.attribute("childclass") {
            None => Ok(around),
            Some(name) => self.find_class(&e.tag, e, "childclass", name).map(Some),
        }
    }

    fn open_body(
        &mut self,
        e: &'a Element,
        place: Place,
        tree: &mut RawTree,
    ) -> Result<Place, ImportError> {
        let a = self.attributes("body", e)?;
        let index = tree.bodies.len();
        tree.body_names.insert(&a, BodyId(index))?;
        let mocap = a.boolean("mocap")? == Some(true);
        if mocap {
            if place.body != 0 {
                return Err(a.error(MOCAP));
            }
            let reason = "a mocap body is welded to the world where it stands";
            self.notes.add(a.label(), "mocap", Effect::Approximated, reason, &a.at);
        }
        let frame_from_body = pose(&a, &self.compiler)?;
        tree.bodies.push(RawBody {
            name: a.name().map_or_else(|| format!("#{index}"), str::to_owned),
            label: a.name().map_or_else(|| format!("body #{index}"), |_| a.label()),
            at: a.at.clone(),
            parent: place.body,
            position: frame_from_body.translation,
            parent_from_body: place.body_from_frame * frame_from_body,
            gravity_compensation: a.number("gravcomp")?.unwrap_or(0.0),
            joints: vec![],
            inertial: None,
            inertial_fault: None,
            geoms: vec![],
            moves: false,
            mocap,
        });
        Ok(Place {
            body: index,
            body_from_frame: Pose::IDENTITY,
            childclass: self.childclass(e, place.childclass)?,
            in_frame: false,
        })
    }

    fn read_content(
        &mut self,
        e: &'a Element,
        place: Place,
        tree: &mut RawTree,
    ) -> Result<(), ImportError> {
        match e.tag.as_str() {
            "joint" | "freejoint" => self.add_joint(e, place, tree),
            "inertial" => self.add_inertial(e, place, tree),
            "geom" => self.add_geom(e, place, tree),
            "site" => self.add_site(e, place, tree),
            "camera" | "light" => Ok(()),
            "composite" | "flexcomp" | "replicate" | "attach" | "plugin" => {
                self.whole_element(&e.tag, e)
            }
            _ => self.unknown_element(e, "body"),
        }
    }

    fn add_joint(
        &mut self,
        e: &'a Element,
        place: Place,
        tree: &mut RawTree,
    ) -> Result<(), ImportError> {
        if place.body == 0 {
            let a = Attributes::new("joint", self.tree, e, &[]);
            return Err(a.error("the world cannot have joints"));
        }
        let (a, mut joint) = self.read_joint(e, place.childclass)?;
        let id =
            TreeJointId { body: BodyId(place.body), place: tree.bodies[place.body].joints.len() };
        tree.joint_names.insert(&a, id)?;
        joint.position = place.body_from_frame.transform_point(joint.position);
        joint.axis = place.body_from_frame.transform_vector(joint.axis);
        let body = &mut tree.bodies[place.body];
        if body.mocap {
            return Err(a.error(MOCAP));
        }
        joint.check_neighbours(&a, body)?;
        body.joints.push(joint);
        Ok(())
    }

    fn add_inertial(
        &mut self,
        e: &'a Element,
        place: Place,
        tree: &mut RawTree,
    ) -> Result<(), ImportError> {
        let a = self.attributes("inertial", e)?;
        if place.body == 0 {
            return Err(a.error("the world cannot have an inertial element"));
        }
        if tree.bodies[place.body].inertial.is_some() {
            return Err(a.error("the body has a second inertial element"));
        }
        let (inertia, fault) = super::inertia::read(&a, &self.compiler)?;
        let inertia =
            if place.in_frame { inertia.transformed(&place.body_from_frame) } else { inertia };
        tree.bodies[place.body].inertial = Some(inertia);
        tree.bodies[place.body].inertial_fault = fault;
        Ok(())
    }

    fn add_geom(
        &mut self,
        e: &'a Element,
        place: Place,
        tree: &mut RawTree,
    ) -> Result<(), ImportError> {
        let a = self.with_defaults("geom", "geom", e, place.childclass)?;
        for child in self.tree.children(e) {
            self.whole_element_or_unknown("plugin", child, "geom")?;
        }
        tree.geom_names.insert(&a, ())?;
        let mut geom = self.read_geom(&a)?;
        geom.mass.body_from_geom = place.body_from_frame * geom.mass.body_from_geom;
        if let Some((geometry, friction, mask)) = geom.shape {
            tree.shapes.push(RawShape {
                name: a.name().unwrap_or("").to_owned(),
                body: place.body,
                body_from_shape: geom.mass.body_from_geom,
                geometry,
                friction,
                mask,
            });
        }
        if place.body != 0 && geom.gives_inertia {
            tree.bodies[place.body].geoms.push(geom.mass);
        }
        Ok(())
    }

    fn whole_element_or_unknown(
        &mut self,
        known: &'static str,
        e: &Element,
        parent: &str,
    ) -> Result<(), ImportError> {
        if e.tag == known { self.whole_element(known, e) } else { self.unknown_element(e, parent) }
    }

    fn add_site(
        &mut self,
        e: &'a Element,
        place: Place,
        tree: &mut RawTree,
    ) -> Result<(), ImportError> {
        let a = self.with_defaults("site", "site", e, place.childclass)?;
        let frame_from_site = match from_to(&a)? {
            Some((pose, _)) => pose,
            None => pose(&a, &self.compiler)?,
        };
        tree.site_names.insert(&a, SiteId(tree.sites.len()))?;
        // Nothing can refer to a site without a name.
        if let Some(name) = a.name() {
            tree.sites.push(RawSite {
                name: name.into(),
                body: BodyId(place.body),
                body_from_site: place.body_from_frame * frame_from_site,
            });
        }
        Ok(())
    }
}
