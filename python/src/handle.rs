//! What steps: one user at a time, and closed when it is not needed any more.

use std::sync::{Mutex, TryLockError};

use pyo3::prelude::*;

use crate::error::HandleError;

/// Something that one thread uses at a time.
#[derive(Debug)]
pub(crate) struct Handle<T> {
    what: &'static str,
    held: Mutex<Option<T>>,
}

impl<T> Handle<T> {
    /// `what` names it in messages.
    pub(crate) fn new(what: &'static str, held: T) -> Self {
        Self { what, held: Mutex::new(Some(held)) }
    }

    /// Uses it.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> PyResult<R>) -> PyResult<R> {
        let what = self.what;
        match self.held.try_lock() {
            Ok(mut held) => match held.as_mut() {
                Some(held) => f(held),
                None => Err(HandleError::new_err(format!("the {what} is closed"))),
            },
            Err(TryLockError::WouldBlock) => Err(HandleError::new_err(format!(
                "the {what} is in use by another thread; give each thread its own"
            ))),
            Err(TryLockError::Poisoned(_)) => {
                Err(HandleError::new_err(format!("the {what} was left in the middle of a step")))
            }
        }
    }

    /// Takes it away: the handle is closed then.
    pub(crate) fn take(&self) -> PyResult<T> {
        let what = self.what;
        let gone = |why| HandleError::new_err(format!("the {what} is {why}"));
        match self.held.try_lock() {
            Ok(mut held) => held.take().ok_or_else(|| gone("closed")),
            Err(_) => Err(gone("in use by another thread")),
        }
    }

    /// Gives its memory back.
    pub(crate) fn close(&self) -> PyResult<()> {
        match self.held.try_lock() {
            Ok(mut held) => *held = None,
            Err(TryLockError::WouldBlock) => {
                let what = self.what;
                return Err(HandleError::new_err(format!(
                    "the {what} is in use by another thread"
                )));
            }
            Err(TryLockError::Poisoned(held)) => *held.into_inner() = None,
        }
        Ok(())
    }

    /// True after [`Handle::close`].
    pub(crate) fn is_closed(&self) -> bool {
        self.held.try_lock().is_ok_and(|held| held.is_none())
    }
}
