//! The Rust files of the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A Rust file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Path from the root, with slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    /// All Rust files under the directories that hold code, in order of their paths.
    pub(super) fn all(root: &Path) -> Result<Vec<Self>, String> {
        let mut out = Vec::new();
        for top in ["benches", "crates", "testkit", "xtask"] {
            for path in files(&root.join(top))? {
                if path.extension().is_some_and(|e| e == "rs") {
                    let text = fs::read_to_string(&path)
                        .map_err(|e| format!("{}: {e}", path.display()))?;
                    out.push(Self { path: relative(root, &path), text });
                }
            }
        }
        Ok(out)
    }
}

/// All files below a directory, sorted; none if there is no such directory. Build output is left
/// out.
pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut out, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(d) = open.pop() {
        if !d.is_dir() {
            continue;
        }
        let failed = |e: std::io::Error| format!("{}: {e}", d.display());
        for entry in fs::read_dir(&d).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if !path.is_dir() {
                out.push(path);
            } else if !path.ends_with("target") {
                open.push(path);
            }
        }
    }
    out.sort();
    Ok(out)
}

/// The path from `root`, with slashes on every system.
pub(super) fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = path.iter().map(|p| p.to_string_lossy()).collect();
    parts.join("/")
}
