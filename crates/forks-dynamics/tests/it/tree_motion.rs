//! Velocity-dependent terms against differences along the motion; balances of power and momentum.
//!
//! Differences are Richardson's of order four: 1e3 h⁴ bounds the truncation of these random motions
//! (twists and rates of order one to ten), rounding stays below ε/h of the quantity.

use crate::tree_support;

use forks_dynamics::{
    mechanism::{
        JointKind, LinkId,
        kinematics::{link_jacobian, link_twists},
        lie::{Twist, Wrench},
    },
    tree::{AbaWorkspace, LinkLoads, RneaWorkspace, aba, hybrid, rnea},
};
use tree_support::{Case, cases, condition, largest, reference_mass};

const H: f64 = 1e-3;
const TRUNCATION: f64 = 1e3 * H * H * H * H;

/// Positions and velocities of all joints a time `t` along a curve through the state with
/// acceleration `a`.
fn along(case: &Case, a: &[f64], t: f64) -> (Vec<f64>, Vec<f64>) {
    let n = case.mechanism.velocity_count();
    let at = |x: &[f64], i: usize| x.get(i).copied().unwrap_or(0.0);
    let step: Vec<f64> = (0..n).map(|i| t * at(&case.v, i) + 0.5 * t * t * at(a, i)).collect();
    let mut q = case.full_q.clone();
    case.mechanism.integrate(&mut q, &step);
    (q, (0..n).map(|i| at(&case.v, i) + t * at(a, i)).collect())
}

fn richardson(f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let central =
        |h: f64| -> Vec<f64> { f(h).iter().zip(f(-h)).map(|(p, m)| (p - m) / (2.0 * h)).collect() };
    central(0.5 * H).iter().zip(central(H)).map(|(a, b)| (4.0 * a - b) / 3.0).collect()
}

/// Accelerations of all links of the state with coordinate accelerations `a`.
fn link_accelerations(case: &Case, a: &[f64]) -> Vec<Twist> {
    let n = a.len();
    let mut ws = AbaWorkspace::new(&case.tree);
    let (mut out, mut tau, all) = (vec![0.0; n], vec![0.0; n], vec![true; n]);
    let loads = case.loads();
    hybrid(&case.tree, &mut ws, &case.q, &case.v, &all, a, &loads, &mut out, &mut tau).unwrap();
    let mut links = vec![Twist::ZERO; case.tree.link_count()];
    ws.link_accelerations(&case.tree, &mut links);
    links
}

/// Ṡθ̇ of universal and general joints, reversed or not, and ad_v Sθ̇ in one check: the link
/// accelerations are the rates of the twists' components along the motion. It fails if gravity
/// stays in them (EQUATIONS 2.2, Eq. 21).
#[test]
fn link_accelerations_are_rates_of_twists() {
    for case in cases(80) {
        let found = link_accelerations(&case, &case.values);
        let expected = richardson(|t| {
            let (q, v) = along(&case, &case.values, t);
            link_twists(&case.mechanism, &q, &v).iter().flat_map(|t| t.to_array()).collect()
        });
        let size = largest(&expected).max(1.0);
        for (l, t) in found.iter().enumerate() {
            for (i, x) in t.to_array().iter().enumerate() {
                let error = (x - expected[6 * l + i]).abs() / size;
                assert!(error < TRUNCATION, "seed {} link {l}: {error:e}", case.seed);
            }
        }
    }
}

/// τ = Σ J_lᵀ (I V̇ − ad_vᵀ I v − m g − w) + armature θ̈ with V̇ from differences: the whole of
/// inverse dynamics without its recursion.
#[test]
fn inverse_dynamics_is_newton_euler_on_every_link() {
    for case in cases(60) {
        let (m, poses, n) = (&case.mechanism, case.poses(), case.tree.velocity_count());
        let rates = richardson(|t| {
            let (q, v) = along(&case, &case.values, t);
            link_twists(m, &q, &v).iter().flat_map(|t| t.to_array()).collect()
        });
        let (_, v) = along(&case, &case.values, 0.0);
        let twists = link_twists(m, &case.full_q, &v);
        let mut expected = vec![0.0; n];
        for (l, link) in m.links().iter().enumerate().skip(1) {
            let rate = Twist::from_array(std::array::from_fn(|i| rates[6 * l + i]));
            let i = &link.inertia;
            let weight = poses[l].rotation.inverse()
                * (m.gravity() * (i.mass * (1.0 - link.gravity_compensation)));
            let weight = Wrench::new(weight, i.center_of_mass.cross(weight));
            let force = i.apply(rate)
                - twists[l].ad_transpose(i.apply(twists[l]))
                - weight
                - case.wrenches[l];
            let j = link_jacobian(m, &case.full_q, &poses, LinkId::new(l));
            for (k, e) in expected.iter_mut().enumerate() {
                *e += (0..6).map(|i| j[(i, k)] * force.to_array()[i]).sum::<f64>();
            }
        }
        for e in m.forest().edges() {
            for (k, a) in m.velocity_range(e.joint).zip(&m.joint(e.joint).armature) {
                expected[k] += a * case.values[k];
            }
        }
        let mut tau = vec![0.0; n];
        let mut ws = RneaWorkspace::new(&case.tree);
        rnea(&case.tree, &mut ws, &case.q, &case.v, &case.values, &case.loads(), &mut tau);
        let size = largest(&expected).max(1.0);
        for k in 0..n {
            let error = (tau[k] - expected[k]).abs() / size;
            assert!(error < TRUNCATION, "seed {} coordinate {k}: {error:e}", case.seed);
        }
    }
}

