//! Scenes with tissue, as a user calls them.

use std::fs;

use crate::support::{forks, json, numbers, path_in, refuses, repository, text};

fn scene(name: &str) -> String {
    text(&repository(&format!("fixtures/tissue/{name}.toml"))).to_owned()
}

#[test]
fn what_tissue_is_worth() {
    let mesh = path_in("tissue", "worm.msh");
    let found = json(&["tissue", &scene("worm-wave"), "-o", text(&mesh)]);
    assert_eq!(found["nodes"], 224);
    assert_eq!(found["elements"], 702);
    assert_eq!(found["bones"].as_array().unwrap().len(), 7);
    // 0.6 m × 0.1 m × 0.1 m of 1,000 kg/m³.
    assert!((found["mass"].as_f64().unwrap() - 6.0).abs() < 1e-12);
    assert!(found["locking"].as_f64().unwrap() > 1.0, "{found}");
    assert!(numbers(&found["frequencies"]).windows(2).all(|f| f[0] <= f[1] && f[0] > 0.0));
    assert!(fs::read_to_string(&mesh).unwrap().starts_with("$MeshFormat"));
    let out = forks(&["tissue", &scene("gripper")]);
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("104, ") && said.contains("left/bone0"), "{said}");
}

#[test]
fn a_scene_runs_and_is_recorded() {
    let [page, model, table] = ["a.html", "a.glb", "a.csv"].map(|n| path_in("tissue", n));
    let files = ["-o", text(&page), "-o", text(&model), "-o", text(&table)];
    let wave = scene("worm-wave");
    let run = [&["simulate", &wave[..], "--time", "0.1"][..], &files].concat();
    let found = json(&run);
    assert_eq!(found["status"], "completed");
    assert_eq!(found["steps"], 12);
    assert_eq!(found["samples"], 7);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(r#""skins":[{"body":7,"#), "the page has a skin");
    assert!(fs::read(model).unwrap().starts_with(b"glTF"));
    assert_eq!(fs::read_to_string(table).unwrap().lines().count(), 8);
}

#[test]
fn what_scenes_of_tissue_do_not_know_is_refused() {
    refuses(&["simulate", &scene("worm-wave"), "--full"], &["worm-wave", "--full"]);
    let broken = path_in("tissue", "broken.toml");
    fs::write(&broken, "title = 'x'\n[[tissue]]\nmesh = 3\n").unwrap();
    refuses(&["simulate", text(&broken)], &["broken.toml", "line 3"]);
    refuses(&["tissue", text(&path_in("tissue", "missing.toml"))], &["missing.toml"]);
}
