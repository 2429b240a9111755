//! Side files: springs and loops that URDF cannot express, and what is refused in them.

use crate::support;

use std::path::{Path, PathBuf};

use forks_import::mechanism::{
    JointKind, Mechanism,
    kinematics::{RANK_TOLERANCE, loops, mobility},
};
use forks_import::{
    Import, ImportError, ImportOptions, SideFile, SideSource, load_model, load_urdf, parse_urdf,
};

/// A four-bar linkage 1.0/0.4/0.9/0.7 as two branches that end in coupler and rocker, hinges about
/// y; crank and rocker stand along x at zero, so that the loop is open there.
const FOUR_BAR: &str = r#"<robot name="four-bar">
  <link name="base"/>
  <link name="crank"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="coupler"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="rocker"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="crank"/><child link="coupler"/><axis xyz="0 1 0"/>
    <origin xyz="0.4 0 0"/></joint>
  <joint name="d" type="continuous"><parent link="base"/><child link="rocker"/><axis xyz="0 1 0"/>
    <origin xyz="1 0 0"/></joint>
</robot>"#;

/// Start angles near the closed pose with the crank at 60° (z up, so turning by −60°).
const NEAR: &str = "[joints.a]\nstart = -1.05\n[joints.b]\nstart = 0.7\n[joints.d]\nstart = -1.4\n";

fn closing(kind: &str) -> String {
    format!(
        "[[loops]]\nname = \"c\"\ntype = \"{kind}\"\na = {{ link = \"coupler\", xyz = [0.9, 0, 0] \
        }}\nb = {{ link = \"rocker\", xyz = [0.7, 0, 0] }}\n"
    )
}

fn bar() -> Import {
    parse_urdf(FOUR_BAR, &ImportOptions::default()).unwrap()
}

fn with(side: &str) -> Result<Import, ImportError> {
    SideFile::parse(side)?.apply(bar())
}

fn refused(side: &str, words: &[&str]) {
    let message = match with(side) {
        Ok(_) => panic!("accepted: {side}"),
        Err(e) => e.to_string(),
    };
    for w in words {
        assert!(message.contains(w), "'{w}' is not in: {message}\n{side}");
    }
}

/// Largest gap of any loop at the start pose, metres and radians together.
fn gap(m: &Mechanism) -> f64 {
    let q = m.start_positions();
    loops::constraint_residual(m, &q, &m.link_poses(&q)).iter().fold(0.0, |a, x| a.max(x.abs()))
}

fn counts(m: &Mechanism) -> (usize, usize, usize) {
    let q = m.start_positions();
    let c = mobility(m, &q, &m.link_poses(&q), RANK_TOLERANCE);
    (c.rows, c.rank, c.mobility)
}

/// B09: the same planar loop closed by a ball (3 rows) or a hinge (5 rows) keeps one motion, closed
/// by a weld of two links that a hinge would join it would keep none; here the weld takes the angle
/// of the last hinge away.
#[test]
fn b09_a_planar_loop_by_ball_hinge_and_weld() {
    for (kind, rows, rank, left) in [("ball", 3, 2, 1), ("hinge", 5, 2, 1), ("connect", 3, 2, 1)] {
        let axis = if kind == "hinge" { "axis = [0, 1, 0]\n" } else { "" };
        let i = with(&(closing(kind) + axis + NEAR)).unwrap();
        assert_eq!(counts(&i.mechanism), (rows, rank, left), "{kind}");
        assert!(gap(&i.mechanism) < 1e-11, "{kind}: {}", gap(&i.mechanism));
    }
    // The angle between coupler and rocker where the crank stands at 60°: cos γ = (0.9² + 0.7² −
    // 0.76) / (2 · 0.9 · 0.7).
    let turned =
        closing("weld").replace("[0.7, 0, 0]", "[0.7, 0, 0], rpy = [0, 1.1278852827212578, 0]");
    let i = with(&(turned + NEAR)).unwrap();
    assert_eq!(counts(&i.mechanism), (6, 3, 0));
    let crank = i.mechanism.start_positions()[0];
    assert!((crank + std::f64::consts::FRAC_PI_3).abs() < 1e-11, "{crank}");
}

/// The assembled pose is the closed form of the four-bar for the crank angle that comes out.
#[test]
fn an_assembled_loop_is_the_linkage() {
    let i = with(&(closing("ball") + NEAR)).unwrap();
    let q = i.mechanism.start_positions();
    let elbow = [0.4 * q[0].cos(), -0.4 * q[0].sin()];
    let coupler = q[0] + q[1];
    let tip = [elbow[0] + 0.9 * coupler.cos(), elbow[1] - 0.9 * coupler.sin()];
    let other = [1.0 + 0.7 * q[2].cos(), -0.7 * q[2].sin()];
    assert!((tip[0] - other[0]).hypot(tip[1] - other[1]) < 1e-11, "{tip:?} {other:?}");
}

