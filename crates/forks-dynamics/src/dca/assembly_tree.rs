//! Binary assembly trees over the spanning forest: the order in which the divide-and-conquer solver
//! joins links into ever larger articulated bodies.
//!
//! Heavy paths with weighted medians. From the root of every subtree a path follows the child with
//! the most links. Each link of the path first takes in its light subtrees, the smallest first; the
//! resulting beads are then joined along the path by halving it at the weighted median. A part of a
//! path has two open joints, a bead at most its link's degree less one, so that no internal node
//! has more than max(2, degree − 1) handles, and light subtrees halve in size, so that the depth is
//! O(log n) for bounded degree.

use super::pieces::{Branch, BranchKind, Pieces, WORLD, children_of, subtree_sizes};
use forks_mechanism::{JointId, LinkId, SpanningForest, TreeEdge};

/// What a node of an assembly tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssemblyKind {
    /// A link by itself; one with [`LinkId::WORLD`] is a copy of the ground with a single joint.
    Leaf {
        /// The link.
        link: LinkId,
    },
    /// Two nodes joined by a tree joint.
    Joined {
        /// The joint.
        joint: JointId,
        /// The node that contains the joint's link nearer to the ground.
        inner: usize,
        /// The node that contains the link that the joint carries.
        outer: usize,
    },
    /// Two nodes joined rigidly: each holds a piece of the same link.
    Welded {
        /// The link.
        link: LinkId,
        /// The node with the piece nearer to the ground.
        inner: usize,
        /// The node with the piece that the other carries.
        outer: usize,
    },
}

/// A node of an assembly tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblyNode {
    /// Link or joint.
    pub kind: AssemblyKind,
    /// The node that this one is part of; `None` for a root.
    pub parent: Option<usize>,
    /// Number of edges to the root.
    pub depth: usize,
    /// Number of tree joints (and welds between pieces) that lead out of the node: the handles at
    /// which it meets the rest.
    pub handles: usize,
}

/// A binary tree per tree of the spanning forest, as plain data.
///
/// Children come before their parents in [`AssemblyTree::nodes`]: an upward pass walks the list
/// forwards, a downward pass backwards. The ground does not move, so every tree that stands on it
/// gets a copy of its own and the trees are independent of each other but for loop-closing joints.
/// Built in O(n log n) without recursion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssemblyTree {
    nodes: Vec<AssemblyNode>,
    /// The two leaves that a node's joint or weld ties.
    tied: Vec<Option<[usize; 2]>>,
    roots: Vec<usize>,
    leaf_of_link: Vec<Option<usize>>,
    /// The leaf of every further handle, link by link.
    leaf_of_handle: Vec<Vec<usize>>,
}

impl AssemblyTree {
    /// The assembly tree of a spanning forest, one leaf per link.
    pub fn new(forest: &SpanningForest) -> Self {
        Self::build(&Pieces::whole(forest.link_count(), forest.edges()))
    }

    /// The assembly tree of any forest over `link_count` links, inner links before outer ones, in
    /// which links of high degree are split so that no leaf has more than three handles and no
    /// internal node more than two.
    ///
    /// A link of degree d > 3 becomes a row of d − 2 pieces, welded to each other, each with a leaf
    /// of its own. `further_handles` says how many handles beside its tree joints each link has
    /// (closing joints, chosen handles); they count in its degree, but not in
    /// [`AssemblyNode::handles`]. The ground is not split.
    ///
    /// # Panics
    /// If `further_handles` does not hold a number per link.
    pub fn split(link_count: usize, edges: &[TreeEdge], further_handles: &[usize]) -> Self {
        assert_eq!(further_handles.len(), link_count, "further handles of all links");
        Self::build(&Pieces::split(link_count, edges, further_handles))
    }

