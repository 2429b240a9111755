//! What the tests of plain forms know of a shape, in the frame that the geometry library has it in.

use std::sync::Arc;

use forks_lie::glam::DVec3;
use parry3d_f64::shape::{SharedShape, TypedShape};

use super::{direction::direction, polytope::Polytope};
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
    /// Half extents, and the same as corners and faces.
    Box(DVec3, Arc<Polytope>),
    /// A hull of points.
    Hull(Arc<Hull>),
    /// A height field: the library has its numbers.
    Field,
    /// What only the library knows.
    Other,
}

/// A capsule or a cylinder; a capsule's half length is that of the segment of its centres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) radius: f64,
    pub(super) half_length: f64,
}

/// A hull.
#[derive(Clone, Debug)]
pub(super) struct Hull {
    /// Its corners.
    pub(super) points: Vec<DVec3>,
    /// With its faces, if they are few.
    pub(super) polytope: Option<Polytope>,
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
            TypedShape::Cuboid(c) => {
                let half = from_vector(c.half_extents);
                Self::Box(half, Arc::new(Polytope::cuboid(half)))
            }
            TypedShape::ConvexPolyhedron(p) => {
                let points = p.points().iter().map(|p| from_vector(*p)).collect();
                Self::Hull(Arc::new(Hull { points, polytope: Polytope::hull(p) }))
            }
            TypedShape::HeightField(_) => Self::Field,
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
            Self::Box(..) => 4,
            Self::Hull(_) => 5,
            Self::Field => 6,
            Self::Other => 7,
        }
    }

    /// Middle and radius of a sphere around it, where the form tells them.
    pub(super) fn bounds(&self) -> Option<(DVec3, f64)> {
        let radius = match self {
            Self::Sphere { radius } => *radius,
            Self::Plane => f64::INFINITY,
            Self::Capsule(r) => r.radius + r.half_length,
            Self::Cylinder(r) => r.radius.hypot(r.half_length),
            Self::Box(half, _) => half.length(),
            Self::Hull(_) | Self::Field | Self::Other => return None,
        };
        Some((DVec3::ZERO, radius))
    }
}

impl Solid {
    /// Corners and faces, if they are few.
    #[inline(always)]
    pub(super) fn polytope(&self) -> Option<&Polytope> {
        match self {
            Self::Box(_, polytope) => Some(polytope),
            Self::Hull(hull) => hull.polytope.as_ref(),
            _ => None,
        }
    }
}

/// Cosine of the angle between a cylinder's axis and a direction below which its side looks there.
const SIDE: f64 = 0.5;
/// Tilt, rad, below which a cylinder stands upright: its farthest rim point would jump with
/// roundings.
const UPRIGHT: f64 = 1e-6;

impl Round {
    /// Of a cylinder, the points farthest along a direction with their names, and how many they
    /// are: either the two ends of a line on its side, or four points of a rim with the farthest
    /// first.
    pub(super) fn lowest(&self, down: DVec3) -> ([DVec3; 4], [u32; 4], usize) {
        let (tilt, radial) = direction(DVec3::new(down.x, 0.0, down.z)).unwrap_or((0.0, DVec3::X));
        let radial = if tilt < UPRIGHT { DVec3::X } else { radial } * self.radius;
        let end = DVec3::Y * self.half_length.copysign(down.y);
        let first = if down.y < 0.0 { 1 } else { 2 };
        if down.y.abs() < SIDE {
            let [one, two] = [radial + end, radial - end];
            return ([one, two, two, two], [first, 3 - first, 0, 0], 2);
        }
        let across = DVec3::new(-radial.z, 0.0, radial.x);
        let rim = [end + radial, end + across, end - radial, end - across];
        (rim, [0, 2, 4, 6].map(|k| first + k), 4)
    }
}

fn is_about_z(a: DVec3, b: DVec3) -> bool {
    a == -b && a.x == 0.0 && a.y == 0.0 && b.z >= 0.0
}
