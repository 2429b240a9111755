//! `adaptive/…`: steps of error-bounded quasi-statics (\[R06\] Figures 6 and 8, Table 1), against
//! our own divide and conquer on the same mechanism under the same forces.

use std::time::Instant;

use forks_dynamics::adaptive::{
    AdaptiveOptions, AdaptivePlan, AdaptiveState, AdaptiveStatus, AdaptiveStep, ErrorMeasure,
    Springs, Target,
};
use forks_mechanism::{Mechanism, Preparation, lie::glam::DVec3};

use super::{
    case::{Case, Context},
    measure::{Timing, cpu_ns, time},
};
use crate::linkages::{Forces, Full, Kind, Placement, centers, largest_distance};

/// Exponents i of ε_max = 2⁻ⁱ.
const EXPONENTS: [i32; 5] = [3, 7, 11, 15, 19];
/// The same in quick runs.
const QUICK_EXPONENTS: [i32; 2] = [7, 19];
const FORCES: [usize; 4] = [1, 10, 100, 1000];
const QUICK_FORCES: [usize; 2] = [1, 1000];
/// Length of a step, s.
const DT: f64 = 1e-2;
/// Work is counted in this many steps from the start pose, fewer where they compute more joints
/// than [`COUNTED_JOINTS`].
const COUNTED_STEPS: usize = 100;
const COUNTED_JOINTS: usize = 200_000;
/// Displacements are compared after so many steps,
const DISPLACED_STEPS: usize = 4000;
/// where a step at 2⁻¹⁹ computes at most so many joints,
const DISPLACED_JOINTS: f64 = 400.0;
/// with those at this threshold.
const EXACT: i32 = 50;
/// Steps from one that catches up to the next.
const CATCH_UP: usize = 8;
/// Stiffness of all hinges in the cases with springs, N·m/rad.
const STIFFNESS: f64 = 1000.0;

/// `adaptive/chain-50000`.
pub(super) fn chain(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    let mut cases = linkage(name, context, &Kind::Chain.mechanism(50_000))?;
    cases.extend(sprung(name, context, Kind::Chain.mechanism(50_000))?);
    Ok(cases)
}

/// `adaptive/polymer-50000`.
pub(super) fn polymer(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    linkage(name, context, &Kind::Polymer.mechanism(50_000))
}

/// `adaptive/bushy-50000`.
pub(super) fn bushy(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    linkage(name, context, &Kind::Bushy.mechanism(50_000))
}

/// `adaptive/millipede-13000`.
pub(super) fn millipede(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    linkage(name, context, &Kind::Millipede.mechanism(13_000))
}

/// All numbers and placements of forces.
fn linkage(name: &str, context: &Context<'_>, m: &Mechanism) -> Result<Vec<Case>, String> {
    let forces = if context.quick { &QUICK_FORCES[..] } else { &FORCES };
    let mut cases = Vec::new();
    for placement in [Placement::Neighbouring, Placement::Scattered] {
        for &count in forces {
            // One force is neither scattered nor has it neighbours.
            if placement == Placement::Scattered && count == 1 {
                continue;
            }
            let suffix = if placement == Placement::Scattered { "s" } else { "" };
            let name = format!("{name}/f{count}{suffix}");
            let forces = Forces::new(m, count, placement, 1.0);
            cases.extend(Loaded { name, context, m, forces }.cases()?);
        }
    }
    Ok(cases)
}

/// A linkage under forces.
struct Loaded<'a> {
    name: String,
    context: &'a Context<'a>,
    m: &'a Mechanism,
    forces: Forces,
}

/// Work of a step, means over steps.
#[derive(Clone, Copy, Default)]
struct Work {
    steps: usize,
    joints: f64,
    visited: f64,
    updated: f64,
}

