//! The chain from a URDF file to forces and accelerations against Pinocchio 4.1.0, whose numbers
//! `fixtures/golden/pinocchio/make.py` writes: mimics left out, massless links inside the chains of
//! the human.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use forks_dynamics::{
    mass_matrix,
    tree::{AbaWorkspace, CrbaWorkspace, LinkLoads, RneaWorkspace, Tree, aba, bias, crba, rnea},
};
use forks_import::{ImportOptions, load_model};
use forks_mechanism::{
    Mechanism,
    kinematics::link_twists,
    lie::{Twist, glam::DVec3, so3::quaternion_from_wxyz},
    linalg::Matrix,
};
use serde::Deserialize;

/// Roundings along a chain of at most 36 links, a few each.
const STEPS: f64 = 64.0;

#[derive(Deserialize)]
struct Golden {
    tool: String,
    model: String,
    joints: Vec<String>,
    states: Vec<State>,
    mimic: Option<MimicState>,
}

/// A state that satisfies the mimics, and its accelerations without torques.
#[derive(Deserialize)]
struct MimicState {
    q: Vec<f64>,
    v: Vec<f64>,
    bias: Vec<f64>,
    acceleration: Vec<f64>,
    mass_condition: f64,
}

#[derive(Deserialize)]
struct State {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    mass_matrix: Vec<Vec<f64>>,
    mass_condition: f64,
    bias: Vec<f64>,
    gravity: Vec<f64>,
    acceleration: Vec<f64>,
    links: Vec<LinkState>,
}

#[derive(Deserialize)]
struct LinkState {
    name: String,
    position: [f64; 3],
    quaternion_wxyz: [f64; 4],
    twist: [f64; 6],
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn golden(name: &str) -> (Golden, Mechanism) {
    let path = fixtures().join(format!("golden/pinocchio/{name}.dynamics.json"));
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(golden.tool, "Pinocchio 4.1.0");
    let model = fixtures().join("models").join(&golden.model);
    let import = load_model(&model, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    (golden, import.mechanism)
}

/// Velocity index of each of Pinocchio's joints.
fn order(m: &Mechanism, joints: &[String]) -> Vec<usize> {
    assert_eq!(joints.len(), m.tree_velocity_count());
    let edges = || m.forest().edges().iter().map(|e| e.joint);
    let index = |name: &String| {
        let found = edges().find(|j| m.joint(*j).name == *name).unwrap_or_else(|| panic!("{name}"));
        m.velocity_range(found).start
    };
    joints.iter().map(index).collect()
}

/// Values in our order.
fn ours(order: &[usize], theirs: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; order.len()];
    for (&i, x) in order.iter().zip(theirs) {
        out[i] = *x;
    }
    out
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, b| a.max(b.abs()))
}

/// Largest difference over the largest entry of `theirs` or `scale`.
fn difference(ours: &[f64], theirs: &[f64], scale: f64) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let d = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    d / largest(theirs).max(scale)
}

fn within(what: &str, value: f64, bound: f64) {
    assert!(value <= bound, "{what}: {value:e} > {bound:e}");
}

fn check_links(name: &str, m: &Mechanism, q: &[f64], v: &[f64], links: &[LinkState]) {
    let poses = m.link_poses(q);
    let twists = link_twists(m, q, v);
    let (r, speed) = (m.bounding_radius(&poses), largest(v) * links.len() as f64);
    let mut seen = 0;
    for l in links {
        let Some(i) = m.links().iter().position(|x| x.name == l.name) else {
            panic!("{name}: no link '{}'", l.name)
        };
        seen += 1;
        let p = poses[i].translation.distance(DVec3::from_array(l.position));
        within(&format!("{name} {} position", l.name), p / r, STEPS * f64::EPSILON);
        let (x, y) = (poses[i].rotation, quaternion_from_wxyz(l.quaternion_wxyz));
        let turn = (x - y * x.dot(y).signum()).length();
        within(&format!("{name} {} rotation", l.name), turn, STEPS * f64::EPSILON);
        let d: Twist = twists[i] - Twist::from_array(l.twist);
        let error = (d.linear.length() / r).max(d.angular.length()) / speed;
        within(&format!("{name} {} twist", l.name), error, STEPS * f64::EPSILON);
    }
    let real = m.links().iter().filter(|l| l.name != "world").count();
    assert_eq!(seen - usize::from(links.iter().any(|l| l.name == "world")), real, "{name}");
}

