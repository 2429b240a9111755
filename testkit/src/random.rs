//! Random mechanisms: any graph, loops anywhere, assembled exactly at the start pose.

mod cables;

use forks_mechanism::{
    Bushing, Combination, CombinationSpring, Coordinate, Coupling, Joint, JointId, JointKind,
    JointMatrix, JointSpring, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Mat6, SpatialInertia, SymMat6, Twist,
        glam::{DMat3, DVec3},
    },
};

use crate::{
    kinematics::{displace_joint, joint_motion},
    kkt::System,
    options::{JointChoice, RandomMechanismOptions},
    rigid::Rigid,
    rng::Rng,
};

/// A random mechanism; the same for the same seed and options.
///
/// # Panics
/// If 2000 draws in a row miss the wanted properties (options that cannot be met).
pub fn random_mechanism(seed: u64, options: &RandomMechanismOptions) -> Mechanism {
    let mut rng = Rng::new(seed);
    for _ in 0..2000 {
        let m = Draw::new(&mut rng, options).mechanism();
        if is_wanted(&m, options) {
            return m;
        }
    }
    panic!("no mechanism with {options:?} in 2000 draws from seed {seed}");
}

fn is_wanted(m: &Mechanism, o: &RandomMechanismOptions) -> bool {
    if o.resisted.is_none() && o.conditioning == 0.0 {
        return true;
    }
    let system = System::new(m, &m.start_positions());
    if system.constraint_conditioning() < o.conditioning {
        return false;
    }
    let light = |s: &System| s.mass_conditioning(m.tree_velocity_count()) < o.conditioning;
    if o.massless_fraction > 0.0 && light(&system) {
        return false;
    }
    let u = system.unresisted();
    let free = u.motions.columns();
    let smallest = u.eigenvalues.get(free).copied().unwrap_or(1.0);
    smallest >= o.conditioning && o.resisted.is_none_or(|r| r == (free == 0))
}

/// Different moving links, in random order; fewer than `count` where there are fewer.
pub fn random_effectors(seed: u64, m: &Mechanism, count: usize) -> Vec<LinkId> {
    let mut rng = Rng::new(seed ^ 0xeffe_c702);
    let mut all: Vec<LinkId> = (1..m.links().len()).map(LinkId::new).collect();
    rng.shuffle(&mut all);
    all.truncate(count);
    all
}

/// One draw of a mechanism.
struct Draw<'a> {
    rng: &'a mut Rng,
    options: &'a RandomMechanismOptions,
    poses: Vec<Rigid<f64>>,
    joints: Vec<Joint>,
    normal: [f64; 3],
}

impl<'a> Draw<'a> {
    fn new(rng: &'a mut Rng, options: &'a RandomMechanismOptions) -> Self {
        let normal = rng.direction();
        Self { rng, options, poses: vec![Rigid::identity()], joints: vec![], normal }
    }

    fn mechanism(mut self) -> Mechanism {
        let mut b = MechanismBuilder::new("random");
        let g = self.rng.direction().map(|x| x * self.options.gravity);
        b.set_gravity(DVec3::from_array(g));
        self.add_links(&mut b);
        self.add_loops();
        if self.options.shuffle_joints {
            self.rng.shuffle(&mut self.joints);
        }
        for (i, mut j) in self.joints.clone().into_iter().enumerate() {
            j.name = format!("joint{i}");
            b.add_joint(j);
        }
        self.add_couplings(&mut b);
        self.add_combination_springs(&mut b);
        self.add_bushings(&mut b);
        self.add_cables(&mut b);
        b.build().expect("a random mechanism is valid")
    }

