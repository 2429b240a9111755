//! The lexicographic solver against a cascade of quadratic programs and cases known by hand.

use clarabel::{
    algebra::CscMatrix,
    solver::{
        DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT,
        ZeroConeT,
    },
};
use forks_control::lexicographic::{Level, Problem, RowError, Solver, Status};
use forks_testkit::Rng;

/// Up to 40 unknowns and 4 levels; rows that repeat, contradict, or bound others.
fn random(rng: &mut Rng) -> Problem {
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
            problem.level_mut(level).push(&row, lower, upper, rng.range(0.3, 3.0)).unwrap();
            seen.push(row);
        }
    }
    problem
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
    let mut solver = DefaultSolver::new(&p, &vec![0.0; size], &a, &b, &cones, settings).unwrap();
    solver.solve();
    let s = &solver.solution;
    let good = matches!(s.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
    good.then(|| (0..rows.len()).map(|i| (rows.weight(i) * s.x[n + i]).powi(2)).sum::<f64>().sqrt())
}

#[test]
fn levels_have_the_residuals_of_a_cascade_of_quadratic_programs() {
    let mut rng = Rng::new(8);
    let (mut compared, mut gave_up, mut relaxed) = (0, 0, 0);
    for case in 0..500 {
        let problem = random(&mut rng);
        let mut solver = Solver::new();
        let status = solver.solve(&problem);
        assert!(!matches!(status, Status::IterationLimit { .. }), "case {case}: {status:?}");
        relaxed += usize::from(matches!(status, Status::Relaxed { .. }));
        let x = solver.solution();
        for (level, c) in solver.certificates().iter().enumerate() {
            let worst = c.stationarity.max(c.primal).max(c.dual);
            assert!(worst < 1e-9, "case {case}, level {level}: {c:?}");
            let ours = residual(&problem.levels()[level], x);
            match rival(&problem, level, x) {
                Some(theirs) => {
                    compared += 1;
                    let apart = (ours - theirs).abs() / (1.0 + theirs);
                    assert!(apart < 1e-8, "case {case}, level {level}: {ours} against {theirs}");
                }
                None => gave_up += 1,
            }
        }
    }
    println!("{compared} levels compared, rival gave up on {gave_up}; {relaxed} cases relaxed");
    assert!(relaxed > 200);
    // Of levels that leave nothing inside, the rival's interior point may report no solution.
    assert!(gave_up * 10 < compared, "{gave_up} of {compared}");
}

#[test]
fn a_lower_level_changes_no_higher_residual() {
    let mut rng = Rng::new(9);
    for case in 0..200 {
        let problem = random(&mut rng);
        let mut solver = Solver::new();
        solver.solve(&problem);
        let all = solver.solution().to_vec();
        for count in 1..problem.levels().len() {
            let mut part = Problem::new(problem.unknowns(), count);
            for (k, level) in problem.levels()[..count].iter().enumerate() {
                for i in 0..level.len() {
                    let (lower, upper) = level.bounds(i);
                    let weight = level.weight(i);
                    part.level_mut(k).push(&level.row(i), lower, upper, weight).unwrap();
                }
            }
            solver.restart();
            solver.solve(&part);
            for (k, level) in part.levels().iter().enumerate() {
                let (a, b) = (residual(level, &all), residual(level, solver.solution()));
                assert!((a - b).abs() < 1e-11, "case {case}, level {k}: {a} and {b}");
            }
        }
    }
}

