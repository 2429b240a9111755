//! `forks simulate --stops --friction`: what a user sees of joints that stop and rub.

use std::path::{Path, PathBuf};

use super::support::{forks, json, path_in, text};

fn file(name: &str, content: &str) -> PathBuf {
    let path = path_in("joint_forces", name);
    std::fs::write(&path, content).unwrap();
    path
}

/// A pendulum of 1 kg at 0.5 m on a hinge with dry friction and a range; a joint without a name
/// carries a second link.
fn pendulum(friction: f64) -> String {
    format!(
        r#"<mujoco><compiler angle="radian"/><worldbody><body name="bob">
  <joint name="pivot" axis="0 1 0" frictionloss="{friction}" limited="true" range="-0.4 1"/>
  <inertial pos="0 0 -0.5" mass="1" diaginertia="0.01 0.01 0.01"/>
  <body name="end" pos="0 0 -1"><joint axis="1 0 0" frictionloss="0.01"/>
    <inertial pos="0 0 -0.1" mass="0.01" diaginertia="1e-5 1e-5 1e-5"/></body>
</body></worldbody></mujoco>"#
    )
}

fn run(model: &Path, torque: &str, more: &[&str]) -> serde_json::Value {
    let force = format!("bob=0,0,0,0,{torque},0");
    let args = ["simulate", text(model), "--time", "8", "--step", "0.001", "--force", &force];
    json(&[&args[..], more].concat())
}

#[test]
fn joints_stop_and_stick() {
    let model = file("rubbing.xml", &pendulum(1.0));
    // Less torque than friction turns nothing.
    let hanging = run(&model, "0.99", &["--friction"]);
    assert_eq!(hanging["status"], "completed");
    assert!(hanging["qpos"][0].as_f64().unwrap().abs() < 1e-12, "{hanging}");
    // From 0.6 rad it comes to rest within the cone that friction holds, in either direction.
    let start = file("rubbing.json", r#"{"qpos": [0.6, 0]}"#);
    let end = run(&model, "0", &["--friction", "--state", text(&start)]);
    let angle = end["qpos"][0].as_f64().unwrap();
    let weight = (1.0 * 0.5 + 0.01 * 1.1) * 9.81;
    assert!((weight * angle.sin()).abs() < 1.0 + 1e-9, "{angle}");
    assert!(end["qvel"][0].as_f64().unwrap().abs() < 1e-9, "{end}");
    let total = |e: &serde_json::Value| {
        ["kinetic", "gravitational", "elastic"].map(|k| e[k].as_f64().unwrap()).iter().sum::<f64>()
    };
    assert!(total(&end["energy"]) < total(&end["start_energy"]), "{end}");
    // Without it the pendulum goes on, without stops beyond the lower limit.
    let free = run(&model, "0", &["--state", text(&start)]);
    assert!(free["qvel"][0].as_f64().unwrap().abs() > 1e-3, "{free}");
}

#[test]
fn stops_hold_without_rebound() {
    let model = file("stopped.xml", &pendulum(0.0).replace("frictionloss=\"0.01\"", ""));
    let torque = "bob=0,0,0,0,-20,0";
    let args = ["simulate", text(&model), "--time", "3", "--step", "0.001", "--force", torque];
    let stopped = json(&[&args[..], &["--stops"]].concat());
    assert!((stopped["qpos"][0].as_f64().unwrap() + 0.4).abs() < 1e-9, "{stopped}");
    assert_eq!(stopped["internal_steps"], 3000);
    let free = json(&args);
    assert!(free["qpos"][0].as_f64().unwrap() < -1.0, "{free}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let model = file("refused.xml", &pendulum(1.0));
    for more in [["--integrator", "rk4"], ["--reduced", "x.forks"], ["--tolerance", "1e-6"]] {
        let args = ["simulate", text(&model), "--time", "1", "--step", "0.01", "--friction"];
        let out = forks(&[&args[..], &more].concat());
        assert_eq!(out.status.code(), Some(2), "{more:?}");
    }
}
