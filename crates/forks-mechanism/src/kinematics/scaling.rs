//! Loop equations in coordinates and rows without units, so that ranks mean the same at every size.

use forks_lie::Pose;
use forks_linalg::Matrix;

use crate::{JointId, Mechanism};

/// Per velocity coordinate: the change that moves the joint by one radian or by the length `r`. A
/// column of a Jacobian multiplied by it has no unit of the coordinate left.
pub(super) fn coordinate_scales(m: &Mechanism, q: &[f64], r: f64) -> Vec<f64> {
    let mut out = vec![1.0; m.velocity_count()];
    for (i, j) in m.joints().iter().enumerate() {
        let id = JointId::new(i);
        let in_child = j.columns(&q[m.position_range(id)]);
        let in_joint = in_child.map(|c| j.child_from_joint.adjoint().apply_inverse(c));
        for (c, k) in in_joint.as_slice().iter().zip(m.velocity_range(id)) {
            let size = c.scale_linear(1.0 / r).norm();
            if size > 0.0 {
                out[k] = 1.0 / size;
            }
        }
    }
    out
}

/// Per row of the loop equations: 1/r for lengths, 1 for angles, and for couplings what brings the
/// row of the scaled Jacobian to length 1 (1 where it is zero).
pub(super) fn row_scales(
    m: &Mechanism,
    jacobian: &Matrix,
    coordinates: &[f64],
    r: f64,
) -> Vec<f64> {
    let closures = m.forest().closures().len();
    let mut out = [[1.0 / r; 3], [1.0; 3]].concat().repeat(closures);
    for i in 6 * closures..jacobian.rows() {
        let row = jacobian.row(i).iter().zip(coordinates);
        let size = row.map(|(x, s)| (x * s).powi(2)).sum::<f64>().sqrt();
        out.push(if size > 0.0 { 1.0 / size } else { 1.0 });
    }
    out
}

/// The loop equations' Jacobian with scaled rows and coordinates, and both scales.
pub(super) struct ScaledJacobian {
    pub(super) matrix: Matrix,
    pub(super) rows: Vec<f64>,
    pub(super) coordinates: Vec<f64>,
}

impl ScaledJacobian {
    pub(super) fn new(m: &Mechanism, q: &[f64], world_from_link: &[Pose], r: f64) -> Self {
        let g = super::loops::constraint_jacobian(m, q, world_from_link);
        let coordinates = coordinate_scales(m, q, r);
        let rows = row_scales(m, &g, &coordinates, r);
        let matrix =
            Matrix::from_fn(g.rows(), g.columns(), |i, j| rows[i] * g[(i, j)] * coordinates[j]);
        Self { matrix, rows, coordinates }
    }
}
