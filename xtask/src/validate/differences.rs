//! Reduced quantities against finite differences of the full equilibrium, at rest and under load.

use forks_dynamics::{
    Loads, WrenchFrame,
    statics::{Equilibrium, EquilibriumOptions, continue_equilibrium},
};
use forks_mechanism::{
    lie::{Pose, Twist, Wrench, glam::DVec3, se3::right_jacobian},
    linalg::{Matrix, dense::symmetric_eigen},
};
use forks_reduce::{Linearisation, Linearised};
use forks_testkit::differences::{relative_difference, response_by_differences};

use super::{
    case::Case,
    record::{Recorder, larger},
};

const BOUND: f64 = 1e-5;
/// Dimensionless displacement of difference quotients: truncation and rounding are balanced there.
const DISPLACEMENT: f64 = 2e-4;

/// Compliance and twist maps about the unstressed start pose.
pub(crate) fn check_rest(case: &Case, out: &mut Recorder) {
    let loads = Loads::none();
    let e = case.equilibrium(&loads);
    if !e.status.is_equilibrium() {
        out.fail("compliance = differences, unloaded", BOUND, e.status.name());
        return;
    }
    match case.unstressed.linearise(case.problem.at_rest()) {
        Ok(linear) => compare(case, &linear, &e, &loads, "unloaded", out),
        Err(problem) => out.fail("compliance = differences, unloaded", BOUND, problem.to_string()),
    }
}

/// The same under a force that moves the first effector by half of r, or by 90 % of what it can
/// move, in its softest direction.
pub(crate) fn check_loaded(case: &Case, out: &mut Recorder) {
    let name = "compliance = differences, loaded";
    let Some((loads, e, moved)) = softest_load(case) else {
        out.fail(name, BOUND, "no equilibrium under load");
        return;
    };
    match case.unstressed.linearise(Linearisation::equilibrium(&e, &loads)) {
        Ok(linear) => {
            let label = format!("loaded, moved {moved:.2} r");
            compare(case, &linear, &e, &loads, &label, out);
            check_pulled_back_wrench(case, &linear, &e, &loads, out);
        }
        Err(problem) => out.fail(name, BOUND, problem.to_string()),
    }
}

fn compare(
    case: &Case,
    linear: &Linearised<'_>,
    e: &Equilibrium,
    loads: &Loads,
    label: &str,
    out: &mut Recorder,
) {
    let r = case.r();
    let c = &linear.compliance;
    let effectors = &case.problem.effectors;
    let further = |k: usize, wrench| {
        let all = loads.clone().with(effectors[k].applied(wrench, WrenchFrame::World));
        let m = case.unstressed.mechanism();
        let there = continue_equilibrium(m, e, &all, &EquilibriumOptions::default());
        there.status.is_equilibrium().then_some(there.world_from_link)
    };
    let frames: Vec<_> = effectors.iter().map(|e| (e.link, e.link_from_effector)).collect();
    let found = response_by_differences(&frames, &e.world_from_link, c, r, DISPLACEMENT, further);
    let check = format!("compliance = differences, {label}");
    let Some(d) = found else {
        out.fail(&check, BOUND, "a displaced equilibrium was not found");
        return;
    };
    out.at_most(&check, relative_difference(c, &d.compliance, r), BOUND);
    // Maps are per wrench in exponential coordinates; per dead wrench on the admissible motions
    // they are T (SU) 𝓗 (SU)ᵀ C.
    let dual = &linear.basis.dual;
    let per_wrench = dual.mul(&linear.hessian).mul(&dual.transpose_mul(c));
    let maps = linear.response.twists.iter().map(|t| t.mul(&per_wrench));
    let s = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let scaled =
        |m: &Matrix| Matrix::from_fn(m.rows(), m.columns(), |i, j| s(i) * m[(i, j)] * s(j));
    let largest = d.twists.iter().map(|t| scaled(t).norm()).fold(f64::MIN_POSITIVE, f64::max);
    let worst = maps
        .zip(&d.twists)
        .map(|(a, b)| scaled(&a).sub(&scaled(b)).norm() / largest)
        .fold(0.0, larger);
    out.at_most(&format!("twist maps = differences, {label}"), worst, BOUND);
}

