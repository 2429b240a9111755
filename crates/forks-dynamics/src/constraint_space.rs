//! Independent rows of the loop equations: pivoted Gram–Schmidt with reorthogonalisation.
//!
//! Planar loops always have redundant rows, so the rank of G is found anew at every pose. With the
//! chosen rows G_s = L Y, Y orthonormal, L lower triangular: the least-squares multipliers are λ =
//! −L⁻ᵀ Y f, and Y x = −L⁻¹ g is the step that closes the loops.

use forks_mechanism::linalg::{Matrix, dot, norm};

/// Rows whose part outward of the chosen ones is below this, relative to the largest row, are
/// redundant.
pub(crate) const RANK_TOLERANCE: f64 = 1e-9;

#[derive(Clone, Debug)]
pub(crate) struct ConstraintSpace {
    /// Orthonormal rows that span the rows of G (rank × n).
    pub(crate) basis: Matrix,
    /// Which rows of G were chosen, in order.
    rows: Vec<usize>,
    /// G_s = L Y.
    lower: Vec<Vec<f64>>,
    total_rows: usize,
}

impl ConstraintSpace {
    pub(crate) fn new(g: &Matrix) -> Self {
        let mut rest = g.clone();
        let mut norms: Vec<f64> = (0..g.rows()).map(|i| norm(g.row(i))).collect();
        let largest = norms.iter().fold(0.0f64, |m, &x| m.max(x));
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let (mut rows, mut lower) = (Vec::new(), Vec::new());
        let mut chosen = vec![false; g.rows()];
        while rows.len() < g.rows().min(g.columns()) {
            let pivot = (0..g.rows())
                .filter(|&i| !chosen[i])
                .max_by(|&a, &b| norms[a].total_cmp(&norms[b]).then(b.cmp(&a)));
            let Some(pivot) = pivot else { break };
            // The running remainder may have lost digits: orthogonalise the pivot once more.
            let mut v = rest.row(pivot).to_vec();
            for y in &basis {
                let c = dot(y, &v);
                v.iter_mut().zip(y).for_each(|(v, y)| *v -= c * y);
            }
            let length = norm(&v);
            if length.is_nan() || length <= RANK_TOLERANCE * largest {
                break;
            }
            v.iter_mut().for_each(|x| *x /= length);
            let mut coefficients: Vec<f64> = basis.iter().map(|y| dot(y, g.row(pivot))).collect();
            coefficients.push(dot(&v, g.row(pivot)));
            chosen[pivot] = true;
            rows.push(pivot);
            lower.push(coefficients);
            for i in 0..g.rows() {
                if chosen[i] || norms[i] == 0.0 {
                    continue;
                }
                let row = rest.row_mut(i);
                let c = dot(&v, row);
                if c != 0.0 {
                    row.iter_mut().zip(&v).for_each(|(r, v)| *r -= c * v);
                    norms[i] = norm(row);
                }
            }
            basis.push(v);
        }
        Self {
            basis: Matrix::from_fn(basis.len(), g.columns(), |i, j| basis[i][j]),
            rows,
            lower,
            total_rows: g.rows(),
        }
    }

    /// Which rows were chosen, in order.
    pub(crate) fn independent_rows(&self) -> &[usize] {
        &self.rows
    }

    pub(crate) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// λ (all rows, redundant ones zero) that minimises |f + Gᵀλ|.
    pub(crate) fn multipliers(&self, f: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = self.basis.mul_vec(f).iter().map(|x| -x).collect();
        for i in (0..y.len()).rev() {
            y[i] /= self.lower[i][i];
            for k in 0..i {
                y[k] -= self.lower[i][k] * y[i];
            }
        }
        let mut lambda = vec![0.0; self.total_rows];
        for (row, y) in self.rows.iter().zip(y) {
            lambda[*row] = y;
        }
        lambda
    }