    fn build(pieces: &Pieces) -> Self {
        let paths = HeavyPaths::new(pieces);
        let parts = pieces.link_of.len();
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * pieces.edges.len() + 1),
            tied: Vec::with_capacity(2 * pieces.edges.len() + 1),
            roots: Vec::new(),
            leaf_of_link: vec![None; pieces.links],
            leaf_of_handle: Vec::new(),
        };
        let mut found = Found { subtree: vec![usize::MAX; parts], leaf: vec![usize::MAX; parts] };
        // Inner edges come first: backwards, all light subtrees of a path are finished before its
        // head.
        for e in pieces.edges.iter().rev() {
            if !paths.is_head(e) {
                continue;
            }
            let node = tree.add_path(pieces, &paths, e, &mut found);
            found.subtree[e.outer] = node;
            if e.inner == WORLD {
                tree.roots.push(node);
            }
        }
        tree.roots.reverse();
        tree.set_depths();
        let leaves = |h: &Vec<usize>| h.iter().map(|&p| found.leaf[p]).collect();
        tree.leaf_of_handle = pieces.handles.iter().map(leaves).collect();
        tree
    }

    /// The leaves that the joint or weld of a node ties, the inner one first; `None` for leaves.
    pub fn tied_leaves(&self, node: usize) -> Option<[usize; 2]> {
        self.tied[node]
    }

    /// The leaf that holds a link's further handle, in the order of their number given to
    /// [`AssemblyTree::split`].
    pub fn leaf_of_handle(&self, link: LinkId, handle: usize) -> Option<usize> {
        self.leaf_of_handle.get(link.index())?.get(handle).copied()
    }

    /// All nodes, children before parents.
    pub fn nodes(&self) -> &[AssemblyNode] {
        &self.nodes
    }

    /// The root of every tree, in the order of the forest.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The leaf of a link, the innermost of its pieces; `None` for the ground, which has several.
    pub fn leaf_of_link(&self, link: LinkId) -> Option<usize> {
        self.leaf_of_link[link.index()]
    }

    /// Largest depth of a leaf.
    pub fn depth(&self) -> usize {
        self.nodes.iter().map(|n| n.depth).max().unwrap_or(0)
    }

    /// Largest number of handles of an internal node.
    pub fn max_handles(&self) -> usize {
        let joined = self.nodes.iter().filter(|n| !matches!(n.kind, AssemblyKind::Leaf { .. }));
        joined.map(|n| n.handles).max().unwrap_or(0)
    }

    /// The smallest node that contains both links: the earliest at which a loop-closing joint
    /// between them can be closed. The ground counts as being in every leaf. `None` if the links
    /// stand in different trees.
    pub fn closing_node(&self, a: LinkId, b: LinkId) -> Option<usize> {
        let (mut a, mut b) = match (self.leaf_of_link(a), self.leaf_of_link(b)) {
            (Some(a), Some(b)) => (a, b),
            (one, other) => return one.or(other),
        };
        while a != b {
            if self.nodes[a].depth < self.nodes[b].depth {
                std::mem::swap(&mut a, &mut b);
            }
            a = self.nodes[a].parent?;
        }
        Some(a)
    }

    fn leaf(&mut self, link: LinkId, handles: usize) -> usize {
        let node = self.nodes.len();
        self.nodes.push(AssemblyNode {
            kind: AssemblyKind::Leaf { link },
            parent: None,
            depth: 0,
            handles,
        });
        self.tied.push(None);
        node
    }

    fn join(&mut self, e: &Branch, found: &Found, inner: usize, outer: usize) -> usize {
        let node = self.nodes.len();
        self.tied.push(Some([found.leaf[e.inner], found.leaf[e.outer]]));
        self.nodes[inner].parent = Some(node);
        self.nodes[outer].parent = Some(node);
        self.nodes.push(AssemblyNode {
            kind: match e.kind {
                BranchKind::Joint(joint) => AssemblyKind::Joined { joint, inner, outer },
                BranchKind::Weld(link) => AssemblyKind::Welded { link, inner, outer },
            },
            parent: None,
            depth: 0,
            handles: self.nodes[inner].handles + self.nodes[outer].handles - 2,
        });
        node
    }

    /// Builds the beads of the path whose first piece is carried by `head`, then joins them.
    fn add_path(
        &mut self,
        pieces: &Pieces,
        paths: &HeavyPaths,
        head: &Branch,
        found: &mut Found,
    ) -> usize {
        let mut beads = Beads::default();
        if head.inner == WORLD {
            let ground = self.leaf(LinkId::WORLD, 1);
            found.leaf[WORLD] = ground;
            beads.push(ground, 1, *head);
        }
        let mut next = Some(*head);
        while let Some(e) = next {
            let children = paths.children(e.outer);
            let link = pieces.link_of[e.outer];
            let leaf = self.leaf(link, children.len() + 1);
            found.leaf[e.outer] = leaf;
            self.leaf_of_link[link.index()].get_or_insert(leaf);
            let mut node = leaf;
            let mut weight = 1;
            // The heavy child is the last.
            let (heavy, light) = match children.split_last() {
                Some((heavy, light)) => (Some(pieces.edges[*heavy]), light),
                None => (None, children),
            };
            for &c in light {
                let child = &pieces.edges[c];
                node = self.join(child, found, node, found.subtree[child.outer]);
                weight += paths.size[child.outer];
            }
            beads.push(node, weight, heavy.unwrap_or(e));
            next = heavy;
        }
        self.join_beads(&beads, found)
    }

    /// Halves the row of beads at its weighted median until single beads are left, with a stack.
    fn join_beads(&mut self, beads: &Beads, found: &Found) -> usize {
        enum Task {
            Range(usize, usize),
            Join(usize),
        }
        let mut tasks = vec![Task::Range(0, beads.nodes.len())];
        let mut done = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Range(from, to) if to - from == 1 => done.push(beads.nodes[from]),
                Task::Range(from, to) => {
                    let at = beads.weighted_median(from, to);
                    tasks.extend([Task::Join(at), Task::Range(at, to), Task::Range(from, at)]);
                }
                Task::Join(at) => {
                    let outer = done.pop().expect("outer part of a path");
                    let inner = done.pop().expect("inner part of a path");
                    done.push(self.join(&beads.branch_after[at - 1], found, inner, outer));
                }
            }
        }
        done.pop().expect("a path has at least one link")
    }

    fn set_depths(&mut self) {
        for i in (0..self.nodes.len()).rev() {
            if let Some(p) = self.nodes[i].parent {
                self.nodes[i].depth = self.nodes[p].depth + 1;
            }
        }
    }
}

