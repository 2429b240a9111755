//! What simulators with contact need beside a mechanism: options, forms that are assets, pairs of
//! bodies that pass through each other, and how the start states move.

use forks_mechanism::{
    Geometry, JointKind, LinkId, Mechanism, Shape,
    lie::{
        Pose, Twist,
        glam::{DVec2, DVec3},
        so3::quaternion_from_wxyz,
    },
};

use super::{
    WriteError, Writer,
    bodies::pose_attributes,
    chain::Motion,
    unsupported,
    xml::{Xml, number, numbers},
};
use crate::note::Effect;

/// What MuJoCo wants below a height field, and the least height that it takes for one, m.
const BELOW: f64 = 0.1;
const LEAST_HEIGHT: f64 = 1e-9;

/// What a file for simulators with contact says beside its mechanism.
///
/// Bodies have names in such a file even where the mechanism numbered them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MjcfScene {
    /// `timestep`, s.
    pub step: Option<f64>,
    /// Elliptic friction cones, with friction so many times as stiff as the normal direction
    /// (`impratio`).
    pub friction_stiffness: Option<f64>,
    /// Time constant of loops and couplings at critical damping, s (`solref`); MuJoCo takes no less
    /// than two steps.
    pub equality_time: Option<f64>,
    /// Shapes that are no primitives: hulls, and height fields of links that do not move. The file
    /// has them as assets that geoms refer to.
    pub forms: Vec<Shape>,
    /// Pairs of links whose shapes pass through each other.
    pub excluded: Vec<[LinkId; 2]>,
    /// Body twists of links on free joints in all keyframes.
    pub velocities: Vec<(LinkId, Twist)>,
    /// Targets of all servos in all keyframes, as their combinations; none: the file has no `ctrl`.
    pub controls: Vec<f64>,
}

impl MjcfScene {
    /// Everything fits the mechanism, and is finite.
    pub(crate) fn check(&self, m: &Mechanism) -> Result<(), WriteError> {
        let known = |l: LinkId| l.index() < m.links().len();
        let forms = self.forms.iter().map(|f| f.link);
        let pairs = self.excluded.iter().flatten().copied();
        let moving = self.velocities.iter().map(|(l, _)| *l);
        if let Some(l) = forms.chain(pairs).chain(moving).find(|l| !known(*l)) {
            return Err(unsupported(format!("link {}", l.index()), "the mechanism has none"));
        }
        for (name, x) in [
            ("step", self.step),
            ("friction stiffness", self.friction_stiffness),
            ("equality time", self.equality_time),
        ] {
            if let Some(x) = x.filter(|x| !(x.is_finite() && *x > 0.0)) {
                return Err(unsupported(format!("the {name} {x}"), "it has to be above 0"));
            }
        }
        self.forms.iter().try_for_each(check_form)?;
        for (l, twist) in &self.velocities {
            let free = |j: &forks_mechanism::Joint| j.kind == JointKind::Free;
            let carried = m.forest().carrying_edge(*l).map(|e| m.joint(e.joint));
            if !carried.is_some_and(free) || !twist.is_finite() {
                let element = format!("the velocity of link '{}'", m.link(*l).name);
                return Err(unsupported(
                    element,
                    "the link has no free joint, or it is not finite",
                ));
            }
        }
        let (found, wanted) = (self.controls.len(), m.servos().len());
        if found != 0 && found != wanted || self.controls.iter().any(|x| !x.is_finite()) {
            let element = format!("a list of {found} controls");
            return Err(unsupported(element, &format!("{wanted} finite ones are needed")));
        }
        Ok(())
    }
}

fn check_form(shape: &Shape) -> Result<(), WriteError> {
    let wrong = |reason: &str| Err(unsupported(format!("shape '{}'", shape.name), reason));
    if !(shape.link_from_shape.is_finite() && shape.friction.is_finite()) {
        return wrong("its place or friction is not finite");
    }
    match &shape.geometry {
        g if !g.is_finite() => wrong("a point, size or height is not finite"),
        Geometry::Hull { points } if points.len() < 4 => wrong("a hull needs four points"),
        Geometry::Hull { .. } => Ok(()),
        Geometry::HeightField { columns, heights, .. } => {
            let whole = *columns > 1
                && heights.len() >= 2 * columns
                && heights.len().is_multiple_of(*columns);
            if whole { Ok(()) } else { wrong("a height field needs two full rows and two columns") }
        }
        _ => wrong("it is no hull and no height field"),
    }
}

/// Element, and attribute that names its kind, of a shape that is an asset.
fn asset_kind(geometry: &Geometry) -> &'static str {
    if matches!(geometry, Geometry::Hull { .. }) { "mesh" } else { "hfield" }
}

