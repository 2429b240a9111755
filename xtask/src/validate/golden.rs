//! Golden values of MuJoCo's kinematics with exact linear algebra (`fixtures/golden`).

use std::{collections::BTreeMap, fs, path::Path};

use forks_dynamics::{Loads, statics::EquilibriumOptions};
use forks_mechanism::{
    lie::{Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_reduce::{Problem, ProblemOptions};
use serde::Deserialize;

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::Scenario,
};

const COMPLIANCE_BOUND: f64 = 1e-8;
const MASS_BOUND: f64 = 1e-8;
const POSITION_BOUND: f64 = 1e-6;

#[derive(Deserialize)]
struct ReduceGolden {
    effectors: Vec<String>,
    default_stiffness: Option<f64>,
    rank: usize,
    compliance: Vec<Vec<f64>>,
    inverse_mass: Vec<Vec<f64>>,
    frequencies_full_rad_s: Vec<f64>,
    links: BTreeMap<String, LinkMap>,
}

#[derive(Deserialize)]
struct LinkMap {
    cross_compliance: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct StaticsGolden {
    effector: String,
    wrench: [f64; 6],
    default_stiffness: Option<f64>,
    gravity: bool,
    links: BTreeMap<String, LinkPose>,
}

#[derive(Deserialize)]
struct LinkPose {
    position: [f64; 3],
}

/// Compares with one file: `*.reduce.json` or `*.statics.json`.
pub(crate) fn check(
    fixtures: &Path,
    s: &Scenario,
    case: &Case,
    file: &str,
    out: &mut Recorder,
) -> Result<(), String> {
    let path = fixtures.join(file);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let said = |e: serde_json::Error| format!("{}: {e}", path.display());
    if file.ends_with(".reduce.json") {
        let golden: ReduceGolden = serde_json::from_str(&text).map_err(said)?;
        if golden.effectors != s.effectors || golden.default_stiffness != s.default_stiffness {
            return Err(format!(
                "{}: other effectors or stiffness than {}",
                path.display(),
                s.name
            ));
        }
        check_reduction(case, &golden, out)
    } else {
        let golden: StaticsGolden = serde_json::from_str(&text).map_err(said)?;
        check_statics(case, &golden, out)
    }
}

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |i, j| rows[i][j])
}

fn check_reduction(case: &Case, golden: &ReduceGolden, out: &mut Recorder) -> Result<(), String> {
    let reduction = &case.reduction;
    out.equal("golden rank", reduction.basis.rank, golden.rank);
    let expected = matrix(&golden.compliance);
    let error = reduction.compliance.sub(&expected).norm() / expected.norm();
    out.at_most("golden compliance", error, COMPLIANCE_BOUND);
    check_inertia(case, golden, out)?;
    let m = case.problem.mechanism();
    let mut largest: f64 = 0.0;
    let mut worst: f64 = 0.0;
    for (name, link) in &golden.links {
        let id = m.find_link(name).ok_or(format!("golden link '{name}' does not exist"))?;
        let expected = matrix(&link.cross_compliance);
        largest = largest.max(expected.norm());
        worst = larger(worst, reduction.response.twists[id.index()].sub(&expected).norm());
    }
    let check = format!("golden cross compliance of {} links", golden.links.len());
    out.at_most(&check, worst / largest, COMPLIANCE_BOUND);
    Ok(())
}

/// J M⁻¹ Jᵀ and the full mechanism's frequencies.
fn check_inertia(case: &Case, golden: &ReduceGolden, out: &mut Recorder) -> Result<(), String> {
    let linear = case.problem.linearise(case.problem.at_rest()).map_err(|e| e.to_string())?;
    let full = linear.full_frequencies();
    let check = "golden inverse mass J M⁻¹ Jᵀ";
    let Some(inverse_mass) = linear.inverse_mass() else {
        out.fail(check, MASS_BOUND, "a motion has no mass");
        return Ok(());
    };
    let expected = matrix(&golden.inverse_mass);
    out.at_most(check, inverse_mass.sub(&expected).norm() / expected.norm(), MASS_BOUND);
    let expected = &golden.frequencies_full_rad_s;
    out.equal("golden frequencies: number", full.len(), expected.len());
    let pairs = full.iter().zip(expected);
    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, larger);
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(*x));
    out.at_most("golden frequencies", worst / largest, MASS_BOUND);
    Ok(())
}

fn check_statics(case: &Case, golden: &StaticsGolden, out: &mut Recorder) -> Result<(), String> {
    let options =
        ProblemOptions { default_stiffness: golden.default_stiffness, ..ProblemOptions::default() };
    let problem =
        Problem::new(&case.original, &[&golden.effector], &options).map_err(|e| e.to_string())?;
    let w = golden.wrench;
    let wrench = Wrench::new(DVec3::new(w[0], w[1], w[2]), DVec3::new(w[3], w[4], w[5]));
    let loads = if golden.gravity { Loads::gravity() } else { Loads::none() };
    let loads = loads.with_world_wrench(problem.effectors[0].link, wrench);
    // The goldens were made with ten equal load steps; one of them jumps to a saddle on the way.
    let e = problem.equilibrium(&loads, &EquilibriumOptions::equal_steps());
    let gravity = if golden.gravity { " under gravity" } else { "" };
    let check = format!("golden equilibrium of '{}'{gravity} (m)", golden.effector);
    if !e.status.is_equilibrium() {
        out.fail(&check, POSITION_BOUND, e.status.name());
        return Ok(());
    }
    let m = problem.mechanism();
    let mut worst: f64 = 0.0;
    for (name, link) in &golden.links {
        let id = m.find_link(name).ok_or(format!("golden link '{name}' does not exist"))?;
        let expected = DVec3::from_array(link.position);
        worst = larger(worst, e.world_from_link[id.index()].translation.distance(expected));
    }
    out.at_most(&check, worst, POSITION_BOUND);
    Ok(())
}
