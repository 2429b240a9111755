//! `<geom>`: the shape for contacts, and the mass that it gives to its body.

use std::f64::consts::PI;

use forks_mechanism::{
    ContactMask, Geometry, ObstacleKind,
    lie::{Pose, glam::DVec3},
};

use super::{
    Attributes, Reader,
    names::MeshId,
    orientation::{from_to, pose},
};
use crate::{ImportError, Location, note::Effect};

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
    /// Sphere or cylinder, and its radius.
    pub(crate) round: Option<(ObstacleKind, f64)>,
}

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
            round: None,
        };
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
            self.dropped_shape(a, kind, friction.is_some())?;
            if kind != "hfield" && mass != Some(0.0) {
                out.mass.source = self.mesh_source(a, kind, mass, density)?;
            }
            return Ok(out);
        } else {
            geometry(a, kind, stretched.map(|(_, half)| half))?
        };
        let shell = a.boolean("shellinertia")? == Some(true);
        let (volume, moments) = mass_properties(&geometry, shell);
        let mass = mass.unwrap_or(density * volume);
        // A geom without mass is there for its shape only.
        if mass > 0.0 && kind != "plane" {
            out.mass.source = MassSource::Known(mass, moments * mass);
        }
        out.round = round(&geometry);
        out.shape = friction.map(|(f, mask)| (geometry, f, mask));
        Ok(out)
    }

    /// Shapes that a mechanism does not hold.
    fn dropped_shape(
        &mut self,
        a: &Attributes<'a>,
        kind: &str,
        collides: bool,
    ) -> Result<(), ImportError> {
        let attribute = if kind == "hfield" { "hfield" } else { "mesh" };
        match kind {
            "hfield" => self.assets.field(a)?,
            "mesh" => drop(self.assets.mesh(a)?),
            _ => {}
        }
        if collides {
            let reason = "collision shapes that are meshes or height fields are dropped";
            self.notes.once("geom", attribute, Effect::Ignored, reason, &a.at);
        }
        Ok(())
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

/// Volume (surface for shells) and principal moments per unit mass.
fn mass_properties(g: &Geometry, shell: bool) -> (f64, DVec3) {
    if !shell {
        return g.solid().unwrap_or((0.0, DVec3::ZERO));
    }
    let turned = |across: f64, along: f64| DVec3::new(across, across, along);
    match *g {
        Geometry::Sphere { radius: r } => {
            (4.0 * PI * r * r, turned(2.0 / 3.0 * r * r, 2.0 / 3.0 * r * r))
        }
        Geometry::Capsule { radius, half_length } => capsule_shell(radius, 2.0 * half_length),
        Geometry::Cylinder { radius: r, half_length } => {
            // Two discs and the lateral surface.
            let h = 2.0 * half_length;
            let (ends, side) = (2.0 * PI * r * r, 2.0 * PI * r * h);
            let across = ends * (r * r / 4.0 + h * h / 4.0) + side * (r * r / 2.0 + h * h / 12.0);
            let along = ends * r * r / 2.0 + side * r * r;
            (ends + side, turned(across / (ends + side), along / (ends + side)))
        }
        Geometry::Ellipsoid { radii: r } => ellipsoid_shell(r),
        Geometry::Box { half_extents: b } => box_shell(b),
        _ => (0.0, DVec3::ZERO),
    }
}

/// The surface of a cylinder of height h with a half sphere at each end.
fn capsule_shell(r: f64, h: f64) -> (f64, DVec3) {
    let (ends, side) = (4.0 * PI * r * r, 2.0 * PI * r * h);
    let sphere = 2.0 / 3.0 * r * r;
    // Both halves moved by h/2 away from the centre of their sphere: + (h/2)² + 2 (h/2) · r/2.
    let ends_across = sphere + 0.25 * h * h + h * (r / 2.0);
    let side_across = r * r / 2.0 + h * h / 12.0;
    let total = ends + side;
    let across = (ends * ends_across + side * side_across) / total;
    let along = (ends * sphere + side * (r * r)) / total;
    (total, DVec3::new(across, across, along))
}

/// MuJoCo's ellipsoidal shell: the area by Thomsen's formula, the moments those of what lies
/// between the ellipsoid and one with semi-axes that are longer by a micrometre.
fn ellipsoid_shell(r: DVec3) -> (f64, DVec3) {
    const P: f64 = 1.6075;
    const THICKNESS: f64 = 1e-6;
    let mean = ((r.y * r.z).powf(P) + (r.x * r.z).powf(P) + (r.x * r.y).powf(P)) / 3.0;
    let solid = |r: DVec3| {
        let volume = r.x * r.y * r.z;
        (volume, r * r * (volume / 5.0))
    };
    let (inner, outer) = (solid(r), solid(r + DVec3::splat(THICKNESS)));
    let second = (outer.1 - inner.1) / (outer.0 - inner.0);
    let moments = DVec3::new(second.y + second.z, second.x + second.z, second.x + second.y);
    (4.0 * PI * mean.powf(1.0 / P), moments)
}

/// Six faces.
fn box_shell(b: DVec3) -> (f64, DVec3) {
    let mut surface = 0.0;
    let mut second = DVec3::ZERO; // ∫ x², ∫ y², ∫ z²
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let area = 2.0 * 4.0 * b[j] * b[k];
        surface += area;
        second[i] += area * b[i] * b[i];
        second[j] += area * b[j] * b[j] / 3.0;
        second[k] += area * b[k] * b[k] / 3.0;
    }
    let m = DVec3::new(second.y + second.z, second.x + second.z, second.x + second.y);
    (surface, m / surface)
}

/// What a cable may wrap, of the forms that geoms have.
fn round(geometry: &Geometry) -> Option<(ObstacleKind, f64)> {
    match geometry {
        Geometry::Sphere { radius } => Some((ObstacleKind::Sphere, *radius)),
        Geometry::Cylinder { radius, .. } => Some((ObstacleKind::Cylinder, *radius)),
        _ => None,
    }
}
