//! What bodies, ports and constraints of a problem are called.

/// A body of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) usize);

impl BodyId {
    /// Its place in the order of addition.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A contact or row of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintId(pub(crate) usize);

impl ConstraintId {
    /// Its place in the order of addition.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A port of a body of a problem: see [`crate::ContactProblem::add_port`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub(crate) usize);
