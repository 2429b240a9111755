//! Models to bytes and back: equal in every bit, in what they hold and in what they do.

use crate::file_support;

use std::{fs, path::Path, sync::Arc};

use file_support::{one_of_everything, small};
use forks_import::{ImportOptions, load_mjcf};
use forks_mechanism::Mechanism;
use forks_models::{HelixJoints, Parametric, arm20, helix, ladder};
use forks_reduce::{Problem, ProblemOptions, ReduceOptions};
use forks_rom::{
    EffectorLoad, LoadFrame, PoseBuffer, ReducedModel, State, Stepper, System,
    data::{BaseRest, EffectorRest, JointPath, JointRest, LinkRest, ModelData},
    file::FileError,
};
use forks_rom::{
    lie::{Pose, Twist, Wrench, glam::DVec3, so3::quaternion_from_wxyz},
    linalg::Matrix,
};
use serde_json::Value;

fn reduced(m: &Mechanism, effectors: &[&str]) -> ReducedModel {
    let problem = Problem::new(m, effectors, &ProblemOptions::default()).unwrap();
    problem.reduce(problem.at_rest(), &ReduceOptions::default()).unwrap().model
}

fn of(p: &Parametric) -> ReducedModel {
    let names: Vec<&str> = p.effectors.iter().map(|&l| p.mechanism.link(l).name.as_str()).collect();
    reduced(&p.mechanism, &names)
}

fn real_models() -> Vec<(&'static str, ReducedModel)> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    let hand = load_mjcf(
        &models.join("shadow_hand_right/right_hand.nomesh.xml"),
        &ImportOptions::default(),
    );
    let fingers = ["rh_ffdistal", "rh_thdistal"];
    vec![
        ("helix", of(&helix(50, HelixJoints::Hinge3))),
        ("ladder", of(&ladder(16))),
        ("arm", of(&arm20())),
        ("hand", reduced(&hand.unwrap().mechanism, &fingers)),
    ]
}

/// A debug text has the shortest digits of every number and the sign of zeros: equal texts are
/// equal bits.
fn assert_same(a: &ModelData, b: &ModelData, name: &str) {
    assert!(format!("{a:?}") == format!("{b:?}"), "{name} has changed");
}

/// Coordinates and poses of a driven and loaded run, as bits.
fn run(model: ReducedModel) -> Vec<u64> {
    let model = Arc::new(model);
    let stepper = Stepper::new(model.clone(), 1e-3).unwrap();
    let mut state = State::new(&model);
    let mut work = stepper.workspace();
    let targets = vec![0.1; model.data().servos.len()];
    state.set_servo_targets(&model, &targets).unwrap();
    let wrench = Wrench::new(DVec3::new(0.3, -0.2, 0.1), DVec3::new(0.01, 0.0, 0.02));
    let load = EffectorLoad { effector: 0, wrench, frame: LoadFrame::World };
    let mut buffer = PoseBuffer::new(&model);
    let mut out = Vec::new();
    for _ in 0..100 {
        let _ = stepper.step(&mut state, &mut work, &[load]);
        model.poses(&state, &mut buffer);
        out.extend(state.coordinates().iter().chain(state.velocity()).map(|x| x.to_bits()));
        let numbers = buffer.iter().flat_map(|(_, p)| {
            p.translation.to_array().into_iter().chain(p.rotation.to_array()).map(f64::to_bits)
        });
        out.extend(numbers);
    }
    out
}

#[test]
fn real_models_come_back_in_every_bit_and_move_alike() {
    for (name, model) in real_models() {
        let bytes = model.to_bytes();
        let back = ReducedModel::from_bytes(&bytes).unwrap();
        assert_same(model.data(), back.data(), name);
        assert!(back.to_bytes() == bytes, "{name}");
        assert_eq!(run(back), run(model), "{name}");
    }
}

#[test]
fn one_of_everything_comes_back_in_every_bit() {
    let model = small();
    let back = ReducedModel::from_bytes(&model.to_bytes()).unwrap();
    assert_same(model.data(), back.data(), "the model");
    let zero = back.data().links[1].map[(2, 1)];
    assert!(zero == 0.0 && zero.is_sign_negative());
    let JointPath::Subspace { start, .. } = &back.data().joints[3].path else { panic!() };
    assert!(start[1] == 0.0 && start[1].is_sign_negative());
    assert_eq!(back.data().links[1].map[(3, 0)].to_bits(), 1);
}

