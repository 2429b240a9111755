//! Binary assembly trees over the spanning forest: the order in which the divide-and-conquer solver
//! joins links into ever larger articulated bodies.
//!
//! Heavy paths with weighted medians. From the root of every subtree a path follows the child with the
//! most links. Each link of the path first takes in its light subtrees, the smallest first; the resulting
//! beads are then joined along the path by halving it at the weighted median. A part of a path has two
//! open joints, a bead at most its link's degree less one, so that no internal node has more than
//! max(2, degree − 1) handles, and light subtrees halve in size, so that the depth is O(log n) for
//! bounded degree.

use crate::{JointId, LinkId, SpanningForest, TreeEdge};

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
    /// Number of tree joints that lead out of the node: the handles at which it meets the rest.
    pub handles: usize,
}

/// A binary tree per tree of the spanning forest, as plain data.
///
/// Children come before their parents in [`AssemblyTree::nodes`]: an upward pass walks the list forwards,
/// a downward pass backwards. The ground does not move, so every tree that stands on it gets a copy of
/// its own and the trees are independent of each other but for loop-closing joints. Built in
/// O(n log n) without recursion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssemblyTree {
    nodes: Vec<AssemblyNode>,
    roots: Vec<usize>,
    leaf_of_link: Vec<Option<usize>>,
}

