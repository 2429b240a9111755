//! A line on the terminal for runs that take long.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use crate::output::short;

/// A line on stderr, where somebody looks at it; gone when this is dropped.
pub(crate) struct Progress {
    last: Instant,
    terminal: bool,
    shown: bool,
}

impl Progress {
    const INTERVAL: Duration = Duration::from_millis(500);

    pub(crate) fn new() -> Self {
        Self { last: Instant::now(), terminal: io::stderr().is_terminal(), shown: false }
    }

    /// Shows a text now and then.
    pub(crate) fn show(&mut self, text: impl FnOnce() -> String) {
        if self.terminal && self.last.elapsed() >= Self::INTERVAL {
            self.last = Instant::now();
            self.shown = true;
            // Stderr may be closed.
            let _ = write!(io::stderr(), "\r{} \x1b[K", text());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// Seconds of motion done.
pub(crate) fn seconds(time: f64, total: f64) -> String {
    format!("{time:.2} s of {} s", short(total))
}