    fn add_links(&mut self, b: &mut MechanismBuilder) {
        let n = self.options.links.max(1);
        let (mut inertias, mut carries) = (vec![], vec![false; n + 1]);
        for i in 1..=n {
            let chained = self.rng.chance(self.options.chain_fraction);
            let inner = if chained { i - 1 } else { self.rng.index(i) };
            let inner = if self.options.floating_base && i > 1 { inner.max(1) } else { inner };
            let step = self.rng.direction().map(|x| x * self.options.length);
            let from = self.poses[inner].b;
            let position = std::array::from_fn(|k| from[k] + step[k]);
            let pose = self.rng.pose(position);
            self.poses.push(pose);
            inertias.push(self.inertia());
            carries[inner] = true;
            self.add_joint(inner, i);
        }
        for (i, inertia) in inertias.into_iter().enumerate() {
            let p = self.options.massless_fraction;
            let massless = p > 0.0 && carries[i + 1] && self.rng.chance(p);
            let inertia = if massless { SpatialInertia::ZERO } else { inertia };
            b.add_link(Link::new(format!("link{}", i + 1)).with_inertia(inertia));
        }
    }

    fn add_loops(&mut self) {
        for _ in 0..self.options.extra_loops {
            let n = self.poses.len();
            let a = self.rng.index(n);
            let b = (a + 1 + self.rng.index(n - 1)) % n;
            self.add_joint(a, b);
        }
    }

    fn inertia(&mut self) -> SpatialInertia {
        if !self.options.masses {
            return SpatialInertia::ZERO;
        }
        let l = self.options.length;
        let mass = self.rng.range(0.1, 1.0);
        let p = self.rng.positive_definite(3, 0.02 * l * l, 0.1 * l * l);
        let trace = p[0] + p[4] + p[8];
        // Second moments P > 0 of a mass distribution: I = m (tr P − P) is one that bodies can
        // have.
        let i = |a: usize, b: usize| mass * (if a == b { trace } else { 0.0 } - p[3 * a + b]);
        let columns = std::array::from_fn(|b| std::array::from_fn(|a| i(a, b)));
        let center = self.rng.vector().map(|x| 0.4 * l * x);
        SpatialInertia::new(mass, DVec3::from_array(center), DMat3::from_cols_array_2d(&columns))
    }

    /// A joint between two links that is assembled in their poses.
    fn add_joint(&mut self, inner: usize, outer: usize) {
        let reversed = self.rng.chance(self.options.reversed_edges);
        let (parent, child) = if reversed { (outer, inner) } else { (inner, outer) };
        let anchor = self.anchor(parent, child);
        let world_from_joint = self.rng.pose(anchor);
        let base = self.options.floating_base && self.joints.is_empty();
        let kind = if base { JointKind::Free } else { self.kind(&world_from_joint) };
        let mut j = Joint::new("", kind, LinkId::new(parent), LinkId::new(child));
        self.place(&mut j, &world_from_joint);
        if !base {
            self.add_spring(&mut j);
        }
        self.joints.push(j);
    }

    /// A point near the middle of two links.
    fn anchor(&mut self, a: usize, b: usize) -> [f64; 3] {
        let off = self.rng.vector();
        std::array::from_fn(|k| {
            0.5 * (self.poses[a].b[k] + self.poses[b].b[k]) + 0.3 * self.options.length * off[k]
        })
    }

    fn kind(&mut self, world_from_joint: &Rigid<f64>) -> JointKind {
        if self.options.planar {
            let axis = turned_back(world_from_joint, self.normal);
            return JointKind::Revolute { axis: DVec3::from_array(axis) };
        }
        let kinds = &self.options.joint_kinds;
        let choice = kinds[self.rng.index(kinds.len())];
        let axis = DVec3::from_array(self.rng.direction());
        match choice {
            JointChoice::Revolute => JointKind::Revolute { axis },
            JointChoice::Prismatic => JointKind::Prismatic { axis },
            JointChoice::Cylindrical => JointKind::Cylindrical { axis },
            JointChoice::Universal => {
                let second = self.independent_axis(axis);
                JointKind::Universal { first: axis, second }
            }
            JointChoice::Spherical => JointKind::Spherical,
            JointChoice::Planar => JointKind::Planar,
            JointChoice::Screw => JointKind::General { subspace: self.columns(1) },
            JointChoice::General2 => JointKind::General { subspace: self.columns(2) },
            JointChoice::General3 => JointKind::General { subspace: self.columns(3) },
            JointChoice::Fixed => JointKind::Fixed,
            JointChoice::Free => JointKind::Free,
        }
    }

