//! Energy, force and effectors of a blend in a chart of joint displacements; see [`super::chart`].

use forks_lie::{
    Pose, Twist, Wrench,
    glam::{DMat3, DQuat, DVec3},
    se3::right_jacobian,
};
use forks_linalg::simd::{Arithmetic, Lanes};
use forks_rom::{EffectorLoad, LoadFrame};

use crate::{
    chart::{Curved, add_quadratic, fill_products},
    curvature::pairs,
    evaluation::Evaluation,
    lanes::padded,
    model::BlendedModel,
    places::{NOTHING, Places},
    relative::Logarithm,
    weights::{Weights, shepard},
};

impl Evaluation {
    /// Everything at `x`.
    #[inline(always)]
    pub(crate) fn at_chart<L: Arithmetic>(&mut self, l: L, model: &BlendedModel, x: &[f64]) {
        let n = x.len();
        self.places.locate(model, x);
        let inside = core::mem::take(&mut self.places.clamped);
        self.chart_weights(model, if self.places.edge.is_some() { &inside } else { x });
        self.places.clamped = inside;
        (self.energy, self.size_of_terms) = (0.0, 0.0);
        self.gradient.fill(0.0);
        self.places.rates.fill(Default::default());
        self.places.sums.fill(NOTHING);
        self.poses.iter_mut().for_each(|p| p.translation = DVec3::ZERO);
        for k in 0..self.active.len() {
            let i = self.active[k];
            if let Some(c) = &model.samples[i].curved {
                self.add_sample(l, model.samples[i].potential, c, i);
            }
        }
        // Σ ∂α_i = 0: energies count from the mean.
        for &i in &self.active {
            let excess = self.energies[i] - self.energy;
            let slopes = &self.places.weight_slopes[i * n..(i + 1) * n];
            self.gradient.iter_mut().zip(slopes).for_each(|(g, s)| *g += excess * s);
        }
        self.turn_effectors(n);
        self.chart_outside(model);
        self.continue_energy(model);
        if self.places.edge.is_some() {
            self.continue_motions(x);
        }
    }

