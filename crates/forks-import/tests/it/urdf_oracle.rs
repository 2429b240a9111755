//! Every URDF model file against what MuJoCo 4.0.0 and Pinocchio 4.1.0 make of it: joints, masses,
//! centres of mass, inertias, poses, mass matrix, gravity forces, couplings; or the reason why it
//! is refused.
//!
//! Both programs fuse links behind fixed joints, so moving bodies are compared with these merged.

use crate::support;

use forks_import::mechanism::{
    Joint, JointId, JointKind, LinkId, Mechanism,
    kinematics::{RANK_TOLERANCE, link_jacobian, mobility},
    lie::{
        SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
    linalg::Matrix,
};
use forks_import::{Import, ImportOptions, SideSource, load_urdf};
use serde_json::Value;
use support::{mass_matrix, models};

/// The expected values have ten digits.
const BOUND: f64 = 1e-8;

/// Files, the part of the name that Pinocchio's numbers have, and what the two programs can say.
const FILES: &[(&str, &str, bool, bool)] = &[
    ("solo12/solo12.nomesh.urdf", "solo12/solo12.urdf", true, true),
    (
        "kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf",
        "kinova_robotiq_mimic/kinova_robotiq.urdf",
        true,
        true,
    ),
    // Massless links, which MuJoCo refuses.
    ("human_urdf/human.nomesh.urdf", "human_urdf/human.urdf", false, true),
    ("epr_cassie_like/robot.nomesh.urdf", "epr_cassie_like/robot.urdf", false, true),
    ("epr_5bar_linkage/robot.nomesh.urdf", "epr_5bar_linkage/robot.urdf", true, true),
    ("epr_robot_delta/robot.nomesh.urdf", "epr_robot_delta/robot.urdf", true, true),
    ("rapier_T12/T12.nomesh.URDF", "rapier_T12/T12.URDF", true, true),
    // Joints of type spherical and a NUL after the root, which Pinocchio refuses.
    ("bullet_urdf/humanoid.urdf", "", true, false),
    // An axis given twice, which MuJoCo refuses; both times it is the same.
    ("bullet_urdf/spirit40newer.urdf", "bullet_urdf/spirit40newer.urdf", false, true),
    // Zero inertia behind a slide, which MuJoCo refuses.
    ("bullet_urdf/cube_no_rotation.urdf", "bullet_urdf/cube_no_rotation.urdf", false, true),
];

fn load(name: &str, balance_inertia: bool) -> Import {
    let options =
        ImportOptions { balance_inertia, side: SideSource::None, ..ImportOptions::default() };
    load_urdf(&models().join(name), &options).unwrap_or_else(|e| panic!("{e}"))
}

fn json(name: &str) -> Value {
    let path = models().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap_or_else(|| panic!("{v}")).iter().map(|x| x.as_f64().unwrap()).collect()
}

fn vector(v: &Value) -> DVec3 {
    DVec3::from_slice(&numbers(v))
}

fn quaternion(v: &Value) -> DQuat {
    let q = numbers(v);
    DQuat::from_xyzw(q[1], q[2], q[3], q[0]).normalize()
}

/// The link that a link is fused into: the nearest one inwards that a moving joint carries.
fn body_of(m: &Mechanism, mut link: LinkId) -> LinkId {
    while let Some(e) = m.forest().carrying_edge(link) {
        if m.joint(e.joint).dof() > 0 {
            break;
        }
        link = e.inner;
    }
    link
}

/// Mass properties of all links that are fused into one, in its frame.
fn fused(m: &Mechanism, body: LinkId) -> SpatialInertia {
    let poses = m.link_poses(&m.start_positions());
    let frame = poses[body.index()].inverse();
    m.moving_links()
        .filter(|(id, l)| body_of(m, *id) == body && !l.inertia.is_zero())
        .map(|(id, l)| l.inertia.transformed(&(frame * poses[id.index()])))
        .reduce(|a, b| a.combined(&b))
        .unwrap_or(SpatialInertia::ZERO)
}

fn moving_joint<'m>(m: &'m Mechanism, name: &str) -> (JointId, &'m Joint) {
    let id = m.find_joint(name).unwrap_or_else(|| panic!("no joint {name}"));
    (id, m.joint(id))
}