#[test]
fn models_without_limit_base_or_content() {
    let unlimited = ModelData { range: f64::INFINITY, base: None, ..one_of_everything() };
    let empty = ModelData {
        radius: 1.0,
        range: 1.0,
        effectors: vec![],
        basis: Matrix::zeros(0, 0),
        hessian: Matrix::zeros(0, 0),
        mass: Matrix::zeros(0, 0),
        damping: Matrix::zeros(0, 0),
        servo_rest: Matrix::zeros(0, 0),
        servos: vec![],
        links: vec![],
        joints: vec![],
        base: None,
    };
    for data in [unlimited, empty] {
        let model = ReducedModel::new(data).unwrap();
        let back = ReducedModel::from_bytes(&model.to_bytes()).unwrap();
        assert_same(model.data(), back.data(), "the model");
        serde_json::from_str::<Value>(&model.to_json()).unwrap();
    }
}

/// The layout of the documentation, found again byte by byte without the crate's reader.
#[test]
fn the_layout_is_the_documented_one() {
    let model = small();
    let bytes = model.to_bytes();
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    assert_eq!(&bytes[..8], b"\x89FORKS\r\n");
    assert_eq!([u32_at(8), u32_at(12)], [1, 64]);
    assert_eq!(u64_at(16), bytes.len());
    assert_eq!(u32_at(bytes.len() - 4), file_support::crc32(&bytes[..bytes.len() - 4]));
    let (mut at, mut sections) = (24, vec![]);
    while at < bytes.len() - 4 {
        let name = std::str::from_utf8(&bytes[at..at + 4]).unwrap();
        sections.push((name, u64_at(at + 4)));
        at += 12 + u64_at(at + 4);
    }
    let (n, s, number) = (2, 1, 8);
    let (pose, twist) = (7 * number, 6 * number);
    let links = [5, 2, 0].map(|name| 8 + name + 1 + pose + twist * (n + s)).iter().sum();
    let joint = |name: usize, d: usize, path: usize| {
        8 + name + 1 + 16 + pose + 1 + 2 * pose + 8 + 1 + path + number * d * (n + s) + twist + 1
    };
    let product = joint(14, 2, 2 * (8 + twist)) + twist * n;
    let subspace = joint(6, 2, 2 * pose + 2 * twist + 2 * number + 1);
    let joints = joint(5, 1, twist) + joint(5, 0, 0) + 2 * twist * n + product + subspace;
    let expected = [
        ("SIZE", 5 * 8 + 1 + 2 * number),
        ("SERV", 8 + 5),
        ("EFFE", 8 + 3 + 8 + 2 * pose + twist),
        ("DYNA", number * (6 * n + 3 * n * n + n * s)),
        ("LINK", links),
        ("JOIN", joints),
        ("BASE", 8 + number * (36 + 6 * n + 36 * n + 6 * n * n + 36 + 3)),
    ];
    assert_eq!(sections, expected);
    assert_eq!(bytes[36..44], 2u64.to_le_bytes());
    let radius = 36 + 5 * 8 + 1;
    assert_eq!(bytes[radius..radius + 8], 0.75f64.to_le_bytes());
}

#[test]
fn files_are_replaced_whole_and_loaded() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("model.forks");
    fs::write(&path, "something older").unwrap();
    let model = small();
    model.save(&path).unwrap();
    assert_same(model.data(), ReducedModel::load(&path).unwrap().data(), "the model");
    let left: Vec<_> = fs::read_dir(&directory).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left, ["model.forks"], "no temporary file stays");

    let nowhere = directory.join("no such directory/model.forks");
    let error = model.save(&nowhere).unwrap_err();
    assert!(matches!(&error, FileError::Write { path, .. } if *path == nowhere), "{error}");
    let error = ReducedModel::load(&nowhere).unwrap_err();
    assert!(matches!(&error, FileError::Read { path, .. } if *path == nowhere), "{error}");
    assert!(error.to_string().contains("no such directory"));
}

/// Ten gigabytes that are none of ours, and a file with something behind it: refused by their first
/// bytes or length.
#[test]
fn foreign_files_are_not_read_to_their_end() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign");
    fs::create_dir_all(&directory).unwrap();
    let sparse = directory.join("sparse");
    fs::File::create(&sparse).unwrap().set_len(10 << 30).unwrap();
    let error = ReducedModel::load(&sparse).unwrap_err();
    assert!(matches!(error, FileError::NotAReducedModel { .. }), "{error}");
    let bytes = small().to_bytes();
    fs::write(&sparse, &bytes).unwrap();
    fs::OpenOptions::new().write(true).open(&sparse).unwrap().set_len(10 << 30).unwrap();
    let error = ReducedModel::load(&sparse).unwrap_err();
    fs::remove_file(&sparse).unwrap();
    let (found, declared) = (bytes.len() as u64 + 1, bytes.len() as u64);
    assert!(
        matches!(error, FileError::Length { found: f, declared: d } if (f, d) == (found, declared))
    );
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

fn list(v: &Value) -> &[Value] {
    v.as_array().unwrap()
}

fn index(v: &Value) -> usize {
    v.as_u64().unwrap() as usize
}

