//! Bodies that fill their form evenly.

use core::f64::consts::PI;

use forks_lie::{
    SpatialInertia,
    glam::{DMat3, DVec3},
};

use crate::Geometry;

impl Geometry {
    /// Volume (m³) and principal moments per unit mass (m²) about the form's own frame, filled
    /// evenly; `None` for what has no end or no formula.
    pub fn solid(&self) -> Option<(f64, DVec3)> {
        let turned = |across: f64, along: f64| DVec3::new(across, across, along);
        Some(match *self {
            Self::Sphere { radius: r } => {
                (4.0 / 3.0 * PI * r.powi(3), turned(0.4 * r * r, 0.4 * r * r))
            }
            Self::Capsule { radius: r, half_length } => {
                let h = 2.0 * half_length;
                let (ends, side) = (4.0 / 3.0 * PI * r.powi(3), PI * r * r * h);
                let sphere = 0.4 * r * r;
                // Both halves moved by h/2 away from the centre of their sphere: + (h/2)² + 2 (h/2)
                // · 3r/8.
                let ends_across = sphere + 0.25 * h * h + h * (0.375 * r);
                let side_across = r * r / 4.0 + h * h / 12.0;
                let total = ends + side;
                let across = (ends * ends_across + side * side_across) / total;
                let along = (ends * sphere + side * (0.5 * r * r)) / total;
                (total, turned(across, along))
            }
            Self::Cylinder { radius: r, half_length } => {
                let h = 2.0 * half_length;
                (PI * r * r * h, turned((3.0 * r * r + h * h) / 12.0, 0.5 * r * r))
            }
            Self::Ellipsoid { radii: r } => {
                let s = r * r / 5.0;
                let moments = DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y);
                (4.0 / 3.0 * PI * r.x * r.y * r.z, moments)
            }
            Self::Box { half_extents: b } => {
                let s = b * b / 3.0;
                (8.0 * b.x * b.y * b.z, DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y))
            }
            Self::Plane | Self::Hull { .. } | Self::Mesh { .. } | Self::HeightField { .. } => {
                return None;
            }
        })
    }

    /// Mass properties of a solid body about the form's own frame; `None` as for
    /// [`Geometry::solid`].
    pub fn solid_inertia(&self, mass: f64) -> Option<SpatialInertia> {
        let (_, moments) = self.solid()?;
        Some(SpatialInertia::new(mass, DVec3::ZERO, DMat3::from_diagonal(moments * mass)))
    }
}