#[test]
fn a_warm_start_changes_no_residual() {
    let mut rng = Rng::new(10);
    for case in 0..100 {
        let problem = random(&mut rng);
        let (mut cold, mut warm) = (Solver::new(), Solver::new());
        cold.solve(&problem);
        let x: Vec<f64> = cold.solution().to_vec();
        // A start that is far away in every direction.
        let mut far = Problem::new(problem.unknowns(), 1);
        for i in 0..problem.unknowns() {
            let row: Vec<f64> =
                (0..problem.unknowns()).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
            let at = 10.0 * rng.symmetric();
            far.level_mut(0).push(&row, at, at, 1.0).unwrap();
        }
        warm.solve(&far);
        warm.solve(&problem);
        for (k, level) in problem.levels().iter().enumerate() {
            let (a, b) = (residual(level, &x), residual(level, warm.solution()));
            assert!((a - b).abs() < 1e-9, "case {case}, level {k}: {a} and {b}");
        }
        warm.solve(&problem);
        let again: usize = warm.certificates().iter().map(|c| c.iterations).sum();
        let first: usize = cold.certificates().iter().map(|c| c.iterations).sum();
        assert!(again <= first + 3 * problem.levels().len(), "case {case}: {again}, cold {first}");
    }
}

#[test]
fn contradictions_are_shared_by_weight_and_named() {
    let mut problem = Problem::new(2, 2);
    problem.level_mut(0).push(&[1.0, 0.0], 0.0, 0.0, 1.0).unwrap();
    problem.level_mut(0).push(&[1.0, 0.0], 3.0, f64::INFINITY, 2.0).unwrap();
    problem.level_mut(1).push(&[1.0, 1.0], 1.0, 1.0, 1.0).unwrap();
    problem.level_mut(1).push(&[0.0, 1.0], f64::NEG_INFINITY, -4.0, 1.0).unwrap();
    let mut solver = Solver::new();
    // x₀² + 4 (3 − x₀)² is least at 2.4; then (1.4 + x₁)² + max(0, x₁ + 4)² at −2.7.
    let Status::Relaxed { level, row, by } = solver.solve(&problem) else { panic!("not relaxed") };
    assert_eq!((level, row), (0, 0));
    assert!((by - 2.4).abs() < 1e-12);
    assert!((solver.solution()[1] + 2.7).abs() < 1e-12, "{:?}", solver.solution());
}

#[test]
fn levels_without_rows_and_problems_without_unknowns_are_solved() {
    let mut solver = Solver::new();
    assert_eq!(solver.solve(&Problem::new(3, 2)), Status::Solved);
    assert_eq!(solver.solution(), [0.0; 3]);
    let mut none = Problem::new(0, 1);
    none.level_mut(0).push(&[], 1.0, 2.0, 1.0).unwrap();
    assert_eq!(solver.solve(&none), Status::Relaxed { level: 0, row: 0, by: -1.0 });
}

#[test]
fn a_limit_of_iterations_is_kept_and_named() {
    let mut rng = Rng::new(11);
    let mut problem = random(&mut rng);
    problem.reset(2, 1);
    problem.level_mut(0).push(&[1.0, 2.0], 1.0, 1.0, 1.0).unwrap();
    let mut solver = Solver::new();
    solver.set_iteration_limit(Some(0));
    assert_eq!(solver.solve(&problem), Status::IterationLimit { level: 0 });
    solver.set_iteration_limit(None);
    assert_eq!(solver.solve(&problem), Status::Solved);
}

#[test]
fn wrong_rows_are_refused_with_their_values() {
    let mut problem = Problem::new(2, 1);
    let level = problem.level_mut(0);
    let refused = |r: Result<(), RowError>| r.unwrap_err().to_string();
    assert_eq!(
        refused(level.push(&[1.0], 0.0, 0.0, 1.0)),
        "row 0 has 1 coefficients, the problem has 2 unknowns"
    );
    assert_eq!(refused(level.push(&[1.0, f64::NAN], 0.0, 0.0, 1.0)), "row 0: a coefficient is NaN");
    assert_eq!(
        refused(level.push(&[1.0, 0.0], f64::NAN, 0.0, 1.0)),
        "row 0: the lower bound is NaN"
    );
    assert_eq!(
        refused(level.push(&[1.0, 0.0], 2.0, 1.0, 1.0)),
        "row 0: the lower bound 2 is above the upper bound 1"
    );
    assert_eq!(refused(level.push(&[1.0, 0.0], 0.0, 1.0, 0.0)), "row 0: the weight is 0");
    assert!(level.is_empty());
}
