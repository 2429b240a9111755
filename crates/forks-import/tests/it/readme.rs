//! The feature matrix in the README is the table that the reader checks files against.

use forks_import::features::{FEATURES, Treatment, feature_matrix};

#[test]
fn the_readme_shows_the_table() {
    let readme = include_str!("../../README.md");
    let matrix = feature_matrix();
    let shown = readme.rfind("| element |").map_or("", |i| &readme[i..]);
    assert_eq!(shown.trim_end(), matrix.trim_end(), "replace the table in README.md by:\n{matrix}");
}

#[test]
fn no_attribute_is_listed_twice() {
    let mut seen = std::collections::HashSet::new();
    for f in FEATURES {
        for a in f.attributes.split(' ') {
            assert!(seen.insert((f.element, a)), "{} {a}", f.element);
        }
        let explained = matches!(f.treatment, Treatment::Exact | Treatment::NoEffect);
        assert!(explained || !f.remark.is_empty(), "{}: say why", f.element);
    }
}
