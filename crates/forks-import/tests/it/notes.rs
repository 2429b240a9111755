//! What messages say: one note per kind, springs that URDF does not have, files of other formats,
//! the order of coordinates.

use std::path::PathBuf;

use forks_import::{
    CoordinateOrder, Effect, ImportOptions, Note, UrdfOrder, group_notes, load_mjcf, load_model,
    load_urdf, parse_mjcf, parse_urdf,
};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models").join(name)
}

const UNIT: &str =
    "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>";

/// A star of hinges on a base, each with the same `inside`.
fn star(count: usize, inside: impl Fn(usize) -> String) -> String {
    let mut text = String::from("<robot name=\"r\">\n<link name=\"base\"/>\n");
    for i in 0..count {
        text += &format!(
            "<link name=\"l{i}\">{UNIT}</link><joint name=\"j{i}\" type=\"revolute\"><parent \
            link=\"base\"/><child link=\"l{i}\"/>{}</joint>\n",
            inside(i)
        );
    }
    text + "</robot>"
}

#[test]
fn a_note_per_kind_with_a_count_and_three_names() {
    // Starts outside its range, with other numbers for each joint.
    let text = star(40, |i| format!("<limit lower=\"0.{}\" upper=\"2\"/>", i + 10));
    let i = parse_urdf(&text, &ImportOptions::default()).unwrap();
    assert_eq!(i.notes.len(), 40);
    let [note] = &group_notes(&i.notes)[..] else { panic!("{:?}", i.notes) };
    assert_eq!((note.count, note.line), (40, Some(3)));
    assert_eq!(note.names, ["j0", "j1", "j10"]);
    assert_eq!((note.element.as_str(), note.attribute.as_str()), ("joint 'j0'", "limit"));
    // Elements that are noted at their first place count the others.
    let text = star(7, |_| "<limit lower=\"-1\" upper=\"2\"/><safety_controller/>".into());
    let i = parse_urdf(&text, &ImportOptions::default()).unwrap();
    let [note] = &group_notes(&i.notes)[..] else { panic!("{:?}", i.notes) };
    assert_eq!((note.element.as_str(), note.count), ("safety_controller", 7));
    // Eighteen notes for one hand, sixteen of them about missing files.
    let hand = load_mjcf(&fixture("shadow_hand_right/right_hand.xml"), &ImportOptions::default());
    let groups = group_notes(&hand.unwrap().notes);
    assert!(groups.len() < 6, "{groups:?}");
    let meshes = groups.iter().find(|g| g.element == "mesh").unwrap();
    assert_eq!(meshes.names, ["forearm_0.obj", "forearm_1.obj", "forearm_collision.obj"]);
}

#[test]
fn springs_that_urdf_does_not_have() {
    let i = load_model(&fixture("urdf_springs/springs.urdf"), &ImportOptions::default()).unwrap();
    let note = i.notes.iter().find(|n| n.attribute == "spring").unwrap();
    assert!(
        note.reason.starts_with("a spring of joint 'j' (40) is left out; --stiffness j=40"),
        "{note}"
    );
    assert!(note.reason.contains("rests at 0.2"), "{note}");
    assert_eq!(note.element, "joint 'j'");
    let attributes: Vec<&str> = i.notes.iter().map(|n| n.attribute.as_str()).collect();
    assert!(!attributes.contains(&"spring_stiffness"), "{attributes:?}");
    // Only in gazebo, of several joints, some of them without.
    let text = star(5, |_| "<limit lower=\"-1\" upper=\"1\"/>".into()).replace(
        "</robot>",
        "<gazebo reference=\"j1\"><springStiffness> 2.50 </springStiffness></gazebo>
         <gazebo reference=\"j2\"><springStiffness>0</springStiffness></gazebo>
         <gazebo reference=\"j4\"><springStiffness>1e-3</springStiffness></gazebo></robot>",
    );
    let i = parse_urdf(&text, &ImportOptions::default()).unwrap();
    let note = i.notes.iter().find(|n| n.attribute == "spring").unwrap();
    assert_eq!((note.count, &note.names[..]), (2, &["j1".to_owned(), "j4".to_owned()][..]));
    assert!(note.reason.ends_with("--stiffness j1=2.5 --stiffness j4=0.001"), "{note}");
    // None: nothing to say.
    let plain = star(2, |_| "<limit lower=\"-1\" upper=\"1\"/><dynamics stiffness=\"0\"/>".into());
    assert!(parse_urdf(&plain, &ImportOptions::default()).unwrap().notes.is_empty());
}

