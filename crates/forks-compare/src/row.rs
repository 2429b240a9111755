//! What is known of one model.

use forks_place::Worst;
use serde::Serialize;

/// One model; numbers are null where there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// `full`, the mass model of a single reduced one, `blended`, `batch of N`.
    pub model: String,
    /// Number of velocities; 0 where there is no such model.
    pub coordinates: usize,
    /// Linearisation points of a blend.
    pub samples: Option<usize>,
    /// Median time of a step with the poses of all links; of a batch per instance.
    pub microseconds_per_step: Option<f64>,
    /// Largest distance of an effector from its full equilibrium over its way there.
    pub static_error: Option<f64>,
    /// Largest sum of gaps at joints and effectors over the mechanism's size.
    pub constraint_error: Option<f64>,
    /// The lowest ones, rad/s.
    pub frequencies_rad_s: Vec<f64>,
    /// Why there is no such model, or what is to be known about it.
    pub note: Option<String>,
}

/// Frequencies that are listed.
const LISTED: usize = 3;

impl Row {
    pub(crate) fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            coordinates: 0,
            samples: None,
            microseconds_per_step: None,
            static_error: None,
            constraint_error: None,
            frequencies_rad_s: Vec::new(),
            note: None,
        }
    }

    pub(crate) fn failed(model: impl Into<String>, why: &dyn core::fmt::Display) -> Self {
        Self { note: Some(why.to_string()), ..Self::new(model) }
    }

    pub(crate) fn errors(&mut self, worst: Worst) {
        let finite = |x: f64| x.is_finite().then_some(x);
        self.static_error = finite(worst.statics);
        self.constraint_error = finite(worst.constraint);
        if self.static_error.is_none() {
            self.say("no equilibrium at some load");
        }
    }

    pub(crate) fn frequencies(&mut self, all: Vec<f64>) {
        self.frequencies_rad_s = all.into_iter().take(LISTED).collect();
    }

    /// The time of a step; that there is none is worth a word.
    pub(crate) fn timed(&mut self, time: Option<f64>, step: f64) {
        self.microseconds_per_step = time;
        if time.is_none() {
            self.say(&format!("it cannot make steps of {step} s"));
        }
    }

    fn say(&mut self, what: &str) {
        match &mut self.note {
            Some(note) => *note = format!("{note}; {what}"),
            None => self.note = Some(what.to_owned()),
        }
    }
}
