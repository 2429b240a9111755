//! Mesh files: Gmsh `.msh` 2.2 and 4.1 (text and binary), TetGen `.node` and `.ele`, Medit `.mesh`;
//! written: Gmsh 2.2 and legacy VTK.

mod error;
mod gmsh;
mod gmsh_2;
mod gmsh_4;
mod gmsh_types;
mod medit;
mod mesh_file;
mod raw;
mod reader;
mod tetgen;
mod write;

use std::path::Path;

pub use error::FileError;
pub use mesh_file::MeshFile;
pub use write::{gmsh_text, vtk_text};

/// Reads a mesh file; the end of its name tells the format. Of TetGen's pair either may be named.
///
/// # Errors
/// A file that cannot be read, another format, content that is no mesh, with the line or element.
pub fn load(path: &Path) -> Result<MeshFile, FileError> {
    let extension =
        path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
    let read = |path: &Path| {
        std::fs::read(path).map_err(|e| FileError::Unreadable {
            path: path.display().to_string(),
            reason: e.to_string(),
        })
    };
    match extension.as_str() {
        "msh" => from_gmsh(&read(path)?),
        "mesh" => from_medit(&read(path)?),
        "node" | "ele" => {
            from_tetgen(&read(&path.with_extension("node"))?, &read(&path.with_extension("ele"))?)
        }
        _ => Err(FileError::UnknownFormat { extension }),
    }
}

/// True for the bytes of a Gmsh file: MuJoCo's surfaces end in `.msh` too.
pub fn is_gmsh(bytes: &[u8]) -> bool {
    let text = bytes.iter().position(|b| !b.is_ascii_whitespace()).map(|i| &bytes[i..]);
    text.is_some_and(|t| t.starts_with(b"$MeshFormat") || t.starts_with(b"$Comments"))
}

/// A mesh from the bytes of a Gmsh file.
///
/// # Errors
/// Another version than 2.2 and 4.1, content that is no mesh of tetrahedra.
pub fn from_gmsh(bytes: &[u8]) -> Result<MeshFile, FileError> {
    gmsh::parse(bytes)?.finish()
}

/// A mesh from the bytes of a Medit file.
///
/// # Errors
/// Content that is no mesh of tetrahedra.
pub fn from_medit(bytes: &[u8]) -> Result<MeshFile, FileError> {
    medit::parse(bytes)?.finish()
}

/// A mesh from the bytes of TetGen's two files.
///
/// # Errors
/// Content that is no mesh of tetrahedra.
pub fn from_tetgen(nodes: &[u8], elements: &[u8]) -> Result<MeshFile, FileError> {
    tetgen::parse(nodes, elements)?.finish()
}
