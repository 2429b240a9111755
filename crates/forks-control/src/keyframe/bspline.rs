//! Interpolating B-splines of plain coordinates.
//!
//! Degree 3 is the curve of least ∫ẍ² through the keys, degree 5 the one of least ∫(d³x/dt³)²; what
//! an end leaves open follows from that: the natural conditions.

use forks_dynamics::mechanism::linalg::Matrix;

use super::{bordered::Bordered, error::SplineError, knots::Knots};

/// What a curve does at an end; nothing given: its natural conditions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// Its rates there, one per channel, unit/s.
    pub velocity: Option<Vec<f64>>,
    /// Its accelerations, unit/s². A curve of degree 3 has room for velocity or acceleration, not
    /// for both.
    pub acceleration: Option<Vec<f64>>,
}

impl End {
    /// At rest: no velocity, and for degree 5 no acceleration.
    pub fn rest(channels: usize, degree: usize) -> Self {
        let zero = Some(vec![0.0; channels]);
        Self { acceleration: if degree == 5 { zero.clone() } else { None }, velocity: zero }
    }

    /// The derivatives that are given here: order and values; natural conditions are zero.
    fn conditions(
        &self,
        degree: usize,
        channels: usize,
    ) -> Result<Vec<(usize, Vec<f64>)>, SplineError> {
        let zero = || vec![0.0; channels];
        let given = |d, x: &Vec<f64>| (d, x.clone());
        match (degree, &self.velocity, &self.acceleration) {
            (3, Some(_), Some(_)) => Err(SplineError::TwoEnds),
            (3, Some(v), None) => Ok(vec![given(1, v)]),
            (3, None, Some(a)) => Ok(vec![given(2, a)]),
            (3, None, None) => Ok(vec![(2, zero())]),
            (_, Some(v), Some(a)) => Ok(vec![given(1, v), given(2, a)]),
            (_, Some(v), None) => Ok(vec![given(1, v), (3, zero())]),
            (_, None, Some(a)) => Ok(vec![given(2, a), (4, zero())]),
            (_, None, None) => Ok(vec![(3, zero()), (4, zero())]),
        }
    }
}

/// A piecewise polynomial of several channels, with degree − 1 derivatives that have no jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct BSpline {
    knots: Knots,
    /// Control × channel.
    controls: Matrix,
}

/// Keys, one per time: strictly increasing times, finite numbers, equally many channels.
pub(super) fn check(times: &[f64], keys: &[Vec<f64>], least: usize) -> Result<usize, SplineError> {
    if times.len() != keys.len() {
        return Err(SplineError::Count { times: times.len(), keys: keys.len() });
    }
    if keys.len() < least {
        return Err(SplineError::TooFew { keys: keys.len(), least });
    }
    for (key, t) in times.iter().enumerate() {
        if !t.is_finite() {
            return Err(SplineError::NotFinite { what: "time", key, value: *t });
        }
        if key > 0 && *t <= times[key - 1] {
            return Err(SplineError::Order { key, before: times[key - 1], time: *t });
        }
    }
    let channels = keys[0].len();
    for (key, values) in keys.iter().enumerate() {
        if values.len() != channels {
            return Err(SplineError::Channels { key, found: values.len(), expected: channels });
        }
        if let Some(x) = values.iter().find(|x| !x.is_finite()) {
            return Err(SplineError::NotFinite { what: "value", key, value: *x });
        }
    }
    Ok(channels)
}

/// Degrees 3 and 5.
pub(super) fn check_degree(degree: usize) -> Result<(), SplineError> {
    if degree == 3 || degree == 5 { Ok(()) } else { Err(SplineError::Degree { degree }) }
}

fn check_end(end: &End, channels: usize) -> Result<(), SplineError> {
    for (what, given) in [("velocity", &end.velocity), ("acceleration", &end.acceleration)] {
        let Some(values) = given else { continue };
        if values.len() != channels {
            return Err(SplineError::EndChannels { what, found: values.len(), expected: channels });
        }
        if let Some(x) = values.iter().find(|x| !x.is_finite()) {
            return Err(SplineError::EndNotFinite { what, value: *x });
        }
    }
    Ok(())
}

