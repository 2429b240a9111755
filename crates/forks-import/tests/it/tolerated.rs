//! What other programs write and read, and what was refused here because the reader asked for more
//! than the meaning needs: prefixes that nobody declared, `pos="0 0 0"` beside `fromto`, assets
//! without names, forms without extent, inertials without a tensor, dampers that would drive.

use forks_dynamics::mass_matrix;
use forks_import::{Effect, ImportError, ImportOptions, parse_mjcf, parse_urdf};

fn strict() -> ImportOptions {
    ImportOptions::default()
}

/// An arm that hangs on a hinge about x; `inside` goes into its link, `after` behind the joint.
fn arm(inside: &str, after: &str) -> String {
    format!(
        r#"<robot name="r"><link name="base"/><link name="arm">{inside}</link>
        <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>{after}</robot>"#
    )
}

const INERTIAL: &str = r#"<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"#;

#[test]
fn prefixes_need_no_declaration_and_mark_what_is_not_of_the_format() {
    // `drake:joint` is no joint: it may name links that are not there.
    let extension = r#"<drake:joint name="k" type="planar" drake:x="1"><parent link="no"/></drake:joint>
        <a:joint name="j"/>"#;
    let declared = arm(INERTIAL, extension)
        .replace("<robot", "<robot xmlns:drake='http://drake.mit.edu' xmlns:a='a'");
    for text in [arm(INERTIAL, extension), declared] {
        let import = parse_urdf(&text, &strict()).unwrap();
        assert_eq!(import.mechanism.tree_velocity_count(), 1);
        let elements: Vec<&str> = import.notes.iter().map(|n| n.element.as_str()).collect();
        assert!(elements.contains(&"drake:joint") && elements.contains(&"a:joint"), "{elements:?}");
    }
    // Lines stay those of the file.
    let broken = arm(INERTIAL, "<drake:x/>\n<joint name='k' type='no'/>");
    let error = parse_urdf(&broken, &strict()).unwrap_err().to_string();
    assert!(error.starts_with("line 3:"), "{error}");
    // Macros stay macros without their declaration.
    let error = parse_urdf(&arm(INERTIAL, "<xacro:m/>"), &strict()).unwrap_err().to_string();
    assert!(error.contains("macros must be expanded"), "{error}");
    let error = parse_mjcf("<mujoco><a:worldbody/></mujoco>", &strict()).unwrap_err();
    assert!(matches!(error, ImportError::UnknownElement { .. }), "{error}");
}

#[test]
fn an_inertial_without_tensor_is_a_point_mass() {
    let point = r#"<inertial><origin xyz="0 0.3 0.4"/><mass value="2"/></inertial>"#;
    let import = parse_urdf(&arm(point, ""), &strict()).unwrap();
    let m = &import.mechanism;
    // m r² about the hinge.
    assert!((mass_matrix(m, &m.start_positions())[(0, 0)] - 2.0 * 0.25).abs() < 1e-15);
    let note = import.notes.iter().find(|n| n.attribute == "inertia").unwrap();
    assert_eq!((note.element.as_str(), note.effect), ("link 'arm'", Effect::Approximated));
}

#[test]
fn forms_without_extent_are_no_shapes_but_negative_ones_are_errors() {
    let collision =
        |form: &str| format!("{INERTIAL}<collision><geometry>{form}</geometry></collision>");
    for form in [
        r#"<sphere radius="0.00"/>"#,
        r#"<box size="0 1 1"/>"#,
        r#"<cylinder radius="1" length="0"/>"#,
        r#"<cylinder radius="0" length="1"/>"#,
        r#"<capsule radius="0" length="1"/>"#,
    ] {
        let import = parse_urdf(&arm(&collision(form), ""), &strict()).unwrap();
        assert!(import.mechanism.shapes().is_empty(), "{form}");
        assert!(import.notes.iter().any(|n| n.reason.contains("without extent")), "{form}");
    }
    // A capsule without length is a sphere.
    let capsule = arm(&collision(r#"<capsule radius="1" length="0"/>"#), "");
    assert_eq!(parse_urdf(&capsule, &strict()).unwrap().mechanism.shapes().len(), 1);
    for form in [r#"<sphere radius="-1"/>"#, r#"<box size="1 -1 1"/>"#] {
        let error = parse_urdf(&arm(&collision(form), ""), &strict()).unwrap_err().to_string();
        assert!(error.contains("negative"), "{error}");
    }
}

#[test]
fn a_position_of_zero_stands_beside_fromto() {
    let model = |pos: &str| {
        format!(
            r#"<mujoco><worldbody><body><joint type="free"/>
            <geom type="capsule" size=".1" {pos} fromto="0 0 0 0 0 1"/>
            <site name="s" type="capsule" size=".1" {pos} fromto="0 0 0 0 0 1"/></body></worldbody></mujoco>"#
        )
    };
    let with = parse_mjcf(&model(r#"pos="0 0 0""#), &strict()).unwrap().mechanism;
    let without = parse_mjcf(&model(""), &strict()).unwrap().mechanism;
    assert_eq!(with.links(), without.links());
    assert_eq!(with.frames(), without.frames());
    assert_eq!(with.links()[1].inertia.center_of_mass.z, 0.5);
    // MuJoCo 4.0.0: "both pos and fromto defined in geom".
    assert!(parse_mjcf(&model(r#"pos="0 0 1e-9""#), &strict()).is_err());
}

#[test]
fn height_fields_are_called_as_their_files() {
    let model = |name: &str| {
        format!(
            r#"<mujoco><asset><hfield file="dir/hills.png" size="1 1 1 1"/></asset>
            <worldbody><geom type="hfield" hfield="{name}"/></worldbody></mujoco>"#
        )
    };
    assert!(parse_mjcf(&model("hills"), &strict()).is_ok());
    let error = parse_mjcf(&model("other"), &strict()).unwrap_err();
    assert!(matches!(error, ImportError::UnknownReference { .. }), "{error}");
}

#[test]
fn springs_and_dampers_that_would_drive_are_left_out_leniently() {
    let joint = |attributes: &str| {
        format!(
            r#"<mujoco><worldbody><body><joint name="j" {attributes}/><geom size="1"/></body></worldbody>
            <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon></mujoco>"#
        )
    };
    let tendon =
        |attributes: &str| joint("").replace(r#"name="t""#, &format!(r#"name="t" {attributes}"#));
    for (text, attribute) in [
        (joint(r#"damping="-0.0132""#), "damping"),
        (joint(r#"stiffness="-1""#), "stiffness"),
        (tendon(r#"damping="-1""#), "damping"),
        (tendon(r#"stiffness="-1""#), "stiffness"),
    ] {
        let error = parse_mjcf(&text, &strict()).unwrap_err();
        assert!(matches!(error, ImportError::Value { .. }), "{error}");
        let lenient = ImportOptions { lenient: true, ..strict() };
        let import = parse_mjcf(&text, &lenient).unwrap();
        assert!(
            import.notes.iter().any(|n| n.attribute == attribute && n.effect == Effect::Ignored)
        );
        let j = &import.mechanism.joints()[0];
        assert!(j.spring.is_none() && j.damping.is_zero());
        assert!(import.mechanism.combination_springs().is_empty());
    }
}
