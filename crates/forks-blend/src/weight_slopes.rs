//! How the weights of a blend change with the place.

use forks_lie::Wrench;
use forks_linalg::simd::Arithmetic;
use forks_rom::internal::WorldWrench;

use crate::{evaluation::Evaluation, lanes::padded, model::BlendedModel, weights::Weights};

impl Evaluation {
    /// ∂α_i/∂x at the last place, sample after sample, each padded. With d_i² the distances and
    /// q_i = ½ ∂d_i²/∂x it is p α_i (Σ_j α_j q_j/d_j² − q_i/d_i²); zero at a sample, and for
    /// weights of neighbours and as printed.
    #[inline(always)]
    pub(crate) fn weight_slopes<L: Arithmetic>(
        &mut self,
        l: L,
        model: &BlendedModel,
        x: &[f64],
        out: &mut [f64],
    ) {
        let (n, count) = (model.dof(), model.effector_count());
        let (stride, wide) = (padded(n), padded(6 * count));
        out.fill(0.0);
        if model.is_curved() {
            let all = out.chunks_exact_mut(stride).zip(self.places.weight_slopes.chunks_exact(n));
            return all.for_each(|(out, slopes)| out[..n].copy_from_slice(slopes));
        }
        let (Weights::Shepard { exponent } | Weights::Metric { exponent, .. }) =
            model.data().weights
        else {
            return;
        };
        if self.active.iter().any(|&i| self.distances[i] <= 0.0) {
            return;
        }
        let per_area = 1.0 / (model.data().radius * model.data().radius);
        for &i in &self.active {
            // ½ ∂d²/∂ξ of all effectors; the samples' wrenches have served.
            let pull = &mut self.wrenches[i * wide..(i + 1) * wide];
            pull.fill(0.0);
            if !self.pulls.is_empty() {
                pull.copy_from_slice(&self.pulls[i * wide..(i + 1) * wide]);
                if let Some(c) = &model.samples[i].curvature {
                    c.straighten(l, &self.etas[i * stride..][..n], &mut self.bending, pull);
                }
            }
            let part = -f64::from(exponent) * self.weights[i] / self.distances[i];
            let slope = &mut out[i * stride..(i + 1) * stride];
            for (e, pull) in pull.as_chunks::<6>().0.iter().enumerate().take(count) {
                let log = &self.logarithms[i * count + e];
                let plain = Wrench::new(log.xi.linear * per_area, log.xi.angular);
                let body = log.pull_back((Wrench::from_array(*pull) + plain) * part);
                let rotation = self.poses[e].rotation;
                let world =
                    WorldWrench { force: rotation * body.force, torque: rotation * body.torque };
                let force = model.chart.twist(l, e, x).pull_back(l, &world);
                model.chart.add_force(l, e, &force, e > 0, slope);
            }
        }
        // Σ ∂α_i = 0.
        for k in 0..n {
            let common: f64 = self.active.iter().map(|i| out[i * stride + k]).sum();
            self.active.iter().for_each(|&i| out[i * stride + k] -= self.weights[i] * common);
        }
    }
}
