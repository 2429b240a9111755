//! URDF as robots have it, through the program.

use crate::support;

use support::{forks, json, numbers, path_in, refuses, text};

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/models/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn about(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() < 1e-12 * y.abs().max(1.0), "{found:?} {expected:?}");
    }
}

#[test]
fn tensors_of_real_files() {
    for (name, mass) in [
        ("point_mass_noise.urdf", 0.013),
        ("fixed_base_template.urdf", 0.02),
        ("minus_1e-20.urdf", 0.03),
    ] {
        let v = json(&["dynamics", &fixture(&format!("inertia_noise/{name}"))]);
        about(&numbers(&v["mass_matrix"][0]), &[mass]);
    }
    let impossible = fixture("inertia_noise/all_equal.urdf");
    refuses(&["dynamics", &impossible], &["link 'arm'", "0, 0, 0.03", "--balance-inertia"]);
    let v = json(&["dynamics", &impossible, "--balance-inertia"]);
    about(&numbers(&v["mass_matrix"][0]), &[0.03]);
}

#[test]
fn a_gripper_that_was_fixed() {
    let model = fixture("mimic_on_fixed/locked_gripper.urdf");
    let v = json(&["inspect", &model]);
    assert_eq!((&v["dof"], &v["mobility"]), (&1.into(), &1.into()));
    about(&[v["moving_mass"].as_f64().unwrap()], &[1.1]);
    assert_eq!(v["notes"][0]["attribute"], "mimic");
    let v = json(&["dynamics", &model]);
    about(&numbers(&v["mass_matrix"][0]), &[0.02486]);
}

#[test]
fn a_massless_follower() {
    let model = fixture("massless_follower/follower.urdf");
    let v = json(&["dynamics", &model]);
    about(&numbers(&v["acceleration"]), &[49.05, 98.1]);
    assert_eq!(v["velocity_joints"], serde_json::json!(["m", "s"]));
    assert_eq!(json(&["inspect", &model])["notes"], serde_json::json!([]));
    for integrator in ["implicit", "rk4", "semi-implicit-euler", "adaptive"] {
        let run = ["simulate", &model, "--time", "0.01", "--step", "0.001"];
        let v = json(&[&run[..], &["--integrator", integrator]].concat());
        let q = numbers(&v["qpos"]);
        assert!(q[0] > 1e-3 && (q[1] - 2.0 * q[0]).abs() < 1e-12, "{integrator}: {q:?}");
    }
    let reduced = json(&["reduce", &model, "--effector", "b", "--default-stiffness", "10"]);
    // 10 + 2² · 10 N·m/rad on 0.02 kg·m².
    about(&numbers(&reduced["frequencies_rad_s"]["full"]), &[50.0]);
    let free = std::fs::read_to_string(&model).unwrap();
    let path = path_in("urdf", "free.urdf");
    std::fs::write(&path, free.replace("<mimic joint=\"m\" multiplier=\"2\"/>", "")).unwrap();
    refuses(&["dynamics", text(&path)], &["no mass resists joint s"]);
}

#[test]
fn springs_wrong_roots_and_notes() {
    let springs = fixture("urdf_springs/springs.urdf");
    let v = json(&["inspect", &springs]);
    let notes = v["notes"].as_array().unwrap();
    let note = notes.iter().find(|n| n["attribute"] == "spring").unwrap();
    let reason = note["reason"].as_str().unwrap();
    assert!(
        reason.contains("a spring of joint 'j' (40) is left out; --stiffness j=40"),
        "{reason}"
    );
    assert_eq!(note["count"], 1);
    let v = json(&["inspect", &springs, "--stiffness", "j=40"]);
    assert_eq!(v["springs"][0]["stiffness"], serde_json::json!([[40.0]]));
    refuses(&["inspect", &springs, "--stiffness", "k=1"], &["--stiffness", "\"k\" names no joint"]);
    refuses(&["inspect", &fixture("wrong_root/model.sdf")], &["'sdf'", "SDF", "MJCF", "URDF"]);
}

#[test]
fn many_notes_are_one_and_files_are_named() {
    let v = json(&["inspect", &fixture("shadow_hand_right/right_hand.xml")]);
    let notes = v["notes"].as_array().unwrap();
    let meshes = notes.iter().find(|n| n["element"] == "mesh").unwrap();
    assert_eq!((&meshes["count"], meshes["names"].as_array().unwrap().len()), (&15.into(), 3));
    // Two files: the table has both.
    let main = path_in("urdf", "main.xml");
    let part = path_in("urdf", "part.xml");
    let body = |name: &str| {
        format!(
            "<worldbody><body name=\"{name}\"><joint name=\"j{name}\" springyield=\"1\" range=\"1 \
            2\"/><geom size=\"1\"/></body></worldbody>"
        )
    };
    std::fs::write(
        &main,
        format!(
            "<mujoco><compiler angle=\"radian\"/><include file=\"part.xml\"/>{}<contact/></mujoco>",
            body("a")
        ),
    )
    .unwrap();
    std::fs::write(&part, format!("<mujocoinclude>\n{}</mujocoinclude>", body("b"))).unwrap();
    let out = forks(&["inspect", text(&main)]);
    let shown = String::from_utf8(out.stdout).unwrap();
    assert!(shown.contains("part.xml:2"), "{shown}");
    assert!(shown.contains("2 joint: 'jb', 'ja'"), "{shown}");
}

#[test]
fn the_order_of_coordinates_is_named_and_chosen() {
    let hand = |extra: &[&str]| {
        let model = fixture("kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf");
        json(&[&["dynamics", &model], extra].concat())
    };
    assert_eq!(hand(&[])["coordinate_order"], "name");
    let v = hand(&["--order", "mujoco"]);
    assert_eq!(v["coordinate_order"], "mujoco");
    let mut sorted = [hand(&[]), v].map(|v| {
        let joints = v["velocity_joints"].as_array().unwrap();
        joints.iter().map(|j| j.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    });
    assert_ne!(sorted[0], sorted[1]);
    sorted.iter_mut().for_each(|s| s.sort());
    assert_eq!(sorted[0], sorted[1]);
    let mjcf = fixture("half_cheetah/half_cheetah.xml");
    assert_eq!(json(&["inspect", &mjcf])["coordinate_order"], "mujoco");
}

/// Loops show their gaps, and so do couplings.
#[test]
fn inspect_shows_the_gaps_of_couplings() {
    let path = path_in("urdf", "open.urdf");
    let model = std::fs::read_to_string(fixture("massless_follower/follower.urdf")).unwrap();
    std::fs::write(&path, model.replace("multiplier=\"2\"", "multiplier=\"2\" offset=\"0.25\""))
        .unwrap();
    let v = json(&["inspect", text(&path)]);
    assert_eq!(numbers(&v["coupling_gaps"]), [0.25]);
    let shown = String::from_utf8(forks(&["inspect", text(&path)]).stdout).unwrap();
    assert!(shown.contains("2.5e-1"), "{shown}");
}
