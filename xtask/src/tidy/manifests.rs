//! Manifests: every crate is under the repository's lints (no `unsafe`, documented items) and licence.

use std::fs;

use super::{Finding, metadata::Metadata};

/// The licence of everything in this repository that we wrote.
const LICENCE: &str = "MIT OR Apache-2.0";

/// Every member takes its lints from the workspace and has the repository's licence.
pub(super) fn check(metadata: &Metadata) -> Result<Vec<Finding>, String> {
    let mut found = Vec::new();
    for p in metadata.members() {
        let manifest = fs::read_to_string(&p.manifest_path)
            .map_err(|e| format!("{}: {e}", p.manifest_path.display()))?;
        if !takes_workspace_lints(&manifest) {
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
    let lines = manifest.lines().map(str::trim).skip_while(|l| *l != "[lints]").skip(1);
    let entries: Vec<&str> = lines.take_while(|l| !l.starts_with('[')).collect();
    let entries: Vec<&str> =
        entries.into_iter().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    entries == ["workspace = true"]
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
}
