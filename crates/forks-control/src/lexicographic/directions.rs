//! Directions that rows leave free.

use super::reflectors::{Reflectors, axpy, dot};

/// Orthonormal directions; at first all of them, the axes.
#[derive(Clone, Debug, Default)]
pub(super) struct Directions {
    unknowns: usize,
    /// True while they are the axes, and `vectors` is not written.
    all: bool,
    vectors: Vec<f64>,
    sums: Vec<f64>,
}

impl Directions {
    /// All directions.
    pub(super) fn start(&mut self, unknowns: usize) {
        self.unknowns = unknowns;
        self.all = true;
        self.vectors.clear();
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> [(usize, usize); 2] {
        [&self.vectors, &self.sums].map(|v| (v.as_ptr() as usize, v.capacity()))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self.all {
            true => self.unknowns,
            false => self.vectors.len().checked_div(self.unknowns).unwrap_or(0),
        }
    }

    /// Appends the coordinates of a row.
    pub(super) fn see(&self, row: &[f64], out: &mut Vec<f64>) {
        match self.all {
            true => out.extend_from_slice(row),
            false => out.extend(self.vectors.chunks_exact(row.len().max(1)).map(|v| dot(v, row))),
        }
    }

    /// Adds the step of some coordinates.
    pub(super) fn step(&self, coordinates: &[f64], out: &mut [f64]) {
        if self.all {
            out.iter_mut().zip(coordinates).for_each(|(o, c)| *o += c);
            return;
        }
        for (c, v) in coordinates.iter().zip(self.vectors.chunks_exact(out.len().max(1))) {
            axpy(*c, v, out);
        }
    }

    /// Takes those away that reflections put first.
    pub(super) fn take(&mut self, rows: &Reflectors) {
        let n = self.unknowns;
        if rows.count() == 0 {
            return;
        }
        if self.all {
            self.all = false;
            self.vectors.resize(n * n, 0.0);
            (0..n).for_each(|i| self.vectors[i * n + i] = 1.0);
        }
        rows.turn_columns(n, &mut self.vectors, &mut self.sums);
        self.vectors.drain(..rows.count() * n);
    }
}
