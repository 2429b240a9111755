//! Model files as their authors publish them, without the mesh, height-field and image files that
//! they refer to: they mean the same as the copies from which those references were taken out, and
//! say in a note what is missing. Together with `mujoco_models.rs` these are all MJCF models of the
//! collection; what is refused is refused here, for the reason that stands in the test.

use crate::support;

use forks_import::mechanism::Mechanism;
use forks_import::{Import, ImportOptions, load_mjcf, write::write_mjcf};
use support::{load, models, noted};

fn original(name: &str) -> Import {
    load_mjcf(&models().join(name), &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn refusal(name: &str) -> String {
    load_mjcf(&models().join(name), &ImportOptions::default()).unwrap_err().to_string()
}

/// The mechanism as text: the same text is the same mechanism, bit by bit.
fn text(m: &Mechanism) -> String {
    write_mjcf(m).unwrap_or_else(|e| panic!("{e}")).0
}

#[test]
fn originals_are_the_same_mechanisms_as_their_copies() {
    for (name, copy, missing) in [
        ("agility_cassie/cassie.xml", "agility_cassie/cassie.nomesh.xml", 25),
        ("shadow_hand_right/right_hand.xml", "shadow_hand_right/right_hand.nomesh.xml", 15),
        ("fetch_reach_includes/reach.xml", "fetch_reach_includes/nomesh/reach.xml", 18),
    ] {
        let i = original(name);
        assert_eq!(text(&i.mechanism), text(&load(copy).mechanism), "{name}");
        let files =
            |n: &&forks_import::Note| n.element.starts_with("mesh") && n.attribute == "file";
        assert_eq!(i.notes.iter().filter(files).count(), missing, "{name}: {:?}", i.notes);
    }
}

/// The myolegs are parts without a model around them.
#[test]
fn parts_are_read_where_they_are_included() {
    let directory = std::env::temp_dir().join(format!("forks-parts-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for part in ["assets", "chain", "tendon", "muscle"] {
        let name = format!("myolegs26_{part}.xml");
        let e = refusal(&format!("myolegs26/{name}"));
        assert!(e.contains("mujocoinclude") && e.contains("outermost"), "{e}");
        std::fs::copy(models().join("myolegs26").join(&name), directory.join(&name)).unwrap();
    }
    let wrapper = "myolegs26/nomesh/myolegs26_wrapper.xml";
    std::fs::copy(models().join(wrapper), directory.join("wrapper.xml")).unwrap();
    let i = load_mjcf(&directory.join("wrapper.xml"), &ImportOptions::default());
    std::fs::remove_dir_all(&directory).unwrap();
    let i = i.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(text(&i.mechanism), text(&load(wrapper).mechanism));
    assert!(i.notes.iter().any(|n| n.element.starts_with("mesh") && n.attribute == "file"));
}

/// Two pads of the gripper have nothing but meshes: their mass cannot be known without the files.
#[test]
fn moving_bodies_of_missing_meshes_are_refused() {
    let e = refusal("robotiq_2f85/2f85.xml");
    for part in ["2f85.xml:102", "silicone_pad", "silicone_pad.stl", "inertial"] {
        assert!(e.contains(part), "'{part}' is not in: {e}");
    }
}

/// `composite` went with MuJoCo 4.0.0, and what it expands to takes its elasticity from a plugin.
#[test]
fn b44_composites_and_plugins_are_refused() {
    let e = refusal("mujoco_cable/cable.xml");
    assert!(e.contains("cable.xml:33") && e.contains("composite is not supported"), "{e}");
    let e = refusal("mujoco_cable/cable.expanded.xml");
    assert!(e.contains("cable.expanded.xml:41") && e.contains("plugin is not supported"), "{e}");
    // Without the plugin's forces it is the cable of the model whose balls have springs.
    let lenient = ImportOptions { lenient: true, ..Default::default() };
    let i = load_mjcf(&models().join("mujoco_cable/cable.expanded.xml"), &lenient).unwrap();
    assert!(noted(&i, "plugin", "").reason.contains("plugins"));
    let springs = load("mujoco_cable/cable_ballsprings.xml").mechanism;
    assert_eq!(i.mechanism.links(), springs.links());
    assert_eq!(i.mechanism.joints().len(), springs.joints().len());
    assert!(i.mechanism.joints().iter().all(|j| j.spring.is_none()));
    // A scene without bodies is a model without joints.
    assert_eq!(original("mujoco_cable/scene.xml").mechanism.tree_position_count(), 0);
}
