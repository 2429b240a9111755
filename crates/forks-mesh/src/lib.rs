//! Mesh files that models refer to, with the colours of their materials: STL, OBJ with MTL,
//! MuJoCo's MSH, Collada and glTF.
//!
//! Normals, texture coordinates and images are left out.
//!
//! # Conventions
//! - Points are in units of the file as their users take them: metres where the format knows its
//!   unit (Collada, glTF).
//! - Triangles are counter-clockwise from outside.
//! - Colours are red, green, blue as screens have them (sRGB), and opacity.

mod binary;
mod collada;
mod fit;
mod gltf;
mod locate;
mod msh;
mod mtl;
mod obj;
mod painted;
mod stl;
mod uri;

use std::path::Path;

use forks_geometry::Geometry;

pub use fit::{fitted, hull};
pub use forks_geometry::{
    self as geometry,
    mesh::{MeshError, MeshFile},
};
pub use locate::locate;
pub use painted::{PaintedMesh, Piece, Rgba};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

/// Largest file that is read, bytes.
const LARGEST: u64 = 1 << 30;

/// Reads a mesh file; the end of its name tells the format: stl, obj, msh, dae, gltf or glb. Of OBJ
/// and glTF the files beside it are read that it names.
///
/// # Errors
/// [`MeshError`] if there is no such file, or its content is no mesh.
pub fn load(path: &Path) -> Result<PaintedMesh, MeshError> {
    let extension =
        path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
    let known = ["stl", "obj", "msh", "dae", "gltf", "glb"];
    if !known.contains(&extension.as_str()) {
        let all = known.join(", ");
        return Err(format!("'{extension}' is none of the formats {all}").into());
    }
    let bytes = read(path)?;
    let mut beside = |name: &str| {
        let folder = path.parent().unwrap_or(Path::new(""));
        read(&folder.join(uri::decoded(name))).map_err(|e| format!("'{name}': {e}"))
    };
    parse(&extension, &bytes, &mut beside)
}

/// Reads a mesh file as a model uses it: in its frame, and scaled.
///
/// # Errors
/// As [`load`].
pub fn open(file: &MeshFile) -> Result<PaintedMesh, MeshError> {
    let mut out = load(&file.path)?;
    out.mesh = out.mesh.placed(&file.reference, file.scale);
    Ok(out)
}

/// The convex hull of a mesh file as a model uses it.
///
/// # Errors
/// As [`load`], and where the mesh is flat.
pub fn open_hull(file: &MeshFile) -> Result<Geometry, MeshError> {
    let flat = || "it is flat and has no hull".to_owned().into();
    hull(&open(file)?.mesh).ok_or_else(flat)
}

/// Reads the bytes of a mesh file of a format, named by the end of such files' names; `beside`
/// reads a file that stands beside it.
///
/// # Errors
/// [`MeshError`] if they are no mesh.
pub fn parse(
    format: &str,
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<PaintedMesh, MeshError> {
    let out = match format {
        "stl" => PaintedMesh::plain(stl::parse(bytes)?),
        "obj" => obj::parse(bytes, beside)?,
        "msh" => PaintedMesh::plain(msh::parse(bytes)?),
        "dae" => collada::parse(bytes)?,
        "gltf" | "glb" => gltf::parse(bytes, beside)?,
        other => return Err(format!("'{other}' is no format of meshes").into()),
    };
    out.checked()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    if !path.is_file() {
        return Err("there is no such file".into());
    }
    let unreadable = |e: std::io::Error| format!("it cannot be read: {e}");
    let length = path.metadata().map_err(unreadable)?.len();
    if length > LARGEST {
        return Err(format!("it has {length} bytes, more than {LARGEST}"));
    }
    std::fs::read(path).map_err(unreadable)
}
