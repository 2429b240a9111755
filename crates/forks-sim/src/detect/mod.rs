//! Which shapes are near each other, and where.
//!
//! Every step starts from the poses alone: nothing is carried over but impulses, so that a restored
//! snapshot finds the same contacts bit by bit. Pairs come from bounding spheres ([`broad`]); pairs
//! of plain forms have tests of their own, one file per family, that are exact and take no memory;
//! the geometry library does the rest ([`library`]).

mod apart;
mod broad;
mod capsule;
mod clip;
mod cylinder;
mod field;
mod flat;
mod library;
mod plane;
mod polytope;
mod polytopes;
mod solid;
mod sphere;
#[cfg(test)]
mod tests;

use forks_lie::{Pose, exp_rotation, glam::DVec3};
use parry3d_f64::shape::SharedShape;

use self::{broad::Broad, library::Library, solid::Solid};
use crate::{
    convert::from_vector,
    manifold::{Tolerance, reduce},
};

/// A shape where it is, and how fast any of its points moves at most.
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
    /// What the pose is turned by beyond the present one.
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

    /// Turns a form on which the lowest point wanders on by what its owner turns within the step,
    /// `angle` about `center` (world); `pose` is its present one.
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

/// Names a contact from one step to the next: shapes, their parts, their features.
pub(crate) type Key = [u32; 6];

/// A point where two shapes are close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) key: Key,
    /// Middle between the surfaces, world.
    pub(crate) point: DVec3,
    /// From the first shape to the second, world, unit length.
    pub(crate) normal: DVec3,
    /// m, negative where they penetrate.
    pub(crate) gap: f64,
}

impl Found {
    /// Numbers of the two shapes, the smaller first.
    #[inline(always)]
    pub(crate) fn shapes(&self) -> [usize; 2] {
        [self.key[0] as usize, self.key[1] as usize]
    }
}

/// A rotation within a step, about a point that moves on steadily.
///
/// A rim or a curved side touches in other points when the step ends than where it begins. Held by
/// those of its start alone a body sinks in by the square of the angle, and what takes the overlap
/// away gives it energy. Such forms are looked at as they will be turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    /// Rotation vector h ω, world.
    pub(crate) angle: DVec3,
    /// What it turns about, world.
    pub(crate) center: DVec3,
}

impl Turn {
    pub(crate) const NONE: Self = Self { angle: DVec3::ZERO, center: DVec3::ZERO };

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.angle == DVec3::ZERO
    }

    /// A point of the turned body where it is now.
    #[inline(always)]
    fn back(&self, point: DVec3) -> DVec3 {
        self.center + exp_rotation(-self.angle) * (point - self.center)
    }

    /// What the present velocity moves a point by.
    #[inline(always)]
    fn first_order(&self, point: DVec3) -> DVec3 {
        self.angle.cross(point - self.center)
    }
}

/// Takes points that were found with turned bodies back to where these are now. A point's gap
/// becomes what its present velocity leads to the gap at the end of the step from: rows of contacts
/// know no more than velocities.
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

/// Finds contacts; keeps memory between calls, but no results.
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

/// Takes the points of one pair.
struct Sink<'a> {
    found: &'a mut Vec<Found>,
    pair: [u32; 2],
    /// A test speaks of the pair's second shape as its first.
    swapped: bool,
    /// Points farther apart are none, m.
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

    /// Points of one pair that are closer than `prediction`, by a test of our own; false if there
    /// is none that decides.
    #[inline(always)]
    fn own(&mut self, pair: [u32; 2], [a, b]: [&Placed; 2], prediction: f64, tie: f64) -> bool {
        let swapped = a.solid.rank() > b.solid.rank();
        let (one, two) = if swapped { (b, a) } else { (a, b) };
        let sink = &mut Sink { found: &mut self.found, pair, swapped, prediction, tie };
        let (first, second) = ((&one.pose, &one.solid), (&two.pose, &two.solid));
        match (first.1, second.1) {
            (Solid::Sphere { radius }, Solid::Field) => {
                two.shape.as_heightfield().is_some_and(|field| {
                    field::against(one.pose.translation, *radius, &two.pose, field, sink)
                })
            }
            (Solid::Sphere { radius }, solid) => {
                sphere::against(one.pose.translation, *radius, &two.pose, solid, sink)
            }
            (Solid::Plane, _) => plane::against(&one.pose, two, sink),
            (Solid::Capsule(a), Solid::Capsule(b)) => {
                capsule::against((first.0, *a), (second.0, *b), sink)
            }
            (Solid::Cylinder(form), solid) => match solid.polytope() {
                Some(p) => {
                    cylinder::against((first.0, *form), (second.0, p), &mut self.cylinder, sink)
                }
                None => false,
            },
            (a, b) => a.polytope().zip(b.polytope()).is_some_and(|(p, q)| {
                polytopes::against((first.0, p), (second.0, q), &mut self.polytopes, sink)
            }),
        }
    }
}

/// Square of the angle per step, rad², below which nothing has to be looked ahead: half of it,
/// relative to a radius, is what a body would sink in.
const STEADY: f64 = 1e-12;
/// Part of the margin below which gaps count as equally deep.
const NEAR_TIE: f64 = 1e-2;
/// Distance below which points are the same, of the smaller shape's radius: far above what clipping
/// loses by cancellation, and a lever on which nothing depends.
const PLACE: f64 = 1e-6;
/// Depths that roundings make differ, of the smaller shape's radius.
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
