//! Separating axis and minimum translation of two convex shapes that touch or overlap: a check of
//! the geometry library's contact normals.
//!
//! For a unit vector n from the first shape to the second, the separation along n is
//! s(n) = min over the second of n · x − max over the first of n · x. The greatest s is the
//! distance of the shapes; where it is negative, −s n is the minimum translation vector (MTV). The
//! library expands a polytope (EPA) from the surface of the Minkowski difference. Where the shapes
//! just touch, that surface passes through the origin, the nearest face may be lost to rounding,
//! and a face on the far side is taken in its place. So its axis is compared with one of our own:
//! the second shape is moved until the shapes are apart, where nearest points are well defined, and
//! then moved less and less for as long as the separation grows (as in PolyDepth
//! \[J12\] for one pair of convex shapes).

use parry3d_f64::{
    math::{Pose, Vector},
    query::{
        ContactManifold, TrackedContact,
        gjk::{CsoPoint, GJKResult, VoronoiSimplex, closest_points},
    },
    shape::{PackedFeatureId, PolygonalFeature, PolygonalFeatureMap},
};

/// A convex shape without its rounding radius.
#[derive(Clone, Copy)]
pub(super) struct Core<'a> {
    pub(super) map: &'a dyn PolygonalFeatureMap,
    pub(super) radius: f64,
    /// A point inside.
    pub(super) middle: Vector,
}

/// A pair of them.
pub(super) struct Couple<'a> {
    pub(super) cores: [Core<'a>; 2],
    /// First from second.
    pub(super) pose: Pose,
    /// Size of the smaller one, and of both with what lies between, m.
    pub(super) sizes: [f64; 2],
    /// Outward normal of a triangle of a solid surface: axes that point against it are not allowed.
    pub(super) out: Option<Vector>,
}

/// A separating axis: a unit vector and the separation of the cores along it, m.
#[derive(Clone, Copy)]
struct Axis {
    separation: f64,
    normal: Vector,
}

/// Distance to which the shapes are moved apart, relative to the size of the smaller one. Nearest
/// points are then known to the root of the rounding error of this length, which enters the
/// separation in second order.
const CLEAR: f64 = 1e-4;
/// Growth of a translation that does not yet separate the shapes.
const GROWTH: f64 = 8.0;
/// Refinements of the axis at most. As a rule the second finds nothing better.
const ROUNDS: usize = 16;
/// Rounding error of a separation, relative to the size of both shapes.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Relative error of the depth that the library is allowed.
const LOOSE: f64 = 1e-6;

type Manifold = ContactManifold<(), ()>;

