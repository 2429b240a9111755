//! A = L Lᵀ of sparse symmetric positive definite matrices of 3×3 blocks, supernode by supernode,
//! left-looking \[NP93\], in memory that is laid out once for a pattern.
//!
//! A supernode is a run of nodes whose columns of L share their rows; it is kept as one dense panel
//! by rows, its own rows first.

use forks_dynamics::mechanism::{
    lie::glam::{DMat3, DVec3},
    linalg::{Pivots, axpy, cholesky, dot, solve_lower, solve_lower_transposed},
};

use super::{SymmetricBlocks, order::nested_dissection};

/// Supernodes are joined while the zeros that this stores are below this part of their panel.
const ZEROS: f64 = 0.2;

/// Nothing, in lists of supernodes.
const NONE: usize = usize::MAX;

/// A matrix that is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the matrix is not positive definite at node {node}: pivot {pivot:e}")]
pub struct NotPositive {
    /// The node, as the matrix numbers it.
    pub node: usize,
    /// The pivot that is not positive.
    pub pivot: f64,
}

/// Columns `first..first + width` with their rows.
#[derive(Clone, Debug)]
struct Supernode {
    /// Its first node in the order of elimination.
    first: usize,
    /// Number of nodes.
    width: usize,
    /// Nodes of its rows in the order of elimination, ascending, its own first.
    rows: Vec<usize>,
    /// Where its panel starts: 3 rows.len() rows of 3 width numbers.
    start: usize,
}

/// Cholesky factors of a chosen part of the nodes of a [`SymmetricBlocks`], of a fixed pattern.
#[derive(Clone, Debug)]
pub struct BlockCholesky {
    /// Position in the order of elimination of every node of the matrix; `NONE` for those left out.
    position: Vec<usize>,
    /// The node at every position.
    node: Vec<usize>,
    supernodes: Vec<Supernode>,
    /// The supernode of every position.
    owner: Vec<usize>,
    numbers: Vec<f64>,
    /// Row of every position within the panel at work.
    row: Vec<usize>,
    /// Supernodes that update the one at work next, as lists; where each of them has got to.
    head: Vec<usize>,
    next: Vec<usize>,
    reached: Vec<usize>,
    vector: Vec<f64>,
}

