//! Side files and the arguments that replace them, and what `inspect` shows of loops, springs and
//! trees.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;

fn forks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forks")).args(arguments).output().expect("the program starts")
}

fn model(name: &str) -> String {
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    models.join(name).display().to_string()
}

fn json(arguments: &[&str]) -> Value {
    let o = forks(arguments);
    assert_eq!(o.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&o.stderr));
    serde_json::from_slice(&o.stdout).unwrap()
}

fn text(arguments: &[&str]) -> String {
    let o = forks(arguments);
    assert_eq!(o.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&o.stderr));
    String::from_utf8(o.stdout).unwrap()
}

/// Refused with one sentence that has these words.
fn refused(arguments: &[&str], words: &[&str]) {
    let o = forks(arguments);
    let message = String::from_utf8(o.stderr).unwrap();
    assert_eq!(o.status.code(), Some(1), "{arguments:?}: {message}");
    assert!(o.stdout.is_empty() && message.lines().count() == 1, "{message}");
    for w in words {
        assert!(message.contains(w), "'{w}' is not in: {message}");
    }
}

fn file(name: &str, text: &str) -> String {
    let d = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("side");
    std::fs::create_dir_all(&d).unwrap();
    std::fs::write(d.join(name), text).unwrap();
    d.join(name).display().to_string()
}

#[test]
fn parallel_robots_have_their_published_mobility() {
    for (name, rows, rank, mobility) in [
        ("epr_5bar_linkage", 6, 3, 3),
        ("epr_robot_delta", 18, 9, 5),
        ("epr_cassie_like", 12, 12, 7),
    ] {
        let v = json(&["inspect", &model(&format!("{name}/robot.nomesh.urdf")), "--json"]);
        assert_eq!(v["constraint_rows"], rows, "{name}");
        assert_eq!(v["constraint_rank"], rank, "{name}");
        assert_eq!(v["redundant_rows"], rows - rank, "{name}");
        assert_eq!(v["mobility"], mobility, "{name}");
        for gap in v["closure_gaps"].as_array().unwrap() {
            assert!(gap[0].as_f64().unwrap() < 1e-11 && gap[1].as_f64().unwrap() < 1e-11, "{gap}");
        }
        let noted = |n: &Value| {
            n["element"] == "side file" && n["file"].as_str().unwrap().ends_with("forks.toml")
        };
        assert!(v["notes"].as_array().unwrap().iter().any(noted), "{name}");
    }
}

#[test]
fn arguments_replace_a_side_file() {
    let robot = model("epr_5bar_linkage/robot.nomesh.urdf");
    let open = json(&["inspect", &robot, "--no-side", "--json"]);
    assert_eq!((&open["mobility"], &open["loop_closures"]), (&6.into(), &Value::Array(vec![])));
    let arguments = [
        "inspect",
        &robot,
        "--no-side",
        "--close",
        "weld:sphere,sphere_2",
        "--stiffness",
        "mot1=40",
        "--damping",
        "mot1=2",
        "--json",
    ];
    let v = json(&arguments);
    assert_eq!((&v["mobility"], &v["constraint_rank"]), (&3.into(), &3.into()));
    let spring = &v["springs"][0];
    assert_eq!((&spring["name"], &spring["type"]), (&"mot1".into(), &"joint".into()));
    assert_eq!(
        (&spring["stiffness"], &spring["damping"]),
        (&serde_json::json!([[40.0]]), &serde_json::json!([[2.0]]))
    );
    assert!(spring["rest"][0].as_f64().unwrap() != 0.0, "at rest where the loop is closed");
    let with = |more: &[&str], words: &[&str]| {
        refused(&[&["inspect", robot.as_str()][..], more].concat(), words)
    };
    with(&["--stiffness", "motor=1"], &["--stiffness", "motor", "names no joint"]);
    with(&["--close", "glue:rod,rod_2"], &["--close", "glue", "weld"]);
    with(&["--close", "weld:rod,beam"], &["--close", "beam", "names no link"]);
    with(&["--side", "no-such.toml"], &["no-such.toml", "cannot read"]);
    for bad in [&["--stiffness", "mot1=-1"][..], &["--close", "rod"], &["--side", "a", "--no-side"]]
    {
        assert_eq!(
            forks(&[&["inspect", robot.as_str()][..], bad].concat()).status.code(),
            Some(2),
            "{bad:?}"
        );
    }
    let stepped = ["simulate", "--reduced", "x", "--time", "1", "--step", "1", "--side", "y"];
    assert_eq!(forks(&stepped).status.code(), Some(2));
}

