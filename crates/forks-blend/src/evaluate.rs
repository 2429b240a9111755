//! Energy and force of a blend at one place, with everything that follows from the same logarithms.

use forks_linalg::simd::{Arithmetic, Kernel, LANES};

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Wrench};
use forks_rom::internal::WorldWrench;

use crate::{
    chart_evaluate::Places,
    curvature::Bending,
    links::LinkBlend,
    matrices::Blend,
    mean::mean,
    model::{BlendedModel, logarithm},
    neighbours::Cutoff,
    relative::Logarithm,
    weights::{Weights, neighbours, printed, shepard},
};

/// Energy, force and weights at one place; its memory is used again at the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    /// U, J.
    pub(crate) energy: f64,
    /// Σ α_i times the sizes of what U_i is a sum of, J, and of the forces times how far from the
    /// origin they act: very stiff samples' terms cancel, and at rest the rounding of all these is
    /// what differences of energies are.
    pub(crate) size_of_terms: f64,
    /// ∂U/∂x, padded to whole lane groups.
    pub(crate) gradient: Vec<f64>,
    /// α.
    pub(crate) weights: Vec<f64>,
    /// ξ_i of all effectors, sample after sample: 6E each.
    pub(crate) twists: Vec<f64>,
    /// η_i, sample after sample, each padded; see [`Evaluation::reduced_coordinates`].
    etas: Vec<f64>,
    /// The first effector that is out of range.
    pub(crate) outside: Option<usize>,
    /// Samples of weight above 0.
    pub(crate) active: Vec<usize>,
    /// Body wrenches on the effectors that hold them here.
    pub(crate) held: Vec<Wrench>,
    /// Samples whose distances are known, and whether a sample is one.
    seen: Vec<usize>,
    is_seen: Vec<bool>,
    /// Effector poses.
    pub(crate) poses: Vec<Pose>,
    logarithms: Vec<Logarithm>,
    /// b_i + K_i ξ_i, each sample padded.
    wrenches: Vec<f64>,
    pub(crate) energies: Vec<f64>,
    /// Static wrenches b_i − K_i ξ_s for servo targets that are not 0, 6E each; empty where they
    /// are.
    driven_wrenches: Vec<f64>,
    /// What the targets add to the samples' energies.
    driven_energies: Vec<f64>,
    /// d_i².
    pub(crate) distances: Vec<f64>,
    /// ½ ∂d_i²/∂ξ_i for weights in the samples' metrics, each padded.
    pulls: Vec<f64>,
    cutoff: Cutoff,
    /// ξ̂_i, sample after sample, where samples are bent; see [`super::curvature`].
    bent: Vec<f64>,
    bending: Bending,
    /// In charts of joint displacements.
    pub(crate) places: Places,
    /// For blended matrices.
    stiffness: Vec<f64>,
    pub(crate) scratch: Vec<f64>,
}

impl Evaluation {
    pub(crate) fn new(model: &BlendedModel) -> Self {
        let (samples, effectors) = (model.samples.len(), model.effector_count());
        let stride = padded(6 * effectors);
        let blended = model.matrices.as_ref();
        Self {
            gradient: vec![0.0; model.dof().div_ceil(LANES) * LANES],
            weights: vec![0.0; samples],
            twists: vec![0.0; samples * 6 * effectors],
            etas: vec![0.0; samples * model.dof().div_ceil(LANES) * LANES],
            active: Vec::with_capacity(samples),
            held: vec![Wrench::ZERO; effectors],
            seen: Vec::with_capacity(samples),
            is_seen: vec![false; samples],
            poses: vec![Pose::IDENTITY; effectors],
            logarithms: vec![Logarithm::default(); samples * effectors],
            wrenches: vec![0.0; samples * stride],
            energies: vec![0.0; samples],
            distances: vec![f64::INFINITY; samples],
            pulls: vec![0.0; if model.has_metrics() { samples * stride } else { 0 }],
            bent: vec![0.0; if model.is_bent() { samples * 6 * effectors } else { 0 }],
            bending: Bending::new(model.dof(), effectors),
            places: Places::new(model),
            stiffness: vec![0.0; blended.map_or(0, |_| 36 * effectors * effectors)],
            scratch: vec![0.0; blended.map_or(0, |m| m.scratch())],
            ..Self::default()
        }
    }