impl BlockCholesky {
    /// Lays out the factors of the rows and columns of the nodes with `keep` true; positions of the
    /// nodes guide the order.
    ///
    /// # Panics
    /// If a length does not fit the matrix.
    pub fn new(matrix: &SymmetricBlocks, positions: &[DVec3], keep: &[bool]) -> Self {
        let nodes = matrix.nodes();
        assert_eq!(positions.len(), nodes, "number of positions");
        assert_eq!(keep.len(), nodes, "number of nodes to keep or not");
        let kept: Vec<usize> = (0..nodes).filter(|&n| keep[n]).collect();
        let mut local = vec![NONE; nodes];
        kept.iter().enumerate().for_each(|(i, &n)| local[n] = i);
        let mut neighbours = vec![Vec::new(); kept.len()];
        for (i, &n) in kept.iter().enumerate() {
            for (m, _) in matrix.row(n).filter(|(m, _)| *m != n && keep[*m]) {
                neighbours[i].push(local[m]);
                neighbours[local[m]].push(i);
            }
        }
        let at: Vec<DVec3> = kept.iter().map(|&n| positions[n]).collect();
        let order = nested_dissection(&at, &neighbours);
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(p, &i)| rank[i] = p);
        let below = structure(&order, &rank, &neighbours);
        let (supernodes, size) = supernodes(&below);
        let mut owner = vec![0; order.len()];
        for (s, node) in supernodes.iter().enumerate() {
            owner[node.first..node.first + node.width].fill(s);
        }
        let mut position = vec![NONE; nodes];
        kept.iter().enumerate().for_each(|(i, &n)| position[n] = rank[i]);
        let count = supernodes.len();
        Self {
            position,
            node: order.iter().map(|&i| kept[i]).collect(),
            supernodes,
            owner,
            numbers: vec![0.0; size],
            row: vec![0; order.len()],
            head: vec![NONE; count],
            next: vec![NONE; count],
            reached: vec![0; count],
            vector: vec![0.0; 3 * order.len()],
        }
    }

    /// Number of nodes of the factors.
    pub fn nodes(&self) -> usize {
        self.node.len()
    }

    /// Numbers kept, zeros of joined supernodes included.
    pub fn size(&self) -> usize {
        self.numbers.len()
    }

    /// Factorises `scale` times the matrix plus a diagonal block `diagonal(node)`.
    ///
    /// # Errors
    /// The node where the matrix is not positive definite, or not finite.
    ///
    /// # Panics
    /// If the matrix has another pattern than the one that this was laid out for.
    pub fn factorise(
        &mut self,
        matrix: &SymmetricBlocks,
        scale: f64,
        diagonal: impl Fn(usize) -> DMat3,
    ) -> Result<(), NotPositive> {
        self.assemble(matrix, scale, diagonal);
        self.head.fill(NONE);
        for s in 0..self.supernodes.len() {
            self.collect(s);
            let node = &self.supernodes[s];
            let (w, rows) = (3 * node.width, 3 * node.rows.len());
            let panel = &mut self.numbers[node.start..][..rows * w];
            let (top, below) = panel.split_at_mut(w * w);
            cholesky(w, top, w, Pivots::AboveZero).map_err(|bad| NotPositive {
                node: self.node[node.first + bad.row / 3],
                pivot: bad.pivot,
            })?;
            below.chunks_exact_mut(w).for_each(|row| solve_lower(top, w, row));
            self.reached[s] = node.width;
            self.hand_on(s);
        }
        Ok(())
    }

    /// Puts the matrix into the panels.
    fn assemble(
        &mut self,
        matrix: &SymmetricBlocks,
        scale: f64,
        diagonal: impl Fn(usize) -> DMat3,
    ) {
        self.numbers.fill(0.0);
        for s in &self.supernodes {
            s.rows.iter().enumerate().for_each(|(i, &p)| self.row[p] = i);
            // Blocks right of the diagonal of row-wise storage are found from the other side, so
            // every kept pair is met once, here or below.
            for column in s.first..s.first + s.width {
                let n = self.node[column];
                put(&mut self.numbers, s, column, self.row[column], &diagonal(n));
            }
        }
        for n in 0..matrix.nodes() {
            let p = self.position[n];
            if p == NONE {
                continue;
            }
            for (m, block) in matrix.row(n) {
                let q = self.position[m];
                if q == NONE {
                    continue;
                }
                let block = *block * scale;
                let (low, high, block) =
                    if q <= p { (q, p, block) } else { (p, q, block.transpose()) };
                let s = &self.supernodes[self.owner[low]];
                let row = s.rows.binary_search(&high).expect("a row of the pattern");
                put(&mut self.numbers, s, low, row, &block);
            }
        }
    }

    /// Subtracts what earlier supernodes give to the panel of supernode `s`, and hands them on.
    fn collect(&mut self, s: usize) {
        let node = &self.supernodes[s];
        node.rows.iter().enumerate().for_each(|(i, &p)| self.row[p] = i);
        let (end, w) = (node.first + node.width, 3 * node.width);
        let mut d = std::mem::replace(&mut self.head[s], NONE);
        while d != NONE {
            let following = self.next[d];
            let from = &self.supernodes[d];
            let begin = self.reached[d];
            let stop = from.rows[begin..].partition_point(|&p| p < end) + begin;
            let k = 3 * from.width;
            let (before, after) = self.numbers.split_at_mut(node.start);
            let given = &before[from.start..];
            let panel = &mut after[..3 * node.rows.len() * w];
            for i in begin..from.rows.len() {
                let row = 3 * self.row[from.rows[i]];
                for j in begin..stop.min(i + 1) {
                    let column = 3 * (from.rows[j] - node.first);
                    let a = &given[3 * i * k..][..3 * k];
                    let b = &given[3 * j * k..][..3 * k];
                    for (r, a) in a.chunks_exact(k).enumerate() {
                        for (c, b) in b.chunks_exact(k).enumerate() {
                            panel[(row + r) * w + column + c] -= dot(a, b);
                        }
                    }
                }
            }
            self.reached[d] = stop;
            if let Some(&p) = from.rows.get(stop) {
                self.next[d] = std::mem::replace(&mut self.head[self.owner[p]], d);
            }
            d = following;
        }
    }

    /// Puts a supernode on the list of the next one that it updates.
    fn hand_on(&mut self, s: usize) {
        if let Some(&p) = self.supernodes[s].rows.get(self.reached[s]) {
            let to = self.owner[p];
            self.next[s] = std::mem::replace(&mut self.head[to], s);
        }
    }

    /// L⁻¹ P b: what is left of a right side after the forward half; in the order of elimination.
    pub fn half_solve(&self, b: &[DVec3], out: &mut [f64]) {
        for (out, &n) in out.chunks_exact_mut(3).zip(&self.node) {
            out.copy_from_slice(&b[n].to_array());
        }
        for s in &self.supernodes {
            let w = 3 * s.width;
            let panel = &self.numbers[s.start..][..3 * s.rows.len() * w];
            let (top, below) = panel.split_at(w * w);
            let (own, rest) = out[3 * s.first..].split_at_mut(w);
            // Of forces on a few nodes most of it is empty.
            if own.iter().all(|x| *x == 0.0) {
                continue;
            }
            solve_lower(top, w, own);
            let offset = s.first + s.width;
            for (rows, &p) in below.chunks_exact(3 * w).zip(&s.rows[s.width..]) {
                let x = &mut rest[3 * (p - offset)..][..3];
                rows.chunks_exact(w).zip(x).for_each(|(row, x)| *x -= dot(row, own));
            }
        }
    }

    /// Pᵀ L⁻ᵀ y for y in the order of elimination, which is used up; nodes left out are not
    /// touched.
    pub fn back_solve(&self, y: &mut [f64], out: &mut [DVec3]) {
        for s in self.supernodes.iter().rev() {
            let w = 3 * s.width;
            let panel = &self.numbers[s.start..][..3 * s.rows.len() * w];
            let (top, below) = panel.split_at(w * w);
            let (own, rest) = y[3 * s.first..].split_at_mut(w);
            let offset = s.first + s.width;
            for (rows, &p) in below.chunks_exact(3 * w).zip(&s.rows[s.width..]) {
                let x = &rest[3 * (p - offset)..][..3];
                rows.chunks_exact(w).zip(x).for_each(|(row, x)| axpy(-x, row, own));
            }
            solve_lower_transposed(top, w, own);
        }
        for (y, &n) in y.chunks_exact(3).zip(&self.node) {
            out[n] = DVec3::new(y[0], y[1], y[2]);
        }
    }

    /// A⁻¹ b over the kept nodes in place of b; entries of other nodes are left alone.
    ///
    /// # Panics
    /// If `b` has not an entry for every node of the matrix.
    pub fn solve(&mut self, b: &mut [DVec3]) {
        let mut y = std::mem::take(&mut self.vector);
        self.half_solve(b, &mut y);
        self.back_solve(&mut y, b);
        self.vector = y;
    }
}

