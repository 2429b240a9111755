//! The safeguard of box problems: a primal active set, which ends whatever rounding does.
//!
//! From the least value on a face, the variable whose multiplier is most wrong is let go; steps
//! lead to the least value of the new face, and bounds in the way are added to it (Nocedal and
//! Wright, "Numerical Optimization", 16.5). Between two least values faces only lose free
//! variables, and a least value that is not below the last one in the numbers of the machine is
//! the end: there are finitely many.

use forks_rom::linalg::dot;

use crate::box_qp::{BoxQp, QpStatus, Side};

impl BoxQp {
    /// The least value by a primal active set from x on; multipliers of the wrong sign up to
    /// `force` are rounding.
    pub(crate) fn descend(
        &mut self,
        g: &[f64],
        (lower, upper): (&[f64], &[f64]),
        force: f64,
        most: usize,
        mut go_on: impl FnMut() -> bool,
    ) -> QpStatus {
        self.descents += 1;
        for (i, (x, side)) in self.x.iter_mut().zip(&mut self.sides).enumerate() {
            *x = x.clamp(lower[i], upper[i]);
            *side = match () {
                () if *x <= lower[i] => Side::Lower,
                () if *x >= upper[i] => Side::Upper,
                () => Side::Free,
            };
        }
        let mut least = f64::INFINITY;
        loop {
            // To the least value on this face, as far as it goes.
            self.differentiate(g);
            self.set.clear();
            self.set.extend((0..self.n).filter(|&i| self.sides[i] == Side::Free));
            self.set.iter().for_each(|&i| self.right[i] = -self.multipliers[i]);
            let step = &mut self.solution_of_free;
            step.fill(0.0);
            if !self.free.solve(&self.set, &self.h, &self.right, step) {
                return QpStatus::Cut;
            }
            self.pivots += 1;
            let (mut reach, mut first) = (1.0, None);
            for &i in &self.set {
                let (bound, side) =
                    if step[i] > 0.0 { (upper[i], Side::Upper) } else { (lower[i], Side::Lower) };
                let t = (bound - self.x[i]) / step[i];
                if step[i] != 0.0 && t < reach {
                    (reach, first) = (t.max(0.0), Some((i, bound, side)));
                }
            }
            for &i in &self.set {
                self.x[i] = (self.x[i] + reach * step[i]).clamp(lower[i], upper[i]);
            }
            if let Some((i, bound, side)) = first {
                (self.x[i], self.sides[i]) = (bound, side);
            }
            self.differentiate(g);
            if first.is_none() {
                // ½ xᵀ(Hx + 2g).
                let value: f64 = 0.5 * (dot(&self.x, &self.multipliers) + dot(&self.x, g));
                let wrong = |i: usize| match self.sides[i] {
                    Side::Lower if lower[i] < upper[i] => -self.multipliers[i],
                    Side::Upper if lower[i] < upper[i] => self.multipliers[i],
                    _ => 0.0,
                };
                let worst = (0..self.n).fold((force, None), |worst, i| match wrong(i) {
                    w if w > worst.0 => (w, Some(i)),
                    _ => worst,
                });
                match worst.1 {
                    Some(i) if value < least => self.sides[i] = Side::Free,
                    _ => {
                        self.set.iter().for_each(|&i| self.multipliers[i] = 0.0);
                        return QpStatus::Solved;
                    }
                }
                least = value;
            }
            if self.pivots >= most || !go_on() {
                return QpStatus::Cut;
            }
        }
    }

    /// Hx + g of all variables.
    fn differentiate(&mut self, g: &[f64]) {
        for (i, (y, g)) in self.multipliers.iter_mut().zip(g).enumerate() {
            *y = g + dot(self.h.row(i), &self.x);
        }
    }
}

#[cfg(test)]
mod tests {
    use forks_dynamics::mechanism::lie::SplitMix64;
    use forks_rom::linalg::Matrix;

    use super::*;

