//! The curves of several joints, on one clock.

use forks_dynamics::mechanism::{JointId, Mechanism};

use super::{
    bspline::End,
    error::SplineError,
    extremes::{Extremes, extremes},
    joint_curve::{JointCurve, JointKeys, JointState},
    path::{EndRule, Ends},
    warp::Warp,
};

/// Why there is no motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyframeError {
    /// A joint that is not there.
    #[error("keys of joint {joint}: {mechanism} has none of this name{hint}")]
    UnknownJoint {
        /// The name that was given.
        joint: String,
        /// The mechanism.
        mechanism: String,
        /// What is there, as the end of the sentence.
        hint: String,
    },
    /// Two curves of a joint.
    #[error("joint {joint} has keys twice")]
    Twice {
        /// Its name.
        joint: String,
    },
    /// A joint without coordinates, or one that closes a loop and follows from the others.
    #[error("joint {joint} {reason}: it takes no keys")]
    NoKeys {
        /// Its name.
        joint: String,
        /// Why.
        reason: &'static str,
    },
    /// Keys that are no curve.
    #[error("keys of joint {joint}: {error}")]
    Curve {
        /// Its name.
        joint: String,
        /// What is wrong.
        error: SplineError,
    },
    /// A key beyond a limit of its joint.
    #[error(
        "keys of joint {joint}: key {key} at {time} s asks coordinate {coordinate} for {value}; \
         its limits are {lower} and {upper}"
    )]
    Outside {
        /// Its name.
        joint: String,
        /// Which key, from zero.
        key: usize,
        /// Its time, s.
        time: f64,
        /// Which of the joint's coordinates, from zero.
        coordinate: usize,
        /// What the key asks for.
        value: f64,
        /// Lower limit.
        lower: f64,
        /// Upper limit.
        upper: f64,
    },
    /// No keys at all.
    #[error("there are no keys")]
    Empty,
    /// A curve that repeats cannot begin elsewhere.
    #[error("the curve of joint {joint} repeats: it cannot begin at another state")]
    Repeats {
        /// Its name.
        joint: String,
    },
}

/// Where a curve leaves the limits of its joint between keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Excess {
    /// The joint's name.
    pub joint: String,
    /// Which of its coordinates, from zero.
    pub coordinate: usize,
    /// Played time of the curve's extreme there, s.
    pub time: f64,
    /// The extreme.
    pub value: f64,
    /// The limit that it is beyond.
    pub limit: f64,
}

/// Curves of joints over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    curves: Vec<(JointId, JointCurve)>,
    keys: Vec<JointKeys>,
    warp: Option<Warp>,
    start: f64,
    end: f64,
}

impl Motion {
    /// The curves of keys of a mechanism's tree joints.
    ///
    /// # Errors
    /// Joints that are not there, named twice or without coordinates of their own; keys that are no
    /// curve; keys outside limits.
    pub fn new(
        m: &Mechanism,
        keys: &[JointKeys],
        warp: Option<Warp>,
    ) -> Result<Self, KeyframeError> {
        let mut curves: Vec<(JointId, JointCurve)> = Vec::with_capacity(keys.len());
        for k in keys {
            let joint = || k.joint.clone();
            let id = m.find_joint(&k.joint).ok_or_else(|| KeyframeError::UnknownJoint {
                joint: joint(),
                mechanism: m.name().to_string(),
                hint: hint(m),
            })?;
            if curves.iter().any(|(other, _)| *other == id) {
                return Err(KeyframeError::Twice { joint: joint() });
            }
            let none = |reason| Err(KeyframeError::NoKeys { joint: joint(), reason });
            if m.joint(id).dof() == 0 {
                return none("does not move");
            }
            if m.velocity_range(id).start >= m.tree_velocity_count() {
                return none("closes a loop");
            }
            let curve = JointCurve::new(&m.joint(id).kind, k)
                .map_err(|error| KeyframeError::Curve { joint: joint(), error })?;
            check_limits(m, id, k)?;
            curves.push((id, curve));
        }
        let least = |a: f64, k: &JointKeys| a.min(k.times[0]);
        let most = |a: f64, k: &JointKeys| a.max(k.times[k.times.len() - 1]);
        if keys.is_empty() {
            return Err(KeyframeError::Empty);
        }
        let (mut start, mut end) =
            (keys.iter().fold(f64::INFINITY, least), keys.iter().fold(f64::NEG_INFINITY, most));
        if let Some(w) = &warp {
            (start, end) = (w.inverse(start), w.inverse(end));
        }
        Ok(Self { curves, keys: keys.to_vec(), warp, start, end })
    }

    /// The same motion from the state of a mechanism on: the first key of every joint becomes its
    /// position, the curve begins at its velocity (for degree 5 without acceleration).
    ///
    /// # Errors
    /// Curves that repeat, or that take no velocity at their start.
    ///
    /// # Panics
    /// If there are fewer positions or velocities than the joints have.
    pub fn started_from(&self, m: &Mechanism, q: &[f64], v: &[f64]) -> Result<Self, KeyframeError> {
        let mut keys = self.keys.clone();
        for (k, (id, curve)) in keys.iter_mut().zip(&self.curves) {
            let Ends::Each(rules) = &mut k.ends else {
                return Err(KeyframeError::Repeats { joint: k.joint.clone() });
            };
            let position = &q[m.position_range(*id)];
            k.keys[0] = position.to_vec();
            // The rate of the played time, not of the keys' time.
            let rate = self.warp.as_ref().map_or(1.0, |w| w.at(self.start).rate);
            let velocity = curve.curve_rates(position, &v[m.velocity_range(*id)]);
            let velocity = velocity.iter().map(|x| x / rate).collect();
            let acceleration = (k.degree == 5).then(|| vec![0.0; m.joint(*id).dof()]);
            let acceleration = acceleration.filter(|_| k.method == super::Method::Interpolate);
            rules[0] = EndRule::Rates(End { velocity: Some(velocity), acceleration });
        }
        Self::new(m, &keys, self.warp.clone())
    }

