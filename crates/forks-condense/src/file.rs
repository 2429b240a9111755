//! Superelements from files: JSON, or a TOML file that names the matrices of another program.
//!
//! ```toml
//! name = "flexure"
//! stiffness = "K.mtx"      # Matrix Market, N/m
//! mass = "M.mtx"           # kg
//! interface = "nodes.txt"  # lines LINK dof x y z
//! modes = 6                # with the interface held; 0 if left out
//! ```

use std::{fs, path::Path};

use forks_deform::dynamics::mechanism::{Mechanism, Superelement};
use serde::Deserialize;

use crate::{CondenseError, MatrixMarket, superelement_from_json, superelement_from_matrices};

/// Names of files, from the folder of the file that has them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrices {
    name: String,
    stiffness: String,
    mass: String,
    interface: String,
    #[serde(default)]
    modes: usize,
}

/// A superelement of a file, for a mechanism with the links that it names: TOML by the name's
/// ending, JSON otherwise.
///
/// # Errors
/// Files that cannot be read or are not what they should be, with their name; as
/// [`superelement_from_json`] and [`superelement_from_matrices`].
pub fn superelement_from_file(path: &Path, m: &Mechanism) -> Result<Superelement, CondenseError> {
    let text = read(path)?;
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        return superelement_from_json(&text, m).map_err(|e| e.of(path));
    }
    let syntax = |e: toml::de::Error| {
        CondenseError::Toml(e.to_string().trim_end().replace('\n', " ")).of(path)
    };
    let files: Matrices = toml::from_str(&text).map_err(syntax)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let matrix = |name: &str| {
        let path = folder.join(name);
        MatrixMarket::parse(&read(&path)?).map_err(|e| e.of(&path))
    };
    let (stiffness, mass) = (matrix(&files.stiffness)?, matrix(&files.mass)?);
    let list = folder.join(&files.interface);
    let interface = read(&list)?;
    let made =
        superelement_from_matrices(&files.name, m, &stiffness, &mass, &interface, files.modes);
    made.map_err(|e| match e {
        // Sizes are those of the matrices.
        e @ CondenseError::Length { .. } => e.of(path),
        e => e.of(&list),
    })
}

fn read(path: &Path) -> Result<String, CondenseError> {
    fs::read_to_string(path).map_err(|e| CondenseError::Unreadable(e.to_string()).of(path))
}

impl CondenseError {
    fn of(self, path: &Path) -> Self {
        Self::File { file: path.display().to_string(), source: Box::new(self) }
    }
}
