//! Closing a joint: partial elimination in the coordinates B = [T | Ta] (EQUATIONS 1.4).
//!
//! With H = BᵀΦ_r B the first k steps of a Cholesky factorisation leave D0 = TaᵀΦ_r Z in the lower
//! corner; the same steps turn BᵀΦ_{r,a} into Y_a (k rows) and N_a = Zᵀ Φ_{r,a} (d rows), and Bᵀβ
//! into z and Zᵀβ:
//! ```text
//! W0 = T (TᵀΦ_r T)⁺ Tᵀ:  x·W0·y = (C⁻¹Tᵀx)·(C⁻¹Tᵀy)
//! Φ′_ab = Φ_ab − Y_aᵀY_b − N_aᵀ K (1 + D0 K)⁻¹ N_b        b′_a = b_a + Y_aᵀ z + N_aᵀ (Q − K R)
//! R = (1 + D0 K)⁻¹ (D0 Q − Zᵀβ)                           q̈ = R + (1 + D0 K)⁻¹ Σ N_a f_a
//! ```
//! Nothing singular is inverted: where TᵀΦ_r T loses rank (loops) its eigenvectors take the place
//! of the Cholesky factor and the directions below the tolerance are dropped.

use forks_mechanism::linalg::{Accuracy, jacobi};

use super::{
    basis::Basis,
    kernel::{Block, Vec6, ZERO_BLOCK, add_scaled, transposed},
};

/// A closed joint, as the passes need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    /// Lower triangle: C (its diagonal inverted, 0 for dropped directions) in the first k rows and
    /// columns, Zᵀ-multipliers in the rows below, (1 + D0 K)⁻¹ in the lower corner (d×d, not
    /// symmetric).
    pub(crate) c: Block,
    /// z (k numbers) and R (d numbers).
    pub(crate) offset: Vec6,
    /// In the last d entries Q, then Q − K R: what the joint's springs and motors pass on at zero
    /// f.
    pub(crate) load: Vec6,
    /// K (1 + D0 K)⁻¹ in the lower corner.
    pub(crate) stiff: Block,
    /// True if K is not zero.
    pub(crate) is_stiff: bool,
    /// Directions dropped as redundant.
    pub(crate) dropped: u8,
    /// Smallest eigenvalue of TᵀΦ_r T that was kept, over the uncancelled scale; 1 where none was
    /// computed.
    pub(crate) weakest: f64,
    /// True if eigenvectors rotate the first k coordinates; they are kept beside.
    pub(crate) rotated: bool,
    /// Results: force on side B of the joint and accelerations (in the first d entries).
    pub(crate) force: Vec6,
    pub(crate) acceleration: Vec6,
}

impl Factor {
    pub(crate) const EMPTY: Self = Self {
        c: ZERO_BLOCK,
        offset: [0.0; 6],
        load: [0.0; 6],
        stiff: ZERO_BLOCK,
        is_stiff: false,
        dropped: 0,
        weakest: 1.0,
        rotated: false,
        force: [0.0; 6],
        acceleration: [0.0; 6],
    };
}

/// Smallest pivot over its diagonal entry that the factorisation without a rank decision accepts.
const PIVOT_TOLERANCE: f64 = 1e-2;
/// Rank tolerance of TᵀΦ_r T, relative to the uncancelled scale (EQUATIONS 1.4).
const RANK_TOLERANCE: f64 = 1e-8;

/// H = Bᵀ Φ_r B.
#[inline]
pub(crate) fn in_coordinates(basis: &Basis<'_>, phi: &Block) -> Block {
    basis.project(&transposed(&basis.project(phi)))
}

/// The first k steps of a Cholesky factorisation of `h` in place (lower triangle, inverted
/// diagonal). False if a pivot is small against its diagonal entry or below `floor`.
#[inline]
pub(crate) fn factor(h: &mut Block, k: usize, floor: &Vec6) -> bool {
    match k {
        5 => factor_steps::<5>(h, floor),
        6 => factor_steps::<6>(h, floor),
        _ => factor_any(h, k, floor),
    }
}