    /// A matrix whose condition is about `condition`.
    fn matrix(rng: &mut SplitMix64, n: usize, condition: f64) -> Matrix {
        let root = Matrix::from_fn(n, n, |_, j| {
            rng.range(-1.0, 1.0) * condition.powf(-0.5 * j as f64 / n as f64)
        });
        let mut h = root.mul(&root.transpose());
        let ridge = h.max_abs() / condition;
        (0..n).for_each(|i| h[(i, i)] += ridge);
        h
    }

    /// From any start the primal active set ends where block pivoting does.
    #[test]
    fn descent_from_anywhere_ends_at_the_optimum() {
        let mut rng = SplitMix64::new(3);
        for turn in 0..200 {
            let n = 1 + turn % 30;
            let mut qp = BoxQp::new(matrix(&mut rng, n, 1e3)).unwrap();
            let g: Vec<f64> = (0..n).map(|_| rng.range(-2.0, 2.0)).collect();
            let lower: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 0.5)).collect();
            let upper: Vec<f64> = lower.iter().map(|l| l + rng.range(0.0, 1.0)).collect();
            let most = 50 * n + 50;
            assert_eq!(qp.solve(&g, &lower, &upper, most, || true), QpStatus::Solved);
            let expected = qp.solution().to_vec();
            for (x, (l, u)) in qp.x.iter_mut().zip(lower.iter().zip(&upper)) {
                *x = if rng.range(0.0, 1.0) < 0.5 { *l } else { rng.range(*l, *u) };
            }
            let (force, before) = (qp.scale(&g).1, qp.descents);
            qp.pivots = 0;
            let status = qp.descend(&g, (&lower, &upper), force, most, || true);
            assert_eq!((status, qp.descents), (QpStatus::Solved, before + 1));
            for (a, b) in qp.solution().iter().zip(&expected) {
                assert!((a - b).abs() < 1e-9, "{turn}: {a} {b}");
            }
        }
    }

    /// Narrow boxes around the least of all, of matrices near singular: rounding decides about
    /// sides, and single changes do not settle.
    #[test]
    fn where_rounding_decides_about_sides_solves_end() {
        let mut rng = SplitMix64::new(7);
        let mut descents = 0;
        for turn in 0..200 {
            let (n, wide) = (10 + turn % 50, turn % 2 == 0);
            let condition = 10f64.powf(rng.range(6.0, 12.0));
            let h = matrix(&mut rng, n, condition);
            let x: Vec<f64> = (0..n).map(|_| rng.range(-1.0, 1.0)).collect();
            let g: Vec<f64> = (0..n).map(|i| -dot(h.row(i), &x)).collect();
            let (apart, width) = if wide { (1e-3, 1e-3) } else { (0.0, 1e-6) };
            let lower: Vec<f64> = x.iter().map(|x| x + rng.range(-apart, apart)).collect();
            let upper: Vec<f64> = lower.iter().map(|l| l + width).collect();
            let mut qp = BoxQp::new(h.clone()).unwrap();
            let status = qp.solve(&g, &lower, &upper, 100 * n, || true);
            assert_eq!(status, QpStatus::Solved, "{turn}: {} guesses", qp.pivots());
            // No number of x is known better than to κ ε.
            let size = 10.0 * condition * f64::EPSILON;
            let within = qp.x.iter().zip(lower.iter().zip(&upper));
            assert!(within.clone().all(|(x, (l, u))| l - size <= *x && *x <= u + size), "{turn}");
            let value =
                |x: &[f64]| -> f64 { (0..n).map(|i| x[i] * (0.5 * dot(h.row(i), x) + g[i])).sum() };
            // The rival: the primal active set alone, from a corner.
            let mut rival = BoxQp::new(h.clone()).unwrap();
            rival.x.copy_from_slice(&lower);
            let (force, most) = (qp.scale(&g).1, 1000 * n);
            let status = rival.descend(&g, (&lower, &upper), force, most, || true);
            assert_eq!(status, QpStatus::Solved, "{turn}");
            let (found, least) = (value(&qp.x), value(&rival.x));
            assert!(found - least < size * least.abs(), "{turn}: {found} {least}");
            descents += qp.descents;
        }
        assert!(descents > 50);
    }
}