impl Writer<'_> {
    /// Attributes of `<option>`.
    pub(crate) fn contact_options(&self) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        let Some(scene) = self.scene else { return out };
        out.extend(scene.step.map(|h| ("timestep", number(h))));
        if let Some(ratio) = scene.friction_stiffness {
            out.push(("cone", "elliptic".into()));
            out.push(("impratio", number(ratio)));
        }
        out
    }

    /// `<asset>`: meshes and height fields, whose names the geoms need.
    pub(crate) fn assets(&mut self) -> Xml {
        let mut x = Xml::new(2);
        let Some(scene) = self.scene else { return x };
        for shape in &scene.forms {
            let name = self.asset_name(&shape.name);
            let mut attributes = vec![("name", name.clone())];
            match &shape.geometry {
                Geometry::Hull { points } => {
                    let flat: Vec<f64> = points.iter().flat_map(|p| p.to_array()).collect();
                    attributes.push(("vertex", numbers(&flat)));
                }
                Geometry::HeightField { size, columns, heights } => {
                    attributes.extend(field_attributes(*size, *columns, heights));
                }
                // The check has refused all others.
                _ => continue,
            }
            x.empty(asset_kind(&shape.geometry), &attributes);
            self.assets.push(name);
        }
        x
    }

    /// Geoms of a link whose forms are assets.
    pub(crate) fn forms(&mut self, link: LinkId, moves: bool, x: &mut Xml) {
        let Some(scene) = self.scene else { return };
        for (k, shape) in scene.forms.iter().enumerate().filter(|(_, s)| s.link == link) {
            let mut place = shape.link_from_shape;
            if let Geometry::HeightField { heights, .. } = &shape.geometry {
                if moves {
                    let reason = "MJCF has height fields only on bodies that do not move";
                    self.note(format!("shape '{}'", shape.name), "", Effect::Ignored, reason);
                    continue;
                }
                // The lowest height is 0 in the file.
                place = place * Pose::from_translation(DVec3::new(0.0, 0.0, lowest(heights)));
            }
            let name = self.geom_name(&shape.name);
            let mut attributes = if name.is_empty() { vec![] } else { vec![("name", name)] };
            let kind = asset_kind(&shape.geometry);
            attributes.push(("type", kind.into()));
            attributes.push((kind, self.assets[k].clone()));
            attributes.extend(pose_attributes(&place));
            if shape.friction != 1.0 {
                attributes.push(("friction", number(shape.friction)));
            }
            x.empty("geom", &attributes);
        }
    }

    /// `<contact>`: pairs of bodies that pass through each other.
    pub(crate) fn exclusions(&self) -> Xml {
        let mut x = Xml::new(2);
        let of_scene = self.scene.iter().flat_map(|s| &s.excluded);
        for pair in self.m.exclusions().iter().chain(of_scene) {
            let [a, b] = pair.map(|l| self.m.link(l).name.clone());
            x.empty("exclude", &[("body1", a), ("body2", b)]);
        }
        x
    }

    /// `qvel` and `ctrl` of a keyframe with these positions.
    pub(crate) fn start_motion(&self, q: &[f64]) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        let Some(scene) = self.scene else { return out };
        if !scene.velocities.is_empty() {
            out.push(("qvel", numbers(&self.written_velocities(&scene.velocities, q))));
        }
        if !scene.controls.is_empty() {
            let controls: Vec<f64> = self.actuators.iter().map(|&k| scene.controls[k]).collect();
            out.push(("ctrl", numbers(&controls)));
        }
        out
    }

    /// MuJoCo's velocities: of free joints linear in world axes, then angular in body axes.
    fn written_velocities(&self, of: &[(LinkId, Twist)], q: &[f64]) -> Vec<f64> {
        let (mut out, mut at) = (Vec::new(), 0);
        for c in &self.chains {
            for motion in c.joints.iter().flat_map(|j| &j.motions) {
                let (positions, velocities) = match motion {
                    Motion::Hinge(_) | Motion::Slide(_) => (1, 1),
                    Motion::Ball => (4, 3),
                    Motion::Free => (7, 6),
                };
                let twist = of.iter().find(|(l, _)| *l == c.link && *motion == Motion::Free);
                match twist {
                    Some((_, twist)) => {
                        let r = &q[at + 3..at + 7];
                        let rotation = quaternion_from_wxyz([r[0], r[1], r[2], r[3]]);
                        out.extend((rotation * twist.linear).to_array());
                        out.extend(twist.angular.to_array());
                    }
                    None => out.extend(std::iter::repeat_n(0.0, velocities)),
                }
                at += positions;
            }
        }
        out
    }
}

fn lowest(heights: &[f64]) -> f64 {
    heights.iter().copied().fold(f64::INFINITY, f64::min)
}

/// MJCF lists rows from the far side on, and scales heights to the range between lowest and
/// highest.
fn field_attributes(size: DVec2, columns: usize, heights: &[f64]) -> [(&'static str, String); 4] {
    let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rise = (highest - lowest(heights)).max(LEAST_HEIGHT);
    let rows: Vec<f64> = heights.chunks(columns).rev().flatten().copied().collect();
    [
        ("nrow", (heights.len() / columns).to_string()),
        ("ncol", columns.to_string()),
        ("size", numbers(&[size.x / 2.0, size.y / 2.0, rise, BELOW])),
        ("elevation", numbers(&rows)),
    ]
}
