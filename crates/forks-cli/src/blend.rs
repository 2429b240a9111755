//! `forks blend`: a blend of reduced models, placed automatically.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
    ops::ControlFlow,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use forks_blend::{BlendedModel, BlendedStepper, FloatingBlend, FloatingBlendStepper, Weights};
use forks_io::{json, write_atomically};
use forks_mechanism::lie::glam::DVec3;
use forks_place::{
    BlendError, Chart, LoadRegion, Placed, Placement, PlacementStatus, Progress, place,
};
use forks_reduce::Problem;
use forks_rom::System;
use serde::Serialize;

use crate::{
    at_rest,
    blend_args::BlendArgs,
    error::CliError,
    model::Model,
    output::{self, short},
};

/// Runs the command.
pub(crate) fn run(args: &BlendArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let args = &BlendArgs { effector: model.effectors(&args.effector)?, ..args.clone() };
    let problem = model.problem(&args.model, &args.springs, &args.effector)?;
    let count = problem.effectors.len();
    if ![1, count].contains(&args.cone.len()) {
        return Err(CliError::Unusable {
            path: args.model.path.clone(),
            problem: format!(
                "{} cones for {count} effectors; give --cone once, or once for each",
                args.cone.len()
            ),
        });
    }
    let region = |effector: usize| LoadRegion {
        normal: args.normal.map(DVec3::from_array),
        displacement: args.until,
        ..LoadRegion::cone(
            effector,
            DVec3::from_array(args.cone[effector.min(args.cone.len() - 1)]),
            args.angle.to_radians(),
        )
    };
    let placement = Placement {
        regions: (0..count).map(region).collect(),
        together: !args.one_at_a_time,
        joint_space_tolerance: args.joint_space_tolerance.unwrap_or(f64::INFINITY),
        constraint_tolerance: args.tolerance,
        static_tolerance: args.static_tolerance,
        max_samples: args.samples,
        seed: args.seed,
        training_loads: args.training,
        gravity: args.gravity,
        floating: args.floating,
        chart: args.chart.into(),
        mass: args.mass.into(),
        // What is too long to be counted is no limit.
        time_limit: Duration::try_from_secs_f64(args.time_limit).ok(),
        ..Placement::default()
    };
    let fail =
        |e: BlendError| CliError::Blend { path: args.model.path.clone(), source: Box::new(e) };
    let placed = with_progress(|progress| place(&problem, &placement, progress));
    let placed = placed.map_err(|e| match e {
        BlendError::Reduce(e) => CliError::reduction(&args.model.path, &problem, e),
        BlendError::NoStart { status, explanation } => {
            let explanation = at_rest::with_option(&explanation);
            fail(BlendError::NoStart { status, explanation })
        }
        e @ BlendError::NoTrainingLoad { .. } => CliError::Unusable {
            path: args.model.path.clone(),
            problem: format!("{e}; ask for less: a smaller --until or --angle"),
        },
        e => fail(e),
    })?;
    let report = Report::new(args, &problem, &placed);
    // A model that is of no use, or whose report cannot be printed, is not written.
    json::check(&report)?;
    if let Some(path) = args.output.as_ref().filter(|_| report.message.is_none()) {
        let is_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let bytes = match is_json {
            true => (placed.model.to_json() + "\n").into_bytes(),
            false => placed.model.to_bytes(),
        };
        write_atomically(path, &bytes)?;
    }
    match placed.status {
        PlacementStatus::Reached => {}
        PlacementStatus::Unreliable => output::warn(
            "the tolerances hold at all training loads, but not everywhere else in the region",
        ),
        _ => output::warn("the tolerances do not hold at all training loads"),
    }
    report.notes.iter().for_each(|n| output::warn(n));
    let code = output::print(&report, args.model.json, Report::text)?;
    match report.message {
        None => Ok(code),
        Some(problem) => Err(CliError::Unusable { path: args.model.path.clone(), problem }),
    }
}

/// Why a blend is of no use for the loads that it is for; `None` if it is, however inexact.
fn unusable(placed: &Placed) -> Option<String> {
    let c = &placed.certificate;
    let best = c.constraint.is_finite() && c.statics.is_finite();
    let many = placed.skipped.len() > placed.training.len();
    if !best && placed.status != PlacementStatus::Cancelled {
        return Some(
            "the blend has no equilibrium at some of the loads that it is for; allow more \
             --samples, or ask for less: a smaller --until or --angle"
                .into(),
        );
    }
    many.then(|| {
        format!(
            "the mechanism has no stable equilibrium at {} of {} loads of its region, so the blend \
             stands for a small part of it; ask for less: a smaller --until or --angle",
            placed.skipped.len(),
            placed.skipped.len() + placed.training.len()
        )
    })
}

