//! Directions in which a loop-closing joint is not held, because its equations repeat others there.
//!
//! In planar loops, and in other overconstrained ones, some equations follow from the rest. Numbers
//! that were rounded (axes out of parallel by 1e-6) make them independent on paper, and the
//! mechanism rigid or wrong. [`crate::redundancy::release_redundant`] finds such directions; from
//! then on they are no equations any more.

use forks_lie::Twist;
use forks_linalg::dot;

/// Directions of a loop-closing joint, fixed in its frame on the child, along which the child may
/// also move.
///
/// A tree joint never looks at them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReleasedDirections {
    /// Unit of length of the directions, m.
    size: f64,
    /// Orthonormal with lengths in units of `size`.
    directions: Vec<[f64; 6]>,
}

impl ReleasedDirections {
    /// From twists in the joint's frame on the child, their linear parts in units of `size` (m).
    /// Directions that follow from those before them are dropped.
    pub fn new(size: f64, directions: &[Twist]) -> Self {
        let mut kept: Vec<[f64; 6]> = Vec::new();
        for t in directions {
            let x = orthogonal(&t.to_array(), &kept);
            let length = dot(&x, &x).sqrt();
            if length > 1e-9 * t.norm() {
                kept.push(x.map(|x| x / length));
            }
        }
        Self { size, directions: kept }
    }

    /// Unit of length of [`ReleasedDirections::directions`], m; 0 where there are none.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The directions, orthonormal, linear parts in units of the size, in the joint's frame on the
    /// child.
    pub fn directions(&self) -> impl Iterator<Item = Twist> + '_ {
        self.directions.iter().map(|d| Twist::from_array(*d))
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.directions.len()
    }

    /// True if the joint is held in all directions that its kind forbids.
    pub fn is_empty(&self) -> bool {
        self.directions.is_empty()
    }

    /// An orthonormal basis of what is left, in the units of the directions; all six where there
    /// are none.
    pub(crate) fn complement(&self) -> Vec<[f64; 6]> {
        let mut all = self.directions.clone();
        while all.len() < 6 {
            // The unit direction that is freest; the first of equal ones.
            let rests = (0..6).map(|i| {
                let mut e = [0.0; 6];
                e[i] = 1.0;
                let x = orthogonal(&e, &all);
                (x, dot(&x, &x).sqrt())
            });
            let best = rests.reduce(|a, b| if b.1 > a.1 + 1e-9 { b } else { a });
            let (x, length) = best.unwrap_or(([0.0; 6], 1.0));
            all.push(x.map(|x| x / length));
        }
        all.split_off(self.directions.len())
    }

    pub(crate) fn without(&self, mut x: [f64; 6]) -> [f64; 6] {
        for d in &self.directions {
            let along = dot(d, &x);
            (0..6).for_each(|i| x[i] -= along * d[i]);
        }
        x
    }
}

/// x without its parts along orthonormal directions, twice for the digits.
fn orthogonal(x: &[f64; 6], directions: &[[f64; 6]]) -> [f64; 6] {
    let mut x = *x;
    for d in directions.iter().chain(directions) {
        let along = dot(d, &x);
        (0..6).for_each(|i| x[i] -= along * d[i]);
    }
    x
}
