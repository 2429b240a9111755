//! What acts on the links from outside.

use forks_mechanism::lie::Wrench;

/// Gravity and wrenches on links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkLoads<'a> {
    /// True if the mechanism's gravity acts (less what a link's gravity compensation cancels).
    pub gravity: bool,
    /// Body wrench on every link (axes and origin of the link's frame), the ground first; empty for
    /// none.
    pub wrenches: &'a [Wrench],
}

impl LinkLoads<'static> {
    /// Gravity alone.
    pub const GRAVITY: Self = Self { gravity: true, wrenches: &[] };
    /// No load at all.
    pub const NONE: Self = Self { gravity: false, wrenches: &[] };
}

impl Default for LinkLoads<'static> {
    fn default() -> Self {
        Self::GRAVITY
    }
}
