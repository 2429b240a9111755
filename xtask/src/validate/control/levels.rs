//! Levels of rows against a cascade of quadratic programs.

use clarabel::{
    algebra::CscMatrix,
    solver::{
        DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT,
        ZeroConeT,
    },
};
use forks_control::lexicographic::{Level, Problem, Solver, Status};
use forks_testkit::Rng;

use crate::validate::record::{Recorder, larger};

pub(super) fn check(count: usize, out: &mut Recorder) -> Result<(), String> {
    let mut rng = Rng::new(8);
    let (mut compared, mut gave_up, mut unfinished) = (0, 0, 0);
    let [mut worst, mut proof, mut changed] = [0.0f64; 3];
    for _ in 0..count {
        let problem = random(&mut rng)?;
        let mut solver = Solver::new();
        let status = solver.solve(&problem);
        unfinished += usize::from(matches!(status, Status::IterationLimit { .. }));
        let x = solver.solution().to_vec();
        for (level, c) in solver.certificates().iter().enumerate() {
            proof = larger(proof, c.stationarity.max(c.primal).max(c.dual));
            let ours = residual(&problem.levels()[level], &x);
            match rival(&problem, level, &x) {
                Some(theirs) => {
                    compared += 1;
                    worst = larger(worst, (ours - theirs).abs() / (1.0 + theirs));
                }
                None => gave_up += 1,
            }
        }
        changed = larger(changed, change_of_higher(&problem, &x)?);
    }
    out.equal(&format!("problems unfinished of {count}"), unfinished, 0);
    let name = format!("residuals = quadratic programs, {compared} levels of {count} problems");
    out.at_most(&name, worst, 1e-8);
    out.info("levels that the interior-point rival gave up on", gave_up as f64);
    out.at_most("largest number of a certificate", proof, 1e-9);
    out.at_most("change of higher residuals by the last level", changed, 1e-12);
    Ok(())
}

/// Largest change of residuals, over 1 and the residual, that the last level makes.
fn change_of_higher(problem: &Problem, x: &[f64]) -> Result<f64, String> {
    let count = problem.levels().len() - 1;
    let mut part = Problem::new(problem.unknowns(), count);
    for (k, level) in problem.levels()[..count].iter().enumerate() {
        for i in 0..level.len() {
            let (lower, upper) = level.bounds(i);
            let to = part.level_mut(k);
            to.push(&level.row(i), lower, upper, level.weight(i)).map_err(|e| e.to_string())?;
        }
    }
    let mut solver = Solver::new();
    solver.solve(&part);
    let change = |level: &Level| {
        let (a, b) = (residual(level, x), residual(level, solver.solution()));
        (a - b).abs() / (1.0 + b)
    };
    Ok(part.levels().iter().map(change).fold(0.0, larger))
}

/// Up to 40 unknowns and 4 levels; rows that repeat, contradict, or bound others.
fn random(rng: &mut Rng) -> Result<Problem, String> {
    let (n, levels) = (1 + rng.index(40), 1 + rng.index(4));
    let mut problem = Problem::new(n, levels);
    let mut seen: Vec<Vec<f64>> = Vec::new();
    for level in 0..levels {
        for _ in 0..1 + rng.index(n + 3) {
            let row: Vec<f64> = if !seen.is_empty() && rng.chance(0.25) {
                // A multiple of another row, or the sum of two.
                let (a, b) = (&seen[rng.index(seen.len())], &seen[rng.index(seen.len())]);
                let (s, t) = (rng.symmetric(), if rng.chance(0.5) { rng.symmetric() } else { 0.0 });
                a.iter().zip(b).map(|(a, b)| s * a + t * b).collect()
            } else if rng.chance(0.3) {
                let at = rng.index(n);
                (0..n).map(|i| if i == at { 1.0 } else { 0.0 }).collect()
            } else {
                (0..n).map(|_| rng.symmetric()).collect()
            };
            let b = rng.symmetric();
            let (lower, upper) = match rng.index(4) {
                0 | 1 => (b, b),
                2 => (b, b + rng.unit()),
                _ => (f64::NEG_INFINITY, b),
            };
            let weight = rng.range(0.3, 3.0);
            problem.level_mut(level).push(&row, lower, upper, weight).map_err(|e| e.to_string())?;
            seen.push(row);
        }
    }
    Ok(problem)
}

/// √(Σ w² excess²).
fn residual(level: &Level, x: &[f64]) -> f64 {
    (0..level.len()).map(|i| (level.weight(i) * level.excess(i, x)).powi(2)).sum::<f64>().sqrt()
}

/// The least residual of a level when rows before it have the excess that they have at x.
fn rival(problem: &Problem, level: usize, x: &[f64]) -> Option<f64> {
    let (n, rows) = (problem.unknowns(), &problem.levels()[level]);
    let size = n + rows.len();
    let (mut equal, mut below) = (Vec::new(), Vec::new());
    let mut add = |row: &[f64], own: Option<usize>, lower: f64, upper: f64| {
        let full = |s: f64| {
            let mut r: Vec<f64> = row.iter().map(|x| s * x).collect();
            r.resize(size, 0.0);
            if let Some(i) = own {
                r[n + i] = -s;
            }
            r
        };
        if lower == upper {
            equal.push((full(1.0), upper));
            return;
        }
        if upper.is_finite() {
            below.push((full(1.0), upper));
        }
        if lower.is_finite() {
            below.push((full(-1.0), -lower));
        }
    };
    for before in &problem.levels()[..level] {
        for i in 0..before.len() {
            let (excess, (lower, upper)) = (before.excess(i, x), before.bounds(i));
            if excess.abs() > 1e-10 {
                let value = excess + if excess > 0.0 { upper } else { lower };
                add(&before.row(i), None, value, value);
            } else {
                add(&before.row(i), None, lower, upper);
            }
        }
    }
    for i in 0..rows.len() {
        let (lower, upper) = rows.bounds(i);
        add(&rows.row(i), Some(i), lower, upper);
    }
    let cones: Vec<SupportedConeT<f64>> =
        vec![ZeroConeT(equal.len()), NonnegativeConeT(below.len())];
    let all: Vec<(Vec<f64>, f64)> = equal.into_iter().chain(below).collect();
    let a: Vec<Vec<f64>> = all.iter().map(|(r, _)| r.clone()).collect();
    let b: Vec<f64> = all.iter().map(|(_, b)| *b).collect();
    let p: Vec<Vec<f64>> = (0..size)
        .map(|i| {
            let w = if i < n { 0.0 } else { rows.weight(i - n).powi(2) };
            (0..size).map(|j| if i == j { w } else { 0.0 }).collect()
        })
        .collect();
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-13,
        tol_gap_rel: 1e-13,
        tol_feas: 1e-13,
        reduced_tol_gap_abs: 1e-11,
        reduced_tol_gap_rel: 1e-11,
        reduced_tol_feas: 1e-11,
        ..DefaultSettings::default()
    };
    let (p, a) = (CscMatrix::from(&p), CscMatrix::from(&a));
    let mut solver = DefaultSolver::new(&p, &vec![0.0; size], &a, &b, &cones, settings).ok()?;
    solver.solve();
    let s = &solver.solution;
    let good = matches!(s.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
    good.then(|| (0..rows.len()).map(|i| (rows.weight(i) * s.x[n + i]).powi(2)).sum::<f64>().sqrt())
}
