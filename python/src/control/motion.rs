//! Curves of joints through keys.

use std::{path::PathBuf, sync::Arc};

use forks_control::keyframe::{End, EndRule, Ends, JointKeys, Method, Motion as Curves, Warp};
use forks_mechanism::Mechanism as Data;
use numpy::PyArray1;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

use crate::{
    arrays::{Input, vector},
    error::{refused, unreadable},
    mechanism::Mechanism,
};

/// Curves of joints of a mechanism through positions at given times. Immutable.
///
/// keys: a dict of joints' names to positions, (keys,) or (keys, positions of the joint), rad and
/// m, rotations as quaternions w, x, y, z; or to dicts of 'keys' and what is said of this joint
/// alone: 'times', 'method', 'degree', 'ends', 'start' and 'end' (dicts of 'velocity' and
/// 'acceleration').
/// times: (keys,), s, increasing. method: 'interpolate', 'monotone' or 'approximate'. degree: 3 or
/// 5. ends: 'rest', 'natural' or 'periodic'.
/// warp: of time: (amplitude, period) of a sine, or (played, keys), two lists of times.
#[pyclass(frozen, module = "forks.control")]
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(super) mechanism: Arc<Data>,
    pub(super) curves: Arc<Curves>,
}

/// What holds for joints that say nothing else.
struct Common<'a, 'py> {
    times: Option<&'a Bound<'py, PyAny>>,
    method: &'a str,
    degree: usize,
    ends: &'a str,
}

fn method(name: &str) -> PyResult<Method> {
    match name {
        "interpolate" => Ok(Method::Interpolate),
        "monotone" => Ok(Method::Monotone),
        "approximate" => Ok(Method::Approximate),
        _ => Err(PyValueError::new_err(format!(
            "method is '{name}', expected 'interpolate', 'monotone' or 'approximate'"
        ))),
    }
}

/// Numbers of any count.
fn list(what: &str, x: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match x.extract::<f64>() {
        Ok(x) => Ok(vec![x]),
        Err(_) => Ok(Input::new(what, x, &[x.len()?])?.as_slice().to_vec()),
    }
}

/// Keys as rows: (keys,) has one number each.
fn rows(what: &str, x: &Bound<'_, PyAny>, width: usize) -> PyResult<Vec<Vec<f64>>> {
    let flat = width == 1 && x.len().is_ok_and(|n| Input::any(what, x, &[n]).is_ok());
    if flat {
        let input = Input::new(what, x, &[x.len()?])?;
        return Ok(input.as_slice().iter().map(|x| vec![*x]).collect());
    }
    let input = Input::rows(what, x, width)?;
    Ok(input.as_slice().chunks(width.max(1)).map(<[f64]>::to_vec).collect())
}

fn rates(what: &str, x: &Bound<'_, PyAny>) -> PyResult<EndRule> {
    let d = x.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err(format!("{what} is no dict of 'velocity' and 'acceleration'"))
    })?;
    let mut end = End::default();
    for (key, value) in d {
        let key: String = key.extract()?;
        let numbers = Some(list(&format!("{key} of {what}"), &value)?);
        match &*key {
            "velocity" => end.velocity = numbers,
            "acceleration" => end.acceleration = numbers,
            _ => {
                let text = format!("'{key}' of {what} is none of velocity, acceleration");
                return Err(PyValueError::new_err(text));
            }
        }
    }
    Ok(EndRule::Rates(end))
}

fn joint_keys(
    m: &Data,
    joint: &str,
    given: &Bound<'_, PyAny>,
    common: &Common<'_, '_>,
) -> PyResult<JointKeys> {
    let known = ["keys", "times", "method", "degree", "ends", "start", "end"];
    let own = given.cast::<PyDict>().ok();
    if let Some(d) = own {
        for key in d.keys() {
            let key: String = key.extract()?;
            if !known.contains(&&*key) {
                let text = format!("'{key}' of joint {joint} is none of {}", known.join(", "));
                return Err(PyValueError::new_err(text));
            }
        }
    }
    let item = |key: &str| own.map_or(Ok(None), |d| d.get_item(key));
    let word = |key: &str, common: &str| {
        item(key)?.map_or(Ok(common.to_owned()), |x| x.extract::<String>())
    };
    let missing = |key: &str| PyValueError::new_err(format!("joint {joint} has no {key}"));
    let keys = match own {
        Some(_) => item("keys")?.ok_or_else(|| missing("keys"))?,
        None => given.clone(),
    };
    let times = item("times")?.or_else(|| common.times.cloned()).ok_or_else(|| missing("times"))?;
    let width = m.find_joint(joint).map_or(1, |j| m.joint(j).kind.position_count());
    let sides = [("start", item("start")?), ("end", item("end")?)];
    let ends = match &*word("ends", common.ends)? {
        "periodic" if sides.iter().any(|(_, x)| x.is_some()) => {
            let text = format!("joint {joint}: a curve that repeats has no start and end");
            return Err(PyValueError::new_err(text));
        }
        "periodic" => Ends::Periodic,
        name => {
            let rule = match name {
                "rest" => EndRule::Rest,
                "natural" => EndRule::Natural,
                _ => {
                    return Err(PyValueError::new_err(format!(
                        "ends is '{name}', expected 'rest', 'natural' or 'periodic'"
                    )));
                }
            };
            let side = |(what, x): &(&str, Option<Bound<'_, PyAny>>)| match x {
                Some(x) => rates(&format!("{what} of joint {joint}"), x),
                None => Ok(rule.clone()),
            };
            Ends::Each([side(&sides[0])?, side(&sides[1])?])
        }
    };
    Ok(JointKeys {
        joint: joint.to_owned(),
        method: method(&word("method", common.method)?)?,
        degree: item("degree")?.map_or(Ok(common.degree), |x| x.extract())?,
        times: list(&format!("times of joint {joint}"), &times)?,
        keys: rows(&format!("keys of joint {joint}"), &keys, width)?,
        ends,
    })
}

