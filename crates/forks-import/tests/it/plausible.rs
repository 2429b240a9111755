//! What is possible and hardly meant is noted: units that slipped, joints that start outside their
//! range; and sound models have no such note.

use crate::support;

use forks_import::{Import, ImportError, ImportOptions, load_model, parse_mjcf, parse_urdf};

const UNIT: &str = r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;

fn urdf(text: &str) -> Result<Import, ImportError> {
    parse_urdf(text, &ImportOptions::default())
}

fn mjcf(text: &str) -> Result<Import, ImportError> {
    parse_mjcf(text, &ImportOptions::default())
}

fn arm(mass: &str, moments: &str) -> Import {
    let [x, y, z] = <[&str; 3]>::try_from(moments.split(' ').collect::<Vec<_>>()).unwrap();
    urdf(&format!(
        "<robot name=\"r\"><link name=\"base\"/>\n<link name=\"arm\"><inertial><origin \
        xyz=\"0.1 0 0\"/><mass value=\"{mass}\"/><inertia ixx=\"{x}\" iyy=\"{y}\" \
        izz=\"{z}\"/></inertial></link>\n<link name=\"hand\">{}</link>\n<joint name=\"j\" \
        type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/><axis xyz=\"0 0 \
        1\"/></joint><joint name=\"k\" type=\"continuous\"><parent link=\"arm\"/><child \
        link=\"hand\"/><origin xyz=\"0.25 0 \
        0\"/></joint></robot>",
        r#"<inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial>"#
    ))
    .unwrap()
}

/// B25: a tensor a thousand times too big, and one in kg·mm², are warned about; the right one is
/// not.
#[test]
fn b25_unit_slips_are_noted() {
    // A rod of 1.6 kg and 0.25 m: 1.6 · 0.25² / 12 = 8.3e-3.
    assert!(arm("1.6", "1e-4 8.3e-3 8.3e-3").notes.is_empty());
    for moments in ["1.6 1.6 1.6", "100 8300 8300"] {
        let i = arm("1.6", moments);
        assert_eq!(i.notes.len(), 1, "{:?}", i.notes);
        let note = i.notes[0].to_string();
        assert!(
            note.contains("2: link 'arm', inertia") && note.contains("radius of gyration"),
            "{note}"
        );
    }
    // Just inside three times the reach of 0.25 m, and just outside.
    let moment = |k: f64| (1.6 * k * k).to_string();
    let three = |k: f64| arm("1.6", &[moment(k), moment(k), moment(k)].join(" ")).notes.len();
    assert_eq!((three(0.749), three(0.751)), (0, 1));
    // Grams as kilograms times a million: heavier than matter.
    let i = arm("1.6e6", "1e2 8.3e3 8.3e3");
    assert!(
        i.notes.iter().any(|n| n.attribute == "mass" && n.reason.contains("kg/m³")),
        "{:?}",
        i.notes
    );
    let five_bar = load_model(
        &support::models().join("epr_5bar_linkage/robot.nomesh.urdf"),
        &ImportOptions::default(),
    )
    .unwrap();
    let heavy: Vec<&str> = five_bar
        .notes
        .iter()
        .filter(|n| n.attribute == "mass")
        .map(|n| n.element.as_str())
        .collect();
    assert_eq!(heavy, ["link 'sphere'", "link 'sphere_2'"]);
}

/// The last link of a long arm shows no size of its own: that of its neighbours counts, not the
/// arm's. Its published tensor is a thousand times too big, a radius of gyration of 1 m for 1.6 kg.
#[test]
fn b25_a_last_link_without_shapes() {
    let robot = |moment: &str| {
        let mut text = String::from("<robot name=\"r\">");
        for i in 0..=6 {
            let moment = if i == 6 { moment } else { "8.3e-3" };
            text += &format!(
                "<link name=\"l{i}\"><inertial><origin xyz=\"0.02 0 0\"/><mass \
                value=\"1.6\"/><inertia ixx=\"{moment}\" iyy=\"{moment}\" \
                izz=\"{moment}\"/></inertial></link>\n"
            );
        }
        for i in 0..6 {
            text += &format!(
                "<joint name=\"j{i}\" type=\"continuous\"><parent link=\"l{i}\"/><child \
                link=\"l{}\"/><origin xyz=\"0.25 0 0\"/></joint>\n",
                i + 1
            );
        }
        urdf(&(text + "</robot>")).unwrap()
    };
    assert!(robot("8.3e-3").notes.is_empty());
    let i = robot("1.6");
    assert_eq!(i.notes.len(), 1, "{:?}", i.notes);
    assert!(i.notes[0].to_string().contains("7: link 'l6', inertia"), "{}", i.notes[0]);
}

/// No model that people use as it should be is warned about.
#[test]
fn sound_models_have_no_warning_about_units() {
    for name in support::MODELS.iter().filter(|n| !n.contains("ten_armature")) {
        let i = support::load(name);
        let warned: Vec<String> =
            i.notes.iter().map(|n| n.to_string()).filter(|t| t.contains("radius")).collect();
        assert!(warned.is_empty(), "{name}: {warned:?}");
    }
    for name in [
        "solo12/solo12.nomesh.urdf",
        "kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf",
        "human_urdf/human.nomesh.urdf",
        "rapier_T12/T12.nomesh.URDF",
        "epr_cassie_like/robot.nomesh.urdf",
        "epr_robot_delta/robot.nomesh.urdf",
    ] {
        let i = load_model(&support::models().join(name), &ImportOptions::default()).unwrap();
        assert!(!i.notes.iter().any(|n| n.reason.contains("radius")), "{name}: {:?}", i.notes);
    }
}

/// B45: joints whose start position is outside their range are named, with both formats' words.
#[test]
fn b45_start_positions_outside_their_range() {
    let i = mjcf(
        "<mujoco><worldbody>\n<body><joint name=\"j\" range=\"65 295\" \
        stiffness=\"3\"/><inertial pos=\"0.1 0 0\" mass=\"1\" diaginertia=\"1e-2 1e-2 \
        1e-2\"/></body></worldbody></mujoco>",
    )
    .unwrap();
    let note = i.notes[0].to_string();
    assert!(
        note.contains("2: joint 'j', range")
            && note.contains("start position 0 is outside the range from 1.13446"),
        "{note}"
    );
    let limit = |lower: &str| {
        let text = format!(
            "<robot name=\"r\"><link name=\"a\"/><link name=\"b\">{UNIT}</link>\n<joint name=\"j\" \
            type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><limit lower=\"{lower}\" \
            upper=\"1\"/></joint></robot>"
        );
        urdf(&text)
            .unwrap()
            .notes
            .iter()
            .filter(|n| n.attribute == "limit")
            .map(|n| n.line)
            .collect::<Vec<_>>()
    };
    assert_eq!((limit("0.5"), limit("0"), limit("-1")), (vec![Some(2)], vec![], vec![]));
    // Cassie's four foot joints.
    let i = support::load("agility_cassie/cassie.nomesh.xml");
    assert_eq!(i.notes.iter().filter(|n| n.attribute == "range").count(), 4);
}
