//! What is asked of reductions and blends, from Python's words.

use forks_mechanism::{Mechanism, lie::glam::DVec3};
use forks_place::Chart;
use forks_reduce::{MassModel, Problem, ProblemOptions};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

use crate::{
    arrays::Input,
    error::{ReductionError, refused, sentence},
};

/// What is done to a mechanism before it is reduced or loaded.
pub(crate) struct Preparing {
    pub(crate) effectors: Vec<String>,
    pub(crate) default_stiffness: Option<f64>,
    pub(crate) servos: bool,
    pub(crate) limits: Option<f64>,
    pub(crate) start: Option<Vec<f64>>,
}

impl Preparing {
    pub(crate) fn problem(&self, m: &Mechanism) -> PyResult<Problem> {
        let limited;
        let m = match self.limits {
            None => m,
            Some(k) => {
                limited = m.with_limit_springs(k).map_err(refused)?;
                &limited
            }
        };
        let options = ProblemOptions {
            default_stiffness: self.default_stiffness,
            servos: self.servos,
            start: self.start.clone(),
        };
        let names: Vec<&str> = self.effectors.iter().map(String::as_str).collect();
        Problem::new(m, &names, &options).map_err(|e| ReductionError::new_err(sentence(&e)))
    }
}

/// End effectors: a name or several; those of the side file where none are given.
pub(crate) fn effectors(
    given: Option<&Bound<'_, PyAny>>,
    of_file: &[String],
) -> PyResult<Vec<String>> {
    let names: Vec<String> = match given {
        None => of_file.to_vec(),
        Some(x) => match x.extract::<String>() {
            Ok(one) => vec![one],
            Err(_) => x.extract::<Vec<String>>().map_err(|_| {
                PyTypeError::new_err("effectors must be a link's name, 'site:NAME', or a list")
            })?,
        },
    };
    match names.is_empty() {
        true => Err(PyValueError::new_err("an end effector is needed: effectors='LINK'")),
        false => Ok(names),
    }
}

/// Tree positions of a start pose: an array, or the name of a keyframe.
pub(crate) fn start(m: &Mechanism, given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<f64>>> {
    let Some(x) = given else { return Ok(None) };
    if let Ok(name) = x.extract::<String>() {
        let found = m.keyframes().iter().find(|k| k.name == name);
        return match found {
            Some(k) => Ok(Some(k.positions.clone())),
            None => {
                let known: Vec<&str> = m.keyframes().iter().map(|k| &*k.name).collect();
                Err(PyValueError::new_err(format!(
                    "no keyframe '{name}'; there are: {}",
                    if known.is_empty() { "none".into() } else { known.join(", ") }
                )))
            }
        };
    }
    let input = Input::new("start", x, &[m.tree_position_count()])?;
    Ok(Some(input.as_slice().to_vec()))
}

/// Velocities of the tree joints, (velocities,); none: at rest.
pub(crate) fn velocities(m: &Mechanism, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<f64>> {
    let count = m.tree_velocity_count();
    match given {
        Some(x) => Ok(Input::new("velocities", x, &[count])?.as_slice().to_vec()),
        None => Ok(vec![0.0; count]),
    }
}

/// The mass model of a name; 'craig-bampton:8' has eight modes.
pub(crate) fn mass(name: &str) -> PyResult<MassModel> {
    let modes = name.strip_prefix("craig-bampton:").and_then(|n| n.parse().ok());
    match (name, modes) {
        ("condensed", _) => Ok(MassModel::Condensed),
        ("accelerability", _) => Ok(MassModel::Accelerability),
        (_, Some(modes)) => Ok(MassModel::CraigBampton { modes }),
        _ => Err(PyValueError::new_err(format!(
            "mass is '{name}', expected 'condensed', 'accelerability' or 'craig-bampton:MODES'"
        ))),
    }
}

/// The chart of a name.
pub(crate) fn chart(name: &str) -> PyResult<Chart> {
    match name {
        "auto" => Ok(Chart::Auto),
        "poses" => Ok(Chart::Poses),
        "joints" => Ok(Chart::Joints),
        "manifold" => Ok(Chart::Manifold),
        _ => Err(PyValueError::new_err(format!(
            "chart is '{name}', expected 'auto', 'poses', 'joints' or 'manifold'"
        ))),
    }
}

/// Axes of cones, one row an effector, or one for all.
pub(crate) fn cones(x: &Bound<'_, PyAny>, effectors: usize) -> PyResult<Vec<DVec3>> {
    let input = match Input::new("cone", x, &[3]) {
        Ok(one) => one.as_slice().repeat(effectors),
        Err(_) => Input::new("cone", x, &[effectors, 3])?.as_slice().to_vec(),
    };
    Ok(input.as_chunks::<3>().0.iter().map(|a| DVec3::from_array(*a)).collect())
}
