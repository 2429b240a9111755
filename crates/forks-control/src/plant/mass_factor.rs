//! M⁻¹ by many columns at once: M = LᵀL with the zeros that branches leave (Featherstone,
//! "Efficient factorization of the joint-space inertia matrix for branched kinematic trees", IJRR
//! 24, 2005).
//!
//! In an order in which coordinates come after those inward of them, row i of L has numbers at the
//! coordinates between i and the ground alone. Right sides stand side by side, four to a register.

use std::array::from_fn;

use forks_dynamics::mechanism::{
    Mechanism,
    linalg::{
        Matrix,
        simd::{Arithmetic, Isa, Kernel, Lanes, Rows, Wide},
    },
};

/// No coordinate inward.
const GROUND: usize = usize::MAX;

/// The factor of the mass of those coordinates that are free to move.
#[derive(Clone, Debug)]
pub(super) struct MassFactor {
    /// Free coordinates, inner ones first.
    order: Vec<usize>,
    /// The place of every coordinate, `GROUND` of those that are not free.
    places: Vec<usize>,
    /// The place of the next one inward.
    inward: Vec<usize>,
    /// L by places; its diagonal inverted.
    lower: Matrix,
    isa: Isa,
}

impl MassFactor {
    /// For a tree, some coordinates of which may be `prescribed`.
    pub(super) fn new(m: &Mechanism, prescribed: &[bool]) -> Self {
        let mut order = Vec::with_capacity(prescribed.len());
        let mut inward = Vec::with_capacity(prescribed.len());
        let mut places = vec![GROUND; prescribed.len()];
        let mut last = vec![GROUND; m.links().len()];
        for e in m.forest().edges() {
            let mut at = last[e.inner.index()];
            for c in m.velocity_range(e.joint).filter(|c| !prescribed[*c]) {
                inward.push(at);
                at = order.len();
                places[c] = at;
                order.push(c);
            }
            last[e.outer.index()] = at;
        }
        let lower = Matrix::zeros(order.len(), order.len());
        Self { order, places, inward, lower, isa: Isa::detect() }
    }

    /// Free coordinates, in the order of rows.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The row of a free coordinate.
    pub(super) fn place(&self, coordinate: usize) -> usize {
        self.places[coordinate]
    }

    /// Numbers in L.
    pub(super) fn entries(&self) -> usize {
        (0..self.order.len()).map(|i| 1 + path(&self.inward, i).count()).sum()
    }

    /// Factors the mass of all coordinates; false if it is not positive.
    pub(super) fn factor(&mut self, mass: &Matrix) -> bool {
        let Self { order, inward, lower, .. } = self;
        for i in 0..order.len() {
            lower[(i, i)] = mass[(order[i], order[i])];
            for j in path(inward, i) {
                lower[(i, j)] = mass[(order[i], order[j])];
            }
        }
        for k in (0..order.len()).rev() {
            let pivot = lower[(k, k)];
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            let inverse = 1.0 / pivot.sqrt();
            lower[(k, k)] = inverse;
            for i in path(inward, k) {
                lower[(k, i)] *= inverse;
            }
            for i in path(inward, k) {
                let own = lower[(k, i)];
                lower[(i, i)] -= own * own;
                for j in path(inward, i) {
                    let other = lower[(k, j)];
                    lower[(i, j)] -= own * other;
                }
            }
        }
        true
    }

    /// M⁻¹ by the columns of `x`, in their place; row i belongs to the coordinate at place i.
    pub(super) fn solve(&self, x: &mut Rows) {
        self.isa.run(Solve { of: self, x });
    }
}

/// Places inward of one, the nearest first.
fn path(inward: &[usize], i: usize) -> impl Iterator<Item = usize> {
    core::iter::successors(inward.get(i), |j| inward.get(**j)).copied().filter(|j| *j != GROUND)
}

struct Solve<'a> {
    of: &'a MassFactor,
    x: &'a mut Rows,
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { of, x } = self;
        let width = x.width();
        let x = x.as_mut_slice();
        let mut at = 0;
        while at < width {
            at += match width - at {
                1 => solve_groups::<L, 1>(l, of, x, width, at),
                2 => solve_groups::<L, 2>(l, of, x, width, at),
                3 => solve_groups::<L, 3>(l, of, x, width, at),
                4 => solve_groups::<L, 4>(l, of, x, width, at),
                5 => solve_groups::<L, 5>(l, of, x, width, at),
                6 => solve_groups::<L, 6>(l, of, x, width, at),
                7 => solve_groups::<L, 7>(l, of, x, width, at),
                _ => solve_groups::<L, 8>(l, of, x, width, at),
            };
        }
    }
}