/// Where the pieces' leaves and finished subtrees are.
struct Found {
    subtree: Vec<usize>,
    leaf: Vec<usize>,
}

/// The assembled links of one heavy path, from the ground outwards.
#[derive(Default)]
struct Beads {
    nodes: Vec<usize>,
    /// Number of links in all beads up to and including this one.
    weight_up_to: Vec<usize>,
    /// What leads to the next bead.
    branch_after: Vec<Branch>,
}

impl Beads {
    fn push(&mut self, node: usize, weight: usize, branch_after: Branch) {
        self.nodes.push(node);
        self.weight_up_to.push(self.weight_before(self.nodes.len() - 1) + weight);
        self.branch_after.push(branch_after);
    }

    fn weight_before(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.weight_up_to[i - 1] }
    }

    /// The first bead of the outer part when the larger of the two parts is as small as can be.
    fn weighted_median(&self, from: usize, to: usize) -> usize {
        let (low, high) = (self.weight_before(from), self.weight_before(to));
        let larger = |at: usize| {
            let w = self.weight_before(at);
            (w - low).max(high - w)
        };
        // The larger part falls up to the middle and rises behind it.
        let past = from + self.weight_up_to[from..to].partition_point(|w| 2 * w < low + high) + 1;
        let past = past.clamp(from + 1, to - 1);
        if past > from + 1 && larger(past - 1) <= larger(past) { past - 1 } else { past }
    }
}

/// Which child continues the path of every piece.
struct HeavyPaths {
    /// Number of pieces in the subtree of every piece.
    size: Vec<usize>,
    /// Edges to the children of all pieces, piece by piece, the smallest subtree first.
    edges: Vec<usize>,
    first: Vec<usize>,
    heavy: Vec<bool>,
}

impl HeavyPaths {
    fn new(pieces: &Pieces) -> Self {
        let n = pieces.link_of.len();
        let size = subtree_sizes(n, pieces.edges.iter().map(|e| (e.inner, e.outer)));
        let (first, mut edges) = children_of(n, pieces.edges.iter().map(|e| e.inner));
        let mut heavy = vec![false; n];
        for i in 0..n {
            let children = &mut edges[first[i]..first[i + 1]];
            children.sort_by_key(|&k| size[pieces.edges[k].outer]);
            if i != WORLD
                && let Some(&last) = children.last()
            {
                heavy[pieces.edges[last].outer] = true;
            }
        }
        Self { size, edges, first, heavy }
    }

    fn children(&self, piece: usize) -> &[usize] {
        &self.edges[self.first[piece]..self.first[piece + 1]]
    }

    /// True if a path begins with the piece that this edge carries.
    fn is_head(&self, e: &Branch) -> bool {
        !self.heavy[e.outer]
    }
}
