//! Tissue reduced with its skeleton, against the direct solution over joints and nodes, full
//! equilibria, contact of the whole, and limits.

mod bend;
mod blends;
mod compliance;
mod contact;
mod craig_bampton;
mod direct;
mod flexure;
mod loaded;
mod vibration;

use std::path::Path;

use serde::Deserialize;

use super::record::Recorder;

/// How much of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TissueReduction {
    /// Loaded poses that are compared with differences of full equilibria.
    loaded: usize,
}

/// All lines.
pub(crate) fn check(
    t: &TissueReduction,
    fixtures: &Path,
    out: &mut Recorder,
) -> Result<(), String> {
    compliance::check(out)?;
    bend::check(out)?;
    vibration::check(out)?;
    flexure::check(out)?;
    contact::check(out)?;
    loaded::check(t.loaded, out)?;
    blends::check(fixtures, out)
}
