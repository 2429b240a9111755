//! Loads at which a blend is made and measured.

use crate::{settings::Skipped, truth::Truth};

/// Loads that a placement knows.
#[derive(Default)]
pub(crate) struct Loads {
    pub(crate) training: Vec<Truth>,
    pub(crate) skipped: Vec<Skipped>,
    /// See [`Certificate::covered`].
    pub(crate) covered: f64,
    pub(crate) cancelled: bool,
    /// To measure with, round after round.
    pub(crate) unseen: Vec<Vec<Truth>>,
}