impl AssemblyTree {
    /// The assembly tree of a spanning forest.
    pub fn new(forest: &SpanningForest) -> Self {
        let paths = HeavyPaths::new(forest);
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * forest.edges().len() + 1),
            roots: Vec::new(),
            leaf_of_link: vec![None; forest.link_count()],
        };
        let mut node_of_subtree = vec![usize::MAX; forest.link_count()];
        // Depth-first order backwards: all light subtrees of a path are finished before its head.
        for e in forest.edges().iter().rev() {
            if !paths.is_head(e) {
                continue;
            }
            let node = tree.add_path(forest, &paths, e, &node_of_subtree);
            node_of_subtree[e.outer.index()] = node;
            if e.inner == LinkId::WORLD {
                tree.roots.push(node);
            }
        }
        tree.roots.reverse();
        tree.set_depths();
        tree
    }

    /// All nodes, children before parents.
    pub fn nodes(&self) -> &[AssemblyNode] {
        &self.nodes
    }

    /// The root of every tree, in the order of the forest.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The leaf of a link; `None` for the ground, which has several.
    pub fn leaf_of_link(&self, link: LinkId) -> Option<usize> {
        self.leaf_of_link[link.index()]
    }

    /// Largest depth of a leaf.
    pub fn depth(&self) -> usize {
        self.nodes.iter().map(|n| n.depth).max().unwrap_or(0)
    }

    /// Mean depth of the leaves.
    pub fn mean_leaf_depth(&self) -> f64 {
        let leaves = self.nodes.iter().filter(|n| matches!(n.kind, AssemblyKind::Leaf { .. }));
        let (sum, count) = leaves.fold((0, 0), |(s, c), n| (s + n.depth, c + 1));
        if count == 0 { 0.0 } else { sum as f64 / count as f64 }
    }

    /// Largest number of handles of an internal node.
    pub fn max_handles(&self) -> usize {
        let joined = self.nodes.iter().filter(|n| matches!(n.kind, AssemblyKind::Joined { .. }));
        joined.map(|n| n.handles).max().unwrap_or(0)
    }

    /// The smallest node that contains both links: the earliest at which a loop-closing joint between
    /// them can be closed. The ground counts as being in every leaf. `None` if the links stand in
    /// different trees.
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
        if link != LinkId::WORLD {
            self.leaf_of_link[link.index()] = Some(node);
        }
        node
    }

    fn join(&mut self, joint: JointId, inner: usize, outer: usize) -> usize {
        let node = self.nodes.len();
        self.nodes[inner].parent = Some(node);
        self.nodes[outer].parent = Some(node);
        self.nodes.push(AssemblyNode {
            kind: AssemblyKind::Joined { joint, inner, outer },
            parent: None,
            depth: 0,
            handles: self.nodes[inner].handles + self.nodes[outer].handles - 2,
        });
        node
    }

    /// Builds the beads of the path whose first link is carried by `head`, then joins them.
    fn add_path(
        &mut self,
        forest: &SpanningForest,
        paths: &HeavyPaths,
        head: &TreeEdge,
        node_of_subtree: &[usize],
    ) -> usize {
        let mut beads = Beads::default();
        if head.inner == LinkId::WORLD {
            let ground = self.leaf(LinkId::WORLD, 1);
            beads.push(ground, 1, head.joint);
        }
        let mut next = Some(*head);
        while let Some(e) = next {
            let children = paths.children(e.outer);
            let mut node = self.leaf(e.outer, children.len() + 1);
            let mut weight = 1;
            // The heavy child is the last.
            let (heavy, light) = match children.split_last() {
                Some((heavy, light)) => (Some(forest.edges()[*heavy]), light),
                None => (None, children),
            };
            for &c in light {
                let child = &forest.edges()[c];
                node = self.join(child.joint, node, node_of_subtree[child.outer.index()]);
                weight += paths.size[child.outer.index()];
            }
            beads.push(node, weight, heavy.map_or(e.joint, |h| h.joint));
            next = heavy;
        }
        self.join_beads(&beads)
    }

    /// Halves the row of beads at its weighted median until single beads are left, with a stack.
    fn join_beads(&mut self, beads: &Beads) -> usize {
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
                    done.push(self.join(beads.joint_after[at - 1], inner, outer));
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

/// The assembled links of one heavy path, from the ground outwards.
#[derive(Default)]
struct Beads {
    nodes: Vec<usize>,
    /// Number of links in all beads up to and including this one.
    weight_up_to: Vec<usize>,
    /// The joint to the next bead.
    joint_after: Vec<JointId>,
}

impl Beads {
    fn push(&mut self, node: usize, weight: usize, joint_after: JointId) {
        self.nodes.push(node);
        self.weight_up_to.push(self.weight_before(self.nodes.len() - 1) + weight);
        self.joint_after.push(joint_after);
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

/// Which child continues the path of every link.
struct HeavyPaths {
    /// Number of links in the subtree of every link.
    size: Vec<usize>,
    /// Edges to the children of all links, link by link, the smallest subtree first.
    edges: Vec<usize>,
    first: Vec<usize>,
    heavy: Vec<bool>,
}

impl HeavyPaths {
    fn new(forest: &SpanningForest) -> Self {
        let n = forest.link_count();
        let mut size = vec![1; n];
        let mut first = vec![0; n + 1];
        for e in forest.edges().iter().rev() {
            size[e.inner.index()] += size[e.outer.index()];
            first[e.inner.index() + 1] += 1;
        }
        for i in 0..n {
            first[i + 1] += first[i];
        }
        let mut edges = vec![0; forest.edges().len()];
        let mut free = first.clone();
        for (k, e) in forest.edges().iter().enumerate() {
            edges[free[e.inner.index()]] = k;
            free[e.inner.index()] += 1;
        }
        let mut heavy = vec![false; n];
        for i in 0..n {
            let children = &mut edges[first[i]..first[i + 1]];
            children.sort_by_key(|&k| size[forest.edges()[k].outer.index()]);
            if i != LinkId::WORLD.index()
                && let Some(&last) = children.last()
            {
                heavy[forest.edges()[last].outer.index()] = true;
            }
        }
        Self { size, edges, first, heavy }
    }

    fn children(&self, link: LinkId) -> &[usize] {
        &self.edges[self.first[link.index()]..self.first[link.index() + 1]]
    }

    /// True if a path begins with the link that this edge carries.
    fn is_head(&self, e: &TreeEdge) -> bool {
        !self.heavy[e.outer.index()]
    }
}
