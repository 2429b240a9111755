//! `<spatial>`: a cable through sites, around spheres and cylinders, over pulleys.

use forks_mechanism::{
    Cable, CableBranch, CableNode, CableObstacle, CablePoint,
    lie::{Digits, Pose},
};

use super::{
    Attributes, Reader,
    assemble::{Model, ModelTendon},
    names::SiteId,
    tree::RawGeom,
};
use crate::{ImportError, note::Effect, xml::Element};

/// What a path cannot be.
const NO_PATH: &str = "the tendon has no path";

impl<'a> Reader<'a> {
    /// A path through space, as a cable.
    pub(crate) fn read_spatial(
        &mut self,
        e: &'a Element,
        a: &Attributes<'a>,
        model: &mut Model,
    ) -> Result<ModelTendon, ImportError> {
        let tendon = ModelTendon { combination: None, cable: None, start_length: 0.0 };
        let Some(branches) = self.read_path(e, a, model)? else { return Ok(tendon) };
        let armature = a.number("armature")?.unwrap_or(0.0);
        if armature != 0.0 {
            self.refuse(a.label(), "armature", "no inertia along a path through space", &a.at)?;
        }
        self.note_tendon_limit(a)?;
        let (mut stiffness, more_stiffness) = self.passive(a, "stiffness")?;
        let (mut damping, more_damping) = self.passive(a, "damping")?;
        for (more, name) in [(more_stiffness, "stiffness"), (more_damping, "damping")] {
            if more {
                let reason = "only the linear part is kept";
                self.notes.add(a.label(), name, Effect::Approximated, reason, &a.at);
            }
        }
        if self.compiler.no_springs {
            stiffness = 0.0;
        }
        if self.compiler.no_dampers {
            damping = 0.0;
        }
        let mut cable = Cable {
            name: a.name().unwrap_or("").to_owned(),
            branches,
            stiffness,
            damping,
            rest: [0.0; 2],
        };
        cable.rest = match a.numbers("springlength", 1, 2)?.as_deref() {
            None | Some([-1.0] | [-1.0, -1.0]) => {
                [cable.length(&model.spring_reference_poses()); 2]
            }
            Some([rest]) => [*rest; 2],
            Some([lower, upper]) if lower <= upper => [*lower, *upper],
            _ => return Err(a.invalid("springlength", "decreases")),
        };
        Ok(ModelTendon { cable: Some(model.builder.add_cable(cable)), ..tendon })
    }

    /// The branches of a path; `None` for one without force that is left out.
    fn read_path(
        &mut self,
        e: &'a Element,
        a: &Attributes<'a>,
        model: &Model,
    ) -> Result<Option<Vec<CableBranch>>, ImportError> {
        let mut branches: Vec<CableBranch> = vec![];
        let mut open = CableBranch { divisor: 1.0, nodes: vec![] };
        for child in self.tree.children(e) {
            match child.tag.as_str() {
                "site" => {
                    let t = self.attributes("spatial/site", child)?;
                    let site = model.site_names.required(&t, "site")?;
                    open.nodes.push(CableNode::Point(point(model, site)));
                }
                "geom" => {
                    let t = self.attributes("spatial/geom", child)?;
                    open.nodes.push(CableNode::Obstacle(obstacle(&t, model)?));
                }
                "pulley" => {
                    let t = self.attributes("spatial/pulley", child)?;
                    let divisor = t.number("divisor")?.unwrap_or(1.0);
                    if divisor <= 0.0 {
                        let problem = format!("is {}, not above 0", Digits(divisor));
                        return Err(t.invalid("divisor", problem));
                    }
                    let done = CableBranch { divisor, nodes: vec![] };
                    let done = std::mem::replace(&mut open, done);
                    if !done.nodes.is_empty() {
                        branches.push(done);
                    }
                }
                _ => self.unknown_element(child, "spatial")?,
            }
        }
        branches.push(open);
        let problem = branches.iter().find_map(|b| bad_branch(&b.nodes));
        match problem {
            None => Ok(Some(branches)),
            // Before, paths were not read: models without them are still of use.
            Some(problem) if self.options.lenient => {
                self.notes.add(a.label(), "", Effect::Ignored, problem, &a.at);
                Ok(None)
            }
            Some(problem) => Err(a.error(problem)),
        }
    }
}

/// Why a branch is none.
fn bad_branch(nodes: &[CableNode]) -> Option<&'static str> {
    let is_point = |n: Option<&CableNode>| matches!(n, Some(CableNode::Point(_)));
    let apart = nodes.windows(2).all(|w| is_point(w.first()) || is_point(w.last()));
    match () {
        () if nodes.is_empty() => Some(NO_PATH),
        () if nodes.len() == 1 && is_point(nodes.first()) => Some("a site stands alone"),
        () if !apart || !is_point(nodes.first()) || !is_point(nodes.last()) => {
            Some("a geom is not between two sites")
        }
        () => None,
    }
}

fn point(model: &Model, site: SiteId) -> CablePoint {
    let site = model.site(site);
    CablePoint { link: model.link(site.body), position: site.body_from_site.translation }
}

fn obstacle(t: &Attributes<'_>, model: &Model) -> Result<CableObstacle, ImportError> {
    let geom: &RawGeom = model.geom(model.geom_names.required(t, "geom")?);
    let Some((kind, radius)) = geom.round else {
        return Err(t.invalid("geom", "is neither a sphere nor a cylinder"));
    };
    let side = model.site_names.reference(t, "sidesite")?;
    Ok(CableObstacle {
        link: model.link(geom.body),
        link_from_obstacle: geom.body_from_geom,
        kind,
        radius,
        side: side.map(|s| point(model, s)),
    })
}

impl Model {
    /// Poses of all links where every spring of a joint is at rest.
    fn spring_reference_poses(&self) -> Vec<Pose> {
        let mut reference: Vec<Vec<f64>> =
            self.builder.joints().iter().map(|j| j.start.clone()).collect();
        for j in self.joints.iter().filter(|j| j.raw.kind.is_scalar()) {
            reference[j.id.index()] = vec![j.raw.spring_reference];
        }
        let mut next = reference.into_iter();
        self.poses(|_| next.next().expect("one per joint"))
    }

    /// Poses of all links with positions joint by joint: joints follow those that carry them, and
    /// none closes a loop yet.
    fn poses(&self, mut positions: impl FnMut(&forks_mechanism::Joint) -> Vec<f64>) -> Vec<Pose> {
        let mut out = vec![Pose::IDENTITY; self.builder.links().len()];
        for j in self.builder.joints() {
            out[j.child.index()] = out[j.parent.index()] * j.parent_from_child(&positions(j));
        }
        out
    }
}
