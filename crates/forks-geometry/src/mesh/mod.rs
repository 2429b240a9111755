//! Triangle meshes: reading the files that models refer to, and the mass properties of what they
//! enclose.
//!
//! Only form and mass matter here: normals, texture coordinates, groups and materials are skipped.

mod integrals;
mod msh;
mod obj;
mod stl;

use std::path::Path;

use forks_lie::glam::DVec3;
use thiserror::Error;

pub use integrals::{MassRule, MeshMass};

/// Why a mesh cannot be read, or has no mass: what is wrong with it, in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MeshError(String);

impl From<String> for MeshError {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

/// Vertices and triangles that index them, seen from outside in counter-clockwise order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners, in units of the file.
    pub vertices: Vec<DVec3>,
    /// Three vertices each, numbers from 0.
    pub faces: Vec<[usize; 3]>,
}

impl Mesh {
    /// The mesh, if its coordinates are finite and its faces refer to vertices.
    ///
    /// # Errors
    /// [`MeshError`] with the first vertex or face that is wrong.
    pub fn checked(self) -> Result<Self, MeshError> {
        if let Some(i) = self.vertices.iter().position(|v| !v.is_finite()) {
            return Err(format!("vertex {i} is not finite").into());
        }
        if let Some(i) = self.faces.iter().position(|f| f.iter().any(|&k| k >= self.vertices.len()))
        {
            return Err(format!("face {i} refers to a vertex that is not there").into());
        }
        if self.vertices.len() < 4 {
            return Err(format!("it has only {} vertices", self.vertices.len()).into());
        }
        Ok(self)
    }
}

/// Reads a mesh file; the end of its name tells the format: STL, OBJ, or MuJoCo's MSH.
///
/// # Errors
/// [`MeshError`] if there is no such file, or its content is no mesh.
pub fn load(path: &Path) -> Result<Mesh, MeshError> {
    let extension =
        path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
    let read = match extension.as_str() {
        "stl" => stl::parse,
        "obj" => obj::parse,
        "msh" => msh::parse,
        other => return Err(format!("'{other}' is none of the formats stl, obj, msh").into()),
    };
    if !path.is_file() {
        return Err(MeshError("there is no such file".into()));
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
