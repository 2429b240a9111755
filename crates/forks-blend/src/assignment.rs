//! Pairs of eigenvectors.

use alloc::{vec, vec::Vec};

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
