//! Blends: placed with progress, stopped by Ctrl-C.

use std::{ops::ControlFlow, time::Duration};

use forks_place::{
    Certificate, LoadRegion, Placed as Found, Placement, PlacementStatus, Progress, place,
};
use forks_reduce::Problem;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    error::{ForksError, refused},
    model::Model,
};

/// What a placement ended with: the blend and what was checked of it.
#[pyclass(frozen, module = "forks")]
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    model: Model,
    status: &'static str,
    rounds: Vec<(usize, f64, f64)>,
    certificate: Certificate,
    skipped: usize,
    training: usize,
}

fn word(status: PlacementStatus) -> &'static str {
    match status {
        PlacementStatus::Reached => "reached",
        PlacementStatus::SampleLimit => "sample-limit",
        PlacementStatus::Exhausted => "exhausted",
        PlacementStatus::Cancelled => "cancelled",
        PlacementStatus::TimeLimit => "time-limit",
        PlacementStatus::Unreliable => "unreliable",
    }
}

/// What is told to the user's function.
fn told<'py>(py: Python<'py>, p: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    match *p {
        Progress::Trained { done, of } => {
            out.set_item("stage", "training loads")?;
            out.set_item("done", done)?;
            out.set_item("of", of)?;
        }
        Progress::Searching { samples, cost } => {
            out.set_item("stage", "searching")?;
            out.set_item("samples", samples)?;
            out.set_item("error_over_tolerance", cost)?;
        }
        Progress::Measured { samples, constraint, statics } => {
            out.set_item("stage", "measured")?;
            out.set_item("samples", samples)?;
            out.set_item("constraint_error", constraint)?;
            out.set_item("static_error", statics)?;
        }
        _ => out.set_item("stage", "other")?,
    }
    Ok(out)
}

/// Places a blend without the GIL; looks at Ctrl-C and calls `progress` between pieces of work.
pub(crate) fn run(
    py: Python<'_>,
    problem: &Problem,
    placement: &Placement,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Placed> {
    let progress = progress.map(|f| f.clone().unbind());
    let mut raised: Option<PyErr> = None;
    let placed = py.detach(|| {
        place(problem, placement, &mut |p| {
            let heard = Python::attach(|py| {
                py.check_signals()?;
                match &progress {
                    Some(f) => f.call1(py, (told(py, p)?,)).map(|_| ()),
                    None => Ok(()),
                }
            });
            match heard {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    raised.get_or_insert(e);
                    ControlFlow::Break(())
                }
            }
        })
    });
    if let Some(e) = raised {
        return Err(e);
    }
    let placed = placed.map_err(refused)?;
    if let Some(why) = useless(&placed) {
        return Err(ForksError::new_err(why));
    }
    Ok(Placed {
        status: word(placed.status),
        rounds: placed.rounds.iter().map(|r| (r.samples, r.constraint, r.statics)).collect(),
        certificate: placed.certificate,
        skipped: placed.skipped.len(),
        training: placed.training.len(),
        model: Model::blended(placed.model).map_err(refused)?,
    })
}

/// Why a blend is of no use for the loads that it is for.
fn useless(placed: &Found) -> Option<String> {
    let c = &placed.certificate;
    if !(c.constraint.is_finite() && c.statics.is_finite()) {
        return Some(
            "the blend has no equilibrium at some of the loads that it is for; allow more \
             samples, or ask for less: a smaller displacement (until) or angle"
                .into(),
        );
    }
    let (skipped, used) = (placed.skipped.len(), placed.training.len());
    (skipped > used).then(|| {
        format!(
            "the mechanism has no stable equilibrium at {skipped} of {} loads of its region, so \
             the blend stands for a small part of it; ask for less: a smaller displacement \
             (until) or angle",
            skipped + used
        )
    })
}

/// Forces within `angle` (rad) of an axis, one an effector, up to a relative displacement.
pub(crate) fn regions(
    axes: &[forks_mechanism::lie::glam::DVec3],
    angle: f64,
    until: f64,
) -> Vec<LoadRegion> {
    let region = |(e, axis): (usize, &_)| LoadRegion {
        displacement: until,
        ..LoadRegion::cone(e, *axis, angle)
    };
    axes.iter().enumerate().map(region).collect()
}

/// A limit in seconds; what is too long to be counted is no limit.
pub(crate) fn limit(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[pymethods]
impl Placed {
    /// The blend.
    #[getter]
    fn model(&self) -> Model {
        self.model.clone()
    }

    /// 'reached', 'unreliable', 'sample-limit', 'exhausted' or 'time-limit'.
    #[getter]
    fn status(&self) -> &'static str {
        self.status
    }

    /// Of each blend on the way: samples, largest constraint error, largest static error.
    #[getter]
    fn rounds(&self) -> Vec<(usize, f64, f64)> {
        self.rounds.clone()
    }

    /// Largest constraint error over all loads at which the blend was measured.
    #[getter]
    fn constraint_error(&self) -> f64 {
        self.certificate.constraint
    }

    /// Largest static error over them.
    #[getter]
    fn static_error(&self) -> f64 {
        self.certificate.statics
    }

    fn __repr__(&self) -> String {
        format!(
            "<forks.Placed, {}: constraint error {:.4}, static error {:.4}, {} of {} loads>",
            self.status,
            self.certificate.constraint,
            self.certificate.statics,
            self.training,
            self.training + self.skipped
        )
    }
}