/// Accelerations of all coordinates and links under the case's forces.
fn forward(case: &Case, tau: &[f64], loads: &LinkLoads<'_>) -> (Vec<f64>, Vec<Twist>) {
    let mut a = vec![0.0; tau.len()];
    let mut ws = AbaWorkspace::new(&case.tree);
    aba(&case.tree, &mut ws, &case.q, &case.v, tau, loads, &mut a).unwrap();
    let mut links = vec![Twist::ZERO; case.tree.link_count()];
    ws.link_accelerations(&case.tree, &mut links);
    (a, links)
}

/// Kinetic energy of links and rotors, Σ V · I V̇ + Σ armature v θ̈ per second, changes by the
/// power of torques, wrenches and weights: to the rounding of ABA, c n κ ε.
#[test]
fn power_balances() {
    for case in cases(60) {
        let (m, n) = (&case.mechanism, case.tree.velocity_count());
        let (a, links) = forward(&case, &case.values, &case.loads());
        let (_, v) = along(&case, &a, 0.0);
        let twists = link_twists(m, &case.full_q, &v);
        let (mut rate, mut power, mut size) = (0.0, 0.0, 0.0);
        let mut gain = |sum: &mut f64, x: f64| {
            *sum += x;
            size += x.abs();
        };
        for e in m.forest().edges() {
            for (k, r) in m.velocity_range(e.joint).zip(&m.joint(e.joint).armature) {
                gain(&mut rate, r * v[k] * a[k]);
                gain(&mut power, case.values[k] * v[k]);
            }
        }
        for (l, (link, pose)) in m.links().iter().zip(case.poses()).enumerate() {
            gain(&mut rate, link.inertia.apply(links[l]).dot(twists[l]));
            let mass = link.inertia.mass * (1.0 - link.gravity_compensation);
            let weight = pose.rotation.inverse() * (m.gravity() * mass);
            let weight = Wrench::new(weight, link.inertia.center_of_mass.cross(weight));
            gain(&mut power, (weight + case.wrenches[l]).dot(twists[l]));
        }
        let bound = 64.0 * f64::EPSILON * n as f64 * condition(&reference_mass(&case));
        let error = (rate - power).abs() / size;
        assert!(error < bound, "seed {}: {rate} {power}", case.seed);
    }
}

/// A floating mechanism without loads keeps its momentum about the world's origin, whatever its
/// joints do.
#[test]
fn momentum_is_kept() {
    let mut seen = 0;
    for case in cases(300) {
        let m = &case.mechanism;
        let roots: Vec<_> =
            m.forest().edges().iter().filter(|e| e.inner == LinkId::WORLD).collect();
        let [root] = roots[..] else { continue };
        if !matches!(m.joint(root.joint).kind, JointKind::Free) {
            continue;
        }
        // The rotors of the free joint itself push against the ground.
        if m.joint(root.joint).armature.iter().any(|&a| a != 0.0) {
            continue;
        }
        seen += 1;
        let mut tau = case.values.clone();
        tau[m.velocity_range(root.joint)].fill(0.0);
        let (a, links) = forward(&case, &tau, &LinkLoads::NONE);
        let (_, v) = along(&case, &a, 0.0);
        let (poses, twists) = (case.poses(), link_twists(m, &case.full_q, &v));
        // Rate of the momentum of every link about the world's origin: Ad⁻ᵀ (I V̇ − ad_vᵀ I v).
        let (mut sum, mut size) = (Wrench::ZERO, 0.0);
        for (l, link) in m.links().iter().enumerate() {
            let (i, t) = (&link.inertia, twists[l]);
            let rate = i.apply(links[l]) - t.ad_transpose(i.apply(t));
            let rate = poses[l].adjoint().apply_to_wrench(rate);
            sum += rate;
            size += largest(&rate.to_array());
        }
        let kappa = condition(&reference_mass(&case));
        let bound = 64.0 * f64::EPSILON * tau.len() as f64 * kappa;
        let error = largest(&sum.to_array()) / size;
        assert!(error < bound, "seed {}: {sum:?}", case.seed);
    }
    assert!(seen >= 5, "{seen}");
}
