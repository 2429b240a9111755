//! Random trees and states for the tests of the tree algorithms, and a mass matrix from Jacobians.

pub(crate) mod table6;

use forks_dynamics::{
    mechanism::{
        LinkId, Mechanism, MechanismBuilder,
        kinematics::link_jacobian,
        lie::{Pose, Twist, Wrench},
        linalg::{Matrix, dense},
    },
    tree::{LinkLoads, Tree},
};
use forks_testkit::{JointChoice, RandomMechanismOptions, Rng, random_mechanism};

/// A mechanism with a state and everything that acts on it.
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) mechanism: Mechanism,
    pub(crate) tree: Tree,
    /// Positions of all joints, those that close loops at their start.
    pub(crate) full_q: Vec<f64>,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) prescribed: Vec<bool>,
    /// Forces or accelerations.
    pub(crate) values: Vec<f64>,
    pub(crate) wrenches: Vec<Wrench>,
}

impl Case {
    pub(crate) fn new(seed: u64, mechanism: Mechanism) -> Self {
        let mut rng = Rng::new(seed ^ 0x7ee5_ca5e);
        let tree = Tree::new(&mechanism);
        let mut full_q = mechanism.start_positions();
        let step: Vec<f64> = (0..mechanism.velocity_count()).map(|_| rng.symmetric()).collect();
        mechanism.integrate(&mut full_q, &step);
        let n = tree.velocity_count();
        let mut numbers =
            |scale: f64| (0..n).map(|_| scale * rng.symmetric()).collect::<Vec<f64>>();
        let (v, values) = (numbers(2.0), numbers(3.0));
        let prescribed = (0..n).map(|_| rng.chance(0.4)).collect();
        let mut wrench = || {
            let a: [f64; 6] = std::array::from_fn(|_| rng.symmetric());
            Wrench::from_array(a)
        };
        let wrenches = mechanism.links().iter().map(|_| wrench()).collect();
        let q = full_q[..tree.position_count()].to_vec();
        Self { seed, mechanism, tree, full_q, q, v, prescribed, values, wrenches }
    }

    pub(crate) fn loads(&self) -> LinkLoads<'_> {
        LinkLoads { gravity: true, wrenches: &self.wrenches }
    }

    pub(crate) fn poses(&self) -> Vec<Pose> {
        self.mechanism.link_poses(&self.full_q)
    }

    pub(crate) fn mixes_within_a_joint(&self) -> bool {
        self.mechanism.forest().edges().iter().any(|e| {
            let p = &self.prescribed[self.mechanism.velocity_range(e.joint)];
            p.contains(&true) && p.contains(&false)
        })
    }

    /// The same mechanism without springs and bushings.
    pub(crate) fn without_springs(&self) -> Mechanism {
        let mut b = MechanismBuilder::new("unsprung");
        b.set_gravity(self.mechanism.gravity());
        for (_, l) in self.mechanism.moving_links() {
            b.add_link(l.clone());
        }
        for j in self.mechanism.joints() {
            let mut j = j.clone();
            j.spring = None;
            b.add_joint(j);
        }
        b.build().expect("it was valid before")
    }
}

/// Random trees of all joint kinds with free and reversed joints, loops (not looked at), armature
/// and, on some links, gravity compensation.
pub(crate) fn cases(count: u64) -> Vec<Case> {
    (0..count).map(|seed| Case::new(seed, mechanism(seed))).collect()
}

fn mechanism(seed: u64) -> Mechanism {
    let mut rng = Rng::new(seed ^ 0x0dd_ba11);
    let mut joint_kinds = JointChoice::USUAL.to_vec();
    joint_kinds.extend([JointChoice::Free, JointChoice::Fixed, JointChoice::Revolute]);
    let options = RandomMechanismOptions {
        links: 1 + rng.index(14),
        extra_loops: rng.index(3),
        joint_kinds,
        reversed_edges: 0.4,
        armature: seed % 2 == 1,
        conditioning: 0.0,
        ..RandomMechanismOptions::default()
    };
    let m = random_mechanism(seed, &options);
    if seed % 5 == 4 { compensated(&m, &mut rng) } else { m }
}

fn compensated(m: &Mechanism, rng: &mut Rng) -> Mechanism {
    let mut b = MechanismBuilder::new("compensated");
    b.set_gravity(m.gravity());
    for (_, l) in m.moving_links() {
        let mut l = l.clone();
        l.gravity_compensation = if rng.chance(0.5) { rng.unit() } else { 0.0 };
        b.add_link(l);
    }
    for j in m.joints() {
        b.add_joint(j.clone());
    }
    b.build().expect("it was valid before")
}

/// Σ_l J_lᵀ I_l J_l + armature from the links' Jacobians.
pub(crate) fn reference_mass(case: &Case) -> Matrix {
    let (m, poses) = (&case.mechanism, case.poses());
    let n = case.tree.velocity_count();
    let mut out = Matrix::zeros(n, n);
    for (l, link) in m.links().iter().enumerate() {
        let j = link_jacobian(m, &case.full_q, &poses, LinkId::new(l));
        let column = |k: usize| Twist::from_array(std::array::from_fn(|i| j[(i, k)]));
        let momenta: Vec<Wrench> = (0..n).map(|k| link.inertia.apply(column(k))).collect();
        for i in 0..n {
            for k in 0..n {
                out[(i, k)] += column(i).dot(momenta[k]);
            }
        }
    }
    for e in m.forest().edges() {
        for (k, a) in m.velocity_range(e.joint).zip(&m.joint(e.joint).armature) {
            out[(k, k)] += a;
        }
    }
    out
}

/// κ₂ of a symmetric positive definite matrix.
pub(crate) fn condition(m: &Matrix) -> f64 {
    if m.rows() == 0 {
        return 1.0;
    }
    let s = dense::svd(m).expect("finite").s;
    s[0] / s[s.len() - 1]
}

pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| f64::max(m, x.abs()))
}

pub(crate) fn largest_difference(a: &Matrix, b: &Matrix) -> f64 {
    let mut d: f64 = 0.0;
    for i in 0..a.rows() {
        for j in 0..a.columns() {
            d = d.max((a[(i, j)] - b[(i, j)]).abs());
        }
    }
    d
}
