//! Shared by the benches: mechanisms that can be reduced, files of fixtures, how times grow.

pub mod blended;
pub mod charted;
#[cfg(target_arch = "x86_64")]
pub mod hand_kernel;
#[cfg(feature = "rapier")]
pub mod rapier;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use forks_mechanism::{BuildError, LinkId, Preparation};
use forks_models::{HelixJoints, Parametric, helix};
use forks_reduce::{Effector, Problem, ReduceOptions};
use forks_rom::ReducedModel;

/// A mechanism with 1000 N·m/rad in every springless coordinate, and two effectors: its own and a
/// link in the middle.
///
/// # Errors
/// Never for parametric mechanisms.
pub fn reducible(p: &Parametric) -> Result<Problem, BuildError> {
    let preparation = Preparation { default_stiffness: Some(1000.0), ..Default::default() };
    let mechanism = preparation.apply(&p.mechanism)?.mechanism;
    let middle = LinkId::new(mechanism.links().len() / 2);
    let effectors = [middle, p.effectors[0]].map(|l| Effector::of_link(&mechanism, l)).to_vec();
    Ok(Problem::unprepared(mechanism, effectors))
}

/// A helix of so many links, reduced at rest to its tip.
pub fn helix_at_its_tip(links: usize) -> ReducedModel {
    let p = helix(links, HelixJoints::Alternating);
    let tip = Effector::of_link(&p.mechanism, p.effectors[0]);
    let problem = Problem::unprepared(p.mechanism, vec![tip]);
    let found = problem.reduce(problem.at_rest(), &ReduceOptions::default());
    found.expect("every joint is sprung").model
}

/// A file below `fixtures`.
pub fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(path)
}

/// The exponent p of the power law t = c nᵖ that fits times best (least squares of logarithms).
pub fn growth_exponent(sizes: &[usize], times: &[Duration]) -> f64 {
    let x: Vec<f64> = sizes.iter().map(|&n| (n as f64).ln()).collect();
    let y: Vec<f64> = times.iter().map(|t| t.as_secs_f64().ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let products = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my));
    products.sum::<f64>() / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_found() {
        let sizes = [1000, 2000, 4000, 8000];
        let times = sizes.map(|n| Duration::from_secs_f64(3e-6 * (n as f64).powf(1.5)));
        // Times are rounded to nanoseconds: relative 1e-9/0.09.
        assert!((growth_exponent(&sizes, &times) - 1.5).abs() < 1e-7);
    }
}
