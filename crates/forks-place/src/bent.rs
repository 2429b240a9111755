//! Samples whose energies are exact to third order, and whose stiffness is limited.

use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions},
};
use forks_reduce::Problem;

use crate::{
    curvature::{curvature, limited},
    error::BlendError,
    sample::Sample,
};

impl Sample {
    /// The sample at an equilibrium under `loads`, exact to third order in the energy. Where the
    /// third derivatives cannot be found it is exact to second order, as [`Sample::new`]'s.
    ///
    /// # Errors
    /// As [`Sample::new`].
    pub fn bent(
        problem: &Problem,
        at: &Equilibrium,
        loads: &Loads,
        options: &EquilibriumOptions,
    ) -> Result<Self, BlendError> {
        Self::new(problem, at, loads).map(|s| s.bending(problem, at, loads, options))
    }

    /// The same sample, exact to third order where the third derivatives are found.
    pub(crate) fn bending(
        mut self,
        problem: &Problem,
        at: &Equilibrium,
        loads: &Loads,
        options: &EquilibriumOptions,
    ) -> Self {
        if let Some(c) = curvature(problem, at, loads, &self, options) {
            self.curvature = c;
        }
        self
    }

    /// Limits the stiffness to `most`, N·m (lengths are over the radius). Next to a singular pose a
    /// mechanism gives way in some directions 10¹⁰ times less than in others: it takes its loads as
    /// well if these are softer, and a blend then keeps the digits of the others. Mass and damping
    /// follow, so that frequencies stay; maps to links and joints do, so that loads move these as
    /// before.
    ///
    /// ```text
    /// most = f r / δ  loads of size f move the effectors by the part δ of r along such a direction
    /// ```
    pub fn limit_stiffness(&mut self, most: f64) {
        limited(self, most);
    }
}

#[cfg(test)]
mod tests {
    use forks_mechanism::linalg::dense::{cholesky_solve, symmetric_eigen};

    use forks_mechanism::linalg::Matrix;

    use super::*;
    use crate::testing::{bent_sample, problems};

    /// Σ ω² and Σ ω⁴ of free vibrations.
    fn frequencies(s: &Sample) -> [f64; 2] {
        let a = cholesky_solve(&s.data.mass, &s.data.hessian).unwrap();
        let trace = |m: &Matrix| (0..m.rows()).map(|i| m[(i, i)]).sum();
        [trace(&a), trace(&a.mul(&a))]
    }

    #[test]
    fn a_direction_of_limited_stiffness_keeps_its_frequency() {
        for problem in problems() {
            let mut s = bent_sample(&problem);
            s.curvature = Matrix::zeros(0, 0);
            let largest = |s: &Sample| {
                let (values, _) = symmetric_eigen(&s.data.hessian).unwrap();
                values.into_iter().fold(0.0, f64::max)
            };
            let (before, most) = (frequencies(&s), 0.2 * largest(&s));
            let mass = s.data.mass.clone();
            // What a unit of generalised force does to the links: X 𝓗⁻¹.
            let moved = |s: &Sample| -> Vec<Matrix> {
                let soft = cholesky_solve(&s.data.hessian, &Matrix::identity(s.rank())).unwrap();
                s.data.links.iter().map(|l| l.map.mul(&soft)).collect()
            };
            let links = moved(&s);
            s.limit_stiffness(most);
            let size = links.iter().map(Matrix::max_abs).fold(0.0, f64::max);
            for (a, b) in links.iter().zip(moved(&s)) {
                assert!(a.sub(&b).max_abs() < 1e-9 * size, "{:e}", a.sub(&b).max_abs() / size);
            }
            assert!((largest(&s) - most).abs() < 1e-12 * most);
            assert!(mass.sub(&s.data.mass).max_abs() > 0.01 * mass.max_abs());
            let (values, _) = symmetric_eigen(&mass).unwrap();
            let condition = values.iter().copied().fold(0.0, f64::max)
                / values.iter().copied().fold(f64::INFINITY, f64::min);
            for (a, b) in before.iter().zip(frequencies(&s)) {
                assert!((a - b).abs() < 1e2 * condition * f64::EPSILON * a, "{a} {b}");
            }
        }
    }
}
