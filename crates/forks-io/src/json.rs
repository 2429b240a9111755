//! JSON in which every number is a number.
//!
//! `serde_json` writes NaN and infinities as `null`, which a reader cannot tell from "no value".
//! Here the value is walked first and such a number is an error that names the field.

use std::path::Path;

use serde::Serialize;

use crate::{IoError, finite::check_finite, write_atomically};

/// Checks that every number in the value is finite, without writing anything.
///
/// # Errors
/// [`IoError::NotFinite`] with the field (`compliance[0][3]`).
pub fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), IoError> {
    check_finite(value)
}

/// The value on one line, without a line end.
///
/// # Errors
/// [`IoError::NotFinite`] with the field (`compliance[0][3]`); [`IoError::Json`] for values that
/// JSON cannot express.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, IoError> {
    check_finite(value)?;
    serde_json::to_string(value).map_err(unwritable)
}

/// The value with one field per line, for people.
///
/// # Errors
/// As [`to_string`].
pub fn to_string_pretty<T: Serialize + ?Sized>(value: &T) -> Result<String, IoError> {
    check_finite(value)?;
    serde_json::to_string_pretty(value).map_err(unwritable)
}

/// Writes the value and a line end to a file; see [`write_atomically`].
///
/// # Errors
/// As [`to_string`], and [`IoError::Write`].
pub fn save<T: Serialize + ?Sized>(path: impl AsRef<Path>, value: &T) -> Result<(), IoError> {
    write_atomically(path.as_ref(), (to_string(value)? + "\n").as_bytes())
}

fn unwritable(e: serde_json::Error) -> IoError {
    IoError::Json { reason: e.to_string() }
}
