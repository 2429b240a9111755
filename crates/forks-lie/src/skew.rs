//! The cross product as a matrix.

use glam::{DMat3, DVec3};

/// The cross-product matrix: `skew(a) b = a × b`.
pub fn skew(a: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, a.z, -a.y),
        DVec3::new(-a.z, 0.0, a.x),
        DVec3::new(a.y, -a.x, 0.0),
    )
}
