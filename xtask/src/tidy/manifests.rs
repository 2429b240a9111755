//! Manifests: every crate is under the repository's lints (no `unsafe`, documented items) and
//! licence.
//!
//! The benches repeat the lints with `unsafe` denied instead of forbidden, so that one module may
//! lift the ban: the hand-written kernel. No library depends on them.

use std::fs;

use super::{Finding, metadata::Metadata};

/// The licence of everything in this repository that we wrote.
const LICENCE: &str = "MIT OR Apache-2.0";

/// The crate that may deny `unsafe` code instead of forbidding it.
const BENCHES: &str = "forks-benches";

/// Every member takes its lints from the workspace and has the repository's licence.
pub(super) fn check(metadata: &Metadata) -> Result<Vec<Finding>, String> {
    let mut found = Vec::new();
    for p in metadata.members() {
        let manifest = fs::read_to_string(&p.manifest_path)
            .map_err(|e| format!("{}: {e}", p.manifest_path.display()))?;
        let taken = if p.name == BENCHES {
            let workspace = p.directory().with_file_name("Cargo.toml");
            let workspace = fs::read_to_string(&workspace)
                .map_err(|e| format!("{}: {e}", workspace.display()))?;
            repeats_workspace_lints(&manifest, &workspace)
        } else {
            takes_workspace_lints(&manifest)
        };
        if !taken {
            found.push(Finding::new("manifests", &p.name, "does not take the workspace's lints"));
        }
        if p.license.as_deref() != Some(LICENCE) {
            found.push(Finding::new("manifests", &p.name, format!("is not under {LICENCE}")));
        }
    }
    Ok(found)
}

/// True if the manifest has a table `[lints]` whose only entry is `workspace = true`.
fn takes_workspace_lints(manifest: &str) -> bool {
    table(manifest, "[lints]") == ["workspace = true"]
}

/// True if the manifest's lints are the workspace's, `unsafe` code denied instead of forbidden.
fn repeats_workspace_lints(manifest: &str, workspace: &str) -> bool {
    ["rust", "clippy"].iter().all(|tool| {
        let own = table(manifest, &format!("[lints.{tool}]"));
        let shared = table(workspace, &format!("[workspace.lints.{tool}]"));
        let denied = |l: &str| l.replace("unsafe_code = \"forbid\"", "unsafe_code = \"deny\"");
        !own.is_empty() && own == shared.iter().map(|l| denied(l)).collect::<Vec<_>>()
    })
}

/// The lines of a table without comments and blank ones.
fn table<'a>(manifest: &'a str, header: &str) -> Vec<&'a str> {
    let lines = manifest.lines().map(str::trim).skip_while(|l| *l != header).skip(1);
    let entries = lines.take_while(|l| !l.starts_with('['));
    entries.filter(|l| !l.is_empty() && !l.starts_with('#')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_come_from_the_workspace() {
        for good in
            ["[lints]\nworkspace = true\n", "[package]\n[lints]\n\n# all\nworkspace = true\n[a]\n"]
        {
            assert!(takes_workspace_lints(good), "{good}");
        }
        for bad in ["", "[lints]\n", "[lints]\nworkspace = false\n", "[a]\nworkspace = true\n"] {
            assert!(!takes_workspace_lints(bad), "{bad}");
        }
    }

    #[test]
    fn the_benches_repeat_the_lints_and_only_deny_unsafe_code() {
        let workspace = "[workspace.lints.rust]\na = 1\nunsafe_code = \
            \"forbid\"\n\n[workspace.lints.clippy]\nb = 2\n";
        let own = "[lints.rust]\na = 1\nunsafe_code = \"deny\"\n\n[lints.clippy]\n# why\nb = 2\n";
        assert!(repeats_workspace_lints(own, workspace));
        for (from, to) in
            [("deny", "allow"), ("b = 2", "b = 3"), ("a = 1\n", ""), ("[lints.clippy]", "[x]")]
        {
            assert!(!repeats_workspace_lints(&own.replace(from, to), workspace), "{from}");
        }
    }
}
