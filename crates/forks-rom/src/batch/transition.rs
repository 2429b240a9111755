//! The matrices of a step times the vectors of four instances: the operations of a single instance
//! in the same order.

use forks_linalg::simd::{Arithmetic, LANES, Lanes, Wide};

use super::step::replace;
use crate::transition::{Packed, Transition};

impl Transition {
    /// [`Transition::of_state`] for four instances: a lane group per coordinate and per result,
    /// without padding.
    #[inline(always)]
    pub(super) fn of_states<L: Arithmetic>(
        &self,
        l: L,
        velocity: &[Lanes],
        stretch: &[Lanes],
        out: &mut [Lanes],
    ) {
        let x = [velocity, stretch];
        for (group, first, rows) in self.row_groups(velocity.len()) {
            let out = &mut out[first..first + rows];
            match rows {
                1 => self.of_states_in::<L, 1>(l, group, x, out),
                2 => self.of_states_in::<L, 2>(l, group, x, out),
                3 => self.of_states_in::<L, 3>(l, group, x, out),
                _ => self.of_states_in::<L, LANES>(l, group, x, out),
            }
        }
    }

    #[inline(always)]
    fn of_states_in<L: Arithmetic, const ROWS: usize>(
        &self,
        l: L,
        group: usize,
        [velocity, stretch]: [&[Lanes]; 2],
        out: &mut [Lanes],
    ) {
        let start = core::array::from_fn(|i| l.splat(self.constant[group].0[i]));
        let a = self.velocity.rows_of_group::<L, ROWS>(l, group, velocity, start);
        let b = self.stretch.rows_of_group(l, group, stretch, [l.splat(0.0); ROWS]);
        for (out, (a, b)) in out.iter_mut().zip(a.into_iter().zip(b)) {
            *out = (a + b).store();
        }
    }

    /// Adds what forces give to the instances that have some.
    #[inline(always)]
    pub(super) fn add_forces<L: Arithmetic>(
        &self,
        l: L,
        force: &[Lanes],
        loaded: [bool; LANES],
        out: &mut [Lanes],
    ) {
        for (group, first, rows) in self.row_groups(force.len()) {
            let out = &mut out[first..first + rows];
            match rows {
                1 => self.add_forces_in::<L, 1>(l, group, force, loaded, out),
                2 => self.add_forces_in::<L, 2>(l, group, force, loaded, out),
                3 => self.add_forces_in::<L, 3>(l, group, force, loaded, out),
                _ => self.add_forces_in::<L, LANES>(l, group, force, loaded, out),
            }
        }
    }

    #[inline(always)]
    fn add_forces_in<L: Arithmetic, const ROWS: usize>(
        &self,
        l: L,
        group: usize,
        force: &[Lanes],
        loaded: [bool; LANES],
        out: &mut [Lanes],
    ) {
        let start = core::array::from_fn(|i| l.load(&out[i]));
        let sums = self.force.rows_of_group::<L, ROWS>(l, group, force, start);
        for (out, sum) in out.iter_mut().zip(sums) {
            replace(out, sum.store(), loaded);
        }
    }

    /// Every group of rows with the place of its first result and its number of rows.
    ///
    /// An iterator, since the body of a loop belongs to the kernel; a closure that is not inlined
    /// would be compiled without its instruction set, fifty times slower.
    #[inline(always)]
    fn row_groups(&self, n: usize) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let width = n.div_ceil(LANES).max(1);
        (0..self.constant.len()).map(move |group| {
            let (part, within) = (group / width, group % width);
            (group, part * n + within * LANES, (n - within * LANES).min(LANES))
        })
    }
}

impl Packed {
    /// start + a group of rows times four vectors, as [`Packed::row_group`] does for one.
    #[inline(always)]
    fn rows_of_group<L: Arithmetic, const ROWS: usize>(
        &self,
        l: L,
        group: usize,
        x: &[Lanes],
        start: [Wide<L>; ROWS],
    ) -> [Wide<L>; ROWS] {
        let (pairs, last_entry) = self.group(group).as_chunks::<2>();
        let (x, last) = x[..self.columns()].as_chunks::<2>();
        let (mut even, mut odd) = (start, [l.splat(0.0); ROWS]);
        for (a, x) in pairs.iter().zip(x) {
            let x = [l.load(&x[0]), l.load(&x[1])];
            for row in 0..ROWS {
                even[row] += l.splat(a[0].0[row]) * x[0];
                odd[row] += l.splat(a[1].0[row]) * x[1];
            }
        }
        if let ([a], [x]) = (last_entry, last) {
            let x = l.load(x);
            for row in 0..ROWS {
                even[row] += a.0[row] * x;
            }
        }
        core::array::from_fn(|row| even[row] + odd[row])
    }
}