#[inline(always)]
fn factor_steps<const K: usize>(h: &mut Block, floor: &Vec6) -> bool {
    factor_any(h, K, floor)
}

#[inline(always)]
fn factor_any(h: &mut Block, k: usize, floor: &Vec6) -> bool {
    let diagonal: Vec6 = std::array::from_fn(|i| h[i][i]);
    let mut good = true;
    for j in 0..k {
        let pivot = h[j][j];
        // Also false for NaN.
        good &= pivot > PIVOT_TOLERANCE * diagonal[j] && pivot > floor[j];
        let inverse = 1.0 / pivot.sqrt();
        let mut column = [0.0; 6];
        for i in j + 1..6 {
            column[i] = h[i][j] * inverse;
            h[i][j] = column[i];
        }
        h[j][j] = inverse;
        for i in j + 1..6 {
            for l in j + 1..=i {
                h[i][l] -= column[i] * column[l];
            }
        }
    }
    good
}

/// Y and N: the same elimination on the rows of BᵀΦ_{r,a}.
#[inline]
pub(crate) fn eliminate_rows(c: &Block, k: usize, x: &mut Block) {
    match k {
        5 => eliminate_rows_of(c, 5, x),
        _ => eliminate_rows_of(c, k, x),
    }
}

#[inline(always)]
fn eliminate_rows_of(c: &Block, k: usize, x: &mut Block) {
    for j in 0..k {
        let mut row = x[j];
        row.iter_mut().for_each(|v| *v *= c[j][j]);
        x[j] = row;
        for i in j + 1..6 {
            add_scaled(&mut x[i], -c[i][j], &row);
        }
    }
}

/// z and Zᵀβ: the same elimination on a vector.
#[inline]
pub(crate) fn eliminate_vector(c: &Block, k: usize, x: &mut Vec6) {
    for j in 0..k {
        x[j] *= c[j][j];
        for i in j + 1..6 {
            x[i] -= c[i][j] * x[j];
        }
    }
}

/// x with Bx = T C⁻ᵀ (z − Yᵀ…) + Z g: back substitution, the last 6 − k entries of `x` being g.
#[inline]
pub(crate) fn back_substitute(c: &Block, k: usize, x: &mut Vec6) {
    for j in (0..k).rev() {
        let mut s = x[j];
        for i in j + 1..6 {
            s -= c[i][j] * x[i];
        }
        x[j] = s * c[j][j];
    }
}

/// Eigenvalues of the leading k × k part of a symmetric matrix, eigenvectors as rows.
pub(crate) fn symmetric_eigen(h: &Block, k: usize) -> (Vec6, Block) {
    let (mut a, mut v) = ([0.0; 36], [0.0; 36]);
    (0..k).for_each(|i| a[i * k..][..k].copy_from_slice(&h[i][..k]));
    jacobi(k, &mut a[..k * k], &mut v[..k * k], Accuracy::Norm);
    let mut vectors = super::kernel::IDENTITY_BLOCK;
    (0..k).for_each(|i| vectors[i][..k].copy_from_slice(&v[i * k..][..k]));
    (std::array::from_fn(|i| if i < k { a[i * k + i] } else { h[i][i] }), vectors)
}

