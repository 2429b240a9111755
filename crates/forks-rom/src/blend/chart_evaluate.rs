//! Energy, force and effectors of a blend in a chart of joint displacements; see [`super::chart`].

use alloc::{vec, vec::Vec};

use forks_lie::{
    Twist, Wrench,
    glam::{DQuat, DVec3},
    right_jacobian,
};

use super::{
    chart::{Curved, fill_products, fill_slopes, products},
    curvature::pairs,
    evaluate::{Evaluation, padded},
    model::BlendedModel,
    relative::Logarithm,
    step::{factor_system, solve_factored},
    weights::{Weights, shepard},
};
use crate::{EffectorLoad, LoadFrame, kernel::Lanes};

/// Memory for a place in a chart of joint displacements.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Products of y_i, sample after sample.
    products: Vec<f64>,
    slopes: Vec<f64>,
    /// Effectors' twists and energy of a sample, padded; then their derivatives, coordinate after coordinate.
    values: Vec<f64>,
    /// ∂α_i/∂x, sample after sample.
    weight_slopes: Vec<f64>,
    /// Effector after effector, per coordinate: motion of the origin and rotation, world axes.
    motions: Vec<(DVec3, DVec3)>,
    /// ∂/∂x of Σ α_i q_i, q_i quaternions of an effector, with the sum of these; effector after effector.
    turns: Vec<DQuat>,
    sums: Vec<DQuat>,
    gram: Vec<f64>,
    factor: Vec<f64>,
    right: Vec<f64>,
}

impl Places {
    pub(super) fn new(model: &BlendedModel) -> Self {
        if !model.is_curved() {
            return Self::default();
        }
        let (n, samples, effectors) = (model.dof(), model.samples.len(), model.effector_count());
        Self {
            products: vec![0.0; samples * products(n)],
            slopes: vec![0.0; products(n)],
            values: vec![0.0; (n + 1) * padded(6 * effectors + 1)],
            weight_slopes: vec![0.0; samples * n],
            motions: vec![Default::default(); effectors * n],
            turns: vec![NOTHING; effectors * n],
            sums: vec![NOTHING; effectors],
            gram: vec![0.0; n * n],
            factor: vec![0.0; n * n],
            right: vec![0.0; n],
        }
    }

    /// Products of one and two coordinates of a sample, for its links and joints.
    #[inline(always)]
    pub(super) fn reduced(&self, n: usize, sample: usize) -> &[f64] {
        &self.products[sample * products(n)..][..n + pairs(n)]
    }

    /// Motion of an effector per coordinate: of its origin and rotation, world axes.
    #[inline(always)]
    pub(super) fn motions(&self, n: usize, e: usize) -> &[(DVec3, DVec3)] {
        &self.motions[e * n..(e + 1) * n]
    }
}

const NOTHING: DQuat = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);

impl Evaluation {
    /// Everything at `x`.
    #[inline(always)]
    pub(super) fn at_chart<L: Lanes>(&mut self, l: L, model: &BlendedModel, x: &[f64]) {
        self.chart_weights(model, x);
        (self.energy, self.size_of_terms) = (0.0, 0.0);
        self.gradient.fill(0.0);
        self.places.motions.fill(Default::default());
        self.places.turns.fill(NOTHING);
        self.places.sums.fill(NOTHING);
        self.poses.iter_mut().for_each(|p| p.translation = DVec3::ZERO);
        for k in 0..self.active.len() {
            let i = self.active[k];
            if let Some(c) = &model.samples[i].curved {
                self.add_sample(l, model.samples[i].potential, c, i);
            }
        }
        // Σ ∂α_i = 0: energies count from the mean.
        let n = x.len();
        for &i in &self.active {
            let excess = self.energies[i] - self.energy;
            let slopes = &self.places.weight_slopes[i * n..(i + 1) * n];
            self.gradient.iter_mut().zip(slopes).for_each(|(g, s)| *g += excess * s);
        }
        self.turn_effectors(n);
        self.chart_outside(model);
        self.hold(model);
    }

    #[inline(always)]
    fn chart_weights(&mut self, model: &BlendedModel, x: &[f64]) {
        let (n, all) = (x.len(), products(x.len()));
        let curved = model.samples.iter().filter_map(|s| s.curved.as_ref());
        for (i, c) in curved.enumerate() {
            let y = &mut self.places.right[..n];
            y.iter_mut().zip(x.iter().zip(&c.place)).for_each(|(y, (a, b))| *y = a - b);
            self.distances[i] = y.iter().map(|y| y * y).sum();
            fill_products(y, &mut self.places.products[i * all..(i + 1) * all]);
        }
        let exponent = exponent(model);
        shepard(&self.distances, exponent, &mut self.weights);
        let weights = &self.weights;
        self.active.clear();
        self.active.extend((0..weights.len()).filter(|&i| weights[i] != 0.0));
        // ∂ log α_i/∂x = −p y/d² but for what all have in common; none at a sample.
        let p = f64::from(exponent);
        let common = &mut self.places.right;
        common.fill(0.0);
        for &i in &self.active {
            let (alpha, d) = (self.weights[i], self.distances[i]);
            let rate = if d > 0.0 { -p * alpha / d } else { 0.0 };
            let y = &self.places.products[i * all..i * all + n];
            let out = &mut self.places.weight_slopes[i * n..(i + 1) * n];
            for ((o, y), c) in out.iter_mut().zip(y).zip(common.iter_mut()) {
                *o = rate * y;
                *c += *o;
            }
        }
        for &i in &self.active {
            let out = &mut self.places.weight_slopes[i * n..(i + 1) * n];
            out.iter_mut().zip(common.iter()).for_each(|(o, c)| *o -= self.weights[i] * c);
        }
    }

