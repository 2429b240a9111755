//! What is tried to get a blend.

use crate::settings::Chart;

/// How a blend is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) chart: Chart,
    /// Largest number of samples.
    pub(crate) most: usize,
    /// Coordinates are all motions of the mechanism; else the static shapes under loads on the
    /// effectors.
    pub(crate) all_motions: bool,
}
