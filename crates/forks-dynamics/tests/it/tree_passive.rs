//! Forces of springs and dampers against the energy's gradient and the power they take out.

use crate::tree_support;

use forks_dynamics::{
    Loads, elastic_energy, generalized_forces,
    mechanism::{JointId, Mechanism, kinematics::link_twists, lie::Twist, linalg::Matrix},
    passive::{PassiveWorkspace, passive_forces},
};
use forks_testkit::{JointChoice, RandomMechanismOptions, Rng, random_mechanism};
use tree_support::largest;

fn mechanism(seed: u64) -> Mechanism {
    let mut joint_kinds = JointChoice::USUAL.to_vec();
    joint_kinds.push(JointChoice::Free);
    let options = RandomMechanismOptions {
        extra_loops: (seed % 3) as usize,
        combination_springs: 2,
        bushings: 2,
        preload: 0.4,
        joint_kinds,
        conditioning: 0.0,
        ..RandomMechanismOptions::default()
    };
    random_mechanism(seed, &options)
}

fn state(m: &Mechanism, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Rng::new(seed);
    let mut numbers =
        |s: f64| -> Vec<f64> { (0..m.velocity_count()).map(|_| s * rng.symmetric()).collect() };
    let (step, v) = (numbers(0.5), numbers(1.0));
    let mut q = m.start_positions();
    m.integrate(&mut q, &step);
    (q, v)
}

#[test]
fn springs_pull_as_the_equilibrium_solver_says() {
    for seed in 0..60 {
        let m = mechanism(seed);
        let (q, _) = state(&m, seed);
        let rest = vec![0.0; m.velocity_count()];
        let mut found = rest.clone();
        passive_forces(&m, &mut PassiveWorkspace::new(&m), &q, &rest, &mut found);
        let expected = generalized_forces(&m, &q, &m.link_poses(&q), &Loads::none());
        let bound = 64.0 * f64::EPSILON * found.len() as f64 * largest(&expected);
        for (f, e) in found.iter().zip(&expected) {
            assert!((f - e).abs() < bound, "seed {seed}: {f} {e}");
        }
    }
}

/// Along the motion q ⊞ t v the elastic energy falls by the springs' power. Richardson differences
/// with steps h and h/2 leave c h⁴ with the fifth derivative in c (1000 here: random quintics of
/// large rotations), beside ε U / h.
#[test]
fn springs_do_the_work_that_the_energy_loses() {
    for seed in 0..40 {
        let m = mechanism(seed);
        let (q, v) = state(&m, seed);
        let mut undamped = vec![0.0; v.len()];
        let rest = undamped.clone();
        passive_forces(&m, &mut PassiveWorkspace::new(&m), &q, &rest, &mut undamped);
        let energy = |t: f64| {
            let (mut p, step) = (q.clone(), v.iter().map(|v| t * v).collect::<Vec<_>>());
            m.integrate(&mut p, &step);
            elastic_energy(&m, &p, &m.link_poses(&p))
        };
        let central = |h: f64| (energy(h) - energy(-h)) / (2.0 * h);
        let h = 2e-3;
        let slope = (4.0 * central(0.5 * h) - central(h)) / 3.0;
        let power: f64 = undamped.iter().zip(&v).map(|(f, v)| f * v).sum();
        let size = energy(0.0).max(power.abs());
        assert!((slope + power).abs() < 1e3 * h.powi(4) * size, "seed {seed}: {slope} {power}");
    }
}

/// The dampers' power is −Σ rateᵀ D rate over joints, combinations and bushings.
#[test]
fn dampers_take_out_what_their_rates_say() {
    for seed in 0..60 {
        let m = mechanism(seed);
        let (q, v) = state(&m, seed);
        let n = v.len();
        let (mut with, mut without, rest) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut ws = PassiveWorkspace::new(&m);
        passive_forces(&m, &mut ws, &q, &v, &mut with);
        passive_forces(&m, &mut ws, &q, &rest, &mut without);
        let power: f64 = (0..n).map(|i| (with[i] - without[i]) * v[i]).sum();
        let expected = dissipation(&m, &q, &v);
        let bound = 64.0 * f64::EPSILON * n as f64 * (largest(&without) * largest(&v) + expected);
        assert!((power + expected).abs() < bound, "seed {seed}: {power} {expected}");
        assert!(expected > 0.0);
    }
}

fn dissipation(m: &Mechanism, q: &[f64], v: &[f64]) -> f64 {
    let quadratic =
        |d: &Matrix, x: &[f64]| -> f64 { d.mul_vec(x).iter().zip(x).map(|(a, b)| a * b).sum() };
    let mut sum = 0.0;
    for (i, j) in m.joints().iter().enumerate() {
        let d = Matrix::from_fn(j.dof(), j.dof(), |a, b| j.damping.get(a, b));
        sum += quadratic(&d, &v[m.velocity_range(JointId::new(i))]);
    }
    for s in m.combination_springs() {
        let rate: f64 = s.combination.terms.iter().map(|(c, a)| a * v[m.velocity_index(*c)]).sum();
        sum += s.damping * rate * rate;
    }
    let (poses, twists) = (m.link_poses(q), link_twists(m, q, v));
    for b in m.bushings() {
        let frame = poses[b.link_b.index()] * b.b_from_bushing;
        let seen = |l: usize| (frame.inverse() * poses[l]).adjoint().apply(twists[l]);
        let rate: Twist = seen(b.link_b.index()) - seen(b.link_a.index());
        let r = rate.to_array();
        sum += b.damping.mul_vec(&r).iter().zip(r).map(|(a, b)| a * b).sum::<f64>();
    }
    sum
}
