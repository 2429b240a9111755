//! The exact step for loads that are constant over it.
//!
//! With x = η − η_s and constant u = g − b_η the motion M ẍ + D ẋ + 𝓗 x = u is linear: (x, ẋ, u) after the step is
//! the exponential of one matrix times (x, ẋ, u) before.

use forks_lie::Matrix;

use crate::{
    ModelError,
    linear::{is_positive_definite, solve_matrix, sum},
    model::ModelData,
    scalar::sqrt,
    transition::Transition,
};

/// Rates and positions after a step; columns (η̇, η − η_s, g − b_η).
pub(crate) fn exponential(
    data: &ModelData,
    static_force: &[f64],
    stiffness: &Matrix,
    h: f64,
) -> Result<Transition, ModelError> {
    let n = stiffness.rows();
    if n == 0 {
        let none = Matrix::default();
        return Ok(Transition::new(&none, &none, &none, &[]));
    }
    if !is_positive_definite(&data.mass) {
        return Err(ModelError::MassNotPositiveDefinite);
    }
    let invert =
        |m: &Matrix| solve_matrix(&data.mass, m).ok_or(ModelError::MassNotPositiveDefinite);
    let (k, d, w) = (invert(stiffness)?, invert(&data.damping)?, invert(&Matrix::identity(n))?);
    // Velocities over ω and forces over ω²/‖M⁻¹‖ make the blocks of like size.
    let omega = sqrt(k.norm()).max(1.0 / h);
    let unit = omega * omega / w.norm();
    let generator = Matrix::from_fn(3 * n, 3 * n, |i, j| {
        let (a, b) = (i % n, j % n);
        h * match (i / n, j / n) {
            (0, 1) => omega * f64::from(a == b),
            (1, 0) => -k[(a, b)] / omega,
            (1, 1) => -d[(a, b)],
            (1, 2) => w[(a, b)] * unit / omega,
            _ => 0.0,
        }
    });
    let e = matrix_exponential(&generator);
    if !e.is_finite() {
        return Err(ModelError::SingularStep);
    }
    let part = |i: usize, j: usize, s: f64| {
        let block = e.block(i * n, j * n, n, n);
        sum(&Matrix::zeros(n, n), s, &block)
    };
    let rates = Transition::new(
        &part(1, 1, 1.0),
        &part(1, 0, omega),
        &part(1, 2, omega / unit),
        static_force,
    );
    let positions = Transition::new(
        &part(0, 1, 1.0 / omega),
        &part(0, 0, 1.0),
        &part(0, 2, 1.0 / unit),
        static_force,
    );
    Ok(rates.followed_by(positions))
}

/// Scaling and squaring of Taylor's series: at norm ½ its 18th term is below 2⁻¹⁸/18! = 6e-22.
fn matrix_exponential(a: &Matrix) -> Matrix {
    const TERMS: usize = 18;
    let mut squarings = 0;
    let mut norm = a.norm();
    while norm > 0.5 && squarings < 1024 {
        norm *= 0.5;
        squarings += 1;
    }
    let scale = libm::ldexp(1.0, -squarings);
    let a = Matrix::from_fn(a.rows(), a.columns(), |i, j| scale * a[(i, j)]);
    let mut out = Matrix::identity(a.rows());
    for k in (1..=TERMS).rev() {
        out = sum(&Matrix::identity(a.rows()), 1.0 / k as f64, &a.mul(&out));
    }
    for _ in 0..squarings {
        out = out.mul(&out);
    }
    out
}
