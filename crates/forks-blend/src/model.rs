//! The numbers of a blended model, and what is computed from them once.

use alloc::{sync::Arc, vec::Vec};

use forks_lie::{Pose, Twist, Wrench, right_jacobian};
use forks_linalg::Matrix;
use forks_rom::{
    Isa, ModelError, ReducedModel, ServoTerms,
    internal::{EffectorBlocks, Packed, sqrt, sum},
};

use crate::{
    chart::{ChartSample, Curved},
    check::check,
    curvature::{self, Curvature},
    eigen::jacobi,
    evaluate::Evaluation,
    joint_space::{JointBlend, joint_blends},
    link_stream::LinkStream,
    matrices::{Blend, Family, most_central},
    neighbours::Graph,
    relative::Logarithm,
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
    /// coordinates there are.
    pub chart: Vec<ChartSample>,
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

/// Several reduced models of one mechanism, blended by their energies.
#[derive(Clone, Debug)]
pub struct BlendedModel {
    data: BlendData,
    pub(crate) chart: EffectorBlocks,
    pub(crate) samples: Vec<Prepared>,
    pub(crate) joints: Vec<JointBlend>,
    pub(crate) links: LinkStream,
    isa: Isa,
    blend: Blend,
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
    /// Mass, damping and second derivative of the energy at the sample in chart coordinates, N × N
    /// each.
    pub(crate) mass: Matrix,
    pub(crate) damping: Matrix,
    pub(crate) hessian: Matrix,
    /// 𝓗 in chart coordinates, without what the static wrenches add.
    pub(crate) elastic: Matrix,
}

impl BlendedModel {
    /// Checks the numbers and makes a blend.
    ///
    /// # Errors
    /// No sample, samples with other effectors, links or numbers of coordinates, a basis that is
    /// not orthonormal, weights with p < 4 or odd, numbers that are not finite; in a chart of joint
    /// displacements, other weights than [`Weights::Shepard`].
    pub fn new(data: BlendData) -> Result<Self, ModelError> {
        check(&data)?;
        let rotations = data.reference.iter().map(|p| p.rotation).collect();
        let chart = EffectorBlocks::from_parts(rotations, &data.basis, data.radius, data.range);
        let samples = (0..data.samples.len()).map(|i| prepare(&data, i)).collect();
        let joints = joint_blends(&data)?;
        let mut out = Self {
            chart,
            samples,
            joints,
            links: LinkStream::default(),
            blend: Blend::Energy,
            matrices: None,
            graph: Graph::default(),
            isa: Isa::detect(),
            data,
        };
        if let Weights::Neighbours { count, .. } = out.data.weights {
            out.graph = Graph::new(&out.data, count as usize);
        }
        for i in 0..out.samples.len() {
            out.samples[i].hessian = out.second_derivative(i);
        }
        let blocks: Vec<_> = (0..out.samples.len()).map(|i| out.blocks(i)).collect();
        out.links = LinkStream::new(&blocks);
        Ok(out)
    }

    /// The same blend on another instruction set.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// The same blend with another way to force and matrices; in a chart of joint displacements
    /// there is no other.
    #[must_use]
    pub fn with_blend(mut self, blend: Blend) -> Self {
        if self.is_curved() {
            return self;
        }
        self.blend = blend;
        self.matrices = (blend != Blend::Energy).then(|| self.families());
        self
    }

    /// How force and matrices follow from the samples'.
    pub fn blend(&self) -> Blend {
        self.blend
    }

    fn families(&self) -> Matrices {
        let places: Vec<&[f64]> = self.samples.iter().map(|s| &s.place[..]).collect();
        let reference = most_central(&places);
        let r = self.data.radius;
        let scale = |i: usize| if i % 6 < 3 { r } else { 1.0 };
        // Of straight samples: where matrices are blended nothing bends.
        let stiffness = |s: &SampleData| {
            let model = s.model.data();
            let n = 6 * self.effector_count();
            let k = stretched(&dual(&model.basis, model.radius), &model.hessian);
            Matrix::from_fn(n, n, |i, j| scale(i) * k[(i, j)] * scale(j)).symmetric_part()
        };
        let stiffness: Vec<Matrix> = self.data.samples.iter().map(stiffness).collect();
        let family = |of: &dyn Fn(&Prepared) -> Matrix| {
            let all: Vec<Matrix> = self.samples.iter().map(of).collect();
            Family::new(&all, reference, self.blend)
        };
        Matrices {
            stiffness: Family::new(&stiffness, reference, self.blend),
            mass: family(&|s| s.mass.clone()),
            damping: family(&|s| s.damping.clone()),
            hessian: family(&|s| s.elastic.clone()),
        }
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

    /// Wrenches that hold the effectors at `x`, each in its effector's displaced frame.
    pub fn effector_wrenches(&self, x: &[f64]) -> Vec<Wrench> {
        self.evaluated(x).held
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

    /// Twist of effector `e` from its reference pose, exponential coordinates: B_e x in a chart of
    /// poses.
    pub fn effector_twist(&self, e: usize, x: &[f64]) -> Twist {
        if self.is_curved() {
            return self.data.reference[e].twist_to(&self.effector_pose(e, x));
        }
        chart_twist(&self.data.basis, e, x)
    }

    /// World pose of effector `e`: H_ref,e exp(B_e x) in a chart of poses.
    pub fn effector_pose(&self, e: usize, x: &[f64]) -> Pose {
        if self.is_curved() {
            return self.evaluated(x).poses[e];
        }
        self.data.reference[e].displaced(self.effector_twist(e, x))
    }

    /// Potential energy of the blend at `x`, J.
    pub fn potential_energy(&self, x: &[f64]) -> f64 {
        self.evaluated(x).energy
    }

    /// Gradient of [`BlendedModel::potential_energy`].
    pub fn elastic_force(&self, x: &[f64]) -> Vec<f64> {
        self.evaluated(x).gradient[..self.dof()].to_vec()
    }

    /// Weights of the samples at `x`; their sum is 1.
    pub fn weights(&self, x: &[f64]) -> Vec<f64> {
        self.evaluated(x).weights
    }

    /// The chart is one of joint displacements ([`ChartSample`]).
    pub fn is_curved(&self) -> bool {
        !self.data.chart.is_empty()
    }

    pub(crate) fn is_bent(&self) -> bool {
        self.samples.iter().any(|s| s.curvature.is_some())
    }

    /// The weights' distances are taken in the samples' own metrics.
    pub(crate) fn has_metrics(&self) -> bool {
        matches!(self.data.weights, Weights::Metric { .. })
    }

    /// An evaluation with memory of its own.
    pub(crate) fn evaluated(&self, x: &[f64]) -> Evaluation {
        assert_eq!(x.len(), self.dof(), "chart coordinates");
        let mut out = Evaluation::new(self);
        out.at(self, x);
        out
    }

    /// ∂²U_i/∂x² at sample `i` by central differences of its exact gradient: it steers Newton's
    /// method only.
    fn second_derivative(&self, i: usize) -> Matrix {
        let n = self.dof();
        let alone = Self {
            samples: alloc::vec![self.samples[i].clone()],
            graph: Graph::default(),
            ..self.clone()
        };
        let place = &self.samples[i].place;
        let mut out = Matrix::zeros(n, n);
        for j in 0..n {
            let h = 1e-5;
            let side = |h: f64| {
                let mut x = place.clone();
                x[j] += h;
                alone.elastic_force(&x)
            };
            let (plus, minus) = (side(h), side(-h));
            for k in 0..n {
                out[(k, j)] = (plus[k] - minus[k]) / (2.0 * h);
            }
        }
        out.symmetric_part()
    }
}

fn chart_twist(basis: &Matrix, e: usize, x: &[f64]) -> Twist {
    Twist::from_array(core::array::from_fn(|i| {
        basis.row(6 * e + i).iter().zip(x).map(|(b, x)| b * x).sum()
    }))
}

/// S²B: its transpose is the left inverse of B.
pub(crate) fn dual(basis: &Matrix, radius: f64) -> Matrix {
    let scale = |i: usize| if i % 6 < 3 { 1.0 / (radius * radius) } else { 1.0 };
    Matrix::from_fn(basis.rows(), basis.columns(), |i, j| scale(i) * basis[(i, j)])
}

/// S²B 𝓗 BᵀS² from S²B and 𝓗.
fn stretched(dual: &Matrix, hessian: &Matrix) -> Matrix {
    dual.mul(&hessian.mul(&dual.transpose())).symmetric_part()
}

fn prepare(data: &BlendData, i: usize) -> Prepared {
    let s = &data.samples[i];
    let model = s.model.data();
    let chart = data.chart.get(i);
    let dual_chart = dual(&data.basis, data.radius);
    let twist_of = |e: usize, pose: &Pose| data.reference[e].twist_to(pose).to_array();
    let twists: Vec<f64> =
        model.effectors.iter().enumerate().flat_map(|(e, f)| twist_of(e, &f.rest)).collect();
    let place = match chart {
        Some(c) => c.place.clone(),
        None => dual_chart.transpose_mul_vec(&twists),
    };
    let dual_own = dual(&model.basis, model.radius);
    // ∂ξ_i/∂x at the sample, where J_r(ξ_i) = 1: J_r(ξ_ref) B.
    let mut rate = Matrix::zeros(data.basis.rows(), data.basis.columns());
    for e in 0..model.effectors.len() {
        let j = right_jacobian(chart_twist(&data.basis, e, &place));
        let b = data.basis.block(6 * e, 0, 6, data.basis.columns());
        let moved = Matrix::from_fn(6, 6, |i, k| j.rows[i][k]).mul(&b);
        for i in 0..6 {
            rate.row_mut(6 * e + i).copy_from_slice(moved.row(i));
        }
    }
    let own_rate = match chart {
        Some(c) => c.rate.clone(),
        None => dual_own.transpose_mul(&rate),
    };
    let congruence = |m: &Matrix| own_rate.transpose_mul(&m.mul(&own_rate)).symmetric_part();
    let static_wrench: Vec<f64> =
        model.effectors.iter().flat_map(|f| f.static_wrench.to_array()).collect();
    let is_bent = s.curvature.rows() > 0;
    let own_stiffness = match is_bent {
        true => {
            let force = model.basis.transpose_mul_vec(&static_wrench);
            sum(&model.hessian, 1.0, &curvature::stiffness_of_bending(&s.curvature, &force))
        }
        false => model.hessian.clone(),
    };
    let stiffness = stretched(&dual_own, &own_stiffness);
    let curvature = is_bent.then(|| Curvature::new(&s.curvature, &model.basis, &dual_own));
    Prepared {
        inverse_rest: model.effectors.iter().map(|f| f.rest.inverse()).collect(),
        static_wrench,
        curvature,
        curved: chart.map(|c| Curved::new(c, model, s.model.static_force())),
        stiffness: Packed::new(&stiffness),
        stretch: (0..stiffness.rows()).map(|k| sqrt(stiffness[(k, k)].abs())).collect(),
        metric: metric(data, &stiffness).as_ref().map(Packed::new),
        potential: s.potential,
        servos: s.servos.clone(),
        servo_wrench: dual_own.mul(&model.hessian.mul(&model.servo_rest)),
        coordinates: Packed::new(&dual_own.transpose()),
        place,
        mass: congruence(&model.mass),
        damping: congruence(&model.damping),
        hessian: congruence(&model.hessian),
        elastic: congruence(&model.hessian),
    }
}

/// However stiff a direction is, it counts at most as √30 times as long: a sample is asked where
/// its neighbours are.
const STIFFEST: f64 = 30.0;

/// K⁺/ε for weights in the samples' metrics, 6E × 6E; K⁺/ε ≪ 30 as it is, and never beyond 30.
fn metric(data: &BlendData, stiffness: &Matrix) -> Option<Matrix> {
    let Weights::Metric { energy, .. } = data.weights else { return None };
    let scale = |i: usize| if i % 6 < 3 { data.radius } else { 1.0 };
    let n = stiffness.rows();
    // K⁺ does not depend on the unit of length: it is taken with lengths over r.
    let scaled = Matrix::from_fn(n, n, |i, j| scale(i) * stiffness[(i, j)] * scale(j));
    let (mut values, mut vectors) = (scaled.as_slice().to_vec(), alloc::vec![0.0; n * n]);
    jacobi(&mut values, &mut vectors, n);
    Some(Matrix::from_fn(n, n, |i, j| {
        let part = |k: usize| {
            let stretch = values[k * (n + 1)].max(0.0) / energy;
            vectors[k * n + i] * (stretch / (1.0 + stretch / STIFFEST)) * vectors[k * n + j]
        };
        (0..n).map(part).sum::<f64>() / (scale(i) * scale(j))
    }))
}

/// The logarithm of each effector's pose relative to a sample's.
pub(crate) fn logarithm(s: &Prepared, e: usize, pose: &Pose) -> Logarithm {
    Logarithm::of(&(s.inverse_rest[e] * *pose))
}