    fn independent_axis(&mut self, first: DVec3) -> DVec3 {
        loop {
            let second = DVec3::from_array(self.rng.direction());
            if second.dot(first).abs() < 0.8 {
                return second;
            }
        }
    }

    /// Independent columns: rotations about different axes through different points, some of them
    /// pure translations.
    fn columns(&mut self, n: usize) -> Vec<Twist> {
        let mut axes: Vec<DVec3> = vec![];
        while axes.len() < n {
            let a = DVec3::from_array(self.rng.direction());
            if axes.iter().all(|b| a.dot(*b).abs() < 0.8) && (n < 3 || det_is_large(&axes, a)) {
                axes.push(a);
            }
        }
        let l = self.options.length;
        axes.into_iter()
            .map(|a| {
                if self.rng.chance(0.2) {
                    return Twist::new(a, DVec3::ZERO);
                }
                let moment = DVec3::from_array(self.rng.vector()) * (0.5 * l);
                Twist::new(moment, a * self.rng.range(0.7, 1.3))
            })
            .collect()
    }

    /// Sets start coordinates and both frames so that the links' poses satisfy the joint.
    fn place(&mut self, j: &mut Joint, world_from_joint: &Rigid<f64>) {
        if self.options.displaced_start {
            self.displace_start(j);
        }
        let (p, c) = (&self.poses[j.parent.index()], &self.poses[j.child.index()]);
        let before = p.inverse().times(world_from_joint);
        let motion = joint_motion(j, &j.start, &vec![0.0; j.dof()]);
        let after = c.inverse().times(world_from_joint).times(&motion);
        j.parent_from_joint = before.to_pose();
        j.child_from_joint = after.to_pose();
    }

    fn displace_start(&mut self, j: &mut Joint) {
        let l = self.options.length;
        let reference: Vec<f64> = j.reference.iter().map(|_| self.rng.symmetric()).collect();
        j.reference = reference;
        match &j.kind {
            JointKind::Spherical => j.start = self.rng.quaternion().to_vec(),
            JointKind::Free => {
                let x = self.rng.vector().map(|x| l * x);
                j.start = [x.as_slice(), &self.rng.quaternion()].concat();
            }
            JointKind::Planar => {
                j.start =
                    vec![l * self.rng.symmetric(), l * self.rng.symmetric(), self.rng.symmetric()];
            }
            _ => {
                let scales = length_scales(&j.kind, l);
                j.start = (0..j.dof())
                    .map(|i| j.reference[i] + 0.6 * scales[i] * self.rng.symmetric())
                    .collect();
            }
        }
    }

    fn spread(&mut self) -> (f64, f64) {
        let d = 10f64.powf(0.5 * self.options.stiffness_decades);
        let k = self.options.stiffness * d.powf(self.rng.symmetric());
        (k / d, k * d)
    }

    /// Anisotropic spring, damping and armature.
    fn add_spring(&mut self, j: &mut Joint) {
        let n = j.dof();
        let scales = length_scales(&j.kind, self.options.length);
        let (low, high) = self.spread();
        let k = self.rng.positive_definite(n, low, high);
        let singular = n > 1 && self.rng.chance(self.options.singular_spring_fraction);
        let k = if singular { without_one_direction(self.rng, n, k) } else { k };
        let d = self.rng.positive_definite(n, 1e-3 * low, 1e-3 * high);
        if !self.rng.chance(self.options.springless_fraction) {
            let rest = self.rest(j, &scales);
            j.spring = Some(JointSpring { stiffness: scaled_matrix(n, k, &scales), rest });
        }
        if self.options.damping {
            j.damping = scaled_matrix(n, d, &scales);
        }
        if self.options.armature {
            j.armature = scales.iter().map(|s| 1e-2 * self.rng.range(0.2, 1.0) / (s * s)).collect();
        }
    }

    fn rest(&mut self, j: &Joint, scales: &[f64]) -> Vec<f64> {
        if self.options.preload == 0.0 {
            return j.start.clone();
        }
        let delta: Vec<f64> =
            scales.iter().map(|s| s * self.options.preload * self.rng.symmetric()).collect();
        displace_joint(j, &j.start, &delta)
    }

