//! Exact constraints: free motions are used up first, the rest conditions C.

use forks_mechanism::linalg::{Matrix, dense};

use super::{
    FREE_TOLERANCE, Frontier, NOISE, REDUNDANT_TOLERANCE, Record, Rows, SINGULAR_TOLERANCE,
    Singular,
};
use crate::pseudo_inverse::pseudo_inverse;

impl Frontier {
    /// Conditions on the expressions being zero, exactly: free motions are used up first.
    pub(crate) fn condition(&mut self, rows: Rows, tape: &mut Vec<Record>) -> Result<(), Singular> {
        let rest = if self.is_resisted(&rows) { rows } else { self.consume(rows, tape) };
        if rest.matrix.rows() == 0 {
            return Ok(());
        }
        let covariance = self.rows_covariance(&rest);
        self.note_largest();
        let s = self.inner(&rest, &covariance);
        let scale = self.uncancelled(&rest);
        let n = self.live.len() as f64;
        let p = pseudo_inverse(&s, &scale, n * REDUNDANT_TOLERANCE, n * NOISE * self.largest);
        self.check_null_directions(&p.null, &covariance)?;
        self.correct(rest, p.inverse, covariance, tape);
        Ok(())
    }

    /// A redundant row moves nothing; a row of zero variance that does move something is a motion
    /// of zero stiffness (possible at loaded poses only).
    fn check_null_directions(&self, null: &Matrix, covariance: &Matrix) -> Result<(), Singular> {
        let largest = self.largest;
        for k in 0..null.columns() {
            for x in 0..self.live.len() {
                let moved: f64 = (0..null.rows()).map(|i| null[(i, k)] * covariance[(i, x)]).sum();
                // Cauchy–Schwarz for a positive C: moved² ≤ (null variance)·C_xx, zero to rounding.
                if moved.abs() > SINGULAR_TOLERANCE * largest.sqrt() {
                    return Err(Singular);
                }
            }
        }
        Ok(())
    }

    /// Uses up free motions with the constraint; returns the expressions that are left to condition
    /// C.
    ///
    /// With N_y = U N of rank ρ: gain = N N_y⁺, C ← (1 − gain U) C (1 − gain U)ᵀ, N ← N null(N_y).
    /// This is the limit of conditioning C + κ N Nᵀ for κ → ∞.
    fn consume(&mut self, rows: Rows, tape: &mut Vec<Record>) -> Rows {
        let (m, z, n) = (rows.matrix.rows(), self.free_count, self.live.len());
        let ny = self.moved(&rows);
        self.note_largest();
        let Some(d) = dense::full_svd(&ny) else { return rows };
        let rank = d.s.iter().filter(|&&s| s > FREE_TOLERANCE).count();
        if rank == 0 {
            return rows;
        }
        // N_y⁺ (z × m), then the gain N N_y⁺ (n × m).
        let pinv = Matrix::from_fn(z, m, |k, i| {
            (0..rank).map(|r| d.v[(k, r)] * d.u[(i, r)] / d.s[r]).sum()
        });
        let gain =
            Matrix::from_fn(n, m, |x, i| (0..z).map(|k| self.free[x][k] * pinv[(k, i)]).sum());
        let covariance = self.rows_covariance(&rows);
        let inner = self.inner(&rows, &covariance);
        self.congruence_update(&gain, &covariance, &inner);
        // Keep the free motions that the constraint does not touch.
        let untouched = Matrix::from_fn(n, z - rank, |x, c| {
            (0..z).map(|k| self.free[x][k] * d.v[(k, rank + c)]).sum()
        });
        self.keep_free(&untouched);
        let rest = Rows {
            variables: rows.variables.clone(),
            matrix: Matrix::from_fn(m - rank, rows.variables.len(), |i, p| {
                (0..m).map(|a| d.u[(a, rank + i)] * rows.matrix[(a, p)]).sum()
            }),
        };
        tape.push(Record::Consume { live: self.live.clone(), rows, gain });
        rest
    }

    /// C ← C − gain (UC) − (UC)ᵀ gainᵀ + gain (U C Uᵀ) gainᵀ.
    fn congruence_update(&mut self, gain: &Matrix, covariance: &Matrix, inner: &Matrix) {
        let (n, m) = (self.live.len(), gain.columns());
        let half = gain.mul(inner);
        for x in 0..n {
            for y in 0..=x {
                let mut sum = self.at(x, y);
                for i in 0..m {
                    sum -= gain[(x, i)] * covariance[(i, y)] + gain[(y, i)] * covariance[(i, x)];
                    sum += half[(x, i)] * gain[(y, i)];
                }
                self.c[x * self.stride + y] = sum;
                self.c[y * self.stride + x] = sum;
            }
        }
    }
}
