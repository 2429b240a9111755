//! Errors of writing results.

use std::{io, path::PathBuf};

use forks_lie::Digits;
use thiserror::Error;

/// Why a result cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IoError {
    /// A number is NaN or infinite.
    #[error("{place} is {value}, not a finite number", value = Digits(*.value))]
    NotFinite {
        /// Where the number stands: column and row, series and point, field.
        place: String,
        /// The number.
        value: f64,
    },
    /// A row has more or fewer cells than the table has columns.
    #[error("row {row} has {found} cells, the table has {expected} columns")]
    WrongLength {
        /// Number of the row, from 0.
        row: usize,
        /// Cells of the row.
        found: usize,
        /// Columns of the table.
        expected: usize,
    },
    /// There is no frame to show.
    #[error("animation '{title}' has no frames")]
    Empty {
        /// Title of the animation.
        title: String,
    },
    /// A number is finite but too large for the single precision that pictures in space are stored
    /// in.
    #[error("{place} is {value}, more than single precision can hold", value = Digits(*.value))]
    TooLarge {
        /// Where the number stands.
        place: String,
        /// The number.
        value: f64,
    },
    /// A frame of an animation has more or fewer entries than the animation has bodies or series.
    #[error("frame {frame} has {found} {what}, the animation has {expected}")]
    WrongFrame {
        /// Number of the frame, from 0.
        frame: usize,
        /// What is counted: poses of bodies, values of series.
        what: &'static str,
        /// Entries of the frame.
        found: usize,
        /// Entries that it should have.
        expected: usize,
    },
    /// Times of an animation do not grow.
    #[error(
        "frame {frame} is at {time} s, not after the {before} s of the frame before",
        time = Digits(*.time),
        before = Digits(*.before)
    )]
    TimeOrder {
        /// Number of the frame, from 0.
        frame: usize,
        /// Its time, s.
        time: f64,
        /// Time of the frame before, s.
        before: f64,
    },
    /// Something of an animation cannot be shown.
    #[error("{place}: {reason}")]
    NotShowable {
        /// The shape, segment or pose.
        place: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A value has no form in JSON (a map whose keys are no strings, for example).
    #[error("cannot write as JSON: {reason}")]
    Json {
        /// What the serialiser said.
        reason: String,
    },
    /// The file system refused.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// `value` if it is finite.
pub(crate) fn finite(value: f64, place: impl FnOnce() -> String) -> Result<f64, IoError> {
    if value.is_finite() { Ok(value) } else { Err(IoError::NotFinite { place: place(), value }) }
}
