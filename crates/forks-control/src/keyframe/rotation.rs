//! Cumulative B-splines of rotations, R(t) = R₀ Π exp(B̃_j(t) Ω_j), Ω_j = log(R_{j−1}⁻¹ R_j).
//!
//! Control rotations that pass the keys are found by Newton's method. Rates follow the recursion of
//! Sommer, Usenko, Schubert, Demmel and Cremers, "Efficient derivative computation for cumulative
//! B-splines on Lie groups", CVPR 2020.

use forks_dynamics::mechanism::{
    lie::{
        glam::{DMat3, DQuat, DVec3},
        so3::{
            exp_rotation, log_rotation, rotation_left_jacobian_inverse, rotation_right_jacobian,
            rotation_right_jacobian_inverse,
        },
    },
    linalg::Matrix,
};

use super::{
    bordered::Bordered,
    bspline::{check_degree, periodic_column, periodic_system},
    error::SplineError,
    knots::{Knots, TOP},
};

/// A rotation in motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationState {
    /// From the turned frame to the one that rests; of length one.
    pub rotation: DQuat,
    /// Angular velocity in the turned frame, rad/s.
    pub velocity: DVec3,
    /// Its rate, rad/s².
    pub acceleration: DVec3,
}

/// What a curve of rotations does at an end, in the turned frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RotationEnd {
    /// Angular velocity, rad/s.
    pub velocity: DVec3,
    /// Angular acceleration, rad/s²; curves of degree 3 have no room for it.
    pub acceleration: Option<DVec3>,
}

/// A curve of rotations with degree − 1 derivatives that have no jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct RotationSpline {
    knots: Knots,
    controls: Vec<DQuat>,
    iterations: usize,
}

/// Keys of length one whose ways to each other are unique.
fn check_keys(times: &[f64], keys: &[DQuat], least: usize) -> Result<Vec<DQuat>, SplineError> {
    let plain: Vec<Vec<f64>> = keys.iter().map(|q| q.to_array().to_vec()).collect();
    super::bspline::check(times, &plain, least)?;
    let mut out: Vec<DQuat> = Vec::with_capacity(keys.len());
    for (key, q) in keys.iter().enumerate() {
        let length = q.length();
        if !(length > 1e-6 && length.is_finite()) {
            return Err(SplineError::Quaternion { key, length });
        }
        let q = q.normalize();
        if let Some(before) = out.last() {
            let angle = log_rotation(before.inverse() * q).length();
            if angle > core::f64::consts::PI - 1e-6 {
                return Err(SplineError::Opposite { key, angle });
            }
        }
        out.push(q);
    }
    Ok(out)
}

impl RotationSpline {
    /// Passes every key at its time, the short way from key to key.
    ///
    /// # Errors
    /// Another degree than 3 or 5, keys out of order or not finite, fewer than two, half turns
    /// between keys, an acceleration at an end of degree 3, controls that are not found.
    pub fn interpolating(
        degree: usize,
        times: &[f64],
        keys: &[DQuat],
        ends: [&RotationEnd; 2],
    ) -> Result<Self, SplineError> {
        check_degree(degree)?;
        let keys = check_keys(times, keys, 2)?;
        for end in ends {
            if degree == 3 && end.acceleration.is_some() {
                return Err(SplineError::TwoEnds);
            }
            let a = end.acceleration.unwrap_or_default();
            for (what, x) in [("velocity", end.velocity), ("acceleration", a)] {
                if let Some(value) = x.to_array().into_iter().find(|x| !x.is_finite()) {
                    return Err(SplineError::EndNotFinite { what, value });
                }
            }
        }
        let knots = Knots::interpolating(times, degree);
        let n = keys.len();
        let mut controls = guess(&knots, times, &keys, false);
        let count = controls.len();
        // At an end only its own functions count, so that its rates give the next controls.
        let (start, s) = (times[0], knots.span(times[0]));
        let (d1, d2) = (knots.cumulative(s, start, 1), knots.cumulative(s, start, 2));
        let first = ends[0].velocity / d1[1];
        controls[0] = keys[0];
        controls[1] = keys[0] * exp_rotation(first);
        if degree == 5 {
            let a = ends[0].acceleration.unwrap_or_default();
            controls[2] = controls[1] * exp_rotation((a - first * d2[1]) / d2[2]);
        }
        let (end, s) = (times[n - 1], knots.span(times[n - 1]));
        let (d1, d2) = (knots.cumulative(s, end, 1), knots.cumulative(s, end, 2));
        let last = ends[1].velocity / d1[degree];
        controls[count - 1] = keys[n - 1];
        controls[count - 2] = keys[n - 1] * exp_rotation(-last);
        if degree == 5 {
            let a = ends[1].acceleration.unwrap_or_default() - last * d2[degree];
            let before = exp_rotation(last) * a / d2[degree - 1];
            controls[count - 3] = controls[count - 2] * exp_rotation(-before);
        }
        let mut out = Self { knots, controls, iterations: 0 };
        if n > 2 {
            let fixed = degree.div_ceil(2);
            let layout = Layout { first: fixed, unknowns: n - 2, half: (degree - 1) / 2, cyclic: false };
            out.newton(&times[1..n - 1], &keys[1..n - 1], 1, &layout)?;
        }
        Ok(out)
    }

