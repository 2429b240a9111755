//! What servos and forces do over time.

use super::spec::WaveSpec;

/// A value over time: smooth steps between given ones, and an oscillation.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Time (s) and value, in order.
    knots: Vec<[f64; 2]>,
    wave: Option<WaveSpec>,
}

/// What values, weights and directions may have, so that their products and sums stay finite.
pub(super) const LARGEST: f64 = 1e150;

/// Time in which oscillations grow and fade, s.
const FADE: f64 = 0.25;

impl Schedule {
    /// Steps between `values` at `times` (s), and an oscillation on top; one of both is needed.
    ///
    /// # Errors
    /// What is wrong with times, values or the oscillation.
    pub fn new(
        times: &[f64],
        values: &[f64],
        wave: Option<WaveSpec>,
    ) -> Result<Self, &'static str> {
        if times.len() != values.len() {
            return Err("has not one value per time");
        }
        let amplitude = wave.as_ref().map_or(0.0, |w| w.amplitude.abs());
        if values.iter().fold(amplitude, |a, v| a.max(v.abs())) > LARGEST {
            return Err("has a value beyond 1e150");
        }
        let ascending = times.windows(2).all(|t| t[0] < t[1]);
        if !ascending || times.iter().chain(values).any(|x| !x.is_finite()) {
            return Err("needs finite values at increasing times");
        }
        if times.is_empty() && wave.is_none() {
            return Err("has neither times and values nor a wave");
        }
        if let Some(w) = &wave {
            let numbers = [w.amplitude, w.frequency, w.phase_deg, w.from, w.until.unwrap_or(0.0)];
            if numbers.iter().any(|x| !x.is_finite()) || w.frequency < 0.0 {
                return Err("has a wave that is not finite or of negative frequency");
            }
        }
        let knots = times.iter().zip(values).map(|(t, v)| [*t, *v]).collect();
        Ok(Self { knots, wave })
    }

    /// The value, if it is the same at all times.
    pub(super) fn constant(&self) -> Option<f64> {
        let [first, rest @ ..] = self.knots.as_slice() else { return None };
        (self.wave.is_none() && rest.iter().all(|k| k[1] == first[1])).then_some(first[1])
    }

    /// The value at a time.
    pub fn value(&self, t: f64) -> f64 {
        self.steps(t) + self.wave.as_ref().map_or(0.0, |w| wave(w, t))
    }

    fn steps(&self, t: f64) -> f64 {
        let after = self.knots.partition_point(|k| k[0] <= t);
        match (after.checked_sub(1).map(|i| self.knots[i]), self.knots.get(after)) {
            (Some([t0, a]), Some([t1, b])) => a + (b - a) * smooth((t - t0) / (t1 - t0)),
            (Some([_, a]), None) => a,
            (None, Some([_, b])) => *b,
            (None, None) => 0.0,
        }
    }
}

/// From 0 to 1 with slopes 0 at both ends.
fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

fn wave(w: &WaveSpec, t: f64) -> f64 {
    let since = t - w.from;
    let left = w.until.map_or(f64::INFINITY, |end| end - t);
    if since <= 0.0 || left <= 0.0 {
        return 0.0;
    }
    let size = smooth(since / FADE) * smooth(left / FADE);
    let angle = std::f64::consts::TAU * w.frequency * since + w.phase_deg.to_radians();
    w.amplitude * size * angle.sin()
}
