//! Eigenvectors of small symmetric matrices by Jacobi's rotations, and pairs of them. Allocates
//! nothing where slices are given.

use alloc::{vec, vec::Vec};

use forks_rom::internal::sqrt;

const SWEEPS: usize = 40;

/// Turns A (n × n) into the diagonal of its eigenvalues and V into rows of eigenvectors: A = Vᵀ
/// diag V.
pub(crate) fn jacobi(a: &mut [f64], v: &mut [f64], n: usize) {
    v.fill(0.0);
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    let size = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for _ in 0..SWEEPS {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                turned |= rotate(a, v, n, p, q, size);
            }
        }
        if !turned {
            break;
        }
    }
}

/// One rotation; false if the entry is 0 to rounding.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, p: usize, q: usize, size: f64) -> bool {
    let (pp, qq, pq) = (a[p * n + p], a[q * n + q], a[p * n + q]);
    let small = f64::EPSILON * sqrt((pp * qq).abs());
    if pq.abs() <= small || pq.abs() <= f64::MIN_POSITIVE + 1e-30 * size || !pq.is_finite() {
        return false;
    }
    let zeta = (qq - pp) / (2.0 * pq);
    let t = f64::copysign(1.0, zeta) / (zeta.abs() + sqrt(1.0 + zeta * zeta));
    let c = 1.0 / sqrt(1.0 + t * t);
    let s = c * t;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (v[p * n + k], v[q * n + k]);
        (v[p * n + k], v[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
    true
}

/// For each row the column of a one-to-one assignment with the largest sum (the Hungarian method
/// \[K55\], n × n).
pub(crate) fn assignment(gain: &[f64], n: usize) -> Vec<usize> {
    // Shortest augmenting paths with potentials; index 0 is a helper.
    let (mut u, mut w) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let (mut row_of, mut way) = (vec![0; n + 1], vec![0; n + 1]);
    for i in 1..=n {
        row_of[0] = i;
        let mut j0 = 0;
        let (mut least, mut used) = (vec![f64::INFINITY; n + 1], vec![false; n + 1]);
        while row_of[j0] != 0 {
            used[j0] = true;
            let (i0, mut delta, mut next) = (row_of[j0], f64::INFINITY, 0);
            for j in (1..=n).filter(|&j| !used[j]) {
                let cost = -gain[(i0 - 1) * n + j - 1] - u[i0] - w[j];
                if cost < least[j] {
                    (least[j], way[j]) = (cost, j0);
                }
                if least[j] < delta {
                    (delta, next) = (least[j], j);
                }
            }
            for j in 0..=n {
                if used[j] {
                    u[row_of[j]] += delta;
                    w[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            if next == 0 {
                break;
            }
            j0 = next;
        }
        while j0 != 0 {
            row_of[j0] = row_of[way[j0]];
            j0 = way[j0];
        }
    }
    let mut out = vec![0; n];
    (1..=n).for_each(|j| out[row_of[j] - 1] = j - 1);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        for n in 1..9 {
            let f = |i: usize, j: usize| ((3 * i + 3 * j + i * j) as f64).sin();
            let start: Vec<f64> = (0..n * n).map(|k| f(k / n, k % n)).collect();
            let (mut a, mut v) = (start.clone(), vec![0.0; n * n]);
            jacobi(&mut a, &mut v, n);
            for i in 0..n {
                for j in 0..n {
                    let sum: f64 = (0..n).map(|k| a[k * n + k] * v[k * n + i] * v[k * n + j]).sum();
                    assert!((sum - start[i * n + j]).abs() < 1e-14 * n as f64);
                }
            }
        }
    }

    #[test]
    fn assignments_are_the_best_of_all() {
        for seed in 0..20usize {
            let n = 4;
            let gain: Vec<f64> =
                (0..16).map(|k| ((7 * k + 13 * seed + k * seed) as f64).sin()).collect();
            let found = assignment(&gain, n);
            let value = |p: &[usize]| -> f64 { (0..n).map(|i| gain[i * n + p[i]]).sum() };
            let mut best = f64::NEG_INFINITY;
            for k in 0..256 {
                let p = [k & 3, k >> 2 & 3, k >> 4 & 3, k >> 6 & 3];
                if (0..4).all(|c| p.contains(&c)) {
                    best = best.max(value(&p));
                }
            }
            assert!((value(&found) - best).abs() < 1e-12);
        }
    }
}
