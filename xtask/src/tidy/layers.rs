//! Layers: which crate may use which (ARCHITECTURE.md, "Crate map").

use std::collections::BTreeSet;

use super::{Finding, metadata::Metadata};

/// Crate → crates it may use directly; what those may use is allowed too.
///
/// Dev-dependencies are free. A crate that is not in the table breaks the rule, so a new crate
/// cannot come without a place.
const ALLOWED: &[(&str, &[&str])] = &[
    ("forks-linalg", &[]),
    ("forks-lie", &["forks-linalg"]),
    ("forks-geometry", &["forks-lie"]),
    ("forks-mechanism", &["forks-geometry", "forks-lie"]),
    ("forks-mesh", &["forks-geometry"]),
    ("forks-models", &["forks-mechanism"]),
    ("forks-dynamics", &["forks-mechanism"]),
    ("forks-control", &["forks-dynamics", "forks-rom"]),
    ("forks-deform", &["forks-dynamics"]),
    ("forks-mpc", &["forks-rom"]),
    ("forks-rom", &["forks-lie"]),
    ("forks-skin", &["forks-rom"]),
    ("forks-condense", &["forks-deform", "forks-reduce", "forks-skin"]),
    ("forks-reduce", &["forks-dynamics", "forks-rom"]),
    ("forks-blend", &["forks-rom"]),
    ("forks-place", &["forks-blend", "forks-reduce"]),
    ("forks-contact", &["forks-lie"]),
    ("forks-sim", &["forks-blend", "forks-contact", "forks-mechanism"]),
    ("forks-import", &["forks-io", "forks-mechanism", "forks-mesh"]),
    ("forks-io", &["forks-geometry"]),
    ("forks-record", &["forks-import", "forks-sim"]),
    ("forks-view", &["forks-direct", "forks-place", "forks-soft"]),
    ("forks-flex", &["forks-deform", "forks-import"]),
    ("forks-tissue", &["forks-contact", "forks-control", "forks-deform", "forks-record"]),
    ("forks-soft", &["forks-condense", "forks-tissue"]),
    ("forks-compare", &["forks-place"]),
    ("forks-direct", &["forks-control", "forks-mpc", "forks-record", "forks-reduce"]),
    ("forks-testkit", &["forks-mechanism"]),
    ("forks-cli", PUBLIC),
    ("forks", PUBLIC),
    ("forks-python", PUBLIC),
    ("forks-benches", EVERYTHING),
    ("xtask", &["forks-benches"]),
];

/// Crate → crates it may also use behind a feature.
const BEHIND_FEATURES: &[(&str, &[&str])] = &[(
    "forks-sim",
    &["forks-dynamics", "forks-import", "forks-io", "forks-models", "forks-reduce"],
)];

/// The libraries that users see.
const PUBLIC: &[&str] = &[
    "forks-compare",
    "forks-condense",
    "forks-control",
    "forks-deform",
    "forks-direct",
    "forks-dynamics",
    "forks-flex",
    "forks-rom",
    "forks-reduce",
    "forks-blend",
    "forks-place",
    "forks-contact",
    "forks-import",
    "forks-io",
    "forks-mesh",
    "forks-models",
    "forks-mpc",
    "forks-record",
    "forks-sim",
    "forks-skin",
    "forks-soft",
    "forks-tissue",
    "forks-view",
];
/// The same and the test oracles.
const EVERYTHING: &[&str] = &["forks", "forks-testkit"];

/// Every dependency between crates of the repository stands in the table.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let ours: BTreeSet<&str> = metadata.members().map(|p| p.name.as_str()).collect();
    let mut found = Vec::new();
    for p in metadata.members() {
        let Some(allowed) = reachable(&p.name) else {
            found.push(Finding::new("layers", &p.name, "has no row in the table of layers"));
            continue;
        };
        let more = BEHIND_FEATURES.iter().find(|(n, _)| *n == p.name).map_or(&[][..], |(_, c)| c);
        for d in p.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev")) {
            let name = d.name.as_str();
            let free = allowed.contains(name) || d.optional && more.contains(&name);
            if ours.contains(name) && !free {
                found.push(Finding::new("layers", &p.name, format!("must not use {}", d.name)));
            }
        }
    }
    found
}

/// All crates below `name` in the table; `None` if it has no row.
fn reachable(name: &str) -> Option<BTreeSet<&'static str>> {
    let row = |name: &str| ALLOWED.iter().find(|(n, _)| *n == name).map(|(_, below)| *below);
    let mut seen = BTreeSet::new();
    let mut open = row(name)?.to_vec();
    while let Some(n) = open.pop() {
        if seen.insert(n) {
            open.extend(row(n).unwrap_or_default());
        }
    }
    Some(seen)
}

#[cfg(test)]
mod tests {
    use super::{super::metadata::sample, *};

    fn messages(members: &[(&str, &[&str])]) -> Vec<String> {
        check(&sample(members, &[])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn lower_layers_are_free_upper_ones_are_not() {
        let lie: (&str, &[&str]) = ("forks-lie", &[]);
        let rom: (&str, &[&str]) = ("forks-rom", &["forks-lie"]);
        assert!(messages(&[lie, rom, ("forks-reduce", &["forks-rom", "forks-lie"])]).is_empty());
        assert_eq!(
            messages(&[("forks-mechanism", &[]), ("forks-rom", &["forks-mechanism"])]),
            ["[layers] forks-rom: must not use forks-mechanism"]
        );
    }

    #[test]
    fn dev_dependencies_and_foreign_ones_are_no_concern() {
        let kit: (&str, &[&str]) = ("forks-testkit", &[]);
        assert!(messages(&[kit, ("forks-lie", &["dev:forks-testkit", "glam"])]).is_empty());
        assert_eq!(messages(&[kit, ("forks-lie", &["build:forks-testkit"])]).len(), 1);
        assert_eq!(messages(&[kit, ("forks", &["forks-testkit"])]).len(), 1);
    }

    #[test]
    fn some_are_allowed_behind_a_feature_only() {
        let dynamics: (&str, &[&str]) = ("forks-dynamics", &[]);
        let sim = |d| messages(&[dynamics, ("forks-sim", &[d])]);
        assert!(sim("optional:forks-dynamics").is_empty());
        assert_eq!(sim("forks-dynamics"), ["[layers] forks-sim: must not use forks-dynamics"]);
        assert_eq!(messages(&[dynamics, ("forks-lie", &["optional:forks-dynamics"])]).len(), 1);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        assert_eq!(
            messages(&[("forks-new", &[])]),
            ["[layers] forks-new: has no row in the table of layers"]
        );
    }

    #[test]
    fn the_table_has_no_cycle() {
        for (name, _) in ALLOWED {
            assert!(!reachable(name).unwrap().contains(name), "{name} is below itself");
        }
    }
}
