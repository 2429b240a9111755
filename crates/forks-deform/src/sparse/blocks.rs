//! A sparse symmetric matrix of 3×3 blocks: the lower triangle by rows.

use std::sync::Arc;

use forks_dynamics::mechanism::{
    lie::glam::{DMat3, DVec3},
    linalg::Matrix,
};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

/// Rows of a lower triangle.
#[derive(Debug, PartialEq)]
struct Pattern {
    starts: Vec<usize>,
    /// Ascending in every row; the last is the diagonal.
    columns: Vec<usize>,
}

/// A symmetric matrix over nodes, three rows and columns each.
#[derive(Clone, Debug)]
pub struct SymmetricBlocks {
    pattern: Arc<Pattern>,
    blocks: Vec<DMat3>,
}

impl SymmetricBlocks {
    /// A zero matrix with a block for every pair of nodes of every element, and the diagonal.
    pub fn of_elements<'a>(nodes: usize, elements: impl Iterator<Item = &'a [usize]>) -> Self {
        let mut rows: Vec<Vec<usize>> = (0..nodes).map(|n| vec![n]).collect();
        for e in elements {
            for &i in e {
                rows[i].extend(e.iter().copied().filter(|&j| j < i));
            }
        }
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for mut row in rows {
            row.sort_unstable();
            row.dedup();
            columns.extend(row);
            starts.push(columns.len());
        }
        let blocks = vec![DMat3::ZERO; columns.len()];
        Self { pattern: Arc::new(Pattern { starts, columns }), blocks }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.pattern.starts.len() - 1
    }

    /// Sets all numbers to zero.
    pub fn clear(&mut self) {
        self.blocks.fill(DMat3::ZERO);
    }

    /// Adds to block (i, j), j ≤ i.
    ///
    /// # Panics
    /// If the pattern has no such block.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, block: DMat3) {
        let slot = self.slot(i, j);
        self.blocks[slot] += block;
    }

    /// Where block (i, j), j ≤ i, is among all.
    pub(crate) fn slot(&self, i: usize, j: usize) -> usize {
        let (from, to) = (self.pattern.starts[i], self.pattern.starts[i + 1]);
        let at = self.pattern.columns[from..to].binary_search(&j);
        from + at.expect("a block of the pattern")
    }

    /// Adds to the block at a place.
    #[inline]
    pub(crate) fn add_at(&mut self, slot: usize, block: DMat3) {
        self.blocks[slot] += block;
    }

    /// Blocks of a row up to the diagonal: (column, block).
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &DMat3)> {
        let range = self.pattern.starts[i]..self.pattern.starts[i + 1];
        self.pattern.columns[range.clone()].iter().copied().zip(&self.blocks[range])
    }

    /// Blocks of a row up to the diagonal: (slot, column).
    pub(crate) fn slots(&self, i: usize) -> impl Iterator<Item = (usize, usize)> {
        let range = self.pattern.starts[i]..self.pattern.starts[i + 1];
        range.map(|slot| (slot, self.pattern.columns[slot]))
    }

    /// The block at a place.
    #[inline]
    pub(crate) fn block(&self, slot: usize) -> &DMat3 {
        &self.blocks[slot]
    }

    /// The product with a vector, into `out`.
    pub fn multiply(&self, x: &[DVec3], out: &mut [DVec3]) {
        out.fill(DVec3::ZERO);
        for i in 0..self.nodes() {
            for (j, b) in self.row(i) {
                out[i] += *b * x[j];
                if j != i {
                    out[j] += b.transpose() * x[i];
                }
            }
        }
    }

    /// [`SymmetricBlocks::multiply`] column by column, on the threads of the current pool.
    pub fn multiply_all(&self, x: &[Vec<DVec3>], out: &mut [Vec<DVec3>]) {
        x.par_iter().zip(out).for_each(|(x, out)| self.multiply(x, out));
    }

    /// All entries, for tests and small problems.
    pub fn to_dense(&self) -> Matrix {
        let n = self.nodes();
        let mut out = Matrix::zeros(3 * n, 3 * n);
        for i in 0..n {
            for (j, b) in self.row(i) {
                for r in 0..3 {
                    for c in 0..3 {
                        out[(3 * i + r, 3 * j + c)] = b.col(c)[r];
                        out[(3 * j + c, 3 * i + r)] = b.col(c)[r];
                    }
                }
            }
        }
        out
    }
}