/// At q = 0 all links lie in one line, a singular pose: the assembly starts beside it.
#[test]
fn a_loop_is_assembled_from_a_straight_start() {
    let i = with(&closing("ball")).unwrap();
    assert!(gap(&i.mechanism) < 1e-11);
    assert_eq!(counts(&i.mechanism).1, 2);
}

#[test]
fn a_loop_that_is_too_short_says_how_far_it_stays_open() {
    // The frames are 5 m out on both sides of hinges 1 m apart: reach 0.4 + 0.9 against 1 + 5.
    let side = closing("ball").replace("0.7", "5.7");
    // Nearest: coupler end at distance 1.3 from one hinge, the other frame at least 5.7 − 1 away
    // from it.
    refused(&side, &["line 1", "loop 'c'", "'coupler'", "'rocker'", "3.4000e0 m", "rad apart"]);
}

#[test]
fn springs_rest_at_the_assembled_pose_unless_told_otherwise() {
    let more = NEAR
        .replace("start = -1.05", "start = -1.05\nstiffness = 40\ndamping = 0.5\narmature = 0.01");
    let i = with(&(closing("ball") + &more)).unwrap();
    let m = &i.mechanism;
    let j = &m.joints()[m.find_joint("a").unwrap().index()];
    let s = j.spring.as_ref().unwrap();
    assert_eq!(
        (s.stiffness.as_slice(), j.damping.as_slice(), &j.armature[..]),
        (&[40.0][..], &[0.5][..], &[0.01][..])
    );
    assert_eq!(s.rest, j.start);
    assert!((j.start[0] + 1.05).abs() < 0.2 && j.start[0] != -1.05, "{:?}", j.start);
    let i = with("[joints.a]\nstiffness = 2\nrest = 0.25\n").unwrap();
    assert_eq!(i.mechanism.joints()[1].spring.as_ref().unwrap().rest, [0.25]);
    assert_eq!(i.mechanism.joints()[1].start, [0.0]);
}

#[test]
fn closing_joints_have_springs_too() {
    let side = closing("hinge") + "axis = [0, 2, 0]\nstiffness = 3\ndamping = 0.1\n" + NEAR;
    let i = with(&side).unwrap();
    let j = i.mechanism.joints().last().unwrap();
    assert_eq!((j.name.as_str(), j.damping.as_slice()), ("c", &[0.1][..]));
    let s = j.spring.as_ref().unwrap();
    assert_eq!((s.stiffness.as_slice(), &s.rest), (&[3.0][..], &j.start));
}

#[test]
fn every_kind_of_closure() {
    for (kind, name, dof) in [
        ("weld", "fixed", 0),
        ("fixed", "fixed", 0),
        ("hinge", "revolute", 1),
        ("revolute", "revolute", 1),
        ("ball", "spherical", 3),
        ("connect", "spherical", 3),
        ("spherical", "spherical", 3),
        ("slide", "prismatic", 1),
        ("prismatic", "prismatic", 1),
        ("cylindrical", "cylindrical", 2),
        ("planar", "planar", 3),
    ] {
        // The two ends of crank and coupler at the joint between them coincide already.
        let side = format!(
            "[[loops]]\ntype = \"{kind}\"\na = {{ link = \"crank\", xyz = [0.4, 0, 0] }}\nb = \
            \"coupler\"\n"
        );
        let i = with(&side).unwrap();
        let j = i.mechanism.joints().last().unwrap();
        assert_eq!((j.kind.name(), j.kind.dof()), (name, dof));
    }
}

#[test]
fn frames_turn_as_in_urdf_or_by_quaternion() {
    let side = r#"
        [[loops]]
        type = "weld"
        a = { link = "base", xyz = [1, 2, 3], rpy = [0, 0, 1.5707963267948966] }
        b = { link = "rocker", quat_wxyz = [1, 0, 0, 1] }
        [joints.d]
        start = 0
    "#;
    // Cannot be closed: the message has the distance, √((1 − 1)² + 2² + 3²), as the rocker's hinge
    // does not slide.
    let message = with(side).unwrap_err().to_string();
    assert!(message.contains("3.6056e0 m"), "{message}");
}

