//! What the tests share: model files, and quantities of a mechanism computed from its public
//! kinematics.

pub(crate) mod mesh;

use std::path::PathBuf;

use forks_import::mechanism::{
    JointId, JointKind, LinkId, Mechanism,
    kinematics::{link_jacobian, loops},
    lie::{Pose, glam::DMat3},
    linalg::Matrix,
};
use forks_import::{Import, ImportOptions, Note, load_mjcf, parse_mjcf};

/// All model files that MuJoCo reads, with its results beside them.
pub(crate) const MODELS: &[&str] = &[
    "half_cheetah/half_cheetah.xml",
    "agility_cassie/cassie.nomesh.xml",
    "robotiq_2f85/2f85.nomesh.xml",
    "shadow_hand_right/right_hand.nomesh.xml",
    "mujoco_cable/cable_ballsprings.xml",
    "dmc_humanoid_CMU/humanoid_CMU.xml",
    "dmc_fish/fish.xml",
    "dmc_quadruped/quadruped.nomesh.xml",
    "dmc_quadruped/quadruped.xml",
    "fetch_reach_includes/nomesh/reach.xml",
    "myolegs26/nomesh/myolegs26_wrapper.xml",
    "mujoco_small_tests/armature_equivalence.xml",
    "mujoco_small_tests/connect.xml",
    "mujoco_small_tests/energy_conserving_pendulum.xml",
    "mujoco_small_tests/equality_site.xml",
    "mujoco_small_tests/equality_site_body_compare.xml",
    "mujoco_small_tests/frame.xml",
    "mujoco_small_tests/inertia.xml",
    "mujoco_small_tests/island_efc.xml",
    "mujoco_small_tests/jdotv_connect_2d.xml",
    "mujoco_small_tests/linear.xml",
    "mujoco_small_tests/pendula.xml",
    "mujoco_small_tests/poly_stiffness.xml",
    "mujoco_small_tests/refsite.xml",
    "mujoco_small_tests/spin_recoil.xml",
    "mujoco_small_tests/ten_armature_1_equiv.xml",
    "mujoco_small_tests/tendon_dampratio.xml",
    "mujoco_small_tests/weld.xml",
];

/// Where the model files are.
pub(crate) fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models")
}

/// Where golden values are.
pub(crate) fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/golden")
}

