//! Pairs that have no test of their own: the geometry library's contacts.

use forks_lie::glam::DVec3;
use parry3d_f64::math::Vector;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};

use super::{Found, Placed};
use crate::convert::{self, from_vector};

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
            // One manifold, emptied so that nothing of an earlier pair is seen, but with its memory.
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
