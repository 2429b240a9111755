//! Blended models for measurements: samples at equilibria under the force of the speed cases.

use forks_blend::{BlendedModel, Weights};
use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    statics::{EquilibriumOptions, EquilibriumStatus},
};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_models::Parametric;
use forks_place::{BlendError, Sample, blend_data};
use forks_reduce::{Problem, ProblemOptions};

/// Largest force of a sample, N: half as large again as that of the speed cases.
const LARGEST: f64 = 150.0;
/// Part of it at the first sample: a rest pose may be singular.
const SMALLEST: f64 = 0.01;
/// Part of the mechanism's size by which a sample's force may move an effector where the mechanism
/// itself hardly gives way, as placement limits it: a tenth of the tolerance 0.02 times the
/// displacement 0.1, some tenths of a millimetre.
const YIELDS: f64 = 2e-4;
/// Part of the largest force that counts at samples under less.
const COUNTS: f64 = 0.03;
/// Tangent of the angle between a sample's force and world +x.
const ASIDE: f64 = 0.1;

/// The force at sample `k` of `count`: growing along world +x, aside in ever other directions.
fn force(k: usize, count: usize) -> DVec3 {
    let part = SMALLEST + (1.0 - SMALLEST) * k as f64 / (count - 1).max(1) as f64;
    // The golden angle.
    let (sin, cos) = (2.4 * k as f64).sin_cos();
    DVec3::new(1.0, ASIDE * sin, ASIDE * cos) * (LARGEST * part)
}

/// A blend of `count` samples of a mechanism, the forces on its first effector.
///
/// # Errors
/// An equilibrium that is not found, a pose that cannot be reduced; neither happens for the named
/// mechanisms.
pub fn blended(p: &Parametric, count: usize) -> Result<BlendedModel, String> {
    blended_of(p, count, false, Weights::default())
}

/// The same with samples that bend, where `bent`, and other weights.
///
/// # Errors
/// As [`blended`].
pub fn blended_of(
    p: &Parametric,
    count: usize,
    bent: bool,
    weights: Weights,
) -> Result<BlendedModel, String> {
    let options = EquilibriumOptions::default();
    let m = &p.mechanism;
    let names: Vec<&str> = p.effectors.iter().map(|&l| m.link(l).name.as_str()).collect();
    let problem = Problem::new(m, &names, &ProblemOptions::default()).map_err(|e| e.to_string())?;
    let sample = |k: usize| -> Result<Sample, String> {
        let wrench = AppliedWrench {
            link: p.effectors[0],
            link_from_point: Pose::IDENTITY,
            wrench: Wrench::new(force(k, count), DVec3::ZERO),
            frame: WrenchFrame::World,
        };
        let loads = Loads { gravity: false, wrenches: vec![wrench] };
        let at = problem.equilibrium(&loads, &options);
        if at.status != EquilibriumStatus::Converged {
            return Err(format!("sample {k}: the equilibrium is {}", at.status.name()));
        }
        let mut sample = match bent {
            true => Sample::bent(&problem, &at, &loads, &options),
            false => Sample::new(&problem, &at, &loads),
        }
        .map_err(|e| e.to_string())?;
        let force = force(k, count).length().max(COUNTS * LARGEST);
        sample.limit_stiffness(force * sample.data.radius / YIELDS);
        Ok(sample)
    };
    let samples: Vec<Sample> = (0..count).map(sample).collect::<Result<_, _>>()?;
    let text = |e: BlendError| e.to_string();
    let data = blend_data(&samples[0].effector_poses(), &samples, weights);
    BlendedModel::new(data.map_err(text)?).map_err(|e| e.to_string())
}
