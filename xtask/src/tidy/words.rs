//! Words that have no place in finished code.

use super::{Finding, sources::Source};

/// Macros of unfinished code, anywhere. Written in two parts so that this file does not contain
/// them.
const UNFINISHED: [&str; 3] =
    [concat!("dbg", "!"), concat!("todo", "!"), concat!("unimplemented", "!")];
/// Macros that print; a library returns what it has to say.
const PRINTING: [&str; 4] = ["println!", "print!", "eprintln!", "eprint!"];
/// Where printing is the purpose.
const PROGRAMS: [&str; 3] = ["crates/forks-cli/", "benches/", "xtask/"];

/// No unfinished code; no printing in libraries. Comments and doc examples are free.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for s in sources {
        let is_library =
            s.path.contains("/src/") && !PROGRAMS.iter().any(|p| s.path.starts_with(p));
        for (i, line) in s.text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            let printing = PRINTING.iter().filter(|_| is_library);
            for word in UNFINISHED.iter().chain(printing).filter(|w| uses(code, w)) {
                let place = format!("{}:{}", s.path, i + 1);
                found.push(Finding::new("words", place, format!("uses {word}")));
            }
        }
    }
    found
}

/// True if `word` stands in `code` and is not the end of a longer name.
fn uses(code: &str, word: &str) -> bool {
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let source = Source { path: path.into(), text: text.into() };
        check(&[source]).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn unfinished_code_is_found_everywhere() {
        let text = format!("fn f() {{\n    {}()\n}}\n", UNFINISHED[1]);
        for path in ["xtask/src/a.rs", "crates/forks-lie/src/a.rs", "crates/forks-lie/tests/a.rs"] {
            assert_eq!(found(path, &text), [format!("[words] {path}:2: uses {}", UNFINISHED[1])]);
        }
    }

    #[test]
    fn only_libraries_must_not_print() {
        let text = "println!(\"x\");\n";
        assert_eq!(found("crates/forks-lie/src/a.rs", text).len(), 1);
        assert_eq!(found("crates/forks-lie/src/a.rs", "eprintln!()").len(), 1, "one name, one hit");
        assert!(found("crates/forks-lie/tests/a.rs", text).is_empty());
        assert!(found("crates/forks-cli/src/a.rs", text).is_empty());
    }

    #[test]
    fn comments_and_longer_names_are_free() {
        let text = "//! println!()\n    /// print!()\nmy_println!();\n";
        assert!(found("crates/forks-lie/src/a.rs", text).is_empty());
    }
}