/// The columns in N groups from group `at` on; N. What belongs to a coordinate stays in registers
/// while its path is walked.
#[inline(always)]
fn solve_groups<L: Arithmetic, const N: usize>(
    l: L,
    of: &MassFactor,
    x: &mut [Lanes],
    width: usize,
    at: usize,
) -> usize {
    let MassFactor { order, inward, lower, .. } = of;
    // Lᵀ y = b from the leaves on.
    for i in (0..order.len()).rev() {
        let (diagonal, row) = (l.splat(lower[(i, i)]), &mut x[i * width + at..][..N]);
        let own: [Wide<L>; N] = from_fn(|g| (l.load(&row[g]) * diagonal).rounded());
        row.iter_mut().zip(&own).for_each(|(x, own)| *x = own.store());
        let mut j = inward[i];
        while j != GROUND {
            let (s, row) = (l.splat(lower[(i, j)]), &mut x[j * width + at..][..N]);
            for g in 0..N {
                row[g] = (l.load(&row[g]) - s * own[g]).store();
            }
            j = inward[j];
        }
    }
    // L x = y from the ground on.
    for i in 0..order.len() {
        let mut own: [Wide<L>; N] = from_fn(|g| l.load(&x[i * width + at + g]));
        let mut j = inward[i];
        while j != GROUND {
            let (s, row) = (l.splat(lower[(i, j)]), &x[j * width + at..][..N]);
            for g in 0..N {
                own[g] -= s * l.load(&row[g]);
            }
            j = inward[j];
        }
        let diagonal = l.splat(lower[(i, i)]);
        let row = &mut x[i * width + at..][..N];
        row.iter_mut().zip(own).for_each(|(x, own)| *x = (own * diagonal).store());
    }
    N
}

#[cfg(test)]
mod tests {
    use forks_dynamics::tree::{CrbaWorkspace, Tree, crba};
    use forks_testkit::{RandomMechanismOptions, Rng, random_mechanism};

    use super::*;

    /// Random trees with some coordinates held: the mass by the solution is the right side.
    #[test]
    fn solutions_of_branched_trees_fulfil_their_equations() {
        let mut rng = Rng::new(5);
        for seed in 0..100 {
            let options = RandomMechanismOptions { extra_loops: 0, ..Default::default() };
            let m = random_mechanism(seed, &options);
            let (tree, n) = (Tree::new(&m), m.tree_velocity_count());
            let mut mass = Matrix::zeros(n, n);
            crba(&tree, &mut CrbaWorkspace::new(&tree), &m.start_positions(), &mut mass);
            let prescribed: Vec<bool> = (0..n).map(|_| rng.chance(0.3)).collect();
            let mut factor = MassFactor::new(&m, &prescribed);
            assert!(factor.factor(&mass), "{seed}");
            let (free, columns) = (factor.order().to_vec(), 1 + rng.index(9));
            assert_eq!(free.len(), prescribed.iter().filter(|p| !**p).count());
            let right = Matrix::from_fn(free.len(), columns, |_, _| rng.symmetric());
            let mut x = Rows::from_fn(free.len(), columns, |i, j| right[(i, j)]);
            factor.solve(&mut x);
            for j in 0..columns {
                let largest = (0..free.len()).fold(1.0f64, |s, i| s.max(x.get(i, j).abs()));
                for i in 0..free.len() {
                    let terms = (0..free.len()).map(|k| mass[(free[i], free[k])] * x.get(k, j));
                    let error = (terms.sum::<f64>() - right[(i, j)]).abs();
                    // Backward errors of factors: n² ε of the matrix by the solution.
                    let n = free.len() as f64;
                    let bound = 8.0 * n * n * f64::EPSILON * mass.max_abs() * largest;
                    assert!(error <= bound, "{seed}: {error:e} {bound:e}");
                }
            }
            let (i, j) = (rng.index(n), rng.index(n));
            mass[(i, i)] = -1.0;
            assert_eq!(factor.factor(&mass), prescribed[i], "{seed}, {j}");
        }
    }
}
