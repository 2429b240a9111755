//! Time integration on the manifold of closed loops.

mod coordinates;

pub(crate) use coordinates::advance;
