//! Forms that can be shown.

use forks_lie::glam::{DVec2, DVec3};
use serde::Serialize;

/// A form about its own frame; lengths in m.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Form {
    /// The half space z < 0, shown as a grid in its surface.
    Plane,
    /// A sphere.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cylinder along z with half spheres at its ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half length of the cylindrical part.
        half_length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half length.
        half_length: f64,
    },
    /// A box.
    Box {
        /// Half extents.
        half_extents: DVec3,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Semi-axes.
        radii: DVec3,
    },
    /// The convex hull of points.
    Hull {
        /// At least four that are not in one plane.
        points: Vec<DVec3>,
    },
    /// Triangles, counter-clockwise from outside.
    Mesh {
        /// Corners.
        vertices: Vec<DVec3>,
        /// Three corners each.
        triangles: Vec<[u32; 3]>,
    },
    /// Heights over a rectangle in the plane z = 0, centred at the origin.
    HeightField {
        /// Sides along x and y.
        size: DVec2,
        /// Points along x.
        columns: usize,
        /// Heights, row after row: x from −size.x/2 to size.x/2 in each row, rows from y =
        /// −size.y/2 on.
        heights: Vec<f64>,
    },
    /// The axes of a frame: x red, y green, z blue.
    Axes {
        /// Length of each.
        length: f64,
    },
}
