//! \[Craig, Bampton 1968\] on the whole, dense: static shapes of the pad, modes with the pad held.
//! The rival that is linear in every coordinate.

use forks_mechanism::linalg::{Matrix, dense};
use forks_testkit::soft_chain::SoftChain;

/// Modes with the pad held.
pub(super) const MODES: usize = 12;

/// The whole in its shapes.
pub(super) struct CraigBampton {
    /// Joints and free nodes per shape.
    shapes: Matrix,
    stiffness: Matrix,
    mass: Matrix,
}

impl CraigBampton {
    pub(super) fn new(chain: &SoftChain, mass: &Matrix, rows: &Matrix) -> Result<Self, String> {
        let e = rows.mul(&chain.motions);
        let response = chain.response(rows).ok_or("the whole is not stable")?;
        let (_, held) = dense::nullspace(&e, 1e-10).ok_or("no motions with the pad held")?;
        let inner = |x: &Matrix, n: &Matrix| n.transpose_mul(&x.mul(n)).symmetric_part();
        let (_, modes) = dense::generalized_symmetric_eigen(
            &inner(mass, &held),
            &inner(&chain.stiffness, &held),
        )
        .ok_or("the whole with the pad held is not stable")?;
        let last = modes.columns();
        let kept = Matrix::from_fn(modes.rows(), MODES, |i, j| modes[(i, last - 1 - j)]);
        let modes = held.mul(&kept);
        let shapes = Matrix::from_fn(modes.rows(), 6 + MODES, |i, j| match j < 6 {
            true => response[(i, j)],
            false => modes[(i, j - 6)],
        });
        // Shapes of very different sizes.
        let size = |j: usize| (0..shapes.rows()).map(|i| shapes[(i, j)].abs()).fold(0.0, f64::max);
        let sizes: Vec<f64> = (0..shapes.columns()).map(size).collect();
        let shapes =
            Matrix::from_fn(shapes.rows(), shapes.columns(), |i, j| shapes[(i, j)] / sizes[j]);
        let (stiffness, mass) = (inner(&chain.stiffness, &shapes), inner(mass, &shapes));
        Ok(Self { shapes, stiffness, mass })
    }

    /// Lowest frequencies, rad/s, ascending.
    pub(super) fn frequencies(&self) -> Result<Vec<f64>, String> {
        let (nu, _) = dense::generalized_symmetric_eigen(&self.mass, &self.stiffness)
            .ok_or("the shapes are not independent")?;
        Ok(nu.iter().rev().map(|nu| (1.0 / nu).sqrt()).collect())
    }

    /// Displacements of joints and free nodes under Eᵀ w.
    pub(super) fn statics(
        &self,
        chain: &SoftChain,
        rows: &Matrix,
        wrench: &[f64; 6],
    ) -> Result<Vec<f64>, String> {
        let force = rows.mul(&chain.motions).transpose_mul_vec(wrench);
        let right = self.shapes.transpose_mul_vec(&force);
        let right = Matrix::from_fn(right.len(), 1, |i, _| right[i]);
        let z = dense::cholesky_solve(&self.stiffness, &right).ok_or("no stable shapes")?;
        Ok(self.shapes.mul_vec(z.as_slice()))
    }
}
