//! The directions of a joint: T (constraint forces) and Ta (a left inverse of S) of EQUATIONS 1.4.

use forks_mechanism::lie::glam::{DMat3, DVec3};

use super::kernel::{Block, Vec6, ZERO_BLOCK, add_scaled};

/// The square matrix B = [T | Ta]: SᵀT = 0, SᵀTa = 1. T has k = 6 − d columns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Basis<'a> {
    /// One rotation: columns of the triad are t₁, t₂ and the axis.
    Hinge(&'a DMat3),
    /// One translation, triad as for a hinge.
    Slide(&'a DMat3),
    /// No motion: T = 1.
    Weld,
    /// Any; the rows are the columns of B.
    Full {
        /// Columns of B as rows.
        columns: &'a Block,
        /// Number of columns of T.
        constraints: usize,
    },
}

/// Columns t₁, t₂, a of an orthonormal triad with a given unit vector a.
#[inline]
pub(crate) fn triad(a: DVec3) -> DMat3 {
    // The shorter way round avoids the pole of this construction.
    let s = 1.0f64.copysign(a.z);
    let k = -1.0 / (s + a.z);
    let b = a.x * a.y * k;
    DMat3::from_cols(
        DVec3::new(1.0 + s * a.x * a.x * k, s * b, -s * a.x),
        DVec3::new(b, s + a.y * a.y * k, -a.y),
        a,
    )
}

/// Three rows mixed by the columns of a triad.
#[inline]
fn mixed(t: &DMat3, x: &Vec6, y: &Vec6, z: &Vec6) -> [Vec6; 3] {
    let mut out = [[0.0; 6]; 3];
    for (row, c) in out.iter_mut().zip([t.x_axis, t.y_axis, t.z_axis]) {
        for j in 0..6 {
            row[j] = c.x * x[j] + c.y * y[j] + c.z * z[j];
        }
    }
    out
}

impl Basis<'_> {
    /// Number of constraint directions k.
    #[inline]
    pub(crate) fn constraints(&self) -> usize {
        match self {
            Self::Hinge(_) | Self::Slide(_) => 5,
            Self::Weld => 6,
            Self::Full { constraints, .. } => *constraints,
        }
    }

    /// Bᵀ m.
    #[inline]
    pub(crate) fn project(&self, m: &Block) -> Block {
        match self {
            Self::Hinge(t) => {
                let [x, y, z] = mixed(t, &m[3], &m[4], &m[5]);
                [m[0], m[1], m[2], x, y, z]
            }
            Self::Slide(t) => {
                let [x, y, z] = mixed(t, &m[0], &m[1], &m[2]);
                [x, y, m[3], m[4], m[5], z]
            }
            Self::Weld => *m,
            Self::Full { columns, .. } => {
                let mut out = ZERO_BLOCK;
                for r in 0..6 {
                    for c in 0..6 {
                        add_scaled(&mut out[r], columns[r][c], &m[c]);
                    }
                }
                out
            }
        }
    }

    /// Bᵀ v.
    #[inline]
    pub(crate) fn project_vector(&self, v: &Vec6) -> Vec6 {
        match self {
            Self::Hinge(t) => {
                let w = t.transpose() * DVec3::new(v[3], v[4], v[5]);
                [v[0], v[1], v[2], w.x, w.y, w.z]
            }
            Self::Slide(t) => {
                let w = t.transpose() * DVec3::new(v[0], v[1], v[2]);
                [w.x, w.y, v[3], v[4], v[5], w.z]
            }
            Self::Weld => *v,
            Self::Full { columns, .. } => {
                std::array::from_fn(|r| (0..6).map(|c| columns[r][c] * v[c]).sum())
            }
        }
    }

    /// B x.
    #[inline]
    pub(crate) fn expand(&self, x: &Vec6) -> Vec6 {
        match self {
            Self::Hinge(t) => {
                let w = **t * DVec3::new(x[3], x[4], x[5]);
                [x[0], x[1], x[2], w.x, w.y, w.z]
            }
            Self::Slide(t) => {
                let w = **t * DVec3::new(x[0], x[1], x[5]);
                [w.x, w.y, w.z, x[2], x[3], x[4]]
            }
            Self::Weld => *x,
            Self::Full { columns, .. } => {
                let mut out = [0.0; 6];
                for r in 0..6 {
                    add_scaled(&mut out, x[r], &columns[r]);
                }
                out
            }
        }
    }
}