fn warp(x: &Bound<'_, PyAny>) -> PyResult<Warp> {
    if let Ok((amplitude, period)) = x.extract::<(f64, f64)>() {
        return Warp::sine(amplitude, period).map_err(refused);
    }
    let (played, keys): (Bound<'_, PyAny>, Bound<'_, PyAny>) = x.extract().map_err(|_| {
        PyTypeError::new_err("warp is no (amplitude, period) and no (played, keys)")
    })?;
    let [played, keys] = [list("played of warp", &played)?, list("keys of warp", &keys)?];
    Warp::keys(&played, &keys).map_err(refused)
}

#[pymethods]
impl Motion {
    #[new]
    #[pyo3(signature = (mechanism, keys, *, times=None, method="interpolate", degree=3,
        ends="rest", warp=None))]
    fn new(
        mechanism: &Mechanism,
        keys: &Bound<'_, PyDict>,
        times: Option<&Bound<'_, PyAny>>,
        method: &str,
        degree: usize,
        ends: &str,
        warp: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let m = mechanism.data();
        let common = Common { times, method, degree, ends };
        let keys: Vec<JointKeys> = keys
            .iter()
            .map(|(joint, given)| joint_keys(m, &joint.extract::<String>()?, &given, &common))
            .collect::<PyResult<_>>()?;
        let curves = Curves::new(m, &keys, warp.map(self::warp).transpose()?).map_err(refused)?;
        Ok(Self { mechanism: Arc::clone(m), curves: Arc::new(curves) })
    }

    /// The motion of a TOML file, as `forks play` reads it. Raises ReadError with the line.
    #[staticmethod]
    fn load(mechanism: &Mechanism, path: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path)
            .map_err(|e| crate::error::ReadError::new_err(format!("{}: {e}", path.display())))?;
        let curves = Curves::from_toml(mechanism.data(), &text)
            .map_err(|e| crate::error::ReadError::new_err(format!("{}: {e}", path.display())))?;
        Ok(Self { mechanism: Arc::clone(mechanism.data()), curves: Arc::new(curves) })
    }

    /// The motion of the text of such a file.
    #[staticmethod]
    fn parse(mechanism: &Mechanism, text: &str) -> PyResult<Self> {
        let curves = Curves::from_toml(mechanism.data(), text).map_err(unreadable)?;
        Ok(Self { mechanism: Arc::clone(mechanism.data()), curves: Arc::new(curves) })
    }

    /// Times of the first and the last key, s.
    #[getter]
    fn range(&self) -> (f64, f64) {
        self.curves.range()
    }

    /// Names of the joints that have a curve, in the order of their keys.
    #[getter]
    fn joints(&self) -> Vec<String> {
        self.curves.joints().map(|j| self.mechanism.joint_label(j)).collect()
    }

    /// Positions of all tree joints at a time (s), (positions,): on the curves where there are
    /// some, as at the start elsewhere.
    fn positions<'py>(&self, py: Python<'py>, time: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let time = super::names::finite("time", time)?;
        let mut q = self.mechanism.start_positions();
        self.curves.positions(&self.mechanism, time, &mut q);
        Ok(vector(py, &q[..self.mechanism.tree_position_count()]))
    }

    /// Joint to (positions, velocities, accelerations) on its curve at a time (s).
    fn state<'py>(&self, py: Python<'py>, time: f64) -> PyResult<Bound<'py, PyDict>> {
        let time = super::names::finite("time", time)?;
        let out = PyDict::new(py);
        for (joint, s) in self.joints().iter().zip(self.curves.state(time)) {
            out.set_item(joint, (vector(py, &s.q), vector(py, &s.v), vector(py, &s.a)))?;
        }
        Ok(out)
    }

    /// Where curves leave limits between keys: joint, which of its coordinates, time (s), value,
    /// limit.
    fn beyond_limits(&self) -> Vec<(String, usize, f64, f64, f64)> {
        let all = self.curves.excesses(&self.mechanism).into_iter();
        all.map(|e| (e.joint, e.coordinate, e.time, e.value, e.limit)).collect()
    }

    fn __repr__(&self) -> String {
        let (start, end) = self.curves.range();
        let joints = self.curves.joints().count();
        format!("<forks.control.Motion of {joints} joints from {start} s to {end} s>")
    }
}
