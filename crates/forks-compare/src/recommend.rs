//! Which model to take, and why.

use forks_mechanism::lie::Digits;

use crate::{Row, Settings};

/// A model that is not this many times faster than the full solver is not worth its error.
const WORTH: f64 = 2.0;

/// Among the models that are good enough, those up to this many times as slow as the fastest
/// compete by their lowest frequency.
const AS_FAST: f64 = 2.0;

/// Frequencies further off than this part are worth a word.
const SLOW: f64 = 0.05;

/// The name of the model to take, and why. The first row is the full solver.
pub(crate) fn recommendation(rows: &[Row], settings: &Settings) -> (String, String) {
    let full = &rows[0];
    let time = |r: &Row| r.microseconds_per_step.unwrap_or(f64::INFINITY);
    let reduced: Vec<&Row> = rows[1..].iter().filter(|r| !r.model.starts_with("batch")).collect();
    let good = |r: &&&Row| {
        r.static_error.is_some_and(|e| e <= settings.static_tolerance)
            && r.constraint_error.is_some_and(|e| e <= settings.constraint_tolerance)
    };
    let fastest = reduced.iter().filter(good).map(|r| time(r)).fold(f64::INFINITY, f64::min);
    let off = |r: &Row| lowest_off(full, r).unwrap_or(f64::INFINITY);
    let best = reduced.iter().filter(good).filter(|r| time(r) <= AS_FAST * fastest);
    let best = best.min_by(|a, b| off(a).total_cmp(&off(b)).then(time(a).total_cmp(&time(b))));
    let Some(best) = best.filter(|r| time(r).is_finite()) else {
        return (full.model.clone(), nothing_is_good(&reduced, settings));
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
    let mut text =
        format!("good enough up to a relative displacement of {}", Digits(settings.range));
    text += &match full.microseconds_per_step {
        Some(_) => format!(", and {} times as fast as the full solver", two_digits(gain)),
        None => format!("; the full solver cannot make steps of {} s", settings.step),
    };
    if let Some(off) = lowest_off(full, best).filter(|o| *o > SLOW) {
        text += &format!(
            "; its lowest frequency is {} off: for slow motions, or with more effectors",
            percent(off)
        );
    }
    (best.model.clone(), text)
}

fn nothing_is_good(reduced: &[&Row], settings: &Settings) -> String {
    let error = |r: &&&Row| r.static_error.unwrap_or(f64::INFINITY);
    let nearest = reduced.iter().min_by(|a, b| error(a).total_cmp(&error(b)));
    let nearest = nearest.and_then(|r| Some((r, r.static_error?, r.constraint_error?)));
    let best = nearest.map_or(String::new(), |(r, s, c)| {
        let (s, c) = (percent(s), two_digits(c));
        format!("; the best, {}, is off by {s} (constraint {c})", r.model)
    });
    format!(
        "no reduced model keeps to {} (constraint {}) up to a relative displacement of {}{best}",
        percent(settings.static_tolerance),
        settings.constraint_tolerance,
        Digits(settings.range)
    )
}

/// By which part a model's lowest frequency differs from the mechanism's.
fn lowest_off(full: &Row, row: &Row) -> Option<f64> {
    Some((row.frequencies_rad_s.first()? / full.frequencies_rad_s.first()? - 1.0).abs())
}

/// With two significant digits, at most.
fn two_digits(x: f64) -> String {
    if x >= 10.0 {
        return format!("{x:.0}");
    }
    let rounded: f64 = format!("{x:.1e}").parse().unwrap_or(x);
    if rounded != 0.0 && rounded.abs() < 1e-3 {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

fn percent(x: f64) -> String {
    format!("{} %", two_digits(100.0 * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(model: &str, time: f64, statics: f64, constraint: f64, frequency: f64) -> Row {
        Row {
            coordinates: 1,
            microseconds_per_step: Some(time),
            static_error: Some(statics),
            constraint_error: Some(constraint),
            frequencies_rad_s: vec![frequency],
            ..Row::new(model)
        }
    }

    fn taken(rows: &[Row]) -> (String, String) {
        recommendation(rows, &Settings::default())
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

    #[test]
    fn a_full_solver_that_cannot_make_the_steps_is_no_ground_for_a_gain() {
        let mut rows = [row("full", 1.0, 0.0, 0.0, 10.0), row("condensed", 1.0, 0.01, 0.0, 10.0)];
        rows[0].microseconds_per_step = None;
        let (model, why) = taken(&rows);
        assert_eq!(model, "condensed");
        assert!(why.contains("cannot make steps of 0.001 s") && !why.contains("inf"), "{why}");
    }
}
