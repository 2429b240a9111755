//! Points of rigid bodies that touch the ground.

use forks_deform::dynamics::mechanism::{Geometry, lie::glam::DVec3};

/// Points round a cylinder's rim.
const ROUND: usize = 12;

/// Points of a form with the radius of a ball around each; none for planes.
pub(super) fn corners(form: &Geometry) -> Vec<(DVec3, f64)> {
    match form {
        Geometry::Sphere { radius } => vec![(DVec3::ZERO, *radius)],
        Geometry::Capsule { radius, half_length } => {
            [-1.0, 1.0].map(|s| (DVec3::Z * (s * half_length), *radius)).to_vec()
        }
        Geometry::Box { half_extents } => (0..8)
            .map(|i| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                (DVec3::new(sign(0), sign(1), sign(2)) * *half_extents, 0.0)
            })
            .collect(),
        Geometry::Cylinder { radius, half_length } => (0..ROUND)
            .flat_map(|i| {
                let (s, c) = (std::f64::consts::TAU * i as f64 / ROUND as f64).sin_cos();
                [-1.0, 1.0].map(|e| (DVec3::new(radius * c, radius * s, e * half_length), 0.0))
            })
            .collect(),
        _ => vec![],
    }
}
