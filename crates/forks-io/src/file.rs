//! Files that appear whole or not at all.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

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
    if let Some(directory) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    let temporary = temporary_name(path);
    let written = write_through(&temporary, contents).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|e| {
        // Best effort: the first failure is the one worth reporting.
        let _ = fs::remove_file(&temporary);
        failed(e)
    })
}

fn write_through(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

/// A name that no other writer uses: process and counter are part of it.
fn temporary_name(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{count}.part", process::id()));
    path.with_file_name(name)
}
