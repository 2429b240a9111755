//! Triangle meshes: reading the files that models refer to, and the mass properties of what they
//! enclose.
//!
//! Nothing of a mesh ends up in a mechanism but inertia and fitted primitives, so that normals,
//! texture coordinates, groups and materials are skipped.

mod integrals;
mod msh;
mod obj;
mod stl;

use std::path::Path;

use forks_mechanism::lie::glam::DVec3;

pub(crate) use integrals::{MassRule, MeshMass};

/// Vertices and triangles that index them, seen from outside in counter-clockwise order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mesh {
    pub(crate) vertices: Vec<DVec3>,
    pub(crate) faces: Vec<[usize; 3]>,
}

impl Mesh {
    /// Checks that coordinates are finite and that faces refer to vertices.
    pub(crate) fn checked(self) -> Result<Self, String> {
        if let Some(i) = self.vertices.iter().position(|v| !v.is_finite()) {
            return Err(format!("vertex {i} is not finite"));
        }
        if let Some(i) = self.faces.iter().position(|f| f.iter().any(|&k| k >= self.vertices.len()))
        {
            return Err(format!("face {i} refers to a vertex that is not there"));
        }
        if self.vertices.len() < 4 {
            return Err(format!("it has only {} vertices", self.vertices.len()));
        }
        Ok(self)
    }
}

/// Reads a mesh file; the end of its name tells the format.
pub(crate) fn load(path: &Path) -> Result<Mesh, String> {
    let extension =
        path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
    let read = match extension.as_str() {
        "stl" => stl::parse,
        "obj" => obj::parse,
        "msh" => msh::parse,
        other => return Err(format!("'{other}' is none of the formats stl, obj, msh")),
    };
    if !path.is_file() {
        return Err("there is no such file".into());
    }
    let bytes = std::fs::read(path).map_err(|e| format!("it cannot be read: {e}"))?;
    read(&bytes)?.checked()
}

/// A little-endian number of four bytes.
fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at + 4)?.try_into().ok()
}

/// Three numbers of single precision.
fn point(bytes: &[u8], at: usize) -> Option<DVec3> {
    let x = |i: usize| Some(f64::from(f32::from_le_bytes(word(bytes, at + 4 * i)?)));
    Some(DVec3::new(x(0)?, x(1)?, x(2)?))
}