fn check_forces(name: &str, m: &Mechanism, order: &[usize], s: &State) {
    let n = order.len();
    let tree = Tree::new(m);
    let [q, v, tau] = [&s.q, &s.v, &s.tau].map(|x| ours(order, x));
    let mut expected = Matrix::zeros(n, n);
    for (i, row) in s.mass_matrix.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            expected[(order[i], order[j])] = *x;
        }
    }
    let mut mass = Matrix::zeros(n, n);
    crba(&tree, &mut CrbaWorkspace::new(&tree), &q, &mut mass);
    let bound = STEPS * f64::EPSILON;
    within(
        &format!("{name} mass matrix"),
        difference(mass.as_slice(), expected.as_slice(), 0.0),
        bound,
    );
    let projected = mass_matrix(m, &q);
    let projected = Matrix::from_fn(n, n, |i, j| projected[(i, j)]);
    within(
        &format!("{name} projected mass matrix"),
        difference(projected.as_slice(), expected.as_slice(), 0.0),
        bound,
    );

    let mut ws = RneaWorkspace::new(&tree);
    let mut out = vec![0.0; n];
    bias(&tree, &mut ws, &q, &v, &LinkLoads::GRAVITY, &mut out);
    within(&format!("{name} bias"), difference(&out, &ours(order, &s.bias), 0.0), bound);
    bias(&tree, &mut ws, &q, &vec![0.0; n], &LinkLoads::GRAVITY, &mut out);
    within(&format!("{name} gravity"), difference(&out, &ours(order, &s.gravity), 0.0), bound);

    let theirs = ours(order, &s.acceleration);
    rnea(&tree, &mut ws, &q, &v, &theirs, &LinkLoads::GRAVITY, &mut out);
    let scale = largest(expected.as_slice()) * largest(&theirs);
    within(&format!("{name} inverse dynamics"), difference(&out, &tau, scale), bound);
    aba(&tree, &mut AbaWorkspace::new(&tree), &q, &v, &tau, &LinkLoads::GRAVITY, &mut out).unwrap();
    let error = difference(&out, &theirs, 0.0);
    within(&format!("{name} acceleration"), error, bound * s.mass_condition);
    println!("{name}: acceleration {error:.1e}, condition {:.1e}", s.mass_condition);
}

#[test]
fn pinocchio_agrees() {
    for name in ["solo12", "kinova_robotiq_mimic", "human_urdf"] {
        let (golden, m) = golden(name);
        let order = order(&m, &golden.joints);
        assert_eq!(golden.states.len(), 3);
        for s in &golden.states {
            check_links(name, &m, &ours(&order, &s.q), &ours(&order, &s.v), &s.links);
            check_forces(name, &m, &order, s);
        }
    }
}

/// Five fingers' joints follow a sixth: exact couplings, through the program.
#[test]
fn mimics_hold_in_forks_dynamics() {
    let (golden, _) = golden("kinova_robotiq_mimic");
    let s = golden.mimic.expect("a state with mimics");
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&directory).unwrap();
    let state = directory.join("kinova_mimic.state.json");
    let text = serde_json::json!({"qpos": s.q, "qvel": s.v}).to_string();
    std::fs::write(&state, text).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_forks"))
        .arg("dynamics")
        .arg(fixtures().join("models").join(&golden.model))
        .args(["--json", "--state"])
        .arg(&state)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let field = |name: &str| -> Vec<f64> { serde_json::from_value(answer[name].clone()).unwrap() };
    within("bias", difference(&field("bias"), &s.bias, 0.0), STEPS * f64::EPSILON);
    let error = difference(&field("acceleration"), &s.acceleration, 0.0);
    within("acceleration", error, STEPS * f64::EPSILON * s.mass_condition);
    println!("mimics: acceleration {error:.1e}, condition {:.1e}", s.mass_condition);
}

/// Pinocchio sorts as we do: the order of coordinates is a contract of this program.
#[test]
fn the_order_of_coordinates_is_depth_first_by_joint_name() {
    for name in ["solo12", "kinova_robotiq_mimic", "human_urdf"] {
        let (golden, m) = golden(name);
        let expected: Vec<usize> = (0..golden.joints.len()).collect();
        assert_eq!(order(&m, &golden.joints), expected, "{name}");
    }
}
