//! Directions that rows leave free.

use super::reflectors::{Reflectors, axpy, dot};

/// Orthonormal directions: the last columns of a product of reflections, all of them at first.
///
/// As long as few rows are looked at, reflections are done one after the other; for many rows the
/// directions are written out.
#[derive(Clone, Debug, Default)]
pub(super) struct Directions {
    unknowns: usize,
    taken: Reflectors,
    /// True once the directions are `vectors`.
    written: bool,
    vectors: Vec<f64>,
    sums: Vec<f64>,
    turned: Vec<f64>,
}

impl Directions {
    /// All directions.
    pub(super) fn start(&mut self, unknowns: usize) {
        self.unknowns = unknowns;
        self.taken.clear(unknowns);
        self.written = false;
        self.vectors.clear();
        self.turned.clear();
        self.turned.resize(unknowns, 0.0);
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> [(usize, usize); 4] {
        let own = [&self.vectors, &self.sums, &self.turned];
        let [a, b, c] = own.map(|v| (v.as_ptr() as usize, v.capacity()));
        [a, b, c, self.taken.memory()]
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self.written {
            true => self.vectors.len().checked_div(self.unknowns).unwrap_or(0),
            false => self.unknowns - self.taken.count(),
        }
    }

    /// Before so many rows are looked at: writing a direction out takes as long as turning a row.
    pub(super) fn prepare(&mut self, rows: usize) {
        let (n, count) = (self.unknowns, self.count());
        if self.written || self.taken.count() == 0 || rows <= count {
            return;
        }
        self.written = true;
        self.vectors.resize(count * n, 0.0);
        for (k, v) in self.vectors.chunks_exact_mut(n).enumerate() {
            v[n - count + k] = 1.0;
            self.taken.turn_back(v);
        }
    }

    /// Appends the coordinates of a row, of which numbers from a place on are given; the others are
    /// zero.
    pub(super) fn see(&mut self, (part, first): (&[f64], usize), out: &mut Vec<f64>) {
        let n = self.unknowns.max(1);
        if self.written {
            let vectors = self.vectors.chunks_exact(n);
            match part {
                [one] => out.extend(vectors.map(|v| one * v[first])),
                _ => out.extend(vectors.map(|v| dot(&v[first..first + part.len()], part))),
            }
            return;
        }
        self.turned.fill(0.0);
        self.turned[first..first + part.len()].copy_from_slice(part);
        self.taken.turn(&mut self.turned);
        out.extend_from_slice(&self.turned[self.taken.count()..]);
    }

    /// Adds the step of some coordinates.
    pub(super) fn step(&mut self, coordinates: &[f64], out: &mut [f64]) {
        if self.written {
            for (c, v) in coordinates.iter().zip(self.vectors.chunks_exact(out.len().max(1))) {
                axpy(*c, v, out);
            }
            return;
        }
        let count = self.taken.count();
        self.turned[..count].fill(0.0);
        self.turned[count..].copy_from_slice(coordinates);
        self.taken.turn_back(&mut self.turned);
        out.iter_mut().zip(&self.turned).for_each(|(o, t)| *o += t);
    }

    /// Takes those away that reflections of their coordinates put first.
    pub(super) fn take(&mut self, rows: &Reflectors) {
        if self.written {
            rows.turn_columns(self.unknowns, &mut self.vectors, &mut self.sums);
            self.vectors.drain(..rows.count() * self.unknowns);
        } else {
            self.taken.append(rows);
        }
    }
}
