//! What is wrong with a table is said with names and values, or is a row that gives way by name;
//! never silently.

use std::{fs, path::PathBuf};

use forks_direct::{Direct, DirectError, spec::DirectSpec};
use forks_sim::scene::Fidelity;

const ARM: &str = r#"
title = "arm"
world = { duration = 0.1, step = 0.005 }
[[mechanism]]
name = "arm"
parametric = "peg_arm"
effectors = ["peg"]
own_shapes = false
"#;

fn build(text: &str, fidelity: Fidelity) -> Result<Direct, DirectError> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (spec, scene) = DirectSpec::parse(text, "scene.toml")?;
    Direct::build(&spec, scene, &folder, fidelity)
}

/// What is said about tables behind the arm.
fn said(tables: &str, fidelity: Fidelity) -> String {
    build(&format!("{ARM}{tables}"), fidelity).unwrap_err().to_string()
}

#[test]
fn keys_that_are_not_known_are_refused_with_their_line() {
    for (tables, key) in [
        ("[[task]]\nlink = \"peg\"\nlevl = 1\n", "levl"),
        ("[[task]]\nlink = \"peg\"\nway = { targets = [0, 0, 0] }\n", "targets"),
        ("[[control]]\nlargst = 3\n", "largst"),
        ("[[keyframes]]\nfile = \"a\"\nname = \"b\"\n", "name"),
        ("[[mpc]]\nlargest = 1\ngoals = []\n", "goals"),
        ("[[tasks]]\nlink = \"peg\"\n", "tasks"),
    ] {
        let s = said(tables, Fidelity::Reduced);
        assert!(s.contains("scene.toml") && s.contains(&format!("unknown field `{key}`")), "{s}");
        assert!(s.contains("line"), "{s}");
    }
}

#[test]
fn names_that_are_not_there_are_said_with_what_may_have_been_meant() {
    let s = said("[[task]]\nlink = \"pegg\"\n", Fidelity::Full);
    assert_eq!(s, "task 1 is refused: the model has no link 'pegg' (did you mean 'peg'?)");
    let s = said("[[task]]\nlink = \"forearm\"\n", Fidelity::Reduced);
    assert_eq!(s, "task 1 is refused: the model has no effector 'forearm' (it has 'peg')");
    let s = said("[[task]]\njoint = \"elbov\"\n", Fidelity::Full);
    assert_eq!(s, "task 1 is refused: the model has no joint 'elbov' (did you mean 'elbow'?)");
    let s = said("[[task]]\njoint = \"elbow\"\n", Fidelity::Reduced);
    assert!(s.contains("a reduced model knows no joints"), "{s}");
    let s = said("[[task]]\nmechanism = \"leg\"\nlink = \"peg\"\n", Fidelity::Reduced);
    assert_eq!(s, "task 1 names the mechanism \"leg\", which is not there; there are arm");
    let s = said("[[task]]\nlink = \"peg\"\n[[control]]\nof = [\"elbov\"]\n", Fidelity::Full);
    assert!(s.contains("no joint or servo 'elbov' (did you mean 'elbow'?)"), "{s}");
    let s = said("[[mpc]]\nlargest = 0.1\n[[mpc.goal]]\neffector = \"pen\"\n", Fidelity::Reduced);
    assert!(s.starts_with("mpc 1 the model has no effector 'pen'"), "{s}");
    let s = said("[[task]]\nlink = \"peg\"\njoint = \"elbow\"\n", Fidelity::Full);
    assert_eq!(s, "task 1 needs one of link, joint, centre_of_mass and posture");
}

#[test]
fn numbers_out_of_range_are_said_with_their_values() {
    let at = |tables: &str| said(tables, Fidelity::Reduced);
    let s = at("[[task]]\nlink = \"peg\"\nway = { target = [nan, 0, 0] }\n");
    assert_eq!(s, "task 1 has the number NaN in place 1");
    let s = at("[[task]]\nlink = \"peg\"\nway = { target = [1, 0] }\n");
    assert_eq!(s, "task 1 has a place of 2 numbers, expected [3]");
    let s =
        at("[[task]]\nlink = \"peg\"\nway = { times = [1, 0], keys = [[0, 0, 0], [1, 0, 0]] }\n");
    assert!(s.starts_with("task 1 has no curve: ") && s.contains('1') && s.contains('0'), "{s}");
    let s = at("[[task]]\nlink = \"peg\"\nway = { circle = { radius = -1, period = 1 } }\n");
    assert_eq!(s, "task 1 has a circle of radius -1");
    let s = at("[[task]]\nlink = \"peg\"\nfrom = 2\nuntil = 1\n");
    assert_eq!(s, "task 1 lasts from 2 to 1 s");
    let s = at("[[task]]\nlink = \"peg\"\n[[control]]\nlargest = -2\n");
    assert_eq!(s, "control of \"arm\" has the largest command -2");
    let s = at("[[mpc]]\nlargest = nan\n[[mpc.goal]]\neffector = \"peg\"\n");
    assert!(s.contains("bounds of command 0 are NaN and NaN"), "{s}");
    let s = at("[[mpc]]\nlargest = 1\nbudget = -1\n[[mpc.goal]]\neffector = \"peg\"\n");
    assert_eq!(s, "mpc 1 has a budget of -1 s");
    let s = at("[[mpc]]\nlargest = 1\nevery = 0\n[[mpc.goal]]\neffector = \"peg\"\n");
    assert_eq!(s, "mpc 1 decides every 0 steps");
    // Weights and gains are the controller's to refuse, at the first step.
    let text = format!("{ARM}[[task]]\nlink = \"peg\"\nweight = -1\n");
    let e = build(&text, Fidelity::Reduced).unwrap().step().unwrap_err().to_string();
    assert_eq!(e, "control of mechanism \"arm\": task peg position: the weight is -1");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let at = |tables: &str| said(tables, Fidelity::Reduced);
    let s = at("[[task]]\nlink = \"peg\"\n[[control]]\ncommands = \"torque\"\n");
    assert!(s.contains("the joints of a reduced model take none"), "{s}");
    let s = at(
        "[[task]]\nlink = \"peg\"\nwhat = \"still\"\nway = { circle = { radius = 1, period = 1 } \
        }\n",
    );
    assert!(s.starts_with("task 1 has keys or a circle, but what \"peg still\" asks for"), "{s}");
    let s = at("[[control]]\nlargest = 1\n");
    assert_eq!(s, "control of \"arm\" has neither tasks nor keyframes");
    let s = at("[[task]]\nlink = \"peg\"\n[[control]]\n[[control]]\n");
    assert_eq!(s, "control 2 is the second of mechanism \"arm\"");
    let s =
        at("[[task]]\nlink = \"peg\"\n[[mpc]]\nlargest = 1\n[[mpc.goal]]\neffector = \"peg\"\n");
    assert_eq!(s, "mpc 1 has both tasks and mpc: \"arm\"");
    let text = ARM.replace("step = 0.005", "step = 0.005, substeps = 2");
    let e = build(&format!("{text}[[task]]\nlink = \"peg\"\n"), Fidelity::Reduced);
    let e = e.unwrap_err().to_string();
    assert_eq!(e, "world has 2 substeps: commands are for whole steps, take 1");
}

