//! `forks reduce` and `forks statics` on one hinge, where every number is known beforehand.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    sync::LazyLock,
};

use serde_json::Value;

/// A hinge about z with 0.5 kg·m² (0.1 of the body, 0.4 of its mass at 0.2 m) under
/// gravity along −z, which it cannot follow.
fn model(joint: &str) -> String {
    format!(
        r#"<mujoco><worldbody><body name="arm"><inertial mass="10" pos="0.2 0 0"
        diaginertia="0.1 0.1 0.1"/><joint name="hinge" axis="0 0 1" {joint}/>
        <site name="tip" pos="0.5 0 0"/></body></worldbody></mujoco>"#
    )
}

fn file(name: &str, text: &str) -> String {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("solve");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The hinge with 1000 N·m/rad.
static SPRUNG: LazyLock<String> =
    LazyLock::new(|| file("sprung.xml", &model(r#"stiffness="1000""#)));
/// The hinge without a spring.
static LOOSE: LazyLock<String> = LazyLock::new(|| file("loose.xml", &model("")));

fn forks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forks")).args(arguments).output().expect("the program starts")
}

fn json(arguments: &[&str]) -> Value {
    let o = forks(&[arguments, &["--json"]].concat());
    assert_eq!(o.status.code(), Some(0), "{}", String::from_utf8_lossy(&o.stderr));
    serde_json::from_slice(&o.stdout).unwrap()
}

/// Rows of numbers.
fn matrix(v: &Value) -> Vec<Vec<f64>> {
    let row = |r: &Value| r.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    v.as_array().unwrap().iter().map(row).collect()
}

/// A matrix with the given entries, zero elsewhere, to 8 ε of the largest entry.
fn assert_matrix(found: &[Vec<f64>], entries: &[(usize, usize, f64)]) {
    let scale = entries.iter().fold(0.0f64, |m, e| m.max(e.2.abs()));
    for (i, row) in found.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            let expected = entries.iter().find(|e| (e.0, e.1) == (i, j)).map_or(0.0, |e| e.2);
            assert!(
                (x - expected).abs() <= 8.0 * f64::EPSILON * scale,
                "({i}, {j}): {x} {expected}"
            );
        }
    }
}

#[test]
fn a_hinge_reduces_to_its_closed_form() {
    let v = json(&["reduce", &SPRUNG, "--effector", "arm"]);
    assert_eq!(v["effectors"], serde_json::json!(["arm"]));
    assert_eq!(v["rank"], 1);
    assert_matrix(&matrix(&v["compliance"]), &[(5, 5, 1e-3)]);
    assert_matrix(&matrix(&v["inverse_mass"]), &[(5, 5, 2.0)]);
    let basis = matrix(&v["basis"]);
    assert_eq!((basis.len(), basis[0].len()), (6, 1));
    // Whatever the scale of η: ω² = (BᵀKB)/(BᵀMB) with K = 1000, M = 0.5.
    let expected = (1000.0f64 / 0.5).sqrt();
    for kind in ["reduced", "full"] {
        let f = v["frequencies_rad_s"][kind][0].as_f64().unwrap();
        assert!((f - expected).abs() < 1e-13 * expected, "{kind}: {f}");
    }
    assert_eq!(v["closure_residual"], 0.0);
    assert_eq!(v["links"][0]["name"], "arm");
    assert_matrix(&matrix(&v["links"][0]["twist_map"]), &[(5, 5, 1e-3)]);
}

#[test]
fn a_site_moves_the_point_of_attack() {
    // At 0.5 m: 1 N along y turns by 5e-4 rad and moves by 2.5e-4 m.
    let v = json(&["reduce", &SPRUNG, "--effector", "site:tip"]);
    let expected = [(1, 1, 2.5e-4), (1, 5, 5e-4), (5, 1, 5e-4), (5, 5, 1e-3)];
    assert_matrix(&matrix(&v["compliance"]), &expected);
}

#[test]
fn default_springs_are_asked_for() {
    let o = forks(&["reduce", &LOOSE, "--effector", "arm"]);
    let message = String::from_utf8(o.stderr).unwrap();
    assert_eq!(o.status.code(), Some(1), "{message}");
    assert!(o.stdout.is_empty());
    assert!(message.starts_with("error: ") && message.contains("hinge"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    let v = json(&["reduce", &LOOSE, "--effector", "arm", "--default-stiffness", "10"]);
    assert_matrix(&matrix(&v["compliance"]), &[(5, 5, 0.1)]);
}

#[test]
fn statics_of_a_hinge_is_its_closed_form() {
    // 250 N·m on a linear spring of 1000 N·m/rad; the reduced model of one hinge is exact.
    let v = json(&["statics", &SPRUNG, "--effector", "arm", "--wrench", "0,0,0,0,0,250"]);
    assert_eq!(v["status"], "converged");
    let q = v["qpos"][0].as_f64().unwrap();
    assert!((q - 0.25).abs() < 1e-12, "{q}");
    let quaternion: Vec<f64> = v["links"][0]["quaternion_wxyz"]
        .as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect();
    for (x, expected) in quaternion.iter().zip([0.125f64.cos(), 0.0, 0.0, 0.125f64.sin()]) {
        assert!((x - expected).abs() < 1e-12, "{quaternion:?}");
    }
    assert!(v["max_position_error"].as_f64().unwrap() < 1e-12);
    // A follower force at the tip keeps its arm: 0.5 m · 100 N.
    let follower = ["--wrench", "0,100,0,0,0,0", "--frame", "body"];
    let v = json(&[&["statics", &SPRUNG, "--effector", "site:tip"], &follower[..]].concat());
    let q = v["qpos"][0].as_f64().unwrap();
    assert!((q - 0.05).abs() < 1e-12, "{q}");
}

#[test]
fn what_cannot_be_solved_is_one_sentence() {
    let wrench = ["--wrench", "0,0,0,0,0,1"];
    for (arguments, word) in [
        (&["reduce", &SPRUNG, "--effector", "leg"][..], "leg"),
        (&["reduce", &SPRUNG, "--effector", "site:nose"], "nose"),
        (&["statics", &SPRUNG, "--effector", "leg", wrench[0], wrench[1]], "leg"),
    ] {
        let o = forks(arguments);
        let message = String::from_utf8(o.stderr).unwrap();
        assert_eq!(o.status.code(), Some(1), "{arguments:?}");
        assert!(message.starts_with("error: ") && message.contains(word), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn wrong_arguments_exit_with_two() {
    for arguments in [
        &["reduce", &SPRUNG][..],
        &["reduce", &SPRUNG, "--effector", "arm", "--default-stiffness=-1"],
        &["reduce", &SPRUNG, "--effector", "arm", "--default-stiffness", "nan"],
        &["reduce", &SPRUNG, "--effector", "arm", "--mass", "guessed"],
        &["statics", &SPRUNG, "--effector", "arm"],
        &["statics", &SPRUNG, "--effector", "arm", "--wrench", "1,2,3"],
        &["statics", &SPRUNG, "--effector", "arm", "--wrench", "0,0,0,0,0,inf"],
    ] {
        assert_eq!(forks(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Springs, tendon and servo of the shoulder add up on the shoulder, though it stands behind the
/// body that it carries.
#[test]
fn a_joint_behind_a_nested_body_keeps_its_springs() {
    for name in ["before.xml", "after.xml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/models/joint_after_child")
            .join(name);
        let v = json(&["reduce", path.to_str().unwrap(), "--effector", "lower"]);
        let expected = 0.09 / (7.0 + 11.0 + 50.0);
        let found = matrix(&v["compliance"])[2][2];
        assert!((found - expected).abs() < 1e-12 * expected, "{name}: {found}");
    }
}
