//! Pairs of shapes whose bounding spheres meet.
//!
//! Few shapes are compared each with each. Many are swept in order of where their spheres begin,
//! along the axis on which they are spread most; those without end (planes) stay active to the
//! last.

use forks_lie::glam::DVec3;

use super::Placed;

/// Shapes up to which all pairs are compared.
const FEW: usize = 24;

/// Finds pairs; keeps memory between calls, but no results.
#[derive(Clone, Debug, Default)]
pub(super) struct Broad {
    spheres: Vec<Ball>,
    order: Vec<Ends>,
    active: Vec<Ends>,
    /// Numbers of two shapes, the smaller first; in order.
    pub(super) pairs: Vec<[u32; 2]>,
}

/// A shape's bounding sphere, with all that it may move.
#[derive(Clone, Copy, Debug)]
struct Ball {
    middle: DVec3,
    radius: f64,
    owner: usize,
}

impl Ball {
    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        let near = self.radius + other.radius;
        // Squares of large numbers are infinite on both sides: they meet.
        self.owner != other.owner && self.middle.distance_squared(other.middle) <= near * near
    }
}

/// Where a sphere begins and ends along the axis of the sweep.
#[derive(Clone, Copy, Debug)]
struct Ends {
    low: f64,
    high: f64,
    shape: u32,
}

impl Broad {
    /// Pairs of shapes of different owners that may come closer than the margin within a step of h.
    #[inline(always)]
    pub(super) fn find(&mut self, placed: &[Placed], excluded: &[[usize; 2]], margin: f64, h: f64) {
        self.spheres.clear();
        for p in placed {
            let radius = p.radius + (0.5 * margin + h * p.speed);
            self.spheres.push(Ball { middle: p.middle(), radius, owner: p.owner });
        }
        self.pairs.clear();
        if placed.len() <= FEW {
            self.all();
        } else {
            self.sweep();
        }
        if !excluded.is_empty() {
            self.pairs.retain(|p| excluded.binary_search(&p.map(|i| i as usize)).is_err());
        }
    }

    #[inline(always)]
    fn all(&mut self) {
        for (i, a) in (0..).zip(&self.spheres) {
            for (j, b) in (i + 1..).zip(&self.spheres[i as usize + 1..]) {
                if a.meets(b) {
                    self.pairs.push([i, j]);
                }
            }
        }
    }

    fn sweep(&mut self) {
        let axis = self.axis();
        self.order.clear();
        self.order.extend(self.spheres.iter().enumerate().map(|(i, s)| {
            let at = s.middle[axis];
            // A sphere without end covers every place, also where its middle overflows.
            let (low, high) = (at - s.radius, at + s.radius);
            let low = if low.is_nan() { f64::NEG_INFINITY } else { low };
            Ends { low, high: if high.is_nan() { f64::INFINITY } else { high }, shape: i as u32 }
        }));
        self.order.sort_unstable_by(|a, b| a.low.total_cmp(&b.low).then(a.shape.cmp(&b.shape)));
        self.active.clear();
        for k in 0..self.order.len() {
            let next = self.order[k];
            self.active.retain(|a| a.high >= next.low);
            let sphere = self.spheres[next.shape as usize];
            let near = self.active.iter().filter(|a| self.spheres[a.shape as usize].meets(&sphere));
            self.pairs.extend(near.map(|a| [a.shape.min(next.shape), a.shape.max(next.shape)]));
            self.active.push(next);
        }
        self.pairs.sort_unstable();
    }

    /// The axis along which the middles of the spheres vary most.
    fn axis(&self) -> usize {
        let finite = || self.spheres.iter().filter(|s| s.radius.is_finite()).map(|s| s.middle);
        let count = finite().count().max(1) as f64;
        let mean = finite().sum::<DVec3>() / count;
        let spread = finite().map(|m| (m - mean) * (m - mean)).sum::<DVec3>();
        if spread.x >= spread.y && spread.x >= spread.z {
            0
        } else if spread.y >= spread.z {
            1
        } else {
            2
        }
    }
}