    /// Scalar coordinates of all joints, with their start values and length scales.
    fn coordinates(&self) -> Vec<(Coordinate, f64, f64)> {
        let mut out = vec![];
        for (i, j) in
            self.joints.iter().enumerate().filter(|(_, j)| j.kind.has_scalar_coordinates())
        {
            let scales = length_scales(&j.kind, self.options.length);
            for k in 0..j.dof() {
                let c = Coordinate { joint: JointId::new(i), index: k };
                out.push((c, j.start[k], scales[k]));
            }
        }
        out
    }

    /// Up to `n` different coordinates.
    fn pick(&mut self, n: usize) -> Vec<(Coordinate, f64, f64)> {
        let mut all = self.coordinates();
        self.rng.shuffle(&mut all);
        all.truncate(n);
        all
    }

    fn add_couplings(&mut self, b: &mut MechanismBuilder) {
        for i in 0..self.options.couplings {
            let n = 2 + self.rng.index(2);
            let c = self.pick(n);
            if c.len() < 2 {
                return;
            }
            let name = format!("coupling{i}");
            let coupling = if self.rng.chance(0.5) {
                self.linear_coupling(name, &c)
            } else {
                self.polynomial_coupling(name, &c)
            };
            b.add_coupling(coupling);
        }
    }

    fn linear_coupling(&mut self, name: String, c: &[(Coordinate, f64, f64)]) -> Coupling {
        let terms: Vec<(Coordinate, f64)> = c
            .iter()
            .map(|(x, _, s)| (*x, self.rng.sign() * self.rng.range(0.4, 1.5) / s))
            .collect();
        let value: f64 = terms.iter().zip(c).map(|(t, x)| t.1 * x.1).sum();
        Coupling::linear(name, terms, -value)
    }

    /// y = p(x) through the start values, slope away from zero.
    fn polynomial_coupling(&mut self, name: String, c: &[(Coordinate, f64, f64)]) -> Coupling {
        let ((y, y0, ys), (x, x0, xs)) = (c[0], c[1]);
        let slope = self.rng.sign() * self.rng.range(0.4, 1.5);
        // p = y₀ + slope (x − x₀) + a (x − x₀)² + b (x − x₀)³ in units of the scales, expanded.
        let (a, b) = (self.rng.symmetric(), self.rng.symmetric());
        let (s, a, b) = (ys * slope / xs, ys * a / (xs * xs), ys * b / (xs * xs * xs));
        let coefficients = vec![
            y0 - s * x0 + a * x0 * x0 - b * x0 * x0 * x0,
            s - 2.0 * a * x0 + 3.0 * b * x0 * x0,
            a - 3.0 * b * x0,
            b,
        ];
        Coupling::polynomial(name, y, x, coefficients)
    }

    fn add_combination_springs(&mut self, b: &mut MechanismBuilder) {
        for i in 0..self.options.combination_springs {
            let n = 1 + self.rng.index(3);
            let c = self.pick(n);
            if c.is_empty() {
                return;
            }
            let terms: Vec<(Coordinate, f64)> = c
                .iter()
                .map(|(x, _, s)| (*x, self.rng.sign() * self.rng.range(0.4, 1.5) / s))
                .collect();
            let offset = self.rng.symmetric();
            let value: f64 = offset + terms.iter().zip(&c).map(|(t, x)| t.1 * x.1).sum::<f64>();
            let (low, high) = self.spread();
            b.add_combination_spring(CombinationSpring {
                name: format!("tendon{i}"),
                combination: Combination { terms, offset },
                stiffness: self.rng.range(low, high),
                damping: if self.options.damping { 1e-3 * low } else { 0.0 },
                rest: value + self.options.preload * self.rng.symmetric(),
            });
        }
    }

