//! `forks inspect SCENE.toml`: what a scene is made of.

use crate::support;

use std::{fs, path::PathBuf};

use serde_json::json as value;
use support::{forks, json, numbers, path_in, refuses, text};

fn file(name: &str, content: &str) -> PathBuf {
    let path = path_in("inspect_scene", name);
    fs::write(&path, content).unwrap();
    path
}

/// A helix on slides over two kinds of ground, beside a ball and a box that ignore each other.
const SCENE: &str = r#"
title = "A helix and a ball"
about = """
First line
goes on.

Second paragraph.
"""
ignore = [["ball", "box"]]
[world]
duration = 1.5
step = 0.002
substeps = 2
[[mechanism]]
name = "helix"
parametric = "helix20"
effectors = ["link19"]
slide = [{ name = "lift", axis = [0, 0, 1], stiffness = 1e4, damping = 100 }]
shape = [{ form = { sphere = { radius = 0.02 } }, friction = 0.9 }]
[[body]]
name = "ball"
mass = 2.0
position = [3, 0, 0.15]
shape = [{ form = { sphere = { radius = 0.1 } } }]
[[body]]
name = "box"
mass = 0.5
position = [4, 0, 0.5]
shape = [{ form = { box = { half_extents = [0.1, 0.2, 0.3] } } }, { form = { sphere = { radius = 0.3 } } }]
[[ground]]
name = "floor"
form = { plane = {} }
position = [0, 0, -1]
[[ground]]
name = "hills"
form = { heights = { size = [4, 2], rows = [[0, 0, 0], [0, 0.1, 0]] } }
position = [0, 0, -0.5]
[[action]]
mechanism = "helix"
servos = ["lift"]
times = [0.5, 1.0]
values = [0.0, 0.05]
[[action]]
body = "ball"
direction = [1, 0, 0]
wave = { amplitude = 1, frequency = 2, from = 0.25 }
"#;

