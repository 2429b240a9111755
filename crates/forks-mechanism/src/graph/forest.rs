//! Spanning forest of the joint graph: which joints carry links, which close loops.

use crate::{Joint, JointId, LinkId};

/// A tree joint, directed away from the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeEdge {
    /// The joint.
    pub joint: JointId,
    /// The link nearer to the ground.
    pub inner: LinkId,
    /// The link that the joint carries.
    pub outer: LinkId,
    /// True if the joint's child is the inner link.
    pub reversed: bool,
}

/// A spanning forest rooted at the ground.
///
/// A joint closes a loop if joints of smaller index already connect its two links; all others are
/// tree joints. Edges are listed in depth-first order: every inner link comes before its outer
/// links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanningForest {
    edges: Vec<TreeEdge>,
    closures: Vec<JointId>,
    edge_of_link: Vec<Option<usize>>,
}

impl SpanningForest {
    /// Number of links, the ground included.
    pub fn link_count(&self) -> usize {
        self.edge_of_link.len()
    }

    /// Tree joints in depth-first order.
    pub fn edges(&self) -> &[TreeEdge] {
        &self.edges
    }

    /// Loop-closing joints in joint order.
    pub fn closures(&self) -> &[JointId] {
        &self.closures
    }

    /// The position in [`SpanningForest::edges`] of the joint that carries a link; `None` for the
    /// ground.
    pub fn edge_of_link(&self, link: LinkId) -> Option<usize> {
        self.edge_of_link[link.index()]
    }

    /// The tree joint that carries a link.
    pub fn carrying_edge(&self, link: LinkId) -> Option<&TreeEdge> {
        self.edge_of_link(link).map(|e| &self.edges[e])
    }

    /// The tree joints from a link down to the ground.
    pub fn path_to_ground(&self, link: LinkId) -> impl Iterator<Item = &TreeEdge> {
        let mut at = link;
        std::iter::from_fn(move || {
            let e = self.carrying_edge(at)?;
            at = e.inner;
            Some(e)
        })
    }

    /// The tree joints on the path between two links, the outermost first: each with true if it
    /// lies on the way to `to`, false if on the way to `from`. Joints that carry both are not on
    /// it.
    pub fn path_between(
        &self,
        from: LinkId,
        to: LinkId,
    ) -> impl Iterator<Item = (&TreeEdge, bool)> {
        let (mut a, mut b) = (self.edge_of_link(from), self.edge_of_link(to));
        // In depth-first order a link behind another cannot carry it: step down from that one.
        std::iter::from_fn(move || {
            if a == b {
                return None;
            }
            let carries_to = b > a;
            let e = &self.edges[if carries_to { b? } else { a? }];
            *(if carries_to { &mut b } else { &mut a }) = self.edge_of_link(e.inner);
            Some((e, carries_to))
        })
    }

    /// Builds the forest; links that no joint ties to the ground are returned as roots that still
    /// need a joint (the first link of each such part).
    pub(crate) fn loose_roots(link_count: usize, joints: &[Joint]) -> Vec<LinkId> {
        let mut sets = DisjointSets::new(link_count);
        for j in joints {
            sets.union(j.parent.index(), j.child.index());
        }
        let mut roots = Vec::new();
        for i in 1..link_count {
            if sets.union(0, i) {
                roots.push(LinkId::new(i));
            }
        }
        roots
    }

    /// Builds the forest of a graph in which every link is connected to the ground.
    pub(crate) fn new(link_count: usize, joints: &[Joint]) -> Self {
        let mut sets = DisjointSets::new(link_count);
        let mut closures = Vec::new();
        let mut neighbours: Vec<Vec<JointId>> = vec![Vec::new(); link_count];
        for (i, j) in joints.iter().enumerate() {
            let id = JointId::new(i);
            if sets.union(j.parent.index(), j.child.index()) {
                neighbours[j.parent.index()].push(id);
                neighbours[j.child.index()].push(id);
            } else {
                closures.push(id);
            }
        }
        let mut forest = Self { edges: Vec::new(), closures, edge_of_link: vec![None; link_count] };
        // Depth first with an explicit stack; joints of smaller index first.
        let mut stack = vec![(LinkId::WORLD, 0usize)];
        while let Some((at, next)) = stack.pop() {
            let Some(&id) = neighbours[at.index()].get(next) else { continue };
            stack.push((at, next + 1));
            if forest.carrying_edge(at).is_some_and(|e| e.joint == id) {
                continue;
            }
            let j = &joints[id.index()];
            let reversed = j.child == at;
            let outer = if reversed { j.parent } else { j.child };
            forest.edge_of_link[outer.index()] = Some(forest.edges.len());
            forest.edges.push(TreeEdge { joint: id, inner: at, outer, reversed });
            stack.push((outer, 0));
        }
        forest
    }
}

/// Union-find with path halving.
pub(super) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    pub(super) fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    pub(super) fn find(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    /// True if the two were apart. The smaller root stays root.
    pub(super) fn union(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
        a != b
    }
}
