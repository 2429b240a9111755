//! The model files below a folder, told by their outermost element.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Mjcf,
    Urdf,
}

/// A file below the folders.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// The folder below which it was found.
    pub(super) place: PathBuf,
    /// `NAME==VERSION`, where the folder is a package.
    pub(super) package: Option<String>,
    pub(super) path: PathBuf,
    pub(super) kind: FoundKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FoundKind {
    Model(Format),
    /// A part of models, with the reason why it is none itself.
    Fragment(String),
}

/// Everything that can be told about a file from its text.
struct Text {
    root: String,
    has_world: bool,
    has_link: bool,
    /// Files that it includes, as written.
    includes: Vec<String>,
}

/// All models and fragments below a folder (a file is taken as it is), sorted by path.
pub(super) fn models(place: &Path, package: Option<&str>) -> Result<Vec<Found>, String> {
    let mut files = BTreeSet::new();
    let mut place = fs::canonicalize(place).map_err(|e| format!("{}: {e}", place.display()))?;
    if place.is_file() {
        files.insert(place.clone());
        place.pop();
    } else {
        walk(&place, &mut files)?;
    }
    let mut found = Vec::new();
    for path in files {
        let Some(text) = scan(&path) else { continue };
        let kind = match text.root.as_str() {
            "robot" if !text.has_link => FoundKind::Fragment("it has no link".into()),
            "robot" => FoundKind::Model(Format::Urdf),
            "mujoco" if text.has_world => FoundKind::Model(Format::Mjcf),
            "mujoco" if text.includes.is_empty() => {
                FoundKind::Fragment("it has no worldbody".into())
            }
            "mujoco" => FoundKind::Model(Format::Mjcf),
            "mujocoinclude" => FoundKind::Fragment("its root is mujocoinclude".into()),
            _ => continue,
        };
        found.push(Found { place: place.clone(), package: package.map(str::to_owned), path, kind });
    }
    Ok(found)
}

/// The files that others below the folders include. They may be models as well: who reads them
/// decides.
pub(super) fn included(found: &[Found]) -> BTreeSet<PathBuf> {
    let of = |f: &Found| {
        let folder = f.path.parent().unwrap_or(Path::new(".")).to_owned();
        let includes = scan(&f.path).map_or(vec![], |t| t.includes);
        includes.into_iter().filter_map(move |i| fs::canonicalize(folder.join(i)).ok())
    };
    found.iter().flat_map(of).collect()
}

fn walk(folder: &Path, out: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() && !entry.file_type().is_ok_and(|t| t.is_symlink()) {
                folders.push(path);
            } else if path.extension().is_some_and(|e| {
                ["xml", "urdf", "mjcf"].iter().any(|known| e.eq_ignore_ascii_case(known))
            }) {
                out.insert(path);
            }
        }
    }
    Ok(())
}

fn scan(path: &Path) -> Option<Text> {
    let bytes = fs::read(path).ok()?;
    Some(scan_text(&String::from_utf8_lossy(&bytes)))
}

/// Tags outside comments: enough to tell models from other XML, whether or not the text is
/// well-formed.
fn scan_text(text: &str) -> Text {
    let mut out = Text { root: String::new(), has_world: false, has_link: false, includes: vec![] };
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let skip_to = |end: &str| rest.find(end).map_or("", |e| &rest[e + end.len()..]);
        if rest.starts_with("!--") {
            rest = skip_to("-->");
            continue;
        }
        if rest.starts_with(['?', '!', '/']) {
            continue;
        }
        let tag: &str =
            rest.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next().unwrap_or("");
        if out.root.is_empty() {
            out.root = tag.to_owned();
        }
        out.has_world |= tag == "worldbody";
        out.has_link |= tag == "link";
        if tag == "include" {
            let end = rest.find('>').unwrap_or(rest.len());
            out.includes.extend(file_attribute(&rest[..end]));
        }
    }
    out
}

/// The value of `file` in a tag.
fn file_attribute(tag: &str) -> Option<String> {
    let value = tag.split("file").nth(1)?.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| ['"', '\''].contains(c))?;
    value[1..].split(quote).next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_first_element_and_comments_do_not_count() {
        let text = "<?xml version='1.0'?>\n<!-- <robot> a > b -->\n<mujoco model=\"m\">\n\
                    <!--<worldbody/>--><include file='a/b.xml'/></mujoco>";
        let t = scan_text(text);
        assert_eq!((t.root.as_str(), t.has_world), ("mujoco", false));
        assert_eq!(t.includes, ["a/b.xml"]);
        assert_eq!(scan_text("<robot\nname='r'><link/></robot>").root, "robot");
        assert!(scan_text("<mujoco><worldbody/></mujoco>").has_world);
        assert_eq!(scan_text("no xml at all").root, "");
    }
}
