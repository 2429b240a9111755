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
//!
//! Columns of W and their products are kept as long as the factors are, also of variables that came
//! back: a set that was nearly seen before costs |B|² / 2 for U⁻¹ alone. A new column costs
//! |B|² / 2, eight of them side by side; new factors |B|³ / 6.

use forks_rom::linalg::{
    Matrix,
    simd::{Isa, LANES, Lanes, Rows},
};

use crate::bordered::{Backward, Factor, Forward, Multiply, solve_quasidefinite};

/// Not in the set that was factored; without a column.
const OUTSIDE: usize = usize::MAX;
/// Right sides that are solved for together.
const TOGETHER: usize = 2 * LANES;

/// Solves for sets; remembers the factors of one of them and the border of others.
#[derive(Clone, Debug)]
pub(crate) struct ActiveSystem {
    /// B, increasing, and the place of every variable in it; whether it has factors.
    base: Vec<usize>,
    place: Vec<usize>,
    known: bool,
    /// U; left of the diagonal zeros within its lane group. And 1 over its diagonal.
    factor: Rows,
    inverse: Vec<f64>,
    /// Variables whose columns are known, and which column a variable has.
    columns: Vec<usize>,
    column: Vec<usize>,
    /// Wᵀ, a row per column; their products, the lower triangle of what is left in rows of `most`.
    border: Rows,
    products: Vec<f64>,
    /// r_B, U⁻ᵀ r_B and Wᵀ U⁻ᵀ r_B.
    right: Vec<f64>,
    forward: Vec<Lanes>,
    seen: Vec<f64>,
    /// P, then D of the set that is asked for, and how many are P.
    changed: Vec<usize>,
    joined: usize,
    /// What is left: its matrix, upper triangle, and its right side.
    schur: Vec<f64>,
    rest: Vec<f64>,
    /// x_B.
    back: Vec<Lanes>,
    /// Columns that stay.
    stay: Vec<usize>,
    /// Right sides side by side.
    beside: Vec<[Lanes; 2]>,
    isa: Isa,
}

