//! The numbers of a reduced model that do not depend on its mass.

use forks_mechanism::{
    Joint, JointKind, Mechanism, TreeEdge,
    kinematics::{TreeJointMotion, tree_joint_motion},
    lie::Wrench,
    linalg::Matrix,
};
use forks_rom::data::{DEFAULT_RANGE, EffectorRest, JointPath, JointRest, LinkRest, ModelData};

use crate::{
    attached::internal_modes,
    effector::Effector,
    error::ReduceError,
    joint_loads::{own_twists, static_loads, turn},
    linearised::Linearised,
    shapes::Shapes,
};

/// Everything of a model but mass, damping and base, and its static shapes.
pub(crate) fn static_model(linear: &Linearised<'_>) -> Result<(ModelData, Shapes), ReduceError> {
    let (m, q, drives) = (linear.mechanism(), linear.q(), &linear.drives);
    let Linearised { response, basis, hessian, .. } = linear;
    // Maps per η: T (SU) 𝓗.
    let per_eta = basis.dual.mul(hessian);
    let scaled =
        |x: &Matrix| Matrix::from_fn(x.rows(), x.columns(), |i, j| x[(i, j)] * drives[j].gain);
    // η_s = B⁺ J_E P K_s, Y = (J − X J_E) P K_s; for forces K_s is replaced by the forces.
    let servo_rest = scaled(&basis.dual.transpose_mul(&response.output_effectors));
    let corrected = |map: &Matrix, outputs: &Matrix| scaled(outputs).sub(&map.mul(&servo_rest));
    let link = |(l, link): (usize, &forks_mechanism::Link)| {
        let map = response.twists[l].mul(&per_eta);
        LinkRest {
            name: link.name.clone(),
            auxiliary: link.auxiliary,
            rest: response.world_from_link[l],
            servo_map: corrected(&map, &response.output_twists[l]),
            map,
        }
    };
    let links: Vec<LinkRest> = m.links().iter().enumerate().map(link).collect();
    let joint_map = response.joints.mul(&per_eta);
    let joint_servo_map = corrected(&joint_map, &response.output_joints);
    let static_loads = static_loads(linear)?;
    let per_eta_or_zero = |load: &Matrix| match load.rows() {
        0 => Matrix::zeros(6, basis.rank),
        _ => load.mul(&per_eta),
    };
    let tree = m.forest().edges().iter().map(|e| (*e, false));
    let closing = m.forest().closures().iter().map(|&id| {
        let j = m.joint(id);
        (TreeEdge { joint: id, inner: j.parent, outer: j.child, reversed: false }, true)
    });
    let loads = response.joint_loads.iter().chain(&response.closing_loads).zip(static_loads);
    let joints = tree
        .chain(closing)
        .zip(loads)
        .map(|((e, closes_loop), (load, static_load))| {
            let rest = joint_rest(m, &e, q, &joint_map, &joint_servo_map);
            let mut load_map = per_eta_or_zero(load);
            match closes_loop {
                false => turn(&mut load_map, &links[e.outer.index()].map, static_load),
                true => turn(&mut load_map, &own_twists(m, &e, q, &rest.map), static_load),
            }
            JointRest { load_map, static_load, closes_loop, ..rest }
        })
        .collect();
    let shapes = Shapes {
        links: links.iter().map(|l| l.map.clone()).collect(),
        internal: Matrix::zeros(internal_modes(linear.attached()), basis.rank),
        joints: joint_map,
    };
    let data = ModelData {
        radius: response.radius,
        range: DEFAULT_RANGE,
        effectors: effector_rests(linear),
        basis: basis.matrix.clone(),
        hessian: hessian.clone(),
        mass: Matrix::default(),
        damping: Matrix::default(),
        servo_rest,
        servos: drives.iter().map(|d| d.name.clone()).collect(),
        links,
        joints,
        base: None,
    };
    Ok((data, shapes))
}

fn effector_rests(linear: &Linearised<'_>) -> Vec<EffectorRest> {
    let rest = |e: &Effector, &static_wrench: &Wrench| EffectorRest {
        name: e.name.clone(),
        link: e.link.index(),
        link_from_effector: e.link_from_effector,
        rest: linear.response.world_from_link[e.link.index()] * e.link_from_effector,
        static_wrench,
    };
    linear
        .effectors()
        .iter()
        .zip(&linear.response.static_wrenches)
        .map(|(e, w)| rest(e, w))
        .collect()
}

fn joint_rest(
    m: &Mechanism,
    e: &TreeEdge,
    q: &[f64],
    map: &Matrix,
    servo_map: &Matrix,
) -> JointRest {
    let motion = tree_joint_motion(m, e, q);
    let range = m.velocity_range(e.joint);
    JointRest {
        name: m.joint(e.joint).name.clone(),
        closes_loop: false,
        inner: e.inner.index(),
        outer: e.outer.index(),
        inner_from_outer: motion.inner_from_outer,
        reversed: e.reversed,
        parent_from_joint: m.joint(e.joint).parent_from_joint,
        child_from_joint: m.joint(e.joint).child_from_joint,
        path: joint_path(m.joint(e.joint), e, &q[m.position_range(e.joint)], &motion),
        map: map.block(range.start, 0, range.len(), map.columns()),
        servo_map: servo_map.block(range.start, 0, range.len(), servo_map.columns()),
        static_load: Wrench::ZERO,
        load_map: Matrix::zeros(0, 0),
    }
}

/// How the joint moves by finite displacements of its coordinates.
fn joint_path(j: &Joint, e: &TreeEdge, qj: &[f64], motion: &TreeJointMotion) -> JointPath {
    let columns = motion.columns.as_slice().to_vec();
    match &j.kind {
        JointKind::Universal { .. } => {
            let mut factors: Vec<_> = columns.into_iter().enumerate().collect();
            if e.reversed {
                factors.reverse();
            }
            JointPath::Product { factors }
        }
        JointKind::General { subspace } => JointPath::Subspace {
            before: j.parent_from_joint,
            subspace: subspace.clone(),
            start: qj.iter().zip(&j.reference).map(|(q, r)| q - r).collect(),
            after: j.child_from_joint.inverse(),
            inverted: e.reversed,
        },
        _ => JointPath::Exponential { columns },
    }
}
