//! Equations M_SS x = r of one matrix M for sets S that change a little from one to the next.
//!
//! M_BB = UᵀU is factored for a set B and kept. For another set the variables P that joined and
//! multipliers μ of those, D, that left are a border:
//!
//! ```text
//! M_BB  M_BP  E_D   x_B   r_B
//! M_PB  M_PP   0    x_P = r_P
//! E_Dᵀ   0     0     μ     0
//! ```
//!
//! With W = U⁻ᵀ (M_BP, E_D) what is left is (diag(M_PP, 0) − WᵀW) (x_P, μ) = (r_P, 0) − Wᵀ U⁻ᵀ r_B,
//! positive definite in x_P and negative definite in μ, so that it has factors L D Lᵀ without
//! exchanges (Vanderbei, "Symmetric quasidefinite matrices", SIAM Journal on Optimization 5, 1995).
//! A border of k columns costs k |B|² / 2, new factors |B|³ / 6.

use forks_rom::linalg::{
    Matrix,
    simd::{Arithmetic, Isa, Kernel, LANES, Lanes, Rows, add_rows, cholesky_of_rows, dot_lanes},
};

/// Not in the set that was factored.
const OUTSIDE: usize = usize::MAX;

/// Solves for sets; remembers the factors of one of them.
#[derive(Clone, Debug)]
pub(crate) struct ActiveSystem {
    /// B, increasing, and the place of every variable in it; whether it has factors.
    base: Vec<usize>,
    place: Vec<usize>,
    known: bool,
    /// U; left of the diagonal zeros within its lane group.
    factor: Rows,
    /// P, and the places of D in B.
    joined: Vec<usize>,
    left: Vec<usize>,
    /// Wᵀ, a row per column of the border.
    border: Rows,
    /// r_B, then x_B.
    right: Vec<Lanes>,
    /// What is left: its matrix, lower triangle, and its right side.
    schur: Vec<f64>,
    rest: Vec<f64>,
    isa: Isa,
}

/// Columns of a border at most, for a set of n variables: with an eighth of its size a border takes
/// three eighths of the operations of new factors.
fn most(n: usize) -> usize {
    n / 8 + 4
}

impl ActiveSystem {
    /// Of n variables.
    pub(crate) fn new(n: usize) -> Self {
        let most = most(n);
        Self {
            base: Vec::with_capacity(n),
            place: vec![OUTSIDE; n],
            known: false,
            factor: Rows::zeros(n, n),
            joined: Vec::with_capacity(n),
            left: Vec::with_capacity(n),
            border: Rows::zeros(most, n),
            right: Vec::with_capacity(n.div_ceil(LANES)),
            schur: vec![0.0; most * most],
            rest: vec![0.0; most],
            isa: Isa::detect(),
        }
    }

    /// Forgets the factors: the matrix has changed.
    pub(crate) fn forget(&mut self) {
        self.known = false;
    }

    /// Solves for an increasing set; `right` and `out` are vectors of all variables, of which those
    /// of the set count and are written. False if the matrix is not positive definite or numbers
    /// are not finite. Allocates nothing.
    pub(crate) fn solve(
        &mut self,
        set: &[usize],
        matrix: &Matrix,
        right: &[f64],
        out: &mut [f64],
    ) -> bool {
        if self.known && self.compare(set) && self.solve_bordered(matrix, right, out) {
            return true;
        }
        self.factor(set, matrix) && self.compare(set) && self.solve_bordered(matrix, right, out)
    }

    /// What joined and left the set that was factored; false if these are too many.
    fn compare(&mut self, set: &[usize]) -> bool {
        self.joined.clear();
        self.left.clear();
        self.joined.extend(set.iter().copied().filter(|&i| self.place[i] == OUTSIDE));
        let mut rest = set.iter().copied().filter(|&i| self.place[i] != OUTSIDE).peekable();
        for (p, &b) in self.base.iter().enumerate() {
            if rest.next_if_eq(&b).is_none() {
                self.left.push(p);
            }
        }
        self.joined.len() + self.left.len() <= most(self.base.len())
    }

