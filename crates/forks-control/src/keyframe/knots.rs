//! Knots of B-splines and the basis functions over them.

use forks_dynamics::mechanism::linalg::Matrix;

/// Largest degree.
pub(super) const TOP: usize = 5;

/// Values of the basis functions that are not zero somewhere, degree + 1 of them.
pub(super) type Values = [f64; TOP + 1];

/// Knots of splines of one degree, with the times where the curve begins and ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Knots {
    degree: usize,
    /// Not decreasing.
    u: Vec<f64>,
    controls: usize,
    periodic: bool,
}

impl Knots {
    /// Of a curve that interpolates: knots at the keys' times, the ends degree + 1 times.
    pub(super) fn interpolating(times: &[f64], degree: usize) -> Self {
        let (first, last) = (times[0], times[times.len() - 1]);
        let mut u = vec![first; degree];
        u.extend_from_slice(times);
        u.extend(core::iter::repeat_n(last, degree));
        Self { degree, controls: u.len() - degree - 1, u, periodic: false }
    }

    /// Of a curve that repeats: knots at the keys' times and at those of the periods next to it.
    pub(super) fn periodic(times: &[f64], degree: usize) -> Self {
        let m = times.len() - 1;
        let period = times[m] - times[0];
        let at = |k: isize| {
            let turns = k.div_euclid(m as isize);
            times[k.rem_euclid(m as isize) as usize] + turns as f64 * period
        };
        let mut u: Vec<f64> = (-(degree as isize)..=(m + degree) as isize).map(at).collect();
        // The last key's time itself, not the first one's plus a rounded period.
        u[m + degree] = times[m];
        Self { degree, u, controls: m, periodic: true }
    }

    /// Of a curve whose controls are the keys: inner knots are means of `degree` times.
    pub(super) fn approximating(times: &[f64], degree: usize) -> Self {
        let n = times.len();
        let mut u = vec![times[0]; degree + 1];
        for j in 1..n - degree {
            u.push(times[j..j + degree].iter().sum::<f64>() / degree as f64);
        }
        u.extend(core::iter::repeat_n(times[n - 1], degree + 1));
        Self { degree, u, controls: n, periodic: false }
    }

    pub(super) fn degree(&self) -> usize {
        self.degree
    }

    /// Number of controls.
    pub(super) fn controls(&self) -> usize {
        self.controls
    }

    /// First and last time.
    pub(super) fn range(&self) -> (f64, f64) {
        (self.u[self.degree], self.u[self.u.len() - 1 - self.degree])
    }

    /// Times where polynomials meet, ends included.
    pub(super) fn breaks(&self) -> Vec<f64> {
        let mut out = self.u[self.degree..self.u.len() - self.degree].to_vec();
        out.dedup();
        out
    }

    /// A time within the range: of a periodic curve in the first period, of another one the nearest
    /// end, and whether the time was inside.
    pub(super) fn wrap(&self, t: f64) -> (f64, bool) {
        let (first, last) = self.range();
        if t >= first && t <= last {
            (t, true)
        } else if self.periodic {
            let within = (t - first).rem_euclid(last - first);
            (first + within, true)
        } else {
            (t.clamp(first, last), false)
        }
    }

    /// The interval with u_s ≤ t < u_{s+1}, the last one at the end.
    pub(super) fn span(&self, t: f64) -> usize {
        let end = self.u.len() - 1 - self.degree;
        let after = self.u[..end].partition_point(|u| *u <= t);
        after.clamp(self.degree + 1, end) - 1
    }

    /// The j-th of the degree + 1 controls that count in an interval.
    pub(super) fn control(&self, span: usize, j: usize) -> usize {
        (span - self.degree + j) % self.controls
    }

    /// Mean of the knots where a control counts most (Greville); of a periodic curve it may lie
    /// outside the first period.
    pub(super) fn centre(&self, control: usize) -> f64 {
        self.u[control + 1..=control + self.degree].iter().sum::<f64>() / self.degree as f64
    }

    /// The derivative-th derivatives of the basis functions of the controls that count in an
    /// interval: Cox and de Boor's recursion raises the degree, and where derivatives are asked for
    /// the last steps take them.
    pub(super) fn basis(&self, span: usize, t: f64, derivative: usize) -> Values {
        let (p, u) = (self.degree, &self.u);
        let mut n = [0.0; TOP + 1];
        if derivative > p {
            return n;
        }
        n[0] = 1.0;
        for r in 1..=p {
            let old = n;
            for j in 0..=r {
                let i = span + j - r;
                let mut x = 0.0;
                if j > 0 {
                    let part = old[j - 1] / (u[i + r] - u[i]);
                    x += if r <= p - derivative { (t - u[i]) * part } else { r as f64 * part };
                }
                if j < r {
                    let part = old[j] / (u[i + r + 1] - u[i + 1]);
                    x += match r <= p - derivative {
                        true => (u[i + r + 1] - t) * part,
                        false => -(r as f64) * part,
                    };
                }
                n[j] = x;
            }
        }
        n
    }

    /// As [`basis`](Self::basis), of the cumulative functions: entry j is the sum from j on.
    pub(super) fn cumulative(&self, span: usize, t: f64, derivative: usize) -> Values {
        let mut n = self.basis(span, t, derivative);
        for j in (0..self.degree).rev() {
            n[j] += n[j + 1];
        }
        n
    }

    /// Σ basis × control, by channel.
    pub(super) fn combine(&self, controls: &Matrix, t: f64, derivative: usize, out: &mut [f64]) {
        out.fill(0.0);
        let (t, inside) = self.wrap(t);
        if !inside && derivative > 0 {
            return;
        }
        let span = self.span(t);
        let n = self.basis(span, t, derivative);
        for (j, n) in n[..=self.degree].iter().enumerate() {
            let control = controls.row(self.control(span, j));
            out.iter_mut().zip(control).for_each(|(o, c)| *o += n * c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Knots;

    /// Functions of a degree sum to one, their derivatives to zero, and differences of values are
    /// the derivatives.
    #[test]
    fn basis_functions_share_one_and_derive_as_differences_do() {
        let times = [0.0, 0.3, 0.4, 1.1, 1.5, 2.0, 2.2];
        for degree in [3, 5] {
            for knots in [
                Knots::interpolating(&times, degree),
                Knots::periodic(&times, degree),
                Knots::approximating(&times, degree),
            ] {
                for t in [0.0, 0.05, 0.35, 0.9, 1.3, 1.7, 2.1, 2.2] {
                    let s = knots.span(t);
                    for d in 0..=degree {
                        let n = knots.basis(s, t, d);
                        let size = n.iter().fold(1.0f64, |a, x| a.max(x.abs()));
                        let sum: f64 = n.iter().sum();
                        let one = if d == 0 { 1.0 } else { 0.0 };
                        assert!((sum - one).abs() <= 1e-14 * size, "{degree} {t} {d}: {sum}");
                    }
                    for d in 1..=2 {
                        let h = 1e-5;
                        let (a, b) = (knots.basis(s, t - h, d - 1), knots.basis(s, t + h, d - 1));
                        let n = knots.basis(s, t, d);
                        let size = n.iter().fold(1.0f64, |a, x| a.max(x.abs()));
                        for j in 0..=degree {
                            let slope = (b[j] - a[j]) / (2.0 * h);
                            assert!((slope - n[j]).abs() < 1e-6 * size, "{degree} {t} {d} {j}");
                        }
                    }
                }
            }
        }
    }
}
