//! Provenance: no model or golden number without a note about where it comes from.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    Finding,
    sources::{files, relative},
};

/// Every file under `models`, `golden` and `families` of the fixtures is named in a `PROVENANCE`
/// file (any extension) beside it or in a directory above, by its path from there or its name.
pub(super) fn check(fixtures: &Path) -> Result<Vec<Finding>, String> {
    let mut notes = Vec::new();
    for path in files(fixtures)?.into_iter().filter(|p| is_note(p)) {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        notes.push((path.parent().expect("a file lies in a directory").to_owned(), text));
    }
    let mut found = Vec::new();
    for kind in ["models", "golden", "families"] {
        for file in files(&fixtures.join(kind))?.into_iter().filter(|p| !speaks_for_itself(p)) {
            if !is_named(&file, &notes) {
                let place = format!("fixtures/{}", relative(fixtures, &file));
                found.push(Finding::new("provenance", place, "no PROVENANCE file names it"));
            }
        }
    }
    Ok(found)
}

fn is_note(path: &Path) -> bool {
    path.file_stem().is_some_and(|s| s == "PROVENANCE")
}

/// Notes, and files that are about other files.
fn speaks_for_itself(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    is_note(path) || name.starts_with("README") || name.starts_with("LICENSE")
}

/// True if a note in the file's directory or above names it.
fn is_named(file: &Path, notes: &[(PathBuf, String)]) -> bool {
    notes.iter().filter(|(directory, _)| file.starts_with(directory)).any(|(directory, text)| {
        let path = relative(directory, file);
        let name = path.rsplit('/').next().unwrap_or(&path);
        mentions(text, &path) || mentions(text, name)
    })
}

/// True if `name` stands in `text` as a word of its own: `a.xml` does not stand in `ba.xml`.
fn mentions(text: &str, name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "._-".contains(c);
    text.match_indices(name).any(|(at, _)| {
        let after = &text[at + name.len()..];
        // A full stop may end the sentence.
        let ends = !after.starts_with(inside)
            || after.strip_prefix('.').is_some_and(|rest| !rest.starts_with(inside));
        !text[..at].ends_with(inside) && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words() {
        let text = "`models/a.xml` from there; golden b.json. And c.xml";
        for good in ["a.xml", "models/a.xml", "b.json", "c.xml"] {
            assert!(mentions(text, good), "{good}");
        }
        for bad in ["a.xm", ".xml", "xml", "d.xml", "b.js"] {
            assert!(!mentions(text, bad), "{bad}");
        }
    }

    #[test]
    fn only_notes_beside_or_above_count() {
        let note = |d: &str, t: &str| (PathBuf::from(d), t.to_owned());
        let file = Path::new("/f/models/robot/a.xml");
        assert!(is_named(file, &[note("/f/models/robot", "a.xml")]));
        assert!(is_named(file, &[note("/f", "models/robot/a.xml")]));
        assert!(!is_named(file, &[note("/f/golden", "a.xml")]));
        assert!(!is_named(file, &[]));
    }

    #[test]
    fn a_file_without_a_note_is_found() {
        let root = std::env::temp_dir().join(format!("forks-provenance-{}", std::process::id()));
        fs::create_dir_all(root.join("models/deep")).unwrap();
        fs::write(root.join("models/PROVENANCE.md"), "deep/a.xml: made here").unwrap();
        fs::write(root.join("models/deep/a.xml"), "").unwrap();
        fs::write(root.join("models/deep/b.xml"), "").unwrap();
        let found = check(&root).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "fixtures/models/deep/b.xml");
        assert!(check(Path::new("/no such directory")).unwrap().is_empty());
    }
}
