//! Collision detection: pairs of shapes that are near each other, and contact points between them.
//!
//! Every step starts from the poses alone, so that a restored snapshot finds the same contacts bit
//! by bit. The broad phase compares bounding spheres ([`broad`]). In the narrow phase, pairs of
//! primitive shapes have exact tests of their own, one file per family, that allocate nothing; the
//! geometry library does the rest ([`library`]).

mod broad;
mod capsule;
mod clip;
mod cylinder;
mod direction;
mod field;
mod library;
mod penetration;
mod plane;
mod polytope;
mod polytopes;
mod reference_face;
mod solid;
mod sphere;
#[cfg(test)]
mod tests;

use forks_lie::{Pose, glam::DVec3, so3::exp_rotation};
use parry3d_f64::shape::SharedShape;

use self::{broad::Broad, library::Library, solid::Solid};
use crate::{
    convert::from_vector,
    manifold::{Found, Tolerance, reduce},
};

/// A shape at its pose, with a bound on the speed of its points.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    shape: SharedShape,
    solid: Solid,
    /// Middle of the bounding sphere, in the shape's frame, where it is not the origin.
    center: Option<DVec3>,
    /// Radius of the bounding sphere; infinite for planes.
    radius: f64,
    /// Least and greatest coordinates, in the shape's frame.
    corners: [DVec3; 2],
    /// World from the library's shape.
    pub(crate) pose: Pose,
    /// Largest distance of a point from the origin of its owner's twist, m.
    pub(crate) reach: f64,
    /// m/s.
    pub(crate) speed: f64,
    /// Rotation of `pose` beyond the present pose.
    turn: Turn,
    /// Shapes of the same owner do not touch.
    owner: usize,
}

impl Placed {
    /// A shape that does not move yet.
    pub(crate) fn new(shape: SharedShape, pose: Pose, reach: f64, owner: usize) -> Self {
        let solid = Solid::new(&shape);
        let bounds = shape.compute_local_bounding_sphere();
        let (center, radius) =
            solid.bounds().unwrap_or((from_vector(bounds.center), bounds.radius));
        let (corners, center) = (corners(&shape), (center != DVec3::ZERO).then_some(center));
        Self {
            shape,
            solid,
            center,
            radius,
            corners,
            pose,
            reach,
            speed: 0.0,
            turn: Turn::NONE,
            owner,
        }
    }

    /// Rotates a curved shape, whose contact point moves over its surface, by the rotation of its
    /// owner within the step: `angle` about `center` (world). `pose` is the present pose.
    #[inline(always)]
    pub(crate) fn turn_on(&mut self, angle: DVec3, center: DVec3) {
        if matches!(self.solid, Solid::Cylinder(_) | Solid::Other)
            && angle.length_squared() > STEADY
        {
            let turn = exp_rotation(angle);
            self.pose.translation = center + turn * (self.pose.translation - center);
            self.pose.rotation = (turn * self.pose.rotation).normalize();
            self.turn = Turn { angle, center };
        } else {
            self.turn = Turn::NONE;
        }
    }

    /// Middle of the bounding sphere, world.
    #[inline]
    fn middle(&self) -> DVec3 {
        self.center.map_or(self.pose.translation, |center| self.pose.transform_point(center))
    }
}

impl Placed {
    /// True if a shape that is small beside this one is farther away than `prediction`, by its
    /// bounding sphere and this one's box: bounding spheres of floors and walls say nothing.
    #[inline(always)]
    fn is_clear_of(&self, small: &Self, prediction: f64) -> bool {
        // Spheres have tests that cost no more.
        let is_large = self.radius > LARGE * small.radius && self.radius.is_finite();
        if !is_large || matches!(small.solid, Solid::Sphere { .. }) {
            return false;
        }
        self.is_box_clear_of(small, prediction)
    }

    fn is_box_clear_of(&self, small: &Self, prediction: f64) -> bool {
        let p = self.pose.rotation.conjugate() * (small.middle() - self.pose.translation);
        let outside = p - p.clamp(self.corners[0], self.corners[1]);
        outside.length() > small.radius + prediction
    }
}

/// How many times a bounding sphere is larger than another where boxes are looked at, too.
const LARGE: f64 = 4.0;

/// The rotation of a body within a step, about a point that moves at constant velocity.
///
/// A rim or a curved side touches in other points at the end of a step than at its start. Contacts
/// at the points of the start alone let a body sink in by a length proportional to the square of
/// the angle, and the correction of that penetration adds energy. So contacts of such shapes are
/// found in the orientation at the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    /// Rotation vector h ω, world.
    pub(crate) angle: DVec3,
    /// Centre of the rotation, world.
    pub(crate) center: DVec3,
}

impl Turn {
    pub(crate) const NONE: Self = Self { angle: DVec3::ZERO, center: DVec3::ZERO };

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.angle == DVec3::ZERO
    }

    /// The present position of a point of the rotated body.
    #[inline(always)]
    fn back(&self, point: DVec3) -> DVec3 {
        self.center + exp_rotation(-self.angle) * (point - self.center)
    }

    /// Displacement of a point by the rotation, to first order.
    #[inline(always)]
    fn first_order(&self, point: DVec3) -> DVec3 {
        self.angle.cross(point - self.center)
    }
}

/// Moves points that were found on rotated bodies back to the present poses. The gap becomes the
/// one from which the present velocity leads to the gap found at the end of the step, because rows
/// of contacts are linear in the velocities.
fn turn_back(found: &mut [Found], [a, b]: [&Turn; 2]) {
    for f in found {
        let point = match (a.is_none(), b.is_none()) {
            (true, true) => return,
            (false, true) => a.back(f.point),
            (true, false) => b.back(f.point),
            (false, false) => (a.back(f.point) + b.back(f.point)) * 0.5,
        };
        f.gap -= f.normal.dot(b.first_order(point) - a.first_order(point));
        f.point = point;
    }
}

