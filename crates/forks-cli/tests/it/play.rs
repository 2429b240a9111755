//! `forks play` on models of others.

use crate::support;

use std::fs;

use support::{forks, json, numbers, path_in, refuses, repository, text};

fn model(name: &str) -> String {
    text(&repository("fixtures/models").join(name)).to_owned()
}

fn file(name: &str, contents: &str) -> String {
    let path = path_in("play", name);
    fs::write(&path, contents).unwrap();
    text(&path).to_owned()
}

const STRIDE: &str = "times = [0.0, 0.5, 1.0]\n[[joint]]\nname = \"bthigh\"\n\
    keys = [0.0, 0.6, -0.2]\n[[joint]]\nname = \"fthigh\"\ndegree = 5\nkeys = [0.0, -0.5, 0.4]\n";

#[test]
fn a_cheetah_strides_by_either_scheme_and_ends_on_its_last_keys() {
    let (cheetah, keys) = (model("half_cheetah/half_cheetah.xml"), file("stride.toml", STRIDE));
    for more in [&["--integrator", "semi-implicit-euler"][..], &[]] {
        let page = path_in("play", "stride.html");
        let table = path_in("play", "stride.csv");
        let v = json(
            &[
                &[
                    "play",
                    &cheetah,
                    &keys,
                    "--step",
                    "0.002",
                    "-o",
                    text(&page),
                    "-o",
                    text(&table),
                ],
                more,
            ]
            .concat(),
        );
        assert_eq!((&v["steps"], v["end"].as_f64().unwrap()), (&500.into(), 1.0));
        assert!(v["largest_miss"].as_f64().unwrap() < 1e-14);
        let q = numbers(&v["qpos"]);
        assert!((q[3] + 0.2).abs() < 1e-14 && (q[6] - 0.4).abs() < 1e-14, "{q:?}");
        // The rest falls: nothing holds the root.
        assert!(q[1] < -4.0 && q[4].abs() > 1e-3, "{q:?}");
        assert!(v["forces"][0]["largest"].as_f64().unwrap() > 1.0);
        assert!(fs::read_to_string(&page).unwrap().contains("force on bthigh"));
        assert_eq!(fs::read_to_string(&table).unwrap().lines().count(), 502);
    }
}

#[test]
fn loops_stay_closed_and_curves_beyond_limits_are_told() {
    let keys =
        file("knee.toml", "times = [0, 1]\n[[joint]]\nname = \"left-knee\"\nkeys = [-1.2, -1.7]\n");
    let cassie = model("agility_cassie/cassie.xml");
    let v = json(&["play", &cassie, &keys, "--state", "key:home"]);
    assert!(v["largest_miss"].as_f64().unwrap() < 1e-13);
    // Keys at the limit: between them the curve goes beyond.
    let over = STRIDE.replace("[0.0, 0.6, -0.2]", "[1.0, 1.05, 0.0]");
    let v = json(&["play", &model("half_cheetah/half_cheetah.xml"), &file("over.toml", &over)]);
    assert_eq!(v["beyond_limits"][0]["joint"], "bthigh");
    assert_eq!(v["beyond_limits"][0]["limit"].as_f64(), Some(1.05));
}

#[test]
fn wrong_keys_are_refused_by_name_line_and_value() {
    let cheetah = model("half_cheetah/half_cheetah.xml");
    let wrong = |name: &str, from: &str, to: &str, words: &[&str]| {
        refuses(&["play", &cheetah, &file(name, &STRIDE.replace(from, to))], words);
    };
    wrong("name.toml", "bthigh", "knee", &["knee", "rootx, rootz", "name.toml"]);
    wrong("far.toml", "0.6", "6.6", &["bthigh", "key 1", "6.6", "-0.52 and 1.05"]);
    wrong("order.toml", "[0.0, 0.5, 1.0]", "[0.0, 1.5, 1.0]", &["key 2", "1 s", "1.5 s"]);
    wrong("nan.toml", "0.6", "nan", &["bthigh", "NaN"]);
    wrong("field.toml", "keys = [0.0, 0.6", "kez = [0.0, 0.6", &["line 4", "kez"]);
    refuses(&["play", &cheetah, "nowhere.toml"], &["nowhere.toml"]);
    let out = forks(&["play", &cheetah, &file("k.toml", STRIDE), "-o", "page.xyz"]);
    assert_eq!(out.status.code(), Some(2));
}
