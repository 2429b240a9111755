//! The curve of a joint, by its kind: plain coordinates, rotations, or both.

use forks_dynamics::mechanism::{
    JointKind,
    lie::{
        glam::{DQuat, DVec3},
        so3::{quaternion_from_wxyz, wxyz_from_quaternion},
    },
};

use super::{
    bspline::End,
    error::SplineError,
    path::{EndRule, Ends, Method, Path},
    rotation::{RotationEnd, RotationSpline},
};

/// Keys of one joint.
#[derive(Clone, Debug, PartialEq)]
pub struct JointKeys {
    /// The joint's name.
    pub joint: String,
    /// How the curve follows its keys.
    pub method: Method,
    /// Degree of splines, 3 or 5.
    pub degree: usize,
    /// Times of the keys, s, increasing.
    pub times: Vec<f64>,
    /// Positions of the joint at each time, as many numbers as its kind has; rotations as
    /// quaternions w, x, y, z of any length.
    pub keys: Vec<Vec<f64>>,
    /// How the curve begins and ends.
    pub ends: Ends,
}

impl JointKeys {
    /// A curve of degree 3 through keys, at rest at both ends.
    pub fn new(joint: impl Into<String>, times: Vec<f64>, keys: Vec<Vec<f64>>) -> Self {
        let (method, ends) = (Method::default(), Ends::default());
        Self { joint: joint.into(), method, degree: 3, times, keys, ends }
    }
}

/// A joint in motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointState {
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Accelerations.
    pub a: Vec<f64>,
}

/// The curve of a joint.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JointCurve {
    /// Coordinates whose rates are the velocities.
    Plain(Path),
    /// x, y and angle; velocities are those of the body.
    Planar(Path),
    Spherical(RotationSpline),
    Free(Path, RotationSpline),
}

impl JointCurve {
    /// The curve of keys of a joint of a kind.
    pub(super) fn new(kind: &JointKind, keys: &JointKeys) -> Result<Self, SplineError> {
        let expected = kind.position_count();
        if let Some(key) = keys.keys.iter().position(|k| k.len() != expected) {
            return Err(SplineError::Channels { key, found: keys.keys[key].len(), expected });
        }
        let path = |from: usize, to: usize, ends: &Ends| {
            let part: Vec<Vec<f64>> = keys.keys.iter().map(|k| k[from..to].to_vec()).collect();
            Path::new(keys.method, keys.degree, &keys.times, &part, ends)
        };
        match kind {
            JointKind::Spherical => rotation(keys, 0, 0).map(Self::Spherical),
            JointKind::Free => {
                let ends = match &keys.ends {
                    Ends::Periodic => Ends::Periodic,
                    Ends::Each(rules) => {
                        check_length(rules, 6)?;
                        Ends::Each([part(&rules[0], 0..3), part(&rules[1], 0..3)])
                    }
                };
                Ok(Self::Free(path(0, 3, &ends)?, rotation(keys, 3, 3)?))
            }
            JointKind::Planar => path(0, 3, &keys.ends).map(Self::Planar),
            _ => path(0, expected, &keys.ends).map(Self::Plain),
        }
    }

    /// The curve of plain coordinates, if there is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Plain(p) | Self::Planar(p) | Self::Free(p, _) => Some(p),
            Self::Spherical(_) => None,
        }
    }

    /// The joint's positions at a time of the keys.
    pub(super) fn positions(&self, t: f64, q: &mut [f64]) {
        let turned = |r: &RotationSpline| wxyz_from_quaternion(r.evaluate(t).rotation);
        match self {
            Self::Plain(p) | Self::Planar(p) => p.evaluate(t, 0, q),
            Self::Spherical(r) => q.copy_from_slice(&turned(r)),
            Self::Free(p, r) => {
                p.evaluate(t, 0, &mut q[..3]);
                q[3..].copy_from_slice(&turned(r));
            }
        }
    }

    /// What [`End`] takes as rates where the joint has positions `q` and velocities `v`.
    pub(super) fn curve_rates(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        match self {
            Self::Plain(_) | Self::Spherical(_) => v.to_vec(),
            Self::Planar(_) => {
                let x = DQuat::from_rotation_z(q[2]) * DVec3::new(v[0], v[1], 0.0);
                vec![x.x, x.y, v[2]]
            }
            Self::Free(..) => {
                let turn = quaternion_from_wxyz([q[3], q[4], q[5], q[6]]).normalize();
                let x = turn * DVec3::from_slice(v);
                [x.to_array(), [v[3], v[4], v[5]]].concat()
            }
        }
    }

    /// Positions, velocities and accelerations at a time of the keys.
    pub(super) fn state(&self, t: f64) -> JointState {
        let all = |p: &Path| {
            [0, 1, 2].map(|d| {
                let mut x = vec![0.0; p.channels()];
                p.evaluate(t, d, &mut x);
                x
            })
        };
        match self {
            Self::Plain(p) => {
                let [q, v, a] = all(p);
                JointState { q, v, a }
            }
            Self::Planar(p) => {
                let [q, v, a] = all(p);
                let turn = DQuat::from_rotation_z(q[2]);
                let flat = |x: &[f64]| DVec3::new(x[0], x[1], 0.0);
                let (linear, rate) = body_rates(turn, DVec3::Z * v[2], flat(&v), flat(&a));
                JointState { q, v: vec![linear.x, linear.y, v[2]], a: vec![rate.x, rate.y, a[2]] }
            }
            Self::Spherical(r) => {
                let s = r.evaluate(t);
                JointState {
                    q: wxyz_from_quaternion(s.rotation).to_vec(),
                    v: s.velocity.to_array().to_vec(),
                    a: s.acceleration.to_array().to_vec(),
                }
            }
            Self::Free(p, r) => {
                let ([q, v, a], s) = (all(p), r.evaluate(t));
                let (v, a) = body_rates(
                    s.rotation,
                    s.velocity,
                    DVec3::from_slice(&v),
                    DVec3::from_slice(&a),
                );
                JointState {
                    q: [&q[..], &wxyz_from_quaternion(s.rotation)].concat(),
                    v: [v.to_array(), s.velocity.to_array()].concat(),
                    a: [a.to_array(), s.acceleration.to_array()].concat(),
                }
            }
        }
    }
}

