//! Quadratic problems with bounds by another solver: an interior point method, and where it ends
//! the free variables by a dense factorisation.

use clarabel::{
    algebra::CscMatrix,
    solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus},
};
use forks_mechanism::linalg::Matrix;

use crate::linear;

/// The least ½ xᵀHx + gᵀx within bounds by an interior point method.
///
/// # Panics
/// If it finds none.
pub fn interior(h: &Matrix, g: &[f64], lower: &[f64], upper: &[f64]) -> Vec<f64> {
    let n = g.len();
    // Its tolerances are absolute.
    let size = g.iter().fold(1e-300f64, |m, g| m.max(g.abs()));
    let g: Vec<f64> = g.iter().map(|g| g / size).collect();
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| if j >= i { h[(i, j)] / size } else { 0.0 }).collect())
        .collect();
    let p = CscMatrix::from(&rows);
    let (mut a, mut b) = (vec![], vec![]);
    for i in 0..n {
        for (bound, sign) in [(upper[i], 1.0), (lower[i], -1.0)] {
            if bound.is_finite() {
                let mut row = vec![0.0; n];
                row[i] = sign;
                a.push(row);
                b.push(sign * bound);
            }
        }
    }
    let cones = [NonnegativeConeT(b.len())];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .expect("settings in range");
    let a = CscMatrix::from(&a);
    let mut solver =
        DefaultSolver::new(&p, &g, &a, &b, &cones, settings).expect("matrices that fit");
    solver.solve();
    let s = solver.solution.status;
    assert!(matches!(s, SolverStatus::Solved | SolverStatus::AlmostSolved), "{s:?}");
    solver.solution.x
}

/// The same to rounding: from where an interior point method stops, which is where the cost hardly
/// changes and not where the variables do, free variables are solved for by a dense factorisation,
/// those beyond their bounds are held there, and those whose slope leads inside are let go, until
/// nothing changes.
///
/// # Panics
/// If that does not come to an end.
pub fn polished(h: &Matrix, g: &[f64], lower: &[f64], upper: &[f64]) -> Vec<f64> {
    let mut x = interior(h, g, lower, upper);
    let near = |x: f64, b: f64| (x - b).abs() < 1e-6 * (1.0 + b.abs());
    // −1 and 1: at the lower and the upper bound.
    let mut side: Vec<i8> = (0..x.len())
        .map(|i| i8::from(near(x[i], upper[i])) - i8::from(near(x[i], lower[i])))
        .collect();
    for _ in 0..200 {
        for i in 0..x.len() {
            x[i] = match side[i] {
                0 => 0.0,
                1 => upper[i],
                _ => lower[i],
            };
        }
        let free: Vec<usize> = (0..x.len()).filter(|&i| side[i] == 0).collect();
        let pull = h.mul_vec(&x);
        let matrix = Matrix::from_fn(free.len(), free.len(), |i, j| h[(free[i], free[j])]);
        let right = Matrix::from_fn(free.len(), 1, |i, _| -g[free[i]] - pull[free[i]]);
        let found = linear::solve(&matrix, &right);
        free.iter().enumerate().for_each(|(k, &i)| x[i] = found[(k, 0)]);
        let slope: Vec<f64> = h.mul_vec(&x).iter().zip(g).map(|(a, b)| a + b).collect();
        let mut changed = false;
        for i in 0..x.len() {
            let next = match side[i] {
                0 => i8::from(x[i] > upper[i]) - i8::from(x[i] < lower[i]),
                s if slope[i] * f64::from(s) > 0.0 => 0,
                s => s,
            };
            changed |= next != side[i];
            side[i] = next;
        }
        if !changed {
            return x;
        }
    }
    panic!("the bounds that are active change for ever");
}

/// ½ xᵀHx + gᵀx.
pub fn value(h: &Matrix, g: &[f64], x: &[f64]) -> f64 {
    h.mul_vec(x).iter().zip(g).zip(x).map(|((hx, g), x)| (0.5 * hx + g) * x).sum()
}
