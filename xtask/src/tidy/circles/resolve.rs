//! From paths to the files that define what they name, through re-exports.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    imports::{Contents, Named},
    tokens::test_modules,
};

/// A module's path from the crate's root; the root's is empty.
type Module = Vec<String>;

/// The modules of a crate that are files.
pub(super) struct Crate {
    modules: BTreeMap<Module, (String, Contents)>,
}

/// File `from` uses something that file `to` defines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Use {
    pub(super) from: String,
    pub(super) to: String,
    /// Where, and by which name.
    pub(super) line: usize,
    pub(super) name: String,
}

impl Crate {
    /// The crate whose files, as (path below `src`, text), are given. Files of tests are left out.
    pub(super) fn of<'a>(files: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Self {
        let mut tests = BTreeSet::new();
        for (path, text) in files.clone() {
            for name in test_modules(text) {
                let mut module = module(path);
                module.push(name);
                tests.insert(module);
            }
        }
        let is_test = |m: &Module| (0..=m.len()).any(|n| tests.contains(&m[..n]));
        let modules = files
            .map(|(path, text)| (module(path), (path.to_owned(), Contents::of(text))))
            .filter(|(m, _)| !is_test(m))
            .collect();
        Self { modules }
    }

    /// All uses of one file by another, once per pair; what an ancestor in the tree of modules
    /// defines for its descendants is left out.
    pub(super) fn uses(&self) -> Vec<Use> {
        let mut out = Vec::new();
        for (module, (from, contents)) in &self.modules {
            let mut seen = BTreeSet::new();
            for (named, target) in self.named_in(module, contents) {
                let Some((to, _)) = self.modules.get(&target) else { continue };
                if !module.starts_with(&target) && seen.insert(to) {
                    let name = named.path.join("::");
                    out.push(Use { from: from.clone(), to: to.clone(), line: named.line, name });
                }
            }
        }
        out
    }

    /// Every path in a file that names something of this crate, with the module that defines it.
    fn named_in<'a>(&self, module: &Module, contents: &'a Contents) -> Vec<(&'a Named, Module)> {
        let imports = contents.imports.iter().filter(|i| !i.is_public && i.alias != "*");
        let paths = imports.map(|i| &i.from).chain(&contents.paths);
        let found = paths.filter_map(|p| {
            let (target, is_module) = self.find(module, &p.path, &mut BTreeSet::new())?;
            // A module is used through the names in it.
            (!is_module).then_some((p, target))
        });
        found.collect()
    }

    /// The module that defines what `path` names in `module`, and whether that is the module
    /// itself; `None` if it is not of this crate.
    fn find(
        &self,
        module: &Module,
        path: &[String],
        open: &mut BTreeSet<(Module, String)>,
    ) -> Option<(Module, bool)> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk(Module::new(), rest, open),
            "self" => self.walk(module.clone(), rest, open),
            "super" => self.walk(module.split_last()?.1.to_vec(), rest, open),
            _ => self.step(module, path, open),
        }
    }

    fn walk(
        &self,
        module: Module,
        path: &[String],
        open: &mut BTreeSet<(Module, String)>,
    ) -> Option<(Module, bool)> {
        match path.first().map(String::as_str) {
            None => Some((module, true)),
            Some("super") => self.walk(module.split_last()?.1.to_vec(), &path[1..], open),
            // What no file has by that name is made by a macro or written inside the module.
            Some(_) => self.step(&module, path, open).or(Some((module, false))),
        }
    }

    /// The same for a path whose first name is looked up in `module` alone.
    fn step(
        &self,
        module: &Module,
        path: &[String],
        open: &mut BTreeSet<(Module, String)>,
    ) -> Option<(Module, bool)> {
        let (first, rest) = path.split_first()?;
        let contents = &self.modules.get(module)?.1;
        let mut child = module.clone();
        child.push(first.clone());
        let is_module = self.modules.contains_key(&child);
        // A function may have the name of its module; what goes on after the name is the module's.
        if is_module && !rest.is_empty() {
            return self.walk(child, rest, open);
        }
        if contents.items.contains(first) {
            return Some((module.clone(), false));
        }
        if !open.insert((module.clone(), first.clone())) {
            return None;
        }
        let mut named = contents.imports.iter().filter(|i| i.alias == *first);
        let imported = named.find_map(|i| {
            let whole: Vec<_> = i.from.path.iter().chain(rest).cloned().collect();
            self.find(module, &whole, open)
        });
        let found = match imported {
            Some(found) => Some(found),
            None if is_module => Some((child, true)),
            None => self.through_globs(module, contents, path, open),
        };
        open.remove(&(module.clone(), first.clone()));
        found
    }

    fn through_globs(
        &self,
        module: &Module,
        contents: &Contents,
        path: &[String],
        open: &mut BTreeSet<(Module, String)>,
    ) -> Option<(Module, bool)> {
        contents.imports.iter().filter(|i| i.alias == "*").find_map(|i| {
            let (of, is_module) = self.find(module, &i.from.path, open)?;
            if is_module { self.step(&of, path, open) } else { None }
        })
    }
}

/// The module that a file is, from its path below `src`.
fn module(path: &str) -> Module {
    let mut parts: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = parts.len() == 1 && matches!(parts[0].as_str(), "lib" | "main");
    if is_root || parts.last().is_some_and(|p| p == "mod") {
        parts.pop();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(files: &[(&str, &str)]) -> Vec<String> {
        let all = Crate::of(files.iter().copied()).uses();
        all.iter().map(|u| format!("{}:{} {} {}", u.from, u.line, u.name, u.to)).collect()
    }

    #[test]
    fn re_exports_lead_to_the_file_that_defines() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::{Deep as Flat, T};"),
            ("a.rs", "\nuse crate::Flat;"),
            ("b/mod.rs", "mod c; pub use c::*; pub struct T;"),
            ("b/c.rs", "pub struct Deep;"),
        ];
        assert_eq!(uses(&files), ["a.rs:2 crate::Flat b/c.rs"]);
    }

    #[test]
    fn inline_paths_and_imported_modules_count() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use super::b; fn f() { b::g(); crate::c::h() }"),
            ("b.rs", "pub fn g() {}"),
            ("c.rs", "pub fn h() {}"),
        ];
        assert_eq!(uses(&files), ["a.rs:1 b::g b.rs", "a.rs:1 crate::c::h c.rs"]);
    }

    #[test]
    fn a_function_and_a_module_may_share_a_name() {
        let files = [
            ("lib.rs", "mod newton; mod step; pub use newton::newton;"),
            ("newton.rs", "pub fn newton() {}"),
            ("step.rs", "use crate::newton;"),
        ];
        assert_eq!(uses(&files), ["step.rs:1 crate::newton newton.rs"]);
    }

    #[test]
    fn parents_serve_their_children_and_tests_may_do_anything() {
        let files = [
            ("lib.rs", "mod a; struct S; #[cfg(test)] mod tests;"),
            ("a.rs", "use super::S; use std::fmt; #[cfg(test)] mod t { use crate::b::B; }"),
            ("b.rs", "pub struct B;"),
            ("tests.rs", "use crate::b::B;"),
        ];
        assert!(uses(&files).is_empty());
    }

    #[test]
    fn names_through_a_glob_count_where_they_are_used() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use super::b::*; fn f() -> B { B }"),
            ("b.rs", "pub struct B; pub struct Unused;"),
        ];
        assert_eq!(uses(&files), ["a.rs:1 B b.rs"]);
    }
}
