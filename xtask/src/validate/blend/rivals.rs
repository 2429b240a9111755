//! Other forms beside the blend that was placed.

use forks_blend::{Blend, BlendData, BlendedModel, LinkBlend, Weights};
use forks_dynamics::{Loads, statics::EquilibriumOptions};
use forks_mechanism::linalg::Matrix;
use forks_place::{Sample, blend_data};

use super::Study;

/// A form with the name it has in reports.
pub(super) struct Rival {
    pub(super) name: &'static str,
    pub(super) model: BlendedModel,
    pub(super) links: LinkBlend,
}

/// Exponent of the plain weights: best of 4, 6 and 8 for plain energies.
const PLAIN: Weights = Weights::Shepard { exponent: 6 };

/// Name of the rival at rest.
pub(super) const SINGLE: &str = "single model";
/// Name of the rival in the paper's form.
pub(super) const PAPER: &str = "[A16]";

/// The single model at rest, \[A16\]'s form and plain energy blending, both with the blend's
/// samples.
pub(super) fn all(study: &Study<'_>) -> Result<Vec<Rival>, String> {
    let straight = straight(study.placed.model.data());
    let with = |weights| {
        let data = BlendData { weights, ..straight.clone() };
        BlendedModel::new(data).map_err(|e| e.to_string())
    };
    Ok(vec![
        Rival { name: SINGLE, model: single(study)?, links: LinkBlend::Average },
        Rival {
            name: PAPER,
            model: with(Weights::Printed)?.with_blend(Blend::Eigenvectors),
            links: LinkBlend::Logarithm,
        },
        Rival { name: "plain energies", model: with(PLAIN)?, links: LinkBlend::Average },
    ])
}

/// The blend of samples that are exact to second order only, in the chart of poses.
fn straight(data: &BlendData) -> BlendData {
    let mut out = data.clone();
    out.chart.clear();
    out.samples.iter_mut().for_each(|s| s.curvature = Matrix::zeros(0, 0));
    out
}

/// The linear model at rest.
fn single(study: &Study<'_>) -> Result<BlendedModel, String> {
    let problem = &study.case.problem;
    let rest = problem.equilibrium(&Loads::none(), &EquilibriumOptions::default());
    let sample = Sample::new(problem, &rest, &Loads::none()).map_err(|e| e.to_string())?;
    let data = blend_data(&study.ruler.rest, &[sample], PLAIN).map_err(|e| e.to_string())?;
    BlendedModel::new(data).map_err(|e| e.to_string())
}
