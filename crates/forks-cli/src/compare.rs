//! `forks compare`: the full solver and everything that a model can be reduced to, side by side.

use std::{process::ExitCode, time::Duration};

use forks_compare::{CompareError, Row, Settings, compare};
use forks_io::{Align, TextTable};
use serde::Serialize;

use crate::{
    at_rest,
    blend::with_progress,
    compare_args::CompareArgs,
    error::CliError,
    model::Model,
    output::{self, Text, short},
    released::released_note,
};

/// Runs the command.
pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let effectors = model.effectors(&args.effector)?;
    let problem = model.problem(&args.model, &args.springs, &effectors)?;
    let settings = Settings {
        range: args.range,
        loads: args.loads,
        gravity: args.gravity,
        static_tolerance: args.static_tolerance,
        constraint_tolerance: args.tolerance,
        samples: args.samples,
        // What is too long to be counted is no limit.
        time_limit: Duration::try_from_secs_f64(args.time_limit).ok(),
        modes: args.modes,
        instances: args.instances,
        step: args.step,
        ..Settings::default()
    };
    let found = with_progress(|progress| compare(&problem, &settings, progress));
    let path = args.model.path.clone();
    let found = found.map_err(|e| match e {
        CompareError::NoEquilibrium { status, explanation } => {
            let problem = format!("{status}, {}", at_rest::with_option(&explanation));
            CliError::NoEquilibrium { path, problem }
        }
        CompareError::Reduce(e) => CliError::reduction(&path, &problem, e),
        CompareError::Loads(e) => CliError::Blend { path, source: Box::new(e) },
        e @ CompareError::NoLoad { .. } => {
            CliError::Unusable { path, problem: format!("{e}; ask for less: a smaller --range") }
        }
        e => CliError::Unusable { path, problem: e.to_string() },
    })?;
    let report = Report {
        effectors,
        range: args.range,
        loads: found.loads,
        step: args.step,
        rows: found.rows,
        recommended: found.recommended,
        reason: found.reason,
        warnings: released_note(problem.mechanism()).into_iter().collect(),
    };
    report.warnings.iter().for_each(|w| output::warn(w));
    output::print(&report, args.model.json, Report::text)
}

/// The answer; field names are part of the program's interface.
#[derive(Debug, Serialize)]
struct Report {
    effectors: Vec<String>,
    /// Relative displacement up to which forces move an effector.
    range: f64,
    /// How many loads errors were measured at.
    loads: usize,
    /// Length of the steps that were timed, s.
    step: f64,
    rows: Vec<Row>,
    /// The model to take.
    recommended: String,
    reason: String,
    warnings: Vec<String>,
}

impl Report {
    fn text(&self) -> String {
        let mut text = Text::new(14);
        text.line("effectors", self.effectors.join(", "));
        text.line("loads", format!("{}, up to --range {}", self.loads, self.range));
        text.line("step", format!("{} s, with the poses of all links", self.step));
        let mut table = TextTable::new()
            .column("model", Align::Left)
            .column("n", Align::Right)
            .column("µs/step", Align::Right)
            .column("static, %", Align::Right)
            .column("constraint", Align::Right)
            .column("lowest frequencies, rad/s", Align::Left);
        let number = |x: Option<f64>| x.map_or("-".into(), |x| short(two_digits(x)));
        for r in &self.rows {
            let n = if r.coordinates > 0 { r.coordinates.to_string() } else { "-".into() };
            let name = match r.samples {
                Some(1) => format!("{}, 1 sample", r.model),
                Some(k) => format!("{}, {k} samples", r.model),
                None => r.model.clone(),
            };
            let frequencies: Vec<String> = r.frequencies_rad_s.iter().map(|f| short(*f)).collect();
            table.push([
                name,
                n,
                number(r.microseconds_per_step),
                number(r.static_error.map(|e| 100.0 * e)),
                number(r.constraint_error),
                frequencies.join(", "),
            ]);
        }
        text.block(table);
        let notes = self.rows.iter().filter_map(|r| Some((&r.model, r.note.as_ref()?)));
        let notes: String = notes.map(|(model, note)| format!("{model}: {note}\n")).collect();
        if !notes.is_empty() {
            text.block(notes);
        }
        text.block(format_args!("take: {}\n{}\n", self.recommended, self.reason));
        text.finish()
    }
}

fn two_digits(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}