/// "element 'sdf' is not known inside 'an MJCF file, whose outermost element must be 'mujoco''", it
/// was.
#[test]
fn files_of_other_formats_are_named() {
    let options = ImportOptions::default();
    let e = load_model(&fixture("wrong_root/model.sdf"), &options).unwrap_err().to_string();
    for word in ["model.sdf:2", "'sdf'", "an SDF file", "MJCF", "URDF"] {
        assert!(e.contains(word), "{e}");
    }
    assert!(!e.contains("''"), "{e}");
    let e = load_urdf(&fixture("wrong_root/model.sdf"), &options).unwrap_err().to_string();
    assert!(e.contains("SDF") && e.contains("must be 'robot'"), "{e}");
    let e = parse_mjcf("<robot name=\"r\"/>", &options).unwrap_err().to_string();
    assert!(e.contains("a URDF file") && e.contains("must be 'mujoco'"), "{e}");
    let e = parse_urdf("<mujoco/>", &options).unwrap_err().to_string();
    assert!(e.contains("an MJCF file"), "{e}");
    let e = parse_urdf("<what/>", &options).unwrap_err().to_string();
    assert!(e.contains("the outermost element is 'what'; URDF"), "{e}");
}

/// MuJoCo 4.0.0 (`MjModel.from_xml_path`, names of joints): j9, j1, j5, j7 for this file.
#[test]
fn coordinates_come_by_name_or_as_mujoco_has_them() {
    let mut text = String::from("<robot name=\"o\"><link name=\"base\"/>");
    for l in ["z", "a", "m", "q"] {
        text += &format!("<link name=\"{l}\">{UNIT}</link>");
    }
    for (j, p, c) in
        [("j1", "m", "q"), ("j9", "base", "m"), ("j5", "base", "a"), ("j7", "base", "z")]
    {
        text += &format!(
            "<joint name=\"{j}\" type=\"continuous\"><parent link=\"{p}\"/><child \
            link=\"{c}\"/></joint>"
        );
    }
    text += "</robot>";
    let order = |urdf_order| {
        let i = parse_urdf(&text, &ImportOptions { urdf_order, ..Default::default() }).unwrap();
        let m = &i.mechanism;
        let mut joints: Vec<(usize, String)> = m
            .forest()
            .edges()
            .iter()
            .filter(|e| m.joint(e.joint).dof() > 0)
            .map(|e| (m.velocity_range(e.joint).start, m.joint(e.joint).name.clone()))
            .collect();
        joints.sort();
        (i.order, joints.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(order(None), (CoordinateOrder::Name, "j5 j7 j9 j1".into()));
    assert_eq!(order(Some(UrdfOrder::Name)), (CoordinateOrder::Name, "j5 j7 j9 j1".into()));
    assert_eq!(order(Some(UrdfOrder::Mujoco)), (CoordinateOrder::Mujoco, "j9 j1 j5 j7".into()));
    // MJCF has one order only.
    let name = ImportOptions { urdf_order: Some(UrdfOrder::Name), ..Default::default() };
    let i = parse_mjcf("<mujoco><worldbody/></mujoco>", &name).unwrap();
    assert_eq!((i.order, i.notes.len()), (CoordinateOrder::Mujoco, 1));
}

#[test]
fn notes_of_one_kind_are_one_note() {
    let missing = |name: &str| {
        let reason = format!("there is no file '{name}.obj' beside the model");
        Note::new("mesh", "file", Effect::Ignored, reason)
    };
    let outside = |joint: &str, x: f64| {
        let reason = format!("the start position {x} is outside the range from -1 to 2e-3");
        Note::new(format!("joint '{joint}'"), "limit", Effect::Approximated, reason)
    };
    let single = Note::new("contact", "", Effect::Ignored, "pairs are left out");
    let notes = [
        missing("a"),
        outside("j", -0.5),
        missing("b"),
        single.clone(),
        missing("c"),
        outside("k", 7.0),
        missing("d"),
        outside("k", 7.0),
    ];
    let groups = group_notes(&notes);
    assert_eq!(groups.iter().map(|g| g.count).collect::<Vec<_>>(), [4, 3, 1]);
    assert_eq!(groups[0].names, ["a.obj", "b.obj", "c.obj"]);
    assert_eq!(groups[0].reason, notes[0].reason);
    assert_eq!(groups[1].names, ["j", "k"]);
    assert_eq!(groups[2], single);
    assert!(groups[0].to_string().starts_with("4 mesh: 'a.obj', 'b.obj', 'c.obj', ..., file:"));
    // Grouping what is grouped changes nothing.
    assert_eq!(group_notes(&groups), groups);
}
