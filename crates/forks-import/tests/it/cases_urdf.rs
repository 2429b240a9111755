//! Public failures of URDF importers as small cases, by their number in the project's list; what is
//! not here is in `urdf.rs`, `urdf_oracle.rs`, `hostile.rs` and `cases_loops.rs`.

use crate::support;

use forks_import::mechanism::{
    JointId, JointKind, Mechanism,
    kinematics::{RANK_TOLERANCE, mobility},
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};
use forks_import::{Import, ImportOptions, SideFile, parse_urdf};
use support::{mass_matrix, pose_of};

fn read(body: &str) -> Import {
    let text = format!("<robot name=\"r\">\n{body}\n</robot>");
    parse_urdf(&text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refused(body: &str, words: &[&str]) {
    let text = format!("<robot name=\"r\">\n{body}\n</robot>");
    let message = parse_urdf(&text, &ImportOptions::default()).expect_err(&text).to_string();
    for w in words {
        assert!(message.contains(w), "'{w}' is not in: {message}");
    }
}

fn inertial(mass: f64, moments: [f64; 3], origin: &str) -> String {
    let [x, y, z] = moments;
    format!(
        "<inertial><origin {origin}/><mass value=\"{mass}\"/><inertia ixx=\"{x}\" iyy=\"{y}\" \
        izz=\"{z}\"/></inertial>"
    )
}

fn link(name: &str) -> String {
    format!("<link name=\"{name}\">{}</link>\n", inertial(1.0, [1.0; 3], ""))
}

fn joint(name: &str, kind: &str, parent: &str, child: &str, more: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child \
        link=\"{child}\"/>{more}</joint>\n"
    )
}

/// B18: a rod of 0.7 kg fixed at rpy 0.4 0.5 0.6 to a link that turns: the moment about the hinge
/// is the closed form axisᵀ(R I Rᵀ)axis + m d², and the merged tensor that of a solid rod computed
/// from its two ends.
#[test]
fn b18_a_rod_fixed_at_an_angle() {
    let moments = [0.7 * 0.3 * 0.3 / 12.0, 0.7 * 0.3 * 0.3 / 12.0, 1e-5];
    let body = "<link name=\"base\"/>".to_owned()
        + &format!("<link name=\"arm\">{}</link>", inertial(0.2, [2e-3; 3], ""))
        + &format!("<link name=\"rod\">{}</link>", inertial(0.7, moments, "xyz=\"0 0 0.15\""))
        + &joint("hinge", "continuous", "base", "arm", "<axis xyz=\"0 0 1\"/>")
        + &joint(
            "weld",
            "fixed",
            "arm",
            "rod",
            "<origin xyz=\"0.1 -0.2 0.3\" rpy=\"0.4 0.5 0.6\"/>",
        );
    let m = read(&body).mechanism;
    let r = DMat3::from_rotation_z(0.6) * DMat3::from_rotation_y(0.5) * DMat3::from_rotation_x(0.4);
    let center = DVec3::new(0.1, -0.2, 0.3) + r * DVec3::new(0.0, 0.0, 0.15);
    let turned = r * DMat3::from_diagonal(DVec3::from_array(moments)) * r.transpose();
    let expected = 2e-3 + turned.z_axis.z + 0.7 * (center.x * center.x + center.y * center.y);
    let mass = mass_matrix(&m, &[0.0])[(0, 0)];
    assert!((mass / expected - 1.0).abs() < 1e-14, "{mass} {expected}");
    // The rod stays a link with a frame of its own.
    let rod = pose_of(&m, &[0.0], "rod");
    assert!(rod.translation.abs_diff_eq(DVec3::new(0.1, -0.2, 0.3), 1e-15));
    let all = [m.links()[2].inertia, m.links()[3].inertia.transformed(&rod)];
    let sum: SpatialInertia = all[0].combined(&all[1]);
    assert!((sum.mass - 0.9).abs() < 1e-15);
    assert!(sum.center_of_mass.abs_diff_eq(center * (0.7 / 0.9), 1e-15));
}

/// B20: a universal joint with a massless cross is fine, its mass matrix is definite; a massless
/// leaf is not, and says so; a missing inertial is no mass at all, not one kilogram.
#[test]
fn b20_massless_crosses_and_leaves() {
    let chain = |end: &str| {
        link("base")
            + "<link name=\"cross\"/>"
            + end
            + &joint("a", "continuous", "base", "cross", "<axis xyz=\"1 0 0\"/>")
            + &joint("b", "continuous", "cross", "end", "<axis xyz=\"0 1 0\"/>")
    };
    let i = read(&chain(&link("end")));
    assert!(i.notes.is_empty());
    let mass = mass_matrix(&i.mechanism, &[0.3, 0.4]);
    let determinant = mass[(0, 0)] * mass[(1, 1)] - mass[(0, 1)] * mass[(1, 0)];
    // Unit inertia about both axes, at right angles at all angles of the cross.
    assert!((determinant - 1.0).abs() < 1e-14, "{determinant}");
    let i = read(&chain("<link name=\"end\"/>"));
    assert_eq!(i.mechanism.moving_mass(), 0.0);
    assert_eq!((i.notes.len(), i.notes[0].element.as_str()), (1, "link 'end'"));
}

/// B22: a tool frame with an explicit zero inertial is a frame, not a body.
#[test]
fn b22_tool_frames_with_zero_inertials() {
    let tcp = format!("<link name=\"tcp\">{}</link>", inertial(0.0, [0.0; 3], "xyz=\"1 2 3\""));
    let link = |n: &str| format!("<link name=\"{n}\">{}</link>", inertial(1.0, [0.01; 3], ""));
    let body = link("base")
        + &link("hand")
        + &tcp
        + &joint("j", "continuous", "base", "hand", "<axis xyz=\"0 0 1\"/>")
        + &joint("t", "fixed", "hand", "tcp", "<origin xyz=\"0 0 0.1\"/>");
    let i = read(&body);
    let m = &i.mechanism;
    assert!(i.notes.is_empty(), "{:?}", i.notes);
    assert_eq!((m.links().len(), m.moving_mass(), m.tree_velocity_count()), (4, 1.0, 1));
    let tcp = m.link(m.find_link("tcp").unwrap());
    assert_eq!(tcp.inertia, SpatialInertia::ZERO, "no centre of mass that could widen the model");
}

/// B23: diag(1, 1, 3) is refused; balanced it is 5/3 three times (1.667 in MuJoCo).
#[test]
fn b23_moments_that_no_body_has() {
    let body = link("base")
        + &format!("<link name=\"a\">{}</link>", inertial(1.0, [1.0, 1.0, 3.0], ""))
        + &joint("j", "continuous", "base", "a", "");
    refused(&body, &["line 3", "link 'a'", "1, 1, 3", "A + B >= C"]);
    let options = ImportOptions { balance_inertia: true, ..Default::default() };
    let i = parse_urdf(&format!("<robot name=\"r\">{body}</robot>"), &options).unwrap();
    let t = i.mechanism.links()[2].inertia.inertia;
    assert_eq!(t, DMat3::from_diagonal(DVec3::splat(5.0 / 3.0)));
}

/// B29: self loops, cycles and diamonds end at once and name what they are; the diamond is a loop
/// for the side file.
#[test]
fn b29_graphs_that_are_no_trees() {
    refused(
        &(link("a") + &link("b") + &joint("j", "fixed", "b", "b", "")),
        &["line 4", "joint 'j'", "'b' to itself"],
    );
    let cycle = link("a")
        + &link("b")
        + &joint("j", "fixed", "a", "b", "")
        + &joint("k", "fixed", "b", "a", "");
    refused(&cycle, &["'a'", "'b'", "cycle"]);
    let hinge = |n: &str, p: &str, c: &str, x: f64| {
        joint(n, "continuous", p, c, &format!("<axis xyz=\"0 1 0\"/><origin xyz=\"{x} 0 0\"/>"))
    };
    let open = link("a")
        + &link("b")
        + &link("c")
        + &link("d")
        + &hinge("ab", "a", "b", 0.0)
        + &hinge("bd", "b", "d", 1.0)
        + &hinge("ac", "a", "c", 0.5);
    refused(
        &(open.clone() + &hinge("cd", "c", "d", 1.0)),
        &["joint 'cd'", "'d'", "joint 'bd'", "forks.toml"],
    );
    // The same loop, said in a side file: a parallelogram that is closed at zero (all in line:
    // singular, rank 1).
    let side = "[joints.ab]\nstart = -1\n[joints.ac]\nstart = -1\n[joints.bd]\nstart = \
        1\n[[loops]]\ntype = \"hinge\"\naxis = [0, 1, 0]\na = { link = \"c\", xyz = [1, 0, 0] }\nb \
        = { link = \"d\", xyz = [0.5, 0, 0] }\n";
    let i = SideFile::parse(side).unwrap().apply(read(&open)).unwrap();
    let m = &i.mechanism;
    let q = m.start_positions();
    let c = mobility(m, &q, &m.link_poses(&q), RANK_TOLERANCE);
    assert_eq!((c.rows, c.rank, c.mobility), (5, 2, 1));
}

/// B30: a lone second root is not dropped; both are named.
#[test]
fn b30_several_roots() {
    let body = link("a") + &link("b") + &joint("j", "fixed", "a", "b", "") + &link("c");
    refused(&body, &["line 5", "link 'c'", "'a', 'c'", "only one root"]);
}

/// B32: axes of any length are directions; without direction they are refused where they are used.
#[test]
fn b32_axes() {
    let with = |kind: &str, axis: &str| {
        link("a") + &link("b") + &joint("j", kind, "a", "b", &format!("<axis xyz=\"{axis}\"/>"))
    };
    let m = read(&with("continuous", "0 0 3")).mechanism;
    assert_eq!(m.joints()[1].kind, JointKind::Revolute { axis: DVec3::Z });
    let i = read(&with("revolute", "3 0 4"));
    assert_eq!(
        i.mechanism.joints()[1].kind,
        JointKind::Revolute { axis: DVec3::new(0.6, 0.0, 0.8) }
    );
    refused(&with("revolute", "0 0 0"), &["line 4", "joint 'j'", "\"0 0 0\"", "no direction"]);
    read(&with("fixed", "0 0 0"));
}

/// B35: a floating child keeps its origin; under a moving parent it floats there.
#[test]
fn b35_floating_joints() {
    let m = read(
        &(link("a") + &link("b") + &joint("j", "floating", "a", "b", "<origin xyz=\"0 0 1\"/>")),
    )
    .mechanism;
    assert_eq!((m.tree_position_count(), m.tree_velocity_count()), (7, 6));
    assert_eq!(m.start_positions()[..7], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(pose_of(&m, &m.start_positions(), "b"), Pose::from_translation(DVec3::Z));
    let body = link("a")
        + &link("b")
        + &link("c")
        + &joint("h", "continuous", "a", "b", "<axis xyz=\"0 0 1\"/>")
        + &joint("j", "floating", "b", "c", "<origin xyz=\"0 0 1\"/>");
    let m = read(&body).mechanism;
    assert_eq!((m.tree_position_count(), m.tree_velocity_count()), (8, 7));
    let id = m.find_joint("j").unwrap();
    assert_eq!(
        (m.joint(id).kind.clone(), m.joint(id).parent),
        (JointKind::Free, m.find_link("b").unwrap())
    );
}

/// B36: lists of numbers with blanks and tabs around and between them are read, all else is refused
/// with its text.
#[test]
fn b36_number_lists() {
    let at = |text: &str| {
        link("a")
            + &link("b")
            + &joint("j", "fixed", "a", "b", &format!("<origin xyz=\"{text}\"/>"))
    };
    for good in ["0 0 0.1 ", "\t0\t0\t0.1", "0  0  .1", "+0 -0 1e-1"] {
        let m: Mechanism = read(&at(good)).mechanism;
        assert_eq!(pose_of(&m, &[], "b").translation, DVec3::new(0.0, 0.0, 0.1), "{good:?}");
    }
    for bad in ["0,1 0 0", "-1.57. 0 0", "nan 0 0", "0 0", "0 0 0 0", "0 0 zero"] {
        refused(&at(bad), &["line 4", "origin", &format!("xyz=\"{bad}\"")]);
    }
    // An empty list says nothing, which is noted; no origin at all is the identity.
    let empty = read(&at(""));
    assert_eq!(pose_of(&empty.mechanism, &[], "b"), Pose::IDENTITY);
    assert!(empty.notes.iter().any(|n| (&*n.element, &*n.attribute) == ("origin", "xyz")));
    let m = read(&(link("a") + &link("b") + &joint("j", "fixed", "a", "b", ""))).mechanism;
    assert_eq!(pose_of(&m, &[], "b"), Pose::IDENTITY);
}

/// B48: a branch without end effector keeps its mass and springs; what is welded to the ground is
/// not moving mass.
#[test]
fn b48_branches_and_scenery() {
    let table = format!("<link name=\"table\">{}</link>", inertial(2000.0, [100.0; 3], ""));
    let body = link("base")
        + &table
        + &link("arm")
        + &link("tail")
        + &joint("t", "fixed", "base", "table", "")
        + &joint("a", "continuous", "base", "arm", "<axis xyz=\"0 0 1\"/>")
        + &joint(
            "b",
            "continuous",
            "arm",
            "tail",
            "<axis xyz=\"0 0 1\"/><dynamics damping=\"3\"/>",
        );
    let i = SideFile::parse("[joints.b]\nstiffness = 7").unwrap().apply(read(&body)).unwrap();
    let m = &i.mechanism;
    assert_eq!((m.total_mass(), m.moving_mass()), (2003.0, 2.0));
    let tail = m.joint(m.find_joint("b").unwrap());
    assert_eq!(tail.spring.as_ref().unwrap().stiffness.as_slice(), [7.0]);
    assert_eq!(tail.damping.as_slice(), [3.0]);
    // Both links turn with the first joint: the tail loads it.
    assert_eq!(mass_matrix(m, &[0.0, 0.0])[(0, 0)], 2.0);
}

/// Springs of the list that do not depend on MJCF: B05 on a spherical URDF joint with a spring from
/// the side file. A ball turned by 40° pulls with 0.8 · 0.6981 = 0.5585 N·m; turned by 200° the
/// short way, 2.234 N·m with the other sign.
#[test]
fn b05_ball_springs_pull_the_short_way() {
    let body = link("a") + &link("b") + &joint("j", "spherical", "a", "b", "");
    let i = SideFile::parse("[joints.j]\nstiffness = 0.8").unwrap().apply(read(&body)).unwrap();
    let j = i.mechanism.joint(JointId::new(1));
    let s = j.spring.as_ref().unwrap();
    assert_eq!(s.stiffness.as_slice(), [0.8, 0.0, 0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 0.8]);
    for (degrees, torque) in [(40.0f64, -0.5585), (200.0, 2.234)] {
        let q = DQuat::from_rotation_x(degrees.to_radians());
        let d = j.kind.difference(&s.rest, &[q.w, q.x, q.y, q.z]);
        assert!((-0.8 * d[0] - torque).abs() < 5e-4, "{degrees}: {d:?}");
        assert!(d[1].abs() < 1e-15 && d[2].abs() < 1e-15);
    }
}