/// Rank-revealing form of [`factor`]: rotates the first k coordinates to the eigenvectors of their
/// part of `h` (rows of the result) and drops what is below [`RANK_TOLERANCE`] times `scale`. Gives
/// the rotation, the number of dropped directions and the smallest kept eigenvalue over `scale`.
pub(crate) fn factor_rank_revealing(h: &mut Block, k: usize, scale: f64) -> (Block, u8, f64) {
    super::kernel::mirror(h);
    let (values, rotation) = symmetric_eigen(h, k);
    // Multipliers of the free coordinates: rows i ≥ k of H, rotated.
    let (mut dropped, mut weakest) = (0, 1.0f64);
    let below: Block = std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..k).map(|l| h[i][l] * rotation[j][l]).sum())
    });
    for j in 0..k {
        let keep = values[j] > RANK_TOLERANCE * scale;
        dropped += u8::from(!keep);
        if keep {
            weakest = weakest.min(values[j] / scale);
        }
        let inverse = if keep { 1.0 / values[j].sqrt() } else { 0.0 };
        for i in j + 1..6 {
            h[i][j] = if i >= k { below[i][j] * inverse } else { 0.0 };
        }
        h[j][j] = inverse;
    }
    for i in k..6 {
        for l in k..=i {
            h[i][l] -= (0..k).map(|j| h[i][j] * h[l][j]).sum::<f64>();
        }
    }
    (rotation, dropped, weakest)
}

/// Rotates the first k rows: eigenvector coordinates.
pub(crate) fn rotate_rows(rotation: &Block, k: usize, x: &mut Block) {
    let old = *x;
    for j in 0..k {
        x[j] = [0.0; 6];
        for l in 0..k {
            add_scaled(&mut x[j], rotation[j][l], &old[l]);
        }
    }
}

/// Rotates the first k entries of a vector, forwards.
pub(crate) fn rotate_vector(rotation: &Block, k: usize, x: &mut Vec6) {
    let old = *x;
    for j in 0..k {
        x[j] = (0..k).map(|l| rotation[j][l] * old[l]).sum();
    }
}

/// Rotates the first k entries of a vector, back.
pub(crate) fn rotate_vector_back(rotation: &Block, k: usize, x: &mut Vec6) {
    let old = *x;
    for l in 0..k {
        x[l] = (0..k).map(|j| rotation[j][l] * old[j]).sum();
    }
}

/// (1 + D0 K)⁻¹ into the lower corner of `f.c`, K (1 + D0 K)⁻¹ into `f.stiff`, R into `f.offset`, Q
/// − K R into `f.load`.
///
/// `stiffness` is K by rows (d×d). The eigenvalues of 1 + D0 K are at least 1, so that elimination
/// without a rank decision is safe.
pub(crate) fn set_coordinates(f: &mut Factor, k: usize, stiffness: &[f64]) {
    let d = 6 - k;
    f.is_stiff = stiffness.iter().any(|&x| x != 0.0);
    let mut r = [0.0; 6];
    let d0 = |c: &Block, i: usize, j: usize| if i >= j { c[k + i][k + j] } else { c[k + j][k + i] };
    for i in 0..d {
        r[i] = -f.offset[k + i];
        for j in 0..d {
            r[i] += d0(&f.c, i, j) * f.load[k + j];
        }
    }
    let mut inverse = super::kernel::IDENTITY_BLOCK;
    if f.is_stiff {
        let mut a = super::kernel::IDENTITY_BLOCK;
        for i in 0..d {
            for j in 0..d {
                a[i][j] += (0..d).map(|l| d0(&f.c, i, l) * stiffness[l * d + j]).sum::<f64>();
            }
        }
        inverse = inverted(&a, d);
        for i in 0..d {
            for j in 0..d {
                f.stiff[i][j] = (0..d).map(|l| stiffness[i * d + l] * inverse[l][j]).sum();
            }
        }
    }
    for i in 0..d {
        for j in 0..d {
            f.c[k + i][k + j] = inverse[i][j];
        }
        f.offset[k + i] = (0..d).map(|j| inverse[i][j] * r[j]).sum();
    }
    if f.is_stiff {
        for i in 0..d {
            let kr: f64 = (0..d).map(|j| stiffness[i * d + j] * f.offset[k + j]).sum();
            f.load[k + i] -= kr;
        }
    }
}