impl Couple<'_> {
    /// Replaces the axis of a manifold if another one has a greater separation, or if the manifold
    /// has lost the nearest points.
    pub(super) fn check(&self, prediction: f64, manifold: &mut Manifold) {
        let tiny = ROUNDING * self.sizes[1];
        let radii = self.cores[0].radius + self.cores[1].radius;
        let known = manifold.local_n1.try_normalize().map(|n| self.at(n));
        let nearest = manifold.points.iter().fold(f64::INFINITY, |d, c| d.min(c.dist)) + radii;
        let sound = |k: Axis| {
            let most = k.separation + tiny + LOOSE * k.separation;
            k.separation >= -tiny && nearest <= most && self.widest(manifold) <= most
        };
        let lost = manifold.points.is_empty();
        let is_clear = |n: Vector| self.at(n).separation > prediction + radii;
        // Directions that separate by more than is asked for end it; the cores are apart as a rule,
        // where the library is sound.
        let done = if lost {
            known.is_some_and(|k| is_clear(k.normal)) || self.towards().is_some_and(is_clear)
        } else {
            known.is_some_and(sound)
        };
        if done {
            return;
        }
        let Some((best, points)) = self.minimum_translation(known, tiny) else { return };
        let slack = 4.0 * tiny + LOOSE * best.separation.abs();
        let better = known.is_none_or(|k| best.separation > k.separation + slack);
        let misses = nearest > best.separation + slack;
        if best.separation - radii > prediction || !(better || misses) {
            return;
        }
        if self.out.is_none_or(|out| self.at(out).separation >= best.separation - slack) {
            self.fill(self.out.unwrap_or(best.normal), points, manifold);
        } else if better {
            // Beyond a triangle's edge its neighbours decide; what is left must not be deeper than
            // this one is.
            manifold.points.retain(|c| c.dist + radii >= best.separation - slack);
        }
    }

    /// Length between the library's nearest points, which is that along the normal where the
    /// direction is right; 0 if there are none.
    fn widest(&self, manifold: &Manifold) -> f64 {
        let Some(c) = manifold.points.last().filter(|c| c.fid1 == PackedFeatureId::UNKNOWN) else {
            return 0.0;
        };
        let [one, two] = &self.cores;
        let p = c.local_p1 - manifold.local_n1 * one.radius;
        let q = self.pose * (c.local_p2 - manifold.local_n2 * two.radius);
        (q - p).length()
    }

    /// From centre to centre; for a triangle its outward normal.
    fn towards(&self) -> Option<Vector> {
        let offset = self.pose * self.cores[1].middle - self.cores[0].middle;
        self.out.or_else(|| offset.try_normalize())
    }

    fn at(&self, normal: Vector) -> Axis {
        let [one, two] = &self.cores;
        let p = one.map.local_support_point_toward(normal);
        let q = two.map.support_point_toward(&self.pose, -normal);
        Axis { separation: (q - p).dot(normal), normal }
    }

    fn allows(&self, normal: Vector) -> bool {
        self.out.is_none_or(|out| out.dot(normal) >= 0.0)
    }

    /// Keeps an axis whose separation is greater than the best so far.
    fn consider(&self, normal: Vector, best: &mut Option<Axis>) {
        let new = self.at(normal);
        if self.allows(normal) && best.is_none_or(|b| new.separation > b.separation) {
            *best = Some(new);
        }
    }

    /// The axis of greatest separation, found from the best of some likely axes, and the nearest
    /// points along it, both in the first's frame.
    fn minimum_translation(&self, known: Option<Axis>, tiny: f64) -> Option<(Axis, [Vector; 2])> {
        let clear = CLEAR * self.sizes[0];
        let mut best = known;
        let offset = self.pose * self.cores[1].middle - self.cores[0].middle;
        match (self.out, offset.try_normalize()) {
            (Some(out), _) => self.consider(out, &mut best),
            (None, Some(towards)) => {
                let mut by = clear;
                while by < 4.0 * self.sizes[1] {
                    if let Some((normal, _)) = self.moved(towards, by) {
                        self.consider(normal, &mut best);
                        break;
                    }
                    by *= GROWTH;
                }
            }
            (None, None) => {}
        }
        if best.is_none_or(|b| b.separation < -clear) {
            for axis in [Vector::X, Vector::Y, Vector::Z] {
                for n in [axis, self.pose.rotation * axis] {
                    self.consider(n, &mut best);
                    self.consider(-n, &mut best);
                    // From axis to axis of forms that are round about theirs.
                    if let Some(across) = (offset - n * n.dot(offset)).try_normalize() {
                        self.consider(across, &mut best);
                    }
                }
            }
        }
        let mut best = best?;
        let mut points = None;
        for _ in 0..ROUNDS {
            let by = clear + (-best.separation).max(0.0);
            let Some((normal, near)) = self.moved(best.normal, by) else { break };
            points = Some(near);
            let new = self.at(normal);
            if !(self.allows(normal) && new.separation > best.separation + tiny) {
                break;
            }
            best = new;
        }
        Some((best, points?))
    }

    /// The axis between the nearest points after a translation of the second shape, and these
    /// points, moved back.
    fn moved(&self, along: Vector, by: f64) -> Option<(Vector, [Vector; 2])> {
        let [one, two] = self.cores.map(|c| c.map);
        let mut pose = self.pose;
        pose.translation += along * by;
        let mut simplex = VoronoiSimplex::new();
        simplex.reset(CsoPoint::from_shapes(&pose, one, two, along));
        match closest_points(&pose, one, two, f64::MAX, true, &mut simplex) {
            GJKResult::ClosestPoints(p, q, normal) if normal.is_finite() => {
                Some((normal.try_normalize()?, [p, q - along * by]))
            }
            _ => None,
        }
    }

    /// Fills a manifold along an axis: the clipped overlap of the two features that are extreme
    /// along it, and the nearest points.
    fn fill(&self, normal: Vector, [p, q]: [Vector; 2], manifold: &mut Manifold) {
        let back = self.pose.inverse();
        let (n, m) = (normal, back.rotation * -normal);
        let [one, two] = &self.cores;
        let (mut first, mut second) = (PolygonalFeature::default(), PolygonalFeature::default());
        one.map.local_support_feature(n, &mut first);
        two.map.local_support_feature(m, &mut second);
        manifold.points.clear();
        PolygonalFeature::contacts(&self.pose, &back, n, m, &first, &second, manifold, false);
        let unknown = PackedFeatureId::UNKNOWN;
        let nearest = TrackedContact::new(p, back * q, unknown, unknown, (q - p).dot(n));
        manifold.points.push(nearest);
        for c in &mut manifold.points {
            c.local_p1 += n * one.radius;
            c.local_p2 += m * two.radius;
            c.dist -= one.radius + two.radius;
        }
        (manifold.local_n1, manifold.local_n2) = (n, m);
    }
}
