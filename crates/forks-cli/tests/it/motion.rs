//! `forks dynamics` and `forks simulate` as a user calls them, where the motion is known
//! beforehand.

use crate::support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use forks_mechanism::{JointMatrix, MechanismBuilder, lie::glam::DVec3};
use forks_models::{HelixJoints, helix};
use serde_json::Value;

use support::{forks, numbers, path_in, text};

fn path(name: &str) -> PathBuf {
    path_in("motion", name)
}

fn file(name: &str, text: &str) -> String {
    fs::write(path(name), text).unwrap();
    path(name).to_str().unwrap().to_owned()
}

fn json(arguments: &[&str]) -> Value {
    let out = forks(arguments);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// A point mass of 2 kg, 0.5 m from a hinge about y.
fn pendulum(name: &str) -> String {
    file(
        name,
        r#"<mujoco><worldbody><body name="bob"><inertial mass="2" pos="0.5 0 0"
        diaginertia="1e-9 1e-9 1e-9"/><joint name="hinge" axis="0 1 0"/></body></worldbody></mujoco>"#,
    )
}

#[test]
fn a_thrown_body_falls_in_world_axes() {
    let model = file(
        "thrown.xml",
        r#"<mujoco><worldbody><body name="box"><freejoint/><inertial mass="3" pos="0 0 0"
        diaginertia="0.1 0.2 0.25"/></body></worldbody></mujoco>"#,
    );
    let state = file(
        "thrown.json",
        r#"{"qpos": [1, 2, 3, 0.5, 0.5, -0.5, 0.5], "qvel": [4, 5, 6, 1, 2, 3]}"#,
    );
    let a = json(&["dynamics", &model, "--state", &state, "--json"]);
    // Euler's equations about the principal axes; the centre falls whatever the spin is.
    let (w, i) = ([1.0, 2.0, 3.0], [0.1, 0.2, 0.25]);
    let spin = |x: usize, y: usize, z: usize| (i[y] - i[z]) * w[y] * w[z] / i[x];
    let expected = [0.0, 0.0, -9.81, spin(0, 1, 2), spin(1, 2, 0), spin(2, 0, 1)];
    for (found, expected) in numbers(&a["acceleration"]).iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13, "{found} instead of {expected}");
    }
    let kinetic = 0.5 * 3.0 * 77.0 + 0.5 * (0.1 + 0.2 * 4.0 + 0.25 * 9.0);
    assert!((a["energy"]["kinetic"].as_f64().unwrap() - kinetic).abs() < 1e-12);
    assert!((a["energy"]["gravitational"].as_f64().unwrap() - 3.0 * 9.81 * 3.0).abs() < 1e-12);
    assert_eq!(numbers(&a["qvel"]), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    // One second later: the parabola, to (ω h)⁴ times the way.
    let end = json(&[
        "simulate",
        &model,
        "--state",
        &state,
        "--time",
        "1",
        "--step",
        "0.001",
        "--integrator",
        "rk4",
        "--json",
    ]);
    let position = numbers(&end["links"][0]["position"]);
    for (found, expected) in position.iter().zip([5.0, 7.0, 9.0 - 0.5 * 9.81]) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }
    assert!((numbers(&end["qvel"])[2] - (6.0 - 9.81)).abs() < 1e-9);
}

#[test]
fn a_pendulum_swings_with_the_period_of_the_arithmetic_geometric_mean() {
    let model = pendulum("pendulum.xml");
    // From the horizontal: amplitude 90°, period 2π √(l/g) / agm(1, cos 45°).
    let (mut x, mut y) = (1.0f64, 0.5f64.sqrt());
    for _ in 0..6 {
        (x, y) = (0.5 * (x + y), (x * y).sqrt());
    }
    let inertia: f64 = 2.0 * 0.25 + 1e-9;
    let period = std::f64::consts::TAU * (inertia / (2.0 * 9.81 * 0.5)).sqrt() / x;
    for integrator in ["rk4", "adaptive"] {
        let end = json(&[
            "simulate",
            &model,
            "--time",
            &period.to_string(),
            "--step",
            "0.001",
            "--integrator",
            integrator,
            "--json",
        ]);
        assert_eq!(end["status"], "completed");
        assert!(numbers(&end["qpos"])[0].abs() < 1e-8, "{integrator}: {}", end["qpos"]);
        assert!(numbers(&end["qvel"])[0].abs() < 1e-8, "{integrator}: {}", end["qvel"]);
    }
}

