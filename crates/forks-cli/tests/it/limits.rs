//! `--limits`: progressive springs beyond joints' limits, off unless asked for.

use crate::support;

use std::{fs, path::PathBuf, sync::LazyLock};

use serde_json::Value;

use support::{forks, json, path_in, text};

fn path(name: &str) -> PathBuf {
    path_in("limits", name)
}

/// A finger of two links whose hinges end at 0.2 rad; weight 2 · 9.81 N.
static FINGER: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = path("finger.xml");
    fs::write(
        &path,
        r#"<mujoco><compiler angle="radian" autolimits="true"/><worldbody>
        <body name="near"><inertial mass="1" pos="0.25 0 0" diaginertia="0.02 0.02 0.02"/>
        <joint name="knuckle" axis="0 1 0" stiffness="5" damping="0.5" range="-0.2 0.2"/>
        <body name="far" pos="0.5 0 0"><inertial mass="1" pos="0.25 0 0" diaginertia="0.02 0.02 0.02"/>
        <joint name="hinge" axis="0 1 0" stiffness="5" damping="0.5" range="-0.2 0.2"/></body></body>
        </worldbody></mujoco>"#,
    )
    .unwrap();
    path
});

/// k θ + K δ|δ|/(2w) with δ beyond ±0.2, w = 0.02.
fn torque(theta: f64, k: f64) -> f64 {
    let delta = (theta.abs() - 0.2).max(0.0) * theta.signum();
    5.0 * theta + 0.5 * k * delta * delta.abs() / 0.02
}

#[test]
fn statics_rests_on_the_limits() {
    let statics = ["statics", text(&FINGER), "--effector", "far", "--wrench", "0,0,0,0,0,0"];
    let free = json(&statics);
    let held = json(&[&statics[..], &["--limits", "300"]].concat());
    let angles = |v: &Value| [0, 1].map(|i| v["qpos"][i].as_f64().unwrap());
    assert!(angles(&free)[0] > 0.8, "{:?}", angles(&free));
    let [a, b] = angles(&held);
    // Torques of the weight about the hinges; both point down about +y.
    let g = 9.81;
    let outer = g * 0.25 * (a + b).cos();
    let inner = g * 0.25 * a.cos() + g * 0.5 * a.cos() + outer;
    assert!((torque(a, 300.0) - inner).abs() < 1e-8, "{a} {b}");
    assert!((torque(b, 300.0) - outer).abs() < 1e-8, "{a} {b}");
    assert!(a < 0.3, "{a}");
}

#[test]
fn reductions_at_equilibria_are_stiffer_on_limits() {
    let reduce = ["reduce", text(&FINGER), "--effector", "far"];
    let zz = |v: &Value| v["compliance"][2][2].as_f64().unwrap();
    let at_rest = json(&reduce);
    let with = forks(&[&reduce[..], &["--limits", "300", "--json"]].concat());
    assert!(String::from_utf8_lossy(&with.stderr).contains("--limits has no effect at rest"));
    let with: Value = serde_json::from_slice(&with.stdout).unwrap();
    assert_eq!(at_rest["compliance"], with["compliance"]);
    let loaded = json(&[&reduce[..], &["--equilibrium"]].concat());
    let on = json(&[&reduce[..], &["--equilibrium", "--limits", "300"]].concat());
    assert!(zz(&on) < 0.2 * zz(&loaded), "{} {}", zz(&on), zz(&loaded));
}

#[test]
fn motion_stops_at_the_limits() {
    let run = ["simulate", text(&FINGER), "--time", "3", "--step", "0.002"];
    let free = json(&run);
    let held = json(&[&run[..], &["--limits", "300"]].concat());
    assert!(free["qpos"][0].as_f64().unwrap() > 0.5);
    let ends = held["qpos"][0].as_f64().unwrap();
    assert!(ends > 0.2 && ends < 0.3, "{ends}");
    assert!(held["largest_energy_growth"].as_f64().unwrap() < 1e-9);
}

#[test]
fn blends_carry_the_limits() {
    let blend = |limits: &[&str]| {
        let file = path(&format!("finger{}.forkb", limits.len()));
        let region = ["--effector", "far", "--cone", "0,0,-1", "--normal", "0,1,0"];
        let how = ["--samples", "4", "--training", "24"];
        let rest = ["-o", text(&file)];
        json(&[&["blend", text(&FINGER)][..], &region, &how, &rest, limits].concat());
        let run = ["simulate", "--reduced", text(&file), "--time", "6", "--step", "0.01"];
        // The swing leaves the range for a while, which is said with exit code 1; the end does not.
        let run = forks(&[&run[..], &["--wrench", "0,0,-6,0,0,0", "--json"]].concat());
        let answer: Value = serde_json::from_slice(&run.stdout).unwrap();
        answer["effectors"][0]["position"][2].as_f64().unwrap()
    };
    let (free, held) = (blend(&[]), blend(&["--limits", "300"]));
    // Without limits 3 N·m turn the first hinge by 0.6; with them hardly beyond 0.2. Full statics
    // says -0.107; polynomials do not follow springs that begin beyond a limit, which the program
    // says: its tolerances do not hold, and the range is left.
    assert!(free < -0.24 && held > -0.155 && held < -0.09, "{free} {held}");
}

#[test]
fn wrong_values_exit_with_two() {
    for arguments in [
        &[
            "statics",
            text(&FINGER),
            "--effector",
            "far",
            "--wrench",
            "0,0,0,0,0,0",
            "--limits",
            "-1",
        ][..],
        &["simulate", "--reduced", "x", "--time", "1", "--step", "0.1", "--limits", "1"],
        &["dynamics", text(&FINGER), "--limits", "1"],
    ] {
        assert_eq!(forks(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
