//! Documentation: every crate explains itself, with an example that is run as a test.

use std::fs;

use super::{
    Finding,
    metadata::{Metadata, Package},
    sources::Source,
};

/// Every published crate has a README; a library's README is part of its docs and has an example.
pub(super) fn check(metadata: &Metadata) -> Result<Vec<Finding>, String> {
    let mut found = Vec::new();
    for p in metadata.members().filter(|p| p.is_published()) {
        let read = |name: &str| fs::read_to_string(p.directory().join(name)).unwrap_or_default();
        found.extend(check_package(p, &read("README.md"), &read("src/lib.rs")));
    }
    Ok(found)
}

fn check_package(p: &Package, readme: &str, library: &str) -> Vec<Finding> {
    let finding = |message: &str| Finding::new("docs", &p.name, message);
    let mut found = Vec::new();
    if !readme.starts_with("# ") || readme.lines().count() < 5 {
        found.push(finding("README.md is missing or says nothing"));
    }
    if p.has_library() {
        if !has_tested_example(readme) {
            found.push(finding("README.md has no Rust example that runs as a test"));
        }
        if !library.contains(r#"include_str!("../README.md")"#) {
            found.push(finding("src/lib.rs does not include README.md, so its example is not run"));
        }
    }
    found
}

/// A fenced block that rustdoc runs: `rust` or no language, and no word that switches it off.
fn has_tested_example(readme: &str) -> bool {
    let fences: Vec<&str> =
        readme.lines().filter_map(|l| l.strip_prefix("```")).map(str::trim).collect();
    // Every second fence closes a block.
    fences.iter().step_by(2).any(|f| f.is_empty() || *f == "rust")
}

/// Every file of a crate starts with a line that says what it is for.
pub(super) fn check_headers(sources: &[Source]) -> Vec<Finding> {
    let silent = sources.iter().filter(|s| !s.text.starts_with("//!"));
    silent
        .map(|s| Finding::new("docs", &s.path, "does not start with a line of documentation"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::metadata::sample, *};

    const README: &str = "# name\n\nWhat it is.\n\n```rust\nassert!(true);\n```\n";
    const LIBRARY: &str = "#![doc = include_str!(\"../README.md\")]\n";

    fn found(readme: &str, library: &str) -> usize {
        let m = sample(&[("forks-lie", &[])], &[]);
        check_package(&m.packages[0], readme, library).len()
    }

    #[test]
    fn a_crate_explains_itself_with_a_tested_example() {
        assert_eq!(found(README, LIBRARY), 0);
        assert_eq!(found("", LIBRARY), 2);
        assert_eq!(found(README, "//! nothing\n"), 1);
        assert_eq!(found(&README.replace("rust", "text"), LIBRARY), 1);
        assert_eq!(found(&README.replace("rust", "rust,ignore"), LIBRARY), 1);
    }

    #[test]
    fn programs_need_no_example() {
        let mut m = sample(&[("forks-cli", &[])], &[]);
        m.packages[0].targets[0].kind = vec!["bin".into()];
        let readme = README.replace("rust", "sh");
        assert!(check_package(&m.packages[0], &readme, "").is_empty());
    }

    #[test]
    fn files_say_what_they_are_for() {
        let source = |text: &str| Source { path: "a.rs".into(), text: text.into() };
        assert!(check_headers(&[source("//! Why.\n")]).is_empty());
        assert_eq!(check_headers(&[source("use std::fs;\n"), source("")]).len(), 2);
    }
}