    fn factor(&mut self, set: &[usize], matrix: &Matrix) -> bool {
        let n = set.len();
        self.base.clear();
        self.base.extend_from_slice(set);
        self.place.fill(OUTSIDE);
        set.iter().enumerate().for_each(|(p, &i)| self.place[i] = p);
        self.factor.reset(n, n);
        for (p, &i) in set.iter().enumerate() {
            let row = matrix.row(i);
            set[p..].iter().enumerate().for_each(|(q, &j)| self.factor.set(p, p + q, row[j]));
        }
        self.known = self.isa.run(Factor { n, rows: &mut self.factor });
        self.known
    }

    fn solve_bordered(&mut self, matrix: &Matrix, right: &[f64], out: &mut [f64]) -> bool {
        let (n, k, p) = (self.base.len(), self.joined.len() + self.left.len(), self.joined.len());
        self.border.reset(k, n);
        for (c, &j) in self.joined.iter().enumerate() {
            let row = matrix.row(j);
            self.base.iter().enumerate().for_each(|(q, &b)| self.border.set(c, q, row[b]));
        }
        self.right.clear();
        self.right.resize(n.div_ceil(LANES), Lanes::default());
        for (q, &b) in self.base.iter().enumerate() {
            self.right[q / LANES][q % LANES] = right[b];
        }
        for (c, &q) in self.left.iter().enumerate() {
            self.border.set(p + c, q, 1.0);
            self.right[q / LANES][q % LANES] = 0.0;
        }
        self.schur[..k * k].fill(0.0);
        self.rest[..k].fill(0.0);
        for (a, &i) in self.joined.iter().enumerate() {
            self.rest[a] = right[i];
            for (b, &j) in self.joined[..=a].iter().enumerate() {
                self.schur[a * k + b] = matrix.row(i)[j];
            }
        }
        let solved = self.isa.run(Bordered {
            n,
            k,
            factor: &self.factor,
            border: &mut self.border,
            right: &mut self.right,
            schur: &mut self.schur[..k * k],
            rest: &mut self.rest[..k],
        });
        for (q, &b) in self.base.iter().enumerate() {
            out[b] = self.right[q / LANES][q % LANES];
        }
        self.left.iter().for_each(|&q| out[self.base[q]] = 0.0);
        self.joined.iter().zip(&self.rest).for_each(|(&i, x)| out[i] = *x);
        solved
            && self
                .right
                .iter()
                .flat_map(|x| x.0)
                .chain(self.rest[..k].iter().copied())
                .all(f64::is_finite)
    }
}

struct Factor<'a> {
    n: usize,
    rows: &'a mut Rows,
}

impl Kernel for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        if cholesky_of_rows(l, self.n, self.rows).is_err() {
            return false;
        }
        for p in 0..self.n {
            let group = &mut self.rows.row_mut(p)[p / LANES];
            (0..p % LANES).for_each(|k| group[k] = 0.0);
        }
        true
    }
}

struct Bordered<'a> {
    n: usize,
    k: usize,
    factor: &'a Rows,
    border: &'a mut Rows,
    right: &'a mut [Lanes],
    schur: &'a mut [f64],
    rest: &'a mut [f64],
}

impl Kernel for Bordered<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let Self { n, k, factor, border, right, schur, rest } = self;
        // W and U⁻ᵀ r_B.
        for p in 0..n {
            let (first, lane) = (p / LANES, p % LANES);
            let row = &factor.row(p)[first..];
            for c in 0..k {
                forward(l, row, lane, &mut border.row_mut(c)[first..]);
            }
            forward(l, row, lane, &mut right[first..]);
        }
        for a in 0..k {
            let own = border.row(a);
            rest[a] -= dot_lanes(l, own, right);
            for b in 0..=a {
                schur[a * k + b] -= dot_lanes(l, own, border.row(b));
            }
        }
        if !solve_quasidefinite(k, schur, rest) {
            return false;
        }
        for (c, x) in rest.iter().enumerate() {
            add_rows(l, &[-x], border.row(c), right.len(), right);
        }
        for p in (0..n).rev() {
            let (first, lane) = (p / LANES, p % LANES);
            let row = &factor.row(p)[first..];
            let own = core::mem::take(&mut right[first][lane]);
            right[first][lane] = (own - dot_lanes(l, row, &right[first..])) / row[0][lane];
        }
        true
    }
}