    /// Passes every key and repeats after the last one, which has to be the rotation of the first.
    ///
    /// # Errors
    /// As [`interpolating`](Self::interpolating); a last key that is not the first one.
    pub fn periodic(degree: usize, times: &[f64], keys: &[DQuat]) -> Result<Self, SplineError> {
        check_degree(degree)?;
        let keys = check_keys(times, keys, 2)?;
        let m = keys.len() - 1;
        if log_rotation(keys[0].inverse() * keys[m]).length() > 1e-12 {
            return Err(SplineError::NotClosed { first: keys[0].w, last: keys[m].w });
        }
        let knots = Knots::periodic(times, degree);
        let controls = guess(&knots, times, &keys, true);
        let mut out = Self { knots, controls, iterations: 0 };
        let layout = Layout { first: 0, unknowns: m, half: (degree - 1) / 2, cyclic: true };
        out.newton(&times[..m], &keys[..m], 0, &layout)?;
        Ok(out)
    }

    /// Begins and ends at the first and last key and follows the others as controls.
    ///
    /// # Errors
    /// Another degree than 3 or 5, keys out of order or not finite, fewer than degree + 1.
    pub fn approximating(
        degree: usize,
        times: &[f64],
        keys: &[DQuat],
    ) -> Result<Self, SplineError> {
        check_degree(degree)?;
        let controls = check_keys(times, keys, degree + 1)?;
        Ok(Self { knots: Knots::approximating(times, degree), controls, iterations: 0 })
    }

    /// First and last time, s.
    pub fn range(&self) -> (f64, f64) {
        self.knots.range()
    }

    /// Steps that Newton's method took.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Rotation and rates at a time. Before its first and after its last time a curve that does not
    /// repeat rests at its end.
    pub fn evaluate(&self, t: f64) -> RotationState {
        let (t, inside) = self.knots.wrap(t);
        let (p, s) = (self.knots.degree(), self.knots.span(t));
        let b: [_; 3] = core::array::from_fn(|d| self.knots.cumulative(s, t, d));
        let mut rotation = self.controls[self.knots.control(s, 0)];
        let (mut w, mut a) = (DVec3::ZERO, DVec3::ZERO);
        for j in 1..=p {
            let d = self.step(s, j);
            let back = exp_rotation(d * -b[0][j]);
            rotation *= exp_rotation(d * b[0][j]);
            w = back * w + d * b[1][j];
            a = back * a + w.cross(d) * b[1][j] + d * b[2][j];
        }
        if !inside {
            (w, a) = (DVec3::ZERO, DVec3::ZERO);
        }
        RotationState { rotation: rotation.normalize(), velocity: w, acceleration: a }
    }

    /// Ω_j of an interval.
    fn step(&self, span: usize, j: usize) -> DVec3 {
        let before = self.controls[self.knots.control(span, j - 1)];
        log_rotation(before.inverse() * self.controls[self.knots.control(span, j)])
    }

    /// What a turn of each control that counts (in its own frame) does to the rotation (in its own).
    fn sensitivity(&self, span: usize, t: f64) -> [DMat3; TOP + 1] {
        let p = self.knots.degree();
        let b = self.knots.cumulative(span, t, 0);
        let mut out = [DMat3::ZERO; TOP + 1];
        out[0] = DMat3::IDENTITY;
        for j in 1..=p {
            let d = self.step(span, j);
            let back = DMat3::from_quat(exp_rotation(d * -b[j]));
            out[..j].iter_mut().for_each(|m| *m = back * *m);
            let turn = rotation_right_jacobian(d * b[j]) * b[j];
            out[j] += turn * rotation_right_jacobian_inverse(d);
            out[j - 1] -= turn * rotation_left_jacobian_inverse(d);
        }
        out
    }