    fn add_bushings(&mut self, b: &mut MechanismBuilder) {
        let l = self.options.length;
        let scales = [l, l, l, 1.0, 1.0, 1.0];
        for i in 0..self.options.bushings {
            let n = self.poses.len();
            let a = self.rng.index(n);
            let c = (a + 1 + self.rng.index(n - 1)) % n;
            let position = self.anchor(a, c);
            let frame = self.rng.pose(position);
            let p = self.options.preload;
            let off = std::array::from_fn(|k| scales[k] * p * self.rng.symmetric());
            let (low, high) = self.spread();
            let k = self.rng.positive_definite(6, low, high);
            let d = self.rng.positive_definite(6, 1e-3 * low, 1e-3 * high);
            let zero = SymMat6::from_diagonal([0.0; 6]);
            b.add_bushing(Bushing {
                name: format!("bushing{i}"),
                link_a: LinkId::new(a),
                a_from_bushing: self.poses[a].inverse().times(&frame).to_pose(),
                link_b: LinkId::new(c),
                b_from_bushing: self.poses[c]
                    .inverse()
                    .times(&frame)
                    .times(&Rigid::exp(&off))
                    .to_pose(),
                stiffness: scaled_six(&k, &scales),
                damping: if self.options.damping { scaled_six(&d, &scales) } else { zero },
            });
        }
    }
}

fn turned_back(p: &Rigid<f64>, v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|k| p.a[k][i] * v[k]).sum())
}

fn det_is_large(axes: &[DVec3], a: DVec3) -> bool {
    axes.len() < 2 || axes[0].cross(axes[1]).dot(a).abs() > 0.2
}

/// What one unit of each coordinate is worth: `l` for translations, 1 for rotations.
fn length_scales(kind: &JointKind, l: f64) -> Vec<f64> {
    match kind {
        JointKind::Prismatic { .. } => vec![l],
        JointKind::Cylindrical { .. } => vec![l, 1.0],
        JointKind::Planar => vec![l, l, 1.0],
        JointKind::Free => vec![l, l, l, 1.0, 1.0, 1.0],
        JointKind::General { subspace } => {
            let scale = |t: &Twist| if t.angular == DVec3::ZERO { l } else { 1.0 };
            subspace.iter().map(scale).collect()
        }
        other => vec![1.0; other.dof()],
    }
}

/// Stiffness per scaled coordinate to SI: Kᵢⱼ / (sᵢ sⱼ).
fn scaled_matrix(n: usize, k: Vec<f64>, s: &[f64]) -> JointMatrix {
    JointMatrix::new(n, (0..n * n).map(|i| k[i] / (s[i / n] * s[i % n])).collect())
}

fn scaled_six(k: &[f64], s: &[f64; 6]) -> SymMat6 {
    let rows = std::array::from_fn(|i| std::array::from_fn(|j| k[6 * i + j] / (s[i] * s[j])));
    SymMat6::symmetric_part(&Mat6::from_rows(rows))
}

/// P K P with P the projector across a random direction.
fn without_one_direction(rng: &mut Rng, n: usize, k: Vec<f64>) -> Vec<f64> {
    let mut u: Vec<f64> = (0..n).map(|_| rng.sign() * rng.range(0.3, 1.0)).collect();
    let norm = u.iter().map(|x| x * x).sum::<f64>().sqrt();
    u.iter_mut().for_each(|x| *x /= norm);
    let ku: Vec<f64> = (0..n).map(|i| (0..n).map(|j| k[i * n + j] * u[j]).sum()).collect();
    let uku: f64 = u.iter().zip(&ku).map(|(a, b)| a * b).sum();
    let entry = |i: usize, j: usize| k[i * n + j] - u[i] * ku[j] - ku[i] * u[j] + u[i] * u[j] * uku;
    let lower = |i: usize, j: usize| if i < j { entry(j, i) } else { entry(i, j) };
    (0..n * n).map(|x| lower(x / n, x % n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::{constraints, link_poses};

    #[test]
    fn every_mechanism_is_assembled_at_its_start() {
        for seed in 0..100 {
            let m = random_mechanism(seed, &RandomMechanismOptions::mixed(seed));
            let q = m.start_positions();
            let still = vec![0.0; m.velocity_count()];
            let poses = link_poses(&m, &q, &still);
            for g in constraints(&m, &q, &still, &poses) {
                // Rounding of a dozen products of poses within a few metres.
                assert!(g.abs() < 1e-13, "seed {seed}: gap {g:e}");
            }
        }
    }
}
