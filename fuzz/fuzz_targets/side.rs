//! Side files on a small robot: any text is read and applied, or refused.
#![no_main]

use std::sync::LazyLock;

use forks_import::{Import, ImportOptions, SideFile, parse_urdf};
use libfuzzer_sys::fuzz_target;

static ROBOT: LazyLock<Import> = LazyLock::new(|| {
    let link = |n: &str| {
        format!(
            "<link name=\"{n}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" \
            izz=\"1\"/></inertial></link>"
        )
    };
    let joint = |n: &str, kind: &str, p: &str, c: &str, x: f64| {
        format!(
            "<joint name=\"{n}\" type=\"{kind}\"><parent link=\"{p}\"/><child link=\"{c}\"/><axis \
            xyz=\"0 1 0\"/><origin xyz=\"{x} 0 0\"/></joint>"
        )
    };
    let text = ["a", "b", "c", "d"].map(|n| link(n)).concat()
        + &joint("j", "continuous", "a", "b", 0.0)
        + &joint("k", "spherical", "b", "c", 0.4)
        + &joint("l", "prismatic", "a", "d", 1.0);
    parse_urdf(&format!("<robot name=\"r\">{text}</robot>"), &ImportOptions::default())
        .expect("a robot")
});

fuzz_target!(|text: &str| {
    if let Ok(side) = SideFile::parse(text) {
        let _ = side.apply(ROBOT.clone());
    }
});
