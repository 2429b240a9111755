//! Real model files against what MuJoCo 4.0.0 makes of them. Its numbers are rounded to nine or ten
//! digits, hence the relative tolerance.

use crate::support;

use forks_import::mechanism::{
    Joint, JointId, JointKind,
    kinematics::loops,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
        so3::quaternion_from_wxyz,
    },
    linalg::{Matrix, dense},
};
use serde_json::Value;
use support::{MODELS, load, mass_matrix, models, mujoco_velocities, passive_forces, real_links};

/// Rounding of the expected values: half a unit of the ninth digit.
const DIGITS: f64 = 5e-9;

fn expected(name: &str) -> Value {
    let path = models().join(format!("{name}.mujoco.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(a) => a.iter().flat_map(numbers).collect(),
        v => vec![v.as_f64().unwrap()],
    }
}

fn vector(v: &Value) -> DVec3 {
    DVec3::from_slice(&numbers(v))
}

fn pose(position: &Value, quaternion: &Value) -> Pose {
    let q = numbers(quaternion);
    Pose::new(quaternion_from_wxyz([q[0], q[1], q[2], q[3]]).normalize(), vector(position))
}

fn close(what: &str, ours: f64, theirs: f64, scale: f64) {
    let bound = DIGITS * scale.max(theirs.abs());
    assert!((ours - theirs).abs() <= bound, "{what}: {ours} instead of {theirs}");
}

fn near(what: &str, ours: DVec3, theirs: DVec3, scale: f64) {
    assert!(ours.distance(theirs) <= DIGITS * scale, "{what}: {ours} instead of {theirs}");
}

#[test]
fn counts_and_masses() {
    for name in MODELS {
        let (m, e) = (load(name).mechanism, expected(name));
        let count = |key: &str| e[key].as_u64().unwrap() as usize;
        assert_eq!(m.tree_position_count(), count("nq"), "{name} nq");
        assert_eq!(m.tree_velocity_count(), count("nv"), "{name} nv");
        let bodies = m.links().iter().filter(|l| !l.auxiliary).count();
        assert_eq!(bodies, count("nbody"), "{name} bodies");
        let tree_joints = m
            .joints()
            .iter()
            .enumerate()
            .filter(|(i, j)| !j.implicit && !m.forest().closures().contains(&JointId::new(*i)));
        assert_eq!(tree_joints.count(), count("njnt"), "{name} joints");
        let active = e["equality"].as_array().unwrap().iter().filter(|q| q["active0"] == 1).count();
        let ours = m.forest().closures().len() + m.couplings().len();
        assert_eq!(ours, active, "{name} equalities");
        close(name, m.total_mass(), e["total_mass"].as_f64().unwrap(), 0.0);
        near(name, m.gravity(), effective_gravity(name, &e), 10.0);
    }
}

/// MuJoCo keeps the vector when the flag switches gravity off.
fn effective_gravity(name: &str, e: &Value) -> DVec3 {
    let text = std::fs::read_to_string(models().join(name)).unwrap();
    if text.contains("gravity=\"disable\"") { DVec3::ZERO } else { vector(&e["gravity"]) }
}

#[test]
fn bodies_have_the_poses_and_inertias() {
    for name in MODELS {
        let (m, e) = (load(name).mechanism, expected(name));
        let size = m.bounding_radius(&m.link_poses(&m.start_positions())).max(1.0);
        for ((id, ours), body) in real_links(&m).iter().zip(&e["bodies"].as_array().unwrap()[1..]) {
            let link = m.link(*id);
            let given = body["name"].as_str().unwrap();
            let wanted =
                if given.is_empty() { format!("#{}", body["id"]) } else { given.to_owned() };
            assert_eq!(link.name, wanted, "{name}");
            let what = format!("{name} {wanted}");
            let theirs = pose(&body["xpos_qpos0"], &body["xquat_qpos0"]);
            near(&what, ours.translation, theirs.translation, size);
            assert!(ours.rotation.angle_between(theirs.rotation) < 1e-7, "{what} turned");
            close(&what, link.inertia.mass, body["mass"].as_f64().unwrap(), 0.0);
            compare_inertia(&what, &link.inertia, body);
        }
    }
}

fn compare_inertia(what: &str, ours: &SpatialInertia, body: &Value) {
    if ours.mass == 0.0 {
        return;
    }
    near(what, ours.center_of_mass, vector(&body["ipos"]), 1.0);
    let r = DMat3::from_quat(pose(&body["ipos"], &body["iquat"]).rotation);
    let theirs = r * DMat3::from_diagonal(vector(&body["inertia"])) * r.transpose();
    let largest = vector(&body["inertia"]).max_element();
    for (a, b) in ours.inertia.to_cols_array().iter().zip(theirs.to_cols_array()) {
        // The principal frame is rounded too.
        assert!((a - b).abs() <= 4.0 * DIGITS * largest, "{what} inertia: {a} instead of {b}");
    }
}

#[test]
fn joints_have_the_axes_limits_and_springs() {
    for name in MODELS {
        let (m, e) = (load(name).mechanism, expected(name));
        let tree: Vec<&Joint> = m
            .joints()
            .iter()
            .enumerate()
            .filter(|(i, j)| !j.implicit && !m.forest().closures().contains(&JointId::new(*i)))
            .map(|(_, j)| j)
            .collect();
        let mut start: Vec<f64> = vec![];
        for (ours, theirs) in tree.iter().zip(e["joints"].as_array().unwrap()) {
            assert_eq!(ours.name, theirs["name"].as_str().unwrap(), "{name}");
            compare_joint(&format!("{name} {}", ours.name), ours, theirs);
            start.extend(&ours.start);
        }
        assert_eq!(&m.start_positions()[..m.tree_position_count()], start.as_slice(), "{name}");
    }
}

fn compare_joint(what: &str, ours: &Joint, theirs: &Value) {
    let kind = match ours.kind {
        JointKind::Revolute { .. } => "hinge",
        JointKind::Prismatic { .. } => "slide",
        JointKind::Spherical => "ball",
        JointKind::Free => "free",
        _ => "other",
    };
    assert_eq!(kind, theirs["type"].as_str().unwrap(), "{what}");
    let number = |key: &str| theirs[key].as_f64().unwrap();
    if let JointKind::Revolute { axis } | JointKind::Prismatic { axis } = ours.kind {
        near(what, axis, vector(&theirs["axis"]), 1.0);
        near(what, ours.child_from_joint.translation, vector(&theirs["pos"]), 1.0);
        close(what, ours.reference[0], numbers(&theirs["qpos0"])[0], 1.0);
        assert_eq!(ours.limits[0].is_some(), theirs["limited"] == 1, "{what} limited");
        if let Some(l) = ours.limits[0] {
            close(what, l.lower, numbers(&theirs["range"])[0], 1.0);
            close(what, l.upper, numbers(&theirs["range"])[1], 1.0);
        }
    }
    for (a, b) in ours.start.iter().zip(numbers(&theirs["qpos0"])) {
        close(what, *a, b, 1.0);
    }
    let stiffness = ours.spring.as_ref().map_or(0.0, |s| s.stiffness.get(0, 0));
    close(what, stiffness, number("stiffness"), 0.0);
    if let Some(s) = &ours.spring {
        for (a, b) in s.rest.iter().zip(numbers(&theirs["springref"])) {
            close(what, *a, b, 1.0);
        }
    }
    close(what, ours.damping.get(0, 0), number("damping"), 0.0);
    close(what, ours.armature[0], number("armature"), 0.0);
}

#[test]
fn equalities_have_the_residual_and_mobility() {
    for name in MODELS {
        let (m, e) = (load(name).mechanism, expected(name));
        let q = m.start_positions();
        let poses = m.link_poses(&q);
        let residual = loops::constraint_residual(&m, &q, &poses);
        let ours = residual.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let theirs = e["equality_at_qpos0"]["max_abs_residual"].as_f64().unwrap_or(0.0);
        if theirs < 1e-9 {
            let size = m.bounding_radius(&poses).max(1.0);
            assert!(ours < DIGITS * size, "{name}: residual {ours}");
        } else {
            // MuJoCo measures rotations by sines of half angles: an angle up to a right one is at
            // most π/2 · √2 of the largest of them.
            let ratio = ours / theirs;
            assert!(ratio > 0.9 && ratio < 2.3, "{name}: residual {ours} instead of {theirs}");
        }
        let g = loops::constraint_jacobian(&m, &q, &poses);
        let (rank, _) = dense::nullspace(&g, 1e-9).unwrap();
        let wanted = m.tree_velocity_count()
            - e["equality_at_qpos0"]["rank_tol1e_9"].as_u64().unwrap_or(0) as usize;
        assert_eq!(m.velocity_count() - rank, wanted, "{name}: mobility");
    }
}

#[test]
fn mass_matrices() {
    for name in MODELS {
        let (m, e) = (load(name).mechanism, expected(name));
        let n = m.tree_velocity_count();
        let diagonal = numbers(&e["M_diag_qpos0"]);
        let q = m.start_positions();
        // MuJoCo's M is T⁻ᵀ M T⁻¹, and T is orthogonal.
        let t = mujoco_velocities(&m, &q);
        let mass = t.mul(&mass_matrix(&m, &q)).mul(&t.transpose());
        let scale = diagonal.iter().fold(0.0f64, |a, x| a.max(*x));
        for i in 0..n {
            close(&format!("{name} M{i}"), mass[(i, i)], diagonal[i], 1e-3 * scale);
        }
        if let Some(full) = e["M_qpos0"].as_array().filter(|f| f.len() == n) {
            for i in 0..n {
                for (j, theirs) in numbers(&full[i]).into_iter().enumerate() {
                    close(&format!("{name} M{i}{j}"), mass[(i, j)], theirs, scale);
                }
            }
        }
    }
}

#[test]
fn passive_forces_at_the_start() {
    for name in MODELS.iter().filter(|n| !n.ends_with("poly_stiffness.xml")) {
        let (m, e) = (load(name).mechanism, expected(name));
        let q = m.start_positions();
        let theirs = numbers(&e["qfrc_passive_qpos0"]);
        // Joints with `actuatorgravcomp` get their gravity compensation as an actuator force in
        // MuJoCo: all of `refsite`, the last one of `pendula`.
        let springs_only = passive_forces(&m, &q, false);
        let mut ours = passive_forces(&m, &q, !name.ends_with("refsite.xml"));
        if name.ends_with("pendula.xml") {
            ours[35] = springs_only[35];
        }
        let ours = Matrix::from_fn(theirs.len(), 1, |i, _| ours[i]);
        let ours = mujoco_velocities(&m, &q).mul(&ours);
        let scale = theirs.iter().fold(1.0f64, |a, x| a.max(x.abs()));
        for (i, theirs) in theirs.iter().enumerate() {
            close(&format!("{name} force {i}"), ours[(i, 0)], *theirs, scale);
        }
    }
}