    /// Sets the servos' targets for what is evaluated from now on.
    pub(crate) fn drive(&mut self, model: &BlendedModel, targets: &[f64]) {
        self.driven_wrenches.clear();
        self.driven_energies.clear();
        if targets.iter().all(|s| *s == 0.0) {
            return;
        }
        for s in &model.samples {
            let held = s.servo_wrench.mul_vec(targets);
            self.driven_wrenches.extend(s.static_wrench.iter().zip(held).map(|(b, w)| b - w));
            let change = s.servos.stiffness.mul_vec(targets);
            let terms = targets.iter().zip(s.servos.force.iter().zip(change));
            self.driven_energies.push(terms.map(|(s, (p, e))| s * (p + 0.5 * e)).sum());
        }
    }

    /// Static wrenches of a sample, with what the servos' targets change.
    #[inline(always)]
    fn static_wrench<'a>(&'a self, model: &'a BlendedModel, i: usize) -> &'a [f64] {
        let width = 6 * model.effector_count();
        match self.driven_wrenches.is_empty() {
            true => &model.samples[i].static_wrench,
            false => &self.driven_wrenches[i * width..(i + 1) * width],
        }
    }

    /// Evaluates at chart coordinates `x`. Allocates nothing.
    pub(crate) fn at(&mut self, model: &BlendedModel, x: &[f64]) {
        model.isa().run(Evaluate { model, x, out: self });
    }

    /// η_i = BᵢᵀSᵢ² ξ_i, for the links; charts of joint displacements have their products already.
    pub(crate) fn reduced_coordinates(&mut self, model: &BlendedModel) {
        if model.is_curved() {
            return;
        }
        model.isa().run(Coordinates { model, out: self });
    }

    /// η̂_i = BᵢᵀSᵢ² ξ̂_i, for joints.
    pub(crate) fn bent_coordinates(&mut self, model: &BlendedModel) {
        if self.bent.is_empty() {
            return self.reduced_coordinates(model);
        }
        core::mem::swap(&mut self.twists, &mut self.bent);
        self.reduced_coordinates(model);
        core::mem::swap(&mut self.twists, &mut self.bent);
    }

    /// η_i, as the last call of [`Evaluation::reduced_coordinates`] left it.
    #[inline(always)]
    pub(crate) fn eta(&self, model: &BlendedModel, i: usize) -> &[f64] {
        let n = model.dof();
        if model.is_curved() { self.places.reduced(n, i) } else { &self.etas[i * padded(n)..][..n] }
    }
}

/// Numbers of whole lane groups.
pub(crate) fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}

struct Coordinates<'a> {
    model: &'a BlendedModel,
    out: &'a mut Evaluation,
}

impl Kernel for Coordinates<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { model, out: Evaluation { active, etas, twists, .. } } = self;
        let (n, width) = (padded(model.dof()), 6 * model.effector_count());
        for &i in &*active {
            let xi = &twists[i * width..(i + 1) * width];
            model.samples[i].coordinates.product(l, xi, &mut etas[i * n..(i + 1) * n]);
        }
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
    fn run<L: Arithmetic>(self, l: L) {
        let Self { model, x, out } = self;
        if model.is_curved() {
            return out.at_chart(l, model, x);
        }
        out.outside = None;
        for e in 0..model.effector_count() {
            let twist = model.chart.twist(l, e, x);
            if out.outside.is_none() && !model.chart.in_range(&twist) {
                out.outside = Some(e);
            }
            let rest = &model.data().reference[e];
            out.poses[e] = Pose::new(
                twist.rotation(l) * rest.rotation,
                rest.translation + twist.displacement(l),
            );
        }
        out.weigh(l, model);
        out.sample_energies(l, model);
        match model.blend() {
            Blend::Energy => out.gradients(l, model),
            _ => out.blended_wrenches(model),
        }
        out.pull_back(l, model, x);
    }
}