    /// The joints that have a curve, in the order of their keys.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.curves.iter().map(|(id, _)| *id)
    }

    /// The keys.
    pub fn keys(&self) -> &[JointKeys] {
        &self.keys
    }

    /// Played times of the first and the last key, s.
    pub fn range(&self) -> (f64, f64) {
        (self.start, self.end)
    }

    /// Writes the positions of its joints at a played time over those of the mechanism.
    ///
    /// # Panics
    /// If there are fewer positions than the mechanism's.
    pub fn positions(&self, m: &Mechanism, t: f64, q: &mut [f64]) {
        let t = self.warp.as_ref().map_or(t, |w| w.at(t).time);
        for (id, curve) in &self.curves {
            curve.positions(t, &mut q[m.position_range(*id)]);
        }
    }

    /// Positions, velocities and accelerations of each of its joints at a played time.
    pub fn state(&self, t: f64) -> Vec<JointState> {
        let warped = self.warp.as_ref().map(|w| w.at(t));
        let mut out: Vec<JointState> =
            self.curves.iter().map(|(_, c)| c.state(warped.map_or(t, |w| w.time))).collect();
        if let Some(w) = warped {
            for s in &mut out {
                for (a, v) in s.a.iter_mut().zip(&mut s.v) {
                    *a = *a * w.rate * w.rate + *v * w.acceleration;
                    *v *= w.rate;
                }
            }
        }
        out
    }

    /// Least and greatest values of a plain coordinate of a joint (x, y, z of a free one), or of
    /// its rate (derivative 1) or acceleration (2), over the time of the keys. `None` for rotations
    /// and coordinates that are not there.
    pub fn extremes(
        &self,
        joint: JointId,
        coordinate: usize,
        derivative: usize,
    ) -> Option<Extremes> {
        let (_, curve) = self.curves.iter().find(|(id, _)| *id == joint)?;
        let path = curve.path().filter(|p| coordinate < p.channels())?;
        let degree = path.degree().checked_sub(derivative)?;
        let mut out = vec![0.0; path.channels()];
        Some(extremes(&path.breaks(), degree, |t, d| {
            path.evaluate(t, derivative + d, &mut out);
            out[coordinate]
        }))
    }

    /// Where curves leave limits of positions between keys: keys are within them, a curve through
    /// them may go beyond.
    pub fn excesses(&self, m: &Mechanism) -> Vec<Excess> {
        let mut out = Vec::new();
        for ((id, curve), keys) in self.curves.iter().zip(&self.keys) {
            let Some(path) = curve.path() else { continue };
            for coordinate in 0..path.channels() {
                let Some(limit) = m.joint(*id).limits[coordinate] else { continue };
                let Some(e) = self.extremes(*id, coordinate, 0) else { continue };
                let slack = 1e-12 * (e.upper.abs() + e.lower.abs());
                let mut push = |time: f64, value, limit| {
                    let time = self.warp.as_ref().map_or(time, |w| w.inverse(time));
                    out.push(Excess { joint: keys.joint.clone(), coordinate, time, value, limit });
                };
                if e.upper > limit.upper + slack {
                    push(e.upper_at, e.upper, limit.upper);
                }
                if e.lower < limit.lower - slack {
                    push(e.lower_at, e.lower, limit.lower);
                }
            }
        }
        out
    }
}

/// Every key within the limits of its joint.
fn check_limits(m: &Mechanism, id: JointId, k: &JointKeys) -> Result<(), KeyframeError> {
    for (coordinate, limit) in m.joint(id).limits.iter().enumerate() {
        let Some(limit) = limit else { continue };
        for (key, values) in k.keys.iter().enumerate() {
            let (lower, upper, value) = (limit.lower, limit.upper, values[coordinate]);
            let slack = 1e-12 * (1.0 + value.abs());
            if value > upper + slack || value < lower - slack {
                let (joint, time) = (k.joint.clone(), k.times[key]);
                return Err(KeyframeError::Outside {
                    joint,
                    key,
                    time,
                    coordinate,
                    value,
                    lower,
                    upper,
                });
            }
        }
    }
    Ok(())
}

/// The joints that take keys, as the end of a sentence.
fn hint(m: &Mechanism) -> String {
    let movable = |j: &&forks_dynamics::mechanism::Joint| j.dof() > 0 && !j.name.is_empty();
    let names: Vec<&str> = m.joints().iter().filter(movable).map(|j| j.name.as_str()).collect();
    match names.len() {
        0 => "; no joint of it has a name".to_string(),
        1..=12 => format!("; there are {}", names.join(", ")),
        n => format!("; there are {} and {} more", names[..10].join(", "), n - 10),
    }
}
