//! Directions that rows leave free.

use forks_dynamics::mechanism::linalg::simd::{
    Arithmetic, Isa, Kernel, LANES, Lanes, Rows, dot_lanes,
};

use super::{problem::Level, reflectors::Reflectors};

/// Orthonormal directions: the last columns of a product of reflections, all of them at first.
///
/// As long as few rows are looked at, reflections are done one after the other; for many rows the
/// directions are written out.
#[derive(Clone, Debug)]
pub(super) struct Directions {
    unknowns: usize,
    taken: Reflectors,
    /// How many directions are written out, row by row; the same as columns while they are.
    vectors: Option<usize>,
    written: Rows,
    columns: Rows,
    /// One vector.
    turned: Vec<f64>,
    padded: Rows,
    isa: Isa,
}

impl Default for Directions {
    fn default() -> Self {
        let [written, columns, padded] = [(); 3].map(|()| Rows::default());
        let (taken, turned) = (Reflectors::default(), Vec::new());
        let isa = Isa::detect();
        Self { unknowns: 0, taken, vectors: None, written, columns, turned, padded, isa }
    }
}

impl Directions {
    /// All directions.
    pub(super) fn start(&mut self, unknowns: usize) {
        self.unknowns = unknowns;
        self.taken.clear(unknowns);
        self.vectors = None;
        self.turned.clear();
        self.turned.resize(unknowns, 0.0);
        self.padded.reset(1, unknowns);
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> [(usize, usize); 5] {
        let rows = [&self.written, &self.columns, &self.padded];
        let [a, b, c] = rows.map(|r| (r.as_slice().as_ptr() as usize, 0));
        let turned = (self.turned.as_ptr() as usize, self.turned.capacity());
        [a, b, c, turned, self.taken.memory()]
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.vectors.unwrap_or(self.unknowns - self.taken.count())
    }

    /// Before so many rows are looked at: writing a direction out takes as long as turning a row.
    fn prepare(&mut self, rows: usize) {
        let (n, count) = (self.unknowns, self.count());
        if self.vectors.is_some() || self.taken.count() == 0 || rows <= count {
            return;
        }
        self.vectors = Some(count);
        self.columns.reset(n, count);
        (0..count).for_each(|k| self.columns.set(n - count + k, k, 1.0));
        self.taken.turn_columns_back(&mut self.columns);
        self.written.reset(count, n);
        for k in 0..count {
            let row = self.written.row_mut(k).iter_mut().flat_map(|x| &mut x.0);
            row.zip(self.columns.column(k)).for_each(|(to, x)| *to = x);
        }
    }

    /// Coordinates of all rows of a level, divided by their lengths, as columns.
    pub(super) fn see_all(&mut self, level: &Level, out: &mut Rows) {
        self.prepare(level.len());
        let Self { taken, vectors, written, padded, turned, isa, .. } = self;
        let Some(count) = *vectors else {
            out.reset(self.unknowns, level.len());
            for i in 0..level.len() {
                let ((part, first), over) = (level.part(i), 1.0 / level.length(i));
                out.write_column(i, first, part.iter().map(|x| x * over));
            }
            taken.turn_columns(out);
            out.drop_first(taken.count());
            return;
        };
        out.reset(count, level.len());
        for i in (0..level.len()).filter(|i| level.length(*i) > 0.0) {
            let ((part, first), over) = (level.part(i), 1.0 / level.length(i));
            if let [one] = part {
                let unit = one * over;
                out.write_column(i, 0, written.column(first).map(|x| unit * x));
            } else {
                fill(padded, part, first);
                let products = &mut turned[..count];
                isa.run(Products { rows: written, with: padded, out: products });
                out.write_column(i, 0, products.iter().map(|x| x * over));
            }
        }
    }

    /// Appends the coordinates of a row, of which numbers from a place on are given; the others are
    /// zero.
    pub(super) fn see(&mut self, (part, first): (&[f64], usize), out: &mut Vec<f64>) {
        let Self { taken, vectors, written, padded, turned, isa, .. } = self;
        if let Some(count) = *vectors {
            fill(padded, part, first);
            let start = out.len();
            out.resize(start + count, 0.0);
            isa.run(Products { rows: written, with: padded, out: &mut out[start..] });
            return;
        }
        turned.fill(0.0);
        turned[first..first + part.len()].copy_from_slice(part);
        taken.turn(turned);
        out.extend_from_slice(&turned[taken.count()..]);
    }

    /// Adds the step of some coordinates.
    pub(super) fn step(&mut self, coordinates: &[f64], out: &mut [f64]) {
        let Self { taken, vectors, written, padded, turned, isa, .. } = self;
        if vectors.is_some() {
            fill(padded, out, 0);
            isa.run(Add { rows: written, by: coordinates, to: padded });
            let sum = padded.row(0).iter().flat_map(|x| x.0);
            out.iter_mut().zip(sum).for_each(|(o, x)| *o = x);
            return;
        }
        let count = taken.count();
        turned[..count].fill(0.0);
        turned[count..].copy_from_slice(coordinates);
        taken.turn_back(turned);
        out.iter_mut().zip(turned).for_each(|(o, t)| *o += *t);
    }

    /// Takes those away that reflections of their coordinates put first.
    pub(super) fn take(&mut self, rows: &Reflectors) {
        let Some(count) = &mut self.vectors else {
            self.taken.append(rows);
            return;
        };
        rows.turn_columns(&mut self.written);
        self.written.drop_first(rows.count());
        *count -= rows.count();
    }
}

/// A row in lanes.
fn fill(padded: &mut Rows, part: &[f64], first: usize) {
    let row = padded.row_mut(0);
    row.fill(Lanes::default());
    part.iter().enumerate().for_each(|(j, x)| row[(first + j) / LANES][(first + j) % LANES] = *x);
}

/// Products of rows with one.
struct Products<'a> {
    rows: &'a Rows,
    with: &'a Rows,
    out: &'a mut [f64],
}

impl Kernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { rows, with, out } = self;
        let with = with.row(0);
        out.iter_mut().enumerate().for_each(|(k, x)| *x = dot_lanes(l, rows.row(k), with));
    }
}

/// Σ c_k row k, added to a row.
struct Add<'a> {
    rows: &'a Rows,
    by: &'a [f64],
    to: &'a mut Rows,
}

impl Kernel for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { rows, by, to } = self;
        rows.add_to(l, by, to.row_mut(0));
    }
}
