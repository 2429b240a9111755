//! Keyframes as a TOML file.

use forks_dynamics::mechanism::Mechanism;
use serde::Deserialize;

use super::{
    bspline::End,
    joint_curve::JointKeys,
    motion::{KeyframeError, Motion},
    path::{EndRule, Ends, Method},
    warp::{Warp, WarpError},
};

/// Why a file of keyframes is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// No TOML, or other names than the format has; with the line.
    #[error("{0}")]
    Syntax(String),
    /// A joint without times.
    #[error("keys of joint {joint}: there are no times, neither of the joint nor of all")]
    NoTimes {
        /// Its name.
        joint: String,
    },
    /// Ends that contradict each other.
    #[error("keys of joint {joint}: a curve that repeats has no start and end of its own")]
    Ends {
        /// Its name.
        joint: String,
    },
    /// A warp that is refused.
    #[error(transparent)]
    Warp(#[from] WarpError),
    /// A warp of two kinds, or of none.
    #[error("the warp takes amplitude and period, or played and keys")]
    WarpKind,
    /// Keys that are no motion of the mechanism.
    #[error(transparent)]
    Keys(#[from] KeyframeError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    method: Option<MethodName>,
    degree: Option<usize>,
    ends: Option<EndsName>,
    times: Option<Vec<f64>>,
    warp: Option<WarpTable>,
    #[serde(default)]
    joint: Vec<JointTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JointTable {
    name: String,
    method: Option<MethodName>,
    degree: Option<usize>,
    ends: Option<EndsName>,
    times: Option<Vec<f64>>,
    keys: Vec<Numbers>,
    start: Option<EndTable>,
    end: Option<EndTable>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MethodName {
    Interpolate,
    Monotone,
    Approximate,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum EndsName {
    Rest,
    Natural,
    Periodic,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, or a list of numbers")]
enum Numbers {
    One(f64),
    Many(Vec<f64>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndTable {
    velocity: Option<Numbers>,
    acceleration: Option<Numbers>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WarpTable {
    amplitude: Option<f64>,
    period: Option<f64>,
    played: Option<Vec<f64>>,
    keys: Option<Vec<f64>>,
}

impl Numbers {
    fn get(&self) -> Vec<f64> {
        match self {
            Self::One(x) => vec![*x],
            Self::Many(x) => x.clone(),
        }
    }
}

impl EndTable {
    fn rule(&self) -> EndRule {
        let get = |x: &Option<Numbers>| x.as_ref().map(Numbers::get);
        EndRule::Rates(End { velocity: get(&self.velocity), acceleration: get(&self.acceleration) })
    }
}

impl WarpTable {
    fn warp(&self) -> Result<Warp, FileError> {
        match (self.amplitude, self.period, &self.played, &self.keys) {
            (Some(a), Some(t), None, None) => Ok(Warp::sine(a, t)?),
            (None, None, Some(played), Some(keys)) => Ok(Warp::keys(played, keys)?),
            _ => Err(FileError::WarpKind),
        }
    }
}

impl JointTable {
    fn keys(&self, all: &File) -> Result<JointKeys, FileError> {
        let joint = self.name.clone();
        let no_times = || FileError::NoTimes { joint: joint.clone() };
        let times = self.times.as_ref().or(all.times.as_ref()).ok_or_else(no_times)?.clone();
        let ends = match self.ends.or(all.ends).unwrap_or(EndsName::Rest) {
            EndsName::Periodic if self.start.is_some() || self.end.is_some() => {
                return Err(FileError::Ends { joint });
            }
            EndsName::Periodic => Ends::Periodic,
            EndsName::Natural => Ends::Each([EndRule::Natural, EndRule::Natural]),
            EndsName::Rest => Ends::Each([EndRule::Rest, EndRule::Rest]),
        };
        let ends = match ends {
            Ends::Each([start, end]) => Ends::Each([
                self.start.as_ref().map_or(start, EndTable::rule),
                self.end.as_ref().map_or(end, EndTable::rule),
            ]),
            periodic => periodic,
        };
        let method = match self.method.or(all.method).unwrap_or(MethodName::Interpolate) {
            MethodName::Interpolate => Method::Interpolate,
            MethodName::Monotone => Method::Monotone,
            MethodName::Approximate => Method::Approximate,
        };
        let degree = self.degree.or(all.degree).unwrap_or(3);
        let keys = self.keys.iter().map(Numbers::get).collect();
        Ok(JointKeys { joint, method, degree, times, keys, ends })
    }
}

impl Motion {
    /// The motion that a TOML file describes.
    ///
    /// ```toml
    /// degree = 5                  # of all joints, as `method`, `ends` and `times`; 3 if left out
    /// ends = "rest"               # or "natural", "periodic"
    /// times = [0.0, 0.5, 1.0]     # s
    /// warp = { amplitude = 0.05, period = 1.0 }      # or { played = [..], keys = [..] }
    ///
    /// [[joint]]
    /// name = "knee"
    /// keys = [0.0, 0.6, 0.1]      # rad or m; lists of numbers for joints with several
    /// end = { velocity = 0.5, acceleration = 0.0 }
    ///
    /// [[joint]]
    /// name = "hip"
    /// method = "monotone"         # or "interpolate", "approximate"
    /// times = [0.0, 1.0]
    /// keys = [0.0, 0.3]
    /// ```
    ///
    /// # Errors
    /// A file that does not follow the format, with the line; keys that [`Motion::new`] refuses.
    pub fn from_toml(m: &Mechanism, text: &str) -> Result<Self, FileError> {
        let file: File = toml::from_str(text)
            .map_err(|e| FileError::Syntax(e.to_string().trim().to_string()))?;
        let keys = file.joint.iter().map(|j| j.keys(&file)).collect::<Result<Vec<_>, _>>()?;
        let warp = file.warp.as_ref().map(WarpTable::warp).transpose()?;
        Ok(Self::new(m, &keys, warp)?)
    }
}
