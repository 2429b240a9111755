//! What a factor looks like before there are numbers: the elimination tree, its supernodes, who
//! updates whom \[NP93\], and which subtrees are worked on at once.

use std::ops::Range;

use forks_dynamics::mechanism::lie::glam::DVec3;

use super::{NONE, order::nested_dissection};

/// Supernodes are joined while the zeros that this stores are below this part of their panel.
const ZEROS: f64 = 0.2;

/// Nodes of a supernode at most: a panel's own rows stay in the cache.
const WIDE: usize = 48;

/// Subtrees of at most this part of all work are worked on at once.
const PART: f64 = 1.0 / 24.0;

/// Below so many multiplications a factor is not split.
const PAYS: f64 = 1e8;

/// Columns `first..first + width` with their rows.
#[derive(Clone, Debug)]
pub(super) struct Supernode {
    /// Its first node in the order of elimination.
    pub(super) first: usize,
    /// Number of nodes.
    pub(super) width: usize,
    /// Nodes of its rows in the order of elimination, ascending, its own first.
    pub(super) rows: Vec<usize>,
    /// What earlier supernodes give to it, in their order.
    pub(super) updates: Vec<Update>,
}

/// Rows `begin..` of supernode `from`, up to `stop` as columns of the one that is updated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    pub(super) from: usize,
    pub(super) begin: usize,
    pub(super) stop: usize,
}

/// The form of a factor.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// Node at every position in the order of elimination.
    pub(super) order: Vec<usize>,
    pub(super) supernodes: Vec<Supernode>,
    /// The supernode of every position.
    pub(super) owner: Vec<usize>,
    /// Runs of whole subtrees, ascending: they need nothing of each other. Supernodes in none of
    /// them come after.
    pub(super) subtrees: Vec<Range<usize>>,
}

impl Form {
    pub(super) fn new(positions: &[DVec3], neighbours: &[Vec<usize>]) -> Self {
        let order = nested_dissection(positions, neighbours);
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(p, &i)| rank[i] = p);
        let (order, below) = in_postorder(&order, structure(&order, &rank, neighbours));
        let (mut supernodes, owner) = joined(&below);
        for from in 0..supernodes.len() {
            let mut begin = supernodes[from].width;
            while let Some(&p) = supernodes[from].rows.get(begin) {
                let to = owner[p];
                let end = supernodes[to].first + supernodes[to].width;
                let rows = &supernodes[from].rows[begin..];
                let stop = begin + rows.partition_point(|&p| p < end);
                supernodes[to].updates.push(Update { from, begin, stop });
                begin = stop;
            }
        }
        let subtrees = subtrees(&supernodes, &owner);
        Self { order, supernodes, owner, subtrees }
    }
}

/// Rows of L below the diagonal of every column, ascending, in the order of elimination.
pub(super) fn structure(
    order: &[usize],
    rank: &[usize],
    neighbours: &[Vec<usize>],
) -> Vec<Vec<usize>> {
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

/// The same with every subtree of the elimination tree in one run. Rows of a column are above it
/// in the tree and stay in their order.
fn in_postorder(order: &[usize], below: Vec<Vec<usize>>) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n = order.len();
    // Sizes of subtrees; children come before their parents.
    let mut size = vec![1; n];
    for p in 0..n {
        if let Some(&parent) = below[p].first() {
            size[parent] += size[p];
        }
    }
    // From the last to the first: every subtree ends where the room of its parent has got to.
    let mut place = vec![0; n];
    let mut room = vec![0; n];
    let mut end = n;
    for p in (0..n).rev() {
        let end = match below[p].first() {
            Some(&parent) => &mut room[parent],
            None => &mut end,
        };
        place[p] = *end - 1;
        *end -= size[p];
        room[p] = place[p];
    }
    let mut out = (vec![0; n], vec![Vec::new(); n]);
    for (p, mut rows) in below.into_iter().enumerate() {
        rows.iter_mut().for_each(|q| *q = place[*q]);
        out.0[place[p]] = order[p];
        out.1[place[p]] = rows;
    }
    out
}

/// Joins columns whose rows are nearly the same; the supernode of every column.
fn joined(below: &[Vec<usize>]) -> (Vec<Supernode>, Vec<usize>) {
    let (mut out, mut owner, mut first) = (Vec::<Supernode>::new(), vec![0; below.len()], 0);
    while first < below.len() {
        let mut last = first;
        // Entries that are needed of the columns joined so far.
        let mut needed = below[first].len() + 1;
        while below[last].first() == Some(&(last + 1)) {
            let next = last + 1;
            let width = next - first + 1;
            let stored = (width * (width + 1)) / 2 + width * below[next].len();
            let more = needed + below[next].len() + 1;
            if width > WIDE || ((stored - more) as f64) > ZEROS * stored as f64 {
                break;
            }
            (last, needed) = (next, more);
        }
        let mut rows: Vec<usize> = (first..=last).collect();
        rows.extend(&below[last]);
        owner[first..=last].fill(out.len());
        out.push(Supernode { first, width: last - first + 1, rows, updates: vec![] });
        first = last + 1;
    }
    (out, owner)
}

/// Runs of subtrees that are small beside the whole; one run of all where that does not pay.
fn subtrees(supernodes: &[Supernode], owner: &[usize]) -> Vec<Range<usize>> {
    let parent = |s: &Supernode| s.rows.get(s.width).map(|&p| owner[p]);
    let mut work: Vec<f64> = Vec::with_capacity(supernodes.len());
    // Multiplications of a supernode: 27 per node and pair of rows.
    let own = |s: &Supernode| 27.0 * s.width as f64 * (s.rows.len() as f64).powi(2) / 2.0;
    work.extend(supernodes.iter().map(own));
    let all: f64 = work.iter().sum();
    let limit = if all < PAYS { f64::INFINITY } else { PART * all };
    // Where the subtree of each begins.
    let mut begin: Vec<usize> = (0..supernodes.len()).collect();
    for (s, node) in supernodes.iter().enumerate() {
        if let Some(p) = parent(node) {
            work[p] += work[s];
            begin[p] = begin[p].min(begin[s]);
        }
    }
    let mut out: Vec<Range<usize>> = vec![];
    let mut filled = 0.0;
    for (s, node) in supernodes.iter().enumerate() {
        if work[s] > limit || parent(node).is_some_and(|p| work[p] <= limit) {
            continue;
        }
        match out.last_mut() {
            Some(last) if last.end == begin[s] && filled + work[s] <= limit => {
                last.end = s + 1;
                filled += work[s];
            }
            _ => {
                out.push(begin[s]..s + 1);
                filled = work[s];
            }
        }
    }
    out
}
