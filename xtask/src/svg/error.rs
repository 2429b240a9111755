//! Why a picture cannot be drawn.

use forks_io::{
    IoError,
    lie::{Digits, DigitsOf},
};
use thiserror::Error;

/// Why a picture cannot be drawn.
#[derive(Debug, Error)]
pub(crate) enum PlotError {
    /// A number is NaN or infinite.
    #[error("{place} is {value}, not a finite number", value = Digits(*.value))]
    NotFinite {
        /// Series and point.
        place: String,
        /// The number.
        value: f64,
    },
    /// A logarithmic axis cannot show this number.
    #[error(
        "{place} is {value}, but a logarithmic axis shows positive numbers only",
        value = Digits(*.value)
    )]
    NotPositive {
        /// Series and point.
        place: String,
        /// The number.
        value: f64,
    },
    /// The numbers of an axis are further apart than `f64` can express.
    #[error(
        "axis '{axis}' would have to reach from {lower} to {upper}",
        lower = Digits(*.lower),
        upper = Digits(*.upper)
    )]
    RangeTooWide {
        /// Label of the axis.
        axis: String,
        /// Least number.
        lower: f64,
        /// Greatest number.
        upper: f64,
    },
    /// There is no point to draw.
    #[error("plot '{title}' has no points")]
    Empty {
        /// Title of the plot.
        title: String,
    },
    /// The two directions of a view do not span a plane.
    #[error(
        "the directions of the view {right} and {up} do not span a plane",
        right = DigitsOf(.right),
        up = DigitsOf(.up)
    )]
    DegenerateView {
        /// Direction that points right in the picture.
        right: [f64; 3],
        /// Direction that points up in the picture.
        up: [f64; 3],
    },
    /// The file cannot be written.
    #[error(transparent)]
    Io(#[from] IoError),
}

/// `value` if it is finite.
pub(super) fn finite(value: f64, place: impl FnOnce() -> String) -> Result<f64, PlotError> {
    if value.is_finite() { Ok(value) } else { Err(PlotError::NotFinite { place: place(), value }) }
}