impl BSpline {
    /// Passes every key at its time.
    ///
    /// # Errors
    /// Another degree than 3 or 5, keys out of order or not finite, fewer than two, an end with
    /// more than the degree has room for, or one that leaves the curve open (two natural ends of
    /// degree 5 ask for three keys).
    pub fn interpolating(
        degree: usize,
        times: &[f64],
        keys: &[Vec<f64>],
        ends: [&End; 2],
    ) -> Result<Self, SplineError> {
        check_degree(degree)?;
        let channels = check(times, keys, 2)?;
        ends.iter().try_for_each(|e| check_end(e, channels))?;
        let knots = Knots::interpolating(times, degree);
        let n = knots.controls();
        let mut system = Bordered::new(n, degree, 0);
        let mut right = Matrix::zeros(n, channels);
        let mut row = 0;
        let mut push = |t: f64, derivative: usize, values: &[f64]| {
            let span = knots.span(t);
            let basis = knots.basis(span, t, derivative);
            // Rows of one size, whatever the unit of time.
            let size = basis.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            for (j, x) in basis[..=degree].iter().enumerate().filter(|(_, x)| **x != 0.0) {
                system.add(row, knots.control(span, j), x / size);
            }
            (0..channels).for_each(|c| right[(row, c)] = values[c] / size);
            row += 1;
        };
        let last = times.len() - 1;
        push(times[0], 0, &keys[0]);
        for (d, values) in ends[0].conditions(degree, channels)? {
            push(times[0], d, &values);
        }
        (1..last).for_each(|k| push(times[k], 0, &keys[k]));
        for (d, values) in ends[1].conditions(degree, channels)?.into_iter().rev() {
            push(times[last], d, &values);
        }
        push(times[last], 0, &keys[last]);
        let controls = system.solve(&right).ok_or(SplineError::Open)?;
        Self { knots, controls }.finite()
    }

    /// Passes every key and repeats after the last one, which has to equal the first.
    ///
    /// # Errors
    /// As [`interpolating`](Self::interpolating); a last key that is not the first one.
    pub fn periodic(degree: usize, times: &[f64], keys: &[Vec<f64>]) -> Result<Self, SplineError> {
        check_degree(degree)?;
        let channels = check(times, keys, 2)?;
        let m = times.len() - 1;
        if let Some(c) = (0..channels).find(|c| keys[0][*c] != keys[m][*c]) {
            return Err(SplineError::NotClosed { first: keys[0][c], last: keys[m][c] });
        }
        let knots = Knots::periodic(times, degree);
        let half = (degree - 1) / 2;
        let mut system = periodic_system(m, half);
        for (k, t) in times[..m].iter().enumerate() {
            let span = k + degree;
            let basis = knots.basis(span, *t, 0);
            // The last of them is zero at its knot.
            for (j, x) in basis[..degree].iter().enumerate() {
                system.add(k, periodic_column(k, j, m, half), *x);
            }
        }
        let right = Matrix::from_fn(m, channels, |k, c| keys[k][c]);
        let solved = system.solve(&right).ok_or(SplineError::Open)?;
        let controls = Matrix::from_fn(m, channels, |k, c| solved[((k + m - half % m) % m, c)]);
        Self { knots, controls }.finite()
    }

    /// Begins and ends at the first and last key and follows the others as controls: it stays
    /// within their hull.
    ///
    /// # Errors
    /// Another degree than 3 or 5, keys out of order or not finite, fewer than degree + 1.
    pub fn approximating(
        degree: usize,
        times: &[f64],
        keys: &[Vec<f64>],
    ) -> Result<Self, SplineError> {
        check_degree(degree)?;
        let channels = check(times, keys, degree + 1)?;
        let knots = Knots::approximating(times, degree);
        let controls = Matrix::from_fn(keys.len(), channels, |k, c| keys[k][c]);
        Self { knots, controls }.finite()
    }

    fn finite(self) -> Result<Self, SplineError> {
        if self.controls.is_finite() { Ok(self) } else { Err(SplineError::Overflow) }
    }

    /// A control, by channel.
    pub(super) fn control(&self, i: usize) -> &[f64] {
        self.controls.row(i)
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.controls.columns()
    }

    /// First and last time, s.
    pub fn range(&self) -> (f64, f64) {
        self.knots.range()
    }

    /// Times where polynomials meet, ends included.
    pub fn breaks(&self) -> Vec<f64> {
        self.knots.breaks()
    }

    /// The derivative of an order at a time, by channel. Before its first and after its last time
    /// a curve that does not repeat rests at its end.
    ///
    /// # Panics
    /// If `out` has another length than there are channels.
    pub fn evaluate(&self, t: f64, derivative: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.channels(), "number of channels");
        self.knots.combine(&self.controls, t, derivative, out);
    }
}

/// The cyclic system of m periodic controls: column k + (m − half) mod m is control k, so that the
/// largest entries are on the diagonal.
pub(super) fn periodic_system(m: usize, half: usize) -> Bordered {
    // Short periods touch themselves: all of it is border.
    Bordered::new(m, half, if m > 2 * half { half } else { m })
}

/// The column of the j-th function at the k-th key.
pub(super) fn periodic_column(k: usize, j: usize, m: usize, half: usize) -> usize {
    (k + j + m - half % m) % m
}