/// The load, its equilibrium and the effector's displacement over r.
fn softest_load(case: &Case) -> Option<(Loads, Equilibrium, f64)> {
    let wrench = softest_wrench(case)?;
    let rest = case.reduction.model.data().effectors[0].rest;
    let effector = &case.problem.effectors[0];
    let r = case.r();
    let at = |size: f64| {
        let loads = case.load_on_first(wrench * size);
        let e = case.equilibrium(&loads);
        let pose = e.world_from_link[effector.link.index()] * effector.link_from_effector;
        let t = rest.twist_to(&pose);
        let moved = (pose.translation - rest.translation).length() / r;
        // A frame that only turns: count the angle as a displacement at distance r.
        let moved = if moved < 1e-9 { t.angular.length() } else { moved };
        (e.status == forks_dynamics::statics::EquilibriumStatus::Converged)
            .then_some((loads, e, moved))
    };
    // Grow the load until half of r is reached, the path ends, or nothing more moves.
    let mut best = at(0.25)?;
    let (mut low, mut high) = (0.25, None);
    for _ in 0..14 {
        let size = high.map_or(2.0 * low, |h: f64| 0.5 * (low + h));
        match at(size) {
            Some(found) if found.2 <= 0.5 => {
                let stuck = high.is_none() && found.2 < 1.02 * best.2;
                (low, best) = (size, found);
                if stuck {
                    break;
                }
            }
            _ => high = Some(size),
        }
        if best.2 > 0.49 {
            return Some(best);
        }
    }
    // Less than half of r can be reached: go back to 90 % of it.
    let (reach, mut low, mut high) = (0.9 * best.2, 0.0, low);
    for _ in 0..12 {
        let size = 0.5 * (low + high);
        match at(size) {
            Some(found) if found.2 > reach => {
                high = size;
                best = found;
            }
            Some(_) => low = size,
            None => high = size,
        }
    }
    Some(best)
}

/// A world wrench along the first effector's softest direction that moves it by r in the linear
/// model.
fn softest_wrench(case: &Case) -> Option<Wrench> {
    let c = &case.reduction.compliance;
    let r = case.r();
    let rest = case.problem.mechanism().link_poses(&case.problem.start);
    let effector = &case.problem.effectors[0];
    let axes = (rest[effector.link.index()] * effector.link_from_effector).rotation;
    let softest = |first: usize| {
        let (values, vectors) = symmetric_eigen(&c.block(first, first, 3, 3).symmetric_part())?;
        let direction = DVec3::new(vectors[(0, 2)], vectors[(1, 2)], vectors[(2, 2)]);
        Some((values[2], axes * direction))
    };
    let (linear, force) = softest(0)?;
    let (angular, torque) = softest(3)?;
    if linear > 1e-9 * angular * r * r {
        Some(Wrench::new(force * (r / linear), DVec3::ZERO))
    } else {
        (angular > 0.0).then(|| Wrench::new(DVec3::ZERO, torque / angular))
    }
}

/// Between equilibria under w₀ ± δw: (w⁺ − w⁻) pulled back by J_rᵀ equals Bᵀ𝓗B(η⁺ − η⁻) to second
/// order. Halving δw must quarter the relative error; the extrapolated error must vanish.
fn check_pulled_back_wrench(
    case: &Case,
    linear: &Linearised<'_>,
    e: &Equilibrium,
    loads: &Loads,
    out: &mut Recorder,
) {
    let check = "wrench change pulled back = 𝓗 × change of η";
    let mut worst: f64 = 0.0;
    for axis in 0..6 {
        let errors: Option<Vec<Vec<f64>>> = [4e-4, 2e-4]
            .into_iter()
            .map(|size| pulled_back_error(case, linear, e, loads, axis, size))
            .collect();
        let Some(errors) = errors else {
            out.fail(check, BOUND, "a displaced equilibrium was not found");
            return;
        };
        // Richardson: the h² part cancels, what is left must be of fourth order.
        let extrapolated = errors[0].iter().zip(&errors[1]).map(|(a, b)| (4.0 * b - a) / 3.0);
        worst = larger(worst, extrapolated.map(|x| x * x).sum::<f64>().sqrt());
    }
    out.at_most(check, worst, BOUND);
}

