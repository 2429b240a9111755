//! The program as a user meets it: exit codes, one-sentence errors, tables and JSON.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use serde_json::Value;

fn forks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forks")).args(arguments).output().expect("the program starts")
}

fn stdout(o: &Output) -> String {
    String::from_utf8(o.stdout.clone()).unwrap()
}

/// Writes a file; every name is used by one test alone.
fn file(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// A model with one hinge; both gaps can be filled.
fn hinge(inertial: &str, joint: &str, rest: &str) -> String {
    format!(
        r#"<mujoco model="one hinge"><worldbody><body name="arm"><inertial {inertial} pos="0.1 0 0"
        diaginertia="0.1 0.1 0.1"/><joint name="hinge" {joint}/></body></worldbody>{rest}</mujoco>"#
    )
}

/// The program refuses: exit code 1, nothing on stdout, one sentence that contains every word.
fn refuses(arguments: &[&str], words: &[&str]) {
    let o = forks(arguments);
    let message = String::from_utf8(o.stderr.clone()).unwrap();
    assert_eq!(o.status.code(), Some(1), "{message}");
    assert!(o.stdout.is_empty(), "{}", stdout(&o));
    assert!(message.starts_with("error: ") && message.ends_with('\n'), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    for w in words {
        assert!(message.contains(w), "'{w}' in: {message}");
    }
}

fn refuses_model(name: &str, text: &str, words: &[&str]) {
    let path = file(name, text);
    refuses(&["inspect", path.to_str().unwrap()], words);
    refuses(&["inspect", path.to_str().unwrap(), "--json"], words);
}

#[test]
fn a_missing_file_is_named() {
    refuses(&["inspect", "no such model.xml"], &["no such model.xml"]);
}

#[test]
fn text_that_is_no_xml_is_refused() {
    refuses_model("not.xml", "mujoco: {}", &["not.xml"]);
    refuses_model("empty.xml", "", &["empty.xml"]);
    refuses_model("cut.xml", "<mujoco>\n<worldbody>", &["cut.xml"]);
}

#[test]
fn impossible_numbers_are_refused_by_element_and_value() {
    let sound = r#"mass="1""#;
    refuses_model("nan.xml", &hinge(r#"mass="nan""#, "", ""), &["nan.xml", "mass", "nan"]);
    refuses_model("negative-mass.xml", &hinge(r#"mass="-2""#, "", ""), &["mass", "-2"]);
    refuses_model(
        "soft.xml",
        &hinge(sound, r#"stiffness="-3""#, ""),
        &["hinge", "stiffness", "-3"],
    );
    refuses_model("axis.xml", &hinge(sound, r#"axis="0 0 0""#, ""), &["hinge", "axis"]);
}

#[test]
fn unknown_names_are_refused() {
    let equality = r#"<equality><weld body1="arm" body2="leg"/></equality>"#;
    let text = hinge(r#"mass="1""#, "", equality);
    refuses_model("weld.xml", &text, &["weld.xml", "body2", "leg"]);
}

#[test]
fn line_ends_in_values_do_not_break_the_sentence() {
    let text = hinge(r#"mass="1""#, r#"type="hi&#10;nge""#, "");
    refuses_model("line-end.xml", &text, &["type"]);
}

#[test]
fn wrong_arguments_exit_with_two() {
    for arguments in [
        &[][..],
        &["inspect"],
        &["inspect", "a.xml", "b.xml"],
        &["inspect", "a.xml", "--no-such-option"],
        &["no-such-command"],
    ] {
        let o = forks(arguments);
        assert_eq!(o.status.code(), Some(2), "{arguments:?}");
        assert!(o.stdout.is_empty());
        assert!(!o.stderr.is_empty());
    }
}

#[test]
fn help_and_version_go_to_stdout() {
    for arguments in [&["--help"][..], &["inspect", "--help"], &["--version"]] {
        let o = forks(arguments);
        assert_eq!(o.status.code(), Some(0), "{arguments:?}");
        assert!(o.stderr.is_empty() && !o.stdout.is_empty(), "{arguments:?}");
    }
    assert!(stdout(&forks(&["inspect", "--help"])).contains("--state <FILE.json|key:NAME>"));
}

/// A four-bar linkage 1.0/0.4/0.9/0.7 with the crank at 60°, beside welded scenery and a cart with
/// a ball on two joints.
static LINKAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let text = r#"
<mujoco model="linkage">
  <worldbody>
    <body name="bench"><inertial mass="2000" pos="0 0 0" diaginertia="1 1 1"/></body>
    <body name="crank">
      <inertial mass="1" pos="0.1 0 0.1" diaginertia="0.1 0.1 0.1"/>
      <joint name="a" axis="0 1 0"/>
      <body name="coupler" pos="0.2 0 0.3464101615137755">
        <inertial mass="2" pos="0.1 0 0" diaginertia="0.1 0.1 0.1"/>
        <joint name="b" axis="0 1 0"/>
      </body>
    </body>
    <body name="rocker" pos="1 0 0">
      <inertial mass="4" pos="0 0 0.1" diaginertia="0.1 0.1 0.1"/>
      <joint name="c" axis="0 1 0"/>
    </body>
    <body name="cart" pos="0 2 0">
      <inertial mass="8" pos="0 0 0" diaginertia="0.1 0.1 0.1"/>
      <joint type="slide" axis="1 0 0"/>
      <joint name="turn" axis="0 0 1"/>
      <body name="ball" pos="0 0 0.5">
        <inertial mass="16" pos="0 0 0" diaginertia="0.1 0.1 0.1"/>
        <joint name="socket" type="ball"/>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect name="pin" body1="coupler" body2="rocker" anchor="0.78 0 0.3"/>
    <joint name="gear" joint1="turn" joint2="a" polycoef="0 2 0 0 0"/>
  </equality>
  <keyframe>
    <key name="swung" qpos="0.5 0 0  0.25 1  2 0 0 0"/>
    <key name="flat" qpos="0 0 0  0 0  1 0 0 0"/>
  </keyframe>
</mujoco>"#;
    file("linkage.xml", text)
});

fn inspect(arguments: &[&str]) -> Value {
    let model = &*LINKAGE;
    let mut all = vec!["inspect", model.to_str().unwrap(), "--json"];
    all.extend(arguments);
    let o = forks(&all);
    assert_eq!(o.status.code(), Some(0), "{}", String::from_utf8_lossy(&o.stderr));
    assert_eq!(stdout(&o).lines().count(), 1);
    serde_json::from_str(&stdout(&o)).unwrap()
}

#[test]
fn json_has_the_documented_fields() {
    let v = inspect(&[]);
    assert_eq!(v["name"], "linkage");
    let links: Vec<(&str, f64, &str)> = v["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| {
            let text = |k: &str| l[k].as_str().unwrap();
            (text("name"), l["mass"].as_f64().unwrap(), text("parent"))
        })
        .collect();
    assert_eq!(
        links,
        [
            ("bench", 2000.0, "world"),
            ("crank", 1.0, "world"),
            ("coupler", 2.0, "crank"),
            ("rocker", 4.0, "world"),
            ("cart", 8.0, "world"),
            ("ball", 16.0, "cart"),
        ]
    );
    let joints: Vec<String> = v["joints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|j| {
            let text = |k: &str| j[k].as_str().unwrap();
            let [name, kind, parent, child] = ["name", "type", "parent", "child"].map(text);
            format!("{name} {kind} {parent} {child} {}", j["dof"])
        })
        .collect();
    assert_eq!(
        joints,
        [
            "a revolute world crank 1",
            "b revolute crank coupler 1",
            "c revolute world rocker 1",
            "#3 prismatic world cart 1",
            "turn revolute world cart 1",
            "socket spherical cart ball 3",
        ],
        "both joints of the cart stand between the world and the cart"
    );
    // Three hinges, a slide, a hinge and a ball: 8. The pin has three rows of which one (out of the
    // plane) repeats what the parallel hinges already do; the gear is one more row.
    assert_eq!(v["dof"], 8);
    assert_eq!(v["constraint_rows"], 4);
    assert_eq!(v["constraint_rank"], 3);
    assert_eq!(v["mobility"], 5);
    assert_eq!(
        v["loop_closures"],
        serde_json::json!([{"name": "pin", "type": "spherical", "link_a": "coupler",
            "link_b": "rocker", "rows": 3, "rank": 2}])
    );
    assert_eq!(
        v["couplings"],
        serde_json::json!([{"name": "gear", "joints": ["a", "turn"], "rows": 1, "rank": 1}])
    );
    assert_eq!(v["total_mass"], 2031.0);
    assert_eq!(v["moving_mass"], 31.0);
    assert!(v["bounding_radius"].as_f64().unwrap() > 1.0);
    assert_eq!(v["notes"], serde_json::json!([]));
}

#[test]
fn notes_say_what_and_where() {
    let model = file("noted.xml", &hinge(r#"mass="1""#, r#"springyield="1""#, ""));
    let o = forks(&["inspect", model.to_str().unwrap(), "--json"]);
    let v: Value = serde_json::from_str(&stdout(&o)).unwrap();
    let notes = v["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{v}");
    assert_eq!(notes[0]["attribute"], "springyield");
    assert_eq!(notes[0]["effect"], "approximated");
    assert_eq!(notes[0]["line"], 2);
}

#[test]
fn the_table_shows_the_same() {
    let model = &*LINKAGE;
    let o = forks(&["inspect", model.to_str().unwrap()]);
    assert_eq!(o.status.code(), Some(0));
    let text = stdout(&o);
    for line in ["model            linkage", "mobility         5", "moving mass      31 kg"] {
        assert!(text.contains(line), "{line} in:\n{text}");
    }
    for title in ["links (6)", "joints (6)", "loop closures (1)", "couplings (1)"] {
        assert!(text.contains(title), "{title} in:\n{text}");
    }
    assert!(!text.contains("notes"), "an empty table is not shown");
    assert!(text.lines().all(|l| l.trim_end() == l));
}

#[test]
fn a_state_changes_the_pose() {
    let rest = inspect(&[]);
    let file = file("state.json", r#"{"qpos": [0.5, 0, 0, 0.25, 1, 2, 0, 0, 0], "qvel": null}"#);
    let from_file = inspect(&["--state", file.to_str().unwrap()]);
    assert_eq!(from_file, inspect(&["--state", "key:swung"]));
    assert_ne!(rest["bounding_radius"], from_file["bounding_radius"]);
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let model = &*LINKAGE;
    let with = |state: &str, words: &[&str]| {
        refuses(&["inspect", model.to_str().unwrap(), "--state", state], words);
    };
    with("key:home", &["home", "swung", "flat"]);
    with("no such state.json", &["no such state.json"]);
    let state = |name: &str, text: &str| file(name, text).to_str().unwrap().to_owned();
    with(&state("short.json", r#"{"qpos": [0]}"#), &["qpos", "1 numbers", "9"]);
    let zero = r#"{"qpos": [0, 0, 0, 0, 0, 0, 0, 0, 0]}"#;
    with(&state("zero.json", zero), &["qpos[5]", "quaternion"]);
    with(&state("text.json", "qpos = 0"), &["text.json"]);
    with(&state("huge.json", r#"{"qpos": [1e999]}"#), &["huge.json"]);
    with(&state("typo.json", r#"{"qpos": [], "qvle": []}"#), &["qvle"]);
    let qvel = r#"{"qpos": [0.5, 0, 0, 0.25, 1, 2, 0, 0, 0], "qvel": [1]}"#;
    with(&state("qvel.json", qvel), &["qvel", "1 numbers", "8"]);
}
