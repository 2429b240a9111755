//! Writes the mesh of the flexure hinge of `fixtures/soft/flexure.toml` as a Gmsh file:
//! `cargo run -p forks-condense --example notch_mesh > fixtures/soft/flexure.msh`.

use forks_condense::{CondenseError, deform::files::gmsh_text, notch::Notch};

fn main() -> Result<(), CondenseError> {
    // The scene makes elements of ten nodes of it.
    print!("{}", gmsh_text(&Notch { quadratic: false, ..Notch::default() }.mesh()?));
    Ok(())
}
