//! The tables in the README are what the readers check files against.

use forks_import::features::{Treatment, mjcf_features, urdf_features};

#[test]
fn every_row_of_the_readme_is_read() {
    let rows = include_str!("../../README.md").lines().filter(|line| line.starts_with("| "));
    let heads = 2;
    let read = mjcf_features().len() + urdf_features().len();
    assert_eq!(rows.count(), read + heads);
    assert_eq!((mjcf_features()[0].element, urdf_features()[0].element), ("mujoco", "robot"));
}

#[test]
fn no_attribute_is_listed_twice() {
    let mut seen = std::collections::HashSet::new();
    for f in mjcf_features() {
        for a in f.attributes.split(' ') {
            assert!(seen.insert((f.element, a)), "{} {a}", f.element);
        }
        let explained = matches!(f.treatment, Treatment::Exact | Treatment::NoEffect);
        assert!(explained || !f.remark.is_empty(), "{}: say why", f.element);
    }
}
