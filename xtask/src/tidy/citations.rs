//! Citations: what code and documents refer to is in the repository.
//!
//! - A key like \[A16\] has an entry in `docs/references.md`.
//! - "Eq. 7" says whose equation it is: a key or a section of ours stands in the same comment or
//!   paragraph, or in the head of the file.
//! - "EQUATIONS 1.4" and "REDUCTION 3" are sections of `docs/equations.md` and `docs/reduction.md`.
//! - Links of Markdown files to other files of the repository lead somewhere.

use std::{collections::BTreeSet, fs, path::Path};

use super::{
    Finding,
    sources::{Source, files, relative},
};

/// What may be cited.
struct Library {
    keys: BTreeSet<String>,
    /// Word in comments, file, numbers of its sections.
    documents: [(&'static str, &'static str, BTreeSet<String>); 2],
}

/// All Rust sources and Markdown files below `root`.
pub(super) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>, String> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"));
    let library = Library::new(
        &read("docs/references.md")?,
        &read("docs/equations.md")?,
        &read("docs/reduction.md")?,
    );
    // The tests below cite what does not exist.
    let not_here = |s: &&Source| s.path != file!();
    let mut found: Vec<Finding> =
        sources.iter().filter(not_here).flat_map(|s| library.check(&s.path, &s.text)).collect();
    for path in markdown(root)? {
        let name = relative(root, &path);
        let text = fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
        found.extend(library.check(&name, &text));
        let folder = path.parent().unwrap_or(root);
        let broken = links(&text).filter(|l| !folder.join(l).exists());
        found.extend(broken.map(|l| Finding::new("citations", &name, format!("no file {l}"))));
    }
    Ok(found)
}

/// The Markdown files that are ours, foreign ones under `fixtures` left out.
pub(super) fn markdown(root: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let mut out = Vec::new();
    for entry in fs::read_dir(root).map_err(|e| e.to_string())? {
        out.push(entry.map_err(|e| e.to_string())?.path());
    }
    for top in ["benches", "crates", "docs", "fuzz", "testkit", "xtask"] {
        out.extend(files(&root.join(top))?);
    }
    let ours = |name: &str| name == "PROVENANCE.md";
    let fixtures = files(&root.join("fixtures"))?.into_iter();
    out.extend(fixtures.filter(|p| p.file_name().is_some_and(|n| ours(&n.to_string_lossy()))));
    out.retain(|p| p.is_file() && p.extension().is_some_and(|e| e == "md"));
    out.sort();
    Ok(out)
}

impl Library {
    fn new(references: &str, equations: &str, reduction: &str) -> Self {
        let entries = references.lines().filter_map(|l| l.strip_prefix("- **["));
        let keys = entries.filter_map(|l| Some(l.split_once("]**")?.0.to_owned())).collect();
        let documents = [
            ("EQUATIONS", "docs/equations.md", sections(equations)),
            ("REDUCTION", "docs/reduction.md", sections(reduction)),
        ];
        Self { keys, documents }
    }

    fn check(&self, path: &str, text: &str) -> Vec<Finding> {
        let blocks = blocks(path, text);
        // What a Rust file says first, or the last large heading of a document, holds for the rest.
        let mut head = blocks.first().map_or("", |b| &b.1);
        let mut found = Vec::new();
        for (line, block) in &blocks {
            if path.ends_with(".md") && (block.starts_with("# ") || block.starts_with("## ")) {
                head = block;
            }
            let mut report = |message: String| {
                found.push(Finding::new("citations", format!("{path}:{line}"), message));
            };
            for key in keys(block).filter(|k| !self.keys.contains(*k)) {
                report(format!("[{key}] is not in docs/references.md"));
            }
            for (word, file, known) in &self.documents {
                for number in sections_after(block, word).filter(|n| !known.contains(n)) {
                    report(format!("{file} has no section {number}"));
                }
            }
            if names_an_equation(block) && !self.has_source(block) && !self.has_source(head) {
                report("does not say whose Eq. this is".into());
            }
        }
        found
    }

    fn has_source(&self, block: &str) -> bool {
        let own = |word: &str| sections_after(block, word).next().is_some();
        keys(block).next().is_some() || self.documents.iter().any(|d| own(d.0))
    }
}

/// The numbers of a document's headings: `## 1. Name` and `### 1.2 Name`.
fn sections(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|l| l.starts_with('#'));
    let numbers = headings.filter_map(|l| l.trim_start_matches('#').trim_start().split(' ').next());
    let numbers = numbers.map(|n| n.trim_end_matches('.').to_owned());
    numbers.filter(|n| n.starts_with(|c: char| c.is_ascii_digit())).collect()
}

/// Comments and paragraphs with their first lines, signs of comments and line ends taken out; lines
/// of code alone, if they have text between quotes.
fn blocks(path: &str, text: &str) -> Vec<(usize, String)> {
    let is_rust = path.ends_with(".rs");
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (i, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let comment = trimmed.strip_prefix("//").map(|c| c.trim_start_matches(['/', '!']));
        let prose = if is_rust { comment } else { (!trimmed.is_empty()).then_some(trimmed) };
        match (prose, out.last_mut()) {
            (Some(words), Some((_, block))) if goes_on => {
                block.push(' ');
                block.push_str(words.trim());
            }
            (Some(words), _) => out.push((i + 1, words.trim().to_owned())),
            (None, _) if is_rust && trimmed.contains('"') => out.push((i + 1, trimmed.to_owned())),
            _ => {}
        }
        goes_on = prose.is_some();
    }
    out
}

