//! Dense linear algebra of the oracles: faer for factorisations, and a rank-revealing elimination.

use faer::{Mat, Side, linalg::solvers::Solve};

use crate::Matrix;

fn to_faer(m: &Matrix) -> Mat<f64> {
    Mat::from_fn(m.rows(), m.columns(), |i, j| m[(i, j)])
}

fn from_faer(m: faer::MatRef<'_, f64>) -> Matrix {
    Matrix::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)])
}

/// a b.
pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    from_faer((to_faer(a) * to_faer(b)).as_ref())
}

/// aᵀ b.
pub fn transposed_product(a: &Matrix, b: &Matrix) -> Matrix {
    from_faer((to_faer(a).transpose() * to_faer(b)).as_ref())
}

/// The solution of the square system `m x = b`, LU with partial pivoting.
pub fn solve(m: &Matrix, b: &Matrix) -> Matrix {
    if m.rows() == 0 {
        return Matrix::zeros(0, b.columns());
    }
    from_faer(to_faer(m).partial_piv_lu().solve(to_faer(b)).as_ref())
}

/// Singular values, descending.
///
/// # Panics
/// If the matrix is not finite.
pub fn singular_values(m: &Matrix) -> Vec<f64> {
    if m.rows() == 0 || m.columns() == 0 {
        return vec![];
    }
    to_faer(m).singular_values().expect("finite matrix")
}

/// Orthonormal basis (columns) of the nullspace of a matrix of known rank.
///
/// # Panics
/// If the matrix is not finite.
pub fn nullspace(m: &Matrix, rank: usize) -> Matrix {
    let n = m.columns();
    if rank == 0 || n == 0 {
        return Matrix::identity(n);
    }
    let svd = to_faer(m).svd().expect("finite matrix");
    let v = svd.V();
    Matrix::from_fn(n, n - rank, |i, j| v[(i, rank + j)])
}

/// Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix.
///
/// # Panics
/// If the matrix is not finite.
pub fn symmetric_eigen(m: &Matrix) -> (Vec<f64>, Matrix) {
    if m.rows() == 0 {
        return (vec![], Matrix::zeros(0, 0));
    }
    let d = to_faer(&m.symmetric_part()).self_adjoint_eigen(Side::Lower).expect("finite matrix");
    let s = d.S().column_vector();
    ((0..s.nrows()).map(|i| s[i]).collect(), from_faer(d.U()))
}

/// The solution of smallest norm of `m x ≈ b` by least squares; singular values below `tolerance`
/// times the largest count as zero.
///
/// # Panics
/// If the matrix is not finite.
pub fn least_squares(m: &Matrix, b: &[f64], tolerance: f64) -> Vec<f64> {
    let mut x = vec![0.0; m.columns()];
    if m.rows() == 0 || m.columns() == 0 {
        return x;
    }
    let svd = to_faer(m).thin_svd().expect("finite matrix");
    let s = svd.S().column_vector();
    for k in (0..s.nrows()).filter(|&k| s[k] > tolerance * s[0]) {
        let c: f64 = (0..m.rows()).map(|i| svd.U()[(i, k)] * b[i]).sum::<f64>() / s[k];
        (0..x.len()).for_each(|j| x[j] += c * svd.V()[(j, k)]);
    }
    x
}

/// Rows of `m` that span all its rows, found cluster by cluster: rows that share no column,
/// directly or through others, are separate problems of a few rows each.
///
/// Within a cluster rows are taken by falling distance from the span of those taken before (a QR of
/// the transpose with pivoting) until it drops below `tolerance` times the longest row.
pub fn independent_rows(m: &Matrix, tolerance: f64) -> Vec<usize> {
    let mut out: Vec<usize> =
        clusters(m).iter().flat_map(|rows| pivot_rows(m, rows, tolerance)).collect();
    out.sort_unstable();
    out
}

/// Rows grouped by shared non-zero columns.
fn clusters(m: &Matrix) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..m.rows()).collect();
    for j in 0..m.columns() {
        let rows: Vec<usize> = (0..m.rows()).filter(|&i| m[(i, j)] != 0.0).collect();
        for w in rows.windows(2) {
            let (a, b) = (group[w[0]], group[w[1]]);
            group.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
        }
    }
    let mut out: Vec<Vec<usize>> = vec![vec![]; m.rows()];
    (0..m.rows()).for_each(|i| out[group[i]].push(i));
    out.retain(|c| !c.is_empty());
    out
}

fn pivot_rows(m: &Matrix, rows: &[usize], tolerance: f64) -> Vec<usize> {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut rest: Vec<(usize, Vec<f64>)> = rows.iter().map(|&i| (i, m.row(i).to_vec())).collect();
    let longest = rest.iter().map(|(_, v)| norm(v)).fold(0.0, f64::max);
    let mut basis: Vec<Vec<f64>> = vec![];
    let mut taken = vec![];
    while !rest.is_empty() {
        let k = (0..rest.len())
            .max_by(|&a, &b| norm(&rest[a].1).total_cmp(&norm(&rest[b].1)))
            .expect("not empty");
        let (row, mut direction) = rest.swap_remove(k);
        let length = norm(&direction);
        if length <= tolerance * longest {
            break;
        }
        // Once more against the basis: rounding of the first pass would show otherwise.
        for b in &basis {
            remove(&mut direction, b);
        }
        let length = norm(&direction);
        direction.iter_mut().for_each(|x| *x /= length);
        rest.iter_mut().for_each(|(_, v)| remove(v, &direction));
        basis.push(direction);
        taken.push(row);
    }
    taken
}

/// v ← v − b (b·v), b of unit length.
fn remove(v: &mut [f64], b: &[f64]) {
    let s: f64 = v.iter().zip(b).map(|(x, y)| x * y).sum();
    v.iter_mut().zip(b).for_each(|(x, y)| *x -= s * y);
}
