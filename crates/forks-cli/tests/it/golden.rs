//! `forks reduce` and `forks statics` as a user calls them, against golden values
//! (`fixtures/golden`).

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::support::{norm, numbers, repository};

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn goldens(kind: &str) -> Vec<(String, Value)> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(repository("fixtures").join("golden"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|p| p.to_string_lossy().ends_with(&format!(".{kind}.json")))
        .collect();
    found.sort();
    found.iter().map(|p| (p.file_name().unwrap().to_string_lossy().into(), read(p))).collect()
}

/// Runs the program on the golden file's model.
fn forks(command: &str, golden: &Value, arguments: &[String]) -> Value {
    let model = repository("fixtures").join("models").join(golden["model"].as_str().unwrap());
    let mut c = Command::new(env!("CARGO_BIN_EXE_forks"));
    c.arg(command).arg(model).arg("--json").args(arguments);
    if let Some(k) = golden["default_stiffness"].as_f64() {
        c.arg("--default-stiffness").arg(k.to_string());
    }
    let out = c.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

fn link<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let links = answer["links"].as_array().unwrap();
    links.iter().find(|l| l["name"] == name).unwrap_or_else(|| panic!("no link {name}"))
}

#[test]
fn reductions_agree_with_all_golden_values() {
    let files = goldens("reduce");
    assert_eq!(files.len(), 7);
    for (file, golden) in files {
        let effectors: Vec<String> = golden["effectors"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|e| ["--effector".to_owned(), e.as_str().unwrap().to_owned()])
            .collect();
        let answer = forks("reduce", &golden, &effectors);
        assert_eq!(answer["rank"], golden["rank"], "{file}");
        let expected = numbers(&golden["compliance"]);
        let error = distance(&numbers(&answer["compliance"]), &expected) / norm(&expected);
        assert!(error < 1e-8, "{file}: compliance off by {error:e}");
        let inverse_mass = numbers(&golden["inverse_mass"]);
        let error =
            distance(&numbers(&answer["inverse_mass"]), &inverse_mass) / norm(&inverse_mass);
        assert!(error < 1e-8, "{file}: inverse mass off by {error:e}");
        let full = numbers(&golden["frequencies_full_rad_s"]);
        let ours = numbers(&answer["frequencies_rad_s"]["full"]);
        assert!(distance(&ours, &full) < 1e-8 * norm(&full), "{file}: frequencies {ours:?}");
        let maps = golden["links"].as_object().unwrap();
        let largest =
            maps.values().map(|l| norm(&numbers(&l["cross_compliance"]))).fold(0.0, f64::max);
        for (name, l) in maps {
            let ours = numbers(&link(&answer, name)["twist_map"]);
            let error = distance(&ours, &numbers(&l["cross_compliance"])) / largest;
            assert!(error < 1e-8, "{file}: {name} off by {error:e}");
        }
    }
}

#[test]
fn equilibria_agree_with_all_golden_values() {
    let files = goldens("statics");
    assert_eq!(files.len(), 6);
    for (file, golden) in files {
        let wrench: Vec<String> =
            numbers(&golden["wrench"]).iter().map(ToString::to_string).collect();
        let mut arguments = vec![
            "--effector".to_owned(),
            golden["effector"].as_str().unwrap().to_owned(),
            "--wrench".to_owned(),
            wrench.join(","),
        ];
        if golden["gravity"] == false {
            arguments.push("--no-gravity".to_owned());
        }
        let answer = forks("statics", &golden, &arguments);
        // The humanoid's golden pose is a saddle: ten plain load steps leave the stable branch.
        let saddle = file == "humanoid_cmu_gravity.statics.json";
        assert_eq!(answer["status"], if saddle { "unstable" } else { "converged" }, "{file}");
        for (name, l) in golden["links"].as_object().unwrap() {
            let ours = numbers(&link(&answer, name)["position"]);
            let error = distance(&ours, &numbers(&l["position"]));
            assert!(error < 1e-6, "{file}: {name} off by {error:e} m");
        }
        let error = distance(&numbers(&answer["qpos"]), &numbers(&golden["qpos"]));
        assert!(error < 1e-6, "{file}: qpos off by {error:e}");
    }
}