impl Loaded<'_> {
    /// One case per threshold.
    fn cases(&self) -> Result<Vec<Case>, String> {
        let exponents = if self.context.quick { &QUICK_EXPONENTS[..] } else { &EXPONENTS };
        let name = |i: &i32| format!("{}/e{i}", self.name);
        let wanted: Vec<i32> =
            exponents.iter().copied().filter(|i| self.context.wants(&name(i))).collect();
        if wanted.is_empty() {
            return Ok(vec![]);
        }
        let plan = self.plan(AdaptiveOptions::default())?;
        let catching = AdaptiveOptions { catch_up: CATCH_UP, ..AdaptiveOptions::default() };
        let catching = self.plan(catching)?;
        // Next to ours in time, because the machine's speed drifts.
        let full = self.full();
        let mut displaced = Displaced::new(self, &plan)?;
        let mut cases = Vec::new();
        for i in wanted {
            let mut case = self.case(&name(&i), &plan, &target(i), &full)?;
            self.add_catching(&mut case, &catching, &target(i))?;
            match &mut displaced {
                Ok(exact) => {
                    exact.compare(&mut case, self, &plan, "", &target(i))?;
                    exact.compare(&mut case, self, &catching, CATCHING, &target(i))?;
                }
                Err(note) => case.notes.push(note.clone()),
            }
            cases.push(case);
        }
        Ok(cases)
    }

    fn plan(&self, options: AdaptiveOptions) -> Result<AdaptivePlan, String> {
        let options = AdaptiveOptions { time_step: DT, ..options };
        AdaptivePlan::new(self.m, &options).map_err(|e| e.to_string())
    }

    fn state<'p>(&self, plan: &'p AdaptivePlan) -> Result<AdaptiveState<'p>, String> {
        self.forces.state(plan).map_err(|e| e.to_string())
    }

    /// A call of the full solver at the start pose.
    fn full(&self) -> Result<Timing, String> {
        let mut full = Full::new(self.m).map_err(|e| e.to_string())?;
        let q = self.m.start_positions();
        full.place(&q, &self.forces);
        full.solve(&q)?;
        Ok(time(self.context.batch, || full.solve(&q)))
    }

    /// Steps at one threshold.
    fn case(
        &self,
        name: &str,
        plan: &AdaptivePlan,
        target: &Target,
        full: &Result<Timing, String>,
    ) -> Result<Case, String> {
        let mut state = self.state(plan)?;
        let counted = count(&mut state, target)?;
        let (ours, timed) = time_steps(&mut state, target, self.context.batch)?;
        let n = self.m.links().len() - 1;
        let settings = format!(
            "step and update, relative joint error {:.1e}, 1 N each in fixed seeded directions",
            target.error
        );
        let mut case = Case::new(name, n, 1, ours, &settings);
        case.dt = Some(DT);
        case.rival_or_note("forks-dca", full, "one solution at the start pose, no step");
        case.figure("joints computed per step", counted.joints);
        case.figure("nodes visited per step", counted.visited);
        case.figure("nodes updated per step", counted.updated);
        case.figure("steps counted", counted.steps as f64);
        case.figure("bytes of state per joint", plan.state_bytes() as f64 / n as f64);
        let computing = ours.cpu_ns.zip(full.as_ref().ok().and_then(|f| f.cpu_ns));
        let per_joint = computing.map_or(ours.ns, |(ours, _)| ours) / timed.joints;
        case.figure("ns per computed joint, ours", per_joint);
        let Ok(full) = full else { return Ok(case) };
        let (ours, full) = computing.unwrap_or((ours.ns, full.ns));
        case.figure("ns per joint, forks-dca", full / n as f64);
        case.figure(
            "cost per computed joint over forks-dca's per joint",
            per_joint * n as f64 / full,
        );
        if ours >= full {
            case.notes.push(format!(
                "adaptivity does not pay here: {:.0} % of the joints are computed, and a step \
                takes {:.2} solutions of all joints",
                100.0 * counted.joints / n as f64,
                ours / full
            ));
        }
        Ok(case)
    }

    /// The same with steps that catch up.
    fn add_catching(
        &self,
        case: &mut Case,
        plan: &AdaptivePlan,
        target: &Target,
    ) -> Result<(), String> {
        let mut state = self.state(plan)?;
        let counted = count(&mut state, target)?;
        case.figure(&format!("joints computed per step{CATCHING}"), counted.joints);
        let (ours, _) = time_steps(&mut state, target, self.context.batch)?;
        case.figure(&format!("µs per step{CATCHING}"), 1e-3 * ours.ns);
        if let (Some(ours), Some(full)) = (ours.cpu_ns, case.cpu_ns.get("forks-dca").copied()) {
            case.figure(&format!("forks-dca / ours in computing time{CATCHING}"), full / ours);
        }
        Ok(())
    }
}

