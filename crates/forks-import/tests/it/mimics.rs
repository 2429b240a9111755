//! Mimics of joints without a coordinate of their own: gripper files fix joints and leave `<mimic>`
//! in.

use std::path::PathBuf;

use forks_dynamics::mass_matrix;
use forks_import::{Effect, ImportOptions, load_model, parse_urdf};
use forks_mechanism::{
    Mechanism,
    kinematics::{RANK_TOLERANCE, loops},
};

fn mobility(m: &Mechanism) -> usize {
    let q = m.start_positions();
    forks_mechanism::kinematics::mobility(m, &q, &m.link_poses(&q), RANK_TOLERANCE).mobility
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models").join(name)
}

#[test]
fn a_fixed_joint_follows_nothing() {
    let path = fixture("mimic_on_fixed/locked_gripper.urdf");
    let i = load_model(&path, &ImportOptions::default()).unwrap();
    let m = &i.mechanism;
    assert_eq!((m.tree_velocity_count(), m.couplings().len()), (1, 0));
    assert!((m.moving_mass() - 1.1).abs() < 1e-15);
    let mass = mass_matrix(m, &m.start_positions())[(0, 0)];
    assert!((mass - 0.02486).abs() < 1e-16, "{mass}");
    let [note] = &i.notes[..] else { panic!("{:?}", i.notes) };
    assert_eq!((note.element.as_str(), note.attribute.as_str()), ("joint 'grip2'", "mimic"));
    assert_eq!((note.effect, note.line), (Effect::Ignored, Some(7)));
}

/// Three links in a row; `first` and `second` are the types, `mimics` their `<mimic>` elements.
fn chain(types: [&str; 2], mimics: [&str; 2]) -> String {
    let inertial =
        "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>";
    let mut text = String::from("<robot name=\"r\"><link name=\"l0\"/>");
    for i in 0..2 {
        text += &format!(
            "<link name=\"l{}\">{inertial}</link><joint name=\"j{i}\" type=\"{}\"><parent \
            link=\"l{i}\"/><child link=\"l{}\"/><limit lower=\"-1\" upper=\"1\"/><dynamics \
            damping=\"0.5\"/>{}</joint>",
            i + 1,
            types[i],
            i + 1,
            mimics[i]
        );
    }
    text + "</robot>"
}

#[test]
fn followers_of_a_fixed_joint_are_held_at_their_offset() {
    let offset = "<mimic joint=\"j0\" multiplier=\"3\" offset=\"0.25\"/>";
    let i = parse_urdf(&chain(["fixed", "revolute"], ["", offset]), &ImportOptions::default());
    let i = i.unwrap();
    let m = &i.mechanism;
    assert_eq!((m.tree_velocity_count(), mobility(m)), (1, 0));
    let gap = |q: f64| loops::constraint_residual(m, &[q], &m.link_poses(&[q]))[0];
    assert_eq!((gap(0.25), gap(0.5).abs()), (0.0, 0.25));
    let [note] = &i.notes[..] else { panic!("{:?}", i.notes) };
    assert!(note.reason.contains("'j0', which is fixed; held at its offset 0.25"), "{note}");
    // So is one whose multiplier is 0, whatever the other joint does: nothing to note.
    let still = offset.replace("\"3\"", "\"0\"");
    let i = parse_urdf(&chain(["revolute", "revolute"], ["", &still]), &ImportOptions::default());
    let i = i.unwrap();
    assert_eq!(mobility(&i.mechanism), 1);
    assert!(i.notes.is_empty(), "{:?}", i.notes);
}

/// A fixed joint breaks the chain: no circle goes through it.
#[test]
fn circles_end_at_fixed_joints() {
    let text = chain(["fixed", "revolute"], ["<mimic joint=\"j1\"/>", "<mimic joint=\"j0\"/>"]);
    let i = parse_urdf(&text, &ImportOptions::default()).unwrap();
    assert_eq!((i.mechanism.couplings().len(), i.notes.len()), (1, 2));
    // What a fixed joint would follow need not exist.
    let text = chain(["fixed", "revolute"], ["<mimic joint=\"gone\"/>", ""]);
    assert_eq!(parse_urdf(&text, &ImportOptions::default()).unwrap().notes.len(), 1);
    let text = chain(["revolute", "revolute"], ["<mimic joint=\"j1\"/>", "<mimic joint=\"j0\"/>"]);
    let e = parse_urdf(&text, &ImportOptions::default()).unwrap_err().to_string();
    assert!(e.contains("mimics itself"), "{e}");
}

/// Joints of several coordinates neither follow nor lead; a lenient reader leaves the mimic out
/// with a note.
#[test]
fn joints_of_several_coordinates_need_leniency() {
    let lenient = ImportOptions { lenient: true, ..Default::default() };
    for (types, mimics) in [
        (["revolute", "planar"], ["", "<mimic joint=\"j0\"/>"]),
        (["revolute", "floating"], ["", "<mimic joint=\"j0\"/>"]),
        (["floating", "revolute"], ["", "<mimic joint=\"j0\"/>"]),
        (["planar", "revolute"], ["", "<mimic joint=\"j0\"/>"]),
    ] {
        let text = chain(types, mimics);
        let e = parse_urdf(&text, &ImportOptions::default()).unwrap_err().to_string();
        assert!(e.contains("joint 'j1'"), "{e}");
        let i = parse_urdf(&text, &lenient).unwrap();
        assert_eq!((i.mechanism.couplings().len(), i.notes.len()), (0, 1), "{:?}", i.notes);
        assert_eq!(i.notes[0].attribute, "mimic");
    }
}
