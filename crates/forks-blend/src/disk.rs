//! Blends on disk.

use std::path::Path;

use forks_rom::{
    FileError,
    internal::files::{header, load, save},
};

use crate::{BlendedModel, file};

impl BlendedModel {
    /// Writes the blend to a file as [`ReducedModel::save`](forks_rom::ReducedModel::save) does.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        save(path.as_ref(), &self.to_bytes())
    }

    /// Reads a blend from a file; see [`BlendedModel::from_bytes`] and [`ReducedModel::load`](forks_rom::ReducedModel::load).
    ///
    /// # Errors
    /// [`FileError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let check = |bytes: &[u8]| header(bytes, file::MAGIC, file::VERSION);
        Self::from_bytes(&load(path.as_ref(), check)?)
    }
}
