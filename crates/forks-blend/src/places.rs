//! Memory of places in charts of joint displacements.

use alloc::{vec, vec::Vec};

use forks_lie::glam::{DQuat, DVec3};

use crate::{
    chart_polynomials::Jets, curvature::pairs, edge::Edge, lanes::padded, model::BlendedModel,
};
use forks_linalg::simd::Lanes;

/// Memory for a place in a chart of joint displacements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// y_i and its products of two, sample after sample.
    pub(crate) products: Vec<f64>,
    pub(crate) jets: Jets,
    /// Effectors' twists and energy of a sample, padded; then their derivatives, coordinate after
    /// coordinate.
    pub(crate) values: Vec<f64>,
    /// ∂α_i/∂x, sample after sample.
    pub(crate) weight_slopes: Vec<f64>,
    /// Effector after effector, per coordinate: motion of the origin and rotation, world axes.
    pub(crate) motions: Vec<(DVec3, DVec3)>,
    /// ∂/∂x of Σ α_i p_i and of Σ α_i q_i, p_i places and q_i quaternions of an effector, per
    /// coordinate; effector after effector.
    pub(crate) rates: Vec<[Lanes; 2]>,
    /// Σ α_i q_i.
    pub(crate) sums: Vec<DQuat>,
    pub(crate) right: Vec<f64>,
    /// Where polynomials are taken for places beyond the guard.
    pub(crate) clamped: Vec<f64>,
    /// Gx of such a place, G the guard's metric; then ∂s/∂x = Gx/s.
    pub(crate) outward: Vec<f64>,
    /// The last place, if it is beyond the guard.
    pub(crate) edge: Option<Edge>,
    /// For the energy on a manifold.
    pub(crate) inner: Vec<f64>,
}

impl Places {
    pub(crate) fn new(model: &BlendedModel) -> Self {
        if !model.is_curved() {
            return Self::default();
        }
        let (n, samples, effectors) = (model.dof(), model.samples.len(), model.effector_count());
        Self {
            products: vec![0.0; samples * (n + pairs(n))],
            jets: Jets::new(n),
            values: vec![0.0; (n + 1) * padded(6 * effectors + 1)],
            weight_slopes: vec![0.0; samples * n],
            motions: vec![Default::default(); effectors * n],
            rates: vec![Default::default(); effectors * n],
            sums: vec![NOTHING; effectors],
            right: vec![0.0; n],
            clamped: vec![0.0; n],
            outward: vec![0.0; n],
            edge: None,
            inner: vec![0.0; if model.tree.is_some() { pairs(n) } else { 0 }],
        }
    }

    /// Finds out whether a place is beyond the guard; c is then left in `clamped`, ∂s/∂x in
    /// `outward`.
    #[inline(always)]
    pub(crate) fn locate(&mut self, model: &BlendedModel, x: &[f64]) {
        let guard = model.data().guard.as_ref();
        self.edge = guard.and_then(|g| Edge::new(g, x, &mut self.outward, &mut self.clamped));
    }

    /// Derivatives by x from those by the place on the guard's edge; as they are inside.
    #[inline(always)]
    pub(crate) fn turn_outward(&self, slopes: &mut [f64]) {
        let Some(edge) = &self.edge else { return };
        let along: f64 = slopes.iter().zip(&self.clamped).map(|(g, c)| g * c).sum();
        let part = edge.turned * along / edge.shrunk;
        for (g, outward) in slopes.iter_mut().zip(&self.outward) {
            *g = edge.shrunk * *g + part * outward;
        }
    }

    /// Products of one and two coordinates of a sample, for its links and joints.
    #[inline(always)]
    pub(crate) fn reduced(&self, n: usize, sample: usize) -> &[f64] {
        &self.products[sample * (n + pairs(n))..][..n + pairs(n)]
    }

    /// Motion of an effector per coordinate: of its origin and rotation, world axes.
    #[inline(always)]
    pub(crate) fn motions(&self, n: usize, e: usize) -> &[(DVec3, DVec3)] {
        &self.motions[e * n..(e + 1) * n]
    }
}

pub(crate) const NOTHING: DQuat = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
