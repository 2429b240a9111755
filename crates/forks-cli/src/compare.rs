//! `forks compare`: the full solver and everything that a model can be reduced to, side by side.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use forks_dynamics::{Loads, statics::EquilibriumOptions};
use forks_io::{Align, TextTable};
use forks_place::{LoadRegion, Placement, Ruler, unseen_loads};
use forks_reduce::{Linearisation, MassModel, ReduceOptions};
use serde::Serialize;

use crate::{
    at_rest,
    compare_args::CompareArgs,
    compare_rows::{Bench, Row},
    error::CliError,
    model::Model,
    output::{self, Text, short},
    released::released_note,
};

/// A model that is not this many times faster than the full solver is not worth its error.
const WORTH: f64 = 2.0;

/// Among the models that are good enough, those up to this many times as slow as the fastest
/// compete by their lowest frequency.
const AS_FAST: f64 = 2.0;

/// Frequencies further off than this part are worth a word.
const SLOW: f64 = 0.05;

/// Runs the command.
pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let args = &CompareArgs { effector: model.effectors(&args.effector)?, ..args.clone() };
    let problem = model.problem(&args.model, &args.springs, &args.effector)?;
    let unusable = |problem: String| CliError::Unusable { path: args.model.path.clone(), problem };
    let loads = if args.gravity { Loads::gravity() } else { Loads::default() };
    let start = problem.equilibrium(&loads, &EquilibriumOptions::default());
    if !start.status.is_equilibrium() {
        let why = at_rest::with_option(&start.explanation(problem.mechanism()).unwrap_or_default());
        let problem = format!("{}, {why}", start.status.name());
        return Err(CliError::NoEquilibrium { path: args.model.path.clone(), problem });
    }
    let fail = |e| CliError::reduction(&args.model.path, &problem, e);
    let at = Linearisation::equilibrium(&start, &loads);
    let reduction = problem.reduce(at, &ReduceOptions::default()).map_err(fail)?;
    let blend_error = |e| CliError::Blend { path: args.model.path.clone(), source: Box::new(e) };
    let placement = Placement {
        regions: LoadRegion::in_all_directions(&problem, &reduction, args.range)
            .map_err(blend_error)?,
        gravity: args.gravity,
        ..Placement::default()
    };
    let truths = unseen_loads(&problem, &placement, 1, args.loads).map_err(blend_error)?;
    let Some(first) = truths.first() else {
        let text = "no load in range has a stable equilibrium; ask for less: a smaller --range";
        return Err(unusable(text.into()));
    };
    let radius = reduction.linear.response.radius;
    let bench = Bench {
        args,
        problem: &problem,
        start: &start,
        loads: &loads,
        ruler: Ruler::new(&problem, &start.world_from_link, radius, &truths),
        pushed: &first.forces,
    };
    let show = io::stderr().is_terminal();
    let full = bench.full(reduction.linear.full_frequencies());
    let (condensed, single) = bench.single("condensed", MassModel::Condensed);
    let (accelerability, _) = bench.single("accelerability", MassModel::Accelerability);
    let modes = MassModel::CraigBampton { modes: args.modes };
    let (bampton, _) = bench.single(&format!("craig-bampton:{}", args.modes), modes);
    let blended = bench.blended(&placement, show);
    if show {
        // Stderr may be closed; progress is only for people who look at it.
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    let batch = single.map(|model| bench.batch(&condensed, &model));
    let mut rows = vec![full, condensed, accelerability, bampton, blended];
    rows.extend(batch);
    let (recommended, reason) = recommendation(&rows, args);
    let warnings: Vec<String> = released_note(problem.mechanism()).into_iter().collect();
    let report = Report {
        effectors: args.effector.clone(),
        range: args.range,
        loads: truths.len(),
        step: args.step,
        rows,
        recommended,
        reason,
        warnings,
    };
    report.warnings.iter().for_each(|w| output::warn(w));
    output::print(&report, args.model.json, Report::text)
}