#[test]
fn trajectories_are_written_as_asked() {
    let model = pendulum("recorded.xml");
    let csv = path("recorded.csv");
    let run = |output: &Path| {
        json(&[
            "simulate",
            &model,
            "--time",
            "0.105",
            "--step",
            "0.01",
            "--every",
            "5",
            "--json",
            "-o",
            output.to_str().unwrap(),
        ])
    };
    let report = run(&csv);
    // The start, the fifth and the tenth of eleven steps, and the last one, which is shorter.
    assert_eq!(report["samples"], 4);
    assert!((report["time"].as_f64().unwrap() - 0.105).abs() < 1e-15);
    let text = fs::read_to_string(&csv).unwrap();
    assert_eq!(text.lines().count(), 5);
    assert!(
        text.starts_with("time (s),kinetic (J),gravitational (J),elastic (J),loop gap,bob x (m)")
    );
    let as_json = path("recorded.json");
    run(&as_json);
    let value: Value = serde_json::from_str(&fs::read_to_string(&as_json).unwrap()).unwrap();
    assert_eq!(value["links"][0], "bob");
    assert_eq!(value["samples"].as_array().unwrap().len(), 4);
    let text = forks(&["simulate", &model, "--time", "0.1", "--step", "0.01"]);
    assert!(
        String::from_utf8(text.stdout).unwrap().contains("status                     completed")
    );
}

#[test]
fn servos_hold_the_start_pose() {
    let model = file(
        "servo.xml",
        r#"<mujoco><worldbody><body name="arm"><inertial mass="1" pos="0.3 0 0"
        diaginertia="0.01 0.01 0.01"/><joint name="hinge" axis="0 1 0" damping="2"/></body></worldbody>
        <actuator><position joint="hinge" kp="400"/></actuator></mujoco>"#,
    );
    let free = json(&["dynamics", &model, "--json"]);
    let held = json(&["dynamics", &model, "--servos", "--json"]);
    // At rest in the start pose a servo does nothing yet.
    assert_eq!(free["acceleration"], held["acceleration"]);
    let end = json(&["simulate", &model, "--servos", "--time", "5", "--step", "0.0166", "--json"]);
    // 400 θ = m g l cos θ.
    let angle = numbers(&end["qpos"])[0];
    assert!((400.0 * angle - 9.81 * 0.3 * angle.cos()).abs() < 1e-9, "{angle}");
}

#[test]
fn a_damped_helix_settles_where_statics_finds_it() {
    let mut b = MechanismBuilder::from_mechanism(&helix(50, HelixJoints::Hinge3).mechanism);
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    for j in b.joints_mut() {
        j.damping = JointMatrix::isotropic(j.dof(), 30.0);
    }
    let model = path("helix.xml");
    forks_import::write::save_mjcf(&b.build().unwrap(), &model).unwrap();
    let model = model.to_str().unwrap();
    let step = (1.0f64 / 60.0).to_string();
    let end = json(&["simulate", model, "--time", "60", "--step", &step, "--json"]);
    let goal =
        json(&["statics", model, "--effector", "link49", "--wrench", "0,0,0,0,0,0", "--json"]);
    assert_eq!(goal["status"], "converged");
    let (ours, theirs) = (end["links"].as_array().unwrap(), goal["links"].as_array().unwrap());
    assert_eq!(ours.len(), theirs.len());
    for (a, b) in ours.iter().zip(theirs) {
        let distance = numbers(&a["position"])
            .iter()
            .zip(numbers(&b["position"]))
            .map(|(x, y)| (x - y).powi(2))
            .sum::<f64>()
            .sqrt();
        assert!(distance < 1e-6, "{} is {distance} m off", a["name"]);
    }
    assert!(end["largest_energy_growth"].as_f64().unwrap() < 1e-9);
}

