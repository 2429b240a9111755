//! Loading a model and its start state.

use std::{
    fs,
    path::{Path, PathBuf},
};

use forks_condense::superelement_from_file;
use forks_import::{CoordinateOrder, Import, Note};
use forks_mechanism::{JointId, JointKind, Mechanism, Preparation};
use forks_reduce::{Problem, ProblemOptions, ReduceError};
use serde::Deserialize;

use crate::{
    args::{ModelOptions, SpringOptions, StateSource},
    at_rest,
    error::CliError,
};

/// A model in a state.
#[derive(Debug)]
pub(crate) struct Model {
    /// The mechanism.
    pub(crate) mechanism: Mechanism,
    /// What of the file it does not hold exactly.
    pub(crate) notes: Vec<Note>,
    /// End effectors that the side file names.
    pub(crate) effectors: Vec<String>,
    /// The order of the tree coordinates.
    pub(crate) order: CoordinateOrder,
    /// All position coordinates: those of the state, loop-closing joints fitted to them.
    pub(crate) positions: Vec<f64>,
    /// MuJoCo's velocities of the tree joints; zero where the state gives none.
    pub(crate) velocities: Vec<f64>,
}

impl Model {
    /// Reads the model and puts it in the state that the arguments name.
    pub(crate) fn load(options: &ModelOptions) -> Result<Self, CliError> {
        let Import { mechanism, notes, effectors, order } = options.read.load(&options.path)?;
        let mut positions = mechanism.start_positions();
        let mut velocities = vec![0.0; mechanism.tree_velocity_count()];
        if let Some(source) = &options.state {
            let state = tree_state(&mechanism, source).map_err(|e| e.of_state(source, options))?;
            positions[..state.qpos.len()].copy_from_slice(&state.qpos);
            mechanism.fit_closures(&mut positions);
            velocities = state.qvel.unwrap_or(velocities);
        }
        let poses = mechanism.link_poses(&positions);
        if let Some(i) = poses.iter().position(|p| !p.translation.length_squared().is_finite()) {
            let link = mechanism.links()[i].name.clone();
            return Err(CliError::FarAway { path: options.path.clone(), link });
        }
        Ok(Self { mechanism, notes, effectors, order, positions, velocities })
    }
}

impl Model {
    /// The end effectors asked for, those of the side file where none are.
    pub(crate) fn effectors(&self, asked: &[String]) -> Result<Vec<String>, CliError> {
        match (asked, &self.effectors[..]) {
            ([], []) => Err(CliError::NoEffector { problem: "none is given" }),
            ([], of_file) => Ok(of_file.to_vec()),
            _ => Ok(asked.to_vec()),
        }
    }

    /// The one end effector asked for, that of the side file where none is.
    pub(crate) fn effector(&self, asked: Option<&str>) -> Result<String, CliError> {
        match (asked, &self.effectors[..]) {
            (Some(name), _) => Ok(name.to_owned()),
            (None, [only]) => Ok(only.clone()),
            (None, []) => Err(CliError::NoEffector { problem: "none is given" }),
            (None, _) => {
                Err(CliError::NoEffector { problem: "the side file names several, one is needed" })
            }
        }
    }

    /// The mechanism, with springs beyond joints' limits if asked for.
    fn with_limits(
        &self,
        options: &ModelOptions,
        limits: Option<f64>,
    ) -> Result<Mechanism, CliError> {
        match limits {
            Some(k) => self.mechanism.with_limit_springs(k),
            None => Ok(self.mechanism.clone()),
        }
        .map_err(|source| CliError::reduce(&options.path, source.into()))
    }

    /// The mechanism that moves: with servos as springs that rest at the start state if asked for.
    pub(crate) fn moving(
        &self,
        options: &ModelOptions,
        servos: bool,
        limits: Option<f64>,
    ) -> Result<Mechanism, CliError> {
        let mechanism = self.with_limits(options, limits)?;
        if !servos {
            return Ok(mechanism);
        }
        let preparation =
            Preparation { servos, start: Some(self.positions.clone()), ..Preparation::default() };
        let prepared = preparation
            .apply(&mechanism)
            .map_err(|source| CliError::Servos { path: options.path.clone(), source })?;
        Ok(prepared.mechanism)
    }

    /// What the start pose is called.
    pub(crate) fn pose_name(options: &ModelOptions) -> String {
        match &options.state {
            None => "the start pose".into(),
            Some(StateSource::Key(name)) => format!("keyframe '{name}'"),
            Some(StateSource::File(path)) => format!("the state of {}", path.display()),
        }
    }

    /// The model prepared for statics or reduction, with its effectors.
    pub(crate) fn problem(
        &self,
        options: &ModelOptions,
        springs: &SpringOptions,
        effectors: &[String],
    ) -> Result<Problem, CliError> {
        let names: Vec<&str> = effectors.iter().map(String::as_str).collect();
        let mechanism = self.with_limits(options, springs.limits)?;
        Problem::new(&mechanism, &names, &self.problem_options(springs))
            .map_err(|e| CliError::reduce(&options.path, e))
    }

