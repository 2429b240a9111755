//! `<geom>`: the shape for contacts, and the mass that it gives to its body.

use forks_mechanism::{
    ContactMask, Geometry, ObstacleKind, Surface,
    lie::{Pose, glam::DVec3},
};

use super::{
    Attributes, Reader,
    names::MeshId,
    orientation::{from_to, pose},
};
use crate::{
    ImportError, Location,
    note::{Effect, HULLS},
};

/// What one geom weighs.
#[derive(Clone, Debug)]
pub(crate) struct GeomMass {
    pub(crate) label: String,
    pub(crate) at: Location,
    pub(crate) body_from_geom: Pose,
    pub(crate) source: MassSource,
}

/// Where a geom's mass comes from.
#[derive(Clone, Debug)]
pub(crate) enum MassSource {
    /// Mass and principal moments about the geom's axes.
    Known(f64, DVec3),
    /// A mesh asset; its mass, or density where that is not given.
    Mesh { mesh: MeshId, mass: Option<f64>, density: f64 },
    /// Why it is not known.
    Unknown(String),
}

/// A geom as it is written.
pub(crate) struct RawGeom {
    /// Pose in the frame around it, and mass.
    pub(crate) mass: GeomMass,
    /// Its group is one of those that give inertia.
    pub(crate) gives_inertia: bool,
    /// Form, sliding friction and masks, where it takes part in contacts.
    pub(crate) shape: Option<(Geometry, f64, ContactMask)>,
    /// What is drawn, with its colour.
    pub(crate) look: Option<(Surface, Option<[u8; 4]>)>,
    /// Sphere or cylinder, and its radius.
    pub(crate) round: Option<(ObstacleKind, f64)>,
}

/// Geoms of later groups are not drawn, as MuJoCo's viewer begins.
const LAST_SHOWN: f64 = 2.0;

const TYPES: [&str; 9] =
    ["plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"];

impl<'a> Reader<'a> {
    pub(crate) fn read_geom(&mut self, a: &Attributes<'a>) -> Result<RawGeom, ImportError> {
        // One that names a mesh is no mesh yet: it is a sphere fitted to it.
        let kind = a.keyword("type", &TYPES)?.unwrap_or("sphere");
        let stretched = from_to(a)?;
        if stretched.is_some() && !["capsule", "cylinder", "ellipsoid", "box"].contains(&kind) {
            return Err(a.error(format!("'fromto' does not fit type {kind}")));
        }
        let geom_pose = match stretched {
            Some((p, _)) => p,
            None => pose(a, &self.compiler)?,
        };
        let group = a.number("group")?.unwrap_or(0.0);
        let groups = self.compiler.inertia_groups;
        let mut out = RawGeom {
            mass: GeomMass {
                label: a.label(),
                at: a.at.clone(),
                body_from_geom: geom_pose,
                source: MassSource::Known(0.0, DVec3::ZERO),
            },
            gives_inertia: (groups[0]..=groups[1]).contains(&group),
            shape: None,
            look: None,
            round: None,
        };
        let own = colour(a)?;
        let colour = own.or_else(|| self.assets.material(a.text("material")?));
        let shown = group <= LAST_SHOWN && colour.is_none_or(|c| c[3] > 0);
        let mass = a.not_negative("mass")?;
        let density = a.not_negative("density")?.unwrap_or(1000.0);
        let friction = friction(a)?;
        let fitted = !matches!(kind, "mesh" | "sdf" | "hfield" | "plane") && a.has("mesh");
        let geometry = if fitted {
            let mesh = self.assets.mesh(a)?;
            let scale = a.number("fitscale")?.unwrap_or(1.0);
            match self.assets.fitted(mesh, kind, self.compiler.fit_around, scale) {
                Ok((mesh_from_geom, geometry)) => {
                    out.mass.body_from_geom = geom_pose * mesh_from_geom;
                    geometry
                }
                Err(reason) => {
                    self.notes.add(a.label(), "mesh", Effect::Ignored, &reason, &a.at);
                    if mass != Some(0.0) {
                        out.mass.source = MassSource::Unknown(reason);
                    }
                    return Ok(out);
                }
            }
        } else if matches!(kind, "mesh" | "sdf" | "hfield") {
            let surface = self.mesh_shape(a, kind, friction, &mut out)?;
            out.look = surface.filter(|_| shown).map(|s| (s, colour));
            if kind != "hfield" && mass != Some(0.0) {
                out.mass.source = self.mesh_source(a, kind, mass, density)?;
            }
            return Ok(out);
        } else {
            geometry(a, kind, stretched.map(|(_, half)| half))?
        };
        let shell = a.boolean("shellinertia")? == Some(true);
        let filled = if shell { geometry.shell() } else { geometry.solid() };
        let (volume, moments) = filled.unwrap_or((0.0, DVec3::ZERO));
        let mass = mass.unwrap_or(density * volume);
        // A geom without mass is there for its shape only.
        if mass > 0.0 && kind != "plane" {
            out.mass.source = MassSource::Known(mass, moments * mass);
        }
        out.round = round(&geometry);
        out.look = shown.then(|| (Surface::Form(geometry.clone()), colour));
        out.shape = friction.map(|(f, mask)| (geometry, f, mask));
        Ok(out)
    }