/// Adds a block to a panel at a column (in the order of elimination) and a row of the panel. Above
/// the diagonal of its own columns nothing is read, so the whole diagonal block may be written.
fn put(numbers: &mut [f64], s: &Supernode, column: usize, row: usize, block: &DMat3) {
    let w = 3 * s.width;
    let at = s.start + 3 * row * w + 3 * (column - s.first);
    for r in 0..3 {
        for c in 0..3 {
            numbers[at + r * w + c] += block.col(c)[r];
        }
    }
}

/// Rows of L below the diagonal of every column, ascending, in the order of elimination.
fn structure(order: &[usize], rank: &[usize], neighbours: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let n = order.len();
    let mut below: Vec<Vec<usize>> = Vec::with_capacity(n);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut seen = vec![NONE; n];
    for (p, &i) in order.iter().enumerate() {
        let mut rows = Vec::new();
        let mut note = |q: usize, rows: &mut Vec<usize>| {
            if q > p && seen[q] != p {
                seen[q] = p;
                rows.push(q);
            }
        };
        neighbours[i].iter().for_each(|&m| note(rank[m], &mut rows));
        for &c in &children[p] {
            let given: &Vec<usize> = &below[c];
            given.iter().for_each(|&q| note(q, &mut rows));
        }
        rows.sort_unstable();
        if let Some(&parent) = rows.first() {
            children[parent].push(p);
        }
        below.push(rows);
    }
    below
}

