//! Width: lines that fit beside each other on a screen, prose and code alike.

use std::{fs, path::Path};

use super::{
    Finding,
    sources::{files, relative},
};

/// Characters that a line may have, as `rustfmt.toml` has it.
const WIDEST: usize = 100;

/// Endings of the files that are looked at.
const ENDINGS: [&str; 6] = ["md", "py", "rs", "sh", "toml", "yml"];

/// Folders of files that are ours; models and recordings under `fixtures` are not.
const FOLDERS: [&str; 8] =
    [".ci", "benches", "crates", "docs", "fixtures/scenarios", "fuzz", "testkit", "xtask"];

/// No line of text or code is wider than allowed. What cannot be broken may be: an address, a row
/// of a table (Markdown has one line for it), and lines of raw strings, which are data.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let mut paths = Vec::new();
    for folder in FOLDERS {
        paths.extend(files(&root.join(folder))?);
    }
    for entry in fs::read_dir(root).map_err(|e| e.to_string())? {
        paths.push(entry.map_err(|e| e.to_string())?.path());
    }
    let is_looked_at = |p: &Path| {
        let ending = p.extension().and_then(|e| e.to_str());
        p.is_file() && (ending.is_some_and(|e| ENDINGS.contains(&e)) || p.ends_with(".ci/run"))
    };
    let mut found = Vec::new();
    for path in paths.iter().filter(|p| is_looked_at(p)) {
        let name = relative(root, path);
        let text = fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
        found.extend(check_text(&name, &text));
    }
    Ok(found)
}

fn check_text(path: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut raw = None;
    for (i, line) in text.lines().enumerate() {
        let inside = raw.is_some();
        if path.ends_with(".rs") {
            raw = raw_string_after(line, raw);
        }
        let width = width(line);
        let is_data = inside || raw.is_some() || line.contains("r#\"") || line.contains("r##\"");
        if width > WIDEST && !(is_data || is_row(line) || is_address(line)) {
            let place = format!("{path}:{}", i + 1);
            found.push(Finding::new(
                "width",
                place,
                format!("{width} characters, allowed {WIDEST}"),
            ));
        }
    }
    found
}

/// Characters of a line, accents that stand on another one not counted.
fn width(line: &str) -> usize {
    line.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

/// True for a row of a table, in a document or in a comment.
fn is_row(line: &str) -> bool {
    line.trim_start().trim_start_matches(['/', '!']).trim_start().starts_with('|')
}

/// True for a line whose last word alone makes it too wide and is an address.
fn is_address(line: &str) -> bool {
    line.split_whitespace().any(|w| w.contains("://") && width(w) > WIDEST / 2)
}

/// Hashes of the raw string that is open at the end of the line, `before` at its start.
fn raw_string_after(line: &str, before: Option<usize>) -> Option<usize> {
    let (mut rest, mut open) = (line, before);
    loop {
        if let Some(hashes) = open {
            let end = format!("\"{}", "#".repeat(hashes));
            let Some(at) = rest.find(&end) else { return open };
            rest = &rest[at + end.len()..];
            open = None;
        } else {
            let at = rest.find("r#")?;
            rest = &rest[at + 1..];
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            rest = &rest[hashes..];
            if let Some(inside) = rest.strip_prefix('"') {
                (rest, open) = (inside, Some(hashes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Vec<String> {
        check_text("a.rs", text).into_iter().map(|f| f.place).collect()
    }

    #[test]
    fn wide_lines_are_found() {
        let line = "x".repeat(WIDEST);
        assert!(wide(&line).is_empty());
        assert_eq!(wide(&format!("a\n{line}y")), ["a.rs:2"]);
        assert!(wide(&format!("{}\u{307}", line)).is_empty(), "an accent takes no room");
    }

    #[test]
    fn addresses_and_raw_strings_may_be_wide() {
        let long = "x".repeat(WIDEST + 1);
        assert!(wide(&format!("// https://{long}")).is_empty());
        assert_eq!(wide(&format!("// {long} https://a.b")), ["a.rs:1"]);
        assert!(wide(&format!("let a = r#\"\n{long}\n\"#;\n")).is_empty());
        assert!(wide(&format!("let a = r#\"{long}\n\"#;\n")).is_empty());
        assert!(wide(&format!("let a = r#\"<a b=\"c\">\n{long}\n\"#;\n")).is_empty());
        assert_eq!(wide(&format!("let a = r#\"b\"#;\n{long}\n")), ["a.rs:2"]);
        assert!(wide(&format!("/// | {long} |")).is_empty());
    }
}
