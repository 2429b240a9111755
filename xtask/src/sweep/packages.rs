//! Python packages that hold models, each installed without what it depends on into a folder of its
//! own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::bench::peers::Peers;

/// Installs what a list names, where it is not there yet; the folders with the lines of the list.
pub(super) fn install(root: &Path, list: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let text = fs::read_to_string(list).map_err(|e| format!("{}: {e}", list.display()))?;
    let peers = Peers::ensure(root)?;
    let home = root.join("target/sweep");
    names(&text)?
        .into_iter()
        .map(|package| {
            let folder = home.join(package.replace("==", "-"));
            if !folder.is_dir() {
                eprintln!("installing {package}");
                // Installed beside its place and moved there: what is in place is whole.
                let unfinished = home.join("unfinished");
                let cleared = !unfinished.exists() || fs::remove_dir_all(&unfinished).is_ok();
                if !(cleared && peers.install(&package, &unfinished)) {
                    return Err(format!("pip cannot install {package}"));
                }
                fs::rename(&unfinished, &folder).map_err(|e| format!("{package}: {e}"))?;
            }
            Ok((package, folder))
        })
        .collect()
}

/// The lines of a list; what stands behind `#` does not count.
fn names(text: &str) -> Result<Vec<String>, String> {
    let lines = text.lines().map(|l| l.split('#').next().unwrap_or("").trim());
    lines
        .filter(|l| !l.is_empty())
        .map(|line| match line.split_once("==") {
            Some((name, version)) if is_word(name) && is_word(version) => Ok(line.to_owned()),
            _ => Err(format!("'{line}' is not NAME==VERSION")),
        })
        .collect()
}

/// True for what names and versions are made of: they become folders.
fn is_word(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn lists_pin_versions() {
        assert_eq!(names("# models\n\na-b==1.0.2 # why\n").unwrap(), ["a-b==1.0.2"]);
        for wrong in ["a", "a>=1", "a==", "../a==1", "a==1/2", "-r==1"] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
