//! Inertia of base and mechanism about their common centre of mass, in the base's axes, and its
//! derivatives: made once per model.

use alloc::{vec, vec::Vec};

use forks_lie::{
    glam::{DMat3, DVec3},
    skew,
};
use forks_linalg::{Matrix, Pivots, cholesky, solve_lower};

use crate::{BaseCoupling, ModelError, data::BaseRest};

/// m, c(η), J(η), Σ(η), M̃; n coordinates. Vectors over pairs of coordinates are stored row by row.
#[derive(Clone, Debug)]
pub(super) struct Derivatives {
    pub(super) n: usize,
    /// Mass, kg.
    pub(super) mass: f64,
    /// c at η = 0.
    pub(super) center: DVec3,
    /// G = ∂c/∂η.
    pub(super) slope: Vec<DVec3>,
    /// ∂²c/∂η∂η.
    pub(super) curvature: Vec<DVec3>,
    /// J at η = 0.
    pub(super) rotation: DMat3,
    /// J_k.
    pub(super) rotation_slopes: Vec<DMat3>,
    /// Σ at η = 0, by columns.
    pub(super) coupling: Vec<DVec3>,
    /// Σ_k, row k by columns j.
    pub(super) coupling_slopes: Vec<DVec3>,
    /// M̃ = M − m GᵀG.
    pub(super) shape_mass: Matrix,
    /// ηᵀ(change)η bounds the square of the mass matrix' relative change.
    pub(super) change: Matrix,
}

impl Derivatives {
    /// From the inertia at the base link's origin.
    pub(super) fn new(
        b: &BaseRest,
        mass_matrix: &Matrix,
        form: BaseCoupling,
    ) -> Result<Self, ModelError> {
        let n = mass_matrix.rows();
        let mass = (0..3).map(|i| b.inertia[(i, i)]).sum::<f64>() / 3.0;
        if mass.is_nan() || mass <= 0.0 {
            return Err(ModelError::MassNotPositiveDefinite);
        }
        let center = moment(&b.inertia) / mass;
        let about_origin = block(&b.inertia, 3, 3);
        let slope: Vec<DVec3> = (0..n).map(|k| vector(&b.coupling, 0, k) / mass).collect();
        let pairs = || (0..n).flat_map(|k| (0..n).map(move |j| (k, j)));
        let of_pair = |row: usize, k: usize, j: usize| vector(&b.coupling_slopes[k], row, j);
        // The second derivative is symmetric where the maps are those of the mass matrix.
        let curvature: Vec<DVec3> =
            pairs().map(|(k, j)| (of_pair(0, k, j) + of_pair(0, j, k)) / (2.0 * mass)).collect();
        let (c, turn) = (center, skew(center));
        let rotation_slopes = (0..n).map(|k| {
            let s = &b.inertia_slopes[k];
            let change = skew(moment(s) / mass);
            block(s, 3, 3) + (change * turn + turn * change) * mass
        });
        let rotation = about_origin + turn * turn * mass;
        let coupling: Vec<DVec3> =
            (0..n).map(|j| vector(&b.coupling, 3, j) - c.cross(slope[j]) * mass).collect();
        let coupling_slopes = pairs().map(|(k, j)| {
            let moved = slope[k].cross(slope[j]) + c.cross(curvature[k * n + j]);
            of_pair(3, k, j) - moved * mass
        });
        let mut out = Self {
            n,
            mass,
            center,
            rotation,
            rotation_slopes: rotation_slopes.collect(),
            coupling_slopes: coupling_slopes.collect(),
            shape_mass: Matrix::from_fn(n, n, |i, j| {
                mass_matrix[(i, j)] - mass * slope[i].dot(slope[j])
            }),
            slope,
            curvature,
            coupling,
            change: Matrix::zeros(n, n),
        };
        out.simplify(b, mass_matrix, form)?;
        out.change = out.relative_change()?;
        Ok(out)
    }

