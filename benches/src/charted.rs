//! Blends in charts of joint displacements for measurements: placed quickly, as what they cost does
//! not depend on where their samples are.

use std::ops::ControlFlow;

use forks_blend::BlendedModel;
use forks_place::{Chart, Forces, LoadRegion, Placement, place};
use forks_reduce::Problem;

/// Training loads per sample: more where the best blend of few has fewer samples.
const LOADS: [usize; 4] = [2, 3, 5, 8];
/// Tolerances that no sample meets.
const NEVER: f64 = 1e-9;

/// A blend of `samples` samples for loads from some regions, one at a time, with the forces of its
/// last sample.
///
/// # Errors
/// No equilibrium at rest, fewer samples than wanted.
pub fn charted(
    problem: &Problem,
    regions: Vec<LoadRegion>,
    samples: usize,
) -> Result<(BlendedModel, Forces), String> {
    let mut found = String::new();
    for loads in LOADS {
        let placement = Placement {
            regions: regions.clone(),
            together: false,
            chart: Chart::Joints,
            max_samples: samples,
            training_loads: loads * samples,
            exchanges: 0,
            exponents: vec![6],
            constraint_tolerance: NEVER,
            static_tolerance: NEVER,
            ..Placement::default()
        };
        let placed = place(problem, &placement, &mut |_| ControlFlow::Continue(()));
        let placed = placed.map_err(|e| e.to_string())?;
        match placed.loads.last() {
            Some(last) if placed.loads.len() == samples => {
                return Ok((placed.model, last.clone()));
            }
            _ => found = format!("{} samples placed of {samples}", placed.loads.len()),
        }
    }
    Err(found)
}
