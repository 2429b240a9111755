//! `forks statics`, `forks reduce --equilibrium` and `forks blend` end on the same branch, and say
//! where it left the one that it began on.

use std::process::{Command, Output};

use serde_json::Value;

const FIXTURES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/models/equilibrium_paths/");

fn forks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forks")).args(arguments).output().expect("the program starts")
}

fn statics(file: &str, effector: &str, wrench: &str, more: &[&str]) -> (i32, Value) {
    let path = format!("{FIXTURES}{file}");
    let first = ["statics", &path, "--effector", effector, "--wrench", wrench, "--json"];
    let o = forks(&[&first[..], more].concat());
    (o.status.code().unwrap(), serde_json::from_slice(&o.stdout).unwrap())
}

fn notes(v: &Value) -> String {
    v["notes"].to_string()
}

/// The root of 3 θ = m g l sin θ that is not 0, by Newton's method.
fn fallen() -> f64 {
    let mut t = 2.0f64;
    for _ in 0..50 {
        t -= (3.0 * t - 4.905 * t.sin()) / (3.0 - 4.905 * t.cos());
    }
    t
}

#[test]
fn an_upright_column_leaves_the_saddle() {
    let (code, v) = statics("upright.xml", "arm", "0,0,0,0,0,0", &["--path", "continuous"]);
    assert_eq!((code, v["status"].as_str()), (0, Some("converged")), "{v}");
    let q = v["qpos"][0].as_f64().unwrap();
    assert!((fallen() - 1.631944).abs() < 1e-6 && (q - fallen()).abs() < 1e-10, "{q}");
    assert!(notes(&v).contains("turned unstable") && notes(&v).contains("joint h"), "{v}");
    // Equal steps stay at the saddle, say so, and say what to do.
    let (code, v) = statics("upright.xml", "arm", "0,0,0,0,0,0", &[]);
    assert_eq!((code, v["status"].as_str()), (0, Some("unstable")), "{v}");
    assert!(v.to_string().contains("--path continuous"), "{v}");
    // Without gravity nothing drives it away.
    let (_, v) = statics("upright.xml", "arm", "0,0,0,0,0,0", &["--no-gravity"]);
    assert_eq!((v["status"].as_str(), v["qpos"][0].as_f64()), (Some("converged"), Some(0.0)));
}

#[test]
fn reduce_linearises_on_the_branch_of_statics() {
    // At θ the stiffness is k − m g l cos θ; the arm's frame does not leave its place.
    let path = format!("{FIXTURES}upright.xml");
    let o = forks(&["reduce", &path, "--effector", "arm", "--equilibrium", "--json"]);
    let v: Value = serde_json::from_slice(&o.stdout).unwrap();
    let compliance = v["compliance"][4][4].as_f64().unwrap();
    let exact = 1.0 / (3.0 - 4.905 * fallen().cos());
    assert!((compliance / exact - 1.0).abs() < 1e-9, "{compliance} {exact}");
    assert!(v["warnings"].to_string().contains("turned unstable"), "{}", v["warnings"]);
}

#[test]
fn a_wrench_that_comes_later_does_not_choose_the_branch() {
    // Gravity alone falls to +θ; the torque of −0.3 N·m leaves it there, and is too late to choose
    // −θ.
    let more = ["--path", "continuous"];
    let (code, v) = statics("upright.xml", "arm", "0,0,0,0,-0.3,0", &more);
    assert_eq!((code, v["status"].as_str()), (0, Some("converged")), "{v}");
    let t = v["qpos"][0].as_f64().unwrap();
    assert!((3.0 * t - 4.905 * t.sin() + 0.3).abs() < 1e-10 && t > 1.0, "{t}");
}

#[test]
fn a_scissor_lift_says_where_it_snaps_through() {
    let (code, v) = statics("scissor4.xml", "platform", "0,0,0,0,0,0", &["--path", "continuous"]);
    assert_eq!((code, v["status"].as_str()), (0, Some("converged")), "{v}");
    // One freedom x, the foot's place: at scale s of weights W and preload the spring's force k x,
    // x = 0 at the start, meets s W n (cot θ₀ − cot θ), with cos θ = cos θ₀ + x. Its slope at 0, s
    // W n / sin³ θ₀, reaches k before s = 1: the weight of the bars (1e-6 kg each) makes it a limit
    // point, behind which the lift folds up.
    let (k, weight, n, start) = (2000.0, 100.0, 4.0, 35.0f64.to_radians());
    let critical = k * start.sin().powi(3) / (weight * n);
    let notes = notes(&v);
    let said: f64 = notes.split("at ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((said - critical).abs() < 1.0 / 300.0 && notes.contains("snapped through"), "{notes}");
    let links = v["links"].as_array().unwrap();
    let platform = links.iter().find(|l| l["name"] == "platform").unwrap();
    assert!(platform["position"][2].as_f64().unwrap() < 2.0, "{platform}");
}

#[test]
fn loads_that_overflow_end_with_a_status() {
    for wrench in ["0,0,0,0,1e300,0", "1e200,1e200,-1e200,0,0,0", "0,0,0,0,1e16,0"] {
        for file in [("upright.xml", "arm"), ("scissor4.xml", "platform")] {
            for more in [&[][..], &["--path", "continuous"]] {
                let (code, v) = statics(file.0, file.1, wrench, more);
                let status = v["status"].as_str().unwrap();
                let balanced = status == "converged" || status == "unstable";
                assert_eq!(code == 0, balanced, "{wrench}: {v}");
                assert!(v["residual"].as_f64().is_some_and(f64::is_finite), "{wrench}: {v}");
            }
        }
    }
}
