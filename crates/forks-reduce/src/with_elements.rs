//! Dense stiffness and mass of a mechanism with its superelements, over all joint coordinates and
//! then the internal modes.

use forks_dynamics::{mass_matrix, modes::admissible_motions};
use forks_mechanism::{
    Superelement,
    linalg::{Matrix, dense},
};

use crate::{
    attached::{Attached, internal_modes},
    error::ReduceError,
    linearisation::Linearisation,
    linearised::Linearised,
    shapes::Shapes,
};

/// Motions whose compliance-weighted mass is below this part of the largest have no finite
/// frequency.
const MASSLESS: f64 = 1e-13;

impl Linearised<'_> {
    /// The tangent stiffness, superelements included.
    pub(crate) fn stiffness_with_elements(&self) -> Result<Matrix, ReduceError> {
        let k = self.tangent_stiffness()?;
        if self.attached().is_empty() {
            return Ok(k);
        }
        if matches!(self.at, Linearisation::Loaded { .. }) {
            return Err(ReduceError::WithSuperelements {
                quantity: "dense stiffness of a loaded pose",
            });
        }
        let outputs = |a: &Attached| -> Result<Matrix, ReduceError> {
            let c = &a.element.output_compliance;
            dense::cholesky_solve(c, &Matrix::identity(c.rows()))
                .filter(Matrix::is_finite)
                .ok_or(ReduceError::NotFinite { quantity: "the stiffness of an output" })
        };
        let mut forms = Vec::new();
        for a in self.attached() {
            let (n, all) = (a.element.stiffness.rows(), a.element.coordinates());
            let mut form = Matrix::zeros(all, all);
            for i in 0..n {
                form.row_mut(i)[..n].copy_from_slice(a.element.stiffness.row(i));
            }
            if !a.outputs.is_empty() {
                let relation = a.relation();
                let own = relation.transpose_mul(&outputs(a)?.mul(&relation));
                for i in 0..own.rows() {
                    let row = form.row_mut(i).iter_mut().zip(own.row(i));
                    row.for_each(|(x, y)| *x += y);
                }
            }
            let twists = 6 * a.twists();
            for (i, k) in a.element.modes.iter().enumerate() {
                form[(twists + i, twists + i)] = *k;
            }
            forms.push(form);
        }
        Ok(self.with_forms(k, &forms))
    }

    /// The mass, superelements included.
    pub(crate) fn mass_with_elements(&self) -> Matrix {
        let mass = mass_matrix(self.mechanism(), self.q());
        if self.attached().is_empty() {
            return mass;
        }
        let of = |e: &Superelement| e.mass.clone();
        let forms: Vec<Matrix> = self.attached().iter().map(|a| of(&a.element)).collect();
        self.with_forms(mass, &forms)
    }

    /// The admissible motions, then one for every internal mode: (nv + modes) × …
    pub(crate) fn motions_with_elements(&self) -> Matrix {
        let n = admissible_motions(self.mechanism(), self.q(), self.poses());
        block_diagonal(&n, internal_modes(self.attached()))
    }

    /// A form over joint coordinates, widened by those of the superelements.
    fn with_forms(&self, of_joints: Matrix, forms: &[Matrix]) -> Matrix {
        let (nv, internal) = (of_joints.rows(), internal_modes(self.attached()));
        let mut shapes = Shapes::of_motions(self.mechanism(), self.q(), Matrix::identity(nv));
        let widen = |x: &Matrix| {
            Matrix::from_fn(x.rows(), nv + internal, |i, j| if j < nv { x[(i, j)] } else { 0.0 })
        };
        shapes.links = shapes.links.iter().map(widen).collect();
        shapes.internal =
            Matrix::from_fn(internal, nv + internal, |i, j| f64::from(u8::from(j == nv + i)));
        let mut out = Matrix::zeros(nv + internal, nv + internal);
        for i in 0..nv {
            out.row_mut(i)[..nv].copy_from_slice(of_joints.row(i));
        }
        let mut first = 0;
        for (a, form) in self.attached().iter().zip(forms) {
            let x = a.along(&shapes, first);
            out = out.plus_scaled(1.0, &x.transpose_mul(&form.mul(&x)).symmetric_part());
            first += a.element.modes.len();
        }
        out
    }

    /// The lowest frequencies with superelements, rad/s, ascending.
    pub(crate) fn frequencies_with_elements(&self, count: usize) -> Option<Vec<f64>> {
        let k = self.stiffness_with_elements().ok()?;
        let n = self.motions_with_elements();
        let k = n.transpose_mul(&k.mul(&n)).symmetric_part();
        let mass = n.transpose_mul(&self.mass_with_elements().mul(&n)).symmetric_part();
        let (nu, _) = dense::generalized_symmetric_eigen(&mass, &k)?;
        let least = MASSLESS * nu.last().copied().unwrap_or(0.0);
        let finite = nu.iter().rev().filter(|&&x| x > least);
        Some(finite.take(count).map(|x| (1.0 / x).sqrt()).collect())
    }
}

/// The matrix, then `count` further rows and columns of the identity.
fn block_diagonal(a: &Matrix, count: usize) -> Matrix {
    let (rows, columns) = (a.rows(), a.columns());
    Matrix::from_fn(rows + count, columns + count, |i, j| match (i < rows, j < columns) {
        (true, true) => a[(i, j)],
        (false, false) if i - rows == j - columns => 1.0,
        _ => 0.0,
    })
}
