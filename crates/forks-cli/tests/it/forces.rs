//! Several loads at once: statics, the full mechanism in motion, reduced models.

use std::{path::PathBuf, sync::LazyLock};

use forks_models::{HelixJoints, helix};
use serde_json::Value;

use crate::support::{forks, json, numbers, path_in, refuses, text};

/// A helix of eight links as MJCF.
static HELIX: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = path_in("forces", "helix.xml");
    forks_import::write::save_mjcf(&helix(8, HelixJoints::Hinge3).mechanism, &path).unwrap();
    path
});

const LOADS: [&str; 4] = ["--force", "link3=4,0,-8", "--force", "link7=0,5,3,0,0.2,0"];

fn place(answer: &Value, name: &str) -> Vec<f64> {
    let links = answer["links"].as_array().unwrap();
    numbers(&links.iter().find(|l| l["name"] == name).unwrap()["position"])
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn motion_ends_where_statics_says() {
    let helix = text(&HELIX);
    let statics = json(&[&["statics", helix, "--no-gravity"], &LOADS[..]].concat());
    let unloaded = json(&["statics", helix, "--no-gravity", "--force", "link3=0,0,0"]);
    let reduced = path_in("forces", "helix.forks");
    let effectors = ["--effector", "link3", "--effector", "link7"];
    json(&[&["reduce", helix][..], &effectors, &["-o", text(&reduced)]].concat());
    let pace = ["--time", "30", "--step", "0.05"];
    let full = json(&[&["simulate", helix][..], &pace, &LOADS].concat());
    let small = json(&[&["simulate", "--reduced", text(&reduced)][..], &pace, &LOADS].concat());
    for link in ["link3", "link7"] {
        let rest = place(&statics, link);
        let moved = apart(&rest, &place(&unloaded, link));
        assert!(moved > 1e-3, "{link} moves: {moved}");
        assert!(apart(&rest, &place(&full, link)) < 1e-3 * moved, "{link}: {full}");
        assert!(apart(&rest, &place(&small, link)) < 0.05 * moved, "{link}: {small}");
    }
    // Twice on one link is the sum.
    let twice = ["--force", "link3=2,0,0", "--force", "link3=2,0,-8", LOADS[2], LOADS[3]];
    let sum = json(&[&["statics", helix, "--no-gravity"], &twice[..]].concat());
    assert!(apart(&place(&sum, "link7"), &place(&statics, "link7")) < 1e-12);
    // As wrench and force.
    let wrench = ["--effector", "link3", "--wrench", "4,0,-8,0,0,0", LOADS[2], LOADS[3]];
    let mixed = json(&[&["statics", helix, "--no-gravity"], &wrench[..]].concat());
    assert!(apart(&place(&mixed, "link7"), &place(&statics, "link7")) < 1e-12);
}

#[test]
fn loads_that_make_no_sense_are_refused_by_name() {
    let helix = text(&HELIX);
    let pace = ["--time", "0.1", "--step", "0.01"];
    let simulate = |more: &[&'static str]| [&["simulate", helix][..], &pace, more].concat();
    refuses(&simulate(&["--force", "nobody=1,0,0"]), &["forces/helix.xml", "nobody"]);
    // Errors of usage.
    for (more, said) in [
        (["--force", "link3=1,0"], "link3=1,0"),
        (["--force", "link3=1,0,nan"], "nan"),
        (["--frame", "body"], "--force"),
    ] {
        let out = forks(&simulate(&more));
        assert_eq!(out.status.code(), Some(2));
        let message = String::from_utf8(out.stderr).unwrap();
        assert!(message.contains(said), "{message}");
    }
}