/// After names of figures.
const CATCHING: &str = ", every 8th step catching up";

fn target(exponent: i32) -> Target {
    Target::new(ErrorMeasure::RelativeJoint, 0.5f64.powi(exponent))
}

/// The step, if it kept what was asked for.
fn checked(step: &AdaptiveStep, target: &Target) -> Result<AdaptiveStep, String> {
    let r = &step.result;
    if r.status == AdaptiveStatus::Converged && r.certified_error <= target.error {
        Ok(*step)
    } else {
        Err(format!("a step ended with {:?}, error {:e}", r.status, r.certified_error))
    }
}

/// Work of the first steps, which does not depend on how long anything takes.
fn count(state: &mut AdaptiveState<'_>, target: &Target) -> Result<Work, String> {
    // Takes off what brought the start pose up to date.
    state.solve(target);
    let mut sums = [0usize; 3];
    let mut steps = 0;
    while steps < COUNTED_STEPS && sums[0] < COUNTED_JOINTS {
        let c = checked(&state.step(target), target)?.result.counters;
        for (sum, n) in sums.iter_mut().zip([c.joints_computed, c.nodes_visited, c.nodes_updated]) {
            *sum += n;
        }
        steps += 1;
    }
    let [joints, visited, updated] = sums.map(|s| s as f64 / steps as f64);
    Ok(Work { steps, joints, visited, updated })
}

/// Time of a step, and the work of all steps that were timed or warmed up.
fn time_steps(
    state: &mut AdaptiveState<'_>,
    target: &Target,
    batch: f64,
) -> Result<(Timing, Work), String> {
    let (mut joints, mut steps) = (0usize, 0usize);
    let timing = time(batch, || {
        let step = state.step(target);
        joints += step.result.counters.joints_computed;
        steps += 1;
    });
    checked(&state.step(target), target)?;
    Ok((timing, Work { steps, joints: joints as f64 / steps as f64, ..Work::default() }))
}

/// Displacements after [`DISPLACED_STEPS`] steps.
struct Displaced {
    start: Vec<DVec3>,
    exact: Vec<DVec3>,
}

impl Displaced {
    /// The exact ones, or why there are none.
    fn new(loaded: &Loaded<'_>, plan: &AdaptivePlan) -> Result<Result<Self, String>, String> {
        if loaded.context.quick {
            return Ok(Err("relative displacement error left out: a quick run".into()));
        }
        let joints = count(&mut loaded.state(plan)?, &target(19))?.joints;
        if joints > DISPLACED_JOINTS {
            return Ok(Err(format!(
                "relative displacement error left out: {DISPLACED_STEPS} steps of {joints:.0} \
                joints at eleven thresholds take minutes"
            )));
        }
        let start = centers(loaded.m, &loaded.m.start_positions());
        let exact = displaced(loaded, plan, &target(EXACT))?;
        Ok(Ok(Self { start, exact }))
    }

    fn compare(
        &self,
        case: &mut Case,
        loaded: &Loaded<'_>,
        plan: &AdaptivePlan,
        kind: &str,
        target: &Target,
    ) -> Result<(), String> {
        let largest = largest_distance(&self.start, &self.exact);
        let error = largest_distance(&displaced(loaded, plan, target)?, &self.exact) / largest;
        case.figure(
            &format!("relative displacement error after {DISPLACED_STEPS} steps{kind}"),
            error,
        );
        case.figure("largest displacement, m", largest);
        Ok(())
    }
}

