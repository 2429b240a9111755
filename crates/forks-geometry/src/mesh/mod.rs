//! Triangle meshes, and the mass properties of what they enclose.

mod integrals;

use std::path::PathBuf;

use forks_lie::{Pose, glam::DVec3};
use thiserror::Error;

pub use integrals::{MassRule, MeshMass};

use crate::Geometry;

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

/// A mesh file as a model uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// Where it is.
    pub path: PathBuf,
    /// The frame in the file that is the mesh's own.
    pub reference: Pose,
    /// Factors along the axes of that frame; negative ones mirror.
    pub scale: DVec3,
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

    /// The mesh in the frame of a reference, then scaled: `x ↦ scale ∘ (reference⁻¹ x)`. Mirrored
    /// meshes keep their outside.
    #[must_use]
    pub fn placed(mut self, reference: &Pose, scale: DVec3) -> Self {
        let inverse = reference.inverse();
        self.vertices.iter_mut().for_each(|v| *v = inverse.transform_point(*v) * scale);
        if scale.x * scale.y * scale.z < 0.0 {
            self.faces.iter_mut().for_each(|f| f.swap(1, 2));
        }
        self
    }
}

impl From<Mesh> for Geometry {
    fn from(mesh: Mesh) -> Self {
        let triangles = mesh.faces.iter().map(|f| f.map(|i| i as u32)).collect();
        Self::Mesh { vertices: mesh.vertices, triangles }
    }
}
