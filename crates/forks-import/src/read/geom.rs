//! `<geom>`: the shape for contacts, and the mass that it gives to its body.

use std::f64::consts::PI;

use forks_mechanism::{
    Geometry,
    lie::{Pose, glam::DVec3},
};

use super::{
    Attributes, Reader,
    orientation::{from_to, pose},
};
use crate::{ImportError, Location, note::Effect};

/// Mass properties of one geom.
#[derive(Clone, Debug)]
pub(crate) struct GeomMass {
    pub(crate) label: String,
    pub(crate) at: Location,
    pub(crate) body_from_geom: Pose,
    pub(crate) mass: f64,
    /// Principal moments about the geom's axes; the reason why where they are not known.
    pub(crate) moments: Result<DVec3, &'static str>,
}

/// A geom as it is written.
pub(crate) struct RawGeom {
    /// Pose in the frame around it, mass and moments.
    pub(crate) mass: GeomMass,
    /// Its group is one of those that give inertia.
    pub(crate) gives_inertia: bool,
    /// Form and sliding friction, where it takes part in contacts.
    pub(crate) shape: Option<(Geometry, f64)>,
}

const TYPES: [&str; 9] =
    ["plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"];

impl<'a> Reader<'a> {
    pub(crate) fn read_geom(&mut self, a: &Attributes<'a>) -> Result<RawGeom, ImportError> {
        let kind = match a.keyword("type", &TYPES)? {
            Some(k) => k,
            None if a.has("mesh") => "mesh",
            None => "sphere",
        };
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
                mass: 0.0,
                moments: Ok(DVec3::ZERO),
            },
            gives_inertia: (groups[0]..=groups[1]).contains(&group),
            shape: None,
        };
        let mass = a.not_negative("mass")?;
        let fitted = !matches!(kind, "mesh" | "sdf" | "hfield" | "plane") && a.has("mesh");
        if fitted || matches!(kind, "mesh" | "sdf" | "hfield") {
            let attribute = if kind == "hfield" { "hfield" } else { "mesh" };
            let reason = "shapes from mesh and height-field files are dropped";
            self.notes.once("geom", attribute, Effect::Ignored, reason, &a.at);
            if kind != "hfield" && mass != Some(0.0) {
                out.mass.mass = mass.unwrap_or(f64::NAN);
                out.mass.moments = Err("its form is in a mesh file, which is not read");
            }
            return Ok(out);
        }
        let geometry = geometry(a, kind, stretched.map(|(_, half)| half))?;
        if kind != "plane" {
            let shell = a.boolean("shellinertia")? == Some(true);
            let (volume, moments) = mass_properties(&geometry, shell);
            out.mass.mass = match mass {
                Some(m) => m,
                None => a.not_negative("density")?.unwrap_or(1000.0) * volume,
            };
            // A geom without mass is there for its shape only.
            if out.mass.mass > 0.0 {
                out.mass.moments = moments.map(|m| m * out.mass.mass);
            }
        }
        let collides = |name| Ok::<_, ImportError>(a.number(name)?.unwrap_or(1.0) != 0.0);
        if collides("contype")? | collides("conaffinity")? {
            let friction = match a.numbers("friction", 1, 3)? {
                Some(f) if f[0] < 0.0 => return Err(a.invalid("friction", "is negative")),
                Some(f) => f[0],
                None => 1.0,
            };
            out.shape = Some((geometry, friction));
        }
        Ok(out)
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
fn mass_properties(g: &Geometry, shell: bool) -> (f64, Result<DVec3, &'static str>) {
    let turned = |across: f64, along: f64| Ok(DVec3::new(across, across, along));
    match *g {
        Geometry::Sphere { radius: r } if shell => {
            (4.0 * PI * r * r, turned(2.0 / 3.0 * r * r, 2.0 / 3.0 * r * r))
        }
        Geometry::Sphere { radius: r } => {
            (4.0 / 3.0 * PI * r.powi(3), turned(0.4 * r * r, 0.4 * r * r))
        }
        Geometry::Capsule { radius, half_length } => capsule(radius, 2.0 * half_length, shell),
        Geometry::Cylinder { radius: r, half_length } if shell => {
            // Two discs and the lateral surface.
            let h = 2.0 * half_length;
            let (ends, side) = (2.0 * PI * r * r, 2.0 * PI * r * h);
            let across = ends * (r * r / 4.0 + h * h / 4.0) + side * (r * r / 2.0 + h * h / 12.0);
            let along = ends * r * r / 2.0 + side * r * r;
            (ends + side, turned(across / (ends + side), along / (ends + side)))
        }
        Geometry::Cylinder { radius: r, half_length } => {
            let h = 2.0 * half_length;
            (PI * r * r * h, turned((3.0 * r * r + h * h) / 12.0, 0.5 * r * r))
        }
        Geometry::Ellipsoid { radii: r } => {
            let s = r * r / 5.0;
            let solid = DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y);
            let moments = if shell {
                Err("the inertia of ellipsoidal shells is not known here")
            } else {
                Ok(solid)
            };
            (4.0 / 3.0 * PI * r.x * r.y * r.z, moments)
        }
        Geometry::Box { half_extents: b } if shell => {
            let (surface, moments) = box_shell(b);
            (surface, Ok(moments))
        }
        Geometry::Box { half_extents: b } => {
            let s = b * b / 3.0;
            (8.0 * b.x * b.y * b.z, Ok(DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y)))
        }
        _ => (0.0, Ok(DVec3::ZERO)),
    }
}

/// A cylinder of height h with a half sphere at each end.
fn capsule(r: f64, h: f64, shell: bool) -> (f64, Result<DVec3, &'static str>) {
    let (ends, side) = if shell {
        (4.0 * PI * r * r, 2.0 * PI * r * h)
    } else {
        (4.0 / 3.0 * PI * r.powi(3), PI * r * r * h)
    };
    let (sphere, side_across, side_along, centroid) = if shell {
        (2.0 / 3.0 * r * r, r * r / 2.0 + h * h / 12.0, r * r, r / 2.0)
    } else {
        (0.4 * r * r, r * r / 4.0 + h * h / 12.0, 0.5 * r * r, 0.375 * r)
    };
    // Both halves moved by h/2 away from the centre of their sphere: + (h/2)² + 2 (h/2) centroid.
    let ends_across = sphere + 0.25 * h * h + h * centroid;
    let total = ends + side;
    let across = (ends * ends_across + side * side_across) / total;
    let along = (ends * sphere + side * side_along) / total;
    (total, Ok(DVec3::new(across, across, along)))
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
