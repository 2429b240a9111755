//! `<link>`: mass properties and shapes.

use forks_mechanism::{
    Geometry, Surface,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};

use super::Reader;
use crate::{ImportError, note::Effect, read::Attributes, xml::Element};

/// A link as it is written.
pub(crate) struct RawLink<'a> {
    pub(crate) attributes: Attributes<'a>,
    pub(crate) inertia: SpatialInertia,
    pub(crate) shapes: Vec<RawShape>,
    pub(crate) looks: Vec<RawLook>,
}

impl RawLink<'_> {
    pub(crate) fn name(&self) -> &str {
        self.attributes.name().unwrap_or("")
    }
}

/// Pose in the link, form and colour of a `<visual>`.
pub(super) type RawLook = (Pose, Surface, Option<[u8; 4]>);

/// A primitive of a `<collision>`.
pub(crate) struct RawShape {
    pub(crate) name: String,
    pub(crate) link_from_shape: Pose,
    pub(crate) geometry: Geometry,
}

impl<'a> Reader<'a> {
    pub(crate) fn read_link(
        &mut self,
        attributes: Attributes<'a>,
        e: &'a Element,
    ) -> Result<RawLink<'a>, ImportError> {
        let inertia = match self.only(e, "inertial")? {
            Some(inertial) => self.read_inertial(&attributes, inertial)?,
            None => SpatialInertia::ZERO,
        };
        let mut shapes = Vec::new();
        for c in self.tree.children(e).filter(|c| c.tag == "collision") {
            shapes.extend(self.read_collision(&attributes, c)?);
        }
        let looks = self.tree.children(e).filter(|c| c.tag == "visual");
        let looks = looks.filter_map(|c| self.read_look(c)).collect();
        self.skip_others(e, &["inertial", "collision", "visual"])?;
        Ok(RawLink { attributes, inertia, shapes, looks })
    }

    fn read_inertial(
        &mut self,
        link: &Attributes<'a>,
        e: &'a Element,
    ) -> Result<SpatialInertia, ImportError> {
        let pose = self.origin(e)?;
        let missing = |tag: &str| link.error(format!("its inertial has no element '{tag}'"));
        let mass = self.only(e, "mass")?.ok_or_else(|| missing("mass"))?;
        let mass = self.attributes("mass", mass);
        mass.required("value")?;
        let mass = mass.not_negative("value")?.expect("required");
        let Some(tensor) = self.only(e, "inertia")? else {
            let reason = "its inertial has no element 'inertia'; taken as a point mass";
            self.notes.add(link.label(), "inertia", Effect::Approximated, reason, &link.at);
            self.skip_others(e, &["origin", "mass"])?;
            let none = DMat3::ZERO;
            return Ok(SpatialInertia::new(mass, DVec3::ZERO, none).transformed(&pose));
        };
        let tensor = self.attributes("inertia", tensor);
        self.skip_others(e, &["origin", "mass", "inertia"])?;
        let [xx, yy, zz] = ["ixx", "iyy", "izz"].map(|n| tensor.required(n).map(|_| n));
        let entry = |name: Result<&str, ImportError>| Ok(tensor.number(name?)?.unwrap_or(0.0));
        let (xx, yy, zz) = (entry(xx)?, entry(yy)?, entry(zz)?);
        let (xy, xz, yz) = (entry(Ok("ixy"))?, entry(Ok("ixz"))?, entry(Ok("iyz"))?);
        let tensor = DMat3::from_cols(
            DVec3::new(xx, xy, xz),
            DVec3::new(xy, yy, yz),
            DVec3::new(xz, yz, zz),
        );
        let inertia = SpatialInertia::new(mass, DVec3::ZERO, tensor);
        if inertia.is_zero() {
            return Ok(SpatialInertia::ZERO);
        }
        // Axes that are those of the link keep the digits of the file.
        Ok(if pose.rotation.w == 1.0 {
            SpatialInertia { center_of_mass: pose.translation, ..inertia }
        } else {
            inertia.transformed(&pose)
        })
    }

    fn read_collision(
        &mut self,
        link: &Attributes<'a>,
        e: &'a Element,
    ) -> Result<Option<RawShape>, ImportError> {
        let a = self.attributes("collision", e);
        let link_from_shape = self.origin(e)?;
        let geometry = self.only(e, "geometry")?;
        self.skip_others(e, &["origin", "geometry"])?;
        let form = geometry.and_then(|g| self.tree.children(g).next());
        let Some(form) = form else {
            let (name, of) = (a.label(), link.label());
            return Err(a.error(format!("{name} of {of} has no geometry")));
        };
        let Some(geometry) = self.read_form(form)? else { return Ok(None) };
        if is_empty(&geometry) {
            let reason = "a form without extent; the shape is dropped";
            self.notes.once(&form.tag, "", Effect::Ignored, reason, &self.tree.location(form));
            return Ok(None);
        }
        Ok(Some(RawShape { name: a.name().unwrap_or("").into(), link_from_shape, geometry }))
    }

    pub(super) fn read_form(&mut self, e: &'a Element) -> Result<Option<Geometry>, ImportError> {
        let half = 0.5;
        Ok(Some(match e.tag.as_str() {
            "box" => {
                let a = self.attributes("box", e);
                a.required("size")?;
                let size = a.vector("size")?.expect("required");
                if size.min_element() < 0.0 {
                    return Err(a.invalid("size", "has a negative number"));
                }
                Geometry::Box { half_extents: size * half }
            }
            "sphere" => {
                Geometry::Sphere { radius: length(&self.attributes("sphere", e), "radius")? }
            }
            "cylinder" => {
                let a = self.attributes("cylinder", e);
                let half_length = half * length(&a, "length")?;
                Geometry::Cylinder { radius: length(&a, "radius")?, half_length }
            }
            "capsule" => {
                let a = self.attributes("capsule", e);
                let half_length = half * length(&a, "length")?;
                Geometry::Capsule { radius: length(&a, "radius")?, half_length }
            }
            "mesh" => return self.mesh_hull(e),
            other => {
                let reason = "not a form of URDF; the shape is dropped";
                self.notes.once(other, "", Effect::Ignored, reason, &self.tree.location(e));
                return Ok(None);
            }
        }))
    }
}

/// True for forms that enclose nothing: placeholders of some programs.
pub(super) fn is_empty(g: &Geometry) -> bool {
    match *g {
        Geometry::Sphere { radius } | Geometry::Capsule { radius, .. } => radius == 0.0,
        Geometry::Cylinder { radius, half_length } => radius == 0.0 || half_length == 0.0,
        Geometry::Box { half_extents } => half_extents.min_element() == 0.0,
        _ => false,
    }
}

/// A length that must be given and not negative.
fn length(a: &Attributes<'_>, name: &str) -> Result<f64, ImportError> {
    a.required(name)?;
    let x = a.number(name)?.expect("required");
    if x >= 0.0 { Ok(x) } else { Err(a.invalid(name, "is negative")) }
}
