//! Energies: C ← (C⁻¹ + RᵀΛR)⁻¹ without an inverse of C or of Λ.

use forks_mechanism::linalg::{Accuracy, Matrix, Pivots};

use super::{FREE_TOLERANCE, Frontier, NOISE, Record, Rows, Singular};

impl Frontier {
    /// Adds the energy ½ (Rx)ᵀ Λ (Rx) to expressions that no free motion moves:
    /// C ← C − C Rᵀ K R C, K = (1 + Λ R C Rᵀ)⁻¹ Λ.
    pub(crate) fn inform(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
        tape: &mut Vec<Record>,
    ) -> Result<(), Singular> {
        let (covariance, core) = self.resistance(&rows, lambda)?;
        self.correct(rows, core, covariance, tape);
        Ok(())
    }

    /// The same for expressions that free motions N move, for Λ of either sign.
    ///
    /// What gives way beside a free motion changes its shape to N₁ = N − C Rᵀ K R N. The energy
    /// resists it with A = (R N)ᵀ K (R N): along the eigenvectors V of A with eigenvalues
    /// |α| > `least` free motions become compliance, C ← C − C Rᵀ K R C + N₁ V α⁻¹ Vᵀ N₁ᵀ, the
    /// others stay free.
    pub(crate) fn inform_free(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
        least: f64,
        tape: &mut Vec<Record>,
    ) -> Result<(), Singular> {
        let (covariance, k) = self.resistance(&rows, lambda)?;
        let moved = self.moved(&rows);
        let pushed = k.mul(&moved);
        let a = moved.transpose_mul(&pushed).symmetric_part();
        // Rounding of A, and what is left of free motions that do not move the expressions.
        let unmoved = FREE_TOLERANCE * self.reach(&rows);
        let rounding =
            (NOISE * size_of_terms(&moved, &pushed)).max(k.max_abs() * unmoved * unmoved);
        let floor = least.max(rounding);
        let (values, vectors) = a.jacobi_eigen(Accuracy::Norm);
        let (resisted, left): (Vec<usize>, Vec<usize>) =
            (0..values.len()).partition(|&i| values[i].abs() > floor);
        let columns = |which: &[usize]| {
            Matrix::from_fn(values.len(), which.len(), |i, j| vectors[(i, which[j])])
        };
        let shapes = self.relaxed(&covariance, &pushed);
        let v = columns(&resisted);
        let (soft, pushed) = (shapes.mul(&v), pushed.mul(&v));
        let by_stiffness = |m: &Matrix| {
            Matrix::from_fn(m.rows(), m.columns(), |i, j| m[(i, j)] / values[resisted[j]])
        };
        // C Rᵀ K + N₁ V α⁻¹ (K R N V)ᵀ and K − K R N V α⁻¹ (K R N V)ᵀ.
        let back = pushed.transpose();
        let compliance = by_stiffness(&soft);
        let gain = covariance.transpose_mul(&k).plus_scaled(1.0, &compliance.mul(&back));
        let core = k.sub(&by_stiffness(&pushed).mul(&back)).symmetric_part();
        self.subtract_product(&covariance, &k.mul(&covariance));
        let gained = Matrix::from_fn(resisted.len(), soft.rows(), |j, x| -compliance[(x, j)]);
        self.subtract_product(&gained, &soft.transpose());
        self.keep_free(&shapes.mul(&columns(&left)));
        tape.push(Record::Inform { live: self.live.clone(), rows, gain, core });
        Ok(())
    }

    /// R C and K = (1 + Λ R C Rᵀ)⁻¹ Λ.
    fn resistance(&mut self, rows: &Rows, lambda: &Matrix) -> Result<(Matrix, Matrix), Singular> {
        let covariance = self.rows_covariance(rows);
        self.note_largest();
        let mut system = lambda.mul(&self.inner(rows, &covariance));
        let mut right = lambda.clone();
        for i in 0..lambda.rows() {
            system[(i, i)] += 1.0;
            // Rows of stiff springs beside those of soft ones: none tells whether another is 0.
            let size = system.row(i).iter().fold(1.0f64, |a, x| a.max(x.abs()));
            system.row_mut(i).iter_mut().for_each(|x| *x /= size);
            right.row_mut(i).iter_mut().for_each(|x| *x /= size);
        }
        let k = system.solve(&right, Pivots::AboveLargest(1e-14)).ok_or(Singular)?;
        Ok((covariance, k.symmetric_part()))
    }

    /// N − (R C)ᵀ `pushed`: live × free.
    fn relaxed(&self, covariance: &Matrix, pushed: &Matrix) -> Matrix {
        let way = covariance.transpose_mul(pushed);
        Matrix::from_fn(self.live.len(), self.free_count, |x, j| self.free[x][j] - way[(x, j)])
    }

    /// How far a free motion could move an expression.
    fn reach(&self, rows: &Rows) -> f64 {
        let largest = |x: f64, y: &f64| x.max(y.abs());
        let motion = self.free.iter().flatten().fold(0.0, largest);
        let weights = (0..rows.matrix.rows()).map(|i| rows.matrix.row(i).iter().fold(0.0, largest));
        motion * weights.fold(0.0, f64::max)
    }
}

/// The size of what cancels in the entries of aᵀb.
fn size_of_terms(a: &Matrix, b: &Matrix) -> f64 {
    let column = |j| (0..a.rows()).map(|i| (a[(i, j)] * b[(i, j)]).abs()).sum::<f64>();
    (0..a.columns()).map(column).fold(0.0, f64::max)
}
