//! Sizes: a file that needs scrolling for minutes should be two files.

use super::{Finding, sources::Source};

/// Lines a file may have.
const LONGEST: usize = 500;

/// Files that may be longer, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// No file is longer than allowed, and no exception outlives its need.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    check_against(sources, EXCEPTIONS)
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
    fn an_exception_must_still_be_needed() {
        let found = check_against(&[source("short.rs", 3)], &[("short.rs", "was long once")]);
        assert_eq!(found[0].message, "needs no exception any more");
    }
}
