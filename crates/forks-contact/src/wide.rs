//! The same work with wider registers where the processor has them.

pub(crate) use forks_lie::wide::{Work, run as wide};