impl Evaluation {
    /// Distances, then weights.
    #[inline(always)]
    fn weigh<L: Arithmetic>(&mut self, l: L, model: &BlendedModel) {
        match model.data().weights {
            Weights::Neighbours { exponent, count } => {
                self.walk(model, f64::from(count));
                let seen = &self.seen;
                neighbours(&self.distances, seen, exponent, &self.cutoff, &mut self.weights);
            }
            Weights::Shepard { exponent } => {
                self.see_all(model);
                shepard(&self.distances, exponent, &mut self.weights);
            }
            Weights::Metric { exponent, .. } => {
                self.see_all(model);
                if !self.bent.is_empty() {
                    (0..model.samples.len()).for_each(|i| self.bend(l, model, i));
                }
                self.measure(l, model);
                shepard(&self.distances, exponent, &mut self.weights);
            }
            Weights::Printed => {
                self.see_all(model);
                let (count, radius) = (model.effector_count(), model.data().radius);
                printed(&self.logarithms, count, radius, &mut self.weights);
            }
        }
        let weights = &self.weights;
        self.active.clear();
        self.active.extend((0..weights.len()).filter(|&i| weights[i] != 0.0));
        // For metrics those of all samples are known.
        if !self.bent.is_empty() && !model.has_metrics() {
            for k in 0..self.active.len() {
                self.bend(l, model, self.active[k]);
            }
        }
    }

    /// ξ̂_i of a sample.
    #[inline(always)]
    fn bend<L: Arithmetic>(&mut self, l: L, model: &BlendedModel, i: usize) {
        let (s, n, width) = (&model.samples[i], model.dof(), 6 * model.effector_count());
        let range = i * width..(i + 1) * width;
        let (xi, bent) = (&self.twists[range.clone()], &mut self.bent[range]);
        let Some(c) = &s.curvature else {
            return bent.copy_from_slice(xi);
        };
        let eta = &mut self.etas[i * padded(n)..(i + 1) * padded(n)];
        s.coordinates.product(l, xi, eta);
        c.bend(l, &eta[..n], xi, &mut self.bending, bent);
    }

    #[inline(always)]
    fn see_all(&mut self, model: &BlendedModel) {
        for i in 0..model.samples.len() {
            self.see(model, i);
        }
    }

    /// ξ_i and d_i² of a sample.
    #[inline(always)]
    fn see(&mut self, model: &BlendedModel, i: usize) {
        let count = model.effector_count();
        let per_length = 1.0 / model.data().radius;
        let mut distance = 0.0;
        for (e, pose) in self.poses.iter().enumerate() {
            let log = logarithm(&model.samples[i], e, pose);
            self.logarithms[i * count + e] = log;
            self.twists[6 * (i * count + e)..][..6].copy_from_slice(&log.xi.to_array());
            distance +=
                (log.xi.linear * per_length).length_squared() + log.xi.angular.length_squared();
        }
        self.distances[i] = distance;
    }

    /// d_i² = ξᵀS²ξ + ξ̂ᵀK_i⁺ξ̂/ε in the samples' own metrics.
    #[inline(always)]
    fn measure<L: Arithmetic>(&mut self, l: L, model: &BlendedModel) {
        let width = 6 * model.effector_count();
        let stride = padded(width);
        for (i, s) in model.samples.iter().enumerate() {
            let Some(metric) = &s.metric else { continue };
            let twists = if self.bent.is_empty() { &self.twists } else { &self.bent };
            let xi = &twists[i * width..(i + 1) * width];
            let pull = &mut self.pulls[i * stride..(i + 1) * stride];
            metric.product(l, xi, pull);
            for (x, p) in xi.iter().zip(pull.iter()) {
                self.distances[i] += x * p;
            }
        }
    }