/// What stands between square brackets and looks like a key: letters and two digits.
fn keys(block: &str) -> impl Iterator<Item = &str> {
    block.split('[').skip(1).filter_map(|rest| {
        let key = rest.split(']').next()?.trim_end_matches('\\');
        let letters = key.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_key = key.len() == letters.len() + 2
            && letters.starts_with(|c: char| c.is_ascii_uppercase())
            && letters.chars().all(|c| c.is_ascii_alphabetic());
        (is_key && rest.contains(']')).then_some(key)
    })
}

/// The numbers after a word, "1.2, 1.4 and 1.7"; an empty one where there is none after a word that
/// is no part of a longer one. "n" and "n.m" stand for any.
fn sections_after(block: &str, word: &str) -> impl Iterator<Item = String> {
    let mut out = Vec::new();
    for (at, _) in block.match_indices(word) {
        let rest = &block[at + word.len()..];
        let part = |c: char| c.is_alphanumeric() || c == '_';
        if rest.starts_with(part) || block[..at].ends_with(part) {
            continue;
        }
        if rest.trim_start().starts_with("n.m") || rest.trim_start().starts_with("n\"") {
            continue;
        }
        let mut words = rest.trim_start().split(' ').peekable();
        loop {
            let number = words.next().unwrap_or("");
            let end = number.trim_end_matches(|c: char| !c.is_ascii_digit());
            out.push(end.to_owned());
            let goes_on = number.ends_with(',') || words.next_if_eq(&"and").is_some();
            let is_number = |w: &&str| w.starts_with(|c: char| c.is_ascii_digit());
            if !goes_on || !words.peek().is_some_and(is_number) {
                break;
            }
        }
    }
    out.into_iter()
}

/// "Eq. 7", "Eq. (7)".
fn names_an_equation(block: &str) -> bool {
    block
        .split("Eq. ")
        .skip(1)
        .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '('))
}

/// Targets of links to files: `[text](path)` without a scheme, anchors cut off.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths = targets.map(|t| t.split('#').next().unwrap_or(t));
    paths.filter(|t| !t.is_empty() && !t.contains(':') && !t.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCES: &str = "# R\n\n- **[A16]** A.\n- **[Guyan65]** G.\n";
    const EQUATIONS: &str = "# E\n\n## 1. One\n\n### 1.2 Two\n\n### 1.3 Three\n";

    fn found(text: &str) -> Vec<String> {
        let library = Library::new(REFERENCES, EQUATIONS, "## 3. R\n");
        library.check("a.rs", text).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn keys_need_an_entry() {
        for good in ["//! \\[A16\\] §3, [Guyan65].", "let x = [A17];", "//! [`A16`], [a16], [A1]."]
        {
            assert!(found(good).is_empty(), "{good}");
        }
        let missing = ["[citations] a.rs:1: [K08] is not in docs/references.md"];
        assert_eq!(found("/// As \\[K08\\] has it.\n"), missing);
        assert_eq!(found("say(\"[K08]\");\n"), missing);
    }

    #[test]
    fn equations_have_a_source_nearby_or_in_the_head() {
        for good in [
            "/// \\[A16\\]\n/// Eq. 7.",
            "//! From [A16].\n\nfn f() {}\n\n// Eq. 7\n",
            "/// Eq. 7, see EQUATIONS 1.2.",
        ] {
            assert!(found(good).is_empty(), "{good}");
        }
        let text = "//! Head.\n\n/// [A16]\nfn f() {}\n\n/// Eq. 7.\n";
        assert_eq!(found(text), ["[citations] a.rs:6: does not say whose Eq. this is"]);
    }

    #[test]
    fn sections_must_exist() {
        for good in ["// (EQUATIONS 1.2, 1.3 and 1)", "// EQUATIONS\n// 1.2.", "// REDUCTION 3"] {
            assert!(found(good).is_empty(), "{good}");
        }
        let missing = |n: &str| format!("[citations] a.rs:1: docs/equations.md has no section {n}");
        assert_eq!(found("// EQUATIONS 1.2 and 1.4"), [missing("1.4")]);
        assert_eq!(found("// The lines of EQUATIONS"), [missing("")]);
        assert!(found("// MAX_REDUCTION of EQUATIONS_ALL, \"EQUATIONS n.m\"").is_empty());
    }

    #[test]
    fn paragraphs_of_documents_are_blocks() {
        let library = Library::new(REFERENCES, EQUATIONS, "");
        let text = "# T\n\n[A16] has\nEq. 7.\n\nEq. 8 is wrong.\n\n## By [A16]\n\nEq. 9 is.\n";
        let found = library.check("a.md", text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "a.md:6");
    }

    #[test]
    fn links_are_those_to_files() {
        let text = "[a](b.md), [c](https://d.e), [f](g/h.md#i), [j](#k), [`l`](m::n)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["b.md", "g/h.md"]);
    }
}
