//! What the tests of plain forms know of a shape, in the frame that the geometry library has it in.

use forks_lie::glam::DVec3;
use parry3d_f64::shape::{SharedShape, TypedShape};

use crate::convert::from_vector;

/// The form of a shape.
#[derive(Clone, Debug)]
pub(super) enum Solid {
    /// Of a radius about the origin.
    Sphere { radius: f64 },
    /// What is below z = 0.
    Plane,
    /// About the z axis.
    Capsule(Round),
    /// About the y axis.
    Cylinder(Round),
    /// Half extents.
    Box(DVec3),
    /// A hull of points, of which these are the corners.
    Hull(Vec<DVec3>),
    /// What only the library knows.
    Other,
}

/// A capsule or a cylinder; a capsule's half length is that of the segment of its centres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) radius: f64,
    pub(super) half_length: f64,
}

impl Solid {
    pub(super) fn new(shape: &SharedShape) -> Self {
        match shape.as_typed_shape() {
            TypedShape::Ball(b) => Self::Sphere { radius: b.radius },
            TypedShape::HalfSpace(s) if from_vector(s.normal) == DVec3::Z => Self::Plane,
            TypedShape::Capsule(c)
                if is_about_z(from_vector(c.segment.a), from_vector(c.segment.b)) =>
            {
                Self::Capsule(Round { radius: c.radius, half_length: c.segment.b.z })
            }
            TypedShape::Cylinder(c) => {
                Self::Cylinder(Round { radius: c.radius, half_length: c.half_height })
            }
            TypedShape::Cuboid(c) => Self::Box(from_vector(c.half_extents)),
            TypedShape::ConvexPolyhedron(p) => {
                Self::Hull(p.points().iter().map(|p| from_vector(*p)).collect())
            }
            _ => Self::Other,
        }
    }

    /// Tests take the form of lower rank first.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Sphere { .. } => 0,
            Self::Plane => 1,
            Self::Capsule(_) => 2,
            Self::Cylinder(_) => 3,
            Self::Box(_) => 4,
            Self::Hull(_) => 5,
            Self::Other => 6,
        }
    }

    /// Middle and radius of a sphere around it, where the form tells them.
    pub(super) fn bounds(&self) -> Option<(DVec3, f64)> {
        let radius = match self {
            Self::Sphere { radius } => *radius,
            Self::Plane => f64::INFINITY,
            Self::Capsule(r) => r.radius + r.half_length,
            Self::Cylinder(r) => r.radius.hypot(r.half_length),
            Self::Box(half) => half.length(),
            Self::Hull(_) | Self::Other => return None,
        };
        Some((DVec3::ZERO, radius))
    }
}

fn is_about_z(a: DVec3, b: DVec3) -> bool {
    a == -b && a.x == 0.0 && a.y == 0.0 && b.z >= 0.0
}
