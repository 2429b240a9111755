//! A = L Lᵀ of sparse symmetric positive definite matrices of 3×3 blocks, supernode by supernode,
//! left-looking \[NP93\], in memory that is laid out once for a pattern.
//!
//! A supernode is a run of nodes whose columns of L share their rows; it is kept as one dense panel
//! by rows, its own rows first. Subtrees of the elimination tree are worked on at once, then what
//! is above them, panel by panel, the rows of a panel at once. Every entry is summed in the same
//! order whoever does it.

use std::iter;

use forks_dynamics::mechanism::{
    lie::glam::{DMat3, DVec3},
    linalg::{
        BadPivot,
        simd::{Arithmetic, Isa, Kernel, LANES, Lanes},
    },
};
use rayon::{
    iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator},
    slice::ParallelSliceMut,
};

use super::{
    NONE, SymmetricBlocks,
    panel::{Diagonal, Target, eliminate, solve_rows, update},
    supernodes::{Form, Supernode},
};

/// Nodes whose rows of a panel are worked on together.
const CHUNK: usize = 32;

/// A matrix that is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the matrix is not positive definite at node {node}: pivot {pivot:e}")]
pub struct NotPositive {
    /// The node, as the matrix numbers it.
    pub node: usize,
    /// The pivot that is not positive.
    pub pivot: f64,
}

/// A block of the matrix in a panel.
#[derive(Clone, Copy, Debug)]
struct Entry {
    slot: u32,
    /// Its row in the panel, in nodes, and its column.
    row: u32,
    column: u32,
    turned: bool,
}

/// Cholesky factors of a chosen part of the nodes of a [`SymmetricBlocks`], of a fixed pattern.
#[derive(Clone, Debug)]
pub struct BlockCholesky {
    /// The node at every position in the order of elimination.
    pub(super) node: Vec<usize>,
    pub(super) form: Form,
    /// What of the matrix each supernode has.
    entries: Vec<Vec<Entry>>,
    /// 3 rows.len() rows of 3 width numbers in fours; empty before the first factorisation.
    pub(super) panels: Vec<Vec<Lanes>>,
    pub(super) isa: Isa,
    pub(super) vector: Vec<f64>,
}

/// Fours in a row of a panel.
pub(super) fn stride(s: &Supernode) -> usize {
    (3 * s.width).div_ceil(LANES)
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
        let form = Form::new(&at, &neighbours);
        let node: Vec<usize> = form.order.iter().map(|&i| kept[i]).collect();
        let mut position = vec![NONE; nodes];
        node.iter().enumerate().for_each(|(p, &n)| position[n] = p);
        let mut entries = vec![vec![]; form.supernodes.len()];
        for &n in &kept {
            let p = position[n];
            for (slot, m) in matrix.slots(n).filter(|(_, m)| keep[*m]) {
                let q = position[m];
                let (low, high) = (p.min(q), p.max(q));
                let s = &form.supernodes[form.owner[low]];
                let row = s.rows.binary_search(&high).expect("a row of the pattern");
                entries[form.owner[low]].push(Entry {
                    slot: u32::try_from(slot).expect("blocks of a matrix in memory"),
                    row: row as u32,
                    column: (low - s.first) as u32,
                    turned: q > p,
                });
            }
        }
        Self {
            vector: vec![0.0; 3 * node.len()],
            panels: vec![vec![]; form.supernodes.len()],
            isa: Isa::detect(),
            node,
            form,
            entries,
        }
    }

    /// Number of nodes of the factors.
    pub fn nodes(&self) -> usize {
        self.node.len()
    }

    /// Numbers of the factors, zeros of joined supernodes included.
    pub fn size(&self) -> usize {
        self.form.supernodes.iter().map(|s| 9 * s.width * s.rows.len()).sum()
    }

    /// The instruction set, the fastest of the processor at first. Results agree to rounding.
    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
    }

    /// Factorises `scale` times the matrix plus a diagonal block `diagonal(node)`, on the threads
    /// of the current pool where that pays. Threads change no bit.
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
        diagonal: impl Fn(usize) -> DMat3 + Sync,
    ) -> Result<(), NotPositive> {
        let work = Work {
            form: &self.form,
            entries: &self.entries,
            node: &self.node,
            isa: self.isa,
            matrix,
            scale,
            diagonal,
        };
        // Runs of subtrees take their panels with them.
        let (mut runs, mut rest, mut at) = (vec![], self.panels.as_mut_slice(), 0);
        for range in &work.form.subtrees {
            let (own, after) = rest[range.start - at..].split_at_mut(range.len());
            runs.push((range.start, own));
            (rest, at) = (after, range.end);
        }
        let run = |(first, panels): (usize, &mut [Vec<Lanes>])| work.run(first, panels);
        // The first that fails, whichever ends first.
        match runs.len() > 1 && rayon::current_num_threads() > 1 {
            true => {
                let ends: Vec<_> = runs.into_par_iter().map(run).collect();
                ends.into_iter().collect::<Result<(), _>>()?;
            }
            false => runs.into_iter().try_for_each(run)?,
        }
        let mut scratch = Scratch::default();
        let ends = iter::once(0).chain(work.form.subtrees.iter().map(|r| r.end));
        let starts = work.form.subtrees.iter().map(|r| r.start).chain([self.panels.len()]);
        for s in ends.zip(starts).flat_map(|(end, start)| end..start) {
            work.supernode(s, 0, &mut self.panels, &mut scratch, true)?;
        }
        Ok(())
    }
}

/// Room for a supernode.
#[derive(Default)]
struct Scratch {
    /// Row of every position within the panel at work, in nodes.
    row: Vec<u32>,
    blocks: Vec<Diagonal>,
}