/// Places a blend and shows how far it is to people who look at it, on a line that goes away.
pub(crate) fn with_progress<T>(
    work: impl FnOnce(&mut dyn FnMut(&Progress) -> ControlFlow<()>) -> T,
) -> T {
    let show = io::stderr().is_terminal();
    let done = work(&mut |p| {
        if show {
            show_progress(p);
        }
        ControlFlow::Continue(())
    });
    if show {
        // Stderr may be closed; progress is only for people who look at it.
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    done
}

/// One line that is written over.
fn show_progress(p: &Progress) {
    let text = match p {
        Progress::Trained { done, of } => format!("training loads: {done} of {of}"),
        Progress::Measured { samples, constraint, statics } => {
            format!(
                "{samples} samples: constraint error {constraint:.4}, static error {statics:.4}"
            )
        }
        Progress::Searching { samples, cost } => {
            format!("{samples} samples: looking for better places, error over tolerance {cost:.2}")
        }
        _ => return,
    };
    let _ = write!(io::stderr(), "\r\x1b[K{text}");
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    effectors: Vec<String>,
    status: &'static str,
    coordinates: usize,
    bounding_radius: f64,
    training_loads: usize,
    /// Coordinates in which samples are blended.
    chart: &'static str,
    /// Charts that were tried, in order.
    attempts: Vec<AttemptReport>,
    /// Median time of a step with the poses of all links, here; null if it cannot be stepped.
    microseconds_per_step: Option<f64>,
    /// Largest errors of the blend over training and unseen loads.
    constraint_error: Option<f64>,
    joint_space_constraint_error: Option<f64>,
    static_error: Option<f64>,
    /// Loads at which it was measured besides the training loads.
    unseen_loads: usize,
    /// Part of the loads whose direction could be followed up to the displacement asked for.
    covered: f64,
    /// By which part the lowest frequency at the start differs from that of all motions of the
    /// mechanism; null where that is not known.
    frequency_error: Option<f64>,
    /// Loads applied at once; of these, how many ended elsewhere having left the range, and how
    /// many without a word.
    sudden_loads: usize,
    sudden_out_of_range: usize,
    sudden_elsewhere: usize,
    samples: Vec<SampleReport>,
    rounds: Vec<RoundReport>,
    skipped: Vec<SkippedReport>,
    /// Free joints that are held because nothing else holds their tree.
    held: Vec<String>,
    /// The base floats.
    floating: bool,
    /// Links of free bodies without an effector; they stay where they are.
    left_out: Vec<String>,
    /// Why the blend is of no use for its region, and what to do; null if it is.
    message: Option<String>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct AttemptReport {
    chart: &'static str,
    samples: usize,
    /// Null where the blend finds no equilibrium at some load, or there is no blend.
    error_over_tolerance: Option<f64>,
    /// Why there is no blend.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct SampleReport {
    /// Force on each effector, N; empty at rest.
    forces: Vec<[f64; 3]>,
}

/// Errors are null where the blend finds no equilibrium at some training load.
#[derive(Debug, Serialize)]
struct RoundReport {
    samples: usize,
    /// How samples are weighted.
    weights: &'static str,
    exponent: Option<u32>,
    constraint_error: Option<f64>,
    joint_space_constraint_error: Option<f64>,
    static_error: Option<f64>,
}

#[derive(Debug, Serialize)]
struct SkippedReport {
    /// Null where there is no number for it.
    forces: Vec<Option<[f64; 3]>>,
    reason: String,
}

/// Name and exponent of weights.
fn weights(w: &Weights) -> (&'static str, Option<u32>) {
    match *w {
        Weights::Shepard { exponent } => ("shepard", Some(exponent)),
        Weights::Metric { exponent, .. } => ("metric", Some(exponent)),
        Weights::Neighbours { exponent, .. } => ("neighbours", Some(exponent)),
        _ => ("printed", None),
    }
}

fn chart(c: Chart) -> &'static str {
    match c {
        Chart::Joints => "joint displacements",
        Chart::Manifold => "joint displacements, links by the joints",
        _ => "effector poses",
    }
}

/// Median time of a step with all link poses.
fn microseconds_per_step(model: &BlendedModel) -> Option<f64> {
    const STEP: f64 = 1e-4;
    let model = Arc::new(model.clone());
    match FloatingBlend::new(model.clone()) {
        Ok(floating) => timed(&FloatingBlendStepper::new(Arc::new(floating), STEP).ok()?),
        Err(_) => timed(&BlendedStepper::new(model, STEP).ok()?),
    }
}

fn timed<S: System>(system: &S) -> Option<f64> {
    const STEPS: u32 = 200;
    let (mut state, mut work) = (system.state(), system.workspace());
    let mut poses = system.pose_buffer();
    let mut times: Vec<f64> = (0..7)
        .map(|_| {
            let begin = Instant::now();
            for _ in 0..STEPS {
                let _ = system.step(&mut state, &mut work, &[]);
                system.poses(&state, &mut work, &mut poses);
            }
            begin.elapsed().as_secs_f64() * 1e6 / f64::from(STEPS)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    Some(times[times.len() / 2])
}

impl Report {
    fn new(args: &BlendArgs, problem: &Problem, p: &Placed) -> Self {
        let plain = |f: &[(usize, DVec3)]| f.iter().map(|(_, f)| f.to_array()).collect();
        let finite = |x: f64| x.is_finite().then_some(x);
        let left_out = at_rest::left_out(problem);
        Self {
            effectors: args.effector.clone(),
            status: match p.status {
                PlacementStatus::Reached => "reached",
                PlacementStatus::SampleLimit => "sample limit",
                PlacementStatus::Exhausted => "exhausted",
                PlacementStatus::Cancelled => "cancelled",
                PlacementStatus::TimeLimit => "time limit",
                PlacementStatus::Unreliable => "unreliable",
            },
            chart: chart(p.chart),
            attempts: p
                .attempts
                .iter()
                .map(|a| AttemptReport {
                    chart: chart(a.chart),
                    samples: a.samples,
                    error_over_tolerance: a.worst.as_ref().ok().copied().and_then(finite),
                    reason: a.worst.as_ref().err().cloned(),
                })
                .collect(),
            microseconds_per_step: microseconds_per_step(&p.model),
            constraint_error: finite(p.certificate.constraint),
            joint_space_constraint_error: finite(p.certificate.joint_space),
            static_error: finite(p.certificate.statics),
            unseen_loads: p.certificate.unseen,
            covered: p.certificate.covered,
            frequency_error: p.certificate.frequency.and_then(finite),
            sudden_loads: p.certificate.sudden,
            sudden_out_of_range: p.certificate.sudden_out_of_range,
            sudden_elsewhere: p.certificate.sudden_elsewhere,
            coordinates: p.model.dof(),
            bounding_radius: p.model.data().radius,
            training_loads: p.training.len(),
            samples: p.loads.iter().map(|f| SampleReport { forces: plain(f) }).collect(),
            rounds: p
                .rounds
                .iter()
                .map(|r| RoundReport {
                    samples: r.samples,
                    weights: weights(&r.weights).0,
                    exponent: weights(&r.weights).1,
                    constraint_error: finite(r.constraint),
                    joint_space_constraint_error: finite(r.joint_space),
                    static_error: finite(r.statics),
                })
                .collect(),
            skipped: p
                .skipped
                .iter()
                .map(|s| SkippedReport {
                    forces: s
                        .forces
                        .iter()
                        .map(|(_, f)| f.is_finite().then_some(f.to_array()))
                        .collect(),
                    reason: s.reason.clone(),
                })
                .collect(),
            held: if args.floating { vec![] } else { at_rest::held(problem) },
            floating: args.floating,
            notes: at_rest::held_note(problem)
                .filter(|_| !args.floating)
                .into_iter()
                .chain(at_rest::left_out_note(&left_out))
                .collect(),
            left_out,
            message: unusable(p),
        }
    }

    fn text(&self) -> String {
        let shown = |x: Option<f64>| x.map_or("no equilibrium".into(), short);
        let mut out = format!(
            "status: {}\nsamples: {}, in {}, coordinates: {}, training loads: {}, skipped: {}\n",
            self.status,
            self.samples.len(),
            self.chart,
            self.coordinates,
            self.training_loads,
            self.skipped.len()
        );
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "largest errors, {} unseen loads included: constraint {}, static {}",
            self.unseen_loads,
            shown(self.constraint_error),
            shown(self.static_error)
        );
        if self.covered < 1.0 {
            let _ = writeln!(
                out,
                "covered: {:.0} % of the loads go up to the displacement asked for; in the other \
                 directions the mechanism locks or is not stable",
                100.0 * self.covered
            );
        }
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        self.skipped.iter().for_each(|s| *reasons.entry(&s.reason).or_default() += 1);
        for (reason, count) in reasons {
            let _ = writeln!(out, "skipped: {count} loads: {reason}");
        }
        if let Some(f) = self.frequency_error.filter(|f| *f > 0.01) {
            let _ = writeln!(
                out,
                "lowest frequency at the start: {:.1} % off, as what no effector loads moves too",
                100.0 * f
            );
        }
        let same = self.sudden_loads - self.sudden_out_of_range - self.sudden_elsewhere;
        let _ = writeln!(
            out,
            "loads applied at once: {same} of {} end at rest there, {} out of range, {} elsewhere",
            self.sudden_loads, self.sudden_out_of_range, self.sudden_elsewhere
        );
        if let Some(t) = self.microseconds_per_step {
            let _ = writeln!(out, "a step with all link poses: {} µs", short(t));
        }
        for a in &self.attempts {
            let error = match (&a.reason, a.error_over_tolerance) {
                (Some(reason), _) => reason.clone(),
                (None, Some(e)) => format!("largest error over tolerance {}", short(e)),
                (None, None) => "no equilibrium at some load".into(),
            };
            let _ = writeln!(out, "tried: {}, {} samples: {error}", a.chart, a.samples);
        }
        for r in &self.rounds {
            let _ = writeln!(
                out,
                "{} samples, weights {}{}: constraint error {}, static error {}",
                r.samples,
                r.weights,
                r.exponent.map_or(String::new(), |p| format!(" {p}")),
                shown(r.constraint_error),
                shown(r.static_error)
            );
        }
        out
    }
}