#[test]
fn a_loop_that_stays_open_says_how_far() {
    let robot = model("epr_5bar_linkage/robot.nomesh.urdf");
    let side = file(
        "far.toml",
        "\n[[loops]]\ntype = \"ball\"\na = { link = \"built\", xyz = [9, 0, 0] }\nb = \"rod\"\n",
    );
    // The rod hangs on the hinge at (0.1, 0.15, 0.042) and has its frame there.
    refused(
        &["inspect", &robot, "--side", &side],
        &["far.toml:2", "'built'", "'rod'", "8.9014e0 m"],
    );
}

#[test]
fn end_effectors_come_from_the_side_file_unless_given() {
    let robot = model("epr_5bar_linkage/robot.nomesh.urdf");
    let closed = "[[loops]]\ntype = \"weld\"\na = \"sphere\"\nb = \"sphere_2\"\n";
    let side = file("one.toml", &format!("effectors = [\"effector\"]\n{closed}"));
    let common = ["--side", &side, "--default-stiffness", "10", "--json"];
    let v = json(&[&["reduce", robot.as_str()][..], &common].concat());
    assert_eq!((&v["effectors"], &v["rank"]), (&serde_json::json!(["effector"]), &2.into()));
    let given = json(&[&["reduce", robot.as_str()][..], &common, &["--effector", "rod"]].concat());
    assert_eq!(given["effectors"], serde_json::json!(["rod"]));
    let wrench = ["--wrench", "0,0.1,0,0,0,0", "--no-gravity"];
    let v = json(&[&["statics", robot.as_str()][..], &common, &wrench].concat());
    assert_eq!(v["status"], "converged");
    let two = file("two.toml", &format!("effectors = [\"effector\", \"rod\"]\n{closed}"));
    let several =
        ["statics", &robot, "--side", &two, "--default-stiffness", "10", "--wrench", "0,0,0,0,0,0"];
    assert_eq!(forks(&several).status.code(), Some(2));
    assert_eq!(forks(&["reduce", &robot]).status.code(), Some(2));
}

