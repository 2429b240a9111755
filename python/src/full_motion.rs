//! The full mechanism in motion, recorded.

use forks_dynamics::integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus};
use forks_mechanism::{Mechanism, Preparation};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    drawing,
    error::{NotFiniteError, refused},
    options,
    recording::Recording,
};

/// What is asked for.
pub(crate) struct Motion<'a, 'py> {
    pub(crate) time: f64,
    pub(crate) step: f64,
    pub(crate) integrator: &'a str,
    pub(crate) tolerance: f64,
    pub(crate) every: usize,
    pub(crate) gravity: bool,
    pub(crate) servos: bool,
    pub(crate) start: Option<&'a Bound<'py, PyAny>>,
    pub(crate) velocities: Option<&'a Bound<'py, PyAny>>,
}

/// The mechanism that moves: with servos as springs that rest at the start pose if asked for.
pub(crate) fn moving(m: &Mechanism, servos: bool, start: Option<&[f64]>) -> PyResult<Mechanism> {
    if !servos {
        return Ok(m.clone());
    }
    let start = start.map(<[f64]>::to_vec);
    let preparation = Preparation { servos, start, ..Preparation::default() };
    Ok(preparation.apply(m).map_err(refused)?.mechanism)
}

/// Runs and records the poses of `shown`.
pub(crate) fn run(
    py: Python<'_>,
    m: &Mechanism,
    shown: &[usize],
    asked: &Motion<'_, '_>,
) -> PyResult<Recording> {
    let Motion { time, step, tolerance, every, gravity, servos, .. } = *asked;
    if !(time.is_finite() && time >= 0.0 && step.is_finite() && step > 0.0 && every > 0) {
        return Err(PyValueError::new_err(format!(
            "time is {time} s, step is {step} s, every is {every}; expected finite numbers, \
             the step above 0, every 1 or more"
        )));
    }
    let integrator = match asked.integrator {
        "implicit" => Integrator::Implicit,
        "rk4" => Integrator::RungeKutta4,
        "semi-implicit-euler" => Integrator::SemiImplicitEuler,
        "adaptive" => Integrator::Adaptive,
        name => {
            return Err(PyValueError::new_err(format!(
                "integrator is '{name}', expected 'implicit', 'rk4', \
                 'semi-implicit-euler' or 'adaptive'"
            )));
        }
    };
    let start = options::start(m, asked.start)?;
    let m = &moving(m, servos, start.as_deref())?;
    let mut q = m.start_positions();
    q.truncate(m.tree_position_count());
    start.iter().for_each(|s| q.copy_from_slice(s));
    let v = options::velocities(m, asked.velocities)?;
    let settings = SimulationOptions { integrator, tolerance, gravity, ..Default::default() };
    let radius = m.bounding_radius(&m.link_poses(&m.start_positions()));
    let mut recording = drawing::of_mechanism(m, shown, radius, drawing::energies());
    let mut simulation = py.detach(|| Simulation::new(m, &q, &v, settings));
    let push = |s: &mut Simulation<'_>, recording: &mut Recording| {
        let (e, all) = (s.energy(), s.link_poses());
        let poses = shown.iter().map(|&i| all[i]).collect();
        recording.push(s.time(), poses, &[e.kinetic, e.gravitational, e.elastic]);
    };
    push(&mut simulation, &mut recording);
    let steps = (time / step - 1e-9).ceil().max(0.0) as usize;
    for i in 0..steps {
        py.check_signals()?;
        let h = step.min(time - i as f64 * step);
        let status = py.detach(|| simulation.step(h));
        if status != SimulationStatus::Completed {
            let (time, why) = (simulation.time(), status.name());
            return Err(NotFiniteError::new_err(format!("stopped after {time} s: {why}")));
        }
        if (i + 1) % every == 0 || i + 1 == steps {
            push(&mut simulation, &mut recording);
        }
    }
    Ok(recording)
}