/// Columns of a border at most, for a set of n variables: many enough that new factors are rare,
/// few enough that what is left stays small beside them.
fn most(n: usize) -> usize {
    n / 5 + 4
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
            inverse: Vec::with_capacity(n),
            columns: Vec::with_capacity(most),
            column: vec![OUTSIDE; n],
            border: Rows::zeros(most, n),
            products: vec![0.0; most * most],
            right: Vec::with_capacity(n),
            forward: Vec::with_capacity(n.div_ceil(LANES)),
            seen: vec![0.0; most],
            changed: Vec::with_capacity(n),
            joined: 0,
            schur: vec![0.0; most * most],
            rest: vec![0.0; most],
            back: Vec::with_capacity(n.div_ceil(LANES)),
            stay: Vec::with_capacity(most),
            beside: Vec::with_capacity(n),
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
        let near = self.known && self.compare(set);
        if near && self.solve_bordered(matrix, right, out) {
            return true;
        }
        self.known = self.factor(set, matrix)
            && self.compare(set)
            && self.solve_bordered(matrix, right, out);
        self.known
    }

    /// What joined and left the set that was factored; false if these are too many.
    fn compare(&mut self, set: &[usize]) -> bool {
        self.changed.clear();
        self.changed.extend(set.iter().copied().filter(|&i| self.place[i] == OUTSIDE));
        self.joined = self.changed.len();
        let mut rest = set.iter().copied().filter(|&i| self.place[i] != OUTSIDE).peekable();
        for &b in &self.base {
            if rest.next_if_eq(&b).is_none() {
                self.changed.push(b);
            }
        }
        self.changed.len() <= most(self.base.len())
    }

    fn factor(&mut self, set: &[usize], matrix: &Matrix) -> bool {
        let n = set.len();
        self.base.clear();
        self.base.extend_from_slice(set);
        self.place.fill(OUTSIDE);
        set.iter().enumerate().for_each(|(p, &i)| self.place[i] = p);
        self.columns.clear();
        self.column.fill(OUTSIDE);
        self.border.reset(most(n), n);
        self.right.clear();
        self.forward.clear();
        self.factor.reset(n, n);
        for (p, &i) in set.iter().enumerate() {
            let (row, to) = (matrix.row(i), self.factor.row_mut(p));
            for (q, &j) in set[p..].iter().enumerate() {
                to[(p + q) / LANES][(p + q) % LANES] = row[j];
            }
        }
        self.inverse.clear();
        self.inverse.resize(n, 0.0);
        self.isa.run(Factor { n, rows: &mut self.factor, inverse: &mut self.inverse })
    }

    fn solve_bordered(&mut self, matrix: &Matrix, right: &[f64], out: &mut [f64]) -> bool {
        let anew = self.take(right);
        self.make_room();
        self.extend(matrix, anew);
        let (k, most) = (self.changed.len(), most(self.base.len()));
        for (a, &i) in self.changed.iter().enumerate() {
            let c = self.column[i];
            let own = if a < self.joined { right[i] } else { 0.0 };
            self.rest[a] = own - self.seen[c];
            for (b, &j) in self.changed.iter().enumerate().skip(a) {
                let d = self.column[j];
                self.schur[a * k + b] = self.products[c.max(d) * most + c.min(d)];
            }
        }
        if !solve_quasidefinite(k, &mut self.schur[..k * k], &mut self.rest[..k]) {
            return false;
        }
        self.back.clear();
        self.back.extend_from_slice(&self.forward);
        self.isa.run(Backward {
            factor: &self.factor,
            inverse: &self.inverse,
            border: (&self.border, &self.changed, &self.column, &self.rest),
            x: &mut self.back,
        });
        for (q, &b) in self.base.iter().enumerate() {
            out[b] = self.back[q / LANES][q % LANES];
        }
        let (joined, left) = self.changed.split_at(self.joined);
        joined.iter().zip(&self.rest).for_each(|(&i, x)| out[i] = *x);
        left.iter().for_each(|&i| out[i] = 0.0);
        self.back.iter().flat_map(|x| x.0).chain(self.rest[..k].iter().copied()).all(f64::is_finite)
    }

    /// Takes r_B; true if it is another one. What it is of those that left does not matter.
    fn take(&mut self, right: &[f64]) -> bool {
        let Self { base, right: own, changed, joined, .. } = self;
        let mut left = changed[*joined..].iter().peekable();
        let mut same =
            |(b, own): (&usize, &f64)| left.next_if_eq(&b).is_some() || right[*b] == *own;
        if own.len() == base.len() && base.iter().zip(own.iter()).all(&mut same) {
            return false;
        }
        let mut left = changed[*joined..].iter().peekable();
        own.clear();
        own.extend(
            base.iter().map(|b| if left.next_if_eq(&b).is_some() { 0.0 } else { right[*b] }),
        );
        true
    }

    /// Makes room for the columns that are missing: others that are not asked for go.
    fn make_room(&mut self) {
        let Self { changed, columns, column, border, products, seen, stay, base, .. } = self;
        let missing = changed.iter().filter(|i| column[**i] == OUTSIDE).count();
        let most = most(base.len());
        if columns.len() + missing <= most {
            return;
        }
        stay.clear();
        stay.extend((0..columns.len()).filter(|c| changed.contains(&columns[*c])));
        columns.iter().for_each(|i| column[*i] = OUTSIDE);
        let width = border.width();
        for (a, &c) in stay.iter().enumerate() {
            (columns[a], seen[a]) = (columns[c], seen[c]);
            column[columns[a]] = a;
            border.as_mut_slice().copy_within(c * width..(c + 1) * width, a * width);
            // Columns only move forward: nothing is overwritten that is still to be read.
            for (b, &d) in stay[..=a].iter().enumerate() {
                products[a * most + b] = products[c * most + d];
            }
        }
        columns.truncate(stay.len());
    }

    /// Finds the columns that are missing, and U⁻ᵀ r_B anew if it is another one.
    fn extend(&mut self, matrix: &Matrix, anew: bool) {
        let (n, most, first) = (self.base.len(), most(self.base.len()), self.columns.len());
        for &i in &self.changed {
            if self.column[i] == OUTSIDE {
                self.column[i] = self.columns.len();
                self.columns.push(i);
            }
        }
        let (count, mut done) = (self.columns.len() - first, 0);
        if anew {
            self.forward.clear();
            self.forward.resize(n.div_ceil(LANES), Lanes::default());
        }
        let all = count + usize::from(anew);
        while done < all {
            let now = (all - done).min(TOGETHER);
            self.beside.clear();
            self.beside.resize(n, [Lanes::default(); 2]);
            for j in 0..now {
                let (group, lane) = (j / LANES, j % LANES);
                match self.columns.get(first + done + j) {
                    Some(&i) if self.place[i] == OUTSIDE => {
                        let row = matrix.row(i);
                        for (x, b) in self.beside.iter_mut().zip(&self.base) {
                            x[group][lane] = row[*b];
                        }
                    }
                    Some(&i) => self.beside[self.place[i]][group][lane] = 1.0,
                    None => {
                        for (x, r) in self.beside.iter_mut().zip(&self.right) {
                            x[group][lane] = *r;
                        }
                    }
                }
            }
            let (factor, inverse, x) = (&self.factor, &self.inverse[..], &mut self.beside[..]);
            match now <= LANES {
                true => self.isa.run(Forward::<1> { factor, inverse, x }),
                false => self.isa.run(Forward::<2> { factor, inverse, x }),
            }
            for j in 0..now {
                let (group, lane) = (j / LANES, j % LANES);
                let to = match done + j < count {
                    true => self.border.row_mut(first + done + j),
                    false => &mut self.forward[..],
                };
                for (to, four) in to.iter_mut().zip(self.beside.chunks(LANES)) {
                    to.iter_mut().zip(four).for_each(|(to, x)| *to = x[group][lane]);
                }
            }
            done += now;
        }
        for c in first..self.columns.len() {
            let i = self.columns[c];
            for (d, &j) in self.columns[..=c].iter().enumerate() {
                let both = self.place[i] == OUTSIDE && self.place[j] == OUTSIDE;
                self.products[c * most + d] = if both { matrix[(i, j)] } else { 0.0 };
            }
        }
        self.isa.run(Multiply {
            border: &self.border,
            forward: &self.forward,
            columns: (if anew { 0 } else { first }, first, self.columns.len()),
            products: (&mut self.products, most),
            seen: &mut self.seen,
        });
    }
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
        let mut dropped = 0;
        for n in [1, 2, 5, 16, 61, 130] {
            let m = matrix(n, n);
            let mut kept = ActiveSystem::new(n);
            for turn in 0usize..120 {
                // Mostly a variable or two more or less, at times another set altogether.
                let member = |i: usize| match turn % 20 {
                    19 => i.is_multiple_of(3),
                    t => {
                        (i + if i < 40 { t % 4 / 2 } else { 0 }) % 5 != 1
                            && i != t
                            && (i * 7 + 3) % n.max(2) != t % 7
                    }
                };
                let set: Vec<usize> = (0..n).filter(|&i| member(i)).collect();
                // The same right side for some sets, and another one for all or for one variable.
                let own = |i: usize| if i == turn % 7 { turn / 5 } else { turn / 3 };
                let right: Vec<f64> =
                    (0..n).map(|i| (i as f64 * 0.7 + own(i) as f64).cos()).collect();
                let mut found = vec![0.0; n];
                let before = kept.columns.len();
                assert!(kept.solve(&set, &m, &right, &mut found));
                dropped += usize::from(kept.columns.len() < before && !kept.columns.is_empty());
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
        // Columns had to make room for others while factors stayed.
        assert!(dropped > 0);
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
