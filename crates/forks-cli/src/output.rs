//! Printing: results to stdout, errors to stderr.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use forks_io::json;
pub(crate) use forks_io::{LinkPose, Text, short};
use serde::Serialize;

use crate::error::CliError;

/// Prints a result: as one line of JSON, or as the text that `text` makes of it.
///
/// A number that is not finite is an error in both cases.
pub(crate) fn print<T: Serialize>(
    value: &T,
    as_json: bool,
    text: impl FnOnce(&T) -> String,
) -> Result<ExitCode, CliError> {
    let out = if as_json {
        json::to_string(value)? + "\n"
    } else {
        json::check(value)?;
        text(value)
    };
    match io::stdout().lock().write_all(out.as_bytes()) {
        // The reader has seen enough (`forks … | head`).
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(e) => Err(CliError::Stdout(e)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

/// Prints a line now: the program goes on.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(CliError::Stdout)
}

/// Prints a warning on stderr; the result stands all the same.
pub(crate) fn warn(text: &str) {
    // Stderr may be closed; the JSON holds the warning as well.
    let _ = writeln!(io::stderr(), "warning: {text}");
}

/// The error as one sentence on one line: names and values from files may contain line ends.
pub(crate) fn sentence(e: &CliError) -> String {
    let text = e.to_string();
    let words = text.split(char::is_control).map(str::trim).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Prints the error as one sentence on one line.
pub(crate) fn fail(e: &CliError) -> ExitCode {
    // Stderr may be closed; the exit code says it all.
    let _ = writeln!(io::stderr(), "error: {}", sentence(e));
    let usage = matches!(e, CliError::NoEffector { .. } | CliError::OutputName { .. });
    if usage { ExitCode::from(2) } else { ExitCode::FAILURE }
}
