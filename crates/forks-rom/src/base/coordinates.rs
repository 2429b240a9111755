//! A floating base's inertia in other reduced coordinates.

use alloc::vec::Vec;

use forks_linalg::Matrix;

use crate::data::BaseRest;

impl BaseRest {
    /// The same base in coordinates η′ with η = T η′.
    #[must_use]
    pub fn in_coordinates(&self, t: &Matrix) -> Self {
        let sum = |of: &dyn Fn(usize) -> Matrix, k: usize| {
            let zero = Matrix::zeros(6, of(0).columns());
            (0..t.rows()).fold(zero, |sum, i| sum.plus_scaled(t[(i, k)], &of(i)))
        };
        let along = |of: &dyn Fn(usize) -> Matrix| match t.rows() {
            0 => Vec::new(),
            _ => (0..t.columns()).map(|k| sum(of, k)).collect(),
        };
        Self {
            inertia_slopes: along(&|i| self.inertia_slopes[i].clone()),
            coupling: self.coupling.mul(t),
            coupling_slopes: along(&|i| self.coupling_slopes[i].mul(t)),
            ..self.clone()
        }
    }
}
