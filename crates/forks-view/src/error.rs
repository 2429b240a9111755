//! What can go wrong before there is a page.

use forks_io::IoError;
use thiserror::Error;

/// Why a mechanism cannot be shown.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// No port could be opened.
    #[error("no server on {address}: {source}")]
    Listen {
        /// Where it was tried.
        address: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The system gives no random numbers for the token.
    #[error("the system gives no random numbers: {0}")]
    NoToken(String),
    /// A setting is out of its range.
    #[error("{quantity} is {value}, but has to be {range}")]
    OutOfRange {
        /// Which.
        quantity: &'static str,
        /// As given.
        value: f64,
        /// What is allowed.
        range: &'static str,
    },
    /// The model cannot be moved.
    #[error("{0}")]
    Model(String),
    /// The picture cannot be drawn.
    #[error(transparent)]
    Picture(#[from] IoError),
}
