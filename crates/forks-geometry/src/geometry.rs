//! The form of a body.

use forks_lie::glam::{DVec2, DVec3};

/// A form about its own frame; lengths in m.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Geometry {
    /// The half space z < 0.
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
    /// An ellipsoid.
    Ellipsoid {
        /// Semi-axes.
        radii: DVec3,
    },
    /// A box.
    Box {
        /// Half extents.
        half_extents: DVec3,
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
}

impl Geometry {
    /// Radii, half lengths, half extents and sides: what may not be negative, m.
    pub fn sizes(&self) -> Vec<f64> {
        match self {
            Self::Plane | Self::Hull { .. } | Self::Mesh { .. } => vec![],
            Self::Sphere { radius } => vec![*radius],
            Self::Capsule { radius, half_length } | Self::Cylinder { radius, half_length } => {
                vec![*radius, *half_length]
            }
            Self::Ellipsoid { radii } => radii.to_array().to_vec(),
            Self::Box { half_extents } => half_extents.to_array().to_vec(),
            Self::HeightField { size, .. } => size.to_array().to_vec(),
        }
    }

    /// True if all sizes, points and heights are finite.
    pub fn is_finite(&self) -> bool {
        let points = match self {
            Self::Hull { points } => points.as_slice(),
            Self::Mesh { vertices, .. } => vertices,
            _ => &[],
        };
        let heights = match self {
            Self::HeightField { heights, .. } => heights.as_slice(),
            _ => &[],
        };
        points.iter().all(|p| p.is_finite())
            && heights.iter().chain(&self.sizes()).all(|x| x.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_looked_at() {
        let bad = DVec3::new(0.0, f64::NAN, 0.0);
        assert!(Geometry::Plane.is_finite());
        assert!(!Geometry::Sphere { radius: f64::INFINITY }.is_finite());
        assert!(!Geometry::Hull { points: vec![DVec3::ZERO, bad] }.is_finite());
        assert!(!Geometry::Mesh { vertices: vec![bad], triangles: vec![] }.is_finite());
        let heights = vec![0.0, 0.0, f64::NAN, 0.0];
        assert!(!Geometry::HeightField { size: DVec2::ONE, columns: 2, heights }.is_finite());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn forms_are_read_and_written_by_their_names() {
        let text = r#"{"capsule":{"radius":0.1,"half_length":0.2}}"#;
        let form = Geometry::Capsule { radius: 0.1, half_length: 0.2 };
        assert_eq!(serde_json::to_string(&form).unwrap(), text);
        assert_eq!(serde_json::from_str::<Geometry>(text).unwrap(), form);
        let unknown = text.replace("half_length", "length");
        let error = serde_json::from_str::<Geometry>(&unknown).unwrap_err().to_string();
        assert!(error.contains("length"), "{error}");
    }
}