    /// Sees all samples within the cutoff: from the nearest of the last time to ever nearer ones,
    /// then around.
    fn walk(&mut self, model: &BlendedModel, wanted: f64) {
        let edges = &model.graph.edges;
        let start = self
            .seen
            .iter()
            .copied()
            .min_by(|&a, &b| self.distances[a].total_cmp(&self.distances[b]));
        for &i in &self.seen {
            (self.is_seen[i], self.distances[i]) = (false, f64::INFINITY);
        }
        self.seen.clear();
        if edges.is_empty() {
            (0..model.samples.len()).for_each(|i| self.visit(model, i));
        } else {
            let mut home = start.unwrap_or(0);
            self.visit(model, home);
            loop {
                edges[home].iter().for_each(|&j| self.visit(model, j));
                let nearest =
                    |a: &usize, b: &usize| self.distances[*a].total_cmp(&self.distances[*b]);
                let Some(next) = edges[home].iter().copied().min_by(nearest) else { break };
                if self.distances[next] >= self.distances[home] {
                    break;
                }
                home = next;
            }
            let mut at = 0;
            while at < self.seen.len() {
                let i = self.seen[at];
                let distances = &self.distances;
                self.cutoff = Cutoff::new(self.seen.iter().map(|&i| distances[i]), wanted);
                if self.distances[i] * self.cutoff.inverse < 1.0 {
                    edges[i].iter().for_each(|&j| self.visit(model, j));
                }
                at += 1;
            }
        }
        // Sums in the order of the samples do not depend on the way.
        self.seen.sort_unstable();
        let distances = &self.distances;
        self.cutoff = Cutoff::new(self.seen.iter().map(|&i| distances[i]), wanted);
    }

    fn visit(&mut self, model: &BlendedModel, i: usize) {
        if !core::mem::replace(&mut self.is_seen[i], true) {
            self.seen.push(i);
            self.see(model, i);
        }
    }

    /// U_i and w_i = b_i + K_i ξ_i; U = Σ α_i U_i.
    #[inline(always)]
    fn sample_energies<L: Arithmetic>(&mut self, l: L, model: &BlendedModel) {
        let width = 6 * model.effector_count();
        let stride = padded(width);
        (self.energy, self.size_of_terms) = (0.0, 0.0);
        for &i in &self.active {
            let s = &model.samples[i];
            let twists = if self.bent.is_empty() { &self.twists } else { &self.bent };
            let xi = &twists[i * width..(i + 1) * width];
            let w = &mut self.wrenches[i * stride..(i + 1) * stride];
            s.stiffness.product(l, xi, w);
            let (mut energy, mut held) = (s.potential, &s.static_wrench[..]);
            if let Some(driven) = self.driven_energies.get(i) {
                energy += driven;
                held = &self.driven_wrenches[i * width..(i + 1) * width];
            }
            // |ξ|ᵀ|K||ξ| ≤ (Σ √K_kk |ξ_k|)² where K is positive.
            let (mut size, mut root) = (energy.abs(), 0.0);
            for (((w, xi), b), stretch) in w.iter_mut().zip(xi).zip(held).zip(&s.stretch) {
                energy += xi * (b + 0.5 * *w);
                size += (xi * b).abs();
                root += stretch * xi.abs();
                *w += b;
            }
            self.energies[i] = energy;
            self.energy += self.weights[i] * energy;
            self.size_of_terms += self.weights[i] * (size + 0.5 * root * root);
        }
    }

