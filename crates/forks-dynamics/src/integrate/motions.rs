//! Velocities that loops and couplings admit: an orthonormal basis N of the nullspace of their
//! independent rows, by Householder reflections of Gᵀ.

use forks_mechanism::linalg::{Matrix, dot};

/// N (n × (n − r)) with G N = 0 and NᵀN = 1 for r independent rows of n numbers.
pub(super) fn admissible_basis(rows: &[&[f64]], n: usize) -> Matrix {
    let reflections = reflections(rows, n);
    let r = rows.len();
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(n - r);
    for k in r..n {
        let mut x = vec![0.0; n];
        x[k] = 1.0;
        reflections.iter().rev().for_each(|w| reflect(w, &mut x));
        columns.push(x);
    }
    Matrix::from_fn(n, n - r, |i, j| columns[j][i])
}

/// Unit vectors w of 1 − 2 w wᵀ, one per row: together they take the rows to a triangle.
fn reflections(rows: &[&[f64]], n: usize) -> Vec<Vec<f64>> {
    let mut out: Vec<Vec<f64>> = Vec::with_capacity(rows.len());
    for (k, row) in rows.iter().enumerate() {
        let mut w = row.to_vec();
        out.iter().for_each(|earlier| reflect(earlier, &mut w));
        w[..k.min(n)].fill(0.0);
        let length = dot(&w, &w).sqrt();
        w[k] += length.copysign(w[k]);
        let size = dot(&w, &w).sqrt();
        if size > 0.0 {
            w.iter_mut().for_each(|x| *x /= size);
        }
        out.push(w);
    }
    out
}

fn reflect(w: &[f64], x: &mut [f64]) {
    let twice = 2.0 * dot(w, x);
    x.iter_mut().zip(w).for_each(|(x, w)| *x -= twice * w);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_basis_is_orthonormal_and_violates_no_row() {
        let n = 9;
        let rows: Vec<Vec<f64>> =
            (0..5).map(|i| (0..n).map(|j| ((i * i + 3 * j + 1) as f64).sin()).collect()).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        for r in 0..=5 {
            let basis = admissible_basis(&rows[..r], n);
            assert_eq!(basis.columns(), n - r);
            let gram = basis.transpose_mul(&basis).sub(&Matrix::identity(n - r));
            assert!(gram.max_abs() < 8.0 * n as f64 * f64::EPSILON);
            for row in &rows[..r] {
                let moved = basis.transpose_mul_vec(row);
                assert!(moved.iter().all(|x| x.abs() < 1e-14 * (n as f64).powi(2)));
            }
        }
    }
}