    /// Adds a sample's share of energy, force, and the effectors' poses and motions.
    #[inline(always)]
    fn add_sample<L: Lanes>(&mut self, l: L, potential: f64, c: &Curved, i: usize) {
        let (n, count) = (c.place.len(), c.rests.len());
        let (all, stride) = (products(n), padded(6 * count + 1));
        let alpha = self.weights[i];
        let places = &mut self.places;
        let y = &places.products[i * all..(i + 1) * all];
        c.polynomials.product(l, y, &mut places.values[..stride]);
        for k in 0..n {
            fill_slopes(y, n, k, &mut places.slopes);
            let out = &mut places.values[(k + 1) * stride..(k + 2) * stride];
            c.polynomials.product(l, &places.slopes, out);
        }
        let change = places.values[6 * count];
        self.energies[i] = potential + change;
        self.energy += alpha * self.energies[i];
        self.size_of_terms += alpha * (potential.abs() + change.abs());
        for (k, g) in self.gradient.iter_mut().take(n).enumerate() {
            *g += alpha * places.values[(k + 1) * stride + 6 * count];
        }
        for (e, rest) in c.rests.iter().enumerate() {
            let at = |k: usize| -> [f64; 6] {
                core::array::from_fn(|j| places.values[k * stride + 6 * e + j])
            };
            let xi = Twist::from_array(at(0));
            self.twists[6 * (i * count + e)..][..6].copy_from_slice(&at(0));
            let pose = rest.displaced(xi);
            let opposite = places.sums[e].dot(pose.rotation) < 0.0;
            let q = if opposite { -pose.rotation } else { pose.rotation };
            places.sums[e] += q * alpha;
            self.poses[e].translation += pose.translation * alpha;
            let right = right_jacobian(xi);
            for k in 0..n {
                let body = Twist::from_array(right.mul_vec(&at(k + 1)));
                let slope = places.weight_slopes[i * n + k];
                let (v, w) = (pose.rotation * body.linear, pose.rotation * body.angular);
                places.motions[e * n + k].0 += v * alpha + pose.translation * slope;
                let spin = DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * q;
                let turn = &mut places.turns[e * n + k];
                *turn += spin * (0.5 * alpha) + q * slope;
            }
        }
    }

    /// Σ_e J_eᵀ w_e of loads at the last place.
    #[inline(always)]
    pub(super) fn pull_chart_loads(&self, loads: &[EffectorLoad], out: &mut [f64], n: usize) {
        for load in loads {
            let Wrench { mut force, mut torque } = load.wrench;
            if load.frame == LoadFrame::Body {
                let rotation = self.poses[load.effector].rotation;
                (force, torque) = (rotation * force, rotation * torque);
            }
            for (o, m) in out.iter_mut().zip(self.places.motions(n, load.effector)) {
                *o += m.0.dot(force) + m.1.dot(torque);
            }
        }
    }

    /// Rotations of the effectors, those of Σ α_i q_i, and how they move: ω = 2 vec(q̇ q*).
    #[inline(always)]
    fn turn_effectors(&mut self, n: usize) {
        let places = &mut self.places;
        for (e, sum) in places.sums.iter().enumerate() {
            let length = sum.length();
            let rotation = *sum * (1.0 / length);
            self.poses[e].rotation = rotation;
            for k in e * n..(e + 1) * n {
                let q = places.turns[k] * rotation.conjugate();
                places.motions[k].1 = DVec3::new(q.x, q.y, q.z) * (2.0 / length);
            }
        }
    }

    #[inline(always)]
    fn chart_outside(&mut self, model: &BlendedModel) {
        let data = model.data();
        let relative = |e: usize| {
            let xi = Logarithm::of(&(data.reference[e].inverse() * self.poses[e])).xi;
            let (v, w) = (xi.linear / data.radius, xi.angular / core::f64::consts::PI);
            v.length_squared() + w.length_squared()
        };
        // Written so that NaN is outside.
        let inside = |e: usize| relative(e) <= data.range * data.range;
        self.outside = (0..model.effector_count()).find(|&e| !inside(e));
    }

    /// The smallest wrenches (lengths over r) that hold the effectors here: w = S⁻²J (JᵀS⁻²J)⁻¹ ∂U/∂x.
    #[inline(always)]
    fn hold(&mut self, model: &BlendedModel) {
        let (n, r) = (model.dof(), model.data().radius);
        let count = model.effector_count();
        let Self { places, gradient, held, poses, size_of_terms, .. } = self;
        let Places { motions, gram, factor, right, .. } = places;
        gram.fill(0.0);
        for motions in motions.chunks_exact(n) {
            for i in 0..n {
                for j in 0..=i {
                    let (a, b) = (&motions[i], &motions[j]);
                    gram[i * n + j] += a.0.dot(b.0) / (r * r) + a.1.dot(b.1);
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                gram[j * n + i] = gram[i * n + j];
            }
        }
        factor.fill(0.0);
        right.copy_from_slice(&gradient[..n]);
        if !factor_system(gram, gram, factor, 0.0, n) {
            return held.fill(Wrench::ZERO);
        }
        solve_factored(factor, right);
        for e in 0..count {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for (m, x) in motions[e * n..(e + 1) * n].iter().zip(right.iter()) {
                force += m.0 * (x / (r * r));
                torque += m.1 * *x;
            }
            *size_of_terms += force.length() * poses[e].translation.length() + torque.length();
            let back = poses[e].rotation.conjugate();
            held[e] = Wrench::new(back * force, back * torque);
        }
    }
}

fn exponent(model: &BlendedModel) -> u32 {
    match model.data().weights {
        Weights::Shepard { exponent } => exponent,
        _ => 6,
    }
}
