//! Where a mesh file is that a model names.

use std::path::{Path, PathBuf};

/// Beginnings of addresses of files in packages of ROS and Gazebo.
const PACKAGES: [&str; 2] = ["package://", "model://"];

/// The file that a model of `folder` means by `name`, if it is there: relative to the folder, or
/// `file://`; for `package://PACKAGE/…` and `model://…` the path is looked for in folders of that
/// name, and beside them, from the model's folder upwards, as packages are laid out.
pub fn locate(name: &str, folder: &Path) -> Option<PathBuf> {
    let there = |p: PathBuf| p.is_file().then_some(p);
    if let Some(path) = name.strip_prefix("file://") {
        return there(folder.join(path));
    }
    let Some(path) = PACKAGES.iter().find_map(|p| name.strip_prefix(p)) else {
        return there(folder.join(name));
    };
    let (package, inside) = path.split_once('/')?;
    // A relative folder may be short of what is above it.
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find_map(|above| {
        let here = above.file_name().is_some_and(|n| n == package);
        let inner = here.then(|| there(above.join(inside))).flatten();
        // Copies of packages often have another name, with what is in them as it was.
        let copy = || above.join("package.xml").is_file().then(|| there(above.join(inside)));
        inner.or_else(|| there(above.join(path))).or_else(|| copy().flatten())
    })
}
