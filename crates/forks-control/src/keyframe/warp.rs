//! Warps of time: when the curve is where.

use super::{
    bspline::{End, check},
    error::SplineError,
    monotone::Monotone,
};

/// An increasing map from played time to the time of the keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Warp(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Sine { amplitude: f64, period: f64 },
    Keys { forward: Monotone },
}

/// Why a warp is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WarpError {
    /// A number that is out of its range.
    #[error("the warp's {what} is {value}")]
    Value {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// Time that stops or runs backwards.
    #[error("the warp turns back at {time} s")]
    TurnsBack {
        /// Where it does first, s.
        time: f64,
    },
    /// Times that are no curve.
    #[error("the warp's times: {0}")]
    Curve(#[from] SplineError),
}

/// The time of the keys at a played time, and its derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warped {
    /// Time of the keys, s.
    pub time: f64,
    /// Its rate.
    pub rate: f64,
    /// The rate's rate, 1/s.
    pub acceleration: f64,
}

impl Warp {
    /// t + (a/T) sin(2πt/T): later than before in the first half of the period where `amplitude` a
    /// (s²) is above zero; \[K08\] Fig. 1 has a = 0.05.
    ///
    /// # Errors
    /// Numbers that are not finite, a period that is not positive, a warp that turns back:
    /// T² ≤ 2π|a|.
    pub fn sine(amplitude: f64, period: f64) -> Result<Self, WarpError> {
        if !amplitude.is_finite() {
            return Err(WarpError::Value { what: "amplitude", value: amplitude });
        }
        if !(period.is_finite() && period > 0.0) {
            return Err(WarpError::Value { what: "period", value: period });
        }
        let turn = 2.0 * core::f64::consts::PI;
        let part = period * period / (turn * amplitude.abs());
        if part <= 1.0 {
            let angle = if amplitude > 0.0 { (-part).acos() } else { part.acos() };
            return Err(WarpError::TurnsBack { time: angle * period / turn });
        }
        Ok(Self(Kind::Sine { amplitude, period }))
    }

    /// A monotone curve through played times and times of the keys; before the first and after the
    /// last it goes on at the rate it has there.
    ///
    /// # Errors
    /// Times that are not finite or do not increase.
    pub fn keys(played: &[f64], of_keys: &[f64]) -> Result<Self, WarpError> {
        let keys: Vec<Vec<f64>> = of_keys.iter().map(|t| vec![*t]).collect();
        let n = check(played, &keys, 2).map(|_| played.len())?;
        if let Some(k) = (1..n).find(|k| of_keys[*k] <= of_keys[k - 1]) {
            return Err(WarpError::TurnsBack { time: played[k - 1] });
        }
        // At the ends as fast as between the keys there: a cut slope would stop time.
        let end = |a: usize, b: usize| {
            let rate = (of_keys[b] - of_keys[a]) / (played[b] - played[a]);
            End { velocity: Some(vec![rate]), acceleration: None }
        };
        let forward = Monotone::new(played, &keys, [&end(0, 1), &end(n - 2, n - 1)])?;
        Ok(Self(Kind::Keys { forward }))
    }

    /// The time of the keys at a played time.
    pub fn at(&self, t: f64) -> Warped {
        match &self.0 {
            Kind::Sine { amplitude, period } => {
                let turn = 2.0 * core::f64::consts::PI / period;
                let (s, c) = (turn * t).sin_cos();
                let a = amplitude / period;
                Warped {
                    time: t + a * s,
                    rate: 1.0 + a * turn * c,
                    acceleration: -a * turn * turn * s,
                }
            }
            Kind::Keys { forward } => {
                let (first, last) = forward.range();
                let within = t.clamp(first, last);
                let mut get = [0.0; 3].map(|x| [x]);
                (0..3).for_each(|d| forward.evaluate(within, d, &mut get[d]));
                let [[time], [rate], [acceleration]] = get;
                match within == t {
                    true => Warped { time, rate, acceleration },
                    false => Warped { time: time + rate * (t - within), rate, acceleration: 0.0 },
                }
            }
        }
    }

    /// The played time at which the keys' time is `of_keys`, by bisection to rounding.
    pub fn inverse(&self, of_keys: f64) -> f64 {
        let (mut low, mut high) = match &self.0 {
            // The sine is at most its amplitude away.
            Kind::Sine { amplitude, period } => {
                let a = (amplitude / period).abs();
                (of_keys - a, of_keys + a)
            }
            Kind::Keys { forward } => {
                let (first, last) = forward.range();
                let (a, b) = (self.at(first), self.at(last));
                if of_keys <= a.time {
                    return first + (of_keys - a.time) / a.rate;
                }
                if of_keys >= b.time {
                    return last + (of_keys - b.time) / b.rate;
                }
                (first, last)
            }
        };
        loop {
            let middle = low + 0.5 * (high - low);
            if middle <= low || middle >= high {
                return middle;
            }
            if self.at(middle).time < of_keys {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
}
