//! Ctrl-C during work that does not hold the GIL.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use forks_dynamics::Cancel;
use pyo3::prelude::*;

/// Time between two looks at Ctrl-C.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks at Ctrl-C whenever work asks whether to stop, and keeps what that raised.
#[derive(Clone)]
pub(crate) struct Signals {
    heard: Arc<Mutex<Heard>>,
}

struct Heard {
    last: Instant,
    raised: Option<PyErr>,
    asked: bool,
}

impl Signals {
    pub(crate) fn new() -> Self {
        let heard = Heard { last: Instant::now(), raised: None, asked: false };
        Self { heard: Arc::new(Mutex::new(heard)) }
    }

    /// The hook for options.
    pub(crate) fn cancel(&self) -> Cancel {
        let heard = Arc::clone(&self.heard);
        Cancel::new(move || {
            let Ok(mut heard) = heard.lock() else { return true };
            if !heard.asked && heard.last.elapsed() >= PAUSE {
                if let Err(e) = Python::attach(|py| py.check_signals()) {
                    (heard.raised, heard.asked) = (Some(e), true);
                }
                heard.last = Instant::now();
            }
            heard.asked
        })
    }

    /// What was raised, if anything; otherwise the work's own result.
    pub(crate) fn instead_of<T>(&self, result: PyResult<T>) -> PyResult<T> {
        match self.heard.lock().ok().and_then(|mut h| h.raised.take()) {
            Some(e) => Err(e),
            None => result,
        }
    }
}
