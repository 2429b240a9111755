//! Blends on disk, and files of either kind.

use std::path::Path;

use forks_rom::{
    ReducedModel,
    file::FileError,
    internal::files::{header, load, save},
};

use crate::{BlendedModel, file};

impl BlendedModel {
    /// Writes the blend to a file as [`ReducedModel::save`](ReducedModel::save) does.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        save(path.as_ref(), &self.to_bytes())
    }

    /// Reads a blend from a file; see [`BlendedModel::from_bytes`] and
    /// [`ReducedModel::load`](ReducedModel::load).
    ///
    /// # Errors
    /// [`FileError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let check = |bytes: &[u8]| header(bytes, file::MAGIC, file::VERSION);
        Self::from_bytes(&load(path.as_ref(), check)?)
    }
}

/// A model of a file: a reduced model, or a blend of several.
#[derive(Clone, Debug)]
pub enum Model {
    /// One linearisation.
    Reduced(ReducedModel),
    /// Several.
    Blended(BlendedModel),
}

impl Model {
    /// Reads a model of either kind from a file; its first bytes say which.
    ///
    /// # Errors
    /// [`FileError`]; [`FileError::NotAReducedModel`] where the file is neither.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        match ReducedModel::load(&path) {
            Err(FileError::NotAReducedModel { found }) if found == file::MAGIC => {
                BlendedModel::load(path).map(Self::Blended)
            }
            read => read.map(Self::Reduced),
        }
    }
}
