//! Surfaces of forms: triangles with normals, in single precision as graphics hardware has them.
//!
//! Round forms and boxes are a few unit surfaces that are scaled, so that a thousand links of
//! different lengths cost no more triangles in a file than one.

mod crease;
mod height_field;
mod lathe;
mod parts;

pub(crate) use parts::{Part, Parts};

/// Colour pattern about the surface's own axes that makes turning visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// One colour.
    Plain,
    /// Darker where x y > 0: for surfaces that look the same turned about z.
    Quadrants,
    /// Darker where x y z > 0: for surfaces that look the same turned about anything.
    Octants,
}

/// Triangles with a normal at every corner.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Surface {
    /// Corners.
    pub(crate) positions: Vec<[f32; 3]>,
    /// Outward unit normals, one per corner.
    pub(crate) normals: Vec<[f32; 3]>,
    /// Three corners each, counter-clockwise from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) pattern: Pattern,
    /// Of a surface of revolution.
    pub(crate) round: Option<Round>,
}

/// How a surface of revolution gets coarser where it is small.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    /// Corners around the axis.
    pub(crate) slices: usize,
    /// Triangles between fewer of the corners: each list has half as many around the axis as the
    /// one before.
    pub(crate) coarser: Vec<Vec<[u32; 3]>>,
}

impl Surface {
    /// Of one colour, not round.
    pub(crate) const fn empty() -> Self {
        Self {
            positions: vec![],
            normals: vec![],
            triangles: vec![],
            pattern: Pattern::Plain,
            round: None,
        }
    }
}