/// B16: a five-bar closed by the side file, stiff motors and free passive joints: the compliance of
/// the point between the two arms is that of the closed form JᵀKJ with the Jacobian of the linkage
/// by finite differences.
#[test]
fn b16_a_five_bar_with_two_driven_joints() {
    let link = |n: &str| {
        format!(
            "<link name=\"{n}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" \
            izz=\"1\"/></inertial></link>"
        )
    };
    let joint = |n: &str, p: &str, c: &str, x: f64| {
        format!(
            "<joint name=\"{n}\" type=\"continuous\"><parent link=\"{p}\"/><child \
            link=\"{c}\"/><axis xyz=\"0 1 0\"/><origin xyz=\"{x} 0 0\"/></joint>"
        )
    };
    let robot = ["base", "l1", "l2", "r1", "r2"].map(link).concat()
        + &joint("m1", "base", "l1", 0.0)
        + &joint("p1", "l1", "l2", 0.5)
        + &joint("m2", "base", "r1", 0.6)
        + &joint("p2", "r1", "r2", 0.5);
    let path = file("five-bar.urdf", &format!("<robot name=\"five-bar\">{robot}</robot>"));
    file(
        "five-bar.forks.toml",
        "[joints]\nm1 = { start = -2.0, stiffness = 100 }\np1 = { start = 1.2 }\nm2 = { start = \
        -1.1, stiffness = 50 }\np2 = { start = -1.2 }\n[[loops]]\ntype = \"ball\"\na = { link = \
        \"l2\", xyz = [0.6, 0, 0] }\nb = { link = \"r2\", xyz = [0.6, 0, 0] }\n",
    );
    let v = json(&["inspect", &path, "--json"]);
    assert_eq!((&v["mobility"], &v["constraint_rank"]), (&2.into(), &2.into()));
    let angles: Vec<f64> = ["m1", "m2"]
        .iter()
        .map(|n| {
            v["springs"].as_array().unwrap().iter().find(|s| s["name"] == **n).unwrap()["rest"][0]
                .as_f64()
                .unwrap()
        })
        .collect();
    // x of the point between the arms: intersection of the circles of radius 0.6 about the elbows,
    // upper one.
    let point = |a: f64, b: f64| {
        let (x1, z1) = (0.5 * a.cos(), -0.5 * a.sin());
        let (x2, z2) = (0.6 + 0.5 * b.cos(), -0.5 * b.sin());
        let (dx, dz) = (x2 - x1, z2 - z1);
        let d = dx.hypot(dz);
        let h = (0.36 - d * d / 4.0).sqrt();
        [(x1 + x2) / 2.0 - h * dz / d, (z1 + z2) / 2.0 + h * dx / d]
    };
    let step = 1e-5;
    let column = |i: usize| {
        let mut up = [angles[0], angles[1]];
        let mut down = up;
        up[i] += step;
        down[i] -= step;
        let (p, q) = (point(up[0], up[1]), point(down[0], down[1]));
        [(p[0] - q[0]) / (2.0 * step), (p[1] - q[1]) / (2.0 * step)]
    };
    let (j1, j2) = (column(0), column(1));
    // The frame of l2 is at its elbow, so the tip is taken by the lever of 0.6 m along x of l2.
    let v = json(&["reduce", &path, "--effector", "l2", "--json"]);
    let c = |i: usize, k: usize| v["compliance"][i][k].as_f64().unwrap();
    // Tip: v_z' = v_z − 0.6 ω_y, v_x' = v_x in the axes of l2.
    let (xx, xz, zz) = (c(0, 0), c(0, 2) - 0.6 * c(0, 4), c(2, 2) - 1.2 * c(2, 4) + 0.36 * c(4, 4));
    let trace = xx + zz;
    let determinant = xx * zz - xz * xz;
    let expected = |i: usize, k: usize| j1[i] * j1[k] / 100.0 + j2[i] * j2[k] / 50.0;
    let (t, d) =
        (expected(0, 0) + expected(1, 1), expected(0, 0) * expected(1, 1) - expected(0, 1).powi(2));
    // Trace and determinant do not depend on the axes; central differences are good to 1e-9.
    assert!((trace / t - 1.0).abs() < 1e-7, "{trace} {t}");
    assert!((determinant / d - 1.0).abs() < 1e-7, "{determinant} {d}");
}

#[test]
fn the_tree_loops_and_springs_are_shown() {
    let t = text(&["inspect", &model("agility_cassie/cassie.nomesh.xml")]);
    for line in [
        "loop equations   12, 10 of them independent",
        "redundant        2",
        "mobility         22",
        "├─ left-hip-roll ",
        "│  left-hip-yaw ",
        "│  ├─ left-achilles-rod ",
        "└─ right-hip-roll ",
        "loop closures (4)",
        "left-shin ",
        "1500",
        "1250",
    ] {
        assert!(t.contains(line), "'{line}' is not in:\n{t}");
    }
    let t = text(&["inspect", &model("robotiq_2f85/2f85.nomesh.xml")]);
    for line in [
        "loop equations   7, 5 of them independent",
        "mobility         3",
        "couplings (1)",
        "right_spring_link_joint",
        "0.05",
        "2.62",
    ] {
        assert!(t.contains(line), "'{line}' is not in:\n{t}");
    }
    let t = text(&["inspect", &model("epr_robot_delta/robot.nomesh.urdf")]);
    for line in [
        "dof              14",
        "redundant        9",
        "mobility         5",
        "closedloop1",
        "side file",
        "assembled",
    ] {
        assert!(t.contains(line), "'{line}' is not in:\n{t}");
    }
    assert!(t.lines().all(|l| l.trim_end() == l));
}

