//! What URDF means, and what is refused: structure, mimics, axes, floating joints, number lists,
//! odd XML.

use crate::support;

use std::path::PathBuf;

use forks_import::mechanism::{
    Geometry, JointKind, Mechanism,
    kinematics::loops,
    lie::{
        Pose,
        glam::{DMat3, DVec3},
    },
};
use forks_import::{Effect, Import, ImportOptions, load_model, load_urdf, parse_mjcf, parse_urdf};
use support::pose_of;

fn read(body: &str) -> Import {
    let text = robot(body);
    parse_urdf(&text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn robot(body: &str) -> String {
    format!("<robot name=\"r\">\n{body}\n</robot>")
}

/// Refused by a message that holds all of `words`.
fn refused(body: &str, words: &[&str]) {
    let text = robot(body);
    let message = match parse_urdf(&text, &ImportOptions::default()) {
        Ok(_) => panic!("accepted: {text}"),
        Err(e) => e.to_string(),
    };
    for w in words {
        assert!(message.contains(w), "'{w}' is not in: {message}\n{text}");
    }
}

fn links(names: &str) -> String {
    names.split(' ').map(|n| format!("<link name=\"{n}\">{UNIT}</link>\n")).collect()
}

const UNIT: &str = r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"#;

fn joint(name: &str, kind: &str, parent: &str, child: &str, more: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child \
        link=\"{child}\"/>{more}</joint>\n"
    )
}

/// Links a and b and one joint between them.
fn pair(kind: &str, more: &str) -> String {
    links("a b") + &joint("j", kind, "a", "b", more)
}

fn the_joint(m: &Mechanism) -> &forks_import::mechanism::Joint {
    m.joints().iter().find(|j| j.name == "j").expect("joint j")
}

#[test]
fn joints_come_depth_first_sorted_by_name() {
    let body = links("r a b c d")
        + &joint("z", "continuous", "r", "a", "")
        + &joint("m", "fixed", "r", "b", "")
        + &joint("k", "prismatic", "b", "c", "<limit lower=\"0\" upper=\"1\"/>")
        + &joint("A", "continuous", "b", "d", "");
    let m = read(&body).mechanism;
    let names: Vec<&str> = m.joints().iter().map(|j| j.name.as_str()).collect();
    // The weld of the root has no name; capital letters come first.
    assert_eq!(names, ["", "m", "A", "k", "z"]);
    assert_eq!(m.joints().iter().filter(|j| j.implicit).count(), 1);
    assert_eq!(m.tree_position_count(), 3);
    assert_eq!(m.links().len(), 6, "links behind fixed joints stay");
}

#[test]
fn a_root_called_world_is_the_ground() {
    let body = "<link name=\"world\"/>".to_owned()
        + &links("a")
        + &joint("j", "fixed", "world", "a", "<origin xyz=\"1 2 3\"/>");
    let m = read(&body).mechanism;
    assert_eq!(m.links().len(), 2);
    assert_eq!(pose_of(&m, &m.start_positions(), "a").translation, DVec3::new(1.0, 2.0, 3.0));
    let i = read(&links("world"));
    assert_eq!((i.notes.len(), i.mechanism.total_mass()), (1, 0.0));
    refused(
        &(links("a world") + &joint("j", "fixed", "a", "world", "")),
        &["'world'", "must be the root"],
    );
}

#[test]
fn rpy_turns_about_fixed_axes() {
    let [r, p, y] = [0.3f64, -0.7, 1.9];
    let more = format!("<origin xyz=\"1 2 3\" rpy=\"{r} {p} {y}\"/>");
    let m = read(&pair("fixed", &more)).mechanism;
    let pose = pose_of(&m, &[], "b");
    let expected =
        DMat3::from_rotation_z(y) * DMat3::from_rotation_y(p) * DMat3::from_rotation_x(r);
    assert!(DMat3::from_quat(pose.rotation).abs_diff_eq(expected, 8.0 * f64::EPSILON));
    let m = read(&pair("fixed", "<origin quat_xyzw=\"0 0 2 0\"/>")).mechanism;
    assert_eq!(pose_of(&m, &[], "b").rotation.to_array(), [0.0, 0.0, 1.0, 0.0]);
    refused(&pair("fixed", "<origin rpy=\"0 0 0\" quat_xyzw=\"0 0 0 1\"/>"), &["twice"]);
}

#[test]
fn inertia_is_turned_into_the_link() {
    let body = r#"<link name="a"><inertial><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>
        <mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial></link>"#;
    let i = read(body).mechanism.links()[1].inertia;
    assert_eq!((i.mass, i.center_of_mass), (2.0, DVec3::X));
    let expected = DMat3::from_diagonal(DVec3::new(2.0, 1.0, 2.5));
    assert!(i.inertia.abs_diff_eq(expected, 1e-15 * 8.0));
}

#[test]
fn the_root_of_a_robot_stands_still() {
    let i = read(&pair("continuous", "<axis xyz=\"0 0 1\"/>"));
    let m = i.mechanism;
    assert_eq!((m.total_mass(), m.moving_mass()), (2.0, 1.0));
    assert_eq!(m.gravity(), DVec3::new(0.0, 0.0, -9.81));
    assert!(i.notes.is_empty());
}

/// B27: couplings of all mimics, chained ones and continuous ones too; limits and axes of their
/// own.
#[test]
fn mimics_are_couplings() {
    let body = links("a b c d")
        + &joint("j", "continuous", "a", "b", "<axis xyz=\"0 0 1\"/>")
        + &joint(
            "k",
            "continuous",
            "b",
            "c",
            "<mimic joint=\"j\" multiplier=\"-2\" offset=\"0.5\"/>",
        )
        + &joint(
            "l",
            "revolute",
            "c",
            "d",
            "<limit lower=\"-1\" upper=\"2\"/><mimic joint=\"k\"/>",
        );
    let m = read(&body).mechanism;
    assert_eq!((m.tree_position_count(), m.couplings().len()), (3, 2));
    let residual = |q: &[f64]| loops::constraint_residual(&m, q, &m.link_poses(q));
    // k = −2·0.1 + 0.5, l = k.
    for x in residual(&[0.1, 0.3, 0.3]) {
        assert!(x.abs() <= 2.0 * f64::EPSILON, "{x}");
    }
    let off = residual(&[0.1, 0.4, 0.3]);
    assert!((off[0].abs() - 0.1).abs() < 1e-15 && (off[1].abs() - 0.1).abs() < 1e-15, "{off:?}");
    assert_eq!(m.joints()[2].limits, [None]);
    assert_eq!(m.joints()[3].limits[0].map(|l| (l.lower, l.upper)), Some((-1.0, 2.0)));
}

#[test]
fn mimics_that_cannot_be() {
    let mimic = |more: &str| pair("continuous", more);
    refused(&mimic("<mimic joint=\"x\"/>"), &["mimic", "joint=\"x\"", "names no joint"]);
    refused(&mimic("<mimic joint=\"j\"/>"), &["joint 'j'", "mimics itself"]);
    refused(&mimic("<mimic/>"), &["'joint' is missing"]);
    refused(&pair("floating", "<mimic joint=\"j\"/>"), &["joint 'j'", "can mimic"]);
    let two = |a: &str, b: &str| {
        links("a b c")
            + &joint("j", "continuous", "a", "b", a)
            + &joint("k", "continuous", "b", "c", b)
    };
    refused(&two("<mimic joint=\"k\"/>", "<mimic joint=\"j\"/>"), &["mimics itself"]);
    let fixed = links("a b c")
        + &joint("j", "continuous", "a", "b", "<mimic joint=\"k\"/>")
        + &joint("k", "fixed", "b", "c", "");
    // A fixed joint stands at 0: its follower is held.
    assert_eq!(read(&fixed).mechanism.couplings().len(), 1);
    let floating = fixed.replace("type=\"fixed\"", "type=\"floating\"");
    refused(&floating, &["'k'", "no single coordinate"]);
}

/// B29: a diamond, a loop of one, a cycle of two, a cycle beside a good tree.
#[test]
fn only_trees() {
    let diamond = links("a b c d")
        + &joint("1", "fixed", "a", "b", "")
        + &joint("2", "fixed", "b", "d", "")
        + &joint("3", "fixed", "a", "c", "")
        + &joint("4", "fixed", "c", "d", "");
    refused(&diamond, &["joint '4'", "'d'", "joint '2'", "close loops"]);
    refused(&(links("a b") + &joint("j", "fixed", "b", "b", "")), &["joint 'j'", "'b' to itself"]);
    let cycle = joint("1", "fixed", "a", "b", "") + &joint("2", "fixed", "b", "a", "");
    refused(&(links("a b") + &cycle), &["'a'", "'b'", "cycle"]);
    refused(&(links("r a b") + &cycle), &["'a'", "'b'", "cycle"]);
    let tail = links("a b c") + &cycle + &joint("3", "fixed", "a", "c", "");
    refused(&tail, &["'a'", "'b'", "cycle"]);
}

/// B30: every root is named.
#[test]
fn one_root() {
    refused(&(pair("fixed", "") + &links("c")), &["'a', 'c'", "only one root"]);
    refused("", &["no link"]);
    refused(
        &(links("a") + &joint("j", "fixed", "a", "b", "")),
        &["joint 'j'", "child", "\"b\"", "names no link"],
    );
    refused(&links("a a"), &["link name 'a'", "twice"]);
    let two =
        links("a b c") + &joint("j", "fixed", "a", "b", "") + &joint("j", "fixed", "a", "c", "");
    refused(&two, &["joint name 'j'", "twice"]);
    refused("<link/>", &["link", "'name' is missing"]);
    refused("<link name=\"a\"/><joint name=\"j\" type=\"fixed\"/>", &["joint 'j'", "'parent'"]);
}

/// B32: axes of any length; the zero axis only where no axis is used.
#[test]
fn axes() {
    let axis = |kind: &str, text: &str| pair(kind, &format!("<axis xyz=\"{text}\"/>"));
    let m = read(&axis("continuous", "0 0 3")).mechanism;
    assert_eq!(the_joint(&m).kind, JointKind::Revolute { axis: DVec3::Z });
    let m = read(&pair("continuous", "")).mechanism;
    assert_eq!(the_joint(&m).kind, JointKind::Revolute { axis: DVec3::X });
    read(&axis("fixed", "0 0 0"));
    read(&axis("floating", "0 0 0"));
    for kind in ["continuous", "prismatic", "revolute", "planar"] {
        refused(&axis(kind, "0 0 0"), &["joint 'j'", "0 0 0", "no direction"]);
    }
    let twice = |b: &str| pair("continuous", &format!("<axis xyz=\"0 1 0\"/><axis xyz=\"{b}\"/>"));
    let i = read(&twice("0 1 0"));
    assert_eq!((i.notes.len(), i.notes[0].attribute.as_str()), (1, "axis"));
    refused(&twice("0 0 1"), &["joint 'j'", "second element 'axis'"]);
}

/// B35: floating joints keep their origin, with MuJoCo's coordinates under a base that stands
/// still.
#[test]
fn floating_joints() {
    let i = read(&pair("floating", "<origin xyz=\"0 0 1\" rpy=\"0 0 1\"/>"));
    let m = &i.mechanism;
    let q = m.start_positions();
    assert_eq!((m.tree_position_count(), m.tree_velocity_count()), (7, 6));
    assert_eq!(q[..3], [0.0, 0.0, 1.0]);
    assert_eq!((q[3], q[6]), (0.5f64.cos(), 0.5f64.sin()));
    assert_eq!(pose_of(m, &q, "b").translation, DVec3::Z);
    // Behind a fixed joint: still the pose in the world.
    let far = links("a b c")
        + &joint("f", "fixed", "a", "b", "<origin xyz=\"1 0 0\" rpy=\"0 0 0.5\"/>")
        + &joint("j", "floating", "b", "c", "<origin xyz=\"0 0 2\"/>");
    let m = read(&far).mechanism;
    let mut q = m.start_positions();
    assert_eq!(q[..3], [1.0, 0.0, 2.0]);
    q[1] = 5.0;
    let moved = pose_of(&m, &q, "c").translation;
    assert!(moved.abs_diff_eq(DVec3::new(1.0, 5.0, 2.0), 8.0 * f64::EPSILON), "{moved}");
    // Under a moving parent: the pose in the parent.
    let carried = links("a b c")
        + &joint("h", "continuous", "a", "b", "<axis xyz=\"0 0 1\"/>")
        + &joint("j", "floating", "b", "c", "<origin xyz=\"1 0 0\"/>");
    let m = read(&carried).mechanism;
    let mut q = m.start_positions();
    q[0] = std::f64::consts::FRAC_PI_2;
    assert!(pose_of(&m, &q, "c").translation.abs_diff_eq(DVec3::Y, 4.0 * f64::EPSILON));
}

#[test]
fn planar_and_spherical_joints() {
    let m = read(&pair("planar", "<origin xyz=\"0 0 1\"/><axis xyz=\"1 0 0\"/>")).mechanism;
    let b = pose_of(&m, &[0.3, 0.4, 0.5], "b");
    // Motion in the plane x = 0, rotation about x.
    assert!(b.translation.x.abs() < 1e-15);
    assert!((b.translation.distance(DVec3::Z) - 0.5).abs() < 1e-15);
    assert!((b.rotation * DVec3::X).abs_diff_eq(DVec3::X, 1e-15));
    assert_eq!(pose_of(&m, &m.start_positions(), "b"), Pose::from_translation(DVec3::Z));
    let m = read(&pair("planar", "<axis xyz=\"0 0 1\"/>")).mechanism;
    let b = pose_of(&m, &[0.3, 0.4, 0.0], "b");
    assert_eq!(b.translation, DVec3::new(0.3, 0.4, 0.0));
    let i = read(&pair("spherical", ""));
    assert_eq!(the_joint(&i.mechanism).kind, JointKind::Spherical);
    assert_eq!((i.notes.len(), i.notes[0].effect), (1, Effect::Approximated));
    refused(&pair("screw", ""), &["type=\"screw\"", "revolute"]);
}

/// B36: lists of numbers as files write them.
#[test]
fn number_lists() {
    let at = |text: &str| pair("fixed", &format!("<origin xyz=\"{text}\"/>"));
    for good in ["0 0 0.1 ", " 0\t0\t.1", "0  0   1e-1", "\n0 0 0.1\n"] {
        let m = read(&at(good)).mechanism;
        assert_eq!(pose_of(&m, &[], "b").translation, DVec3::new(0.0, 0.0, 0.1), "{good:?}");
    }
    assert_eq!(pose_of(&read(&pair("fixed", "")).mechanism, &[], "b"), Pose::IDENTITY);
    for (bad, word) in [
        ("0,1 0 0", "0,1"),
        ("0 0 -1.57.", "-1.57."),
        ("nan 0 0", "nan"),
        ("inf 0 0", "inf"),
        ("0 0 1e400", "1e400"),
        ("0 0", "2 numbers"),
        ("0 0 0 0", "4 numbers"),
        ("$(optenv X 1) 0 0", "$(optenv"),
    ] {
        refused(&at(bad), &["line ", "origin", "xyz", word]);
    }
    let mass = |v: &str| UNIT.replace("mass value=\"1\"", &format!("mass value=\"{v}\""));
    for bad in ["nan", "-1", "1,5", "1 2", ""] {
        refused(&format!("<link name=\"a\">{}</link>", mass(bad)), &["mass", "value"]);
    }
}

/// B43: what real files contain is read, what is no XML is not.
#[test]
fn odd_xml() {
    let read = |text: &str| parse_urdf(text, &ImportOptions::default());
    for text in [
        "<robot name=\"r\"><!-- a -- b --><link name=\"a\"/></robot>",
        "<?xml version=\"0.0\"?><robot name=\"r\"><link name=\"a\"/></robot>",
        "\n\n<?xml version=\"1.0\"?>\n<robot name=\"r\"><link name=\"a\"/></robot>",
        "<robot name=\"r\"><link name=\"a\"/></robot>\r\n\0",
        "<robot name=\"r\"version=\"1.0\"><link name=\"a\"/></robot>",
        "\u{feff}<robot name=\"r\"><link name=\"a\"/></robot>",
    ] {
        read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
    for (text, word) in [
        ("<robot name=\"r\">\0<link name=\"a\"/></robot>", "not valid XML"),
        ("<!DOCTYPE r [<!ENTITY x \"y\">]><robot name=\"&x;\"/>", "document type definition"),
        ("<mujoco/>", "outermost element must be 'robot'"),
        (
            "<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\"><xacro:include \
            filename=\"a\"/></robot>",
            "xacro",
        ),
    ] {
        let message = read(text).expect_err(text).to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn inertia_that_no_body_has() {
    let moving = |izz: &str| {
        let unit = UNIT.replace("izz=\"1\"", &format!("izz=\"{izz}\""));
        links("base")
            + &format!("<link name=\"a\">{unit}</link>")
            + &joint("j", "continuous", "base", "a", "")
    };
    let body = moving("3");
    refused(&body, &["link 'a'", "1, 1, 3", "A + B >= C", "balance_inertia"]);
    let options = ImportOptions { balance_inertia: true, ..Default::default() };
    let i = parse_urdf(&robot(&body), &options).unwrap();
    let mean = DMat3::from_diagonal(DVec3::splat(5.0 / 3.0));
    assert_eq!(i.mechanism.links()[2].inertia.inertia, mean);
    assert_eq!(i.notes[0].effect, Effect::Approximated);
    refused(&moving("-3"), &["link 'a'", "negative principal moment -3"]);
    refused("<link name=\"a\"><inertial/></link>", &["link 'a'", "'mass'"]);
    // The same option for MJCF.
    let text = r#"<mujoco><worldbody><body name="b"><joint/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body></worldbody></mujoco>"#;
    assert!(parse_mjcf(text, &ImportOptions::default()).is_err());
    assert_eq!(parse_mjcf(text, &options).unwrap().mechanism.links()[1].inertia.inertia, mean);
}

/// B20, B22: massless links inside a chain and tool frames are fine; a massless moving end is
/// noted.
#[test]
fn massless_links() {
    let chain = links("a c")
        + "<link name=\"b\"/>"
        + &joint("j", "continuous", "a", "b", "")
        + &joint("k", "continuous", "b", "c", "<axis xyz=\"0 1 0\"/>");
    assert!(read(&chain).notes.is_empty());
    let zero = UNIT.replace("\"1\"", "\"0\"");
    let tool = pair("continuous", "")
        + &format!("<link name=\"tcp\">{zero}</link>")
        + &joint("t", "fixed", "b", "tcp", "");
    let i = read(&tool);
    assert!(i.notes.is_empty() && i.mechanism.links()[3].name == "tcp");
    let end = links("a") + "<link name=\"b\"/>" + &joint("j", "continuous", "a", "b", "");
    assert_eq!(read(&end).notes[0].element, "link 'b'");
    // What is fixed to a massless link carries it.
    let held = end + &links("c") + &joint("f", "fixed", "b", "c", "");
    assert!(read(&held).notes.is_empty());
}

#[test]
fn limits_and_dynamics() {
    let i = read(&pair("revolute", ""));
    assert_eq!((i.notes.len(), i.notes[0].attribute.as_str()), (1, "limit"));
    let one = |more: &str| the_joint(&read(&pair("prismatic", more)).mechanism).limits[0];
    let l = one("<limit upper=\"2\" effort=\"1\" velocity=\"1\"/>").unwrap();
    assert_eq!((l.lower, l.upper), (0.0, 2.0));
    let i = read(&pair("prismatic", "<limit lower=\"1\" upper=\"-1\"/>"));
    assert_eq!(the_joint(&i.mechanism).limits, [None]);
    assert_eq!((i.notes.len(), i.notes[0].attribute.as_str()), (1, "limit"));
    let i = read(&pair("continuous", "<dynamics damping=\"0.5\" friction=\"0.1\"/>"));
    assert_eq!(the_joint(&i.mechanism).damping.get(0, 0), 0.5);
    assert_eq!(the_joint(&i.mechanism).friction, [0.1]);
    assert!(i.notes.is_empty());
    refused(&pair("continuous", "<dynamics damping=\"-1\"/>"), &["damping", "negative"]);
}

#[test]
fn shapes_of_primitives() {
    let body = r#"<link name="a">
      <visual><geometry><sphere radius="1"/></geometry></visual>
      <collision name="c"><origin xyz="1 0 0"/><geometry><box size="2 4 6"/></geometry></collision>
      <collision><geometry><cylinder radius="1" length="4"/></geometry></collision>
      <collision><geometry><capsule radius="1" length="4"/></geometry></collision>
      <collision><geometry><sphere radius="3"/></geometry></collision>
      <collision><geometry><mesh filename="package://x/y.stl"/></geometry></collision></link>"#;
    let i = read(body);
    let forms: Vec<Geometry> = i.mechanism.shapes().iter().map(|s| s.geometry.clone()).collect();
    let expected = [
        Geometry::Box { half_extents: DVec3::new(1.0, 2.0, 3.0) },
        Geometry::Cylinder { radius: 1.0, half_length: 2.0 },
        Geometry::Capsule { radius: 1.0, half_length: 2.0 },
        Geometry::Sphere { radius: 3.0 },
    ];
    assert_eq!(forms, expected);
    assert_eq!(i.mechanism.shapes()[0].link_from_shape, Pose::from_translation(DVec3::X));
    assert!(i.notes.iter().all(|n| n.element == "mesh"), "{:?}", i.notes);
    refused("<link name=\"a\"><collision/></link>", &["collision", "link 'a'", "no geometry"]);
    refused(
        "<link name=\"a\"><collision><geometry><sphere \
        radius=\"-1\"/></geometry></collision></link>",
        &["sphere", "radius", "negative"],
    );
}

#[test]
fn what_is_left_out_is_noted_once_per_kind() {
    let body = pair("continuous", "<safety_controller k_velocity=\"1\"/>")
        + "<transmission name=\"t\"/><transmission name=\"u\"/><gazebo/><gazebo reference=\"a\"/>
           <ros2_control name=\"x\"/><material name=\"m\"/><custom/>";
    let i = read(&body);
    let mut kinds: Vec<&str> = i.notes.iter().map(|n| n.element.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["custom", "gazebo", "ros2_control", "safety_controller", "transmission"]);
    assert!(i.notes.iter().all(|n| n.effect == Effect::Ignored && n.line.is_some()));
}

#[test]
fn a_long_chain_needs_no_stack() {
    let n = 5000;
    let names: Vec<String> = (0..=n).map(|i| format!("l{i}")).collect();
    let mut body = links(&names.join(" "));
    for i in 0..n {
        let more = if i > 0 { format!("<mimic joint=\"j{}\"/>", i - 1) } else { String::new() };
        body += &joint(&format!("j{i}"), "continuous", &names[i], &names[i + 1], &more);
    }
    let m = read(&body).mechanism;
    assert_eq!((m.tree_position_count(), m.couplings().len()), (n, n - 1));
}

#[test]
fn the_root_element_decides_the_format() {
    let directory = std::env::temp_dir().join(format!("forks-urdf-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, text: &str| -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let options = ImportOptions::default();
    let urdf = file("a.xml", &robot(&links("a")));
    let mjcf = file("b.urdf", "<mujoco><worldbody><body name=\"b\"/></worldbody></mujoco>");
    let name = |p: &PathBuf| load_model(p, &options).unwrap().mechanism.links()[1].name.clone();
    assert_eq!((name(&urdf), name(&mjcf)), ("a".to_owned(), "b".to_owned()));
    let broken = file("C.URDF", &robot(&pair("fixed", "<origin xyz=\"x\"/>")));
    let message = load_urdf(&broken, &options).unwrap_err().to_string();
    assert!(message.contains("C.URDF:4"), "{message}");
    std::fs::remove_dir_all(&directory).unwrap();
}
