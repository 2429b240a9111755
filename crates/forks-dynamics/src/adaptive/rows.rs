//! Sums of rows, two columns at a time so that they stay in registers.

/// out += Σ a_i row_i over the first `N` of `rows`, all of `s` numbers, s even.
#[inline(always)]
pub(super) fn add_rows<const N: usize>(s: usize, out: &mut [f64], a: &[f64; N], rows: &[f64]) {
    let (out, rows) = (&mut out[..s], &rows[..N * s]);
    for c in 0..s / 2 {
        let mut x = [out[2 * c], out[2 * c + 1]];
        for i in 0..N {
            let row = &rows[i * s + 2 * c..i * s + 2 * c + 2];
            x = [x[0] + a[i] * row[0], x[1] + a[i] * row[1]];
        }
        out[2 * c..2 * c + 2].copy_from_slice(&x);
    }
}

/// As [`add_rows`] for up to six rows.
#[inline(always)]
pub(super) fn add_some_rows(s: usize, n: usize, out: &mut [f64], a: &[f64; 6], rows: &[f64]) {
    match n {
        0 => {}
        1 => add_rows(s, out, &[a[0]], rows),
        2 => add_rows(s, out, &[a[0], a[1]], rows),
        3 => add_rows(s, out, &[a[0], a[1], a[2]], rows),
        4 => add_rows(s, out, &[a[0], a[1], a[2], a[3]], rows),
        5 => add_rows(s, out, &[a[0], a[1], a[2], a[3], a[4]], rows),
        _ => add_rows(s, out, a, rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_rows() {
        for s in [2, 8, 14, 20] {
            for n in 0..=6 {
                let rows: Vec<f64> = (0..6 * s).map(|i| (i * i % 17) as f64).collect();
                let a: [f64; 6] = std::array::from_fn(|i| i as f64 - 2.0);
                let mut out = vec![1.0; s];
                add_some_rows(s, n, &mut out, &a, &rows);
                for c in 0..s {
                    let sum: f64 = (0..n).map(|i| a[i] * rows[i * s + c]).sum();
                    // Whole numbers: exact.
                    assert_eq!(out[c], 1.0 + sum);
                }
            }
        }
    }
}