    /// The same with superelements from files.
    pub(crate) fn problem_with(
        &self,
        options: &ModelOptions,
        springs: &SpringOptions,
        effectors: &[String],
        files: &[PathBuf],
    ) -> Result<Problem, CliError> {
        let names: Vec<&str> = effectors.iter().map(String::as_str).collect();
        let mechanism = self.with_limits(options, springs.limits)?;
        let read = |path: &PathBuf| {
            let found = superelement_from_file(path, &mechanism);
            found.map_err(|e| CliError::Superelement { problem: e.to_string() })
        };
        let elements = files.iter().map(read).collect::<Result<_, _>>()?;
        let problem_options = self.problem_options(springs);
        Problem::with_superelements(&mechanism, elements, &names, &problem_options)
            .map_err(|e| CliError::reduce(&options.path, e))
    }

    fn problem_options(&self, springs: &SpringOptions) -> ProblemOptions {
        let start = self.positions[..self.mechanism.tree_position_count()].to_vec();
        ProblemOptions {
            default_stiffness: springs.default_stiffness,
            servos: !springs.no_servos,
            start: Some(start),
        }
    }
}

impl CliError {
    /// Says where a wrong state comes from, unless the message does so already.
    fn of_state(self, source: &StateSource, options: &ModelOptions) -> Self {
        let place = match (&self, source) {
            (Self::StateFile { .. } | Self::StateSyntax { .. }, _) => return self,
            (_, StateSource::File(path)) => path.display().to_string(),
            (_, StateSource::Key(_)) => options.path.display().to_string(),
        };
        Self::State { place, problem: Box::new(self) }
    }

    pub(crate) fn reduce(path: &Path, source: ReduceError) -> Self {
        Self::Reduce { path: path.into(), source: Box::new(source) }
    }

    /// A reduction of `problem` that failed: names what moves without resistance, or what holds the
    /// effectors.
    pub(crate) fn reduction(path: &Path, problem: &Problem, source: ReduceError) -> Self {
        let m = problem.mechanism();
        match source {
            ReduceError::Unresisted { joints } => {
                let ids: Vec<JointId> = (0..m.joints().len())
                    .map(JointId::new)
                    .filter(|&id| joints.contains(&m.joint_label(id)))
                    .collect();
                let problem = at_rest::with_option(&m.describe_unresisted(&ids));
                Self::Unresisted { path: path.into(), problem }
            }
            ReduceError::Immobile { .. } if problem.prepared.held.is_some() => {
                let held = at_rest::held_note(problem).unwrap_or_default();
                Self::Immobile { path: path.into(), problem: format!("{source}; {held}") }
            }
            source => Self::reduce(path, source),
        }
    }
}

/// A state file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateFile {
    qpos: Vec<f64>,
    #[serde(default)]
    qvel: Option<Vec<f64>>,
}

/// A state, checked against the mechanism.
fn tree_state(m: &Mechanism, source: &StateSource) -> Result<StateFile, CliError> {
    let mut state = match source {
        StateSource::Key(name) => StateFile { qpos: keyframe(m, name)?, qvel: None },
        StateSource::File(path) => read_state(path)?,
    };
    check("qpos", &state.qpos, m.tree_position_count())?;
    if let Some(v) = &state.qvel {
        check("qvel", v, m.tree_velocity_count())?;
    }
    normalize_quaternions(m, &mut state.qpos)?;
    Ok(state)
}

fn keyframe(m: &Mechanism, name: &str) -> Result<Vec<f64>, CliError> {
    let found = m.keyframes().iter().find(|k| k.name == name);
    found.map(|k| k.positions.clone()).ok_or_else(|| {
        let names: Vec<String> = m.keyframes().iter().map(|k| format!("'{}'", k.name)).collect();
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        CliError::UnknownKeyframe { name: name.into(), known }
    })
}

fn read_state(path: &Path) -> Result<StateFile, CliError> {
    let text = fs::read_to_string(path)
        .map_err(|source| CliError::StateFile { path: path.into(), source })?;
    serde_json::from_str(&text)
        .map_err(|e| CliError::StateSyntax { path: path.into(), problem: e.to_string() })
}

fn check(field: &'static str, numbers: &[f64], expected: usize) -> Result<(), CliError> {
    if numbers.len() != expected {
        return Err(CliError::StateLength { field, found: numbers.len(), expected });
    }
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(CliError::StateValue {
            field,
            index,
            value: numbers[index],
            problem: "not a finite number",
        }),
        None => Ok(()),
    }
}

/// Scales quaternions to unit length, as MuJoCo does; what is off by rounding alone stays.
fn normalize_quaternions(m: &Mechanism, q: &mut [f64]) -> Result<(), CliError> {
    for e in m.forest().edges() {
        let range = m.position_range(e.joint);
        let first = match m.joint(e.joint).kind {
            JointKind::Spherical => range.start,
            JointKind::Free => range.start + 3,
            _ => continue,
        };
        let length = q[first..first + 4].iter().fold(0.0f64, |s, x| s.hypot(*x));
        if length == 0.0 {
            return Err(CliError::StateValue {
                field: "qpos",
                index: first,
                value: 0.0,
                problem: "the first number of a quaternion of length zero",
            });
        }
        let by = if (length - 1.0).abs() > 4.0 * f64::EPSILON { length } else { 1.0 };
        q[first..first + 4].iter_mut().for_each(|x| *x /= by);
    }
    Ok(())
}

/// What a joint is called in results: its name, or `#i` with its number among the joints listed
/// with it.
pub(crate) fn joint_name(m: &Mechanism, id: JointId, number: usize) -> String {
    let name = &m.joint(id).name;
    if name.is_empty() { format!("#{number}") } else { name.clone() }
}
