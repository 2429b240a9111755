//! A blended model: its numbers, and what is computed from them once.

use alloc::{boxed::Box, vec::Vec};

use forks_lie::{Pose, Twist};
use forks_linalg::Matrix;
use forks_rom::{
    Isa, ModelError, ServoTerms,
    internal::{EffectorBlocks, Packed},
};

use crate::{
    chart::Curved,
    curvature::Curvature,
    data::BlendData,
    joint_blend::JointBlend,
    link_stream::LinkStream,
    matrices::{Blend, Family},
    neighbours::Graph,
    relative::Logarithm,
    tree::Tree,
    weights::Weights,
};

/// Several reduced models of one mechanism, blended by their energies.
#[derive(Clone, Debug)]
pub struct BlendedModel {
    pub(crate) data: BlendData,
    pub(crate) chart: EffectorBlocks,
    pub(crate) samples: Vec<Prepared>,
    pub(crate) joints: Vec<JointBlend>,
    pub(crate) links: LinkStream,
    /// Of a manifold.
    pub(crate) tree: Option<Box<Tree>>,
    pub(crate) isa: Isa,
    pub(crate) blend: Blend,
    /// For the blends that need them.
    pub(crate) matrices: Option<Matrices>,
    pub(crate) graph: Graph,
}

/// Matrices at the samples, ready to be blended.
#[derive(Clone, Debug)]
pub(crate) struct Matrices {
    /// S⁻¹ K S⁻¹, 6E × 6E.
    pub(crate) stiffness: Family,
    /// In chart coordinates, N × N each.
    pub(crate) mass: Family,
    pub(crate) damping: Family,
    pub(crate) hessian: Family,
}

impl Matrices {
    /// Numbers that blending one of them needs.
    pub(crate) fn scratch(&self) -> usize {
        let all = [&self.stiffness, &self.mass, &self.damping, &self.hessian];
        all.iter().map(|f| f.scratch()).fold(0, usize::max)
    }
}

/// A sample as the evaluation needs it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// H_{e,i}⁻¹.
    pub(crate) inverse_rest: Vec<Pose>,
    /// b, 6E.
    pub(crate) static_wrench: Vec<f64>,
    /// K, 6E × 6E: S²B 𝓗 BᵀS².
    pub(crate) stiffness: Packed,
    /// √|K_kk|, 6E.
    pub(crate) stretch: Vec<f64>,
    pub(crate) potential: f64,
    pub(crate) servos: ServoTerms,
    /// K ξ_s per servo target, ξ_s the displacement at which the mechanism rests for it: 6E ×
    /// servos.
    pub(crate) servo_wrench: Matrix,
    /// K⁺/ε for [`Weights::Metric`].
    pub(crate) metric: Option<Packed>,
    pub(crate) curvature: Option<Curvature>,
    /// In a chart of joint displacements.
    pub(crate) curved: Option<Curved>,
    /// BᵀS² of the sample, N × 6E.
    pub(crate) coordinates: Packed,
    /// Place in the chart.
    pub(crate) place: Vec<f64>,
    /// ∂η/∂x there, N × N.
    pub(crate) rate: Matrix,
    /// Mass, damping and second derivative of the energy at the sample in chart coordinates, N × N
    /// each.
    pub(crate) mass: Matrix,
    pub(crate) damping: Matrix,
    pub(crate) hessian: Matrix,
    /// 𝓗 in chart coordinates, without what the static wrenches add.
    pub(crate) elastic: Matrix,
}

impl BlendedModel {
    /// The same blend on another instruction set.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// How force and matrices follow from the samples'.
    pub fn blend(&self) -> Blend {
        self.blend
    }

    /// Mass between samples, N × N, for weights whose sum is 1; symmetric and positive
    /// semidefinite.
    pub fn mass(&self, weights: &[f64]) -> Matrix {
        self.blended(weights, |m| &m.mass, |s| &s.mass)
    }

    /// Damping between samples.
    pub fn damping(&self, weights: &[f64]) -> Matrix {
        self.blended(weights, |m| &m.damping, |s| &s.damping)
    }

    /// Elastic stiffness BᵀK B between samples in chart coordinates, loads apart.
    pub fn stiffness(&self, weights: &[f64]) -> Matrix {
        self.blended(weights, |m| &m.hessian, |s| &s.elastic)
    }

    fn blended(
        &self,
        weights: &[f64],
        family: impl Fn(&Matrices) -> &Family,
        of: impl Fn(&Prepared) -> &Matrix,
    ) -> Matrix {
        let n = self.dof();
        let mut out = alloc::vec![0.0; n * n];
        match &self.matrices {
            Some(m) => {
                family(m).blend(weights, &mut alloc::vec![0.0; m.scratch()], &mut out);
            }
            None => {
                for (w, s) in weights.iter().zip(&self.samples) {
                    out.iter_mut().zip(of(s).as_slice()).for_each(|(o, x)| *o += w * x);
                }
            }
        }
        Matrix::from_fn(n, n, |i, j| out[i * n + j])
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The numbers.
    pub fn data(&self) -> &BlendData {
        &self.data
    }

    /// Number of servos.
    pub fn servo_count(&self) -> usize {
        self.data.samples[0].model.data().servos.len()
    }

    /// N, the number of chart coordinates.
    pub fn dof(&self) -> usize {
        self.data.basis.columns()
    }

    /// Number of effectors.
    pub fn effector_count(&self) -> usize {
        self.data.reference.len()
    }

    /// Chart coordinates of sample `i`.
    pub fn place(&self, i: usize) -> &[f64] {
        &self.samples[i].place
    }

    /// The chart is one of joint displacements ([`ChartSample`](crate::ChartSample)).
    pub fn is_curved(&self) -> bool {
        !self.data.chart.is_empty()
    }

    /// Fails where a chart of joint displacements does not know what servo targets do.
    pub(crate) fn check_targets(&self, targets: &[f64]) -> Result<(), ModelError> {
        let unknown = |c: &crate::ChartSample| c.servos.rows() < targets.len();
        match targets.iter().any(|s| *s != 0.0) && self.data.chart.iter().any(unknown) {
            true => Err(ModelError::DrivenChart),
            false => Ok(()),
        }
    }

    /// Mass, damping and stiffness of steps are the same everywhere.
    pub(crate) fn has_constant_matrices(&self) -> bool {
        self.samples.len() == 1 && self.matrices.is_none()
    }

    pub(crate) fn is_bent(&self) -> bool {
        self.samples.iter().any(|s| s.curvature.is_some())
    }

    /// The weights' distances are taken in the samples' own metrics.
    pub(crate) fn has_metrics(&self) -> bool {
        matches!(self.data.weights, Weights::Metric { .. })
    }
}

/// B_e x.
pub(crate) fn chart_twist(basis: &Matrix, e: usize, x: &[f64]) -> Twist {
    Twist::from_array(core::array::from_fn(|i| {
        basis.row(6 * e + i).iter().zip(x).map(|(b, x)| b * x).sum()
    }))
}

/// The logarithm of each effector's pose relative to a sample's.
pub(crate) fn logarithm(s: &Prepared, e: usize, pose: &Pose) -> Logarithm {
    Logarithm::of(&(s.inverse_rest[e] * *pose))
}
