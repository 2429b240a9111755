//! Long runs under random bounded wrenches: states stay finite, energy never grows by more than the
//! work done, and leaving the range is told.

use std::sync::Arc;

use forks_mechanism::lie::{Pose, Wrench, glam::DVec3, se3::right_jacobian};
use forks_rom::{
    EffectorLoad, Elasticity, LoadFrame, ReducedModel, Scheme, State, StepStatus, Stepper, System,
};
use forks_testkit::Rng;

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::Stable,
};

/// Steps under one wrench, then as many without.
const BLOCK: u64 = 64;
/// Rounding of one step's energies relative to their sizes: sums of some tens of products.
const ROUNDING: f64 = 1e-12;

/// What a run showed.
#[derive(Default)]
struct Run {
    not_finite: usize,
    /// Largest growth of the energy without loads, over its size.
    growth: f64,
    /// Largest excess of the energy's growth over the loads' work, over their sizes.
    excess: f64,
    /// Steps whose status does not say what the state was.
    wrong_status: usize,
    outside: u64,
}

pub(crate) fn check(s: &Stable, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let model = Arc::new(case.reduction.model.clone());
    let mut outside = 0;
    let schemes = [("implicit", Scheme::ImplicitEuler), ("exact", Scheme::Exponential)];
    let runs = schemes.into_iter().flat_map(|x| s.step_sizes.iter().map(move |&h| (x, h)));
    for ((label, scheme), h) in runs {
        let run = run(s, case, &model, (h, scheme))?;
        let name = |what: &str| format!("{} {label} steps of {h:.3} s: {what}", s.steps);
        out.equal(&name("not finite"), run.not_finite, 0);
        out.at_most(&name("energy growth, no loads"), run.growth, ROUNDING);
        out.at_most(&name("energy growth over work"), run.excess, ROUNDING);
        out.equal(&name("statuses wrong"), run.wrong_status, 0);
        outside += run.outside;
    }
    // Otherwise nothing was said about leaving the range.
    out.equal("runs left the range", usize::from(outside > 0), 1);
    Ok(())
}

fn run(
    s: &Stable,
    case: &Case,
    model: &Arc<ReducedModel>,
    (h, scheme): (f64, Scheme),
) -> Result<Run, String> {
    let stepper = Stepper::with(model.clone(), h, scheme, Elasticity::Energy);
    let stepper = stepper.map_err(|e| e.to_string())?;
    let limits = limits(case, s.reach);
    let mut rng = Rng::new(s.seed);
    let mut state = State::new(model);
    let mut work = stepper.workspace();
    let mut found = Run::default();
    let mut loads = Vec::new();
    let mut before = energies(model, &state);
    for k in 0..s.steps {
        if k % BLOCK == 0 {
            loads.clear();
            if (k / BLOCK).is_multiple_of(2) {
                loads.extend((0..limits.len()).map(|e| random_load(&mut rng, e, limits[e])));
            }
        }
        let forces = generalised_force(model, &state, &loads);
        let eta = state.coordinates().to_vec();
        let outside = leaves_range(model, &eta);
        let status = stepper.step(&mut state, &mut work, &loads);
        found.outside += u64::from(outside.is_some());
        let told = match status {
            StepStatus::OutOfRange { effector } => Some(effector),
            _ => None,
        };
        found.wrong_status += usize::from(told != outside);
        let after = energies(model, &state);
        if status == StepStatus::NotFinite || !after.total.is_finite() {
            found.not_finite += 1;
        }
        let moved = state.coordinates().iter().zip(&eta).map(|(a, b)| a - b);
        let works: Vec<f64> = forces.iter().zip(moved).map(|(f, d)| f * d).collect();
        let size = before.size + after.size + works.iter().map(|w| w.abs()).sum::<f64>();
        let excess = after.total - before.total - works.iter().sum::<f64>();
        let worst = if loads.is_empty() { &mut found.growth } else { &mut found.excess };
        *worst = larger(*worst, excess / size.max(f64::MIN_POSITIVE));
        before = after;
    }
    Ok(found)
}

/// Energy and the size of its terms.
struct Energies {
    total: f64,
    size: f64,
}

fn energies(model: &ReducedModel, state: &State) -> Energies {
    let kinetic = model.kinetic_energy(state.velocity());
    let elastic = model.elastic_energy(state.coordinates(), &[]);
    Energies { total: kinetic + elastic, size: kinetic + elastic.abs() }
}

/// Largest force and torque of each effector: those that move it by `reach` · r and turn it by
/// `reach` rad if they act alone and along its softest direction.
fn limits(case: &Case, reach: f64) -> Vec<[f64; 2]> {
    let c = &case.reduction.compliance;
    let softest = |first: usize| {
        let block = c.block(first, first, 3, 3).symmetric_part();
        let values =
            forks_mechanism::linalg::dense::symmetric_eigen(&block).map(|(values, _)| values[2]);
        values.filter(|x| *x > 0.0)
    };
    let limit = |e: usize| {
        let force = softest(6 * e).map_or(0.0, |c| reach * case.r() / c);
        [force, softest(6 * e + 3).map_or(0.0, |c| reach / c)]
    };
    (0..case.problem.effectors.len()).map(limit).collect()
}

fn random_load(rng: &mut Rng, effector: usize, [force, torque]: [f64; 2]) -> EffectorLoad {
    let mut vector = |limit: f64| DVec3::from_array(rng.direction()) * (limit * rng.unit());
    let wrench = Wrench::new(vector(force), vector(torque));
    let frame = if rng.chance(0.5) { LoadFrame::World } else { LoadFrame::Body };
    EffectorLoad { effector, wrench, frame }
}

/// Σ Bᵀ J_r(ξ)ᵀ w of the loads at the state.
fn generalised_force(model: &ReducedModel, state: &State, loads: &[EffectorLoad]) -> Vec<f64> {
    let n = model.dof();
    let mut out = vec![0.0; n];
    for l in loads {
        let xi = model.effector_twist(l.effector, state.coordinates());
        let pose: Pose = model.effector_pose(l.effector, state.coordinates());
        let back = pose.rotation.conjugate();
        let w = match l.frame {
            LoadFrame::Body => l.wrench,
            LoadFrame::World => Wrench::new(back * l.wrench.force, back * l.wrench.torque),
        };
        let pulled = right_jacobian(xi).transpose_mul_vec(&w.to_array());
        for (i, p) in pulled.iter().enumerate() {
            let row = model.data().basis.row(6 * l.effector + i);
            out.iter_mut().zip(row).for_each(|(o, b)| *o += b * p);
        }
    }
    out
}

/// The first effector beyond the model's range, or turned by π or more.
fn leaves_range(model: &ReducedModel, eta: &[f64]) -> Option<usize> {
    let data = model.data();
    (0..model.effector_count()).find(|&e| {
        let t = model.effector_twist(e, eta);
        let turned = t.angular.length() / core::f64::consts::PI;
        let moved = t.linear.length() / data.radius;
        turned >= 1.0 || moved.hypot(turned) > data.range
    })
}