/// Finds contacts. Keeps buffers between calls, but no results.
#[derive(Clone, Default)]
pub(crate) struct Detector {
    broad: Broad,
    library: Library,
    cylinder: cylinder::Scratch,
    polytopes: polytopes::Scratch,
    pub(crate) found: Vec<Found>,
    /// For the choice of points.
    keep: Vec<bool>,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Detector").field("found", &self.found).finish_non_exhaustive()
    }
}

/// Receives the contact points of one pair.
struct Sink<'a> {
    found: &'a mut Vec<Found>,
    pair: [u32; 2],
    /// The test's first shape is the second of the pair.
    swapped: bool,
    /// Largest gap of a contact point, m.
    prediction: f64,
    /// Depths that differ by less are equal, m.
    tie: f64,
}

impl Sink<'_> {
    /// A point in the middle between the surfaces; the normal, of unit length, points from the
    /// test's first shape to its second. The names of a part and of a feature tell it from other
    /// points of the pair.
    #[inline(always)]
    fn push(&mut self, [part, feature]: [u32; 2], point: DVec3, normal: DVec3, gap: f64) {
        // 0 × x is 0 unless x is NaN or infinite.
        let zero = point * 0.0;
        if !(gap <= self.prediction && zero.x + zero.y + zero.z == 0.0) {
            return;
        }
        let normal = if self.swapped { -normal } else { normal };
        let key = [self.pair[0], self.pair[1], part, 0, feature, 0];
        self.found.push(Found { key, point, normal, gap });
    }
}

impl Detector {
    /// All points of shapes that may touch within a step of h, `margin` of safety included, in a
    /// fixed order.
    #[inline(always)]
    pub(crate) fn detect(
        &mut self,
        placed: &[Placed],
        excluded: &[[usize; 2]],
        margin: f64,
        h: f64,
    ) {
        self.broad.find(placed, excluded, margin, h);
        self.found.clear();
        for k in 0..self.broad.pairs.len() {
            let pair = self.broad.pairs[k];
            let [a, b] = pair.map(|i| &placed[i as usize]);
            let before = self.found.len();
            let prediction = margin + h * (a.speed + b.speed);
            if a.is_clear_of(b, prediction) || b.is_clear_of(a, prediction) {
                continue;
            }
            let tie = NEAR_TIE * margin;
            let size = a.radius.min(b.radius);
            if !self.own(pair, [a, b], prediction, tie + ROUNDING * size) {
                self.library.narrow(&mut self.found, pair, [a, b], prediction);
            }
            turn_back(&mut self.found[before..], [&a.turn, &b.turn]);
            let tolerance = Tolerance { depth: tie, place: PLACE * size };
            reduce(&mut self.found, before, tolerance, &mut self.keep);
        }
    }

    /// Contact points of one pair with gaps up to `prediction`, by a test of our own; false if none
    /// of them decides.
    #[inline(always)]
    fn own(&mut self, pair: [u32; 2], [a, b]: [&Placed; 2], prediction: f64, tie: f64) -> bool {
        let swapped = a.solid.rank() > b.solid.rank();
        let (one, two) = if swapped { (b, a) } else { (a, b) };
        let sink = &mut Sink { found: &mut self.found, pair, swapped, prediction, tie };
        let (first, second) = ((&one.pose, &one.solid), (&two.pose, &two.solid));
        match (first.1, second.1) {
            (Solid::Sphere { radius }, Solid::Field) => {
                two.shape.as_heightfield().is_some_and(|field| {
                    field::collide(one.pose.translation, *radius, &two.pose, field, sink)
                })
            }
            (Solid::Sphere { radius }, solid) => {
                sphere::collide(one.pose.translation, *radius, &two.pose, solid, sink)
            }
            (Solid::Plane, _) => plane::collide(&one.pose, two, sink),
            (Solid::Capsule(a), Solid::Capsule(b)) => {
                capsule::collide((first.0, *a), (second.0, *b), sink)
            }
            (Solid::Cylinder(form), solid) => match solid.polytope() {
                Some(p) => {
                    cylinder::collide((first.0, *form), (second.0, p), &mut self.cylinder, sink)
                }
                None => false,
            },
            (a, b) => a.polytope().zip(b.polytope()).is_some_and(|(p, q)| {
                polytopes::collide((first.0, p), (second.0, q), &mut self.polytopes, sink)
            }),
        }
    }
}

/// Square of the angle per step, rad², up to which the rotation is left out: half of it, relative
/// to a radius, is how deep a body would sink in.
const STEADY: f64 = 1e-12;
/// Difference of gaps, relative to the margin, up to which they count as equally deep.
const NEAR_TIE: f64 = 1e-2;
/// Distance, relative to the smaller shape's radius, below which points are the same: far above the
/// cancellation error of clipping, and too short a lever arm to matter.
const PLACE: f64 = 1e-6;
/// Rounding error of depths, relative to the smaller shape's radius.
const ROUNDING: f64 = 1e-12;

/// Largest distance of a shape's points from a point of its own frame.
pub(crate) fn reach(shape: &SharedShape, from: DVec3) -> f64 {
    let [low, high] = corners(shape);
    (low - from).abs().max((high - from).abs()).length()
}

/// Least and greatest coordinates of a shape in its own frame.
fn corners(shape: &SharedShape) -> [DVec3; 2] {
    let bounds = shape.compute_local_aabb();
    [bounds.mins, bounds.maxs].map(from_vector)
}