#[test]
fn hard_tasks_that_contradict_each_other_give_way_by_name() {
    let text = format!(
        "{ARM}[[task]]\nname = \"left\"\nlink = \"peg\"\nlevel = 0\n\
         way = {{ target = [0.4, 0.02, 0.18] }}\n\
         [[task]]\nname = \"right\"\nlink = \"peg\"\nlevel = 0\n\
         way = {{ target = [0.4, -0.02, 0.18] }}\n"
    );
    for fidelity in [Fidelity::Reduced, Fidelity::Full] {
        let mut direct = build(&text, fidelity).unwrap();
        let _ = direct.step().unwrap();
        let report = direct.report();
        assert_eq!(report.relaxed_steps, 1);
        let (time, mechanism, what) = report.first_relaxed.unwrap();
        assert_eq!((time, mechanism.as_str()), (0.0, "arm"));
        assert!(what.contains("task \"left\" (level 0)") && what.contains("row y"), "{what}");
    }
}

/// Half a cheetah, whose joints have limits, on curves of a file.
fn cheetah(file: &str, keys: &str) -> Result<Direct, DirectError> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join(file), keys).unwrap();
    let model = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/models/half_cheetah/half_cheetah.xml");
    let text = format!(
        "title = \"cheetah\"\nworld = {{ duration = 0.2, step = 0.002 }}\n\
         [[mechanism]]\nname = \"cheetah\"\nfile = {:?}\neffectors = [\"bfoot\", \"ffoot\"]\n\
         own_shapes = false\ngravity = false\n\
         [[control]]\ncommands = \"torque\"\nof = [\"bthigh\"]\n[[keyframes]]\nfile = {file:?}\n",
        model.display().to_string()
    );
    build(&text, Fidelity::Full)
}

#[test]
fn keyframes_out_of_order_or_limits_are_refused_and_others_are_hit() {
    let s = cheetah(
        "order.toml",
        "times = [0, 0.2, 0.1]\n[[joint]]\nname = \"bthigh\"\nkeys = [0, 0.1, 0.2]\n",
    );
    let s = s.unwrap_err().to_string();
    assert!(s.starts_with("keyframes 1 of order.toml: "), "{s}");
    assert!(s.contains("0.2") && s.contains("0.1"), "{s}");
    let s = cheetah(
        "beyond.toml",
        "times = [0, 0.1, 0.2]\n[[joint]]\nname = \"bthigh\"\nkeys = [0, 7.5, 0]\n",
    );
    let s = s.unwrap_err().to_string();
    assert!(s.starts_with("keyframes 1 of beyond.toml: ") && s.contains("7.5"), "{s}");
    let s =
        cheetah("name.toml", "times = [0, 0.1]\n[[joint]]\nname = \"thigh\"\nkeys = [0, 0.1]\n");
    let s = s.unwrap_err().to_string();
    assert!(s.contains("thigh"), "{s}");
    let s =
        cheetah("nan.toml", "times = [0, 0.1]\n[[joint]]\nname = \"bthigh\"\nkeys = [0, nan]\n");
    let s = s.unwrap_err().to_string();
    assert!(s.to_lowercase().contains("nan"), "{s}");
    let keys = "times = [0, 0.1, 0.2]\n[[joint]]\nname = \"bthigh\"\nkeys = [0, 0.2, 0.1]\n";
    let mut direct = cheetah("good.toml", keys).unwrap();
    for _ in 0..99 {
        let _ = direct.step().unwrap();
    }
    let report = direct.report();
    assert_eq!((report.relaxed_steps, report.unfinished), (0, 0), "{report:?}");
}
