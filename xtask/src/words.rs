//! Words of errors.

/// What an error says, for commands that only print it.
pub(crate) fn said(e: impl core::fmt::Display) -> String {
    e.to_string()
}
