//! What curves refuse.

/// Why there is no curve through keys; keys count from zero.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplineError {
    /// Another degree than 3 or 5.
    #[error("degree {degree}; splines of degree 3 and 5 are there")]
    Degree {
        /// What was given.
        degree: usize,
    },
    /// Not one time per key.
    #[error("{times} times and {keys} keys")]
    Count {
        /// Number of times.
        times: usize,
        /// Number of keys.
        keys: usize,
    },
    /// Too few keys.
    #[error("{keys} keys; the curve takes at least {least}")]
    TooFew {
        /// How many were given.
        keys: usize,
        /// How many it takes.
        least: usize,
    },
    /// Times that do not increase.
    #[error("key {key} at {time} s comes after the one at {before} s")]
    Order {
        /// Which key.
        key: usize,
        /// Time of the key before it, s.
        before: f64,
        /// Its time, s.
        time: f64,
    },
    /// A time or value that is not finite.
    #[error("the {what} of key {key} is {value}")]
    NotFinite {
        /// Time or value.
        what: &'static str,
        /// Which key.
        key: usize,
        /// What was given.
        value: f64,
    },
    /// A key of another length than the first, or than the joint has coordinates.
    #[error("key {key} has {found} numbers, expected {expected}")]
    Channels {
        /// Which key.
        key: usize,
        /// Its numbers.
        found: usize,
        /// What is expected.
        expected: usize,
    },
    /// Rates at an end of another length.
    #[error("the {what} at an end has {found} numbers, expected {expected}")]
    EndChannels {
        /// Velocity or acceleration.
        what: &'static str,
        /// Its numbers.
        found: usize,
        /// What is expected.
        expected: usize,
    },
    /// Rates at an end that are not finite.
    #[error("a number of the {what} at an end is {value}")]
    EndNotFinite {
        /// Velocity or acceleration.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// Velocity and acceleration at an end of a curve of degree 3.
    #[error(
        "a curve of degree 3 takes a velocity or an acceleration at an end, not both: degree 5"
    )]
    TwoEnds,
    /// A curve that repeats with a last key other than the first.
    #[error(
        "a curve that repeats ends where it begins: the first key has {first}, the last {last}"
    )]
    NotClosed {
        /// A number of the first key.
        first: f64,
        /// The same of the last key.
        last: f64,
    },
    /// Keys and ends that leave the curve open.
    #[error("keys and ends leave the curve open: it takes more keys, or a velocity at an end")]
    Open,
    /// Numbers beyond what can be computed with.
    #[error("the curve overflows")]
    Overflow,
    /// Rates at an end of a monotone curve that make it turn back.
    #[error(
        "a velocity of {velocity} at an end makes a monotone curve turn back; \
         from 0 to {limit} it does not"
    )]
    TurnsBack {
        /// What was given.
        velocity: f64,
        /// The greatest that keeps it monotone.
        limit: f64,
    },
    /// A condition at an end that this curve has no room for.
    #[error("{curve} takes no {what} at an end")]
    NoRoom {
        /// Which curve.
        curve: &'static str,
        /// Velocity or acceleration.
        what: &'static str,
    },
    /// A quaternion of no length.
    #[error("the quaternion of key {key} has length {length}")]
    Quaternion {
        /// Which key.
        key: usize,
        /// Its length.
        length: f64,
    },
    /// Two rotations in opposite directions: no shortest way between them.
    #[error("key {key} is turned by {angle} rad from the one before: which way is left open")]
    Opposite {
        /// Which key.
        key: usize,
        /// The angle between, rad.
        angle: f64,
    },
    /// Newton's method for control rotations that does not end.
    #[error("no control rotations found: {open} rad are left at key {key}")]
    Rotations {
        /// The key with the largest gap.
        key: usize,
        /// The gap, rad.
        open: f64,
    },
}
