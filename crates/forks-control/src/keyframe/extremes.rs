//! Greatest and least values of piecewise polynomials, from their control polygons.
//!
//! On an interval a polynomial lies within the hull of its Bernstein coefficients, and takes the
//! first and last of them. Intervals whose hull may hold more than the best value so far are
//! halved.
/// Where a value is least and greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// Least value.
    pub lower: f64,
    /// A time at which it is taken, s.
    pub lower_at: f64,
    /// Greatest value.
    pub upper: f64,
    /// A time at which it is taken, s.
    pub upper_at: f64,
}

/// Largest number of coefficients.
const MOST: usize = super::knots::TOP + 1;

/// Of a polynomial in pieces: `derivatives(t, d)` is its d-th derivative just after t; `breaks` are
/// the times between pieces and the ends. Values are found to 1e-12 of the largest coefficient.
pub(super) fn extremes(
    breaks: &[f64],
    degree: usize,
    mut derivatives: impl FnMut(f64, usize) -> f64,
) -> Extremes {
    let mut pieces = Vec::new();
    for pair in breaks.windows(2) {
        let h = pair[1] - pair[0];
        // Taylor coefficients on the unit interval, then Bernstein's.
        let mut taylor = [0.0; MOST];
        let mut scale = 1.0;
        for (d, c) in taylor[..=degree].iter_mut().enumerate() {
            *c = scale * derivatives(pair[0], d);
            scale *= h / (d + 1) as f64;
        }
        let mut b = [0.0; MOST];
        for j in 0..=degree {
            b[j] = (0..=j).map(|i| choose(j, i) / choose(degree, i) * taylor[i]).sum();
        }
        pieces.push((pair[0], h, b));
    }
    let size = pieces.iter().flat_map(|p| p.2).fold(0.0f64, |a, x| a.max(x.abs()));
    let (upper, upper_at) = greatest(&pieces, degree, 1.0, 1e-12 * size);
    let (lower, lower_at) = greatest(&pieces, degree, -1.0, 1e-12 * size);
    Extremes { lower: -lower, lower_at, upper, upper_at }
}

type Piece = (f64, f64, [f64; MOST]);

/// The greatest value of sign × polynomial, and where.
fn greatest(pieces: &[Piece], degree: usize, sign: f64, tolerance: f64) -> (f64, f64) {
    let mut best = (f64::NEG_INFINITY, 0.0);
    let mut stack: Vec<Piece> = Vec::new();
    for &(t, h, b) in pieces.iter().rev() {
        stack.push((t, h, b.map(|x| sign * x)));
    }
    while let Some((t, h, b)) = stack.pop() {
        for (value, at) in [(b[0], t), (b[degree], t + h)] {
            if value > best.0 {
                best = (value, at);
            }
        }
        let hull = b[..=degree].iter().fold(f64::NEG_INFINITY, |a, x| a.max(*x));
        if hull <= best.0 + tolerance {
            continue;
        }
        // De Casteljau in the middle.
        let (mut left, mut right) = (b, b);
        for r in 1..=degree {
            left[r - 1] = right[0];
            for j in 0..=degree - r {
                right[j] = 0.5 * (right[j] + right[j + 1]);
            }
        }
        left[degree] = right[0];
        stack.push((t + 0.5 * h, 0.5 * h, right));
        stack.push((t, 0.5 * h, left));
    }
    best
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::extremes;

    /// t³ − t on [−1, 2] in two pieces: least −2/√27 at 1/√3, greatest 6 at 2.
    #[test]
    fn extremes_of_a_cubic_are_those_of_its_derivative() {
        let of = |t: f64, d: usize| match d {
            0 => t * t * t - t,
            1 => 3.0 * t * t - 1.0,
            2 => 6.0 * t,
            _ => 6.0,
        };
        let e = extremes(&[-1.0, 0.3, 2.0], 3, of);
        assert!((e.lower + 2.0 / 27f64.sqrt()).abs() < 1e-11, "{e:?}");
        assert!((e.lower_at - 1.0 / 3f64.sqrt()).abs() < 1e-5, "{e:?}");
        assert!((e.upper - 6.0).abs() < 1e-14 && e.upper_at == 2.0, "{e:?}");
    }
}