    /// Moves controls until the curve passes the keys.
    fn newton(
        &mut self,
        times: &[f64],
        keys: &[DQuat],
        first_key: usize,
        layout: &Layout,
    ) -> Result<(), SplineError> {
        let gaps = |s: &Self| -> Vec<DVec3> {
            let open = |(t, k): (&f64, &DQuat)| log_rotation(s.evaluate(*t).rotation.inverse() * *k);
            times.iter().zip(keys).map(open).collect()
        };
        let largest = |gaps: &[DVec3]| {
            gaps.iter().map(|g| g.length()).enumerate().fold((0, 0.0), |a, (k, x)| {
                if x > a.1 || x.is_nan() { (k, x) } else { a }
            })
        };
        let mut open = gaps(self);
        let mut worst = largest(&open);
        while worst.1 > 2.0 * f64::EPSILON && self.iterations < 30 {
            let delta = self.newton_step(times, &open, layout).ok_or(SplineError::Open)?;
            // Halved where a whole step leads further away.
            let mut length = 1.0;
            let better = loop {
                let mut next = self.clone();
                for (i, d) in delta.iter().enumerate() {
                    let control = layout.control(i);
                    next.controls[control] =
                        (next.controls[control] * exp_rotation(*d * length)).normalize();
                }
                let gaps = gaps(&next);
                let at = largest(&gaps);
                if at.1 < worst.1 {
                    break Some((next, gaps, at));
                }
                length *= 0.5;
                if length < 1e-3 {
                    break None;
                }
            };
            let Some((next, gaps, at)) = better else { break };
            self.controls = next.controls;
            self.iterations += 1;
            (open, worst) = (gaps, at);
        }
        // What rounding leaves is far below.
        if worst.1 < 1e-13 {
            Ok(())
        } else {
            Err(SplineError::Rotations { key: first_key + worst.0, open: worst.1 })
        }
    }

    fn newton_step(&self, times: &[f64], open: &[DVec3], layout: &Layout) -> Option<Vec<DVec3>> {
        let p = self.knots.degree();
        let mut system = layout.system();
        for (row, t) in times.iter().enumerate() {
            let span = self.knots.span(*t);
            for (j, m) in self.sensitivity(span, *t)[..=p].iter().enumerate() {
                let Some(column) = layout.column(self.knots.control(span, j), row, j) else {
                    continue;
                };
                for (c, by) in m.to_cols_array_2d().iter().enumerate() {
                    for (r, x) in by.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        system.add(3 * row + r, 3 * column + c, *x);
                    }
                }
            }
        }
        let right = Matrix::from_fn(3 * open.len(), 1, |i, _| open[i / 3][i % 3]);
        let x = system.solve(&right)?;
        let get = |i: usize| DVec3::new(x[(3 * i, 0)], x[(3 * i + 1, 0)], x[(3 * i + 2, 0)]);
        Some((0..layout.unknowns).map(get).collect())
    }
}

/// Which controls are unknown, and where they stand in the system.
struct Layout {
    first: usize,
    unknowns: usize,
    half: usize,
    cyclic: bool,
}

impl Layout {
    fn system(&self) -> Bordered {
        let (n, width) = (3 * self.unknowns, 3 * self.half + 2);
        if !self.cyclic {
            return Bordered::new(n, width, 0);
        }
        periodic_system(n, width)
    }

    /// The control of an unknown.
    fn control(&self, i: usize) -> usize {
        match self.cyclic {
            true => (i + self.half) % self.unknowns,
            false => self.first + i,
        }
    }

    /// The column of the j-th function at the row-th key, which has a control.
    fn column(&self, control: usize, row: usize, j: usize) -> Option<usize> {
        if self.cyclic {
            return Some(periodic_column(row, j, self.unknowns, self.half));
        }
        control.checked_sub(self.first).filter(|i| *i < self.unknowns)
    }
}

/// Controls to start from: the keys, blended where functions have their centres.
fn guess(knots: &Knots, times: &[f64], keys: &[DQuat], periodic: bool) -> Vec<DQuat> {
    let (first, last) = (times[0], times[times.len() - 1]);
    (0..knots.controls())
        .map(|c| {
            let mut t = knots.centre(c);
            if periodic {
                t = first + (t - first).rem_euclid(last - first);
            }
            let k = times.partition_point(|x| *x <= t).clamp(1, times.len() - 1) - 1;
            let s = ((t - times[k]) / (times[k + 1] - times[k])).clamp(0.0, 1.0);
            let between = log_rotation(keys[k].inverse() * keys[k + 1]);
            keys[k] * exp_rotation(between * s)
        })
        .collect()
}