    /// Leaves out what the form leaves out.
    fn simplify(
        &mut self,
        b: &BaseRest,
        mass_matrix: &Matrix,
        form: BaseCoupling,
    ) -> Result<(), ModelError> {
        if form == BaseCoupling::ExternalCorrected {
            let lost = |columns: &[DVec3]| -> Result<DMat3, ModelError> {
                let s = Matrix::from_fn(columns.len(), 3, |i, j| columns[i][j]);
                let solved = mass_matrix
                    .solve(&s, Pivots::AboveZero)
                    .filter(Matrix::is_finite)
                    .ok_or(ModelError::MassNotPositiveDefinite)?;
                Ok(block(&s.transpose_mul(&solved).symmetric_part(), 0, 0))
            };
            let linear: Vec<DVec3> = (0..self.n).map(|k| vector(&b.coupling, 0, k)).collect();
            let moving = lost(&linear)?;
            self.mass -= (moving.x_axis.x + moving.y_axis.y + moving.z_axis.z) / 3.0;
            self.rotation -= lost(&self.coupling)?;
        }
        if form == BaseCoupling::Full {
            return Ok(());
        }
        self.rotation_slopes.fill(DMat3::ZERO);
        self.coupling_slopes.fill(DVec3::ZERO);
        if form == BaseCoupling::Inertial {
            return Ok(());
        }
        self.slope.fill(DVec3::ZERO);
        self.curvature.fill(DVec3::ZERO);
        self.coupling.fill(DVec3::ZERO);
        self.shape_mass = mass_matrix.clone();
        Ok(())
    }

    /// tr(N_j N_k) with N_k = L⁻¹ 𝓜_k L⁻ᵀ, 𝓜₀ = L Lᵀ the mass matrix of (ω, η̇) and 𝓜_k its
    /// derivatives: the Frobenius norm of Σ N_k η_k bounds every eigenvalue of the relative change.
    fn relative_change(&self) -> Result<Matrix, ModelError> {
        let n = self.n;
        let rest = self.full(&self.rotation, &self.coupling, Some(&self.shape_mass));
        let inverse_factor = inverse_cholesky(&rest).ok_or(ModelError::MassNotPositiveDefinite)?;
        let scaled: Vec<Matrix> = (0..n)
            .map(|k| {
                let change =
                    self.full(&self.rotation_slopes[k], &self.coupling_slopes[k * n..], None);
                inverse_factor.mul(&change).mul(&inverse_factor.transpose())
            })
            .collect();
        let trace = |a: &Matrix, b: &Matrix| -> f64 {
            a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| x * y).sum()
        };
        Ok(Matrix::from_fn(n, n, |j, k| trace(&scaled[j], &scaled[k])))
    }

    /// [[J, Σ], [Σᵀ, M̃]].
    fn full(&self, rotation: &DMat3, coupling: &[DVec3], shape: Option<&Matrix>) -> Matrix {
        Matrix::from_fn(3 + self.n, 3 + self.n, |i, j| match (i < 3, j < 3) {
            (true, true) => rotation.col(j)[i],
            (true, false) => coupling[j - 3][i],
            (false, true) => coupling[i - 3][j],
            (false, false) => shape.map_or(0.0, |m| m[(i - 3, j - 3)]),
        })
    }
}

/// m c of a 6 × 6 inertia, from its block m [c]×.
fn moment(m: &Matrix) -> DVec3 {
    let at = |i: usize, j: usize| 0.5 * (m[(3 + i, j)] - m[(3 + j, i)]);
    DVec3::new(at(2, 1), at(0, 2), at(1, 0))
}

fn block(m: &Matrix, row: usize, column: usize) -> DMat3 {
    let col = |j: usize| vector(m, row, column + j);
    DMat3::from_cols(col(0), col(1), col(2))
}

fn vector(m: &Matrix, row: usize, column: usize) -> DVec3 {
    DVec3::new(m[(row, column)], m[(row + 1, column)], m[(row + 2, column)])
}

/// L⁻¹ of A = L Lᵀ; directions without mass get a little, so that they do not count.
fn inverse_cholesky(a: &Matrix) -> Option<Matrix> {
    const FLOOR: f64 = 1e-12;
    let n = a.rows();
    let scale: Vec<f64> = (0..n).map(|i| forks_linalg::sqrt(a[(i, i)].max(0.0))).collect();
    if scale.iter().take(3).any(|s| s.is_nan() || *s <= 0.0) {
        return None;
    }
    // Of the matrix with a diagonal of ones.
    let mut l = Matrix::from_fn(n, n, |i, j| {
        let size = scale[i] * scale[j];
        if i == j {
            1.0 + FLOOR
        } else if size > 0.0 && j < i {
            a[(i, j)] / size
        } else {
            0.0
        }
    });
    cholesky(n, l.as_mut_slice(), n, Pivots::RaisedTo { refused: -1e-9, floor: FLOOR }).ok()?;
    let mut out = Matrix::zeros(n, n);
    for (c, scale) in scale.iter().enumerate().filter(|(_, s)| **s > 0.0) {
        let mut column = vec![0.0; n];
        column[c] = 1.0;
        solve_lower(l.as_slice(), n, &mut column);
        // A = s (L Lᵀ) s with s the scales.
        (0..n).for_each(|i| out[(i, c)] = column[i] / scale);
    }
    Some(out)
}
