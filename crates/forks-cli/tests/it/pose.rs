//! `forks pose` on models of others.

use crate::support;

use serde_json::Value;
use support::{forks, json, numbers, path_in, refuses, repository, text};

fn model(name: &str) -> String {
    text(&repository("fixtures/models").join(name)).to_owned()
}

fn position(v: &Value, link: &str) -> Vec<f64> {
    let links = v["links"].as_array().unwrap();
    numbers(&links.iter().find(|l| l["name"] == link).unwrap()["position"])
}

#[test]
fn a_humanoid_reaches_while_its_feet_stay_and_the_state_is_one_for_other_commands() {
    let humanoid = model("dmc_humanoid_CMU/humanoid_CMU.xml");
    let state = path_in("pose", "reach.json");
    let start = json(&["pose", &humanoid, "--pin", "lfoot"]);
    let found = json(&[
        "pose",
        &humanoid,
        "--drag",
        "rhand=0.1,-0.4,0.3",
        "--pin",
        "lfoot",
        "--pin",
        "rfoot",
        "--root",
        "balanced",
        "-o",
        text(&state),
    ]);
    assert_eq!(found["status"], "reached");
    for (x, y) in position(&found, "rhand").iter().zip([0.1, -0.4, 0.3]) {
        assert!((x - y).abs() < 1e-9);
    }
    for foot in ["lfoot", "rfoot"] {
        for (x, y) in position(&found, foot).iter().zip(position(&start, foot)) {
            assert!((x - y).abs() < 1e-9, "{foot}");
        }
    }
    // The state leads there by itself.
    let again = json(&["pose", &humanoid, "--state", text(&state), "--pin", "lfoot"]);
    for (x, y) in position(&again, "rhand").iter().zip([0.1, -0.4, 0.3]) {
        assert!((x - y).abs() < 1e-9);
    }
    assert_eq!(again["qpos"], found["qpos"]);
}

#[test]
fn loops_stay_closed_and_what_is_out_of_reach_is_named() {
    let cassie = model("agility_cassie/cassie.xml");
    let arguments =
        ["--state", "key:home", "--pin-point", "left-foot", "--pin-point", "right-foot"];
    let squat =
        json(&[&["pose", &cassie, "--drag", "cassie-pelvis=0,0,0.8"][..], &arguments].concat());
    assert_eq!(squat["status"], "reached");
    assert!((position(&squat, "cassie-pelvis")[2] - 0.8).abs() < 1e-9);
    let solo = model("solo12/solo12.nomesh.urdf");
    let out = forks(&["pose", &solo, "--drag", "FL_FOOT=9,0,0", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let v: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(
        (&v["status"], &v["unmet"][0]["row"]),
        (&"drags are not reached".into(), &"x".into())
    );
    let error = String::from_utf8(out.stderr).unwrap();
    assert!(error.contains("drags are not reached: FL_FOOT misses 8.4"), "{error}");
}

#[test]
fn wrong_names_and_numbers_are_refused() {
    let five_bar = model("epr_5bar_linkage/robot.nomesh.urdf");
    refuses(&["pose", &five_bar, "--drag", "nope=0,0,1"], &["nope", "built, rod, rod_2"]);
    refuses(&["pose", &five_bar, "--pin", "site:x"], &["site:x", "sites"]);
    refuses(&["pose", &five_bar, "--drag", "rod=0,0,1", "--root", "balanced"], &["pin"]);
    for wrong in [&["--drag", "rod=0,0"][..], &["--drag", "rod=0,0,nan"], &[]] {
        let out = forks(&[&["pose", &five_bar], wrong].concat());
        assert_eq!(out.status.code(), Some(2), "{wrong:?}");
    }
}
