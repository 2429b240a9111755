//! A blended model from its numbers: what is computed once.

use alloc::{boxed::Box, vec::Vec};

use forks_lie::{Pose, se3::right_jacobian};
use forks_linalg::{Accuracy, Matrix, jacobi, sqrt};
use forks_rom::{
    Isa, ModelError,
    internal::{EffectorBlocks, Packed},
};

use crate::{
    chart::{Curved, Kinematics},
    check::check,
    curvature::{self, Curvature},
    data::{BlendData, SampleData, dual},
    joint_blend::joint_blends,
    link_stream::LinkStream,
    matrices::{Blend, Family, most_central},
    model::{BlendedModel, Matrices, Prepared, chart_twist},
    neighbours::Graph,
    tree::Tree,
    weights::Weights,
};

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
            tree: None,
            blend: Blend::Energy,
            matrices: None,
            graph: Graph::default(),
            isa: Isa::detect(),
            data,
        };
        if let (Kinematics::Joints, Some(c)) = (out.data.kinematics, &out.samples[0].curved) {
            let model = out.data.samples[0].model.data();
            out.tree = Some(Box::new(Tree::new(model, &c.joints, &out.data.link_forces)));
            out.leave_forces_to_links();
        }
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

    /// Takes what forces on links do at the sample from the slope of its energy, which has it.
    fn leave_forces_to_links(&mut self) {
        if self.data.link_forces.is_empty() {
            return;
        }
        let place = &self.samples[0].place;
        let held = self.elastic_force(place);
        if let Some(c) = &mut self.samples[0].curved {
            let polynomial = c.energy.first.clone();
            // The force there is the polynomial's and that of the links.
            let all = c.energy.first.iter_mut().zip(held.iter().zip(&polynomial));
            all.for_each(|(first, (held, own))| *first -= held - own);
        }
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
            model.hessian.plus_scaled(1.0, &curvature::stiffness_of_bending(&s.curvature, &force))
        }
        false => model.hessian.clone(),
    };
    let stiffness = stretched(&dual_own, &own_stiffness);
    let curvature = is_bent.then(|| Curvature::new(&s.curvature, &model.basis, &dual_own));
    Prepared {
        inverse_rest: model.effectors.iter().map(|f| f.rest.inverse()).collect(),
        static_wrench,
        curvature,
        curved: chart.map(|c| Curved::new(c, model, s.model.static_force(), data.kinematics)),
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
        rate: own_rate,
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
    jacobi(n, &mut values, &mut vectors, Accuracy::Entries);
    Some(Matrix::from_fn(n, n, |i, j| {
        let part = |k: usize| {
            let stretch = values[k * (n + 1)].max(0.0) / energy;
            vectors[k * n + i] * (stretch / (1.0 + stretch / STIFFEST)) * vectors[k * n + j]
        };
        (0..n).map(part).sum::<f64>() / (scale(i) * scale(j))
    }))
}