    /// Body wrenches Σ_i J_r(ξ_i)⁻ᵀ (α_i w_i + ∂U/∂d_i² 2 S² ξ_i).
    #[inline(always)]
    fn gradients<L: Arithmetic>(&mut self, l: L, model: &BlendedModel) {
        let count = model.effector_count();
        let stride = padded(6 * count);
        let (exponent, smooth) = match model.data().weights {
            Weights::Shepard { exponent } | Weights::Metric { exponent, .. } => {
                (f64::from(exponent), false)
            }
            Weights::Neighbours { exponent, .. } => (f64::from(exponent), true),
            Weights::Printed => (0.0, false),
        };
        let per_area = 1.0 / (model.data().radius * model.data().radius);
        let excess = |i: usize| self.energies[i] - self.energy;
        let pull = match smooth {
            true => {
                let terms = self.active.iter();
                self.cutoff.pull(terms.map(|&i| (self.distances[i], self.weights[i], excess(i))))
            }
            false => 0.0,
        };
        self.held.fill(Wrench::ZERO);
        for &i in &self.active {
            let (alpha, d) = (self.weights[i], self.distances[i]);
            // At a sample the weights have no slope.
            let mut slope = match d > 0.0 {
                true => -exponent * alpha * excess(i) / d,
                false => 0.0,
            };
            if smooth {
                slope += 2.0 * self.cutoff.slope(d, alpha, excess(i), pull);
            }
            let all = &mut self.wrenches[i * stride..(i + 1) * stride];
            all.iter_mut().for_each(|w| *w *= alpha);
            if !self.pulls.is_empty() {
                let pulls = &self.pulls[i * stride..(i + 1) * stride];
                all.iter_mut().zip(pulls).for_each(|(w, p)| *w += p * slope);
            }
            let s = &model.samples[i];
            if let Some(c) = &s.curvature {
                let eta = &self.etas[i * padded(model.dof())..][..model.dof()];
                c.straighten(l, eta, &mut self.bending, all);
            }
            for (e, held) in self.held.iter_mut().enumerate() {
                let log = &self.logarithms[i * count + e];
                let pull = Wrench::new(log.xi.linear * per_area, log.xi.angular);
                let w = wrench_at(&self.wrenches, i * stride + 6 * e);
                *held += log.pull_back(w + pull * slope);
            }
        }
    }

    /// Body wrenches J_r(y)⁻ᵀ (b̄ + K̄ y) for the displacement y from the blended reference poses
    /// (\[A16\] Eq. 24).
    fn blended_wrenches(&mut self, model: &BlendedModel) {
        let Some(matrices) = &model.matrices else { return };
        let count = model.effector_count();
        let width = 6 * count;
        matrices.stiffness.blend(&self.weights, &mut self.scratch, &mut self.stiffness);
        for e in 0..count {
            let rest = |i: usize| model.data().samples[i].model.data().effectors[e].rest;
            let weighted = self.active.iter().map(|&i| (self.weights[i], rest(i)));
            let reference: Pose = mean(LinkBlend::Logarithm, weighted);
            self.logarithms[e] = Logarithm::of(&(reference.inverse() * self.poses[e]));
            self.wrenches[6 * e..][..6].copy_from_slice(&self.logarithms[e].xi.to_array());
        }
        let r = model.data().radius;
        let scale = |k: usize| if k % 6 < 3 { 1.0 / r } else { 1.0 };
        for e in 0..count {
            let component = |k: usize| -> f64 {
                let row = 6 * e + k;
                let stiffness = &self.stiffness[row * width..(row + 1) * width];
                let elastic = stiffness.iter().zip(&self.wrenches).enumerate();
                let elastic: f64 = elastic.map(|(j, (k, y))| k * y * scale(j)).sum();
                let held = self
                    .active
                    .iter()
                    .map(|&i| self.weights[i] * self.static_wrench(model, i)[row]);
                held.sum::<f64>() + scale(k) * elastic
            };
            let w = Wrench::from_array(core::array::from_fn(component));
            self.held[e] = self.logarithms[e].pull_back(w);
        }
    }

    /// ∂U/∂x = Bᵀ J_r(ξ_ref)ᵀ w for the body wrenches w.
    #[inline(always)]
    fn pull_back<L: Arithmetic>(&mut self, l: L, model: &BlendedModel, x: &[f64]) {
        for (e, held) in self.held.iter().enumerate() {
            self.size_of_terms +=
                held.force.length() * self.poses[e].translation.length() + held.torque.length();
            let twist = model.chart.twist(l, e, x);
            let rotation = self.poses[e].rotation;
            let world =
                WorldWrench { force: rotation * held.force, torque: rotation * held.torque };
            let g = twist.pull_back(l, &world);
            model.chart.add_force(l, e, &g, e > 0, &mut self.gradient);
        }
    }
}

#[inline(always)]
fn wrench_at(w: &[f64], at: usize) -> Wrench {
    let w = &w[at..at + 6];
    Wrench::from_array([w[0], w[1], w[2], w[3], w[4], w[5]])
}