    /// What is drawn of a mesh or a height field; its hull is the shape where that was asked for.
    fn mesh_shape(
        &mut self,
        a: &Attributes<'a>,
        kind: &str,
        friction: Option<(f64, ContactMask)>,
        out: &mut RawGeom,
    ) -> Result<Option<Surface>, ImportError> {
        let attribute = if kind == "hfield" { "hfield" } else { "mesh" };
        let mesh = match kind {
            "hfield" => self.assets.field(a).map(|()| None)?,
            "mesh" => Some(self.assets.mesh(a)?),
            _ => None,
        };
        let surface = mesh.and_then(|m| self.assets.surface(m));
        let Some((friction, mask)) = friction else { return Ok(surface) };
        let reason = match mesh.filter(|_| self.options.hulls && surface.is_some()) {
            None => "collision shapes that are meshes or height fields are dropped",
            Some(mesh) => match self.assets.hull(mesh) {
                Ok(hull) => {
                    out.shape = Some((hull, friction, mask));
                    HULLS
                }
                Err(reason) => {
                    let reason = format!("the shape is dropped: {reason}");
                    self.notes.add(a.label(), attribute, Effect::Ignored, reason, &a.at);
                    return Ok(surface);
                }
            },
        };
        let effect = if out.shape.is_some() { Effect::Approximated } else { Effect::Ignored };
        self.notes.once("geom", attribute, effect, reason, &a.at);
        Ok(surface)
    }

    fn mesh_source(
        &self,
        a: &Attributes<'a>,
        kind: &str,
        mass: Option<f64>,
        density: f64,
    ) -> Result<MassSource, ImportError> {
        if kind == "sdf" {
            return Ok(MassSource::Unknown("its form is made by a plugin".into()));
        }
        if a.has("shellinertia") {
            let problem = "is for primitives; a mesh has 'inertia' in its asset";
            return Err(a.invalid("shellinertia", problem));
        }
        Ok(MassSource::Mesh { mesh: self.assets.mesh(a)?, mass, density })
    }
}

/// The `rgba` of an element, if it has one.
pub(crate) fn colour(a: &Attributes<'_>) -> Result<Option<[u8; 4]>, ImportError> {
    let byte = |x: f64| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    let rgba = a.numbers("rgba", 0, 4)?.filter(|c| c.len() >= 3);
    Ok(rgba.map(|c| [byte(c[0]), byte(c[1]), byte(c[2]), c.get(3).map_or(255, |a| byte(*a))]))
}

/// Sliding friction and masks of a geom that takes part in contacts.
fn friction(a: &Attributes<'_>) -> Result<Option<(f64, ContactMask)>, ImportError> {
    // MuJoCo's masks are signed: -1 is all bits.
    let bits = |name| Ok::<_, ImportError>(a.number(name)?.unwrap_or(1.0) as i64 as u32);
    let mask = ContactMask { own: bits("contype")?, touches: bits("conaffinity")? };
    if mask.own == 0 && mask.touches == 0 {
        return Ok(None);
    }
    match a.numbers("friction", 1, 3)? {
        Some(f) if f[0] < 0.0 => Err(a.invalid("friction", "is negative")),
        Some(f) => Ok(Some((f[0], mask))),
        None => Ok(Some((1.0, mask))),
    }
}

/// The form of a primitive; `half` is half the distance of the `fromto` points.
fn geometry(a: &Attributes<'_>, kind: &str, half: Option<f64>) -> Result<Geometry, ImportError> {
    if kind == "plane" {
        return Ok(Geometry::Plane);
    }
    let given = a.numbers("size", 1, 3)?.unwrap_or_default();
    let size = |i: usize| match given.get(i) {
        Some(&s) if s > 0.0 => Ok(s),
        Some(_) => Err(a.invalid("size", "has a number that is not positive")),
        None => Err(a.error(format!("size number {} of the {kind} is missing", i + 1))),
    };
    let length = |i: usize| half.map_or_else(|| size(i), Ok);
    let three = || match half {
        Some(h) => Ok(DVec3::new(size(0)?, size(0)?, h)),
        None => Ok::<_, ImportError>(DVec3::new(size(0)?, size(1)?, size(2)?)),
    };
    Ok(match kind {
        "sphere" => Geometry::Sphere { radius: size(0)? },
        "capsule" => Geometry::Capsule { radius: size(0)?, half_length: length(1)? },
        "cylinder" => Geometry::Cylinder { radius: size(0)?, half_length: length(1)? },
        "ellipsoid" => Geometry::Ellipsoid { radii: three()? },
        _ => Geometry::Box { half_extents: three()? },
    })
}

/// What a cable may wrap, of the forms that geoms have.
fn round(geometry: &Geometry) -> Option<(ObstacleKind, f64)> {
    match geometry {
        Geometry::Sphere { radius } => Some((ObstacleKind::Sphere, *radius)),
        Geometry::Cylinder { radius, .. } => Some((ObstacleKind::Cylinder, *radius)),
        _ => None,
    }
}