/// Relative error vector for a wrench change along one axis that displaces the effector by `size`.
fn pulled_back_error(
    case: &Case,
    linear: &Linearised<'_>,
    e: &Equilibrium,
    loads: &Loads,
    axis: usize,
    size: f64,
) -> Option<Vec<f64>> {
    let r = case.r();
    let c = &linear.compliance;
    let scale = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let softness = (0..6).fold(0.0f64, |m, i| m.max((scale(i) * c[(i, axis)]).abs()));
    let softest = (0..6)
        .fold(0.0f64, |m, k| (0..6).fold(m, |m, i| m.max((scale(i) * c[(i, k)]).abs() * scale(k))));
    if softness * scale(axis) < 1e-6 * softest {
        return Some(vec![0.0; linear.basis.rank]);
    }
    let effector = &case.problem.effectors[0];
    let at = e.world_from_link[effector.link.index()] * effector.link_from_effector;
    let delta = Wrench::unit(axis) * (size / softness);
    let delta = Wrench::new(at.rotation * delta.force, at.rotation * delta.torque);
    let state = |sign: f64| {
        let extra = case.load_on_first(delta * sign).wrenches;
        let mut changed = loads.clone();
        changed.wrenches.extend(extra);
        let m = case.unstressed.mechanism();
        let found = continue_equilibrium(m, e, &changed, &EquilibriumOptions::default());
        found.status.is_equilibrium().then(|| generalized(case, linear, &found, &changed))
    };
    let (plus, minus) = (state(1.0)?, state(-1.0)?);
    let eta: Vec<f64> = plus.eta.iter().zip(&minus.eta).map(|(a, b)| a - b).collect();
    let elastic = linear.hessian.mul_vec(&eta);
    let force = plus.force.iter().zip(&minus.force).map(|(a, b)| a - b);
    let error: Vec<f64> = force.zip(&elastic).map(|(f, k)| f - k).collect();
    energy_norm(&linear.hessian, &eta, &error)
}

/// The force error in the principal directions of 𝓗, each over the root of its stiffness, relative
/// to the elastic energy norm of η: soft and stiff directions count alike. 𝓗 may have either sign.
fn energy_norm(hessian: &Matrix, eta: &[f64], error: &[f64]) -> Option<Vec<f64>> {
    let (values, vectors) = symmetric_eigen(hessian)?;
    let along = |x: &[f64]| vectors.transpose_mul_vec(x);
    let energy: f64 = along(eta).iter().zip(&values).map(|(x, k)| x * x * k.abs()).sum();
    Some(along(error).iter().zip(&values).map(|(f, k)| f / (k.abs() * energy).sqrt()).collect())
}

struct Generalized {
    eta: Vec<f64>,
    force: Vec<f64>,
}

/// η = B⁺ξ and the generalised force Σ B_eᵀ J_r(ξ_e)ᵀ w_e of an equilibrium.
fn generalized(
    case: &Case,
    linear: &Linearised<'_>,
    e: &Equilibrium,
    loads: &Loads,
) -> Generalized {
    let mut xi = Vec::new();
    let mut pulled = Vec::new();
    for (i, effector) in case.problem.effectors.iter().enumerate() {
        let at = |poses: &[Pose]| poses[effector.link.index()] * effector.link_from_effector;
        let (rest, pose) = (at(&linear.response.world_from_link), at(&e.world_from_link));
        let twist: Twist = rest.twist_to(&pose);
        let mut w = Wrench::ZERO;
        for l in loads.wrenches.iter().filter(|l| l.link == effector.link && i == 0) {
            let in_link = l.in_link(&e.world_from_link[l.link.index()]);
            w += effector.link_from_effector.adjoint().transpose_apply(in_link);
        }
        xi.extend(twist.to_array());
        pulled.extend(right_jacobian(twist).transpose_mul_vec(&w.to_array()));
    }
    Generalized {
        eta: linear.basis.dual.transpose_mul_vec(&xi),
        force: linear.basis.matrix.transpose_mul_vec(&pulled),
    }
}
