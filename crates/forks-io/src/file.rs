//! Files that appear whole or not at all.

use std::{fs, io, io::Write as _, path::Path};

use crate::IoError;

/// Writes a file under a temporary name in the same directory and renames it.
///
/// Directories on the way are created. A file of that name is replaced; if anything fails it stays
/// as it was.
///
/// # Errors
/// [`IoError::Write`] with the system's message.
pub fn write_atomically(path: &Path, contents: &[u8]) -> Result<(), IoError> {
    let failed = |source: io::Error| IoError::Write { path: path.to_owned(), source };
    if path.file_name().is_none() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "no file name")));
    }
    let directory = path.parent().filter(|d| !d.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    fs::create_dir_all(directory).and_then(|()| write(directory, path, contents)).map_err(failed)
}

fn write(directory: &Path, path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    // Readable as far as the user's mask allows: temporary files are private by default.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    // What is left of a failed attempt is removed.
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}
