//! Rates that keep limits of position, velocity and acceleration for good, in discrete time.
//!
//! A limit that acts once it is reached comes too late: what moves has to brake before. With steps
//! q⁺ = q + h v⁺ and |v⁺ − v| ≤ h A, braking from v⁺ covers D(v⁺) = h (n v⁺ − h A n (n + 1)/2)
//! more, n = ⌊v⁺/(h A)⌋. The largest v⁺ with q + h v⁺ + D(v⁺) ≤ q_max is piecewise linear in the
//! distance and has a closed form; whoever keeps to it can always brake within A.

use forks_dynamics::mechanism::Limit;

/// Limits of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateLimits {
    /// Range of positions, m or rad.
    pub position: Option<Limit>,
    /// Largest speed, 1/s of that; infinite for none.
    pub velocity: f64,
    /// Largest acceleration, 1/s² of that.
    pub acceleration: f64,
}

/// Rates that a coordinate may have at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRange {
    /// Least rate.
    pub lower: f64,
    /// Greatest rate.
    pub upper: f64,
    /// False if limits contradict each other from this state on: positions or speeds beyond their
    /// limit, or too fast to brake. The range is then the one rate that acceleration allows and
    /// that violates the others least.
    pub viable: bool,
}

/// Why there is no range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {value}")]
pub struct LimitError {
    /// Which number.
    pub what: &'static str,
    /// Its value.
    pub value: f64,
}

/// Contradictions up to this share of the rates are rounding.
const ROUNDING: f64 = 1e-12;

impl CoordinateLimits {
    /// The rates at the end of a step of `h` (s) from position `q` and rate `v`.
    ///
    /// # Errors
    /// A state that is not finite, a step or an acceleration that is not positive and finite, a
    /// speed that is not positive, a range of positions that is empty.
    pub fn range(&self, q: f64, v: f64, h: f64) -> Result<RateRange, LimitError> {
        let wrong = |what, value| Err(LimitError { what, value });
        for (what, value) in [("the position", q), ("the rate", v)] {
            if !value.is_finite() {
                return wrong(what, value);
            }
        }
        for (what, value) in [("the step", h), ("the largest acceleration", self.acceleration)] {
            if !(value.is_finite() && value > 0.0) {
                return wrong(what, value);
            }
        }
        if self.velocity.is_nan() || self.velocity <= 0.0 {
            return wrong("the largest speed", self.velocity);
        }
        let change = h * self.acceleration;
        let (mut lower, mut upper) = (-self.velocity, self.velocity);
        let mut size = q.abs();
        if let Some(Limit { lower: least, upper: most }) = self.position {
            if least.is_nan() || most.is_nan() || least > most {
                return wrong("the width of the range of positions", most - least);
            }
            size += [least, most].iter().filter(|x| x.is_finite()).fold(0.0, |a, x| a + x.abs());
            lower = lower.max(-fastest((q - least) / h, change));
            upper = upper.min(fastest((most - q) / h, change));
        }
        let (brake, speed) = (v - change, v + change);
        // A distance is rounded as the positions are that it lies between.
        let slack = ROUNDING * (change + v.abs()) + 4.0 * f64::EPSILON * size / h;
        if upper < brake - slack {
            return Ok(RateRange { lower: brake, upper: brake, viable: false });
        }
        if lower > speed + slack {
            return Ok(RateRange { lower: speed, upper: speed, viable: false });
        }
        let (upper, lower) = (upper.min(speed), lower.max(brake));
        // Of limits that touch, the position counts.
        let (lower, upper) = match v >= 0.0 {
            true => (lower.min(upper), upper),
            false => (lower, upper.max(lower)),
        };
        Ok(RateRange { lower, upper, viable: true })
    }
}

/// The largest v with v + D(v)/h ≤ `room`, where every step takes `change` off; negative room is
/// taken back at once.
fn fastest(room: f64, change: f64) -> f64 {
    if room <= 0.0 || room == f64::INFINITY {
        return room;
    }
    // Steps of braking: the largest n with n (n + 1)/2 ≤ room/change.
    let n = ((((1.0 + 8.0 * room / change).sqrt() - 1.0) * 0.5).floor()).max(0.0);
    (room + change * n * (n + 1.0) * 0.5) / (n + 1.0)
}
