//! Cables as spatial tendons: their points are sites, what they wrap are geoms without mass that
//! touch nothing.

use forks_mechanism::{
    Cable, CableId, CableNode, CableObstacle, CablePoint, LinkId, ObstacleKind, Servo,
    Transmission, lie::Pose,
};

use super::{
    WriteError, Writer,
    bodies::pose_attributes,
    xml::{Xml, number, numbers},
};
use crate::note::Effect;

impl Writer<'_> {
    /// Writes all cables, and adds the sites and geoms that they need.
    pub(crate) fn cables(&mut self) -> Result<(), WriteError> {
        for (i, c) in self.m.cables().iter().enumerate() {
            let owner = match c.name.as_str() {
                "" => format!("cable #{i}"),
                name => format!("cable '{name}'"),
            };
            let driven = |s: &Servo| s.transmission == Transmission::Cable(CableId::new(i));
            let driven = self.m.servos().iter().any(driven);
            let name = self.cable(&owner, c, driven)?;
            self.cable_names.push(name);
        }
        Ok(())
    }

    /// Writes a cable; its name, which is empty only where it has none and nothing drives it.
    fn cable(
        &mut self,
        owner: &str,
        c: &Cable,
        driven: bool,
    ) -> Result<Option<String>, WriteError> {
        let written = |l: LinkId| l == LinkId::WORLD || self.chains.iter().any(|k| k.link == l);
        if let Some(l) = c.mentioned_links().find(|&l| !written(l)) {
            let reason = format!("link '{}' is no body of its own", self.m.link(l).name);
            self.refuse(owner, "", &reason)?;
            return Ok(None);
        }
        let name = match c.name.is_empty() && driven {
            true => self.tendon_name("cable"),
            false => self.spring_name(&c.name),
        };
        let mut attributes = Vec::new();
        if !name.is_empty() {
            attributes.push(("name", name.clone()));
        }
        if c.stiffness != 0.0 {
            attributes.push(("stiffness", number(c.stiffness)));
            let mut rest = c.rest;
            if rest == [-1.0; 2] {
                // −1 twice would mean "as long as in the spring reference pose".
                rest = [rest[0].next_up(); 2];
            }
            attributes.push(("springlength", numbers(&rest)));
        }
        if c.damping != 0.0 {
            attributes.push(("damping", number(c.damping)));
        }
        let (mut x, mut added) = (Xml::new(3), false);
        for (k, b) in c.branches.iter().enumerate() {
            if k > 0 || b.divisor != 1.0 {
                x.empty("pulley", &[("divisor", number(b.divisor))]);
            }
            for node in &b.nodes {
                match node {
                    CableNode::Point(p) => {
                        let site = self.site_at(&c.name, p, &mut added);
                        x.empty("site", &[("site", site)]);
                    }
                    CableNode::Obstacle(o) => {
                        let mut attributes = vec![("geom", self.obstacle(&c.name, o))];
                        if let Some(side) = &o.side {
                            attributes.push(("sidesite", self.site_at(&c.name, side, &mut added)));
                        }
                        x.empty("geom", &attributes);
                    }
                }
            }
        }
        if added {
            let reason = "points of its path become named frames";
            self.note(owner, "points", Effect::Approximated, reason);
        }
        self.tendons.open("spatial", &attributes);
        self.tendons.text.push_str(&x.text);
        self.tendons.close("spatial");
        Ok(Some(name))
    }

    /// The name of a site at a point: a frame's that is there, or of one that is added.
    fn site_at(&mut self, cable: &str, p: &CablePoint, added: &mut bool) -> String {
        let there = |f: &&forks_mechanism::Frame| {
            f.link == p.link && f.link_from_frame.translation == p.position
        };
        if let Some(f) = self.m.frames().iter().find(there) {
            return f.name.clone();
        }
        let known = self.cable_sites.iter().find(|(point, _)| point == p);
        if let Some((_, name)) = known {
            return name.clone();
        }
        *added = true;
        let cable = if cable.is_empty() { "cable" } else { cable };
        let name = self.site_name(&format!("{cable}/{}", self.m.link(p.link).name));
        let mut x = Xml::new(3);
        let mut attributes = vec![("name", name.clone())];
        attributes.extend(pose_attributes(&Pose::from_translation(p.position)));
        x.empty("site", &attributes);
        self.sites.push((p.link.index(), x.text));
        self.cable_sites.push((*p, name.clone()));
        name
    }

    /// The name of the geom for an obstacle.
    fn obstacle(&mut self, cable: &str, o: &CableObstacle) -> String {
        let cable = if cable.is_empty() { "cable" } else { cable };
        let name = self.obstacle_name(&format!("{cable}/{}", self.m.link(o.link).name));
        let (kind, size) = match o.kind {
            ObstacleKind::Sphere => ("sphere", number(o.radius)),
            // Its length does not matter to the cable.
            ObstacleKind::Cylinder => ("cylinder", numbers(&[o.radius, o.radius])),
        };
        let mut attributes = vec![("name", name.clone()), ("type", kind.into()), ("size", size)];
        attributes.extend(pose_attributes(&o.link_from_obstacle));
        let rest = [("mass", "0"), ("contype", "0"), ("conaffinity", "0"), ("group", "3")];
        attributes.extend(rest.map(|(k, v)| (k, v.to_owned())));
        let mut x = Xml::new(3);
        x.empty("geom", &attributes);
        self.sites.push((o.link.index(), x.text));
        name
    }
}
