//! Superelements: information on the links that hold them; their outputs are appended with several
//! parents, ξ_c = A ξ_B + ε with ε of covariance C₀:
//!
//! C_c* = A C_B*,  C_cc = A C_BB Aᵀ + C₀.

use forks_mechanism::linalg::{Accuracy, Matrix};

use super::{Sweep, link_variables};
use crate::frontier::{Rows, Singular, Variable};

/// An eigenvalue of C₀ below this part of the largest is rounding: the output cannot move that way.
const RIGID: f64 = 1e-12;

impl Sweep<'_> {
    pub(super) fn add_superelement(&mut self, i: usize) -> Result<(), Singular> {
        let attached = &self.attached[i];
        let e = &attached.element;
        let links = attached.links();
        let variables: Vec<Variable> = links.iter().flat_map(|&l| link_variables(l)).collect();
        let twists = attached.rows(&links, self.r);
        let r = self.r;
        let unit = |i: usize| if i % 6 < 3 { r } else { 1.0 };
        if !attached.outputs.is_empty() {
            let k = 6 * e.frames.len();
            let relation = attached.relation();
            // Lengths over r: rows of outputs by 1/r, columns of frames by r.
            let scaled = Matrix::from_fn(relation.rows(), relation.columns(), |i, j| {
                let own = if j >= k { unit(j - k) } else { unit(j) };
                relation[(i, j)] * own / unit(i)
            });
            let rows = scaled.mul(&twists);
            let c = Matrix::from_fn(rows.rows(), rows.rows(), |i, j| {
                e.output_compliance[(i, j)] / (unit(i) * unit(j))
            });
            let (values, vectors) = c.symmetric_part().jacobi_eigen(Accuracy::Norm);
            let top = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let (moving, rigid): (Vec<usize>, Vec<usize>) =
                (0..values.len()).partition(|&i| values[i].abs() > RIGID * top);
            let turned = |chosen: &[usize]| {
                let part =
                    Matrix::from_fn(vectors.rows(), chosen.len(), |i, j| vectors[(i, chosen[j])]);
                Rows { variables: variables.clone(), matrix: part.transpose_mul(&rows) }
            };
            if !rigid.is_empty() {
                self.condition(turned(&rigid))?;
            }
            if !moving.is_empty() {
                let lambda = Matrix::from_fn(moving.len(), moving.len(), |i, j| {
                    if i == j { 1.0 / values[moving[i]] } else { 0.0 }
                });
                self.add_spring_energy(turned(&moving), &lambda)?;
            }
        }
        if e.stiffness.max_abs() > 0.0 {
            let n = e.stiffness.rows();
            let lambda = Matrix::from_fn(n, n, |i, j| e.stiffness[(i, j)] * unit(i) * unit(j));
            let matrix = twists.block(0, 0, n, twists.columns());
            self.add_spring_energy(Rows { variables, matrix }, &lambda.symmetric_part())?;
        }
        links.into_iter().for_each(|l| self.release_link(l));
        Ok(())
    }
}
