//! The program of the two passes: nodes in an order in which every subtree is a contiguous range,
//! and where each node's data are.

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    /// One of `pieces` equal pieces of a body.
    Leaf { body: usize, pieces: f64 },
    /// A tree joint between the inner child (side A) and the outer child (side B).
    Join { connection: usize },
    /// A joint between two handles of the one child, or between a handle and the ground: which
    /// handles of the child are sides A and B.
    Close { connection: usize, sides: [Option<usize>; 2] },
    /// Two children put side by side.
    Beside,
}

/// A node with the places of its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) operation: Operation,
    /// The inner child, or the only one. The outer child is the node before this one.
    pub(crate) inner: usize,
    /// Number of nodes in the subtree.
    pub(crate) size: usize,
    /// Number of handles.
    pub(crate) handles: usize,
    /// First entry in the lists of handles and of sources.
    pub(crate) list: usize,
    /// Slot of Φ and of b.
    pub(crate) phi: usize,
    pub(crate) b: usize,
    /// Place among the closed joints.
    pub(crate) factor: usize,
    /// First block of Y and N rows.
    pub(crate) rows: usize,
    /// First of the forces at the handles.
    pub(crate) force: usize,
    /// Ends of everything that belongs to the subtree and to what comes before it.
    pub(crate) end: Ends,
}

/// How far each array reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) phi: usize,
    pub(crate) b: usize,
    pub(crate) factor: usize,
    pub(crate) rows: usize,
    pub(crate) force: usize,
}

/// A handle: a side of a connection (A: even, B: odd), or a chosen link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    Side { connection: usize, side: usize },
    Chosen(usize),
}

/// The program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) nodes: Vec<Node>,
    /// Handles of all nodes.
    pub(crate) handles: Vec<Handle>,
    /// Beside each handle: which of the children's handles it is, those of the inner child first,
    /// without the ones that the node consumes.
    pub(crate) sources: Vec<usize>,
    /// Sizes of the arrays.
    pub(crate) total: Ends,
    /// Largest number of handles of a node.
    pub(crate) most_handles: usize,
    /// Largest number of edges from the last node to a leaf.
    pub(crate) depth: usize,
}

/// Subtrees of at most this many nodes are worked on by one thread, in storage that they reuse.
pub(crate) const GRAIN: usize = 192;

impl Program {
    /// Handles of a node.
    pub(crate) fn handles_of(&self, n: &Node) -> &[Handle] {
        &self.handles[n.list..n.list + n.handles]
    }

    /// Sources of a node's handles.
    pub(crate) fn sources_of(&self, n: &Node) -> &[usize] {
        &self.sources[n.list..n.list + n.handles]
    }
}

/// Which of a child's handles is the x-th of those that stay open when `sides` are closed.
pub(super) fn stays(sides: [Option<usize>; 2], x: usize) -> usize {
    let (low, high) = match sides {
        [Some(i), Some(j)] => (i.min(j), i.max(j)),
        [Some(h), None] | [None, Some(h)] => (h, usize::MAX),
        [None, None] => (usize::MAX, usize::MAX),
    };
    let at = x + usize::from(x >= low);
    at + usize::from(high != usize::MAX && at >= high)
}
