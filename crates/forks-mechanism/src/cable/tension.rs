//! What a cable's spring makes of its length.

use super::Cable;

/// Energy and its derivatives by the length of a cable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CableTension {
    /// J.
    pub energy: f64,
    /// Tension of the spring, N: positive where it pulls.
    pub force: f64,
    /// Its slope, N/m.
    pub stiffness: f64,
}

impl Cable {
    /// The spring at a length. At an end of the slack range the spring counts as taut, so that one
    /// without a slack range always has its stiffness.
    pub fn tension(&self, length: f64) -> CableTension {
        self.tension_with_rest(length, self.rest)
    }

    /// The same with another slack range.
    pub fn tension_with_rest(&self, length: f64, [lower, upper]: [f64; 2]) -> CableTension {
        let stretch = match () {
            () if length >= upper => length - upper,
            () if length <= lower => length - lower,
            () => return CableTension::default(),
        };
        let force = self.stiffness * stretch;
        CableTension { energy: 0.5 * force * stretch, force, stiffness: self.stiffness }
    }

    /// The slack range of the same cable unstressed at a length: moved by as little as possible, so
    /// that a taut spring stays at the end of its range and a slack one slack.
    pub fn rest_unstressed_at(&self, length: f64) -> [f64; 2] {
        let [lower, upper] = self.rest;
        let shift = match () {
            () if length >= upper => length - upper,
            () if length <= lower => length - lower,
            () => return self.rest,
        };
        // The end at which the spring is taut, to the last digit.
        let other = |end: f64| if lower == upper { length } else { end + shift };
        if length >= upper { [other(lower), length] } else { [length, other(upper)] }
    }
}
