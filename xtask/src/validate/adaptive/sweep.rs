//! Time, joints computed and displacements against the threshold and the number of forces.

use std::time::Instant;

use forks_dynamics::adaptive::AdaptivePlan;
use forks_mechanism::{Mechanism, lie::glam::DVec3};

use super::{
    Adaptive, CATCH_UP, Sweep,
    displacement::EXACT,
    forces, missed, plan,
    report::{self, Line, Point, Run},
    start, step, target,
};
use crate::{
    bench::measure::cpu_ns,
    linkages::{Forces, Full, centers, largest_distance},
    validate::record::{Recorder, larger},
};

/// Joint steps of the full solver up to which its displacements are the exact ones; above they are
/// those of a very small threshold, which the check of displacements compares with the full solver.
const FULL_WORK: usize = 1_000_000;
/// Shorter times are lost between two looks of the scheduler, s.
const SCHEDULER: f64 = 0.05;
/// Rounding of the two solvers, as in the certificate.
const ROUNDING: f64 = 1e-12;

pub(super) fn check(s: &Sweep, a: &Adaptive, out: &mut Recorder) -> Result<(), String> {
    let m = a.linkage.mechanism(s.size.links);
    let plans = [plan(a, &m, 0)?, plan(a, &m, CATCH_UP)?];
    let lines: Result<Vec<Line>, String> =
        s.forces.iter().map(|&count| line(s, a, &m, &plans, count)).collect();
    let lines = lines?;
    for (i, line) in lines.iter().enumerate() {
        let name = |what: &str| format!("{} forces: {what}", line.forces);
        let runs = || line.points.iter().flat_map(|p| [p.plain, p.catching]);
        let certified = runs().map(|r| r.certified).fold(0.0, larger);
        out.at_most(&name("certified error over ε"), certified, 1.0);
        let true_error = runs().map(|r| r.true_error).fold(0.0, larger);
        out.at_most(&name("true error over ε at the end"), true_error, 1.0);
        let (Some(first), Some(last)) = (line.points.first(), line.points.last()) else {
            continue;
        };
        let joints = first.plain.joints / last.plain.joints;
        out.at_most(&name("joints at the largest ε over the smallest"), joints, 1.0);
        let displacement = last.plain.displacement / first.plain.displacement;
        out.at_most(&name("Fig. 9: displacement errors, last over first"), displacement, 1.0);
        if let Some(&expected) = s.expected.get(i).filter(|&&e| e > 0.0) {
            let name = name(&format!("joints at 2^-{} over {expected}", last.exponent));
            out.at_most(&name, last.plain.joints / expected, s.expected_bound);
        }
    }
    report::save(s, a, &lines, out)
}

fn line(
    s: &Sweep,
    a: &Adaptive,
    m: &Mechanism,
    plans: &[AdaptivePlan; 2],
    count: usize,
) -> Result<Line, String> {
    let forces = forces(a, m, count);
    let mut full = Full::new(m).map_err(|e| e.to_string())?;
    let full_time = full_time(&mut full, m, &forces)?;
    let start_centers = centers(m, &m.start_positions());
    let exact = exact(s, a, m, &plans[0], &forces, &mut full)?;
    let largest = largest_distance(&start_centers, &exact);
    let mut points = Vec::new();
    for &exponent in &s.exponents {
        let run = |plan: &AdaptivePlan, full: &mut Full<'_>| {
            run(s, m, plan, &forces, exponent, full, (&exact, largest))
        };
        let (plain, catching) = (run(&plans[0], &mut full)?, run(&plans[1], &mut full)?);
        points.push(Point { exponent, plain, catching });
    }
    Ok(Line { forces: count, full_time, points })
}

/// Measures the time of this thread where the system tells and the time is long enough for it, else
/// the wall's.
struct Watch {
    begin: Instant,
    computing: Option<f64>,
}

impl Watch {
    fn start() -> Self {
        Self { begin: Instant::now(), computing: cpu_ns() }
    }

    /// Time of the thread, else the wall's, s.
    fn computing(&self) -> f64 {
        let computing = self.computing.zip(cpu_ns()).map(|(a, b)| 1e-9 * (b - a));
        computing.unwrap_or_else(|| self.begin.elapsed().as_secs_f64())
    }

    /// The better of the two, s.
    fn elapsed(&self) -> f64 {
        let (computing, wall) = (self.computing(), self.begin.elapsed().as_secs_f64());
        if computing > SCHEDULER { computing } else { wall }
    }
}

/// Mean over as many solutions as the scheduler can see, after one that does not count.
fn full_time(full: &mut Full<'_>, m: &Mechanism, forces: &Forces) -> Result<f64, String> {
    let q = m.start_positions();
    full.place(&q, forces);
    full.solve(&q)?;
    let mut calls = 0;
    let watch = Watch::start();
    while calls == 0 || watch.computing() < 1.5 * SCHEDULER {
        full.solve(&q)?;
        calls += 1;
    }
    Ok(watch.elapsed() / f64::from(calls))
}

/// Centres of mass at the end of the run.
fn exact(
    s: &Sweep,
    a: &Adaptive,
    m: &Mechanism,
    plan: &AdaptivePlan,
    forces: &Forces,
    full: &mut Full<'_>,
) -> Result<Vec<DVec3>, String> {
    if s.size.links * s.size.steps <= FULL_WORK {
        return Ok(centers(m, &full.run(forces, s.size.steps, a.time_step)?));
    }
    let mut state = start(forces, plan)?;
    for _ in 0..s.size.steps {
        step(&mut state, &target(EXACT))?;
    }
    Ok(centers(m, state.positions()))
}

fn run(
    s: &Sweep,
    m: &Mechanism,
    plan: &AdaptivePlan,
    forces: &Forces,
    exponent: i32,
    full: &mut Full<'_>,
    (exact, largest): (&[DVec3], f64),
) -> Result<Run, String> {
    let target = target(exponent);
    let mut state = start(forces, plan)?;
    // Takes off what brought the start pose up to date.
    state.solve(&target);
    let (mut sums, mut certified) = ([0usize; 3], 0.0f64);
    let watch = Watch::start();
    for _ in 0..s.size.steps {
        let r = step(&mut state, &target)?.result;
        certified = certified.max(r.certified_error / target.error);
        let c = r.counters;
        let counted = [c.joints_computed, c.nodes_visited, c.nodes_updated];
        sums.iter_mut().zip(counted).for_each(|(sum, n)| *sum += n);
    }
    let steps = s.size.steps as f64;
    let time = watch.elapsed() / steps;
    let displacement = largest_distance(&centers(m, state.positions()), exact) / largest;
    let q = state.positions().to_vec();
    state.solve(&target);
    let true_error = missed(full, forces, &q, state.accelerations())?.relative_joint;
    let [joints, visited, updated] = sums.map(|n| n as f64 / steps);
    let true_error = (true_error - ROUNDING) / target.error;
    Ok(Run { time, joints, visited, updated, certified, true_error, displacement })
}
