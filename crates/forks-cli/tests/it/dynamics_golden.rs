//! `forks dynamics` as a user calls it, against golden values (`fixtures/golden`).

use std::{fs, path::PathBuf, process::Command};

use serde_json::{Value, json};

use crate::support::{norm, numbers, repository};

/// |a − b| / |b|, or |a| where b is zero.
fn deviation(a: &Value, b: &Value) -> f64 {
    let (a, b) = (numbers(a), numbers(b));
    assert_eq!(a.len(), b.len());
    let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let size = norm(&b);
    norm(&difference) / if size > 0.0 { size } else { 1.0 }
}

fn forks_dynamics(golden: &Value, name: &str) -> Value {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&directory).unwrap();
    let state = directory.join(format!("{name}.state.json"));
    let text = json!({"qpos": golden["qpos"], "qvel": golden["qvel"]}).to_string();
    fs::write(&state, text).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_forks"))
        .arg("dynamics")
        .arg(repository("fixtures").join("models").join(golden["model"].as_str().unwrap()))
        .args(["--json", "--state"])
        .arg(&state)
        .output()
        .unwrap();
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn dynamics_agree_with_all_golden_values() {
    let mut files: Vec<PathBuf> = fs::read_dir(repository("fixtures").join("golden"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|p| p.to_string_lossy().ends_with(".dynamics.json"))
        .filter(|p| {
            let golden: Value = serde_json::from_str(&fs::read_to_string(p).unwrap()).unwrap();
            golden["tool"].as_str().unwrap().starts_with("MuJoCo")
        })
        .collect();
    files.sort();
    assert_eq!(files.len(), 9);
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let golden: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let answer = forks_dynamics(&golden, &name);
        for (key, bound) in [("mass_matrix", 1e-12), ("bias", 1e-12), ("acceleration", 1e-8)] {
            let error = deviation(&answer[key], &golden[key]);
            assert!(error < bound, "{name}: {key} off by {error:e}");
        }
        // Loops of rank 10 of 12 (Cassie) and 5 of 7 (2F-85).
        let rank = answer["constraint_rank"].as_u64().unwrap();
        match name.as_str() {
            "cassie.dynamics.json" => assert_eq!(rank, 10),
            "robotiq_2f85.dynamics.json" => assert_eq!(rank, 5),
            _ => {}
        }
    }
}