/// B of any columns S (`s[..d]`), orthonormal in lengths of `unit`; `None` if they are not
/// independent to 1e-10.
///
/// With D = diag(unit, unit, unit, 1, 1, 1) and D⁻¹S = Q₁R: T = D⁻¹Q₂, Ta = D⁻¹Q₁R⁻ᵀ.
pub(crate) fn full_basis(s: &Block, d: usize, unit: f64) -> Option<Block> {
    let scale = |v: &mut Vec6| v[..3].iter_mut().for_each(|x| *x /= unit);
    let mut a = *s;
    a[..d].iter_mut().for_each(scale);
    // Householder: column j of `a` is row j; q starts as the identity and takes every reflection.
    let mut q = super::kernel::IDENTITY_BLOCK;
    let mut r = ZERO_BLOCK;
    for j in 0..d {
        let length = super::kernel::dot(&a[j], &a[j]).sqrt();
        let mut h = a[j];
        h[..j].fill(0.0);
        let norm = super::kernel::dot(&h, &h).sqrt();
        if norm.is_nan() || norm <= 1e-10 * length {
            return None;
        }
        h[j] += norm.copysign(h[j]);
        let hh = super::kernel::dot(&h, &h);
        for x in a[j..d].iter_mut().chain(&mut q) {
            let s = 2.0 * super::kernel::dot(&h, x) / hh;
            add_scaled(x, -s, &h);
        }
        r[j][..=j].copy_from_slice(&a[j][..=j]);
    }
    // Rows of `q` are the reflected unit vectors, so column i of the product holds direction i.
    let direction = |i: usize| -> Vec6 { std::array::from_fn(|x| q[x][i]) };
    let mut out = ZERO_BLOCK;
    for i in d..6 {
        out[i - d] = direction(i);
    }
    // Ta Rᵀ = Q₁ with R[i][j] = r[j][i]: column by column from the last.
    for i in (0..d).rev() {
        let mut t = direction(i);
        for j in i + 1..d {
            let known = out[6 - d + j];
            add_scaled(&mut t, -r[j][i], &known);
        }
        t.iter_mut().for_each(|x| *x /= r[i][i]);
        out[6 - d + i] = t;
    }
    out.iter_mut().for_each(scale);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dca::kernel::dot;

    fn sample(seed: usize) -> Block {
        // Products, not sums: independent rows.
        let angle = |i: usize, j: usize| (1 + seed + i) as f64 * (1.3 + j as f64);
        std::array::from_fn(|i| std::array::from_fn(|j| angle(i, j).sin()))
    }

    #[test]
    fn triads_are_orthonormal() {
        for a in [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::Z, DVec3::new(0.6, -0.64, -0.48)] {
            let t = triad(a);
            let gap = t.transpose() * t - DMat3::IDENTITY;
            // A handful of products of numbers below 1.
            assert!(gap.to_cols_array().iter().all(|x| x.abs() < 1e-15), "{a}: {gap}");
        }
    }

    #[test]
    fn full_bases_complete_the_columns() {
        for d in 0..=6 {
            let s = sample(d);
            let b = full_basis(&s, d, 0.3).unwrap();
            for i in 0..d {
                for c in 0..6 {
                    let expected = f64::from(u8::from(c >= 6 - d && c - (6 - d) == i));
                    // Condition of six random columns below 1e3.
                    assert!((dot(&s[i], &b[c]) - expected).abs() < 1e-12, "d {d}: {i} {c}");
                }
            }
        }
        let mut s = sample(1);
        s[2] = s[0];
        assert!(full_basis(&s, 3, 1.0).is_none());
    }

    /// B of a hinge and of a slide is orthogonal: projecting and expanding gives the vector back,
    /// and the last coordinate is the one along the axis.
    #[test]
    fn short_forms_are_consistent() {
        let t = triad(DVec3::new(0.6, -0.64, -0.48));
        let v = [0.3, -1.0, 2.0, 0.7, 0.1, -0.4];
        for (b, axis) in [(Basis::Hinge(&t), 3), (Basis::Slide(&t), 0)] {
            let x = b.project_vector(&v);
            let back = b.expand(&x);
            assert!((0..6).all(|i| (back[i] - v[i]).abs() < 1e-15));
            let along = t.z_axis.dot(DVec3::from_slice(&v[axis..axis + 3]));
            assert!((x[5] - along).abs() < 1e-15);
            let m = sample(3);
            let column: Vec6 = std::array::from_fn(|i| m[i][2]);
            let p = b.project(&m);
            let expected = b.project_vector(&column);
            assert!((0..6).all(|i| (p[i][2] - expected[i]).abs() < 1e-15));
        }
    }
}
