//! Self-contained SVG pictures: line plots and projected drawings of mechanisms.
//!
//! A writer of our own: two chart types with axes, ticks and a legend need a few hundred lines, the
//! text is the same on every machine, and no plotting library enters the dependency tree.

mod axis;
mod chart;
mod drawing;
mod error;
mod plot;
#[cfg(test)]
mod tests;

pub(crate) use axis::{Axis, Scale};
pub(crate) use drawing::{Drawing, Layer, View};
pub(crate) use error::PlotError;
pub(crate) use plot::{LinePlot, Series};

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// An unbroken line.
    #[default]
    Solid,
    /// A line of dashes.
    Dashed,
    /// A line of dots.
    Dotted,
    /// No line; only marks.
    None,
}

/// Colours that stay apart for colour-blind readers and in print (Okabe and Ito's set, black last).
const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f00", "#000000"];

/// The colour of the `i`-th series; colours repeat after eight.
fn colour(i: usize) -> &'static str {
    PALETTE[i % PALETTE.len()]
}
