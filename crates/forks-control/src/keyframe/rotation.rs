//! Cumulative B-splines of rotations, R(t) = R₀ Π exp(B̃_j(t) Ω_j), Ω_j = log(R_{j−1}⁻¹ R_j).
//!
//! Control rotations that pass the keys are found by Newton's method. Rates follow the recursion of
//! Sommer, Usenko, Schubert, Demmel and Cremers, "Efficient derivative computation for cumulative
//! B-splines on Lie groups", CVPR 2020.

use forks_dynamics::mechanism::{
    lie::{
        glam::{DMat3, DQuat, DVec3},
        so3::{exp_rotation, log_rotation, rotation_right_jacobian},
    },
    linalg::Matrix,
};

use super::{
    bordered::Bordered,
    bspline::{BSpline, End, check_degree, periodic_system},
    error::SplineError,
    knots::Knots,
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
    /// Ω from each control to the next one, also beyond half a turn.
    steps: Vec<DVec3>,
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
        let whole = Self::attempt(degree, times, &keys, ends, None);
        if !matches!(whole, Err(SplineError::Rotations { .. })) {
            return whole;
        }
        // Wide turns: from small ones of the same directions on, in as many stages as it takes.
        let (mut known, mut at, mut stage) = (None::<Self>, 0.0, 0.5);
        while at < 1.0 {
            let part = f64::min(at + stage, 1.0);
            let mut turned = vec![keys[0]];
            for k in 1..keys.len() {
                let turn = log_rotation(keys[k - 1].inverse() * keys[k]) * part;
                turned.push((turned[k - 1] * exp_rotation(turn)).normalize());
            }
            if part == 1.0 {
                turned.clone_from(&keys);
            }
            let slow = ends.map(|e| RotationEnd {
                velocity: e.velocity * part,
                acceleration: e.acceleration.map(|a| a * part),
            });
            match Self::attempt(degree, times, &turned, [&slow[0], &slow[1]], known.as_ref()) {
                Ok(found) => (known, at, stage) = (Some(found), part, 1.5 * stage),
                Err(error) if stage < 1e-3 => return Err(error),
                Err(_) => stage *= 0.5,
            }
        }
        known.ok_or(SplineError::Open)
    }

    /// Newton's method from a curve of nearby keys, or from a guess.
    fn attempt(
        degree: usize,
        times: &[f64],
        keys: &[DQuat],
        ends: [&RotationEnd; 2],
        near: Option<&Self>,
    ) -> Result<Self, SplineError> {
        let knots = Knots::interpolating(times, degree);
        let n = keys.len();
        let (mut controls, ways) = match near {
            Some(near) => (near.controls.clone(), near.steps[..near.steps.len() - 1].to_vec()),
            None => developed(degree, times, keys, ends)?,
        };
        let count = controls.len();
        // At an end only its own functions count, so that its rates give the next controls.
        let (start, s) = (times[0], knots.span(times[0]));
        let (d1, d2) = (knots.cumulative(s, start, 1), knots.cumulative(s, start, 2));
        let first = ends[0].velocity / d1[1];
        controls[0] = keys[0];
        controls[1] = keys[0] * exp_rotation(first);
        let mut second = DVec3::ZERO;
        if degree == 5 {
            let a = ends[0].acceleration.unwrap_or_default();
            second = (a - first * d2[1]) / d2[2];
            controls[2] = controls[1] * exp_rotation(second);
        }
        let (end, s) = (times[n - 1], knots.span(times[n - 1]));
        let (d1, d2) = (knots.cumulative(s, end, 1), knots.cumulative(s, end, 2));
        let last = ends[1].velocity / d1[degree];
        controls[count - 1] = keys[n - 1];
        controls[count - 2] = keys[n - 1] * exp_rotation(-last);
        let mut before = DVec3::ZERO;
        if degree == 5 {
            let a = ends[1].acceleration.unwrap_or_default() - last * d2[degree];
            before = exp_rotation(last) * a / d2[degree - 1];
            controls[count - 3] = controls[count - 2] * exp_rotation(-before);
        }
        let mut out = Self::of(knots, controls);
        for (i, way) in ways.iter().enumerate() {
            out.steps[i] = nearest_log(out.controls[i].inverse() * out.controls[i + 1], *way);
        }
        out.steps[0] = first;
        out.steps[count - 2] = last;
        if degree == 5 {
            out.steps[1] = second;
            out.steps[count - 3] = before;
        }
        if n > 2 {
            let half = (degree - 1) / 2;
            let layout = Layout { first: half, keys: n - 2, half, cyclic: false };
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
        let controls = guess(&knots, times, &keys);
        let mut out = Self::of(knots, controls);
        let layout = Layout { first: 0, keys: m, half: (degree - 1) / 2, cyclic: true };
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
        Ok(Self::of(Knots::approximating(times, degree), controls))
    }

    /// The short way from control to control.
    fn of(knots: Knots, controls: Vec<DQuat>) -> Self {
        let n = controls.len();
        let step = |i: usize| log_rotation(controls[i].inverse() * controls[(i + 1) % n]);
        let steps = (0..n).map(step).collect();
        Self { knots, controls, steps, iterations: 0 }
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
        self.steps[self.knots.control(span, j - 1)]
    }

    /// Moves unknown ways and turns unknown controls, in their own frames.
    fn moved(&self, layout: &Layout, delta: &Matrix, length: f64) -> Self {
        let mut out = self.clone();
        let get =
            |at: usize| DVec3::new(delta[(at, 0)], delta[(at + 1, 0)], delta[(at + 2, 0)]) * length;
        for i in 0..out.steps.len() {
            if let Some(at) = layout.step(i) {
                out.steps[i] += get(at);
            }
            if let Some(at) = layout.control(i) {
                out.controls[i] = (out.controls[i] * exp_rotation(get(at))).normalize();
            }
        }
        out
    }

    /// What the way from a control to the next one misses.
    fn mismatch(&self, i: usize) -> DVec3 {
        let next = (i + 1) % self.controls.len();
        let way = self.controls[i].inverse() * self.controls[next];
        log_rotation(exp_rotation(-self.steps[i]) * way)
    }

    /// Moves ways and controls until the curve passes the keys and ways lead from control to
    /// control. Both are unknowns, because the logarithm of a full turn has no derivative.
    fn newton(
        &mut self,
        times: &[f64],
        keys: &[DQuat],
        first_key: usize,
        layout: &Layout,
    ) -> Result<(), SplineError> {
        let open = |s: &Self| -> (Vec<DVec3>, Vec<DVec3>) {
            let gap = |(t, k): (&f64, &DQuat)| log_rotation(s.evaluate(*t).rotation.inverse() * *k);
            let ways = (0..s.steps.len()).filter(|i| layout.step(*i).is_some());
            (times.iter().zip(keys).map(gap).collect(), ways.map(|i| s.mismatch(i)).collect())
        };
        let squares = |(gaps, ways): &(Vec<DVec3>, Vec<DVec3>)| {
            gaps.iter().chain(ways).map(|g| g.length_squared()).sum::<f64>()
        };
        let mut now = open(self);
        let small = |now: &(Vec<DVec3>, Vec<DVec3>)| {
            now.0.iter().chain(&now.1).all(|g| g.length() <= 8.0 * f64::EPSILON)
        };
        while !small(&now) && self.iterations < 50 {
            let delta = self.newton_step(times, &now, layout).ok_or(SplineError::Open)?;
            // Halved where a whole step leads further away.
            let mut length = 1.0;
            let better = loop {
                let next = self.moved(layout, &delta, length);
                let then = open(&next);
                if squares(&then) < squares(&now) {
                    break Some((next, then));
                }
                length *= 0.5;
                if length < 1e-4 {
                    break None;
                }
            };
            let Some((next, then)) = better else { break };
            (self.controls, self.steps) = (next.controls, next.steps);
            self.iterations += 1;
            // Where only rounding is left, steps no longer help by much.
            let rounding = squares(&then) > 0.1 * squares(&now) && squares(&then) < 1e-26;
            now = then;
            if rounding {
                break;
            }
        }
        // What rounding leaves is far below.
        let largest = |gaps: &[DVec3]| {
            gaps.iter()
                .map(|g| g.length())
                .enumerate()
                .fold((0, 0.0), |a, (k, x)| if x > a.1 || x.is_nan() { (k, x) } else { a })
        };
        let (key, gap) = largest(&now.0);
        let gap = gap + largest(&now.1).1;
        if gap < 1e-13 {
            Ok(())
        } else {
            Err(SplineError::Rotations { key: first_key + key, open: gap })
        }
    }

    /// One step of Newton's method: J_r(Ω) δΩ + exp(−Ω) δ_i − δ_{i+1} is what the way misses, and
    /// what controls and ways do to the curve at a key is what it misses of the key.
    fn newton_step(
        &self,
        times: &[f64],
        open: &(Vec<DVec3>, Vec<DVec3>),
        layout: &Layout,
    ) -> Option<Matrix> {
        let (p, n) = (self.knots.degree(), self.controls.len());
        let mut system = layout.system();
        let mut right = Matrix::zeros(layout.size(), 1);
        let mut add = |row: usize, column: Option<usize>, m: DMat3| {
            let Some(column) = column else { return };
            for (c, by) in m.to_cols_array_2d().iter().enumerate() {
                for (r, x) in by.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    system.add(row + r, column + c, *x);
                }
            }
        };
        let mut ways = open.1.iter();
        for i in 0..self.steps.len() {
            let Some(row) = layout.step(i) else { continue };
            let d = self.steps[i];
            add(row, Some(row), rotation_right_jacobian(d));
            add(row, layout.control(i), DMat3::from_quat(exp_rotation(-d)));
            add(row, layout.control((i + 1) % n), -DMat3::IDENTITY);
            let missing = ways.next()?;
            (0..3).for_each(|r| right[(row + r, 0)] = missing[r]);
        }
        for (k, t) in times.iter().enumerate() {
            let (row, span) = (layout.key(k), self.knots.span(*t));
            let b = self.knots.cumulative(span, *t, 0);
            // From the last factor to the first: what turns after it carry it to.
            let mut after = DMat3::IDENTITY;
            for j in (1..=p).rev() {
                let i = self.knots.control(span, j - 1);
                let d = self.steps[i];
                add(row, layout.step(i), after * rotation_right_jacobian(d * b[j]) * b[j]);
                after *= DMat3::from_quat(exp_rotation(d * -b[j]));
            }
            add(row, layout.control(self.knots.control(span, 0)), after);
            (0..3).for_each(|r| right[(row + r, 0)] = open.0[k][r]);
        }
        system.solve(&right)
    }
}

