//! Reads the kinematic tree: bodies in document order with their joints, geoms and
//! sites. Frames are folded into what they hold. An explicit stack, because files nest thousands of
//! bodies.

use forks_mechanism::lie::{Pose, glam::DVec3};

use super::{
    Attributes, Reader,
    joint::{JointType, RawJoint},
    names::{BodyId, GeomId, Names, SiteId, TreeJointId},
    orientation::{from_to, pose},
    tree::{RawBody, RawGeom, RawShape, RawSite, RawTree},
};
use crate::{ImportError, Location, note::Effect, xml::Element};

/// What is wrong with a body that cannot be put by hand.
const MOCAP: &str = "a mocap body must be a child of the world without joints";

/// Where the walk is: inside a body or a frame of it.
#[derive(Clone, Copy)]
struct Place {
    body: usize,
    /// Pose of the innermost frame in the body.
    body_from_frame: Pose,
    childclass: Option<usize>,
    in_frame: bool,
}

impl RawBody {
    /// Which joints can stand beside each other.
    fn check_neighbours(&self, a: &Attributes<'_>, joint: &RawJoint) -> Result<(), ImportError> {
        if joint.kind == JointType::Free && self.parent != 0 {
            return Err(a.error("a free joint is allowed only in children of the world"));
        }
        let others = |f: &dyn Fn(JointType) -> bool| self.joints.iter().any(|j| f(j.kind));
        if joint.kind == JointType::Free && !self.joints.is_empty()
            || others(&|k| k == JointType::Free)
        {
            return Err(a.error(format!("{} has a free joint and other joints", self.label)));
        }
        let turns = joint.kind == JointType::Ball || joint.kind == JointType::Hinge;
        if turns && others(&|k| k == JointType::Ball) {
            return Err(
                a.error(format!("{} has a ball joint and then another rotation", self.label))
            );
        }
        Ok(())
    }
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
            looks: vec![],
            body_names: Names::new("body"),
            joint_names: Names::new("joint"),
            site_names: Names::new("site"),
            geoms: vec![],
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
        body.check_neighbours(&a, &joint)?;
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
        tree.geom_names.insert(&a, GeomId(tree.geoms.len()))?;
        let mut geom = self.read_geom(&a)?;
        geom.mass.body_from_geom = place.body_from_frame * geom.mass.body_from_geom;
        if a.name().is_some() {
            tree.geoms.push(RawGeom {
                body: BodyId(place.body),
                body_from_geom: geom.mass.body_from_geom,
                round: geom.round,
            });
        }
        if let Some((surface, colour)) = geom.look {
            let at = geom.mass.body_from_geom;
            tree.looks.push((BodyId(place.body), at, surface, colour));
        }
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