/// The model to take, and why.
fn recommendation(rows: &[Row], args: &CompareArgs) -> (String, String) {
    let full = &rows[0];
    let time = |r: &Row| r.microseconds_per_step.unwrap_or(f64::INFINITY);
    let reduced: Vec<&Row> = rows[1..].iter().filter(|r| !r.model.starts_with("batch")).collect();
    let good = |r: &&&Row| {
        r.static_error.is_some_and(|e| e <= args.static_tolerance)
            && r.constraint_error.is_some_and(|e| e <= args.tolerance)
    };
    let fastest = reduced.iter().filter(good).map(|r| time(r)).fold(f64::INFINITY, f64::min);
    let off = |r: &Row| lowest_off(full, r).unwrap_or(f64::INFINITY);
    let best = reduced.iter().filter(good).filter(|r| time(r) <= AS_FAST * fastest);
    let best = best.min_by(|a, b| off(a).total_cmp(&off(b)).then(time(a).total_cmp(&time(b))));
    let Some(best) = best.filter(|r| time(r).is_finite()) else {
        let error = |r: &&&Row| r.static_error.unwrap_or(f64::INFINITY);
        let nearest = reduced.iter().min_by(|a, b| error(a).total_cmp(&error(b)));
        let nearest = nearest.and_then(|r| Some((r, r.static_error?, r.constraint_error?)));
        let best = nearest.map_or(String::new(), |(r, s, c)| {
            format!("; the best, {}, is off by {} (constraint {})", r.model, percent(s), short(c))
        });
        let tolerance = percent(args.static_tolerance);
        let text = format!(
            "no reduced model keeps to {tolerance} (constraint {}) up to --range {}{best}",
            args.tolerance, args.range
        );
        return (full.model.clone(), text);
    };
    let gain = time(full) / time(best);
    if gain.is_nan() || gain < WORTH {
        let text = format!(
            "{} is good enough, but only {} times as fast: not worth its error",
            best.model,
            two_digits(gain)
        );
        return (full.model.clone(), text);
    }
    let mut text = format!(
        "good enough up to --range {}, and {} times as fast as the full solver",
        args.range,
        two_digits(gain)
    );
    if let Some(off) = lowest_off(full, best).filter(|o| *o > SLOW) {
        text += &format!(
            "; its lowest frequency is {} off: for slow motions, or with more effectors",
            percent(off)
        );
    }
    (best.model.clone(), text)
}

/// By which part a model's lowest frequency differs from the mechanism's.
fn lowest_off(full: &Row, row: &Row) -> Option<f64> {
    Some((row.frequencies_rad_s.first()? / full.frequencies_rad_s.first()? - 1.0).abs())
}

fn two_digits(x: f64) -> String {
    if x >= 10.0 { format!("{x:.0}") } else { format!("{x:.1}") }
}

fn percent(x: f64) -> String {
    format!("{} %", short(float(100.0 * x)))
}

/// With two significant digits.
fn float(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
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
            .column("static", Align::Right)
            .column("constraint", Align::Right)
            .column("lowest frequencies, rad/s", Align::Left);
        let number = |x: Option<f64>| x.map_or("-".into(), |x| short(float(x)));
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
                r.static_error.map_or("-".into(), percent),
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        args: CompareArgs,
    }

    fn row(model: &str, time: f64, statics: f64, constraint: f64, frequency: f64) -> Row {
        Row {
            model: model.into(),
            coordinates: 1,
            samples: None,
            microseconds_per_step: Some(time),
            static_error: Some(statics),
            constraint_error: Some(constraint),
            frequencies_rad_s: vec![frequency],
            note: None,
        }
    }

    fn taken(rows: &[Row]) -> (String, String) {
        let Only { args } = Only::parse_from(["compare", "m.xml", "--effector", "e"]);
        recommendation(rows, &args)
    }

    #[test]
    fn the_fastest_that_is_good_enough_is_taken() {
        let rows = [
            row("full", 100.0, 0.0, 0.0, 10.0),
            row("condensed", 1.0, 0.01, 0.001, 10.1),
            row("blended", 5.0, 0.001, 0.001, 10.0),
            row("batch of 9", 0.01, 0.01, 0.001, 10.1),
        ];
        let (model, why) = taken(&rows);
        assert_eq!(model, "condensed");
        assert!(why.contains("100 times") && !why.contains("frequency"), "{why}");
    }

    #[test]
    fn among_equally_fast_ones_frequencies_decide_and_what_is_off_is_said() {
        let mut rows = [
            row("full", 100.0, 0.0, 0.0, 10.0),
            row("condensed", 1.0, 0.01, 0.001, 13.0),
            row("craig-bampton:6", 1.9, 0.01, 0.001, 10.0),
        ];
        assert_eq!(taken(&rows).0, "craig-bampton:6");
        rows[2].microseconds_per_step = Some(2.1);
        let (model, why) = taken(&rows);
        assert_eq!(model, "condensed");
        assert!(why.contains("30 % off"), "{why}");
    }

    #[test]
    fn the_full_solver_is_taken_where_nothing_else_is_good_or_faster() {
        let rows = [
            row("full", 100.0, 0.0, 0.0, 10.0),
            row("condensed", 1.0, 0.3, 0.001, 10.0),
            row("blended", 3.0, 0.01, 0.02, 10.0),
        ];
        let (model, why) = taken(&rows);
        assert_eq!(model, "full");
        assert!(why.contains("blended, is off by 1 % (constraint 0.02)"), "{why}");
        let rows = [row("full", 1.5, 0.0, 0.0, 10.0), row("condensed", 1.0, 0.01, 0.0, 10.0)];
        let (model, why) = taken(&rows);
        assert_eq!(model, "full");
        assert!(why.contains("1.5 times"), "{why}");
        let mut rows = rows;
        rows[1].static_error = None;
        assert!(taken(&rows).1.contains("no reduced model"));
    }
}
