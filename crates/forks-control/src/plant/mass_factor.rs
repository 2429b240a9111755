//! M⁻¹ by many columns at once: M = LᵀL with the zeros that branches leave (Featherstone,
//! "Efficient factorization of the joint-space inertia matrix for branched kinematic trees", IJRR
//! 24, 2005).
//!
//! In an order in which coordinates come after those inward of them, row i of L has numbers at the
//! coordinates between i and the ground alone. Right sides stand side by side, four to a register.

use forks_dynamics::mechanism::{
    Mechanism,
    linalg::{
        Matrix,
        simd::{Arithmetic, Isa, Kernel, Lanes, Rows, add_rows},
    },
};

/// No coordinate inward.
const GROUND: usize = usize::MAX;

/// The factor of the mass of those coordinates that are free to move.
#[derive(Clone, Debug)]
pub(super) struct MassFactor {
    /// Free coordinates, inner ones first.
    order: Vec<usize>,
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
        let mut last = vec![GROUND; m.links().len()];
        for e in m.forest().edges() {
            let mut at = last[e.inner.index()];
            for c in m.velocity_range(e.joint).filter(|c| !prescribed[*c]) {
                inward.push(at);
                at = order.len();
                order.push(c);
            }
            last[e.outer.index()] = at;
        }
        let lower = Matrix::zeros(order.len(), order.len());
        Self { order, inward, lower, isa: Isa::detect() }
    }

    /// Free coordinates, in the order of rows.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
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
        let (MassFactor { order, inward, lower, .. }, x) = (self.of, self.x);
        // Lᵀ y = b from the leaves on.
        for i in (0..order.len()).rev() {
            scale(l, lower[(i, i)], x.row_mut(i));
            let mut j = inward[i];
            while j != GROUND {
                subtract(l, lower[(i, j)], x, i, j);
                j = inward[j];
            }
        }
        // L x = y from the ground on.
        for i in 0..order.len() {
            let mut j = inward[i];
            while j != GROUND {
                subtract(l, lower[(i, j)], x, j, i);
                j = inward[j];
            }
            scale(l, lower[(i, i)], x.row_mut(i));
        }
    }
}

/// Row `to` less s times row `from`.
#[inline(always)]
fn subtract<L: Arithmetic>(l: L, s: f64, x: &mut Rows, from: usize, to: usize) {
    let width = x.width();
    let (first, second) = x.as_mut_slice().split_at_mut(from.max(to) * width);
    let (first, second) = (&mut first[from.min(to) * width..][..width], &mut second[..width]);
    let (from, to) = if from < to { (first, second) } else { (second, first) };
    add_rows(l, &[-s], from, width, to);
}

#[inline(always)]
fn scale<L: Arithmetic>(l: L, s: f64, x: &mut [Lanes]) {
    let s = l.splat(s);
    for x in x {
        *x = (l.load(x) * s).store();
    }
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