/// Indices of our velocity coordinates in the order of the other program's joints.
fn order<'n>(m: &Mechanism, names: impl Iterator<Item = &'n str>) -> Vec<usize> {
    names.flat_map(|n| m.velocity_range(moving_joint(m, n).0)).collect()
}

/// Σ Jᵀ m g, with the sign of a bias force.
fn gravity_forces(m: &Mechanism, q: &[f64]) -> Vec<f64> {
    let n = m.tree_velocity_count();
    let poses = m.link_poses(q);
    let mut out = vec![0.0; n];
    for (id, l) in m.moving_links().filter(|(_, l)| l.inertia.mass > 0.0) {
        let f = poses[id.index()].rotation.conjugate() * (m.gravity() * -l.inertia.mass);
        let t = l.inertia.center_of_mass.cross(f);
        let j = link_jacobian(m, q, &poses, id);
        for (k, x) in out.iter_mut().enumerate() {
            *x += (0..3).map(|i| j[(i, k)] * f[i] + j[(3 + i, k)] * t[i]).sum::<f64>();
        }
    }
    out
}

/// The largest gravity force; where all cancel, the rounding of their parts of m g r counts (a part
/// of [`BOUND`]).
fn largest_moment(m: &Mechanism, q: &[f64], weight: &[f64]) -> f64 {
    let parts = m.moving_mass() * 9.81 * m.bounding_radius(&m.link_poses(q));
    let rounding = 64.0 * f64::EPSILON * parts / BOUND;
    weight.iter().fold(rounding, |a, x| a.max(x.abs()))
}

fn close(what: &str, x: f64, expected: f64, scale: f64) {
    assert!((x - expected).abs() <= BOUND * scale, "{what}: {x} instead of {expected} ({scale})");
}

