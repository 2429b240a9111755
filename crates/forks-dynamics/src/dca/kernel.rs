//! Kernels on 6×6 blocks and 6-vectors, by rows so that they vectorise, and packed symmetric arrays
//! of blocks.

/// A 6×6 matrix by rows, linear part first.
pub(crate) type Block = [[f64; 6]; 6];
/// A twist, acceleration or wrench, linear part first.
pub(crate) type Vec6 = [f64; 6];

pub(crate) const ZERO_BLOCK: Block = [[0.0; 6]; 6];
pub(crate) const IDENTITY_BLOCK: Block = {
    let mut b = ZERO_BLOCK;
    let mut i = 0;
    while i < 6 {
        b[i][i] = 1.0;
        i += 1;
    }
    b
};

/// Where block (a, b), a ≤ b, of a symmetric m×m array of blocks is stored.
#[inline]
pub(crate) fn packed(m: usize, a: usize, b: usize) -> usize {
    debug_assert!(a <= b && b < m);
    a * m - a * (a + 1) / 2 + b
}

/// Number of blocks of a symmetric m×m array.
#[inline]
pub(crate) fn packed_len(m: usize) -> usize {
    m * (m + 1) / 2
}

/// Block (a, b) of a packed array, a and b in any order.
#[inline]
pub(crate) fn block_of(phi: &[Block], m: usize, a: usize, b: usize) -> Block {
    if a <= b { phi[packed(m, a, b)] } else { transposed(&phi[packed(m, b, a)]) }
}

#[inline]
pub(crate) fn transposed(a: &Block) -> Block {
    let mut t = ZERO_BLOCK;
    for i in 0..6 {
        for j in 0..6 {
            t[j][i] = a[i][j];
        }
    }
    t
}

#[inline]
pub(crate) fn add_blocks(a: &Block, b: &Block) -> Block {
    let mut out = *a;
    for i in 0..6 {
        for j in 0..6 {
            out[i][j] += b[i][j];
        }
    }
    out
}

#[inline]
pub(crate) fn subtract_block(a: &mut Block, b: &Block) {
    for i in 0..6 {
        for j in 0..6 {
            a[i][j] -= b[i][j];
        }
    }
}

/// The lower triangle mirrored to the upper one.
#[inline]
pub(crate) fn mirror(a: &mut Block) {
    for i in 0..6 {
        for j in i + 1..6 {
            a[i][j] = a[j][i];
        }
    }
}

/// x += s y.
#[inline]
pub(crate) fn add_scaled(x: &mut Vec6, s: f64, y: &Vec6) {
    for j in 0..6 {
        x[j] += s * y[j];
    }
}

#[inline]
pub(crate) fn dot(x: &Vec6, y: &Vec6) -> f64 {
    (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5])
}

/// out += s Σ_r a[r]ᵀ b[r] over the first `k` rows.
#[inline]
pub(crate) fn add_products(out: &mut Block, s: f64, a: &Block, b: &Block, k: usize) {
    match k {
        5 => add_row_products::<5>(out, s, a, b),
        6 => add_row_products::<6>(out, s, a, b),
        _ => add_row_products_of(out, s, a, b, k),
    }
}

#[inline(always)]
fn add_row_products<const K: usize>(out: &mut Block, s: f64, a: &Block, b: &Block) {
    for i in 0..6 {
        let mut row = [0.0; 6];
        for r in 0..K {
            let x = a[r][i];
            for j in 0..6 {
                row[j] += x * b[r][j];
            }
        }
        for j in 0..6 {
            out[i][j] += s * row[j];
        }
    }
}

fn add_row_products_of(out: &mut Block, s: f64, a: &Block, b: &Block, k: usize) {
    for i in 0..6 {
        for r in 0..k {
            add_scaled(&mut out[i], s * a[r][i], &b[r]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_is_a_bijection() {
        for m in 1..9 {
            let mut seen = vec![false; packed_len(m)];
            for a in 0..m {
                for b in a..m {
                    let at = packed(m, a, b);
                    assert!(!seen[at]);
                    seen[at] = true;
                }
            }
            assert!(seen.iter().all(|&s| s));
        }
    }

    #[test]
    fn all_widths_of_products_agree() {
        let a: Block = std::array::from_fn(|i| std::array::from_fn(|j| (3 * i + 7 * j) as f64));
        let b: Block = std::array::from_fn(|i| std::array::from_fn(|j| (5 * i) as f64 - j as f64));
        for k in 0..=6 {
            let (mut fast, mut slow) = (IDENTITY_BLOCK, IDENTITY_BLOCK);
            add_products(&mut fast, -2.0, &a, &b, k);
            add_row_products_of(&mut slow, -2.0, &a, &b, k);
            // Whole numbers: exact.
            assert_eq!(fast, slow);
        }
    }
}
