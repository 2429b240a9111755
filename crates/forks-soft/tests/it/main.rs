//! Files of soft mechanisms against what they are made of.

mod blend;
mod film;
mod problem;
mod refused;
mod scene;

use std::path::PathBuf;

use forks_soft::{SoftProblem, SoftProblemOptions, tissue::spec::TissueSpec};

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The folder of the finger.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/soft"))
}

/// The finger's file.
pub(crate) fn finger() -> Result<TissueSpec> {
    Ok(TissueSpec::read(&folder().join("finger.toml"))?)
}

pub(crate) fn options(effectors: &[&str]) -> SoftProblemOptions {
    let effectors = effectors.iter().map(|e| (*e).to_owned()).collect();
    SoftProblemOptions { effectors, ..SoftProblemOptions::default() }
}

/// A coarser finger, 40 nodes, for what takes many solutions.
pub(crate) fn coarse() -> Result<TissueSpec> {
    let mut spec = finger()?;
    spec.tissues[0].mesh =
        forks_soft::tissue::spec::MeshSpec::Box { size: [0.09, 0.016, 0.016], cells: [9, 2, 2] };
    Ok(spec)
}

pub(crate) fn built(spec: TissueSpec, effectors: &[&str]) -> Result<SoftProblem> {
    Ok(SoftProblem::build(spec, &folder(), &options(effectors))?)
}
