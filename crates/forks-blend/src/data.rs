//! The numbers of a blended model.

use alloc::{sync::Arc, vec::Vec};

use forks_lie::{Pose, glam::DVec3};
use forks_linalg::Matrix;
use forks_rom::{ReducedModel, ServoTerms};

use crate::{
    chart::{ChartSample, Guard, Kinematics},
    weights::Weights,
};

/// One linearisation point of a blend.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleData {
    /// The reduced model there; every sample of a blend has the same effectors, links and number of
    /// coordinates.
    pub model: Arc<ReducedModel>,
    /// Total potential energy U₀ of the mechanism there, J.
    pub potential: f64,
    /// How that energy depends on the servos' targets.
    pub servos: ServoTerms,
    /// How the directions in which the sample gives way bend, N × N(N+1)/2, or 0 × 0: the energy is
    /// quadratic in η − ½ q(η) with q(η)_k = Σ_{i ≤ j} c_{k,ij} η_i η_j, columns (0,0), (0,1), …,
    /// (1,1), …. The second derivative at the sample is 𝓗 all the same.
    pub curvature: Matrix,
}

/// A force on a point of a link that stays in the world: the link's weight.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LinkForce {
    /// Index of the link in the sample's model.
    pub link: usize,
    /// The force, world axes, N.
    pub force: DVec3,
    /// Where it acts, link frame, m.
    pub point: DVec3,
}

/// The numbers of a blended model; E effectors, N coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendData {
    /// Effector poses at x = 0.
    pub reference: Vec<Pose>,
    /// B, 6E × N, of the chart: effector e is at H_ref,e exp(B_e x). Columns are orthonormal with
    /// lengths over r.
    pub basis: Matrix,
    /// Size r of the mechanism, m.
    pub radius: f64,
    /// Largest relative displacement of an effector from its reference pose for which the blend is
    /// meant.
    pub range: f64,
    /// How samples are weighted.
    pub weights: Weights,
    /// The linearisation points.
    pub samples: Vec<SampleData>,
    /// Empty, or one entry per sample: the chart is one of joint displacements, not of poses. Poses
    /// then follow [`ChartSample`], and reference and basis only say where x = 0 is and how many
    /// coordinates there are: perhaps more than effectors have motions, and no orthonormal basis.
    pub chart: Vec<ChartSample>,
    /// Where such a chart is trusted; without, polynomials hold everywhere.
    pub guard: Option<Guard>,
    /// How poses follow in such a chart.
    pub kinematics: Kinematics,
    /// Forces on links whose work −Σ f·p is taken where the links are, where these follow the
    /// joints: the sample's second and third orders are then those of the energy without it. They
    /// hold whatever the servos' targets: these must not move joints at a fixed place.
    pub link_forces: Vec<LinkForce>,
}

impl BlendData {
    /// The numbers of one sample alone, in the same chart.
    ///
    /// # Panics
    /// If there is no such sample.
    #[must_use]
    pub fn alone(&self, sample: usize) -> Self {
        Self {
            samples: alloc::vec![self.samples[sample].clone()],
            chart: self.chart.get(sample).cloned().into_iter().collect(),
            ..self.clone()
        }
    }
}

/// S²B: its transpose is the left inverse of B.
pub(crate) fn dual(basis: &Matrix, radius: f64) -> Matrix {
    let scale = |i: usize| if i % 6 < 3 { 1.0 / (radius * radius) } else { 1.0 };
    Matrix::from_fn(basis.rows(), basis.columns(), |i, j| scale(i) * basis[(i, j)])
}
