//! Loads at which a blend is made and measured.

use std::time::Instant;

use crate::{settings::Skipped, truth::Truth};

/// Loads that a placement knows.
#[derive(Default)]
pub(crate) struct Loads {
    pub(crate) training: Vec<Truth>,
    pub(crate) skipped: Vec<Skipped>,
    /// See [`Certificate::covered`].
    pub(crate) covered: f64,
    pub(crate) cancelled: bool,
    /// When the time is over.
    pub(crate) deadline: Option<Instant>,
    /// To measure with, round after round.
    pub(crate) unseen: Vec<Vec<Truth>>,
}

impl Loads {
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }
}
