//! Filtered inverses and smooth projectors for levels of equations.
//!
//! A = U diag(σ) Vᵀ becomes V diag(gain σ) Uᵀ. The projector between levels,
//! V (1 − min(1, (σ/σ₀)²)) Vᵀ, is the null space where σ ≥ σ₀ and gives directions away gradually
//! below, so that commands stay continuous through singular poses.

use forks_dynamics::mechanism::linalg::{Matrix, dense::svd};

/// How singular values are inverted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// σ/(σ² + α), the singularity-robust inverse of \[K08\]: ‖x‖ ≤ ‖d‖/(2√α), never exact. Its
    /// null space is that of the rank to 1e-9 of the largest σ, and jumps where that does.
    Constant(f64),
    /// σ/max(σ, σ₀)²: exact for σ ≥ σ₀, ‖x‖ ≤ ‖d‖/σ₀, continuous in A.
    Selective(f64),
    /// The same with σ₀ this share of each level's size, the root of the sum of squares of its
    /// coefficients.
    Share(f64),
    /// 1/σ above 1e-9 of the largest, 0 below: strict priorities, which jump.
    None,
}

/// Why equations have no filtered solution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A parameter that is not positive and finite.
    #[error("the filter's parameter is {value}; it has to be finite and above 0")]
    Parameter {
        /// Its value.
        value: f64,
    },
    /// A coefficient or right side that is not finite.
    #[error("level {level} has a coefficient or right side that is not finite")]
    NotFinite {
        /// Which level.
        level: usize,
    },
    /// Levels of other sizes.
    #[error(
        "level {level}: {rows} rows of {columns} columns with {right} right sides; \
        {unknowns} unknowns"
    )]
    Size {
        /// Which level.
        level: usize,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Its right sides.
        right: usize,
        /// Columns of the first level.
        unknowns: usize,
    },
}

/// Singular values below this share of the largest count as zero where a rank is needed.
const RANK: f64 = 1e-9;

impl Filter {
    pub(crate) fn check(self) -> Result<(), FilterError> {
        match self {
            Self::Constant(x) | Self::Selective(x) | Self::Share(x)
                if !(x.is_finite() && x > 0.0) =>
            {
                Err(FilterError::Parameter { value: x })
            }
            _ => Ok(()),
        }
    }

    /// What it is for a level of this size.
    fn of_level(self, size: f64) -> Self {
        match self {
            Self::Share(share) => Self::Selective((share * size).max(f64::MIN_POSITIVE)),
            other => other,
        }
    }

    /// What stands for 1/σ; `largest` is the largest σ, for a share the level's size.
    pub fn gain(self, sigma: f64, largest: f64) -> f64 {
        match self {
            Self::Share(_) => self.of_level(largest).gain(sigma, largest),
            Self::Constant(alpha) => sigma / (sigma * sigma + alpha),
            Self::Selective(least) => sigma / sigma.max(least).powi(2),
            Self::None if sigma > RANK * largest => 1.0 / sigma,
            Self::None => 0.0,
        }
    }

    /// The share of a direction that the levels below still have.
    pub fn left(self, sigma: f64, largest: f64) -> f64 {
        match self {
            Self::Share(_) => self.of_level(largest).left(sigma, largest),
            Self::Selective(least) => 1.0 - (sigma / least).powi(2).min(1.0),
            _ if sigma > RANK * largest => 0.0,
            _ => 1.0,
        }
    }

    /// x of levels A x = d, the most important first; every level moves x within what the
    /// projectors of the levels before it leave.
    ///
    /// # Errors
    /// A parameter that is not positive, numbers that are not finite, sizes that do not fit.
    pub fn solve(self, levels: &[(&Matrix, &[f64])]) -> Result<Vec<f64>, FilterError> {
        self.check()?;
        let n = levels.first().map_or(0, |(a, _)| a.columns());
        let mut x = vec![0.0; n];
        let mut projector = Matrix::identity(n);
        for (level, (a, d)) in levels.iter().enumerate() {
            let (rows, columns, right) = (a.rows(), a.columns(), d.len());
            if columns != n || right != rows {
                return Err(FilterError::Size { level, rows, columns, right, unknowns: n });
            }
            if !a.is_finite() || !d.iter().all(|x| x.is_finite()) {
                return Err(FilterError::NotFinite { level });
            }
            let reached = a.mul_vec(&x);
            let open: Vec<f64> = d.iter().zip(&reached).map(|(d, r)| d - r).collect();
            let b = a.mul(&projector);
            let f = svd(&b).ok_or(FilterError::NotFinite { level })?;
            // Singular values of what projectors have emptied are rounding of the level's own size.
            let largest = f.s.first().copied().unwrap_or(0.0).max(a.norm() * 1e-6);
            let filter = self.of_level(a.norm());
            let mut y = f.u.transpose_mul_vec(&open);
            y.iter_mut().zip(&f.s).for_each(|(y, s)| *y *= filter.gain(*s, largest));
            let step = projector.mul_vec(&f.v.mul_vec(&y));
            x.iter_mut().zip(&step).for_each(|(x, s)| *x += s);
            let taken = Matrix::from_fn(n, f.s.len(), |i, j| {
                f.v[(i, j)] * (1.0 - filter.left(f.s[j], largest))
            });
            let kept = Matrix::identity(n).sub(&taken.mul(&f.v.transpose()));
            projector = projector.mul(&kept);
        }
        Ok(x)
    }
}