/// Rates of an origin in the turned frame: v = Rᵀẋ, v̇ = Rᵀẍ − ω × v.
fn body_rates(turn: DQuat, omega: DVec3, v: DVec3, a: DVec3) -> (DVec3, DVec3) {
    let v = turn.inverse() * v;
    (v, turn.inverse() * a - omega.cross(v))
}

/// The curve of quaternions that begin at a position; its rates begin at `rate`.
fn rotation(keys: &JointKeys, at: usize, rate: usize) -> Result<RotationSpline, SplineError> {
    let turns: Vec<DQuat> = keys
        .keys
        .iter()
        .map(|k| quaternion_from_wxyz([k[at], k[at + 1], k[at + 2], k[at + 3]]))
        .collect();
    let rules = match (keys.method, &keys.ends) {
        (Method::Monotone, _) => {
            return Err(SplineError::NoRoom { curve: "a curve of rotations", what: "monotony" });
        }
        (Method::Interpolate, Ends::Periodic) => {
            return RotationSpline::periodic(keys.degree, &keys.times, &turns);
        }
        (Method::Approximate, Ends::Periodic) => {
            return Err(SplineError::NoRoom { curve: "an approximation", what: "repetition" });
        }
        (Method::Approximate, Ends::Each(rules)) => {
            if rules.iter().any(|r| matches!(r, EndRule::Rates(_))) {
                return Err(SplineError::NoRoom { curve: "an approximation", what: "rate" });
            }
            return RotationSpline::approximating(keys.degree, &keys.times, &turns);
        }
        (Method::Interpolate, Ends::Each(rules)) => rules,
    };
    check_length(rules, rate + 3)?;
    let end = |rule: &EndRule| match rule {
        EndRule::Rest => Ok(RotationEnd::default()),
        EndRule::Natural => {
            Err(SplineError::NoRoom { curve: "a curve of rotations", what: "natural condition" })
        }
        EndRule::Rates(e) => {
            let get = |x: &Vec<f64>| DVec3::new(x[rate], x[rate + 1], x[rate + 2]);
            let velocity = e.velocity.as_ref().map(get).unwrap_or_default();
            Ok(RotationEnd { velocity, acceleration: e.acceleration.as_ref().map(get) })
        }
    };
    let [start, end] = [end(&rules[0])?, end(&rules[1])?];
    RotationSpline::interpolating(keys.degree, &keys.times, &turns, [&start, &end])
}

/// Rates at ends have a length.
fn check_length(rules: &[EndRule; 2], expected: usize) -> Result<(), SplineError> {
    for rule in rules {
        let EndRule::Rates(end) = rule else { continue };
        for (what, given) in [("velocity", &end.velocity), ("acceleration", &end.acceleration)] {
            if let Some(x) = given.as_ref().filter(|x| x.len() != expected) {
                return Err(SplineError::EndChannels { what, found: x.len(), expected });
            }
        }
    }
    Ok(())
}

/// Some of the rates of a rule.
fn part(rule: &EndRule, range: core::ops::Range<usize>) -> EndRule {
    let cut = |x: &Option<Vec<f64>>| x.as_ref().map(|x| x[range.clone()].to_vec());
    match rule {
        EndRule::Rates(e) => {
            EndRule::Rates(End { velocity: cut(&e.velocity), acceleration: cut(&e.acceleration) })
        }
        other => other.clone(),
    }
}
