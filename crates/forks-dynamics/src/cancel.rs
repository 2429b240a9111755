//! Work that can be stopped.

use std::{fmt, sync::Arc};

/// Says whether work shall stop. It is asked every so often, from the thread that works; once it
/// has said so it must go on to. The default never does.
///
/// ```
/// use forks_dynamics::Cancel;
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
///
/// let stop = Arc::new(AtomicBool::new(false));
/// let seen = stop.clone();
/// let cancel = Cancel::new(move || seen.load(Ordering::Relaxed));
/// assert!(!cancel.is_asked());
/// stop.store(true, Ordering::Relaxed);
/// assert!(cancel.is_asked());
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Cancel {
    /// Stops when a function says so.
    pub fn new(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(asked)))
    }

    /// True if work shall stop.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked())
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Cancel(..)" } else { "Cancel(never)" })
    }
}

impl PartialEq for Cancel {
    /// True if both ask the same function, or none.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}