/// The logarithm of a rotation that is nearest to another vector, full turns added.
fn nearest_log(rotation: DQuat, to: DVec3) -> DVec3 {
    let log = log_rotation(rotation);
    let axis = log.try_normalize().or(to.try_normalize()).unwrap_or(DVec3::X);
    let turn = 2.0 * core::f64::consts::PI;
    log + axis * (turn * ((to - log).dot(axis) / turn).round())
}

/// Where unknown ways and controls stand in the system: way, control, way, …
struct Layout {
    /// First unknown way; the control after it is the first unknown one.
    first: usize,
    keys: usize,
    half: usize,
    cyclic: bool,
}

impl Layout {
    /// Number of unknowns.
    fn size(&self) -> usize {
        if self.cyclic { 6 * self.keys } else { 6 * self.keys + 3 }
    }

    fn system(&self) -> Bordered {
        let (n, width) = (self.size(), 6 * self.half + 8);
        if self.cyclic { periodic_system(n, width) } else { Bordered::new(n, width, 0) }
    }

    /// The first of three unknowns, and equations, of a way.
    fn step(&self, i: usize) -> Option<usize> {
        match self.cyclic {
            true => Some(6 * i),
            false => i.checked_sub(self.first).filter(|i| *i <= self.keys).map(|i| 6 * i),
        }
    }

