//! Fixed-effector modes \[CB68\]: K φ = ω² M φ on the motions that the loops admit
//! with all effectors held, superelements' internal modes among them. Static shapes do no work on
//! them, so both are orthogonal in K.

use forks_mechanism::linalg::{Matrix, dense};

use crate::{
    error::ReduceError,
    linearised::Linearised,
    shapes::{Shapes, above},
};

/// Motions whose compliance-weighted mass is below this part of the largest have no finite
/// frequency.
const MASSLESS: f64 = 1e-13;
/// Rank of the effectors' Jacobian on the admissible motions, lengths over r.
const RANK_TOLERANCE: f64 = 1e-9;

/// The lowest modes with all effectors held.
pub(crate) struct FixedModes {
    /// ω, rad/s, ascending.
    pub(crate) frequencies: Vec<f64>,
    /// Stiffness φᵀKφ of each.
    pub(crate) stiffness: Vec<f64>,
    /// The modes, scaled so that the link that moves most has the dimensionless twist 1.
    pub(crate) shapes: Shapes,
}

/// The `count` lowest modes, or as many as there are.
pub(crate) fn fixed_modes(
    linear: &Linearised<'_>,
    stiffness: &Matrix,
    count: usize,
) -> Result<FixedModes, ReduceError> {
    let (m, q) = (linear.mechanism(), linear.q());
    let n = held_motions(linear)?;
    let k = n.transpose_mul(&stiffness.mul(&n)).symmetric_part();
    let mass = n.transpose_mul(&linear.mass_with_elements().mul(&n)).symmetric_part();
    // M x = ν K x, ν = ω⁻²: the lowest frequencies keep their digits beside much higher ones.
    let (nu, x) =
        dense::generalized_symmetric_eigen(&mass, &k).ok_or(ReduceError::UnstableModes)?;
    let largest = nu.last().copied().unwrap_or(0.0);
    let kept: Vec<usize> =
        (0..nu.len()).rev().filter(|&i| nu[i] > MASSLESS * largest).take(count).collect();
    let raw = n.mul(&Matrix::from_fn(x.rows(), kept.len(), |i, j| x[(i, kept[j])]));
    let nv = m.velocity_count();
    let mut shapes = Shapes::of_motions(m, q, raw.block(0, 0, nv, raw.columns()));
    shapes.internal = raw.block(nv, 0, raw.rows() - nv, raw.columns());
    let stiffness = scale_to_links(&mut shapes, linear.response.radius);
    Ok(FixedModes {
        frequencies: kept.iter().map(|&i| (1.0 / nu[i]).sqrt()).collect(),
        stiffness,
        shapes,
    })
}

/// A basis of the admissible motions that move no effector and no free body beside the mechanism.
fn held_motions(linear: &Linearised<'_>) -> Result<Matrix, ReduceError> {
    let m = linear.mechanism();
    let n = linear.motions_with_elements();
    let nv = m.velocity_count();
    let r = linear.response.radius;
    let j = linear.effector_jacobian();
    let scaled =
        Matrix::from_fn(j.rows(), j.columns(), |i, k| j[(i, k)] / if i % 6 < 3 { r } else { 1.0 });
    let left_out = &linear.response.left_out;
    let edges = m.forest().edges().iter().filter(|e| left_out.contains(&e.outer));
    let loose: Vec<usize> = edges.flat_map(|e| m.velocity_range(e.joint)).collect();
    let loose = Matrix::from_fn(loose.len(), n.columns(), |i, k| n[(loose[i], k)]);
    let of_joints = n.block(0, 0, nv, n.columns());
    let held = above(&scaled.mul(&of_joints), &loose);
    let (_, free) = dense::nullspace(&held, RANK_TOLERANCE)
        .ok_or(ReduceError::NotFinite { quantity: "the effectors' Jacobian" })?;
    Ok(n.mul(&free))
}

/// Scales modes with φᵀKφ = 1 so that the largest dimensionless link twist is 1; their stiffness
/// then.
fn scale_to_links(shapes: &mut Shapes, r: f64) -> Vec<f64> {
    let mut stiffness = Vec::new();
    for k in 0..shapes.joints.columns() {
        let size = |x: &Matrix| {
            let scaled = |i: usize| x[(i, k)] / if i < 3 { r } else { 1.0 };
            (0..6).map(|i| scaled(i).powi(2)).sum::<f64>()
        };
        let largest = shapes.links.iter().map(size).fold(0.0, f64::max).sqrt();
        let s = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let columns = shapes.links.iter_mut().chain([&mut shapes.joints, &mut shapes.internal]);
        columns.for_each(|x| (0..x.rows()).for_each(|i| x[(i, k)] *= s));
        stiffness.push(s * s);
    }
    stiffness
}