    /// −L⁻¹ g: what Y x must be for the linearised equations G x = −g.
    pub(crate) fn closing_step(&self, g: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rank()];
        for i in 0..y.len() {
            let known: f64 = (0..i).map(|k| self.lower[i][k] * y[k]).sum();
            y[i] = (-g[self.rows[i]] - known) / self.lower[i][i];
        }
        y
    }

    /// The shortest x with Y x = −L⁻¹ g.
    pub(crate) fn closing_motion(&self, g: &[f64]) -> Vec<f64> {
        self.basis.transpose_mul_vec(&self.closing_step(g))
    }

    /// Takes off the part of `f` that the constraints carry: (1 − YᵀY) f.
    pub(crate) fn project(&self, f: &[f64]) -> Vec<f64> {
        let mut out = f.to_vec();
        // Twice: the first pass leaves rounding of the size of the constraint forces.
        for _ in 0..2 {
            let carried = self.basis.transpose_mul_vec(&self.basis.mul_vec(&out));
            out.iter_mut().zip(carried).for_each(|(o, c)| *o -= c);
        }
        out
    }

    /// P k P + s YᵀY, P = 1 − YᵀY: the eigenvalues of `k` on the admissible motions, and s once for
    /// every constraint.
    pub(crate) fn admissible(&self, k: &Matrix, s: f64) -> Matrix {
        if self.rank() == 0 {
            return k.clone();
        }
        let y = &self.basis;
        let left = y.transpose_mul(&y.mul(k));
        let mut out = k.sub(&left);
        let right = out.mul(&y.transpose()).mul(y);
        out = out.sub(&right);
        let constraints = y.transpose_mul(y);
        Matrix::from_fn(k.rows(), k.columns(), |i, j| out[(i, j)] + s * constraints[(i, j)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forks_mechanism::{lie::SplitMix64, linalg::dense};

    /// Rows of rank 4 in 7 coordinates, six of them.
    fn redundant() -> Matrix {
        let mut random = SplitMix64::new(12345);
        let mut number = || random.range(-1.0, 1.0);
        let (a, b) =
            (Matrix::from_fn(6, 4, |_, _| number()), Matrix::from_fn(4, 7, |_, _| number()));
        a.mul(&b)
    }

    #[test]
    fn agrees_with_the_singular_value_decomposition() {
        let g = redundant();
        let space = ConstraintSpace::new(&g);
        let (rank, n) = dense::nullspace(&g, RANK_TOLERANCE).unwrap();
        assert_eq!(space.rank(), rank);
        // The projection takes the nullspace to itself and the rows to nothing.
        for j in 0..n.columns() {
            let column = n.column(j);
            let kept = space.project(&column);
            assert!(column.iter().zip(kept).all(|(a, b)| (a - b).abs() < 1e-13));
        }
        for i in 0..g.rows() {
            assert!(norm(&space.project(g.row(i))) < 1e-13 * norm(g.row(i)));
        }
    }

    #[test]
    fn multipliers_carry_what_can_be_carried_and_steps_close() {
        let g = redundant();
        let space = ConstraintSpace::new(&g);
        let f: Vec<f64> = (0..7).map(|i| (i as f64).sin()).collect();
        let carried = g.transpose_mul_vec(&space.multipliers(&f));
        let left: Vec<f64> = f.iter().zip(&carried).map(|(f, c)| f + c).collect();
        let best = dense::min_norm_solve(&g.transpose(), &f, RANK_TOLERANCE);
        let least = g.transpose_mul_vec(&best);
        let least: Vec<f64> = f.iter().zip(&least).map(|(f, c)| f - c).collect();
        assert!((norm(&left) - norm(&least)).abs() < 1e-12);
        // A consistent gap g = G x is closed by the step Yᵀ y.
        let gap = g.mul_vec(&f);
        let step = space.basis.transpose_mul_vec(&space.closing_step(&gap));
        let moved = g.mul_vec(&step);
        assert!(gap.iter().zip(moved).all(|(g, m)| (g + m).abs() < 1e-12 * norm(&gap)));
    }
}
