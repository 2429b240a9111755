//! Compliance that constraints share: a full block R beside the one number that each may have.
//!
//! λ on the constraints yields them by R λ, R = F Fᵀ symmetric and positive semidefinite. F is
//! given to a body of as many coordinates as R has rank, with A⁻¹ = 1: its velocities are Fᵀ λ, and
//! the rows of F its Jacobian, so that J A⁻¹ Jᵀ = R exactly, singular or not.

use alloc::vec;

use forks_linalg::{Accuracy, Matrix};

use crate::{BodyId, ContactError, ContactProblem};

/// Eigenvalues below this part of the largest are rounding.
const RANK: f64 = 1e-13;

/// A block of compliance in a problem.
#[derive(Clone, Debug)]
pub struct SharedCompliance {
    body: BodyId,
    factor: Matrix,
}

impl ContactProblem {
    /// Adds the compliance R that some constraints share: impulses on rows yield velocities R λ in
    /// all of them, (m/s)/(N·s). For a deformation of static compliance C, m/N, R = C/h².
    ///
    /// # Errors
    /// A matrix that is not square, symmetric, finite, or that has a negative eigenvalue.
    pub fn add_shared_compliance(
        &mut self,
        block: &Matrix,
    ) -> Result<SharedCompliance, ContactError> {
        let (body, n) = (self.body_count(), block.rows());
        if block.columns() != n {
            let quantity = "the shared compliance";
            let found = block.columns();
            return Err(ContactError::BodySize { body, quantity, found, expected: n });
        }
        if let Some(value) = block.as_slice().iter().copied().find(|x| !x.is_finite()) {
            let quantity = "the shared compliance";
            return Err(ContactError::BodyNotFinite { body, quantity, value });
        }
        let largest = block.max_abs();
        let difference = block.sub(&block.transpose()).max_abs();
        if difference > 1e-9 * largest {
            return Err(ContactError::NotSymmetric { body, difference });
        }
        let (values, vectors) = block.symmetric_part().jacobi_eigen(Accuracy::Norm);
        let top = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // Negative by more than rounding of the largest.
        if let Some(row) = values.iter().position(|v| *v < -1e-9 * top) {
            return Err(ContactError::NotPositiveDefinite { body, row, pivot: values[row] });
        }
        let mut kept = vec![];
        kept.extend((0..n).filter(|&i| values[i] > RANK * top));
        let factor = Matrix::from_fn(n, kept.len(), |i, k| {
            vectors[(i, kept[k])] * libm::sqrt(values[kept[k]])
        });
        let rank = kept.len();
        let id = self.add_body(&Matrix::identity(rank), &vec![0.0; rank])?;
        Ok(SharedCompliance { body: id, factor })
    }
}

impl SharedCompliance {
    /// The body that stands for it: a further side of every constraint that shares in it.
    pub fn body(&self) -> BodyId {
        self.body
    }

    /// Rank of the block.
    pub fn rank(&self) -> usize {
        self.factor.columns()
    }

    /// Jacobian of a constraint whose rows are `weights` times rows of the block, from `first` on.
    ///
    /// # Panics
    /// If the block has not so many rows.
    pub fn jacobian(&self, first: usize, weights: &Matrix) -> Matrix {
        weights.mul(&self.factor.block(first, 0, weights.columns(), self.rank()))
    }
}
