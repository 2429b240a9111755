//! Forms that can be shown.

use forks_geometry::Geometry;
use serde::Serialize;

/// What is shown at a place; lengths in m.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The axes of a frame: x red, y green, z blue.
    Axes {
        /// Length of each.
        length: f64,
    },
    /// A body's form. A plane is shown as a grid in its surface.
    #[serde(untagged)]
    Geometry(Geometry),
}

impl From<Geometry> for Form {
    fn from(geometry: Geometry) -> Self {
        Self::Geometry(geometry)
    }
}
