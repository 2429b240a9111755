//! Links of high degree cut into welded pieces, so that no piece has more than three handles.

use forks_mechanism::{JointId, LinkId, TreeEdge};

/// The ground's piece.
pub(super) const WORLD: usize = 0;

/// What ties two pieces.
#[derive(Clone, Copy, Debug)]
pub(super) enum BranchKind {
    /// A tree joint between different links.
    Joint(JointId),
    /// Two pieces of one link.
    Weld(LinkId),
}

/// An edge of the tree of pieces, directed away from the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    pub(super) kind: BranchKind,
    pub(super) inner: usize,
    pub(super) outer: usize,
}

/// A forest of pieces. The innermost piece of a link has the link's index, further pieces follow.
pub(super) struct Pieces {
    pub(super) links: usize,
    pub(super) link_of: Vec<LinkId>,
    /// Inner pieces before outer ones.
    pub(super) edges: Vec<Branch>,
    /// The piece of every further handle, link by link.
    pub(super) handles: Vec<Vec<usize>>,
}

impl Pieces {
    /// One piece per link.
    pub(super) fn whole(links: usize, edges: &[TreeEdge]) -> Self {
        let edges = edges.iter().map(|e| Branch {
            kind: BranchKind::Joint(e.joint),
            inner: e.inner.index(),
            outer: e.outer.index(),
        });
        Self {
            links,
            link_of: (0..links).map(LinkId::new).collect(),
            edges: edges.collect(),
            handles: Vec::new(),
        }
    }

    /// A row of d − 2 pieces per link of degree d > 3. Further handles sit on the inner pieces,
    /// then the tree joints outwards, the one with the largest subtree at the end of the row.
    pub(super) fn split(links: usize, edges: &[TreeEdge], further: &[usize]) -> Self {
        let ends = edges.iter().map(|e| (e.inner.index(), e.outer.index()));
        let size = subtree_sizes(links, ends);
        let (first, mut order) = children_of(links, edges.iter().map(|e| e.inner.index()));
        let mut out = Self::whole(links, &[]);
        out.handles = vec![Vec::new(); links];
        let mut inner_piece = vec![WORLD; edges.len()];
        let mut next_piece = vec![Vec::new(); links];
        out.handles[WORLD] = vec![WORLD; further[WORLD]];
        for l in 1..links {
            let children = &mut order[first[l]..first[l + 1]];
            children.sort_by_key(|&k| size[edges[k].outer.index()]);
            let attached = further[l] + children.len();
            let row = attached.saturating_sub(1).max(1);
            for _ in 1..row {
                next_piece[l].push(out.link_of.len());
                out.link_of.push(LinkId::new(l));
            }
            let piece = |i: usize| match i.min(row - 1) {
                0 => l,
                i => next_piece[l][i - 1],
            };
            out.handles[l] = (0..further[l]).map(piece).collect();
            for (i, &k) in children.iter().enumerate() {
                inner_piece[k] = piece(further[l] + i);
            }
        }
        for (k, e) in edges.iter().enumerate() {
            let outer = e.outer.index();
            let kind = BranchKind::Joint(e.joint);
            out.edges.push(Branch { kind, inner: inner_piece[k], outer });
            let mut inner = outer;
            for &piece in &next_piece[outer] {
                let kind = BranchKind::Weld(e.outer);
                out.edges.push(Branch { kind, inner, outer: piece });
                inner = piece;
            }
        }
        out
    }
}

/// Number of nodes in the subtree of every node; edges (inner, outer) with inner nodes first.
pub(super) fn subtree_sizes(
    n: usize,
    edges: impl DoubleEndedIterator<Item = (usize, usize)>,
) -> Vec<usize> {
    let mut size = vec![1; n];
    for (inner, outer) in edges.rev() {
        size[inner] += size[outer];
    }
    size
}

/// Edges grouped by their inner node: the start of every group, and the edges.
pub(super) fn children_of(
    n: usize,
    inner: impl Iterator<Item = usize> + Clone,
) -> (Vec<usize>, Vec<usize>) {
    let mut first = vec![0; n + 1];
    inner.clone().for_each(|i| first[i + 1] += 1);
    for i in 0..n {
        first[i + 1] += first[i];
    }
    let mut free = first.clone();
    let mut edges = vec![0; first[n]];
    for (k, i) in inner.enumerate() {
        edges[free[i]] = k;
        free[i] += 1;
    }
    (first, edges)
}
