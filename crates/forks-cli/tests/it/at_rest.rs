//! Gravity, preload and size mean the same in all commands: `reduce` says where it linearised and
//! what is otherwise at the equilibrium, `statics` compares with the model there, links that cannot
//! move do not count in the size.

use serde_json::{Value, json};
use support::{forks, json, path_in, refuses, text};

use crate::support;

fn file(name: &str, content: &str) -> String {
    let path = path_in("at_rest", name);
    std::fs::write(&path, content).unwrap();
    text(&path).to_owned()
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is no number"))
}

fn near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() < relative * expected.abs(), "{found} instead of {expected}");
}

/// 1 kg with 0.0825 kg·m² about a hinge, 0.25 m from it.
fn pendulum(axis: &str, joint: &str, place: &str) -> String {
    format!(
        r#"<mujoco><worldbody><body name="arm"><inertial mass="1" pos="{place}" diaginertia="0.02 0.02 0.02"/>
        <joint name="hinge" axis="{axis}" {joint}/></body></worldbody>
        <keyframe><key name="bent" qpos="0.3"/></keyframe></mujoco>"#
    )
}

/// A hanging arm: gravity is most of its stiffness.
#[test]
fn reduce_warns_of_the_frequency_at_the_equilibrium() {
    let model = &file("hanging.xml", &pendulum("0 1 0", r#"stiffness="0.5""#, "0 0 -0.25"));
    let inertia = 0.0825f64;
    let (here, there) = ((0.5 / inertia).sqrt(), ((0.5 + 9.81 * 0.25) / inertia).sqrt());
    let v = json(&["reduce", model, "--effector", "arm"]);
    near(number(&v["frequencies_rad_s"]["full"][0]), here, 1e-12);
    near(number(&v["at_equilibrium"]["lowest_frequency_rad_s"]), there, 1e-12);
    assert_eq!(v["at_equilibrium"]["status"], "converged");
    let pose = &v["linearisation"];
    assert_eq!((&pose["start"], &pose["equilibrium"]), (&json!("the start pose"), &json!(false)));
    assert_eq!((&pose["has_gravity"], &pose["has_preload"]), (&json!(true), &json!(false)));
    let warning = v["warnings"][0].as_str().unwrap();
    for w in [
        "the start pose, without gravity",
        &format!("{there:.4}"),
        &format!("{here:.5}"),
        "--equilibrium",
    ] {
        assert!(warning.contains(w), "'{w}' in: {warning}");
    }
    assert!(!warning.contains("no equilibrium"), "straight down is one: {warning}");
    let out = forks(&["reduce", model, "--effector", "arm", "--state", "key:bent"]);
    let (shown, said) =
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert!(
        shown.contains("linearised at    keyframe 'bent', without gravity and spring preload"),
        "{shown}"
    );
    assert!(
        said.contains(
            "keyframe 'bent', without gravity and spring preload, which is no equilibrium"
        ),
        "{said}"
    );

    let v = json(&["reduce", model, "--effector", "arm", "--equilibrium"]);
    near(number(&v["frequencies_rad_s"]["full"][0]), there, 1e-12);
    assert_eq!((&v["warnings"], &v["linearisation"]["equilibrium"]), (&json!([]), &json!(true)));
    assert_eq!(v["at_equilibrium"], Value::Null);
}

#[test]
fn reduce_warns_where_gravity_or_preload_matter_and_only_there() {
    // About the vertical gravity does nothing.
    let upright = file("vertical.xml", &pendulum("0 0 1", r#"stiffness="0.5""#, "0.25 0 0"));
    let v = json(&["reduce", &upright, "--effector", "arm"]);
    assert_eq!((&v["warnings"], &v["linearisation"]["has_gravity"]), (&json!([]), &json!(true)));
    // A stressed spring alone: the pose is none of balance.
    let joint = r#"stiffness="0.5" springref="30""#;
    let stressed = file("stressed.xml", &pendulum("0 0 1", joint, "0.25 0 0"));
    let v = json(&["reduce", &stressed, "--effector", "arm"]);
    assert_eq!(v["linearisation"]["has_preload"], true);
    let warning = v["warnings"][0].as_str().unwrap();
    assert!(warning.contains("gravity and spring preload, which is no equilibrium"), "{warning}");
}

/// A sagging arm of two links: the model about the start pose is far off, the one about the sagged
/// pose is not.
#[test]
fn statics_compares_with_the_model_at_the_equilibrium() {
    let link = |name: &str, more: &str| {
        format!(
            r#"<body name="{name}" pos="{}"><inertial mass="1" pos="0.2 0 0" diaginertia="0.01 0.01 0.01"/>
            <joint axis="0 1 0" stiffness="6"/>{more}</body>"#,
            if name == "upper" { "0 0 0" } else { "0.4 0 0" }
        )
    };
    let tip = r#"<body name="tip" pos="0.4 0 0"><geom size="0.01" mass="0.01"/></body>"#;
    let arm = link("upper", &link("lower", tip));
    let model = &file("sagging.xml", &format!("<mujoco><worldbody>{arm}</worldbody></mujoco>"));
    let run = |wrench: &str| json(&["statics", model, "--effector", "tip", "--wrench", wrench]);
    let place = |v: &Value| {
        let tip = v["links"].as_array().unwrap().iter().find(|l| l["name"] == "tip").unwrap();
        support::numbers(&tip["position"])
    };
    let (rest, pushed) = (run("0,0,0,0,0,0"), run("0.3,0,0,0,0,0"));
    assert!(number(&rest["max_position_error"]) < 1e-12);
    let (a, b) = (place(&rest), place(&pushed));
    let moved = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let error = number(&pushed["max_position_error"]);
    assert!(a[2] < -0.3 && moved > 0.01, "{a:?} {moved}");
    // Of second order in the displacement, which is a few hundredths of the size.
    assert!(error < 0.1 * moved && error > 1e-6, "{error} of {moved}");
    assert_eq!(pushed["reduced_at"], "the equilibrium under gravity from the start pose");
    assert!(number(&pushed["relative_constraint_error"]) < 0.1);
}

/// Where only gravity resists, the equilibrium can be reduced, though the start pose cannot.
#[test]
fn a_hanging_pendulum_without_spring_has_a_reduced_model() {
    let model = file("pendulum.xml", &pendulum("0 1 0", "", "0 0 -0.25"));
    let v = json(&["statics", &model, "--effector", "arm", "--wrench", "0,0,0,0,0.02,0"]);
    assert_eq!(v["status"], "converged");
    assert!(number(&v["max_position_error"]) < 1e-12, "{v}");
}

#[test]
fn links_that_cannot_move_do_not_count_in_the_size() {
    let arm = r#"<body name="arm"><joint axis="0 1 0" stiffness="2"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".01"/>
        <body name="fore" pos=".2 0 0"><joint axis="0 1 0" stiffness="2"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".01"/>
        </body></body>"#;
    let model = |name: &str, bodies: &str, equality: &str| {
        let content = format!(
            "<mujoco><worldbody>{arm}{bodies}</worldbody><equality>{equality}</equality></mujoco>"
        );
        file(name, &content)
    };
    let post = |inside: &str| {
        format!(r#"<body name="post" pos="10 0 0">{inside}<geom size=".1"/></body>"#)
    };
    let bracket = r#"<body name="post" pos="10 0 0"><body name="bracket" pos="0 5 0"><geom size=".1"/></body></body>"#;
    let cases = [
        model("alone.xml", "", ""),
        model("post.xml", &post(""), ""),
        model("bracket.xml", bracket, ""),
        model("welded.xml", &post("<freejoint/>"), r#"<weld body1="post"/>"#),
        model(
            "locked.xml",
            &post(r#"<joint name="door" axis="0 0 1"/>"#),
            r#"<joint joint1="door"/>"#,
        ),
    ];
    let mut seen = Vec::new();
    for m in &cases {
        let inspected = json(&["inspect", m])["bounding_radius"].clone();
        assert_eq!(json(&["reduce", m, "--effector", "fore"])["bounding_radius"], inspected, "{m}");
        seen.push(number(&inspected));
    }
    // Frames at 0 and 0.2, centres of mass at 0.1 and 0.3: 0.2 from the mean of the frames.
    assert!(seen.iter().all(|r| (r - 0.2).abs() < 1e-15), "{seen:?}");
    // What is only held for the reduction counts as it does otherwise.
    let base =
        format!(r#"<body name="base" pos="1 0 0"><freejoint/><geom size=".1"/>{arm}</body>"#);
    let floating = file("floating.xml", &format!("<mujoco><worldbody>{base}</worldbody></mujoco>"));
    let inspected = json(&["inspect", &floating])["bounding_radius"].clone();
    assert_eq!(json(&["reduce", &floating, "--effector", "fore"])["bounding_radius"], inspected);
}

#[test]
fn what_has_no_frequencies_says_so() {
    let massless = r#"<robot name="r"><link name="base"/><link name="tip"/><joint name="j" type="continuous"><parent link="base"/>
        <child link="tip"/><axis xyz="0 1 0"/></joint></robot>"#;
    let model = file("massless.urdf", massless);
    let out = forks(&["reduce", &model, "--effector", "tip", "--default-stiffness", "3"]);
    let shown = String::from_utf8(out.stdout).unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(shown.contains("frequencies      none:"), "{shown}");
    assert!(!shown.lines().any(|l| l.trim_end().ends_with("  rad/s")), "{shown}");
}

/// Equal steps may end at a saddle: the status stays, the sentence says what it means and what
/// helps.
#[test]
fn every_status_that_is_not_converged_is_explained() {
    let model = file("limp.xml", &pendulum("0 0 1", "", "0.25 0 0"));
    let arguments = ["statics", &model, "--effector", "arm", "--wrench", "0,0,0,0,0,1", "--json"];
    let out = forks(&arguments);
    assert_eq!(out.status.code(), Some(1));
    let v: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(v["status"], "singular");
    let said = String::from_utf8(out.stderr).unwrap();
    for w in ["nothing resists a motion of joint 'hinge' (link 'arm')", "--default-stiffness"] {
        assert!(v["message"].as_str().unwrap().contains(w) && said.contains(w), "{v}\n{said}");
    }
    assert_eq!(v["max_position_error"], Value::Null);
    // Upside down and pushed aside not at all: a saddle, exit 0.
    let model = file("upright.xml", &pendulum("0 1 0", r#"stiffness="0.5""#, "0 0 0.25"));
    let v = json(&["statics", &model, "--effector", "arm", "--wrench", "0,0,0,0,0,0"]);
    assert_eq!(v["status"], "unstable");
    let message = v["message"].as_str().unwrap();
    assert!(
        message.contains("slightest push") && message.contains("--path continuous"),
        "{message}"
    );
}

/// Once: a number that is not finite under `skipped`, or a blend of the rest pose alone that was
/// called reached.
#[test]
fn blends_without_equilibria_are_refused_in_a_sentence() {
    let blend = |model: &str, cone: &str, more: &[&str], words: &[&str]| {
        let out = text(&path_in("at_rest", "none.forkb")).to_owned();
        let first = ["blend", model, "--effector", "tip", "--cone", cone, "-o", &out];
        let few = ["--samples", "2", "--training", "4"];
        refuses(&[&first[..], &few, more].concat(), words);
    };
    let rod = |joint: &str, end: &str| {
        format!(
            r#"<mujoco><worldbody><body name="rod"><joint name="h" {joint}/>
            <geom type="capsule" fromto="0 0 0 {end}" size=".01" mass="1"/>
            <body name="tip" pos="{end}"><geom size=".01" mass=".01"/></body></body></worldbody></mujoco>"#
        )
    };
    let limp = file("limp_rod.xml", &rod(r#"axis="0 0 1""#, "0.5 0 0"));
    blend(&limp, "0,1,0", &[], &["singular", "nothing resists", "'h'", "--default-stiffness"]);
    let stiff = file("stiff.xml", &rod(r#"axis="0 1 0" stiffness="9""#, "0.5 0 0"));
    blend(&stiff, "0,1,0", &[], &["does not move end effector 'tip'", "direction"]);
}