fn text(v: &Value) -> String {
    v.as_str().unwrap().into()
}

/// A matrix of known width (one without rows does not show it).
fn matrix(v: &Value, columns: usize) -> Matrix {
    assert!(list(v).iter().all(|r| list(r).len() == columns));
    Matrix::from_fn(list(v).len(), columns, |i, j| number(&v[i][j]))
}

fn six(v: &Value) -> [f64; 6] {
    std::array::from_fn(|i| number(&v[i]))
}

fn vector(v: &Value) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|i| number(&v[i])))
}

fn twists(v: &Value) -> Vec<Twist> {
    list(v).iter().map(|t| Twist::from_array(six(t))).collect()
}

fn pose(v: &Value) -> Pose {
    let (p, q) = (&v["position"], &v["quaternion_wxyz"]);
    Pose {
        rotation: quaternion_from_wxyz(std::array::from_fn(|i| number(&q[i]))),
        translation: vector(p),
    }
}

fn path(v: &Value) -> JointPath {
    match v["kind"].as_str().unwrap() {
        "exponential" => JointPath::Exponential { columns: twists(&v["columns"]) },
        "product" => {
            let factor =
                |f: &Value| (index(&f["coordinate"]), Twist::from_array(six(&f["column"])));
            JointPath::Product { factors: list(&v["factors"]).iter().map(factor).collect() }
        }
        "subspace" => JointPath::Subspace {
            before: pose(&v["before"]),
            subspace: twists(&v["subspace"]),
            start: list(&v["start"]).iter().map(number).collect(),
            after: pose(&v["after"]),
            inverted: v["inverted"].as_bool().unwrap(),
        },
        other => panic!("{other}"),
    }
}

/// The numbers of the JSON, read by another program's rules.
fn from_json(v: &Value) -> ModelData {
    let servos: Vec<String> = list(&v["servos"]).iter().map(text).collect();
    let (n, s) = (list(&v["hessian"]).len(), servos.len());
    let joint = |j: &Value| JointRest {
        name: text(&j["name"]),
        closes_loop: j["closes_loop"].as_bool().unwrap(),
        inner: index(&j["inner"]),
        outer: index(&j["outer"]),
        inner_from_outer: pose(&j["inner_from_outer"]),
        reversed: j["reversed"].as_bool().unwrap(),
        parent_from_joint: pose(&j["parent_from_joint"]),
        child_from_joint: pose(&j["child_from_joint"]),
        path: path(&j["path"]),
        map: matrix(&j["map"], n),
        servo_map: matrix(&j["servo_map"], s),
        static_load: Wrench::from_array(six(&j["static_load"])),
        load_map: matrix(&j["load_map"], if list(&j["load_map"]).is_empty() { 0 } else { n }),
    };
    ModelData {
        radius: number(&v["radius"]),
        range: number(&v["range"]),
        effectors: list(&v["effectors"])
            .iter()
            .map(|e| EffectorRest {
                name: text(&e["name"]),
                link: index(&e["link"]),
                link_from_effector: pose(&e["link_from_effector"]),
                rest: pose(&e["rest"]),
                static_wrench: Wrench::from_array(six(&e["static_wrench"])),
            })
            .collect(),
        basis: matrix(&v["basis"], n),
        hessian: matrix(&v["hessian"], n),
        mass: matrix(&v["mass"], n),
        damping: matrix(&v["damping"], n),
        servo_rest: matrix(&v["servo_rest"], s),
        links: list(&v["links"])
            .iter()
            .map(|l| LinkRest {
                name: text(&l["name"]),
                auxiliary: l["auxiliary"].as_bool().unwrap(),
                rest: pose(&l["rest"]),
                map: matrix(&l["map"], n),
                servo_map: matrix(&l["servo_map"], s),
            })
            .collect(),
        joints: list(&v["joints"]).iter().map(joint).collect(),
        base: Some(&v["base"]).filter(|b| !b.is_null()).map(|b| BaseRest {
            link: index(&b["link"]),
            inertia: matrix(&b["inertia"], 6),
            coupling: matrix(&b["coupling"], n),
            inertia_slopes: list(&b["inertia_slopes"]).iter().map(|m| matrix(m, 6)).collect(),
            coupling_slopes: list(&b["coupling_slopes"]).iter().map(|m| matrix(m, n)).collect(),
            own_inertia: matrix(&b["own_inertia"], 6),
            gravity: vector(&b["gravity"]),
        }),
        servos,
    }
}

#[test]
fn json_holds_every_number_in_every_bit() {
    let models = real_models().into_iter().chain([("small", small())]);
    for (name, model) in models {
        let value: Value = serde_json::from_str(&model.to_json()).unwrap();
        assert_same(model.data(), &from_json(&value), name);
    }
}
