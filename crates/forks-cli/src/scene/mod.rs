//! `forks simulate SCENE.toml`: a world with contact, recorded. `forks inspect SCENE.toml`: what it
//! is made of.
//!
//! ```text
//! inspect   what a scene is made of
//! run       steps, prints the report
//! tally     what is counted on the way
//! output    the recording as CSV, JSON, 3D page, glTF
//! exported  the scene as MJCF with the controls of its actuators
//! ```

mod exported;
mod inspect;
mod inspect_text;
mod output;
mod report;
mod run;
mod tally;

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

pub(crate) use inspect::inspect;
pub(crate) use output::{Format, csv};
pub(crate) use run::run;

use crate::error::CliError;
use forks_direct::{Direct, DirectError};
use forks_sim::scene::{Fidelity, SceneError, spec::SceneSpec};

/// Bytes that tell a scene from a model.
const HEAD: u64 = 4096;

/// True if a file is a scene: by its name's ending, else by how it begins.
pub(crate) fn is_scene(path: &Path) -> bool {
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("toml") => true,
        Some("xml" | "urdf" | "mjcf") => false,
        _ => File::open(path).is_ok_and(|file| {
            let mut head = Vec::new();
            file.take(HEAD).read_to_end(&mut head).is_ok()
                && begins_as_toml(&String::from_utf8_lossy(&head))
        }),
    }
}

/// True if the first line that says something is a table's head or a key and its value.
fn begins_as_toml(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let said = text.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with('#'));
    let key = |k: &str| {
        let k = k.trim();
        !k.is_empty() && k.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    said.is_some_and(|l| l.starts_with('[') || l.split_once('=').is_some_and(|(k, _)| key(k)))
}

/// Loads a scene after a change.
pub(crate) fn load(
    path: &Path,
    fidelity: Fidelity,
    change: impl FnOnce(&mut SceneSpec),
) -> Result<Direct, CliError> {
    let of = |e| match e {
        DirectError::Scene(e) => refused(path, e),
        e => CliError::Direct { path: PathBuf::from(path), source: Box::new(e) },
    };
    let (spec, mut scene) = Direct::read(path).map_err(of)?;
    change(&mut scene);
    let folder = path.parent().unwrap_or(Path::new("."));
    Direct::build(&spec, scene, folder, fidelity).map_err(of)
}

/// Errors of a scene name its file where they do not yet.
fn refused(path: &Path, source: SceneError) -> CliError {
    match source {
        e @ (SceneError::Read { .. } | SceneError::Syntax { .. }) => {
            CliError::SceneFile(Box::new(e))
        }
        e => CliError::Scene { path: PathBuf::from(path), source: Box::new(e) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_are_told_from_models_by_how_they_begin() {
        for scene in ["title = 'x'", "\u{feff}# a scene\n\n [world]\n", "[[body]]"] {
            assert!(begins_as_toml(scene), "{scene}");
        }
        for model in ["", "<mujoco model='a'>", "<?xml version='1.0'?>", "mujoco: {}", "#", "= 1"] {
            assert!(!begins_as_toml(model), "{model}");
        }
        assert!(is_scene(Path::new("missing.TOML")));
        assert!(!is_scene(Path::new("missing.xml")) && !is_scene(Path::new("missing")));
    }
}
