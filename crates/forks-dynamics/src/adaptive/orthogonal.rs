//! Appending rows to an upper triangular factor by Householder reflections.

/// Updates T (`n` upper triangular rows of `s` numbers, n ≤ s) so that TᵀT grows by DᵀD, D the
/// `rows` rows of `s` numbers in `d`, which are spent. Rows of T may be zero. T's diagonal may get
/// any sign.
pub(super) fn append_rows(s: usize, n: usize, t: &mut [f64], d: &mut [f64], rows: usize) {
    match (s, n) {
        (14, 13) => {
            reflect::<14>(14, 0..6, t, d, rows);
            reflect::<8>(14, 6..12, t, d, rows);
            last_column(14, 12, t, d, rows);
        }
        (8, 7) => {
            reflect::<8>(8, 0..6, t, d, rows);
            last_column(8, 6, t, d, rows);
        }
        _ => {
            for j in 0..n.saturating_sub(1) {
                reflect_any(s, j, t, d, rows);
            }
            if n > 0 {
                last_column(s, n - 1, t, d, rows);
            }
        }
    }
}

/// The columns of a block, which are `L` before the rows' end at its start.
#[inline(always)]
fn reflect<const L: usize>(
    s: usize,
    columns: std::ops::Range<usize>,
    t: &mut [f64],
    d: &mut [f64],
    rows: usize,
) {
    let from = columns.start;
    for j in columns {
        let pivot: &mut [f64; L] =
            t[j * s + from..].first_chunk_mut().expect("a row reaches to its end");
        let k = j - from;
        let mut sigma = 0.0;
        let mut w = [0.0; L];
        for row in d[..rows * s].chunks_exact(s) {
            let row: &[f64; L] = row[from..].first_chunk().expect("a row reaches to its end");
            let x = row[k];
            sigma += x * x;
            for c in 0..L {
                w[c] += x * row[c];
            }
        }
        let Some((v, tau)) = reflector(pivot[k], sigma) else { continue };
        for c in 0..L {
            w[c] = tau * (w[c] + v * pivot[c]);
            pivot[c] -= v * w[c];
        }
        for row in d[..rows * s].chunks_exact_mut(s) {
            let row: &mut [f64; L] =
                row[from..].first_chunk_mut().expect("a row reaches to its end");
            let x = row[k];
            for c in 0..L {
                row[c] -= x * w[c];
            }
        }
        for c in 0..k {
            pivot[c] = 0.0;
        }
    }
}

/// As [`reflect`] for one column of rows of any length.
fn reflect_any(s: usize, j: usize, t: &mut [f64], d: &mut [f64], rows: usize) {
    let sigma: f64 = d[..rows * s].chunks_exact(s).map(|row| row[j] * row[j]).sum();
    let Some((v, tau)) = reflector(t[j * s + j], sigma) else { return };
    for c in j + 1..s {
        let sum: f64 = d[..rows * s].chunks_exact(s).map(|row| row[j] * row[c]).sum();
        let w = tau * (sum + v * t[j * s + c]);
        t[j * s + c] -= v * w;
        for row in d[..rows * s].chunks_exact_mut(s) {
            row[c] -= row[j] * w;
        }
    }
    t[j * s + j] -= v * tau * (sigma + v * t[j * s + j]);
}

/// v and 2/|(v, x)|² of the reflection that takes a column (pivot, x), |x|² = sigma, to its first
/// entry; `None` where there is nothing to do. NaN goes on.
#[inline(always)]
fn reflector(pivot: f64, sigma: f64) -> Option<(f64, f64)> {
    if sigma == 0.0 {
        return None;
    }
    let norm = (pivot * pivot + sigma).sqrt();
    Some((pivot + norm.copysign(pivot), 1.0 / (norm * (norm + pivot.abs()))))
}

/// The last column: nothing is to its right.
#[inline(always)]
fn last_column(s: usize, j: usize, t: &mut [f64], d: &[f64], rows: usize) {
    let sigma: f64 = d[..rows * s].chunks_exact(s).map(|row| row[j] * row[j]).sum();
    let pivot = &mut t[j * s + j];
    if sigma != 0.0 {
        *pivot = (*pivot * *pivot + sigma).sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forks_testkit::Rng;

    /// TᵀT after = TᵀT before + DᵀD, T triangular, for all row lengths and for rows of zeros.
    #[test]
    fn appending_adds_the_grams() {
        let mut rng = Rng::new(4);
        for (s, n) in [(2, 1), (8, 7), (14, 13), (20, 19), (26, 25)] {
            for rows in [0, 1, 3, 13, 27] {
                for empty in [false, true] {
                    let mut t = vec![0.0; n * s];
                    for i in 0..n {
                        for j in i..n {
                            let zero = empty && i % 2 == 0;
                            t[i * s + j] = if zero { 0.0 } else { rng.symmetric() };
                        }
                    }
                    let mut d: Vec<f64> = (0..rows * s).map(|_| rng.symmetric()).collect();
                    d.chunks_exact_mut(s).for_each(|r| r[n..].fill(0.0));
                    let gram = |x: &[f64], i: usize, j: usize| -> f64 {
                        x.chunks_exact(s).map(|r| r[i] * r[j]).sum()
                    };
                    let (t0, d0) = (t.clone(), d.clone());
                    append_rows(s, n, &mut t, &mut d, rows);
                    for i in 0..n {
                        for j in 0..n {
                            let expected = gram(&t0, i, j) + gram(&d0, i, j);
                            let error = (gram(&t, i, j) - expected).abs();
                            // Sums of up to 52 products of numbers below 1, each entry touched n
                            // times.
                            assert!(error < 1e2 * 52.0 * f64::EPSILON, "{s} {rows}: {error:e}");
                            assert!(j >= i || t[i * s + j] == 0.0, "{s}: below the diagonal");
                        }
                    }
                }
            }
        }
    }
}