#[test]
fn what_is_wrong_is_named_with_line_key_and_value() {
    let joint = |line: &str| format!("[joints.a]\n{line}\n");
    refused("x = 1", &["line 1", "side file", "x=\"1\"", "not known"]);
    refused(&joint("stifness = 3"), &["line 2", "joint 'a'", "stifness=\"3\"", "not known"]);
    refused(&joint("stiffness = -3"), &["line 2", "stiffness=\"-3\"", "negative"]);
    refused(&joint("stiffness = nan"), &["line 2", "stiffness=\"nan\"", "not a finite number"]);
    refused(&joint("damping = inf"), &["line 2", "damping=\"inf\"", "not a finite number"]);
    refused(&joint("rest = 1e400"), &["line 2", "rest=\"1e400\"", "not a finite number"]);
    refused(&joint("stiffness = \"3\""), &["line 2", "stiffness=\"3\"", "not a finite number"]);
    refused(&joint("stiffness = 1,5"), &["line 2", "not valid TOML"]);
    refused(&joint("stiffness = [1, 2]"), &["line 2", "joint 'a'", "1, 2", "2 numbers"]);
    refused(&joint("rest = 1"), &["line 1", "joint 'a'", "no stiffness"]);
    refused("\n[joints.e]\nstiffness = 1", &["line 2", "name=\"e\"", "names no joint"]);
    refused("joints = 3", &["line 1", "joints=\"3\"", "not a table"]);
    refused("effectors = [\"tip\"]", &["line 1", "effectors=\"tip\"", "names no link or site"]);
    refused("effectors = [\"crank\", \"crank\"]", &["given twice"]);
    refused("effectors = \"crank\"", &["not a list"]);
    refused("loops = [1]", &["line 1", "not a table"]);
    refused("[[loops]]\na = \"base\"\nb = \"crank\"", &["line 1", "loop #0", "'type' is missing"]);
    let ends = "a = \"base\"\nb = \"crank\"";
    refused(&format!("[[loops]]\n{ends}\ntype = \"glue\""), &["line 4", "type=\"glue\"", "weld"]);
    let hinge = |axis: &str| format!("[[loops]]\n{ends}\ntype = \"hinge\"\naxis = {axis}");
    refused(&hinge("[0, 0, 0]"), &["line 5", "axis", "no direction"]);
    refused(&hinge("[0, 0]"), &["line 5", "2 numbers, expected 3"]);
    refused(&hinge("[0, nan, 0]"), &["line 5", "axis=\"nan\"", "finite"]);
    refused(
        &format!("[[loops]]\n{ends}\ntype = \"weld\"\naxis = [0, 0, 1]"),
        &["axis", "no meaning"],
    );
    refused(
        &format!("[[loops]]\n{ends}\ntype = \"weld\"\nstiffness = 1"),
        &["weld", "no coordinate"],
    );
    refused(
        "[[loops]]\ntype = \"weld\"\na = \"base\"\nb = \"leg\"",
        &["line 4", "b=\"leg\"", "names no link"],
    );
    refused(
        "[[loops]]\ntype = \"weld\"\na = \"base\"\nb = \"base\"",
        &["joins link 'base' to itself"],
    );
    refused(
        "[[loops]]\nname = \"a\"\ntype = \"weld\"\na = \"base\"\nb = \"crank\"",
        &["joint name 'a'", "twice"],
    );
    let frame = |f: &str| {
        format!("[[loops]]\ntype = \"weld\"\na = {{ link = \"base\", {f} }}\nb = \"crank\"")
    };
    refused(&frame("xyz = [0, 0]"), &["line 3", "xyz", "2 numbers"]);
    refused(&frame("rpy = [0,0,0], quat_wxyz = [1,0,0,0]"), &["line 3", "given twice"]);
    refused(&frame("quat_wxyz = [0,0,0,0]"), &["line 3", "zero quaternion"]);
    refused(&frame("pos = [0,0,0]"), &["line 3", "pos=", "not known"]);
    refused("[joints.a]\nstiffness = 1\nstiffness = 2", &["line 3", "not valid TOML"]);
    refused("a = [[[[", &["not valid TOML"]);
    refused("[joints.\"\"]\nstiffness = 1", &["line 1", "without a name"]);
    let same = "[[loops]]\nname = \"x\"\ntype = \"weld\"\na = \"crank\"\nb = \"base\"\n";
    refused(&(same.to_owned() + same), &["line 6", "loop name 'x'", "twice"]);
    let far = format!("[joints.a]\nstart = 1e308\n[joints.b]\nstart = 1e308\n{}", closing("ball"));
    if let Err(e) = with(&far) {
        assert!(!e.to_string().contains("NaN"), "{e}");
    }
}

#[test]
fn hostile_toml_is_refused_without_a_crash() {
    let deep = format!("a = {}", "[".repeat(100_000));
    refused(&deep, &["not valid TOML"]);
    let dotted = format!("{}b = 1", "a.".repeat(100_000));
    refused(&dotted, &["not valid TOML"]);
    refused("a = \"\0\"", &["not valid TOML"]);
}

fn directory(name: &str) -> PathBuf {
    let d = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier run left behind does not count.
    let _ = std::fs::remove_dir_all(&d);
    std::fs::create_dir_all(&d).unwrap();
    d
}

