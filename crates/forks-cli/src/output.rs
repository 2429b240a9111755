//! Printing: results to stdout, errors to stderr.

use std::{
    fmt::Display,
    io::{self, Write as _},
    process::ExitCode,
};

use forks_io::{TextTable, json};
use forks_mechanism::lie::Digits;
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

/// A number for people: six significant digits, an exponent only for very small and very large
/// ones.
pub(crate) fn short(x: f64) -> String {
    Digits(x).to_string()
}

/// Text for people: lines of a key and a value, then blocks with an empty line before each.
pub(crate) struct Text {
    text: String,
    width: usize,
}

impl Text {
    /// Nothing yet; values will begin behind `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    pub(crate) fn line(&mut self, key: &str, value: impl Display) {
        self.text += &format!("{key:<width$}{value}\n", width = self.width);
    }

    /// A block with its last line end.
    pub(crate) fn block(&mut self, block: impl Display) {
        self.text += &format!("\n{block}");
    }

    /// Tables with their titles and counts, the empty ones left out.
    pub(crate) fn tables<'a>(&mut self, tables: impl IntoIterator<Item = (&'a str, TextTable)>) {
        for (title, table) in tables.into_iter().filter(|(_, table)| table.row_count() > 0) {
            self.block(format_args!("{title} ({})\n{table}", table.row_count()));
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}
