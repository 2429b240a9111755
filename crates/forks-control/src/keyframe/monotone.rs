//! Monotone cubic curves (Fritsch and Butland 1984, as PCHIP): no value beyond the keys next to it.
//!
//! The slope at a key is a weighted harmonic mean of the secants beside it, and zero where these
//! have different signs. Velocities have no jumps, accelerations do.

use super::{
    bspline::{End, check},
    error::SplineError,
};

/// A monotone curve of several channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Monotone {
    times: Vec<f64>,
    keys: Vec<Vec<f64>>,
    slopes: Vec<Vec<f64>>,
    periodic: bool,
}

impl Monotone {
    /// Passes every key. An end without a velocity gets the slope of three keys, cut where the
    /// curve would turn back.
    ///
    /// # Errors
    /// Keys out of order or not finite, fewer than two; a velocity at an end that makes the curve
    /// turn back, an acceleration there.
    pub fn new(times: &[f64], keys: &[Vec<f64>], ends: [&End; 2]) -> Result<Self, SplineError> {
        let channels = check(times, keys, 2)?;
        let n = times.len();
        let mut slopes = vec![vec![0.0; channels]; n];
        for c in 0..channels {
            let secant = secants(times, keys, c);
            for k in 1..n - 1 {
                slopes[k][c] = inner(
                    times[k] - times[k - 1],
                    times[k + 1] - times[k],
                    secant[k - 1],
                    secant[k],
                );
            }
            let widths = |k: usize| times[k + 1] - times[k];
            let (first, last) = if n == 2 {
                (secant[0], secant[0])
            } else {
                (
                    outer(widths(0), widths(1), secant[0], secant[1]),
                    outer(widths(n - 2), widths(n - 3), secant[n - 2], secant[n - 3]),
                )
            };
            (slopes[0][c], slopes[n - 1][c]) = (first, last);
            for (end, key, beside) in [(ends[0], 0, secant[0]), (ends[1], n - 1, secant[n - 2])] {
                if end.acceleration.is_some() {
                    return Err(SplineError::NoRoom {
                        curve: "a monotone curve",
                        what: "acceleration",
                    });
                }
                let Some(given) = &end.velocity else { continue };
                let what = "velocity";
                let Some(&velocity) = given.get(c).filter(|_| given.len() == channels) else {
                    let (found, expected) = (given.len(), channels);
                    return Err(SplineError::EndChannels { what, found, expected });
                };
                if !velocity.is_finite() {
                    return Err(SplineError::EndNotFinite { what, value: velocity });
                }
                // Within three secants a cubic stays monotone (Fritsch and Carlson 1980).
                if velocity * beside < 0.0 || velocity.abs() > 3.0 * beside.abs() {
                    return Err(SplineError::TurnsBack { velocity, limit: 3.0 * beside });
                }
                slopes[key][c] = velocity;
            }
        }
        Self { times: times.to_vec(), keys: keys.to_vec(), slopes, periodic: false }.finite()
    }

    /// Passes every key and repeats after the last one, which has to equal the first.
    ///
    /// # Errors
    /// Keys out of order or not finite, fewer than two; a last key that is not the first one.
    pub fn periodic(times: &[f64], keys: &[Vec<f64>]) -> Result<Self, SplineError> {
        let open = End::default();
        let mut out = Self::new(times, keys, [&open, &open])?;
        let n = times.len();
        for c in 0..out.channels() {
            if keys[0][c] != keys[n - 1][c] {
                return Err(SplineError::NotClosed { first: keys[0][c], last: keys[n - 1][c] });
            }
            let secant = secants(times, keys, c);
            let (before, after) = (times[n - 1] - times[n - 2], times[1] - times[0]);
            let slope = inner(before, after, secant[n - 2], secant[0]);
            (out.slopes[0][c], out.slopes[n - 1][c]) = (slope, slope);
        }
        out.periodic = true;
        out.finite()
    }

    fn finite(self) -> Result<Self, SplineError> {
        let finite = self.slopes.iter().flatten().all(|x| x.is_finite());
        if finite { Ok(self) } else { Err(SplineError::Overflow) }
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.keys[0].len()
    }

    /// First and last time, s.
    pub fn range(&self) -> (f64, f64) {
        (self.times[0], self.times[self.times.len() - 1])
    }

    /// Times of the keys.
    pub fn breaks(&self) -> Vec<f64> {
        self.times.clone()
    }

    /// The derivative of an order at a time, by channel, that of the piece after a key at its time.
    /// Before its first and after its last time a curve that does not repeat rests at its end.
    ///
    /// # Panics
    /// If `out` has another length than there are channels.
    pub fn evaluate(&self, t: f64, derivative: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.channels(), "number of channels");
        let (first, last) = self.range();
        let mut at = t;
        if t < first || t > last {
            if self.periodic {
                at = first + (t - first).rem_euclid(last - first);
            } else if derivative > 0 {
                return out.fill(0.0);
            } else {
                at = t.clamp(first, last);
            }
        }
        let n = self.times.len();
        let k = self.times.partition_point(|x| *x <= at).clamp(1, n - 1) - 1;
        let h = self.times[k + 1] - self.times[k];
        let s = (at - self.times[k]) / h;
        for (c, out) in out.iter_mut().enumerate() {
            let (a, b) = (self.keys[k][c], self.keys[k + 1][c]);
            let (da, db) = (h * self.slopes[k][c], h * self.slopes[k + 1][c]);
            let step = b - a;
            // a + s (da + s (c2 + s c3)), exact at both ends.
            let (c2, c3) = (3.0 * step - 2.0 * da - db, da + db - 2.0 * step);
            *out = match derivative {
                0 if s == 1.0 => b,
                0 => a + s * (da + s * (c2 + s * c3)),
                1 => (da + s * (2.0 * c2 + 3.0 * s * c3)) / h,
                2 => (2.0 * c2 + 6.0 * s * c3) / (h * h),
                3 => 6.0 * c3 / (h * h * h),
                _ => 0.0,
            };
        }
    }
}

fn secants(times: &[f64], keys: &[Vec<f64>], c: usize) -> Vec<f64> {
    (1..times.len()).map(|k| (keys[k][c] - keys[k - 1][c]) / (times[k] - times[k - 1])).collect()
}

/// Weighted harmonic mean of the secants before and after a key.
fn inner(before: f64, after: f64, d0: f64, d1: f64) -> f64 {
    if d0 * d1 <= 0.0 {
        return 0.0;
    }
    let (w0, w1) = (2.0 * after + before, after + 2.0 * before);
    (w0 + w1) / (w0 / d0 + w1 / d1)
}

/// Slope at an end from the secant beside it and the next one: that of the parabola through three
/// keys, cut where it would turn back.
fn outer(h0: f64, h1: f64, d0: f64, d1: f64) -> f64 {
    let slope = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if slope * d0 <= 0.0 {
        0.0
    } else if d0 * d1 < 0.0 && slope.abs() > 3.0 * d0.abs() {
        3.0 * d0
    } else {
        slope
    }
}