/// Centres of mass after the steps.
fn displaced(
    loaded: &Loaded<'_>,
    plan: &AdaptivePlan,
    target: &Target,
) -> Result<Vec<DVec3>, String> {
    let mut state = loaded.state(plan)?;
    for _ in 0..DISPLACED_STEPS {
        checked(&state.step(target), target)?;
    }
    Ok(centers(loaded.m, state.positions()))
}

/// One force on a linkage with springs in all hinges: relative and absolute thresholds, and until
/// it rests.
fn sprung(name: &str, context: &Context<'_>, m: Mechanism) -> Result<Vec<Case>, String> {
    let name = format!("{name}/f1/springs");
    if !context.wants(&name) && !format!("{name}/").starts_with(context.prefix) {
        return Ok(vec![]);
    }
    let preparation = Preparation { default_stiffness: Some(STIFFNESS), ..Default::default() };
    let m = preparation.apply(&m).map_err(|e| e.to_string())?.mechanism;
    let forces = Forces::new(&m, 1, Placement::Neighbouring, 1.0);
    let loaded = Loaded { name, context, m: &m, forces };
    let full = loaded.full();
    let implicit = AdaptiveOptions { springs: Springs::Implicit, ..AdaptiveOptions::default() };
    let relative = loaded.plan(implicit.clone())?;
    let case =
        loaded.case(&format!("{}/relative-e19", loaded.name), &relative, &target(19), &full)?;
    let largest = loaded.state(&relative)?.solve(&target(19)).largest_computed;
    let mut cases = vec![case];
    for i in [10, 19] {
        let target = Target::new(ErrorMeasure::AbsoluteJoint, largest * 0.5f64.powi(i));
        let options = AdaptiveOptions { rest_below: target.error, ..implicit.clone() };
        cases.push(until_rest(&loaded, &options, i, &target, &full)?);
    }
    Ok(cases)
}

/// Steps with hysteresis until no joint moves.
fn until_rest(
    loaded: &Loaded<'_>,
    options: &AdaptiveOptions,
    exponent: i32,
    target: &Target,
    full: &Result<Timing, String>,
) -> Result<Case, String> {
    let plan = loaded.plan(options.clone())?;
    let mut state = loaded.state(&plan)?;
    let (begin, computing) = (Instant::now(), cpu_ns());
    let (mut joints, mut steps, mut first) = (0, 0u32, 0);
    let mut rests = false;
    while (steps as usize) < DISPLACED_STEPS && !rests {
        let step = checked(&state.step(target), target)?;
        joints += step.result.counters.joints_computed;
        first = if steps == 0 { joints } else { first };
        steps += 1;
        rests = step.joints_moved == 0;
    }
    let mean = |ns: f64| ns / f64::from(steps);
    let ours = Timing {
        ns: mean(1e9 * begin.elapsed().as_secs_f64()),
        spread: 0.0,
        cpu_ns: computing.zip(cpu_ns()).map(|(a, b)| mean(b - a)),
    };
    let name = format!("{}/absolute-e{exponent}", loaded.name);
    let settings = format!(
        "mean of all steps of one run; implicit springs, {STIFFNESS} N·m/rad in every hinge, \
        threshold and rest below 2^-{exponent} of the largest acceleration at the start"
    );
    let mut case = Case::new(&name, loaded.m.links().len() - 1, 1, ours, &settings);
    case.dt = Some(DT);
    let settings = "one solution at the start pose, no step, springs unstressed";
    case.rival_or_note("forks-dca", full, settings);
    case.figure("joints computed in the first step", first as f64);
    case.figure("joints computed per step until rest", joints as f64 / f64::from(steps));
    case.figure("steps until rest", f64::from(steps));
    if !rests {
        case.notes.push(format!("not at rest after {steps} steps"));
    }
    Ok(case)
}