    /// The first of three unknowns of a control.
    fn control(&self, i: usize) -> Option<usize> {
        match self.cyclic {
            true => Some(6 * i + 3),
            false => i.checked_sub(self.first + 1).filter(|i| *i < self.keys).map(|i| 6 * i + 3),
        }
    }

    /// The first of three equations of a key.
    fn key(&self, k: usize) -> usize {
        6 * if self.cyclic { (k + self.half) % self.keys } else { k } + 3
    }
}

/// Controls to start from, and the ways between them: the turns from key to key one after the other
/// are points of a plain spline, exact where all turns have one axis.
fn developed(
    degree: usize,
    times: &[f64],
    keys: &[DQuat],
    ends: [&RotationEnd; 2],
) -> Result<(Vec<DQuat>, Vec<DVec3>), SplineError> {
    let n = keys.len();
    let mut points = vec![DVec3::ZERO];
    for k in 1..n {
        let turn = keys[k] * log_rotation(keys[k - 1].inverse() * keys[k]);
        points.push(points[k - 1] + turn);
    }
    let end = |e: &RotationEnd, key: DQuat| End {
        velocity: Some((key * e.velocity).to_array().to_vec()),
        acceleration: (degree == 5)
            .then(|| (key * e.acceleration.unwrap_or_default()).to_array().to_vec()),
    };
    let plain: Vec<Vec<f64>> = points.iter().map(|p| p.to_array().to_vec()).collect();
    let ends = [&end(ends[0], keys[0]), &end(ends[1], keys[n - 1])];
    let spline = BSpline::interpolating(degree, times, &plain, ends)?;
    let near = |i: usize| i.saturating_sub((degree - 1) / 2).min(n - 1);
    let point = |i: usize| DVec3::from_slice(spline.control(i));
    let count = n + degree - 1;
    let control = |i: usize| {
        let k = near(i);
        keys[k] * exp_rotation(keys[k].inverse() * (point(i) - points[k]))
    };
    let way = |i: usize| keys[near(i)].inverse() * (point(i + 1) - point(i));
    Ok(((0..count).map(control).collect(), (0..count - 1).map(way).collect()))
}

/// Controls to start from: the keys, blended where functions have their centres.
fn guess(knots: &Knots, times: &[f64], keys: &[DQuat]) -> Vec<DQuat> {
    let (first, last) = (times[0], times[times.len() - 1]);
    (0..knots.controls())
        .map(|c| {
            let t = first + (knots.centre(c) - first).rem_euclid(last - first);
            let k = times.partition_point(|x| *x <= t).clamp(1, times.len() - 1) - 1;
            let s = ((t - times[k]) / (times[k + 1] - times[k])).clamp(0.0, 1.0);
            let between = log_rotation(keys[k].inverse() * keys[k + 1]);
            keys[k] * exp_rotation(between * s)
        })
        .collect()
}