/// Inverse of the leading d×d part, Gauss–Jordan with row pivoting.
pub(crate) fn inverted(a: &Block, d: usize) -> Block {
    let mut a = *a;
    let mut b = super::kernel::IDENTITY_BLOCK;
    for j in 0..d {
        let pivot = (j..d).max_by(|&x, &y| a[x][j].abs().total_cmp(&a[y][j].abs())).unwrap_or(j);
        a.swap(j, pivot);
        b.swap(j, pivot);
        let s = 1.0 / a[j][j];
        a[j].iter_mut().chain(&mut b[j]).for_each(|x| *x *= s);
        let (row_a, row_b) = (a[j], b[j]);
        for i in (0..d).filter(|&i| i != j) {
            let s = -a[i][j];
            add_scaled(&mut a[i], s, &row_a);
            add_scaled(&mut b[i], s, &row_b);
        }
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dca::{
        basis::full_basis,
        kernel::{IDENTITY_BLOCK, add_products},
    };
    use forks_testkit::Rng;

    /// A joint closed between two handles: W and γ from the factor, in full coordinates.
    fn closed(
        phi_r: &Block,
        s: &Block,
        d: usize,
        stiffness: &[f64],
        beta: &Vec6,
        q: &[f64],
        rank_revealing: bool,
    ) -> (Block, Vec6, u8) {
        let columns = full_basis(s, d, 0.7).expect("independent columns");
        let basis = Basis::Full { columns: &columns, constraints: 6 - d };
        let k = 6 - d;
        let mut f = Factor::EMPTY;
        f.load[k..].copy_from_slice(q);
        f.offset = basis.project_vector(beta);
        f.c = in_coordinates(&basis, phi_r);
        let mut w = basis.project(&IDENTITY_BLOCK);
        if rank_revealing {
            let scale = (0..6).map(|i| phi_r[i][i]).sum::<f64>() / 6.0;
            let (rotation, dropped, _) = factor_rank_revealing(&mut f.c, k, scale);
            f.dropped = dropped;
            rotate_vector(&rotation, k, &mut f.offset);
            rotate_rows(&rotation, k, &mut w);
        } else {
            factor(&mut f.c, k, &[0.0; 6]);
        }
        eliminate_vector(&f.c, k, &mut f.offset);
        set_coordinates(&mut f, k, stiffness);
        eliminate_rows(&f.c, k, &mut w);
        let mut gamma = [0.0; 6];
        for r in 0..6 {
            let x = if r < k { f.offset[r] } else { f.load[r] };
            add_scaled(&mut gamma, x, &w[r]);
        }
        let (y, mut out) = (w, ZERO_BLOCK);
        add_products(&mut out, 1.0, &y, &y, k);
        for i in 0..d {
            for j in 0..d {
                for a in 0..6 {
                    add_scaled(&mut out[a], y[k + i][a] * f.stiff[i][j], &y[k + j]);
                }
            }
        }
        (out, gamma, f.dropped)
    }

    fn product(a: &Block, x: &Vec6) -> Vec6 {
        std::array::from_fn(|i| (0..6).map(|j| a[i][j] * x[j]).sum())
    }

    fn positive(rng: &mut Rng) -> Block {
        let p = rng.positive_definite(6, 0.5, 5.0);
        std::array::from_fn(|i| std::array::from_fn(|j| p[6 * i + j]))
    }

    /// Unit vectors with off-diagonal entries below 1/8: condition below 10.
    fn columns(rng: &mut Rng) -> Block {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| f64::from(u8::from(i == j)) + 0.125 * rng.symmetric())
        })
    }

    /// \[R06\] Eq. 2 with V = Φ_r⁻¹: W = V − VS (SᵀVS + K)⁻¹ SᵀV and γ = Wβ + VS (SᵀVS + K)⁻¹ Q,
    /// for 0 to 6 coordinates and K from 0 over 1e-3 to 1e3; W S = 0 where K = 0.
    #[test]
    fn closing_agrees_with_the_v_form() {
        let mut rng = Rng::new(1);
        for round in 0..140 {
            let d = round % 7;
            let (phi, s) = (positive(&mut rng), columns(&mut rng));
            let size = [0.0, 1e-3, 1.0, 1e3][round % 4];
            let mut k = rng.positive_definite(d, 0.5, 1.0);
            k.iter_mut().for_each(|k| *k *= size);
            let beta: Vec6 = std::array::from_fn(|_| rng.symmetric());
            let q: Vec<f64> = (0..d).map(|_| rng.symmetric()).collect();
            let v = inverted(&phi, 6);
            let vs: Vec<Vec6> = (0..d).map(|i| product(&v, &s[i])).collect();
            let mut core = IDENTITY_BLOCK;
            for i in 0..d {
                for j in 0..d {
                    core[i][j] = super::super::kernel::dot(&s[i], &vs[j]) + k[i * d + j];
                }
            }
            let core = inverted(&core, d);
            let (mut w, mut gamma) = (v, [0.0; 6]);
            for i in 0..d {
                for j in 0..d {
                    add_scaled(&mut gamma, core[i][j] * q[j], &vs[i]);
                    for a in 0..6 {
                        add_scaled(&mut w[a], -vs[i][a] * core[i][j], &vs[j]);
                    }
                }
            }
            let wb = product(&w, &beta);
            (0..6).for_each(|a| gamma[a] += wb[a]);
            let (found, found_gamma, _) = closed(&phi, &s, d, &k, &beta, &q, false);
            // The V-form's own error: conditions 10 of Φ_r and of S, each twice.
            let size_of = |x: f64, y: &f64| x.max(y.abs());
            let largest = v.iter().flatten().chain(&gamma).fold(1.0, size_of);
            let bound = 1e4 * f64::EPSILON * largest;
            for a in 0..6 {
                assert!((found_gamma[a] - gamma[a]).abs() < bound, "d {d}, K {size}");
                for b in 0..6 {
                    assert!((found[a][b] - w[a][b]).abs() < bound, "d {d}, K {size}: {a} {b}");
                }
            }
            if size == 0.0 {
                for x in &s[..d] {
                    // Sixty roundings of numbers of the size of V; no condition enters.
                    let ws = product(&found, x);
                    assert!(ws.iter().all(|x| x.abs() < 64.0 * 4.0 * f64::EPSILON), "{ws:?}");
                }
            }
        }
    }

    /// Where Φ_r is singular W is a generalised inverse on the constraint directions: W Φ_r W = W,
    /// W S = 0, and the number of dropped directions is what the rank is short of (EQUATIONS 1.4).
    #[test]
    fn singular_sums_are_closed_by_the_general_formula() {
        let mut rng = Rng::new(2);
        for rank in 0..6 {
            for d in 0..5 {
                let mut phi = ZERO_BLOCK;
                for _ in 0..rank {
                    let x: Vec6 = std::array::from_fn(|_| rng.symmetric());
                    for a in 0..6 {
                        add_scaled(&mut phi[a], x[a], &x);
                    }
                }
                // The uncancelled scale of the trace must not be zero.
                phi[0][0] += if rank == 0 { 1e-18 } else { 0.0 };
                let s = columns(&mut rng);
                let q = vec![0.0; d];
                let beta = [0.0; 6];
                let (w, _, dropped) = closed(&phi, &s, d, &[], &beta, &q, true);
                if rank > 0 {
                    let expected = (6 - d).saturating_sub(rank);
                    assert_eq!(usize::from(dropped), expected, "rank {rank}, d {d}");
                }
                let size = w.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
                for x in &s[..d] {
                    let bound = 1e3 * f64::EPSILON * size;
                    assert!(product(&w, x).iter().all(|x| x.abs() <= bound));
                }
                for a in 0..6 {
                    let phi_w: Vec6 = product(&phi, &w[a]);
                    let back = product(&w, &phi_w);
                    for b in 0..6 {
                        // Two products; smallest kept eigenvalue 1e-8 of the scale at worst, 1e-5
                        // here.
                        let bound = 1e6 * f64::EPSILON * (size + size * size);
                        assert!(rank == 0 || (back[b] - w[a][b]).abs() <= bound);
                    }
                }
            }
        }
    }
}
