//! Files on disk.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};

use super::{FileError, HEADER, read::check_header};
use crate::ReducedModel;

impl ReducedModel {
    /// Writes the model to a file: under a temporary name in the same directory, which is then
    /// renamed, so that a reader never sees half a file. A file of that name is replaced; if
    /// anything fails it stays as it was.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        save(path.as_ref(), &self.to_bytes())
    }

    /// Reads a model from a file; see [`ReducedModel::from_bytes`]. Of a file that is none, or of
    /// another length than it says, only the first bytes are read.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::from_bytes(&load(path.as_ref(), check_header)?)
    }
}

/// Writes the bytes of a file as [`ReducedModel::save`] does.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write(path, bytes).map_err(|source| FileError::Write { path: path.into(), source })
}

/// A file's bytes, the header checked before the rest is read.
pub fn load(
    path: &Path,
    check: impl Fn(&[u8]) -> Result<u64, FileError>,
) -> Result<Vec<u8>, FileError> {
    let failed = |source| FileError::Read { path: path.into(), source };
    let file = fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    (&file).take(HEADER as u64).read_to_end(&mut bytes).map_err(failed)?;
    let declared = check(&bytes)?;
    // One byte more than there should be shows a file that is too long.
    let rest = declared.saturating_sub(HEADER as u64).saturating_add(1);
    (&file).take(rest).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|d| !d.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // Readable as far as the user's mask allows: temporary files are private by default.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    // What is left of a failed attempt is removed.
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}