/// A factorisation at work.
struct Work<'a, D> {
    form: &'a Form,
    entries: &'a [Vec<Entry>],
    node: &'a [usize],
    isa: Isa,
    matrix: &'a SymmetricBlocks,
    scale: f64,
    diagonal: D,
}

impl<D: Fn(usize) -> DMat3 + Sync> Work<'_, D> {
    /// A run of subtrees from supernode `first` on.
    fn run(&self, first: usize, panels: &mut [Vec<Lanes>]) -> Result<(), NotPositive> {
        let mut scratch = Scratch::default();
        (0..panels.len())
            .try_for_each(|s| self.supernode(first + s, first, panels, &mut scratch, false))
    }

    /// Supernode `s`, whose panel is `panels[s - first]`.
    fn supernode(
        &self,
        s: usize,
        first: usize,
        panels: &mut [Vec<Lanes>],
        scratch: &mut Scratch,
        shared: bool,
    ) -> Result<(), NotPositive> {
        let node = &self.form.supernodes[s];
        let (before, after) = panels.split_at_mut(s - first);
        let panel = &mut after[0];
        self.assemble(s, panel);
        let Scratch { row, blocks } = scratch;
        row.resize(self.node.len(), 0);
        node.rows.iter().enumerate().for_each(|(i, &p)| row[p] = i as u32);
        let (w, stride) = (3 * node.width, stride(node));
        let chunk = CHUNK * 3 * stride;
        let shared = shared && panel.len() > chunk && rayon::current_num_threads() > 1;
        let collect = |begin: usize, rows: &mut [Lanes]| {
            let updates = Collect { form: self.form, node, row, before, first, begin, rows };
            self.isa.run(updates);
        };
        match shared {
            true => panel
                .par_chunks_mut(chunk)
                .enumerate()
                .for_each(|(c, rows)| collect(c * CHUNK, rows)),
            false => collect(0, panel),
        }
        let (top, below) = panel.split_at_mut(w * stride);
        let top_of = Top { w, stride, top, blocks };
        self.isa.run(top_of).map_err(|bad| NotPositive {
            node: self.node[node.first + bad.row / 3],
            pivot: bad.pivot,
        })?;
        let solve = |rows: &mut [Lanes]| self.isa.run(Below { w, stride, top, blocks, rows });
        match shared {
            true => below.par_chunks_mut(chunk).for_each(solve),
            false => solve(below),
        }
        Ok(())
    }

    /// Puts the matrix into a panel.
    fn assemble(&self, s: usize, panel: &mut Vec<Lanes>) {
        let node = &self.form.supernodes[s];
        let stride = stride(node);
        panel.clear();
        panel.resize(3 * node.rows.len() * stride, Lanes::default());
        let mut put = |row: usize, column: usize, block: &DMat3| {
            for c in 0..3 {
                let (at, x) = (3 * column + c, block.col(c));
                for r in 0..3 {
                    panel[(3 * row + r) * stride + at / LANES].0[at % LANES] += x[r];
                }
            }
        };
        // Above the diagonal nothing is read, so whole blocks may be written.
        for i in 0..node.width {
            put(i, i, &(self.diagonal)(self.node[node.first + i]));
        }
        for e in &self.entries[s] {
            let block = *self.matrix.block(e.slot as usize) * self.scale;
            let block = if e.turned { block.transpose() } else { block };
            put(e.row as usize, e.column as usize, &block);
        }
    }
}

/// Subtracts what earlier supernodes give to rows of a panel from node `begin` on.
struct Collect<'a> {
    form: &'a Form,
    node: &'a Supernode,
    row: &'a [u32],
    before: &'a [Vec<Lanes>],
    first: usize,
    begin: usize,
    rows: &'a mut [Lanes],
}

impl Kernel for Collect<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let out = stride(self.node);
        let end = self.begin + self.rows.len() / (3 * out);
        let (low, high) = (self.node.rows[self.begin], self.node.rows[end - 1]);
        let (mut rows, mut columns) = (vec![], vec![]);
        for u in &self.node.updates {
            let from = &self.form.supernodes[u.from];
            let given = &from.rows[u.begin..];
            let begin = u.begin + given.partition_point(|&p| p < low);
            let stop = u.begin + given.partition_point(|&p| p <= high);
            if begin == stop {
                continue;
            }
            let place = |&p: &usize| 3 * (self.row[p] as usize - self.begin);
            rows.clear();
            rows.extend(from.rows[begin..stop].iter().map(place));
            columns.clear();
            for &p in &from.rows[u.begin..u.stop] {
                let c = 3 * (p - self.node.first);
                columns.extend([c, c + 1, c + 2]);
            }
            let target = Target { rows: &rows, columns: &columns, stride: out };
            let panel = &self.before[u.from - self.first];
            update(l, panel, stride(from), [u.begin, begin], &target, self.rows);
        }
    }
}

/// Factorises the top of a panel.
struct Top<'a> {
    w: usize,
    stride: usize,
    top: &'a mut [Lanes],
    blocks: &'a mut Vec<Diagonal>,
}

impl Kernel for Top<'_> {
    type Output = Result<(), BadPivot>;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> Self::Output {
        eliminate(l, self.w, self.stride, self.top, self.blocks)
    }
}

/// Rows below it.
struct Below<'a> {
    w: usize,
    stride: usize,
    top: &'a [Lanes],
    blocks: &'a [Diagonal],
    rows: &'a mut [Lanes],
}

impl Kernel for Below<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        solve_rows(l, self.w, self.stride, self.top, self.blocks, self.rows);
    }
}
