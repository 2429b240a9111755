//! Springs of joints, combinations of coordinates and bushings: energy, gradient and Hessian, each
//! in the spring's own local coordinates.

use forks_mechanism::{
    Bushing, JointId, JointKind, JointMatrix, Mechanism,
    kinematics::loops,
    lie::{Mat6, Pose, SymMat6, Twist, Wrench},
    linalg::dot,
};

use crate::logarithm::{linear_gradient, quadratic_term};

/// Energy ½ Δᵀ K Δ of a joint's spring, and that of the springs beyond its limits where they are
/// on, J.
pub fn joint_energy(m: &Mechanism, joint: JointId, q: &[f64]) -> f64 {
    let j = m.joint(joint);
    let q = &q[m.position_range(joint)];
    let own = j.spring.as_ref().map_or(0.0, |s| {
        let delta = j.kind.difference(&s.rest, q);
        let force = multiply(&s.stiffness, &delta);
        0.5 * dot(&delta, &force)
    });
    match j.has_limit_springs() {
        true => {
            own + q.iter().enumerate().map(|(i, x)| j.limit_term(i, *x, None).energy).sum::<f64>()
        }
        false => own,
    }
}

/// Gradient of a joint's spring energy in the local coordinates δ of q ⊞ δ: what the joint must be
/// loaded with to stay where it is; the spring exerts the negative. Length d, zero without a
/// spring.
pub fn joint_gradient(m: &Mechanism, joint: JointId, q: &[f64]) -> Vec<f64> {
    let j = m.joint(joint);
    let q = &q[m.position_range(joint)];
    let mut out = match &j.spring {
        None => vec![0.0; j.dof()],
        Some(s) => spring_gradient(&j.kind, &s.stiffness, &s.rest, q),
    };
    if j.has_limit_springs() {
        let terms = q.iter().enumerate().map(|(i, x)| j.limit_term(i, *x, None).gradient);
        out.iter_mut().zip(terms).for_each(|(o, g)| *o += g);
    }
    out
}

/// Second derivative of a joint's spring energy in the local coordinates δ of q ⊞ δ at δ = 0: the
/// stiffness K of plain coordinates; for spherical, planar and free joints it contains the preload.
pub fn joint_hessian(m: &Mechanism, joint: JointId, q: &[f64]) -> JointMatrix {
    let j = m.joint(joint);
    let q = &q[m.position_range(joint)];
    let mut out = match &j.spring {
        None => JointMatrix::zeros(j.dof()),
        Some(s) => spring_hessian(&j.kind, &s.stiffness, &s.rest, q),
    };
    if j.has_limit_springs() {
        for (i, x) in q.iter().enumerate() {
            let own = out.get(i, i);
            out.set(i, i, own + j.limit_term(i, *x, None).hessian);
        }
    }
    out
}

pub(crate) fn spring_gradient(
    kind: &JointKind,
    k: &JointMatrix,
    rest: &[f64],
    q: &[f64],
) -> Vec<f64> {
    let delta = kind.difference(rest, q);
    let force = multiply(k, &delta);
    if kind.has_scalar_coordinates() {
        return force;
    }
    let (delta, lambda) = (embed(kind, &delta), embed(kind, &force).to_array());
    let gradient = linear_gradient(delta, &lambda).to_array();
    directions(kind).iter().map(|&i| gradient[i]).collect()
}

pub(crate) fn spring_hessian(
    kind: &JointKind,
    k: &JointMatrix,
    rest: &[f64],
    q: &[f64],
) -> JointMatrix {
    if kind.has_scalar_coordinates() {
        return k.clone();
    }
    let delta = embed(kind, &kind.difference(rest, q));
    let at = directions(kind);
    let mut full = Mat6::ZERO;
    for (a, &i) in at.iter().enumerate() {
        for (b, &j) in at.iter().enumerate() {
            full.rows[i][j] = k.get(a, b);
        }
    }
    let hessian = quadratic_term(delta, &full).hessian;
    let data = at.iter().flat_map(|&i| at.iter().map(move |&j| hessian.rows[i][j])).collect();
    JointMatrix::new(at.len(), data)
}

/// Which twist coordinates a spherical, planar or free joint uses.
pub(crate) fn directions(kind: &JointKind) -> &'static [usize] {
    match kind {
        JointKind::Spherical => &[3, 4, 5],
        JointKind::Planar => &[0, 1, 5],
        JointKind::Free => &[0, 1, 2, 3, 4, 5],
        _ => &[],
    }
}

fn embed(kind: &JointKind, v: &[f64]) -> Twist {
    let mut t = [0.0; 6];
    for (&i, x) in directions(kind).iter().zip(v) {
        t[i] = *x;
    }
    Twist::from_array(t)
}

pub(crate) fn multiply(k: &JointMatrix, v: &[f64]) -> Vec<f64> {
    (0..k.dof()).map(|i| (0..k.dof()).map(|j| k.get(i, j) * v[j]).sum()).collect()
}

/// World poses of a bushing's two frames.
pub(crate) fn bushing_frames(b: &Bushing, world_from_link: &[Pose]) -> (Pose, Pose) {
    (
        world_from_link[b.link_a.index()] * b.a_from_bushing,
        world_from_link[b.link_b.index()] * b.b_from_bushing,
    )
}

/// Pose of a bushing's second frame in its first, `a_from_b`; the identity at rest.
pub(crate) fn bushing_displacement(b: &Bushing, world_from_link: &[Pose]) -> Pose {
    let (a, b) = bushing_frames(b, world_from_link);
    a.inverse() * b
}

/// Energy of a bushing, J.
pub fn bushing_energy(b: &Bushing, world_from_link: &[Pose]) -> f64 {
    let delta = bushing_displacement(b, world_from_link).log().to_array();
    let force = b.stiffness.mul_vec(&delta);
    0.5 * dot(&delta, &force)
}

/// Gradient p and Hessian of a bushing's energy in the local relative twist ζ: the second frame
/// moves by exp(ζ) against the first, ζ in the second frame. The bushing acts on the second link
/// with −p and on the first with p, both taken at the second frame.
pub fn bushing_gradient_and_hessian(b: &Bushing, world_from_link: &[Pose]) -> (Wrench, SymMat6) {
    let delta = bushing_displacement(b, world_from_link).log();
    let term = quadratic_term(delta, &b.stiffness.to_mat6());
    (term.gradient, SymMat6::symmetric_part(&term.hessian))
}

/// What the springs rested at before their own rest pose was scaled in: the start pose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StartRest {
    pub(crate) q: Vec<f64>,
    /// Value of every combination spring's ℓ.
    pub(crate) combinations: Vec<f64>,
    /// `a_from_b` of every bushing.
    pub(crate) bushings: Vec<Pose>,
    /// Slack range of every cable, unstressed.
    pub(crate) cables: Vec<[f64; 2]>,
}

impl StartRest {
    pub(crate) fn new(m: &Mechanism, q: &[f64]) -> Self {
        let poses = m.link_poses(q);
        Self {
            q: q.to_vec(),
            combinations: m
                .combination_springs()
                .iter()
                .map(|s| loops::combination_value(m, &s.combination, q))
                .collect(),
            bushings: m.bushings().iter().map(|b| bushing_displacement(b, &poses)).collect(),
            cables: m.cables().iter().map(|c| c.rest_unstressed_at(c.length(&poses))).collect(),
        }
    }
}
