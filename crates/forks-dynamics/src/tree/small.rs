//! LDLᵀ of the d×d matrices of a joint, d ≤ 6.

/// Factors of a positive definite matrix of up to six rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ldl {
    lower: [[f64; 6]; 6],
    inverse: [f64; 6],
    rows: usize,
}

impl Ldl {
    pub(crate) const EMPTY: Self = Self { lower: [[0.0; 6]; 6], inverse: [0.0; 6], rows: 0 };

    /// Factors the leading `rows` rows of `m` (lower triangle). The row of the first pivot that is
    /// not above `least[row]` is returned with the pivot as the error.
    pub(crate) fn new(
        m: &[[f64; 6]; 6],
        rows: usize,
        least: &[f64; 6],
    ) -> Result<Self, (usize, f64)> {
        let mut out = Self { rows, ..Self::EMPTY };
        let mut pivots = [0.0; 6];
        for i in 0..rows {
            let mut pivot = m[i][i];
            for j in 0..i {
                let mut x = m[i][j];
                for k in 0..j {
                    x -= out.lower[i][k] * pivots[k] * out.lower[j][k];
                }
                let l = x * out.inverse[j];
                out.lower[i][j] = l;
                pivot -= l * l * pivots[j];
            }
            if pivot <= least[i] || pivot.is_nan() {
                return Err((i, pivot));
            }
            pivots[i] = pivot;
            out.inverse[i] = 1.0 / pivot;
        }
        Ok(out)
    }

    /// Entry (i, j) of L, i > j.
    pub(crate) fn lower(&self, i: usize, j: usize) -> f64 {
        self.lower[i][j]
    }

    /// One over pivot i.
    pub(crate) fn inverse(&self, i: usize) -> f64 {
        self.inverse[i]
    }

    /// Solves in place.
    pub(crate) fn solve(&self, x: &mut [f64; 6]) {
        for i in 0..self.rows {
            for j in 0..i {
                x[i] -= self.lower[i][j] * x[j];
            }
        }
        for i in (0..self.rows).rev() {
            x[i] *= self.inverse[i];
            for j in i + 1..self.rows {
                x[i] -= self.lower[j][i] * x[j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Hilbert matrix of six rows has condition 1.5e7; the residual stays at rounding.
    #[test]
    fn solves_and_refuses() {
        let m: [[f64; 6]; 6] =
            core::array::from_fn(|i| core::array::from_fn(|j| 1.0 / (i + j + 1) as f64));
        let f = Ldl::new(&m, 6, &[0.0; 6]).expect("positive definite");
        let b = [1.0, -2.0, 3.0, 0.5, 0.25, -1.0];
        let mut x = b;
        f.solve(&mut x);
        let size = x.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        for i in 0..6 {
            let r: f64 = (0..6).map(|j| m[i][j] * x[j]).sum::<f64>() - b[i];
            assert!(r.abs() < 36.0 * f64::EPSILON * size, "{r}");
        }
        let mut singular = m;
        singular[3] = singular[2];
        for i in 0..6 {
            singular[i][3] = singular[i][2];
        }
        assert_eq!(Ldl::new(&singular, 6, &[1e-14; 6]).map(|_| ()).map_err(|e| e.0), Err(3));
        singular[0][0] = f64::NAN;
        assert!(Ldl::new(&singular, 6, &[0.0; 6]).is_err_and(|e| e.0 == 0 && e.1.is_nan()));
    }
}
