//! The exact step for loads that are constant over it.
//!
//! With x = η − η_s and constant u = g − b_η the motion M ẍ + D ẋ + K x = u is linear. Where K is
//! symmetric and positive definite it is solved in the modes of M and K, x = V y with VᵀMV = 1 and
//! VᵀKV = Ω²: each mode in closed form if VᵀDV is diagonal (no damping, Rayleigh, modal), else by
//! the exponential of one matrix in the coordinates (ẏ, Ω y), whose squared length is twice the
//! energy, so that no power of it is larger than 1.

use alloc::vec::Vec;

use forks_linalg::{Matrix, OrthogonalRows, Pivots, sqrt};

use crate::{ModelError, data::ModelData, oscillator::Oscillator, transition::Transition};

/// Asymmetry, and entries of VᵀDV off the diagonal, that rounding explains, over the largest entry.
const ROUNDING: f64 = 1e-13;

/// What rates and positions are after a step in some coordinates y: columns ẏ, y and force.
struct Blocks {
    rates: [Matrix; 3],
    positions: [Matrix; 3],
}

/// Coordinates y with V y = x and kinetic energy ½ ẏᵀẏ.
struct Coordinates {
    from_y: Matrix,
    to_y: Matrix,
}

/// Rates and positions after a step; columns (η̇, η − η_s, g − b_η).
pub(crate) fn exponential(
    data: &ModelData,
    static_force: &[f64],
    stiffness: &Matrix,
    h: f64,
) -> Result<Transition, ModelError> {
    if stiffness.rows() == 0 {
        let none = Matrix::default();
        return Ok(Transition::new(&none, &none, &none, &[]));
    }
    let mass = data.mass.cholesky(Pivots::AboveZero).ok_or(ModelError::MassNotPositiveDefinite)?;
    let inverse = mass
        .solve(&Matrix::identity(mass.rows()), Pivots::AboveZero)
        .filter(Matrix::is_finite)
        .ok_or(ModelError::MassNotPositiveDefinite)?;
    let is_symmetric =
        stiffness.sub(&stiffness.transpose()).max_abs() <= ROUNDING * stiffness.max_abs();
    let root = if is_symmetric { stiffness.cholesky(Pivots::AboveZero) } else { None };
    let (coordinates, blocks) = match root {
        Some(root) => {
            let modes = OrthogonalRows::new(&inverse.mul(&root));
            let from_y = inverse.transpose_mul(&modes.turn().transpose());
            let to_y = modes.turn().mul(&mass.transpose());
            let damping = from_y.transpose_mul(&data.damping.mul(&from_y));
            let omega: Vec<f64> = modes.singular_values().collect();
            (Coordinates { from_y, to_y }, in_modes(&omega, &damping, h))
        }
        None => {
            let (from_y, to_y) = (inverse.transpose(), mass.transpose());
            let [stiffness, damping] =
                [stiffness, &data.damping].map(|m| from_y.transpose_mul(&m.mul(&from_y)));
            let unit = alloc::vec![sqrt(stiffness.norm()).max(1.0 / h); stiffness.rows()];
            (Coordinates { from_y, to_y }, coupled(&unit, &stiffness, &damping, h))
        }
    };
    let Coordinates { from_y, to_y } = &coordinates;
    let back = |[a, b, c]: &[Matrix; 3]| {
        let left = |m: &Matrix| from_y.mul(m);
        [left(a).mul(to_y), left(b).mul(to_y), left(c).mul(&from_y.transpose())]
    };
    let [rates, positions] = [back(&blocks.rates), back(&blocks.positions)];
    if !rates.iter().chain(&positions).all(Matrix::is_finite) {
        return Err(ModelError::SingularStep);
    }
    let transition = |[a, b, c]: &[Matrix; 3]| Transition::new(a, b, c, static_force);
    Ok(transition(&rates).followed_by(transition(&positions)))
}

fn in_modes(omega: &[f64], damping: &Matrix, h: f64) -> Blocks {
    let n = omega.len();
    let largest = damping.max_abs();
    let is_small = |i: usize, j: usize| i == j || damping[(i, j)].abs() <= ROUNDING * largest;
    if !(0..n).all(|i| (0..n).all(|j| is_small(i, j))) {
        let unit: Vec<f64> = omega.iter().map(|w| w.max(1.0 / h)).collect();
        let stiffness =
            Matrix::from_fn(n, n, |i, j| if i == j { omega[i] * omega[i] } else { 0.0 });
        return coupled(&unit, &stiffness, damping, h);
    }
    let modes: Vec<Oscillator> =
        (0..n).map(|i| Oscillator::over(h, omega[i], damping[(i, i)])).collect();
    let diagonal = |f: fn(&Oscillator) -> f64| {
        Matrix::from_fn(n, n, |i, j| if i == j { f(&modes[i]) } else { 0.0 })
    };
    Blocks {
        rates: [diagonal(|m| m.vv), diagonal(|m| m.vx), diagonal(|m| m.vf)],
        positions: [diagonal(|m| m.xv), diagonal(|m| m.xx), diagonal(|m| m.xf)],
    }
}

/// The exponential for (ẏ, unit y, h f): its blocks are of like size.
fn coupled(unit: &[f64], stiffness: &Matrix, damping: &Matrix, h: f64) -> Blocks {
    let n = unit.len();
    let generator = Matrix::from_fn(3 * n, 3 * n, |i, j| {
        let (a, b) = (i % n, j % n);
        match (i / n, j / n) {
            (0, 0) => -h * damping[(a, b)],
            (0, 1) => -h * stiffness[(a, b)] / unit[b],
            (0, 2) => f64::from(a == b),
            (1, 0) => h * unit[a] * f64::from(a == b),
            _ => 0.0,
        }
    });
    let e = matrix_exponential(&generator);
    let part = |i: usize, j: usize| {
        Matrix::from_fn(n, n, |a, b| {
            let row = if i == 1 { 1.0 / unit[a] } else { 1.0 };
            let column = match j {
                0 => 1.0,
                1 => unit[b],
                _ => h,
            };
            row * e[(i * n + a, j * n + b)] * column
        })
    };
    Blocks {
        rates: [part(0, 0), part(0, 1), part(0, 2)],
        positions: [part(1, 0), part(1, 1), part(1, 2)],
    }
}

/// Scaling and squaring of Taylor's series: at norm ½ its 18th term is below 2⁻¹⁸/18! = 6e-22. The
/// identity is left out until the end, so that slow motions beside fast ones keep their digits:
/// (1 + X)² = 1 + (2X + X²).
fn matrix_exponential(a: &Matrix) -> Matrix {
    const TERMS: usize = 18;
    let n = a.rows();
    let mut squarings = 0;
    let mut norm = a.norm();
    while norm > 0.5 && squarings < 1024 {
        norm *= 0.5;
        squarings += 1;
    }
    let scale = libm::ldexp(1.0, -squarings);
    let a = Matrix::from_fn(n, n, |i, j| scale * a[(i, j)]);
    // X = A (1 + A/2 (1 + A/3 (…)))
    let mut series = Matrix::identity(n);
    for k in (2..=TERMS).rev() {
        series = Matrix::identity(n).plus_scaled(1.0 / k as f64, &a.mul(&series));
    }
    let mut x = a.mul(&series);
    for _ in 0..squarings {
        x = x.mul(&x).plus_scaled(2.0, &x);
    }
    Matrix::identity(n).plus_scaled(1.0, &x)
}
