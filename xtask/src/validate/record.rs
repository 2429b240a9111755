//! Checks and where they go: a line on stdout each, and the JSON report.

use std::path::PathBuf;

use indicatif::ProgressBar;
use serde::Serialize;

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Verdict {
    /// The value is within its bound.
    #[serde(rename = "ok")]
    Ok,
    /// It is not, or there is no finite value.
    #[serde(rename = "MISS")]
    Miss,
    /// A number that no bound is known for, or none is asked for.
    #[serde(rename = "info")]
    Info,
}

/// One check of one scenario.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) scenario: String,
    pub(crate) check: String,
    /// `null` where there is no number because something failed before.
    pub(crate) value: Option<f64>,
    /// The largest value allowed; `null` for information.
    pub(crate) bound: Option<f64>,
    /// False for a miss.
    pub(crate) pass: bool,
    pub(crate) verdict: Verdict,
    /// Why there is no value, or what is told instead.
    pub(crate) problem: Option<String>,
}

/// Collects and prints checks.
pub(crate) struct Recorder {
    bar: ProgressBar,
    report: Option<PathBuf>,
    scenario: String,
    checks: Vec<Check>,
}

/// The larger of two numbers; not a number if one is none, so that no fold loses it.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

impl Recorder {
    pub(crate) fn new(bar: ProgressBar, report: Option<PathBuf>) -> Self {
        Self { bar, report, scenario: String::new(), checks: Vec::new() }
    }

    pub(crate) fn begin(&mut self, scenario: &str) {
        self.scenario = scenario.to_owned();
    }

    pub(crate) fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// A path in the report directory, if a report was asked for.
    pub(crate) fn report_path(&self, file: &str) -> Option<PathBuf> {
        let scenario = self.scenario.replace('/', "-");
        self.report.as_ref().map(|d| d.join(format!("{scenario}-{file}")))
    }

    /// Records that `value` must not exceed `bound`; a value that is not finite misses.
    pub(crate) fn at_most(&mut self, check: &str, value: f64, bound: f64) {
        self.judge(check, value, Some(bound));
    }

    /// Records a number without a bound; one that is not finite misses all the same.
    pub(crate) fn info(&mut self, check: &str, value: f64) {
        self.judge(check, value, None);
    }

    /// Records a number with a bound, if there is one.
    pub(crate) fn judge(&mut self, check: &str, value: f64, bound: Option<f64>) {
        if !value.is_finite() {
            let problem = Some(format!("the value is {value}"));
            return self.push(check, None, bound, Verdict::Miss, problem);
        }
        let verdict = match bound {
            Some(bound) if value <= bound => Verdict::Ok,
            Some(_) => Verdict::Miss,
            None => Verdict::Info,
        };
        self.push(check, Some(value), bound, verdict, None);
    }

    /// Records a sentence without a number, for information.
    pub(crate) fn note(&mut self, check: &str, sentence: impl Into<String>) {
        self.push(check, None, None, Verdict::Info, Some(sentence.into()));
    }

    /// Records a check that could not be carried out.
    pub(crate) fn fail(
        &mut self,
        check: &str,
        bound: impl Into<Option<f64>>,
        problem: impl Into<String>,
    ) {
        self.push(check, None, bound.into(), Verdict::Miss, Some(problem.into()));
    }

    /// Records that two whole numbers must be equal.
    pub(crate) fn equal(&mut self, check: &str, found: usize, expected: usize) {
        let difference = found.abs_diff(expected) as f64;
        let problem = (found != expected).then(|| format!("{found} instead of {expected}"));
        let verdict = if found == expected { Verdict::Ok } else { Verdict::Miss };
        self.push(check, Some(difference), Some(0.0), verdict, problem);
    }

    fn push(
        &mut self,
        check: &str,
        value: Option<f64>,
        bound: Option<f64>,
        verdict: Verdict,
        problem: Option<String>,
    ) {
        let word = match verdict {
            Verdict::Ok => "ok",
            Verdict::Miss => "MISS",
            Verdict::Info => "info",
        };
        let value_text = value.map_or_else(|| "–".to_owned(), |v| format!("{v:.2e}"));
        let bound_text = bound.map_or_else(|| "–".to_owned(), |b| format!("{b:.1e}"));
        let reason = problem.as_ref().map_or_else(String::new, |p| format!("  {p}"));
        let line = format!(
            "{:<22} {:<52} {value_text:>9} {bound_text:>9}  {word}{reason}",
            self.scenario, check
        );
        self.bar.suspend(|| println!("{line}"));
        self.checks.push(Check {
            scenario: self.scenario.clone(),
            check: check.to_owned(),
            value,
            bound,
            pass: verdict != Verdict::Miss,
            verdict,
            problem,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(record: impl Fn(&mut Recorder)) -> Vec<Verdict> {
        let mut out = Recorder::new(ProgressBar::hidden(), None);
        record(&mut out);
        out.checks().iter().map(|c| c.verdict).collect()
    }

    #[test]
    fn values_are_within_their_bounds_or_miss() {
        let found = verdicts(|out| {
            out.at_most("at the bound", 1.0, 1.0);
            out.at_most("above", 1.1, 1.0);
            out.info("no bound", 1e300);
            out.equal("equal", 3, 3);
            out.equal("not equal", 3, 2);
            out.fail("nothing", None, "no value");
            out.note("nothing", "for this reason");
        });
        use Verdict::{Info, Miss, Ok};
        assert_eq!(found, [Ok, Miss, Info, Ok, Miss, Miss, Info]);
    }

    #[test]
    fn what_is_not_finite_always_misses() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let found = verdicts(|out| {
                out.at_most("bound", value, f64::MAX);
                out.info("none", value);
            });
            assert_eq!(found, [Verdict::Miss; 2], "{value}");
        }
        assert!([1.0, f64::NAN, 2.0].into_iter().fold(0.0, larger).is_nan());
        assert_eq!([1.0, 3.0, 2.0].into_iter().fold(0.0, larger), 3.0);
    }

    #[test]
    fn the_report_has_words_for_verdicts_and_null_for_no_bound() {
        let mut out = Recorder::new(ProgressBar::hidden(), None);
        out.begin("s");
        out.info("c", 0.5);
        out.at_most("d", 2.0, 1.0);
        let json = serde_json::to_value(out.checks()).unwrap();
        let expected = serde_json::json!([
            {"scenario": "s", "check": "c", "value": 0.5, "bound": null, "pass": true,
             "verdict": "info", "problem": null},
            {"scenario": "s", "check": "d", "value": 2.0, "bound": 1.0, "pass": false,
             "verdict": "MISS", "problem": null},
        ]);
        assert_eq!(json, expected);
    }
}
