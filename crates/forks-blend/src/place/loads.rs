//! Loads at which a blend is made and measured.

use crate::place::{settings::Skipped, truth::Truth};

/// Loads that a placement knows.
#[derive(Default)]
pub(super) struct Loads {
    pub(super) training: Vec<Truth>,
    pub(super) skipped: Vec<Skipped>,
    /// See [`Certificate::covered`].
    pub(super) covered: f64,
    pub(super) cancelled: bool,
    /// To measure with, round after round.
    pub(super) unseen: Vec<Vec<Truth>>,
}
