//! Checks and where they go: a line on stdout each, and the JSON report.

use std::path::PathBuf;

use indicatif::ProgressBar;
use serde::Serialize;

/// One check of one scenario: passes where `value` ≤ `bound`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) scenario: String,
    pub(crate) check: String,
    /// `null` where there is no number because something failed before.
    pub(crate) value: Option<f64>,
    pub(crate) bound: f64,
    pub(crate) pass: bool,
    /// Why there is no value.
    pub(crate) problem: Option<String>,
}

/// Collects and prints checks.
pub(crate) struct Recorder {
    bar: ProgressBar,
    report: Option<PathBuf>,
    scenario: String,
    checks: Vec<Check>,
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
        self.report.as_ref().map(|d| d.join(format!("{}-{file}", self.scenario)))
    }

    /// Records that `value` must not exceed `bound`; a value that is not finite fails.
    pub(crate) fn at_most(&mut self, check: &str, value: f64, bound: f64) {
        if value.is_finite() {
            self.push(check, Some(value), bound, value <= bound, None);
        } else {
            self.fail(check, bound, format!("the value is {value}"));
        }
    }

    /// Records a check that could not be carried out.
    pub(crate) fn fail(&mut self, check: &str, bound: f64, problem: impl Into<String>) {
        self.push(check, None, bound, false, Some(problem.into()));
    }

    /// Records that two whole numbers must be equal.
    pub(crate) fn equal(&mut self, check: &str, found: usize, expected: usize) {
        let difference = found.abs_diff(expected) as f64;
        let problem = (found != expected).then(|| format!("{found} instead of {expected}"));
        self.push(check, Some(difference), 0.0, found == expected, problem);
    }

    fn push(
        &mut self,
        check: &str,
        value: Option<f64>,
        bound: f64,
        pass: bool,
        problem: Option<String>,
    ) {
        let verdict = if pass { "ok" } else { "FAILED" };
        let value_text = value.map_or_else(|| "–".to_owned(), |v| format!("{v:.2e}"));
        let reason = problem.as_ref().map_or_else(String::new, |p| format!("  {p}"));
        let line = format!(
            "{:<22} {:<52} {value_text:>9} {bound:>9.1e}  {verdict}{reason}",
            self.scenario, check
        );
        self.bar.suspend(|| println!("{line}"));
        self.checks.push(Check {
            scenario: self.scenario.clone(),
            check: check.to_owned(),
            value,
            bound,
            pass,
            problem,
        });
    }
}