#[test]
fn joints_and_bodies_are_mujocos() {
    for (file, ..) in FILES.iter().filter(|f| f.2) {
        let m = load(file, false).mechanism;
        let expected = json(&format!("{file}.mujoco.json"));
        assert_eq!(m.tree_velocity_count() as u64, expected["nv"].as_u64().unwrap(), "{file}");
        assert_eq!(m.tree_position_count() as u64, expected["nq"].as_u64().unwrap(), "{file}");
        let total = expected["total_mass"].as_f64().unwrap();
        close(&format!("{file} mass"), m.moving_mass(), total, total);
        for j in expected["joints"].as_array().unwrap() {
            let name = j["name"].as_str().unwrap();
            let (_, ours) = moving_joint(&m, name);
            let what = format!("{file} {name}");
            assert_eq!(m.link(ours.child).name, j["body"].as_str().unwrap(), "{what}");
            let axis = match (&ours.kind, j["type"].as_str().unwrap()) {
                (JointKind::Revolute { axis }, "hinge")
                | (JointKind::Prismatic { axis }, "slide") => *axis,
                (JointKind::Spherical, "ball") => continue,
                other => panic!("{what}: {other:?}"),
            };
            assert!(axis.distance(vector(&j["axis"])) <= BOUND, "{what}: {axis}");
            close(&what, ours.damping.get(0, 0), j["damping"].as_f64().unwrap(), 1.0);
            match (ours.limits[0], j["limited"].as_u64()) {
                (Some(l), Some(1)) => {
                    let range = numbers(&j["range"]);
                    close(&what, l.lower, range[0], 1.0 + range[0].abs());
                    close(&what, l.upper, range[1], 1.0 + range[1].abs());
                }
                (None, Some(0)) => {}
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}

/// B18: fused children with their inertia turned and moved (solo12, kinova); B22: tool frames are
/// no bodies.
#[test]
fn b18_fused_inertias_and_poses_are_mujocos() {
    for (file, ..) in FILES.iter().filter(|f| f.2) {
        let m = load(file, false).mechanism;
        let expected = json(&format!("{file}.mujoco.json"));
        let poses = m.link_poses(&m.start_positions());
        let r = m.bounding_radius(&poses);
        let bodies = &expected["bodies"].as_array().unwrap()[1..];
        let moving = m.moving_links().filter(|(id, _)| body_of(&m, *id) == *id);
        let carried = moving.filter(|(id, _)| {
            m.forest().carrying_edge(*id).is_some_and(|e| m.joint(e.joint).dof() > 0)
        });
        assert_eq!(carried.count(), bodies.len(), "{file}");
        for b in bodies {
            let name = b["name"].as_str().unwrap();
            let id = m.find_link(name).unwrap_or_else(|| panic!("{file}: no link {name}"));
            let what = format!("{file} {name}");
            let ours = fused(&m, id);
            let mass = b["mass"].as_f64().unwrap();
            close(&what, ours.mass, mass, mass);
            let center = vector(&b["ipos"]);
            assert!(
                ours.center_of_mass.distance(center) <= BOUND * r,
                "{what}: {} {center}",
                ours.center_of_mass
            );
            let turn = DMat3::from_quat(quaternion(&b["iquat"]));
            let tensor = turn * DMat3::from_diagonal(vector(&b["inertia"])) * turn.transpose();
            let scale = numbers(&b["inertia"]).into_iter().fold(0.0, f64::max);
            for (x, y) in ours.inertia.to_cols_array().into_iter().zip(tensor.to_cols_array()) {
                close(&what, x, y, scale);
            }
            let pose = poses[id.index()];
            assert!(pose.translation.distance(vector(&b["xpos_qpos0"])) <= BOUND * r, "{what}");
            let apart = pose.rotation * quaternion(&b["xquat_qpos0"]).conjugate();
            assert!(apart.xyz().length() <= BOUND, "{what}: {apart}");
        }
    }
}

#[test]
fn mass_matrix_and_gravity_are_mujocos() {
    for (file, ..) in FILES.iter().filter(|f| f.2) {
        let m = load(file, false).mechanism;
        let expected = json(&format!("{file}.mujoco.json"));
        let names =
            expected["joints"].as_array().unwrap().iter().map(|j| j["name"].as_str().unwrap());
        let at = order(&m, names);
        let n = at.len();
        let q = m.start_positions();
        let ours = mass_matrix(&m, &q);
        let theirs = numbers(&expected["M_qpos0"]);
        let theirs = Matrix::from_fn(n, n, |i, j| theirs[n * i + j]);
        let bias = numbers(&expected["qfrc_bias_qpos0"]);
        let weight = gravity_forces(&m, &q);
        let most = largest_moment(&m, &q, &weight);
        for i in 0..n {
            for j in 0..n {
                let scale = (theirs[(i, i)] * theirs[(j, j)]).sqrt();
                close(&format!("{file} M[{i}][{j}]"), ours[(at[i], at[j])], theirs[(i, j)], scale);
            }
            close(&format!("{file} bias[{i}]"), weight[at[i]], bias[i], most);
        }
    }
}

#[test]
fn masses_mass_matrix_and_gravity_are_pinocchios() {
    for (file, pinocchio, ..) in FILES.iter().filter(|f| f.3) {
        let m = load(file, false).mechanism;
        let expected = json(&format!("{pinocchio}.pinocchio.json"));
        assert_eq!(m.tree_velocity_count() as u64, expected["nv"].as_u64().unwrap(), "{file}");
        let [moving, base] = ["mass_moving", "mass_base"].map(|k| expected[k].as_f64().unwrap());
        close(&format!("{file} moving mass"), m.moving_mass(), moving, moving);
        close(&format!("{file} total mass"), m.total_mass(), moving + base, moving + base);
        let names = expected["names"].as_array().unwrap();
        let at = order(&m, names[1..].iter().map(|n| n.as_str().unwrap()));
        let q = m.start_positions();
        let (mass, weight) = (mass_matrix(&m, &q), gravity_forces(&m, &q));
        let most = largest_moment(&m, &q, &weight);
        let (diagonal, gravity) = (numbers(&expected["Mdiag"]), numbers(&expected["g"]));
        assert_eq!(diagonal.len(), at.len(), "{file}");
        for (k, &i) in at.iter().enumerate() {
            close(&format!("{file} M[{k}]"), mass[(i, i)], diagonal[k], diagonal[k]);
            close(&format!("{file} g[{k}]"), weight[i], gravity[k], most);
        }
    }
}

/// B27: five couplings of a gripper, also of continuous joints, with multipliers ±1 and rank 5.
#[test]
fn b27_couplings_are_mujocos() {
    let file = "kinova_robotiq_mimic/kinova_robotiq.nomesh.urdf";
    let m = load(file, false).mechanism;
    let expected = json(&format!("{file}.mujoco.json"));
    let theirs = expected["equality"].as_array().unwrap();
    assert_eq!((m.couplings().len(), theirs.len()), (5, 5));
    let names: Vec<&str> = expected["joints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|j| j["name"].as_str().unwrap())
        .collect();
    for e in theirs {
        let name = |k: &str| names[e[k].as_u64().unwrap() as usize];
        let data = numbers(&e["data"]);
        let ours = m.couplings().iter().find(|c| c.name == name("obj1")).unwrap();
        let t = &ours.terms[0];
        let joints: Vec<&str> =
            t.combination.terms.iter().map(|(c, _)| m.joint(c.joint).name.as_str()).collect();
        assert_eq!(joints, [name("obj1"), name("obj2")]);
        assert_eq!(t.polynomial, [-data[0], 1.0]);
        assert_eq!((t.combination.terms[0].1, t.combination.terms[1].1), (1.0, -data[1]));
    }
    let q = m.start_positions();
    let c = mobility(&m, &q, &m.link_poses(&q), RANK_TOLERANCE);
    assert_eq!((c.rows, c.rank, c.mobility), (5, 5, 8));
}

/// B23: tensors that no body has, as the vendor ships them. MuJoCo refuses the file for the same
/// reason; balanced, masses are those that Pinocchio reads.
#[test]
fn b23_allegro_hand_is_refused_unless_balanced() {
    let file = "allegro_right_hand/allegro_right_hand.nomesh.urdf";
    let plain = ImportOptions::default();
    let message = load_urdf(&models().join(file), &plain).unwrap_err().to_string();
    for word in ["allegro_right_hand.nomesh.urdf:", "link 'link_3.0'", "A + B >= C"] {
        assert!(message.contains(word), "{message}");
    }
    let i = load(file, true);
    let expected = json("allegro_right_hand/allegro_right_hand.urdf.pinocchio.json");
    assert_eq!(i.mechanism.tree_velocity_count() as u64, expected["nv"].as_u64().unwrap());
    let moving = expected["mass_moving"].as_f64().unwrap();
    close("moving mass", i.mechanism.moving_mass(), moving, moving);
    assert!(i.notes.iter().any(|n| n.attribute == "inertia" && n.reason.contains("mean")));
}

/// Unexpanded macros in numbers; MuJoCo and Pinocchio refuse the file too.
#[test]
fn husky_is_refused_for_its_macros() {
    let path = models().join("bullet_urdf/husky.urdf");
    let message = load_urdf(&path, &ImportOptions::default()).unwrap_err().to_string();
    for word in ["husky.urdf:", "origin", "xyz", "$(optenv"] {
        assert!(message.contains(word), "{message}");
    }
}