/// Joins columns whose rows are nearly the same; the number of all panels' entries.
fn supernodes(below: &[Vec<usize>]) -> (Vec<Supernode>, usize) {
    let (mut out, mut size, mut first) = (Vec::<Supernode>::new(), 0, 0);
    while first < below.len() {
        let mut last = first;
        // Entries that are needed of the columns joined so far.
        let mut needed = below[first].len() + 1;
        while below[last].first() == Some(&(last + 1)) {
            let next = last + 1;
            let width = next - first + 1;
            let stored = (width * (width + 1)) / 2 + width * below[next].len();
            let more = needed + below[next].len() + 1;
            if ((stored - more) as f64) > ZEROS * stored as f64 {
                break;
            }
            (last, needed) = (next, more);
        }
        let mut rows: Vec<usize> = (first..=last).collect();
        rows.extend(&below[last]);
        let width = last - first + 1;
        let start = size;
        size += 9 * rows.len() * width;
        out.push(Supernode { first, width, rows, start });
        first = last + 1;
    }
    (out, size)
}

#[cfg(test)]
mod tests {
    use forks_dynamics::mechanism::lie::SplitMix64;

    use super::*;
    use crate::mesh::TetMesh;

    /// Random positive definite matrices on a mesh, with nodes left out, against dense solves.
    #[test]
    fn solves_are_those_of_a_dense_factor() {
        let mesh = TetMesh::kuhn([6, 3, 2], DVec3::new(3.0, 1.5, 1.0)).unwrap().quadratic();
        let nodes = mesh.nodes().len();
        let elements = || (0..mesh.element_count()).map(|e| mesh.element(e));
        let mut rng = SplitMix64::new(5);
        let mut vector = || DVec3::from_array([0; 3].map(|_| rng.range(-1.0, 1.0)));
        let mut a = SymmetricBlocks::of_elements(nodes, elements());
        for e in elements() {
            for &i in e {
                for &j in e {
                    if j < i {
                        let (x, y) = (vector(), vector());
                        a.add(i, j, DMat3::from_cols(x * y.x, x * y.y, x * y.z));
                    }
                }
            }
        }
        let keep: Vec<bool> = (0..nodes).map(|n| n % 7 != 3).collect();
        let shift = |_| DMat3::from_diagonal(DVec3::splat(60.0));
        let mut factor = BlockCholesky::new(&a, mesh.nodes(), &keep);
        factor.factorise(&a, 0.5, shift).unwrap();
        let b: Vec<DVec3> = (0..nodes).map(|_| vector()).collect();
        let mut x = b.clone();
        factor.solve(&mut x);
        // Residual over the kept nodes; the others keep what they had.
        let zeroed: Vec<DVec3> =
            x.iter().zip(&keep).map(|(x, k)| if *k { *x } else { DVec3::ZERO }).collect();
        let mut ax = vec![DVec3::ZERO; nodes];
        a.multiply(&zeroed, &mut ax);
        for n in 0..nodes {
            if keep[n] {
                let left = ax[n] * 0.5 + zeroed[n] * 60.0 - b[n];
                assert!(left.length() < 1e-13, "node {n}: {left}");
            } else {
                assert_eq!(x[n], b[n]);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_names_a_node() {
        let mesh = TetMesh::kuhn([1, 1, 1], DVec3::ONE).unwrap();
        let elements = (0..mesh.element_count()).map(|e| mesh.element(e));
        let a = SymmetricBlocks::of_elements(8, elements);
        let mut factor = BlockCholesky::new(&a, mesh.nodes(), &[true; 8]);
        let shift = |n: usize| DMat3::IDENTITY * if n == 5 { -1.0 } else { 1.0 };
        let found = factor.factorise(&a, 1.0, shift);
        assert_eq!(found, Err(NotPositive { node: 5, pivot: -1.0 }));
    }
}
