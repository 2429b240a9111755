//! Which shapes are near each other, and where.
//!
//! Every step starts from the poses alone: nothing is carried over but impulses, so that a restored snapshot finds
//! the same contacts bit by bit.

use forks_lie::{Pose, glam::DVec3};
use parry3d_f64::{
    bounding_volume::{Aabb, BoundingVolume},
    query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher},
    shape::SharedShape,
};

use crate::{
    convert::{self, from_vector},
    manifold::reduce,
};

/// A shape where it is, and how fast any of its points moves at most.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) shape: SharedShape,
    /// World from the library's shape.
    pub(crate) pose: Pose,
    /// Largest distance of a point from the origin of its owner's twist, m.
    pub(crate) reach: f64,
    /// m/s.
    pub(crate) speed: f64,
    /// Shapes of the same owner do not touch.
    pub(crate) owner: usize,
}

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
    pub(crate) fn shapes(&self) -> [usize; 2] {
        [self.key[0] as usize, self.key[1] as usize]
    }
}

/// Finds contacts; keeps memory between calls, but no results.
#[derive(Clone, Default)]
pub(crate) struct Detector {
    boxes: Vec<(Aabb, u32)>,
    active: Vec<usize>,
    pairs: Vec<[u32; 2]>,
    manifolds: Vec<ContactManifold<(), ()>>,
    pub(crate) found: Vec<Found>,
    /// For the choice of points.
    keep: Vec<bool>,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Detector").field("found", &self.found).finish_non_exhaustive()
    }
}

impl Detector {
    /// All points of shapes that may touch within a step of h, `margin` of safety included, in a fixed order.
    pub(crate) fn detect(
        &mut self,
        placed: &[Placed],
        excluded: &[[usize; 2]],
        margin: f64,
        h: f64,
    ) {
        self.broad(placed, excluded, margin, h);
        self.found.clear();
        for k in 0..self.pairs.len() {
            let pair = self.pairs[k];
            let [a, b] = pair.map(|i| &placed[i as usize]);
            self.narrow(pair, a, b, margin + h * (a.speed + b.speed), margin);
        }
    }

    /// Sort and sweep along x.
    fn broad(&mut self, placed: &[Placed], excluded: &[[usize; 2]], margin: f64, h: f64) {
        self.boxes.clear();
        for (i, p) in placed.iter().enumerate() {
            let near = 0.5 * margin + h * p.speed;
            let bounds = p.shape.compute_aabb(&convert::pose(&p.pose)).loosened(near);
            self.boxes.push((bounds, i as u32));
        }
        self.boxes.sort_by(|a, b| a.0.mins.x.total_cmp(&b.0.mins.x).then(a.1.cmp(&b.1)));
        self.pairs.clear();
        self.active.clear();
        for k in 0..self.boxes.len() {
            let (bounds, i) = self.boxes[k];
            self.active.retain(|&j| self.boxes[j].0.maxs.x >= bounds.mins.x);
            for &j in &self.active {
                let (other, j) = self.boxes[j];
                let pair = [i.min(j), i.max(j)];
                let [a, b] = pair.map(|i| i as usize);
                let meets = placed[a].owner != placed[b].owner && bounds.intersects(&other);
                if meets && excluded.binary_search(&[a, b]).is_err() {
                    self.pairs.push(pair);
                }
            }
            self.active.push(k);
        }
        self.pairs.sort_unstable();
    }

    /// Points of one pair that are closer than `prediction`.
    fn narrow(&mut self, pair: [u32; 2], a: &Placed, b: &Placed, prediction: f64, margin: f64) {
        let a_from_b = a.pose.inverse() * b.pose;
        let before = self.found.len();
        self.manifolds.clear();
        let (first, second) = (a.shape.as_ref(), b.shape.as_ref());
        // Pairs without a rule (two planes) belong to the world and were not found.
        let _ = DefaultQueryDispatcher.contact_manifolds(
            &convert::pose(&a_from_b),
            first,
            second,
            prediction,
            &mut self.manifolds,
            &mut None,
        );
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
                self.found.push(Found { key, point, normal, gap: c.dist });
            }
        }
        reduce(&mut self.found, before, NEAR_TIE * margin, &mut self.keep);
    }
}

/// Part of the margin below which gaps count as equally deep.
const NEAR_TIE: f64 = 1e-2;

/// Largest distance of a shape's points from a point of its own frame.
pub(crate) fn reach(shape: &SharedShape, from: DVec3) -> f64 {
    let bounds = shape.compute_local_aabb();
    let [low, high] = [bounds.mins, bounds.maxs].map(from_vector);
    (low - from).abs().max((high - from).abs()).length()
}
