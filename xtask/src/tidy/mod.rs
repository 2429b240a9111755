//! `cargo xtask tidy`: rules of this repository that no compiler knows.
//!
//! Every rule is a function from what it looks at to a list of findings, tested on made-up input;
//! the test at the end runs all of them on the repository itself.

mod circles;
mod citations;
mod docs;
mod layers;
mod licences;
mod manifests;
pub(crate) mod metadata;
mod msrv;
mod provenance;
mod size;
mod sources;
mod width;
mod words;

use std::{fmt, path::Path, process::ExitCode};

use metadata::Metadata;
use sources::Source;

/// A breach of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// The rule's name.
    rule: &'static str,
    /// File or package.
    place: String,
    /// What is wrong there.
    message: String,
}

impl Finding {
    fn new(rule: &'static str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}: {}", self.rule, self.place, self.message)
    }
}

/// `cargo xtask tidy`.
#[derive(clap::Args)]
pub(crate) struct TidyArgs {
    /// Look for circles of files only
    #[arg(long)]
    circles: bool,

    /// Look for wide lines only
    #[arg(long)]
    width: bool,
}

/// Runs all rules and prints what they find.
pub(crate) fn run(root: &Path, args: &TidyArgs) -> ExitCode {
    let found = if args.circles {
        Source::all(root).map(|sources| circles::check(&sources))
    } else if args.width {
        width::check(root)
    } else {
        findings(root)
    };
    match found {
        Ok(found) if found.is_empty() => {
            println!("tidy: nothing to complain about");
            ExitCode::SUCCESS
        }
        Ok(found) => {
            found.iter().for_each(|f| eprintln!("{f}"));
            eprintln!("error: tidy found {} breach(es)", found.len());
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

/// All rules on the repository at `root`.
fn findings(root: &Path) -> Result<Vec<Finding>, String> {
    let metadata = Metadata::of(root)?;
    let sources = Source::all(root)?;
    let mut found = layers::check(&metadata);
    found.extend(licences::check(&metadata));
    found.extend(manifests::check(&metadata)?);
    found.extend(msrv::check(&metadata));
    found.extend(docs::check(&metadata)?);
    found.extend(docs::check_headers(&sources));
    found.extend(size::check(&sources));
    found.extend(words::check(&sources));
    found.extend(width::check(root)?);
    found.extend(circles::check(&sources));
    found.extend(citations::check(root, &sources)?);
    found.extend(provenance::check(&root.join("fixtures"))?);
    Ok(found)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_is_tidy() {
        let found = super::findings(crate::root()).unwrap();
        assert!(found.is_empty(), "{}", found.iter().map(|f| format!("\n{f}")).collect::<String>());
    }
}
