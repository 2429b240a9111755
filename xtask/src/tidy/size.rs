//! Sizes: a file that needs scrolling for minutes should be two files, a crate that nobody reads in
//! a day two crates.

use std::collections::BTreeMap;

use super::{Finding, sources::Source};

/// Lines a file may have.
const LONGEST: usize = 500;

/// Files that may be longer, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Lines that the `src` of a crate may have.
const LARGEST: usize = 10_000;

/// Crates that may be larger: the full reference solver stays in one.
const LARGE: &[&str] = &["crates/forks-dynamics"];

/// No file and no crate is longer than allowed, and no exception outlives its need.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut found = check_against(sources, EXCEPTIONS);
    found.extend(check_crates(sources));
    found
}

fn check_crates(sources: &[Source]) -> Vec<Finding> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for s in sources.iter().filter(|s| s.path.starts_with("crates/")) {
        if let Some((package, _)) = s.path.split_once("/src/") {
            *lines.entry(package).or_default() += s.text.lines().count();
        }
    }
    let large = lines.iter().filter(|(package, n)| **n > LARGEST && !LARGE.contains(package));
    let message = |n: usize| format!("{n} lines in src, allowed {LARGEST}");
    large.map(|(p, n)| Finding::new("size", *p, message(*n))).collect()
}

fn check_against(sources: &[Source], exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_long = |s: &Source| s.text.lines().count() > LONGEST;
    for s in sources.iter().filter(|s| is_long(s)) {
        if !exceptions.iter().any(|(path, _)| *path == s.path) {
            let lines = s.text.lines().count();
            found.push(Finding::new("size", &s.path, format!("{lines} lines, allowed {LONGEST}")));
        }
    }
    for (path, reason) in exceptions {
        if reason.trim().is_empty() {
            found.push(Finding::new("size", *path, "is an exception without a reason"));
        }
        if !sources.iter().any(|s| s.path == *path && is_long(s)) {
            found.push(Finding::new("size", *path, "needs no exception any more"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, lines: usize) -> Source {
        Source { path: path.into(), text: "x\n".repeat(lines) }
    }

    #[test]
    fn long_files_need_an_exception_with_a_reason() {
        let sources = [source("short.rs", 500), source("long.rs", 501)];
        assert_eq!(check(&sources).len(), 1);
        assert!(check_against(&sources, &[("long.rs", "one table")]).is_empty());
        assert_eq!(check_against(&sources, &[("long.rs", " ")]).len(), 1);
    }

    #[test]
    fn crates_have_at_most_ten_thousand_lines_but_for_the_reference_solver() {
        let of = |package: &str, lines: usize| -> Vec<Source> {
            let file = |i: usize| source(&format!("crates/{package}/src/{i}.rs"), 500);
            let rest = source(&format!("crates/{package}/src/rest.rs"), lines % 500);
            (0..lines / 500).map(file).chain([rest]).collect()
        };
        let mut sources = of("forks-x", 10_000);
        sources.push(source("crates/forks-x/tests/it/main.rs", 400));
        sources.extend(of("forks-dynamics", 20_000));
        assert!(check(&sources).is_empty());
        sources.push(source("crates/forks-x/src/more.rs", 1));
        let found = check(&sources);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].to_string(),
            "[size] crates/forks-x: 10001 lines in src, allowed 10000"
        );
    }

    #[test]
    fn an_exception_must_still_be_needed() {
        let found = check_against(&[source("short.rs", 3)], &[("short.rs", "was long once")]);
        assert_eq!(found[0].message, "needs no exception any more");
    }
}