    #[inline(always)]
    fn chart_weights(&mut self, model: &BlendedModel, x: &[f64]) {
        let (n, all) = (x.len(), x.len() + pairs(x.len()));
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
    fn add_sample<L: Arithmetic>(&mut self, l: L, potential: f64, c: &Curved, i: usize) {
        let (n, count) = (c.place.len(), c.rests.len());
        let (all, stride) = (n + pairs(n), padded(6 * count + 1));
        let alpha = self.weights[i];
        let places = &mut self.places;
        let (y, products) = places.products[i * all..(i + 1) * all].split_at(n);
        places.jets.evaluate(l, &c.polynomials, y, products, &mut places.values);
        let change = places.values[6 * count];
        self.energies[i] = potential + change;
        if let Some(driven) = self.driven_energies.get(i) {
            let slopes = &self.driven_slopes[i * all..(i + 1) * all];
            let more = add_quadratic(slopes, y, products, alpha, &mut self.gradient[..n]);
            self.energies[i] += driven + more;
        }
        self.energy += alpha * self.energies[i];
        self.size_of_terms += alpha * (potential.abs() + change.abs());
        for (k, g) in self.gradient.iter_mut().take(n).enumerate() {
            *g += alpha * places.values[(k + 1) * stride + 6 * count];
        }
        for (e, rest) in c.rests.iter().enumerate() {
            let xi: [f64; 6] = core::array::from_fn(|j| places.values[6 * e + j]);
            self.twists[6 * (i * count + e)..][..6].copy_from_slice(&xi);
            let xi = Twist::from_array(xi);
            let pose = rest.displaced(xi);
            let opposite = places.sums[e].dot(pose.rotation) < 0.0;
            let q = if opposite { -pose.rotation } else { pose.rotation };
            places.sums[e] += q * alpha;
            self.poses[e].translation += pose.translation * alpha;
            let moved = Moved::new(&Pose::new(q, pose.translation), xi, alpha);
            let slopes = &places.weight_slopes[i * n..(i + 1) * n];
            let twists = places.values[stride..].chunks_exact(stride);
            let rates = &mut places.rates[e * n..(e + 1) * n];
            for ((rate, slope), twist) in rates.iter_mut().zip(slopes).zip(twists) {
                moved.add(l, *slope, &twist[6 * e..6 * e + 6], rate);
            }
        }
    }

    /// Σ_e J_eᵀ w_e of loads at the last place.
    #[inline(always)]
    pub(crate) fn pull_chart_loads(&self, loads: &[EffectorLoad], out: &mut [f64], n: usize) {
        for load in loads {
            let Wrench { force, torque } = in_world(load, self.poses[load.effector].rotation);
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
                let [Lanes([x, y, z, _]), Lanes(turn)] = places.rates[k];
                let q = DQuat::from_array(turn) * rotation.conjugate();
                let spin = DVec3::new(q.x, q.y, q.z) * (2.0 / length);
                places.motions[k] = (DVec3::new(x, y, z), spin);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn chart_outside(&mut self, model: &BlendedModel) {
        let range = model.data().range;
        // Written so that NaN is outside.
        let inside = |e: usize| relative(model, e, &self.poses[e]) <= range * range;
        self.outside = (0..model.effector_count()).find(|&e| !inside(e));
    }

    /// Energy and force beyond the guard, from those on its edge.
    #[inline(always)]
    pub(crate) fn continue_energy(&mut self, model: &BlendedModel) {
        let (Some(edge), Some(guard)) = (&self.places.edge, &model.data().guard) else { return };
        self.places.turn_outward(&mut self.gradient);
        let back = guard.stiffness * edge.slope;
        self.gradient.iter_mut().zip(&self.places.outward).for_each(|(g, o)| *g += back * o);
        self.energy += guard.stiffness * edge.energy;
        if self.outside.is_none() {
            self.outside = Some(self.farthest(model));
        }
    }

    /// Motions of the effectors beyond the guard.
    #[inline(never)]
    fn continue_motions(&mut self, x: &[f64]) {
        let Places { motions, outward, edge, .. } = &mut self.places;
        let Some(edge) = edge else { return };
        for motions in motions.chunks_exact_mut(x.len()) {
            let mut along = (DVec3::ZERO, DVec3::ZERO);
            for (m, x) in motions.iter().zip(x) {
                along = (along.0 + m.0 * *x, along.1 + m.1 * *x);
            }
            for (m, outward) in motions.iter_mut().zip(&*outward) {
                let part = edge.turned * outward;
                *m = (m.0 * edge.shrunk + along.0 * part, m.1 * edge.shrunk + along.1 * part);
            }
        }
    }

    /// The effector that is farthest from its reference pose.
    fn farthest(&self, model: &BlendedModel) -> usize {
        let all = 0..model.effector_count();
        let far = |e: &usize| relative(model, *e, &self.poses[*e]);
        all.max_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0)
    }
}

/// A load's wrench in the world's axes, for the effector's rotation.
#[inline(always)]
pub(crate) fn in_world(load: &EffectorLoad, rotation: DQuat) -> Wrench {
    let Wrench { force, torque } = load.wrench;
    match load.frame {
        LoadFrame::World => load.wrench,
        LoadFrame::Body => Wrench::new(rotation * force, rotation * torque),
    }
}

/// Square of an effector's relative displacement from its reference pose.
fn relative(model: &BlendedModel, e: usize, pose: &Pose) -> f64 {
    let data = model.data();
    let xi = Logarithm::of(&(data.reference[e].inverse() * *pose)).xi;
    let (v, w) = (xi.linear / data.radius, xi.angular / core::f64::consts::PI);
    v.length_squared() + w.length_squared()
}

/// How a sample's effector moves with its twist ξ, in columns: α R V' of the place, ½ α q ⊗ ω' of
/// the quaternion, (V', ω') those of the right Jacobian.
struct Moved {
    columns: [[Lanes; 2]; 6],
    /// p and q.
    pose: [Lanes; 2],
}

impl Moved {
    #[inline(always)]
    fn new(pose: &Pose, xi: Twist, alpha: f64) -> Self {
        let jacobian = right_jacobian(xi);
        let (own, beside) = (jacobian.block(0, 0), jacobian.block(0, 3));
        let (linear, turned) =
            (DMat3::from_quat(pose.rotation) * alpha, pose.rotation * (0.5 * alpha));
        let place = |v: DVec3| Lanes([v.x, v.y, v.z, 0.0]);
        let mut columns = [[Lanes::default(); 2]; 6];
        for j in 0..3 {
            let w = own.col(j);
            columns[j][0] = place(linear * w);
            columns[3 + j][0] = place(linear * beside.col(j));
            columns[3 + j][1] = Lanes((turned * DQuat::from_xyzw(w.x, w.y, w.z, 0.0)).to_array());
        }
        Self { columns, pose: [place(pose.translation), Lanes(pose.rotation.to_array())] }
    }

    /// Adds the rates of one coordinate, by which the weight changes by `slope`.
    #[inline(always)]
    fn add<L: Arithmetic>(&self, l: L, slope: f64, twist: &[f64], rate: &mut [Lanes; 2]) {
        let slope = l.splat(slope);
        let mut place = l.load(&self.pose[0]) * slope + l.load(&rate[0]);
        let mut turn = l.load(&self.pose[1]) * slope + l.load(&rate[1]);
        for (column, x) in self.columns[..3].iter().zip(twist) {
            place += l.load(&column[0]) * l.splat(*x);
        }
        for (column, x) in self.columns[3..].iter().zip(&twist[3..]) {
            let x = l.splat(*x);
            place += l.load(&column[0]) * x;
            turn += l.load(&column[1]) * x;
        }
        *rate = [place.store(), turn.store()];
    }
}

fn exponent(model: &BlendedModel) -> u32 {
    match model.data().weights {
        Weights::Shepard { exponent } => exponent,
        _ => 6,
    }
}
