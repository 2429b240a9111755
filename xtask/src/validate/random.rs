//! Seeded random graphs: loops anywhere, couplings, springless joints, loads and gravity.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    statics::{EquilibriumOptions, EquilibriumStatus, continue_equilibrium, solve_equilibrium},
};
use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_reduce::{Effector, Linearisation, Problem, ReduceError};
use forks_testkit::{
    RandomMechanismOptions, Rng, System,
    differences::{relative_difference, response_by_differences},
    random_effectors, random_mechanism,
};

use super::{
    record::{Recorder, larger},
    scenario::RandomGraphs,
};

const KKT_BOUND: f64 = 1e-8;
const DIFFERENCE_BOUND: f64 = 1e-5;
/// Absolute compliance that counts as none, for springs of about 100 N·m/rad.
const NO_COMPLIANCE: f64 = 1e-9;

pub(crate) fn check(r: &RandomGraphs, out: &mut Recorder) {
    let sprung = worst(0..r.sprung, |seed| {
        let options =
            RandomMechanismOptions { resisted: Some(true), ..RandomMechanismOptions::sprung(seed) };
        against_kkt(seed, &random_mechanism(seed, &options))
    });
    record(out, &format!("{} sprung graphs = KKT", r.sprung), sprung, KKT_BOUND);
    let mixed = worst(1000..1000 + r.mixed, |seed| {
        against_kkt(seed, &random_mechanism(seed, &RandomMechanismOptions::mixed(seed)))
    });
    let name = format!("{} graphs with couplings, passive joints = KKT", r.mixed);
    record(out, &name, mixed, KKT_BOUND);
    let mut solved = 0;
    let loaded = worst(0..r.loaded, |seed| {
        let error = against_differences(seed)?;
        solved += u64::from(error.is_some());
        Ok(error.unwrap_or(0.0))
    });
    let name = format!("{solved} of {} loaded graphs = differences", r.loaded);
    record(out, &name, loaded, DIFFERENCE_BOUND);
    out.at_most(
        "loaded graphs that could not be compared",
        (r.loaded - solved) as f64,
        0.25 * r.loaded as f64,
    );
    let missed = (0..r.unresisted).filter(|&seed| !finds_free_motion(seed)).count();
    out.equal(&format!("unresisted motions missed of {}", r.unresisted), missed, 0);
}

fn worst(
    seeds: std::ops::Range<u64>,
    mut error: impl FnMut(u64) -> Result<f64, String>,
) -> Result<f64, String> {
    seeds.map(&mut error).try_fold(0.0, |m: f64, e| Ok(m.max(e?)))
}

fn record(out: &mut Recorder, check: &str, value: Result<f64, String>, bound: f64) {
    match value {
        Ok(v) => out.at_most(check, v, bound),
        Err(problem) => out.fail(check, bound, problem),
    }
}

fn problem(m: &Mechanism, links: &[LinkId]) -> Problem {
    let effectors = links.iter().map(|&l| Effector::of_link(m, l)).collect();
    Problem::unprepared(m.clone(), effectors)
}

/// Largest relative difference of compliance, joint and twist maps.
fn against_kkt(seed: u64, m: &Mechanism) -> Result<f64, String> {
    let links = random_effectors(seed, m, 2);
    let q = m.start_positions();
    let problem = problem(m, &links);
    let r = problem.response(problem.at_rest()).map_err(|e| format!("seed {seed}: {e}"))?;
    let system = System::new(m, &q);
    let dense = system
        .reduce(&system.stiffness, &links)
        .map_err(|_| format!("seed {seed}: free motions"))?;
    if dense.rank == 0 {
        return if r.compliance.max_abs() < NO_COMPLIANCE {
            Ok(0.0)
        } else {
            Err(format!("seed {seed}: compliance of a rigid effector"))
        };
    }
    let relative = |a: &Matrix, b: &Matrix| a.sub(b).norm() / b.norm().max(f64::MIN_POSITIVE);
    let largest = dense.twist_maps.iter().map(Matrix::norm).fold(0.0, larger);
    let twists = r.twists.iter().zip(&dense.twist_maps);
    Ok(twists
        .map(|(a, b)| a.sub(b).norm() / largest)
        .fold(relative(&r.compliance, &dense.compliance), f64::max)
        .max(relative(&r.joints, &dense.displacements)))
}

/// Loaded by wrenches on two effectors and gravity; `None` where there is no stable equilibrium or
/// the effectors are rigid.
fn against_differences(seed: u64) -> Result<Option<f64>, String> {
    let options = RandomMechanismOptions {
        links: 7,
        preload: 0.1,
        stiffness_decades: 0.5,
        conditioning: 1e-3,
        stiffness: 300.0,
        ..RandomMechanismOptions::mixed(seed)
    };
    let m = random_mechanism(seed, &options);
    let links = random_effectors(seed, &m, 2);
    let mut rng = Rng::new(seed);
    let wrenches = links
        .iter()
        .map(|&link| AppliedWrench {
            link,
            link_from_point: Pose::IDENTITY,
            wrench: Wrench::new(
                DVec3::from_array(rng.vector()) * 20.0,
                DVec3::from_array(rng.vector()) * 5.0,
            ),
            frame: WrenchFrame::World,
        })
        .collect();
    let loads = Loads { gravity: true, wrenches };
    let e = solve_equilibrium(&m, &m.start_positions(), &loads, &EquilibriumOptions::default());
    if e.status != EquilibriumStatus::Converged {
        return Ok(None);
    }
    let problem = problem(&m, &links);
    let said = |e: ReduceError| format!("seed {seed}: {e}");
    let r = problem.response(Linearisation::equilibrium(&e, &loads)).map_err(said)?;
    if r.compliance.max_abs() < NO_COMPLIANCE {
        return Ok(None);
    }
    let c = r.world_fixed_compliance().map_err(said)?;
    let further = |k: usize, wrench| {
        let all = loads.clone().with(problem.effectors[k].applied(wrench, WrenchFrame::World));
        let there = continue_equilibrium(&m, &e, &all, &EquilibriumOptions::default());
        there.status.is_equilibrium().then_some(there.world_from_link)
    };
    let frames: Vec<_> = links.iter().map(|&l| (l, Pose::IDENTITY)).collect();
    let d = response_by_differences(&frames, &e.world_from_link, &c, r.radius, 2e-4, further);
    Ok(d.map(|d| relative_difference(&c, &d.compliance, r.radius)))
}

/// True if the reducer refuses and names joints of the motion only.
fn finds_free_motion(seed: u64) -> bool {
    let options =
        RandomMechanismOptions { resisted: Some(false), ..RandomMechanismOptions::mixed(seed) };
    let m = random_mechanism(seed, &options);
    let q = m.start_positions();
    let free = System::new(&m, &q).unresisted();
    let names: Vec<String> = free.joints.iter().map(|&j| m.joint_label(j)).collect();
    let links = random_effectors(seed, &m, 2);
    let problem = problem(&m, &links);
    match problem.response(problem.at_rest()) {
        Err(ReduceError::Unresisted { joints }) => {
            !joints.is_empty() && joints.iter().all(|j| names.contains(j))
        }
        _ => false,
    }
}
