//! A curve of plain coordinates, of either kind.

use super::{
    bspline::{BSpline, End},
    error::SplineError,
    monotone::Monotone,
};

/// How a curve follows its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// A B-spline through all keys.
    #[default]
    Interpolate,
    /// A curve through all keys that goes nowhere beyond them; its accelerations jump.
    Monotone,
    /// A B-spline with the keys as controls: it passes the first and the last.
    Approximate,
}

/// How a curve begins or ends.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum EndRule {
    /// At rest, for degree 5 without acceleration.
    #[default]
    Rest,
    /// As the curve of least bending would; for plain coordinates.
    Natural,
    /// With given rates, one number per velocity coordinate: the rates of plain coordinates, also
    /// of the positions of planar and free joints, and angular velocities in the turned frame.
    Rates(End),
}

/// What a curve does at both ends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ends {
    /// It repeats; the last key equals the first.
    Periodic,
    /// Start and end.
    Each([EndRule; 2]),
}

impl Default for Ends {
    fn default() -> Self {
        Self::Each([EndRule::Rest, EndRule::Rest])
    }
}

/// A curve of plain coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Path {
    Spline(BSpline, usize),
    Monotone(Monotone),
}

impl Path {
    /// Through keys of plain numbers.
    pub(super) fn new(
        method: Method,
        degree: usize,
        times: &[f64],
        keys: &[Vec<f64>],
        ends: &Ends,
    ) -> Result<Self, SplineError> {
        super::bspline::check_degree(degree)?;
        let channels = keys.first().map_or(0, Vec::len);
        let spline = |s: BSpline| Self::Spline(s, degree);
        let rules = match (method, ends) {
            (Method::Interpolate, Ends::Periodic) => {
                return BSpline::periodic(degree, times, keys).map(spline);
            }
            (Method::Monotone, Ends::Periodic) => {
                return Monotone::periodic(times, keys).map(Self::Monotone);
            }
            (Method::Approximate, Ends::Periodic) => {
                return Err(SplineError::NoRoom { curve: "an approximation", what: "repetition" });
            }
            (Method::Approximate, Ends::Each(rules)) => {
                if rules.iter().any(|r| matches!(r, EndRule::Rates(_))) {
                    return Err(SplineError::NoRoom { curve: "an approximation", what: "rate" });
                }
                return BSpline::approximating(degree, times, keys).map(spline);
            }
            (_, Ends::Each(rules)) => rules,
        };
        let monotone = method == Method::Monotone;
        // A monotone curve is cubic.
        let degree_of_ends = if monotone { 3 } else { degree };
        let given = |rule: &EndRule| match rule {
            EndRule::Rest => End::rest(channels, degree_of_ends),
            EndRule::Natural => End::default(),
            EndRule::Rates(end) => end.clone(),
        };
        let [start, end] = [given(&rules[0]), given(&rules[1])];
        if monotone {
            return Monotone::new(times, keys, [&start, &end]).map(Self::Monotone);
        }
        BSpline::interpolating(degree, times, keys, [&start, &end]).map(spline)
    }

    pub(super) fn degree(&self) -> usize {
        match self {
            Self::Spline(_, degree) => *degree,
            Self::Monotone(_) => 3,
        }
    }

    pub(super) fn channels(&self) -> usize {
        match self {
            Self::Spline(s, _) => s.channels(),
            Self::Monotone(m) => m.channels(),
        }
    }

    pub(super) fn breaks(&self) -> Vec<f64> {
        match self {
            Self::Spline(s, _) => s.breaks(),
            Self::Monotone(m) => m.breaks(),
        }
    }

    pub(super) fn evaluate(&self, t: f64, derivative: usize, out: &mut [f64]) {
        match self {
            Self::Spline(s, _) => s.evaluate(t, derivative, out),
            Self::Monotone(m) => m.evaluate(t, derivative, out),
        }
    }
}
