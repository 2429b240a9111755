//! Lowest modes of tissue with bones and patches held: P M φ = ω⁻² φ by subspace iteration
//! \[Bathe 1972\], P the compliance of the free nodes with the patches held.

use forks_deform::dynamics::mechanism::{
    lie::{SplitMix64, glam::DVec3},
    linalg::{Matrix, dense},
};

/// Change of an eigenvalue at which it counts as found.
const CONVERGED: f64 = 1e-12;
/// Iterations at most.
const ITERATIONS: usize = 200;

/// ω² and shapes over all nodes with φᵀMφ = 1, ascending. `solve` is P in place of columns, of
/// rank three per free node less `held`.
pub(crate) fn lowest(
    masses: &[f64],
    count: usize,
    held: usize,
    mut solve: impl FnMut(&mut [Vec<DVec3>]),
) -> Vec<(f64, Vec<DVec3>)> {
    let free = masses.iter().filter(|m| **m > 0.0).count();
    let width = (2 * count).max(count + 8).min((3 * free).saturating_sub(held));
    let count = count.min(width);
    if count == 0 {
        return vec![];
    }
    let mut rng = SplitMix64::new(1);
    let mut random = || DVec3::from_array([0; 3].map(|_| rng.range(-1.0, 1.0)));
    let mut block: Vec<Vec<DVec3>> = (0..width)
        .map(|_| masses.iter().map(|m| if *m > 0.0 { random() } else { DVec3::ZERO }).collect())
        .collect();
    let mut last = vec![0.0; count];
    for _ in 0..ITERATIONS {
        // y = P M x; Ritz values of P from (yᵀ M x, yᵀ M y).
        let before: Vec<Vec<DVec3>> =
            block.iter().map(|x| x.iter().zip(masses).map(|(x, m)| *x * *m).collect()).collect();
        block.clone_from_slice(&before);
        solve(&mut block);
        let compliance = products(&block, &before, |_| 1.0).symmetric_part();
        let mass = products(&block, &block, |n| masses[n]).symmetric_part();
        // yᵀMy a = ν yᵀMx a: ν is a value of P M.
        let Some((nu, a)) = dense::generalized_symmetric_eigen(&mass, &compliance) else { break };
        let mut next = vec![vec![DVec3::ZERO; masses.len()]; width];
        for (k, next) in next.iter_mut().enumerate() {
            let column = width - 1 - k;
            for (j, y) in block.iter().enumerate() {
                let s = a[(j, column)];
                next.iter_mut().zip(y).for_each(|(n, y)| *n += *y * s);
            }
            let size: f64 =
                next.iter().zip(masses).map(|(x, m)| m * x.length_squared()).sum::<f64>().sqrt();
            next.iter_mut().for_each(|x| *x /= size);
        }
        block = next;
        let now: Vec<f64> = (0..count).map(|k| nu[width - 1 - k]).collect();
        let moved = now.iter().zip(&last).map(|(a, b)| ((a - b) / a).abs()).fold(0.0, f64::max);
        last = now;
        if moved < CONVERGED {
            break;
        }
    }
    block.truncate(count);
    last.iter().map(|nu| 1.0 / nu).zip(block).collect()
}

fn products(a: &[Vec<DVec3>], b: &[Vec<DVec3>], weight: impl Fn(usize) -> f64) -> Matrix {
    Matrix::from_fn(a.len(), b.len(), |i, j| {
        a[i].iter().zip(&b[j]).enumerate().map(|(n, (x, y))| weight(n) * x.dot(*y)).sum()
    })
}
