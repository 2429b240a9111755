//! Error-bounded quasi-statics against the full solver: the figures and the table of \[R06\], the
//! certificate along a run, displacements.

mod certificate;
mod displacement;
mod poses;
mod report;
mod sweep;

use forks_dynamics::adaptive::{
    AdaptiveOptions, AdaptivePlan, AdaptiveState, AdaptiveStatus, AdaptiveStep, ErrorMeasure,
    Target,
};
use forks_mechanism::Mechanism;
use serde::Deserialize;

use super::record::Recorder;
use crate::linkages::{Forces, Full, Kind, Placement};

/// What to do with a linkage under constant forces.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Adaptive {
    /// The linkage.
    linkage: Kind,
    /// Where forces act.
    placement: Placement,
    /// Size of every force, N.
    force: f64,
    /// Length of a step, s.
    time_step: f64,
    /// Time, joints and displacements against the threshold.
    sweep: Option<Sweep>,
    /// True and certified error along a run.
    certificate: Option<Certificate>,
    /// Displacements after a run.
    displacement: Option<Displacement>,
    /// A drawing of poses.
    poses: Option<Poses>,
}

/// How large a run is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    links: usize,
    steps: usize,
}

/// Figures 6, 8 and 9, and Table 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sweep {
    size: Size,
    /// With `--nightly`.
    long: Size,
    /// Numbers of forces.
    forces: Vec<usize>,
    /// Exponents i of ε_max = 2⁻ⁱ.
    exponents: Vec<i32>,
    /// Joints expected at the last threshold, in the order of the forces; 0 where nothing is known.
    expected: Vec<f64>,
    /// The same with `--nightly`.
    long_expected: Vec<f64>,
    /// Bound of the joints computed over those expected.
    expected_bound: f64,
}

/// The certificate at states of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Certificate {
    size: Size,
    /// With `--nightly`.
    long: Size,
    exponent: i32,
    /// Steps from one comparison with the full solver to the next.
    every: usize,
}

/// Displacements against those of the full solver stepped as often.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Displacement {
    size: Size,
    /// With `--nightly`.
    long: Size,
    exponent: i32,
    /// Bound of the relative displacement error where every eighth step catches up.
    bound: f64,
    /// The same without; above 1 it only reports.
    plain_bound: f64,
}

/// Figures 1 and 5.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Poses {
    size: Size,
    /// With `--nightly`.
    long: Size,
    exponents: Vec<i32>,
    /// Bounds of the relative displacement error, in the order of the exponents.
    bounds: Vec<f64>,
    /// Links drawn: so many before and behind the loaded one.
    near: usize,
    /// The plane of the drawing: world directions to the right and up.
    view: [[f64; 3]; 2],
}

impl Adaptive {
    /// Sizes for `--nightly`.
    pub(crate) fn lengthen(&mut self) {
        if let Some(s) = &mut self.sweep {
            s.size = s.long;
            s.expected.clone_from(&s.long_expected);
        }
        if let Some(s) = &mut self.certificate {
            s.size = s.long;
        }
        if let Some(s) = &mut self.displacement {
            s.size = s.long;
        }
        if let Some(s) = &mut self.poses {
            s.size = s.long;
        }
    }
}

pub(crate) fn check(a: &Adaptive, out: &mut Recorder) -> Result<(), String> {
    if let Some(s) = &a.sweep {
        sweep::check(s, a, out)?;
    }
    if let Some(c) = &a.certificate {
        certificate::check(c, a, out)?;
    }
    if let Some(d) = &a.displacement {
        displacement::check(d, a, out)?;
    }
    if let Some(p) = &a.poses {
        poses::check(p, a, out)?;
    }
    Ok(())
}

fn target(exponent: i32) -> Target {
    Target::new(ErrorMeasure::RelativeJoint, 0.5f64.powi(exponent))
}

/// Every how manyth step catches up where any do.
const CATCH_UP: usize = 8;

fn plan(a: &Adaptive, m: &Mechanism, catch_up: usize) -> Result<AdaptivePlan, String> {
    let options =
        AdaptiveOptions { time_step: a.time_step, catch_up, ..AdaptiveOptions::default() };
    AdaptivePlan::new(m, &options).map_err(|e| e.to_string())
}

fn forces(a: &Adaptive, m: &Mechanism, count: usize) -> Forces {
    Forces::new(m, count, a.placement, a.force)
}

fn start<'p>(forces: &Forces, plan: &'p AdaptivePlan) -> Result<AdaptiveState<'p>, String> {
    forces.state(plan).map_err(|e| e.to_string())
}

/// A step, which must converge.
fn step(state: &mut AdaptiveState<'_>, target: &Target) -> Result<AdaptiveStep, String> {
    let step = state.step(target);
    match step.result.status {
        AdaptiveStatus::Converged => Ok(step),
        other => Err(format!("an adaptive step ended with {other:?}")),
    }
}

/// What approximate accelerations miss.
struct Missed {
    /// max |q̈ − q̈_full| / max |q̈_full|; all joints have one coordinate.
    relative_joint: f64,
    /// √(Σ |q̈ − q̈_full|²) over that of the full ones.
    relative_linkage: f64,
}

/// Compares accelerations of hinges at positions `q` with the full solver's there.
fn missed(
    full: &mut Full<'_>,
    forces: &Forces,
    q: &[f64],
    approximate: &[f64],
) -> Result<Missed, String> {
    full.place(q, forces);
    full.solve(q)?;
    let exact = full.accelerations();
    let pairs = || approximate.iter().zip(exact);
    let max = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0, |m: f64, x| m.max(x.abs()));
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    Ok(Missed {
        relative_joint: max(&mut pairs().map(|(a, b)| a - b)) / max(&mut exact.iter().copied()),
        relative_linkage: norm(&mut pairs().map(|(a, b)| a - b)) / norm(&mut exact.iter().copied()),
    })
}
