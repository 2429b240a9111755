//! `<include>`: the children of the included file's root take the element's place. Paths are
//! relative to the directory of the main file or else of the file with the include, each file is
//! used at most once, and nested includes are followed.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use crate::{ImportError, text_file, xml::Tree};

/// Reads a file, includes left as they are.
pub(crate) fn load(path: &Path) -> Result<Tree, ImportError> {
    let mut tree = Tree::default();
    let source = text_file::read(path)?;
    tree.files.push(path.display().to_string());
    tree.root = tree.append(&source, Some(0))?;
    Ok(tree)
}

/// Parses text, includes left as they are.
pub(crate) fn parse(source: &str) -> Result<Tree, ImportError> {
    let mut tree = Tree::default();
    tree.root = tree.append(source, None)?;
    Ok(tree)
}

/// Replaces the includes of a tree that was read from `path`; text that came from no file cannot
/// have any.
pub(crate) fn with_includes(mut tree: Tree, path: Option<&Path>) -> Result<Tree, ImportError> {
    let directory = path.map(|p| p.parent().unwrap_or(Path::new("")).to_owned());
    let mut seen: HashSet<PathBuf> = path.map(identity).into_iter().collect();
    resolve(&mut tree, directory.as_deref(), &mut seen)?;
    Ok(tree)
}

fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Replaces every include below the root, in document order.
fn resolve(
    tree: &mut Tree,
    directory: Option<&Path>,
    seen: &mut HashSet<PathBuf>,
) -> Result<(), ImportError> {
    let mut queue = vec![tree.root];
    while let Some(parent) = queue.pop() {
        let mut pending = std::mem::take(&mut tree.elements[parent].children);
        pending.reverse();
        let mut children = Vec::with_capacity(pending.len());
        while let Some(child) = pending.pop() {
            if tree.elements[child].tag != "include" {
                children.push(child);
                continue;
            }
            let root = open(tree, child, directory, seen)?;
            pending.extend(tree.elements[root].children.iter().rev());
        }
        queue.extend(children.iter().rev());
        tree.elements[parent].children = children;
    }
    Ok(())
}

/// Reads the file of one include element and returns its root.
fn open(
    tree: &mut Tree,
    include: usize,
    directory: Option<&Path>,
    seen: &mut HashSet<PathBuf>,
) -> Result<usize, ImportError> {
    let element = &tree.elements[include];
    let at = tree.location(element);
    let Some(name) = element.attribute("file").map(str::to_owned) else {
        return Err(ImportError::Element {
            at: Box::new(at),
            element: "include".into(),
            problem: "attribute 'file' is missing".into(),
        });
    };
    let fail =
        |problem| ImportError::Include { at: Box::new(at.clone()), file: name.clone(), problem };
    let Some(directory) = directory else {
        return Err(fail("text that came from no file cannot include files"));
    };
    if !element.children.is_empty() {
        return Err(fail("the element has children, which would be lost"));
    }
    let including = element.file.map(|f| Path::new(&tree.files[f]));
    let beside = including.and_then(Path::parent).unwrap_or(Path::new(""));
    let places = [directory.join(&name), beside.join(&name)];
    let Some(path) = places.into_iter().find(|p| p.is_file()) else {
        return Err(fail("there is no such file beside the main file or this one"));
    };
    if !seen.insert(identity(&path)) {
        return Err(fail(
            "the file is included before; a file can be included only once, and never by itself",
        ));
    }
    let source = text_file::read(&path)?;
    tree.files.push(path.display().to_string());
    let root = tree.append(&source, Some(tree.files.len() - 1))?;
    if tree.elements[root].children.is_empty() {
        return Err(fail("the file holds no element to insert"));
    }
    Ok(root)
}
