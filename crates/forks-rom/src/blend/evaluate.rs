//! Energy and force of a blend at one place, with everything that follows from the same logarithms.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Wrench};

use super::{
    model::{BlendedModel, logarithm},
    relative::Logarithm,
    weights::{Weights, printed, shepard},
};
use crate::{
    effectors::WorldWrench,
    kernel::{Kernel, LANES, Lanes},
};

/// Energy, force and weights at one place; its memory is used again at the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Evaluation {
    /// U, J.
    pub(super) energy: f64,
    /// ∂U/∂x, padded to whole lane groups.
    pub(super) gradient: Vec<f64>,
    /// α.
    pub(super) weights: Vec<f64>,
    /// ξ_i of all effectors, sample after sample: 6E each.
    pub(super) twists: Vec<f64>,
    /// η_i, sample after sample; see [`Evaluation::reduced_coordinates`].
    pub(super) etas: Vec<f64>,
    /// The first effector that is out of range.
    pub(super) outside: Option<usize>,
    /// Samples of weight above 0.
    pub(super) active: Vec<usize>,
    logarithms: Vec<Logarithm>,
    /// b_i + K_i ξ_i, each sample padded.
    wrenches: Vec<f64>,
    energies: Vec<f64>,
    /// d_i².
    distances: Vec<f64>,
}

impl Evaluation {
    pub(super) fn new(model: &BlendedModel) -> Self {
        let (samples, effectors) = (model.samples.len(), model.effector_count());
        let padded = (6 * effectors).div_ceil(LANES) * LANES;
        Self {
            gradient: vec![0.0; model.dof().div_ceil(LANES) * LANES],
            weights: vec![0.0; samples],
            twists: vec![0.0; samples * 6 * effectors],
            etas: vec![0.0; samples * model.dof()],
            active: Vec::with_capacity(samples),
            logarithms: vec![Logarithm::default(); samples * effectors],
            wrenches: vec![0.0; samples * padded],
            energies: vec![0.0; samples],
            distances: vec![0.0; samples],
            ..Self::default()
        }
    }

    /// Evaluates at chart coordinates `x`. Allocates nothing.
    pub(super) fn at(&mut self, model: &BlendedModel, x: &[f64]) {
        model.isa().run(Evaluate { model, x, out: self });
    }
}

struct Evaluate<'a> {
    model: &'a BlendedModel,
    x: &'a [f64],
    out: &'a mut Evaluation,
}

impl Kernel for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Self { model, x, out } = self;
        out.outside = None;
        for e in 0..model.effector_count() {
            let twist = model.chart.twist(l, e, x);
            if out.outside.is_none() && !model.chart.in_range(&twist) {
                out.outside = Some(e);
            }
            let rest = &model.data().reference[e];
            let pose = Pose::new(
                twist.rotation(l) * rest.rotation,
                rest.translation + twist.displacement(l),
            );
            out.see(model, e, &pose);
        }
        match model.data().weights {
            Weights::Shepard { exponent } => shepard(&out.distances, exponent, &mut out.weights),
            Weights::Printed => {
                printed(
                    &out.logarithms,
                    model.effector_count(),
                    model.data().radius,
                    &mut out.weights,
                );
            }
        }
        let weights = &out.weights;
        out.active.clear();
        out.active.extend((0..weights.len()).filter(|&i| weights[i] != 0.0));
        out.sample_energies(l, model);
        out.pull_back(l, model, x);
    }
}

impl Evaluation {
    /// η_i = BᵢᵀSᵢ² ξ_i, for the links.
    pub(super) fn reduced_coordinates(&mut self, model: &BlendedModel) {
        let (n, width) = (model.dof(), 6 * model.effector_count());
        for (i, s) in model.samples.iter().enumerate() {
            let eta = &mut self.etas[i * n..(i + 1) * n];
            eta.fill(0.0);
            for (xi, row) in self.twists[i * width..(i + 1) * width].iter().zip(s.dual.chunks(n)) {
                eta.iter_mut().zip(row).for_each(|(e, d)| *e += d * xi);
            }
        }
    }

    /// ξ_i and its share of d_i² for one effector at a pose.
    #[inline(always)]
    fn see(&mut self, model: &BlendedModel, e: usize, pose: &Pose) {
        let count = model.effector_count();
        let per_length = 1.0 / model.data().radius;
        for (i, s) in model.samples.iter().enumerate() {
            let log = logarithm(s, e, pose);
            self.logarithms[i * count + e] = log;
            self.twists[6 * (i * count + e)..][..6].copy_from_slice(&log.xi.to_array());
            let share =
                (log.xi.linear * per_length).length_squared() + log.xi.angular.length_squared();
            self.distances[i] = if e == 0 { share } else { self.distances[i] + share };
        }
    }

    /// U_i and w_i = b_i + K_i ξ_i; U = Σ α_i U_i.
    #[inline(always)]
    fn sample_energies<L: Lanes>(&mut self, l: L, model: &BlendedModel) {
        let width = 6 * model.effector_count();
        let padded = width.div_ceil(LANES) * LANES;
        self.energy = 0.0;
        for (i, s) in model.samples.iter().enumerate() {
            let xi = &self.twists[i * width..(i + 1) * width];
            let w = &mut self.wrenches[i * padded..(i + 1) * padded];
            s.stiffness.product(l, xi, w);
            let mut energy = s.potential;
            for ((w, xi), b) in w.iter_mut().zip(xi).zip(&s.static_wrench) {
                energy += xi * (b + 0.5 * *w);
                *w += b;
            }
            self.energies[i] = energy;
            self.energy += self.weights[i] * energy;
        }
    }

    /// ∂U/∂x = Bᵀ J_r(ξ_ref)ᵀ Σ_i J_r(ξ_i)⁻ᵀ (α_i w_i − p α_i (U_i − U)/d_i² S² ξ_i).
    #[inline(always)]
    fn pull_back<L: Lanes>(&mut self, l: L, model: &BlendedModel, x: &[f64]) {
        let count = model.effector_count();
        let padded = (6 * count).div_ceil(LANES) * LANES;
        let exponent = match model.data().weights {
            Weights::Shepard { exponent } => f64::from(exponent),
            Weights::Printed => 0.0,
        };
        let per_area = 1.0 / (model.data().radius * model.data().radius);
        for e in 0..count {
            let mut total = Wrench::ZERO;
            for i in 0..model.samples.len() {
                let alpha = self.weights[i];
                let d = self.distances[i];
                let log = &self.logarithms[i * count + e];
                let w = &self.wrenches[i * padded + 6 * e..][..6];
                let w = Wrench::from_array([w[0], w[1], w[2], w[3], w[4], w[5]]);
                // At a sample the weights have no slope.
                let slope = match d > 0.0 {
                    true => -exponent * alpha * (self.energies[i] - self.energy) / d,
                    false => 0.0,
                };
                let force = w.force * alpha + log.xi.linear * (slope * per_area);
                let torque = w.torque * alpha + log.xi.angular * slope;
                total += log.pull_back(Wrench::new(force, torque));
            }
            let twist = model.chart.twist(l, e, x);
            let rotation = twist.rotation(l) * model.data().reference[e].rotation;
            let world =
                WorldWrench { force: rotation * total.force, torque: rotation * total.torque };
            let g = twist.pull_back(l, &world);
            model.chart.add_force(l, e, &g, e > 0, &mut self.gradient);
        }
    }
}
