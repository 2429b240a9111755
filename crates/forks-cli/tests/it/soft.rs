//! Tissue from file to page: reduced, blended, moved, drawn.

use std::fs;

use crate::support::{forks, json, numbers, path_in, refuses, repository, text};

fn finger() -> String {
    text(&repository("fixtures/soft/finger.toml")).to_owned()
}

#[test]
fn a_finger_is_reduced_to_its_pad_and_moves_on_a_page() {
    let [model, page, glb, table, json_file] =
        ["finger.forks", "finger.html", "finger.glb", "finger.csv", "finger.json"]
            .map(|n| path_in("soft", n));
    let reduced = json(&["reduce", &finger(), "--effector", "pad", "-o", text(&model)]);
    assert_eq!(reduced["rank"], 6);
    assert_eq!(reduced["effectors"][0], "pad");
    let frequencies = numbers(&reduced["frequencies_rad_s"]["reduced"]);
    assert!(frequencies.len() == 6 && frequencies[0] > 1.0, "{frequencies:?}");
    // Numbers for other programs.
    let as_json = forks(&["reduce", &finger(), "--effector", "pad", "-o", text(&json_file)]);
    assert!(as_json.status.success());
    assert!(fs::read_to_string(&json_file).unwrap().contains("\"hessian\""));
    let push = "0,0,0.05,0,0,0";
    let run = ["simulate", "--reduced", text(&model), "--wrench", push, "--time", "0.5"];
    let files = ["-o", text(&page), "-o", text(&glb), "-o", text(&table)];
    let found = json(&[&run[..], &["--step", "0.001", "--every", "20"], &files].concat());
    assert_eq!(found["status"], "completed");
    // Up, by less than twice what a static load does.
    let z = numbers(&found["effectors"][0]["position"])[2];
    let per_newton = numbers(&reduced["compliance"])[2 * 6 + 2];
    assert!(z + 0.008 > 0.0 && z + 0.008 < 2.5 * 0.05 * per_newton, "{z} {per_newton}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(r#""skins":[{"body":"#), "the page has a skin");
    assert!(fs::read(glb).unwrap().starts_with(b"glTF"));
    assert_eq!(fs::read_to_string(table).unwrap().lines().count(), 27);
    // What knows no skins takes the model alone.
    let out = forks(&["control", text(&model), "--task", "link pad position 0,0,0.01"]);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!message.contains("not a reduced model"), "{message}");
}

#[test]
fn pages_of_other_reduced_models_have_links() {
    let model = path_in("soft", "arm.forks");
    let page = path_in("soft", "arm.html");
    let arm = repository("fixtures/models/sprung_plate");
    let file = fs::read_dir(arm).unwrap().map(|f| f.unwrap().path());
    let file = file.into_iter().find(|p| p.extension().is_some_and(|e| e == "xml")).unwrap();
    let inspected = json(&["inspect", text(&file)]);
    let link = inspected["links"].as_array().unwrap().last().unwrap()["name"].as_str().unwrap();
    json(&["reduce", text(&file), "--effector", link, "-o", text(&model)]);
    let run = ["simulate", "--reduced", text(&model), "--time", "0.1", "--step", "0.01"];
    json(&[&run[..], &["-o", text(&page)]].concat());
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains(link));
}

#[test]
fn a_finger_is_blended_over_its_equilibria() {
    let [model, page] = ["blend.forks", "blend.html"].map(|n| path_in("soft", n));
    let cone = ["--cone", "0,0,1", "--angle", "0", "--until", "0.2"];
    let to = ["--samples", "2", "--static-tolerance", "0.001", "-o", text(&model)];
    let found = json(&[&["blend", &finger(), "--effector", "pad"][..], &cone, &to].concat());
    assert_eq!(numbers(&found["samples"]).len(), 6);
    let worst = found["worst_error"].as_f64().unwrap();
    assert!(worst > 0.0 && worst < 0.02, "{worst}");
    let run = ["simulate", "--reduced", text(&model), "--wrench", "0,0,0.1,0,0,0"];
    let pace = ["--time", "0.2", "--step", "0.001", "--every", "20", "-o", text(&page)];
    assert_eq!(json(&[&run[..], &pace].concat())["status"], "completed");
    assert!(fs::read_to_string(page).unwrap().contains(r#""skins":[{"body":"#));
}

#[test]
fn scenes_of_pads_run_and_are_recorded() {
    let scene = repository("fixtures/soft/gripper.toml");
    let page = path_in("soft", "grip.html");
    let run = ["simulate", text(&scene), "--pads", "--full", "--time", "0.05"];
    let found = json(&[&run[..], &["-o", text(&page)]].concat());
    assert_eq!(found["status"], "completed");
    assert_eq!(found["coordinates"], 12);
    assert_eq!(found["whole"]["nodes"], 104);
    assert!(numbers(&found["whole"]["apart"])[0] < 1e-4);
    assert!(fs::read_to_string(page).unwrap().contains("reduced: left/bone0"));
    let finger = finger();
    refuses(&["simulate", &repository_scene("worm-wave"), "--pads"], &["worm-wave", "[[pad]]"]);
    refuses(&["simulate", &finger, "--pads", "--mjcf", "x.xml"], &["finger.toml", "--mjcf"]);
}

fn repository_scene(name: &str) -> String {
    text(&repository(&format!("fixtures/tissue/{name}.toml"))).to_owned()
}

#[test]
fn what_is_wrong_is_named() {
    let file = finger();
    refuses(&["reduce", &file, "--effector", "pat"], &["finger.toml", "'pat'", "pads: pad"]);
    let missing = path_in("soft", "missing.toml");
    refuses(&["reduce", text(&missing), "--effector", "pad"], &["missing.toml"]);
    let broken = path_in("soft", "broken.toml");
    let source = fs::read_to_string(&file).unwrap().replace("young = 1e5", "young = -1e5");
    fs::write(&broken, source.replace("finger.xml", text(&repository("fixtures/soft/finger.xml"))))
        .unwrap();
    refuses(&["reduce", text(&broken), "--effector", "pad"], &["broken.toml", "tissue 1", "-1"]);
    let out = forks(&["reduce", &file, "--effector", "pad", "--floating"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8(out.stderr).unwrap().contains("--floating"));
    let none = forks(&["reduce", &file]);
    assert_eq!(none.status.code(), Some(2));
    // A damaged file of a model with a skin.
    let model = path_in("soft", "damaged.forks");
    assert!(forks(&["reduce", &file, "--effector", "pad", "-o", text(&model)]).status.success());
    let mut bytes = fs::read(&model).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&model, bytes).unwrap();
    let run = ["simulate", "--reduced", text(&model), "--time", "1", "--step", "0.1"];
    refuses(&run, &["damaged.forks", "checksum"]);
}