/// One row of U out of a right side.
#[inline(always)]
fn forward<L: Arithmetic>(l: L, row: &[Lanes], lane: usize, x: &mut [Lanes]) {
    let y = x[0][lane] / row[0][lane];
    // Columns of a border begin with zeros.
    if y != 0.0 {
        add_rows(l, &[-y], row, row.len(), x);
        x[0][lane] = y;
    }
}

/// The solution in place of the right side, by L D Lᵀ without exchanges; the lower triangle of `a`
/// counts and is used up. False where a pivot is zero.
fn solve_quasidefinite(n: usize, a: &mut [f64], x: &mut [f64]) -> bool {
    for j in 0..n {
        let pivot = a[j * n + j];
        if pivot == 0.0 {
            return false;
        }
        for i in j + 1..n {
            let factor = a[i * n + j] / pivot;
            for k in i..n {
                a[k * n + i] -= factor * a[k * n + j];
            }
            x[i] -= factor * x[j];
        }
    }
    // Columns of a are those of L D.
    for j in (0..n).rev() {
        let later: f64 = (j + 1..n).map(|i| a[i * n + j] * x[i]).sum();
        x[j] = (x[j] - later) / a[j * n + j];
    }
    true
}

#[cfg(test)]
mod tests {
    use forks_rom::linalg::Pivots;

    use super::*;

    /// A positive definite matrix of decaying couplings, different for every seed.
    fn matrix(n: usize, seed: usize) -> Matrix {
        let wave = |i: usize, j: usize| ((i * 37 + j * 91 + seed * 53) as f64).sin();
        let a = Matrix::from_fn(n, n, wave);
        let mut m = a.mul(&a.transpose());
        (0..n).for_each(|i| m[(i, i)] += 0.1);
        m
    }

    /// Sets that grow, shrink and jump: each solution is that of new factors.
    #[test]
    fn sets_that_change_are_solved_as_if_they_were_new() {
        for n in [1, 2, 5, 16, 61] {
            let m = matrix(n, n);
            let right: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).cos()).collect();
            let mut kept = ActiveSystem::new(n);
            for turn in 0usize..60 {
                // Mostly a variable or two more or less, at times another set altogether.
                let member = |i: usize| match turn % 20 {
                    19 => i.is_multiple_of(3),
                    t => (i + t / 2) % 5 != 1 && i != t && (i * 7 + 3) % n.max(2) != t % 7,
                };
                let set: Vec<usize> = (0..n).filter(|&i| member(i)).collect();
                let mut found = vec![0.0; n];
                assert!(kept.solve(&set, &m, &right, &mut found));
                let own = Matrix::from_fn(set.len(), set.len(), |i, j| m[(set[i], set[j])]);
                let b = Matrix::from_fn(set.len(), 1, |i, _| right[set[i]]);
                let expected = own.solve(&b, Pivots::AboveLargest(1e-14)).unwrap();
                let size = expected.max_abs().max(1.0);
                for (k, &i) in set.iter().enumerate() {
                    let error = (found[i] - expected[(k, 0)]).abs();
                    // Conditions of M reach 1e4.
                    assert!(error < 1e-10 * size, "{n}, {turn}: {error:e}");
                }
                let outside = |i: &usize| !set.contains(i);
                assert!((0..n).filter(outside).all(|i| found[i] == 0.0), "{n}, {turn}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_or_finite_is_refused() {
        let mut m = matrix(4, 1);
        let mut out = vec![0.0; 4];
        let mut s = ActiveSystem::new(4);
        assert!(s.solve(&[0, 1], &m, &[1.0; 4], &mut out));
        assert!(!s.solve(&[0, 1], &m, &[f64::NAN; 4], &mut out));
        m[(2, 2)] = -1.0;
        assert!(!s.solve(&[0, 1, 2, 3], &m, &[f64::INFINITY; 4], &mut out));
        s.forget();
        assert!(!s.solve(&[0, 1, 2], &m, &[1.0; 4], &mut out));
        assert!(s.solve(&[], &m, &[1.0; 4], &mut out));
    }
}
