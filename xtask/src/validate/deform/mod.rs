//! Tissue: elements and materials, bending, motion, rest, against closed forms, differences, dense
//! systems and MuJoCo.

mod bars;
mod elements;
mod energy;
mod laws;
mod manufactured;
mod motion;
mod rest;
mod samples;

use serde::Deserialize;

use super::record::Recorder;

/// How much of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deform {
    /// Closed paths of F round which work is summed.
    paths: usize,
    /// Deformation gradients of which the window is asked.
    gradients: usize,
    /// Free steps over which momentum is watched.
    steps: usize,
}

/// All lines.
pub(crate) fn check(d: &Deform, out: &mut Recorder) -> Result<(), String> {
    elements::check(out)?;
    laws::check(d.paths, d.gradients, out)?;
    bars::check(out)?;
    manufactured::check(out)?;
    motion::check(d.steps, out)?;
    energy::check(out)?;
    rest::check(out)
}