/// B26: links of 654 t beside one of 1e-9 kg in a closed five-bar: the accelerations keep the loop
/// closed, and along every motion that the loop allows the forces balance.
#[test]
fn b26_forces_balance_beside_extreme_masses() {
    use forks_import::{ImportOptions, load_urdf};
    use forks_mechanism::{kinematics::loops, linalg::dense};
    let path = model("epr_5bar_linkage/robot.nomesh.urdf");
    let v = json(&["dynamics", &path, "--json"]);
    let list = |x: &Value| -> Vec<f64> {
        x.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let mass: Vec<Vec<f64>> = v["mass_matrix"].as_array().unwrap().iter().map(list).collect();
    let (bias, a) = (list(&v["bias"]), list(&v["acceleration"]));
    let m = load_urdf(path.as_ref(), &ImportOptions::default()).unwrap().mechanism;
    let q = m.start_positions();
    let g = loops::constraint_jacobian(&m, &q, &m.link_poses(&q));
    assert_eq!((g.rows(), g.columns(), a.len()), (6, 6, 6), "a weld has no coordinates of its own");
    let n = a.len();
    let svd = dense::full_svd(&g.transpose()).expect("finite");
    let rank = dense::numerical_rank(&svd.s, 1e-8);
    assert_eq!(rank, 3);
    let largest = a.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    assert!(largest > 0.1, "gravity moves the arms: {a:?}");
    for row in 0..g.rows() {
        let open: f64 = (0..n).map(|k| g[(row, k)] * a[k]).sum();
        assert!(open.abs() <= 1e-9 * largest, "row {row}: {open}");
    }
    let force: Vec<f64> =
        (0..n).map(|i| (0..n).map(|j| mass[i][j] * a[j]).sum::<f64>() + bias[i]).collect();
    let weight = bias.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    // The columns of U beyond the rank span the motions.
    for k in rank..n {
        let power: f64 = (0..n).map(|i| svd.u[(i, k)] * force[i]).sum();
        assert!(power.abs() <= 1e-9 * weight, "motion {k}: {power} of {weight}");
    }
}

/// Hostile files end with one sentence and exit code 1.
#[test]
fn hostile_files_exit_with_one() {
    let large = file("large.urdf", "");
    std::fs::File::options().write(true).open(&large).unwrap().set_len(100 << 20).unwrap();
    refused(&["inspect", &large], &["large.urdf", "larger than 64 MiB"]);
    std::fs::remove_file(&large).unwrap();
    let bomb = file("bomb.urdf", "<!DOCTYPE r [<!ENTITY a \"b\">]>\n<robot name=\"&a;\"/>");
    refused(&["inspect", &bomb], &["bomb.urdf:1", "document type definition"]);
    let cycle = file(
        "cycle.urdf",
        "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" \
        type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>\n<joint name=\"k\" \
        type=\"fixed\"><parent link=\"b\"/><child link=\"a\"/></joint></robot>",
    );
    refused(&["inspect", &cycle], &["cycle.urdf:", "'a'", "'b'", "cycle"]);
    let hand = model("allegro_right_hand/allegro_right_hand.nomesh.urdf");
    refused(&["inspect", &hand], &["allegro_right_hand.nomesh.urdf:", "link_3.0", "A + B >= C"]);
    let v = json(&["inspect", &hand, "--balance-inertia", "--json"]);
    assert_eq!(v["dof"], 16);
}