#[test]
fn failures_are_said() {
    // Nothing with mass hangs on the last hinge.
    let massless = file(
        "massless.xml",
        r#"<mujoco><worldbody><body name="a"><joint name="loose" axis="0 1 0"/>
        <inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
        <body name="b"><joint name="empty" axis="0 1 0"/></body></body></worldbody></mujoco>"#,
    );
    for command in ["dynamics", "simulate"] {
        let mut arguments = vec![command, massless.as_str(), "--json"];
        if command == "simulate" {
            arguments.extend(["--time", "1", "--step", "0.1"]);
        }
        let out = forks(&arguments);
        assert_eq!(out.status.code(), Some(1), "{command}");
        let said = String::from_utf8_lossy(&out.stderr).into_owned()
            + &String::from_utf8_lossy(&out.stdout);
        assert!(said.contains("empty") || said.contains("massless"), "{said}");
    }
    let model = pendulum("usage.xml");
    for bad in [["--time", "0"], ["--step", "nan"], ["--integrator", "euler"]] {
        let mut arguments = vec!["simulate", model.as_str(), "--time", "1", "--step", "0.1"];
        arguments.retain(|a| *a != bad[0]);
        arguments.extend(bad);
        assert_eq!(forks(&arguments).status.code(), Some(2), "{bad:?}");
    }
    // An explicit scheme that cannot follow: the answer says so, with finite numbers.
    let stiff = file(
        "stiff.xml",
        r#"<mujoco><worldbody><body name="a"><joint axis="0 1 0" stiffness="1e6" ref="0.1"/>
        <inertial mass="1" pos="0.1 0 0" diaginertia="1e-3 1e-3 1e-3"/></body></worldbody></mujoco>"#,
    );
    let out = forks(&[
        "simulate",
        &stiff,
        "--time",
        "100",
        "--step",
        "0.1",
        "--integrator",
        "rk4",
        "--json",
    ]);
    assert_eq!(out.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["status"], "not-finite");
    assert!(answer["problem"].as_str().unwrap().contains("--integrator implicit"));
    let message = String::from_utf8(out.stderr).unwrap();
    assert!(message.starts_with("error: ") && message.contains("stopped after"), "{message}");
}

#[test]
fn a_run_that_overflows_writes_what_there_is_up_to_there() {
    let stiff = file(
        "overflows.xml",
        r#"<mujoco><worldbody><body name="a"><joint axis="0 1 0" stiffness="1e6" ref="0.1"/>
        <inertial mass="1" pos="0.1 0 0" diaginertia="1e-3 1e-3 1e-3"/></body></worldbody></mujoco>"#,
    );
    for integrator in ["rk4", "semi-implicit-euler"] {
        let written = path_in("motion", &format!("{integrator}.csv"));
        let _ = fs::remove_file(&written);
        let options = ["--time", "100", "--step", "0.1", "--integrator", integrator];
        let out =
            forks(&[&["simulate", &stiff, "-o", text(&written), "--json"], &options[..]].concat());
        assert_eq!(out.status.code(), Some(1));
        let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(answer["status"], "not-finite");
        let lines = fs::read_to_string(&written).unwrap();
        let rows = lines.lines().count() - 1;
        // One row per step and the start; the last row is the state that is printed.
        assert_eq!(answer["samples"].as_u64().unwrap() as usize, rows);
        let last: f64 = lines.lines().last().unwrap().split(',').next().unwrap().parse().unwrap();
        assert!(rows > 3 && last == answer["time"].as_f64().unwrap(), "{rows} rows, {last}");
    }
}

#[test]
fn a_joint_too_many_is_named() {
    // The fourth slide moves the body as the first two together do.
    let slides = file(
        "four_slides.xml",
        r#"<mujoco><worldbody><body name="box"><joint name="x" type="slide" axis="1 0 0"/>
        <joint name="y" type="slide" axis="0 1 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <joint name="xy" type="slide" axis="1 1 0"/><geom size=".05" mass="1"/></body></worldbody></mujoco>"#,
    );
    let out = forks(&["simulate", &slides, "--time", "1", "--step", "0.01", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    let message = String::from_utf8(out.stderr).unwrap();
    assert_eq!(message.lines().count(), 1, "{message}");
    for sentence in [answer["problem"].as_str().unwrap(), &message] {
        assert!(sentence.contains("no mass resists joint"), "{sentence}");
    }
}
