//! From a handle's own frame to the coordinates of its joint: P = Bᵀ X, with X the motion transform
//! to the joint's common frame and B = [T | Ta] (EQUATIONS 1.2, 1.4).

use crate::dca::kernel::{Block, Vec6, ZERO_BLOCK, add_scaled, transposed};

/// P of one side of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Projection<'a> {
    /// The handle's frame is the common one and B = 1.
    Identity,
    /// A rotation about z, B = 1.
    Turn { cosine: f64, sine: f64 },
    /// Any.
    Full(&'a Block),
}

impl Projection<'_> {
    /// P x, for six rows of `s` numbers in place.
    #[inline(always)]
    pub(super) fn rows(&self, x: &mut [f64], s: usize) {
        match self {
            Self::Identity => {}
            Self::Turn { cosine, sine } => {
                for pair in x[..6 * s].chunks_exact_mut(3 * s) {
                    let (a, b) = pair.split_at_mut(s);
                    for (a, b) in a.iter_mut().zip(b) {
                        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
                    }
                }
            }
            Self::Full(p) => {
                for j in 0..s {
                    let column: Vec6 = std::array::from_fn(|i| x[i * s + j]);
                    for i in 0..6 {
                        x[i * s + j] = crate::dca::kernel::dot(&p[i], &column);
                    }
                }
            }
        }
    }

    /// P v.
    #[inline(always)]
    pub(super) fn vector(&self, v: &Vec6) -> Vec6 {
        match self {
            Self::Identity => *v,
            Self::Turn { cosine: c, sine: s } => [
                c * v[0] - s * v[1],
                s * v[0] + c * v[1],
                v[2],
                c * v[3] - s * v[4],
                s * v[3] + c * v[4],
                v[5],
            ],
            Self::Full(p) => std::array::from_fn(|i| crate::dca::kernel::dot(&p[i], v)),
        }
    }

    /// Pᵀ x: a force in the joint's coordinates, in the handle's frame.
    #[inline(always)]
    pub(super) fn force(&self, x: &Vec6) -> Vec6 {
        match self {
            Self::Identity => *x,
            Self::Turn { cosine, sine } => {
                Projection::Turn { cosine: *cosine, sine: -*sine }.vector(x)
            }
            Self::Full(p) => {
                let mut out = [0.0; 6];
                for i in 0..6 {
                    add_scaled(&mut out, x[i], &p[i]);
                }
                out
            }
        }
    }

    /// P m of a block by rows.
    #[inline(always)]
    fn block(&self, m: &Block) -> Block {
        match self {
            Self::Identity => *m,
            Self::Turn { cosine: c, sine: s } => {
                let mut out = *m;
                for r in [0, 3] {
                    for j in 0..6 {
                        out[r][j] = c * m[r][j] - s * m[r + 1][j];
                        out[r + 1][j] = s * m[r][j] + c * m[r + 1][j];
                    }
                }
                out
            }
            Self::Full(p) => {
                let mut out = ZERO_BLOCK;
                for i in 0..6 {
                    for j in 0..6 {
                        add_scaled(&mut out[i], p[i][j], &m[j]);
                    }
                }
                out
            }
        }
    }

    /// P φ Qᵀ for a second side's Q.
    #[inline(always)]
    pub(super) fn between(&self, phi: &Block, other: &Projection<'_>) -> Block {
        let left = self.block(phi);
        match other {
            Projection::Identity => left,
            _ => transposed(&other.block(&transposed(&left))),
        }
    }
}