#[test]
fn the_json_holds_all_of_a_scene() {
    let v = json(&["inspect", text(&file("all.toml", SCENE))]);
    assert_eq!(v["scene"], "A helix and a ball");
    assert_eq!(v["about"], value!(["First line goes on.", "Second paragraph."]));
    assert_eq!(
        (&v["duration"], &v["step"], &v["substeps"], &v["steps"]),
        (&value!(1.5), &value!(0.002), &value!(2), &value!(750))
    );
    assert_eq!(v["gravity"], value!([0.0, 0.0, -9.81]));
    assert_eq!(v["ignored"], value!([["ball", "box"]]));

    let m = &v["mechanisms"][0];
    assert_eq!((&m["kind"], &m["source"]), (&"single".into(), &"helix20".into()));
    // Twenty links of three hinges each on a carriage of 1 kg; one effector that moves in all
    // directions.
    assert_eq!((&m["links"], &m["dof"], &m["reduced_dof"]), (&21.into(), &61.into(), &6.into()));
    assert!((m["mass"].as_f64().unwrap() - 3.0).abs() < 1e-12);
    assert_eq!((&m["gravity"], &m["servos"]), (&true.into(), &value!(["lift"])));
    let effector = &m["effectors"][0];
    assert_eq!(effector["name"], "link19");
    assert_eq!(
        (&effector["shapes"][0]["form"], &effector["shapes"][0]["friction"]),
        (&"sphere".into(), &0.9.into())
    );

    let masses: Vec<f64> =
        v["bodies"].as_array().unwrap().iter().map(|b| b["mass"].as_f64().unwrap()).collect();
    assert_eq!(masses, [2.0, 0.5]);
    assert_eq!(numbers(&v["bodies"][0]["position"]), [3.0, 0.0, 0.15]);
    let forms = |of: &serde_json::Value| -> Vec<String> {
        let forms = of.as_array().unwrap().iter();
        forms.map(|s| s["form"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(forms(&v["bodies"][1]["shapes"]), ["box", "sphere"]);
    assert_eq!(forms(&v["ground"]), ["plane", "height field"]);

    let [lift, push] = [0, 1].map(|k| &v["actions"][k]);
    assert_eq!(
        (&lift["kind"], &lift["of"], &lift["on"]),
        (&"servos".into(), &"helix".into(), &value!(["lift"]))
    );
    assert_eq!(
        (&lift["from"], &lift["until"], &lift["range"]),
        (&0.5.into(), &1.0.into(), &value!([0.0, 0.05]))
    );
    assert_eq!((&push["kind"], &push["of"]), (&"force on a body".into(), &"ball".into()));
    assert_eq!(
        (&push["from"], &push["until"], &push["frequency"]),
        (&0.25.into(), &value!(null), &2.0.into())
    );

    assert_eq!(
        (&v["mjcf"]["refused"], &v["mjcf"]["actuators"]),
        (&value!(null), &value!(["helix/lift"]))
    );
    let lost = v["mjcf"]["notes"].to_string();
    assert!(lost.contains("forces of actions"), "{lost}");
}

#[test]
fn what_cannot_be_exported_is_said_and_no_error() {
    let mesh = "[[ground]]\nname = \"pit\"\nform = { mesh = { vertices = \
        [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], \
                triangles = [[0,2,1],[0,1,3],[0,3,2],[1,2,3]] } }\n";
    let scene = file("mesh.toml", &format!("{SCENE}{mesh}"));
    let v = json(&["inspect", text(&scene)]);
    assert!(v["mjcf"]["refused"].as_str().unwrap().contains("pit"), "{v}");
    let out = forks(&["inspect", text(&scene)]);
    assert_eq!(out.status.code(), Some(0));
    assert!(String::from_utf8(out.stdout).unwrap().contains("refused: "));
}

#[test]
fn the_tables_show_the_same() {
    let out = forks(&["inspect", text(&file("table.toml", SCENE))]);
    assert_eq!(out.status.code(), Some(0));
    let shown = String::from_utf8(out.stdout).unwrap();
    for words in [
        "scene            A helix and a ball",
        "time             1.5 s, 750 steps of 0.002 s in 2 parts each",
        "passes through   ball and box",
        "as MJCF          actuators: helix/lift",
        "\nFirst line goes on.\n\nSecond paragraph.\n",
        "mechanisms (1)",
        "helix/link19",
        "sphere r 0.02",
        "box 0.2 × 0.4 × 0.6, sphere r 0.3",
        "height field 4 × 2, 6 points",
        "0 to 0.05",
        "oscillates at 2 Hz",
        "forces of actions are not part of the file",
    ] {
        assert!(shown.contains(words), "{words} in:\n{shown}");
    }
    assert!(shown.lines().all(|l| l.trim_end() == l));
}

#[test]
fn what_is_wrong_is_named_as_elsewhere() {
    refuses(&["inspect", "no such scene.toml"], &["no such scene.toml"]);
    let wrong = |name: &str, content: &str, words: &[&str]| {
        let scene = file(name, content);
        refuses(&["inspect", text(&scene)], &[&[name], words].concat());
        refuses(&["inspect", text(&scene), "--json"], words);
    };
    wrong("typo.toml", &SCENE.replace("duration", "durtion"), &["line 11", "durtion"]);
    wrong("kind.toml", &SCENE.replace("helix20", "helix21"), &["helix", "helix21", "helix20"]);
    wrong("empty.toml", "", &["title"]);
    let scene = file("options.toml", SCENE);
    for option in [&["--state", "key:home"][..], &["--lenient"], &["--stiffness", "a=1"]] {
        let out = forks(&[&["inspect", text(&scene)], option].concat());
        assert_eq!(out.status.code(), Some(2), "{option:?}");
        assert!(String::from_utf8(out.stderr).unwrap().contains(option[0]), "{option:?}");
    }
}

#[test]
fn help_explains_scenes() {
    for (arguments, words) in
        [(&["inspect", "--help"][..], "MODEL|SCENE.toml"), (&["--help"], "scene")]
    {
        let shown = String::from_utf8(forks(arguments).stdout).unwrap();
        assert!(shown.contains(words), "{words} in:\n{shown}");
    }
    let shown = String::from_utf8(forks(&["reduce", "--help"]).stdout).unwrap();
    assert!(!shown.contains("SCENE.toml"), "{shown}");
}
