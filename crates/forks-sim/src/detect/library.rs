//! Pairs that have no test of their own: the geometry library's contacts.

use forks_lie::glam::DVec3;
use parry3d_f64::{
    math::{Pose, Vector},
    query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher},
    shape::{SharedShape, Triangle, TypedShape},
};

use super::{
    Placed,
    penetration::{Core, Couple},
};
use crate::{
    convert::{self, from_vector, vector},
    manifold::Found,
};

/// Memory for the library's results.
#[derive(Clone, Default)]
pub(super) struct Library {
    manifolds: Vec<ContactManifold<(), ()>>,
}

impl Library {
    /// Points of one pair that are closer than `prediction`.
    pub(super) fn narrow(
        &mut self,
        found: &mut Vec<Found>,
        pair: [u32; 2],
        [a, b]: [&Placed; 2],
        prediction: f64,
    ) {
        let a_from_b = convert::pose(&(a.pose.inverse() * b.pose));
        let (first, second) = (a.shape.as_ref(), b.shape.as_ref());
        // Pairs without a rule (two planes) belong to the world and were not found.
        if first.is_convex() && second.is_convex() {
            // One manifold, emptied so that nothing of an earlier pair is seen, but with its
            // memory.
            self.manifolds.truncate(1);
            if self.manifolds.is_empty() {
                self.manifolds.push(ContactManifold::new());
            }
            let manifold = &mut self.manifolds[0];
            manifold.points.clear();
            (manifold.local_n1, manifold.local_n2) = (Vector::ZERO, Vector::ZERO);
            (manifold.subshape1, manifold.subshape2) = (0, 0);
            let _ = DefaultQueryDispatcher.contact_manifold_convex_convex(
                &a_from_b, first, second, None, None, prediction, manifold,
            );
            if let (Some(one), Some(two)) = (core(a), core(b)) {
                let sizes = sizes([a.radius, b.radius]);
                let couple = Couple { cores: [one, two], pose: a_from_b, sizes, out: None };
                couple.check(prediction, manifold);
            }
        } else {
            self.manifolds.clear();
            let _ = DefaultQueryDispatcher.contact_manifolds(
                &a_from_b,
                first,
                second,
                prediction,
                &mut self.manifolds,
                &mut None,
            );
            for m in &mut self.manifolds {
                check_triangle([a, b], &a_from_b, prediction, m);
            }
        }
        for m in &self.manifolds {
            let normal = a.pose.transform_vector(from_vector(m.local_n1)).normalize_or_zero();
            if normal == DVec3::ZERO {
                continue;
            }
            for c in &m.points {
                let one = a.pose.transform_point(from_vector(c.local_p1));
                let two = b.pose.transform_point(from_vector(c.local_p2));
                let point = (one + two) * 0.5;
                if !(c.dist <= prediction && point.is_finite()) {
                    continue;
                }
                let key = [pair[0], pair[1], m.subshape1, m.subshape2, c.fid1.0, c.fid2.0];
                found.push(Found { key, point, normal, gap: c.dist });
            }
        }
    }
}

/// A convex form of more than a point.
fn core(placed: &Placed) -> Option<Core<'_>> {
    let (map, radius) = placed.shape.as_polygonal_feature_map()?;
    let [low, high] = placed.corners;
    Some(Core { map, radius, middle: vector((low + high) * 0.5) })
}

/// Of forms with bounding spheres of these radii.
fn sizes([a, b]: [f64; 2]) -> [f64; 2] {
    [a.min(b), 2.0 * (a + b)]
}

/// The same for a triangle of a mesh or a height field.
fn check_triangle(
    [a, b]: [&Placed; 2],
    a_from_b: &Pose,
    prediction: f64,
    manifold: &mut ContactManifold<(), ()>,
) {
    let (of_a, of_b) =
        (triangle(&a.shape, manifold.subshape1), triangle(&b.shape, manifold.subshape2));
    let (Some(triangle), flipped) = (of_a.or(of_b), of_b.is_some()) else { return };
    let Some(other) = core(if flipped { a } else { b }) else { return };
    let Some(normal) = (triangle.b - triangle.a).cross(triangle.c - triangle.a).try_normalize()
    else {
        return;
    };
    let middle = (triangle.a + triangle.b + triangle.c) / 3.0;
    let radius = (triangle.a - middle).length().max((triangle.b - middle).length());
    let sizes = sizes([radius.max((triangle.c - middle).length()), other_radius([a, b], flipped)]);
    let own = Core { map: &triangle, radius: 0.0, middle };
    let (cores, out) =
        if flipped { ([other, own], a_from_b.rotation * -normal) } else { ([own, other], normal) };
    Couple { cores, pose: *a_from_b, sizes, out: Some(out) }.check(prediction, manifold);
}

fn other_radius([a, b]: [&Placed; 2], flipped: bool) -> f64 {
    if flipped { a.radius } else { b.radius }
}

/// A triangle of a mesh or a height field, its corners counter-clockwise from outside.
fn triangle(shape: &SharedShape, number: u32) -> Option<Triangle> {
    match shape.as_typed_shape() {
        TypedShape::TriMesh(mesh) => {
            ((number as usize) < mesh.num_triangles()).then(|| mesh.triangle(number))
        }
        TypedShape::HeightField(field) => {
            let t = field.triangle_at_id(number)?;
            let up = (t.b - t.a).cross(t.c - t.a).y >= 0.0;
            Some(if up { t } else { Triangle::new(t.a, t.c, t.b) })
        }
        _ => None,
    }
}
