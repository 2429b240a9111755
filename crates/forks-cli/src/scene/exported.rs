//! The scene for other simulators: MJCF, and the controls of its actuators over time.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use forks_io::{CsvTable, write_atomically};
use forks_sim::scene::Scene;

use super::refused;
use crate::{error::CliError, output};

/// Samples of the controls per second.
const RATE: f64 = 100.0;

/// Writes the MJCF file and its controls beside it; what is not as in the scene goes to stderr.
pub(super) fn save(scene: &Scene, source: &Path, path: &Path) -> Result<(), CliError> {
    let exported = scene.to_mjcf().map_err(|e| refused(source, e))?;
    write_atomically(path, exported.text.as_bytes())?;
    let columns = exported.controls.iter().map(|c| c.name.as_str());
    let mut table = CsvTable::new(["time (s)"].into_iter().chain(columns));
    let samples = (scene.spec.world.duration * RATE).round() as usize;
    for k in 0..=samples {
        let time = k as f64 / RATE;
        table.push([time].into_iter().chain(scene.controls_at(&exported, time)))?;
    }
    table.save(controls_file(path))?;
    exported.notes.iter().for_each(|n| output::warn(&format!("{}: {n}", path.display())));
    Ok(())
}

/// The name with `.controls.csv` behind it.
fn controls_file(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".controls.csv");
    name.into()
}
