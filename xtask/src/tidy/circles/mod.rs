//! Circles: no files of a crate use each other in a circle, so that each can be read after those
//! it uses. Parent modules may serve their children.
//!
//! The imports and paths of every file are followed through re-exports to the file that defines
//! what they name (`resolve`); calls of methods name no file and are not followed.

mod graph;
mod imports;
mod resolve;
mod tokens;

use std::collections::BTreeMap;

use self::{
    graph::Graph,
    resolve::{Crate, Use},
};
use super::{Finding, sources::Source};

/// One finding per knot of files: its members, and the lines of one shortest cycle in it.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for s in sources {
        if let Some((package, file)) = s.path.split_once("/src/") {
            crates.entry(package).or_default().push((file, &s.text));
        }
    }
    crates.iter().flat_map(|(package, files)| knots(package, files)).collect()
}

fn knots(package: &str, files: &[(&str, &str)]) -> Vec<Finding> {
    let uses = Crate::of(files.iter().copied()).uses();
    let mut graph = Graph::new();
    for u in &uses {
        graph.entry(&u.from).or_default().insert(&u.to);
    }
    let components = graph::components(&graph);
    let describe = |members: &Vec<&str>| {
        let cycle = graph::shortest_cycle(&graph, members);
        let lines = (0..cycle.len())
            .map(|i| line(&uses, cycle[i], cycle[(i + 1) % cycle.len()]))
            .collect::<String>();
        let message =
            format!("{} files use each other: {}{lines}", members.len(), members.join(", "));
        Finding::new("circles", format!("{package}/src"), message)
    };
    components.iter().map(describe).collect()
}

fn line(uses: &[Use], from: &str, to: &str) -> String {
    let found = uses.iter().find(|u| u.from == from && u.to == to);
    found.map_or(String::new(), |u| format!("\n    {from}:{} uses {} of {to}", u.line, u.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn files_that_use_each_other_are_found_with_lines() {
        let a = source("crates/x/src/a.rs", "use crate::b::B;\npub struct A;");
        let b = source("crates/x/src/b.rs", "\nuse super::a::A;\npub struct B;");
        let root = source("crates/x/src/lib.rs", "mod a;\nmod b;");
        let found = check(&[a, b.clone(), root.clone()]);
        assert_eq!(
            found[0].to_string(),
            "[circles] crates/x/src: 2 files use each other: a.rs, b.rs\n    \
             a.rs:1 uses crate::b::B of b.rs\n    b.rs:2 uses super::a::A of a.rs"
        );
        let a = source("crates/x/src/a.rs", "pub struct A;");
        assert!(check(&[a, b, root]).is_empty());
    }

    #[test]
    fn crates_are_looked_at_one_by_one_and_tests_not_at_all() {
        let a = source("crates/x/src/a.rs", "use crate::b::B; pub struct A;");
        let b = source("crates/y/src/b.rs", "use crate::a::A; pub struct B;");
        let test = source("crates/x/tests/it/b.rs", "use crate::a::A; pub struct B;");
        assert!(check(&[a, b, test]).is_empty());
    }
}
