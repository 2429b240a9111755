//! Energies: C ← (C⁻¹ + RᵀΛR)⁻¹ without an inverse of C.

use forks_mechanism::linalg::{Accuracy, Matrix, Pivots};

use super::{Frontier, Record, Rows, Singular, Variable};

impl Frontier {
    /// Adds the energy ½ (Rx)ᵀ Λ (Rx) to expressions that no free motion moves:
    /// C ← C − C Rᵀ (1 + Λ R C Rᵀ)⁻¹ Λ R C.
    pub(crate) fn inform(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
        tape: &mut Vec<Record>,
    ) -> Result<(), Singular> {
        let covariance = self.rows_covariance(&rows);
        self.note_largest();
        let s = self.inner(&rows, &covariance);
        let m = lambda.rows();
        let mut system = lambda.mul(&s);
        for i in 0..m {
            system[(i, i)] += 1.0;
        }
        let core =
            system.solve(lambda, Pivots::AboveLargest(1e-14)).ok_or(Singular)?.symmetric_part();
        self.correct(rows, core, covariance, tape);
        Ok(())
    }

    /// The same for expressions that free motions move: Rx is made equal to independent noise of
    /// covariance Λ⁻¹, which works for Λ of either sign.
    pub(crate) fn inform_free(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
        tape: &mut Vec<Record>,
    ) -> Result<(), Singular> {
        let (values, vectors) = lambda.jacobi_eigen(Accuracy::Norm);
        let top = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let kept: Vec<usize> =
            (0..values.len()).filter(|&k| values[k].abs() > 1e-13 * top).collect();
        let noise: Vec<Variable> = kept.iter().map(|_| self.new_variable()).collect();
        let covariance = Matrix::from_fn(kept.len(), kept.len(), |i, j| {
            if i == j { 1.0 / values[kept[i]] } else { 0.0 }
        });
        self.add_independent(&noise, &covariance, &Matrix::zeros(kept.len(), 0));
        let mut variables = rows.variables.clone();
        variables.extend(&noise);
        let width = rows.variables.len();
        let matrix = Matrix::from_fn(kept.len(), variables.len(), |i, p| {
            if p < width {
                (0..rows.matrix.rows()).map(|a| vectors[(a, kept[i])] * rows.matrix[(a, p)]).sum()
            } else if p - width == i {
                -1.0
            } else {
                0.0
            }
        });
        self.condition(Rows { variables, matrix }, tape)?;
        for v in noise {
            self.drop_variable(v);
        }
        Ok(())
    }
}