#[test]
fn the_file_beside_the_model_is_found_and_noted() {
    let d = directory("side-beside");
    let model = d.join("bar.urdf");
    std::fs::write(&model, FOUR_BAR).unwrap();
    let side = closing("ball") + NEAR + "";
    let text = format!("effectors = [\"coupler\"]\n{side}");
    let options = ImportOptions::default();
    for name in ["bar.urdf.forks.toml", "bar.forks.toml"] {
        std::fs::write(d.join(name), &text).unwrap();
        for read in [load_model, load_urdf] {
            let i = read(&model, &options).unwrap();
            assert_eq!(i.effectors, ["coupler"]);
            assert_eq!(i.mechanism.forest().closures().len(), 1);
            let note = i.notes.iter().find(|n| n.element == "side file").unwrap().to_string();
            for word in [name, "3 joints", "1 loop", "1 end effector", "assembled"] {
                assert!(note.contains(word), "{note}");
            }
        }
        std::fs::remove_file(d.join(name)).unwrap();
    }
    for name in ["bar.urdf.forks.toml", "bar.forks.toml"] {
        std::fs::write(d.join(name), &text).unwrap();
    }
    let message = load_model(&model, &options).unwrap_err().to_string();
    assert!(message.contains("only one can count"), "{message}");
    let none = ImportOptions { side: SideSource::None, ..Default::default() };
    assert!(load_model(&model, &none).unwrap().mechanism.forest().closures().is_empty());
    let other = d.join("other.toml");
    std::fs::write(&other, "\n[joints.q]\n").unwrap();
    let given = ImportOptions { side: SideSource::File(other), ..Default::default() };
    let message = load_model(&model, &given).unwrap_err().to_string();
    assert!(message.contains("other.toml:2: joints: name=\"q\" names no joint"), "{message}");
    let missing = ImportOptions { side: SideSource::File(d.join("no.toml")), ..Default::default() };
    assert!(load_model(&model, &missing).unwrap_err().to_string().contains("no.toml: cannot read"));
}

/// Quaternions of ball joints: any length but zero, four numbers.
#[test]
fn positions_of_ball_joints() {
    let ball = FOUR_BAR.replacen("continuous", "spherical", 1);
    let with = |text: &str| {
        let robot = parse_urdf(&ball, &ImportOptions::default()).unwrap();
        SideFile::parse(&format!("[joints.a]\nstiffness = 1\n{text}")).unwrap().apply(robot)
    };
    let i = with("start = [2, 0, 0, 2]\nrest = [0, 0, 3, 0]").unwrap();
    let j = &i.mechanism.joints()[1];
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert!((j.start[0] - half).abs() < 1e-15 && (j.start[3] - half).abs() < 1e-15);
    assert_eq!(j.spring.as_ref().unwrap().rest, [0.0, 0.0, 1.0, 0.0]);
    let i = with("start = [2, 0, 0, 2]").unwrap();
    assert_eq!(
        i.mechanism.joints()[1].spring.as_ref().unwrap().rest,
        i.mechanism.joints()[1].start
    );
    for (bad, words) in [
        ("start = [0, 0, 0, 0]", ["start=\"0, 0, 0, 0\"", "quaternion of length 0"]),
        ("rest = [0, 0, 0, 0]", ["rest=\"0, 0, 0, 0\"", "quaternion of length 0"]),
        ("start = 1", ["start=\"1\"", "1 numbers, expected 4"]),
    ] {
        let message = with(bad).unwrap_err().to_string();
        assert!(message.starts_with("line 3: joint 'a'"), "{message}");
        words.iter().for_each(|w| assert!(message.contains(w), "{message}"));
    }
}

/// Side files go with MJCF as well: frames at sites, springs that replace those of the file and
/// keep their rest.
#[test]
fn side_files_of_mjcf() {
    let import = support::model(
        r#"<body name="a"><joint name="j" axis="0 1 0" stiffness="1" springref="30"/>
            <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="s" pos="0.1 0 0"/></body>"#,
        "",
    );
    let side = SideFile::parse(
        "effectors = [\"site:s\"]\n[joints.j]\nstiffness = 5\n[[loops]]\ntype = \"ball\"\na = \
        \"site:s\"\nb = { link = \"world\", xyz = [0.0, 0.0, -0.1] }",
    );
    let i = side.unwrap().apply(import).unwrap();
    let j = &i.mechanism.joints()[0];
    let s = j.spring.as_ref().unwrap();
    assert_eq!(s.stiffness.as_slice(), [5.0]);
    assert!((s.rest[0] - 30f64.to_radians()).abs() < 1e-15);
    // A quarter turn takes the site from the x axis to −z.
    assert!((j.start[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-10, "{:?}", j.start);
    assert!(matches!(i.mechanism.joints()[1].kind, JointKind::Spherical));
}