/// Reads a model; only the springs of `poly_stiffness` cannot be held.
pub(crate) fn load(name: &str) -> Import {
    let options =
        ImportOptions { lenient: name.ends_with("poly_stiffness.xml"), ..Default::default() };
    load_mjcf(&models().join(name), &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Mass matrix of the tree at `q`: Σ Jᵀ I J plus rotor inertia.
pub(crate) fn mass_matrix(m: &Mechanism, q: &[f64]) -> Matrix {
    let n = m.tree_velocity_count();
    let poses = m.link_poses(q);
    let mut out = Matrix::zeros(n, n);
    for (id, link) in m.moving_links() {
        let full = link_jacobian(m, q, &poses, id);
        let j = Matrix::from_fn(6, n, |r, c| full[(r, c)]);
        let i = link.inertia.matrix().to_mat6();
        let ij = Matrix::from_fn(6, n, |r, c| (0..6).map(|k| i.rows[r][k] * j[(k, c)]).sum());
        for a in 0..n {
            for b in 0..n {
                out[(a, b)] += (0..6).map(|k| j[(k, a)] * ij[(k, b)]).sum::<f64>();
            }
        }
    }
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        for (k, a) in m.velocity_range(id).zip(&m.joint(id).armature) {
            if k < n {
                out[(k, k)] += a;
            }
        }
    }
    out
}

/// The matrix T that takes this crate's tree velocities to MuJoCo's: body linear velocities of free
/// joints to world ones.
pub(crate) fn mujoco_velocities(m: &Mechanism, q: &[f64]) -> Matrix {
    let mut t = Matrix::identity(m.tree_velocity_count());
    for e in m.forest().edges() {
        if m.joint(e.joint).kind != JointKind::Free {
            continue;
        }
        let r = m.joint(e.joint).parent_from_child(&q[m.position_range(e.joint)]).rotation;
        let r = DMat3::from_quat(r);
        let first = m.velocity_range(e.joint).start;
        for a in 0..3 {
            for b in 0..3 {
                t[(first + a, first + b)] = r.col(b)[a];
            }
        }
    }
    t
}

/// Forces of all springs and, if `compensated`, of gravity compensation on the tree coordinates at
/// `q`, in this crate's velocities.
pub(crate) fn passive_forces(m: &Mechanism, q: &[f64], compensated: bool) -> Vec<f64> {
    let n = m.tree_velocity_count();
    let mut f = vec![0.0; n];
    for i in 0..m.joints().len() {
        let id = JointId::new(i);
        let j = m.joint(id);
        let Some(s) = &j.spring else { continue };
        let d = j.kind.difference(&s.rest, &q[m.position_range(id)]);
        for (a, k) in m.velocity_range(id).enumerate() {
            f[k] -= (0..d.len()).map(|b| s.stiffness.get(a, b) * d[b]).sum::<f64>();
        }
    }
    for s in m.combination_springs() {
        let stretch = loops::combination_value(m, &s.combination, q) - s.rest;
        for (c, a) in &s.combination.terms {
            f[m.velocity_index(*c)] -= s.stiffness * stretch * a;
        }
    }
    let poses = m.link_poses(q);
    for (id, l) in m.moving_links().filter(|(_, l)| compensated && l.gravity_compensation != 0.0) {
        let force = poses[id.index()].rotation.conjugate()
            * (m.gravity() * (-l.gravity_compensation * l.inertia.mass));
        let torque = l.inertia.center_of_mass.cross(force);
        let w = [force.x, force.y, force.z, torque.x, torque.y, torque.z];
        let j = link_jacobian(m, q, &poses, id);
        for (k, f) in f.iter_mut().enumerate() {
            *f += (0..6).map(|r| j[(r, k)] * w[r]).sum::<f64>();
        }
    }
    f
}

/// World poses of the real links, the ground left out.
pub(crate) fn real_links(m: &Mechanism) -> Vec<(LinkId, Pose)> {
    let poses = m.link_poses(&m.start_positions());
    m.moving_links().filter(|(_, l)| !l.auxiliary).map(|(id, _)| (id, poses[id.index()])).collect()
}

/// The link of a name.
pub(crate) fn link(m: &Mechanism, name: &str) -> LinkId {
    m.find_link(name).unwrap_or_else(|| panic!("no link {name}"))
}

/// Pose of a link in the world.
pub(crate) fn pose_of(m: &Mechanism, q: &[f64], name: &str) -> Pose {
    m.link_poses(q)[link(m, name).index()]
}

/// The mechanism of an MJCF text.
pub(crate) fn read(text: &str) -> Import {
    parse_mjcf(text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// A model with `body` in its world and `around` beside it.
pub(crate) fn model(body: &str, around: &str) -> Import {
    read(&format!("<mujoco>{around}<worldbody>{body}</worldbody></mujoco>"))
}

/// A body with unit mass and inertia.
pub(crate) const UNIT: &str = r#"<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>"#;

/// The note about an attribute of an element.
pub(crate) fn noted<'a>(i: &'a Import, element: &str, attribute: &str) -> &'a Note {
    i.notes
        .iter()
        .find(|n| n.element.starts_with(element) && n.attribute == attribute)
        .unwrap_or_else(|| panic!("no note about {element} {attribute} in {:?}", i.notes))
}

/// Equal to a few digits of the printed value.
pub(crate) fn about(x: f64, expected: f64, digit: f64) {
    assert!((x - expected).abs() <= digit, "{x} instead of {expected}");
}
