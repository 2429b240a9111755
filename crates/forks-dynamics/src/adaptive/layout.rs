//! The nodes of the assembly tree and where their data are.
//!
//! A node with m handles has rows of `stride(m)` = 6m + 2 numbers: six per handle, the constant's,
//! and one of padding that stays zero. With φ = [f; 1; 0], f the forces at the handles, its arrays
//! are
//! ```text
//! matrix    6m rows   a = [Φ b] φ                  accelerations of the handles      ([R06] Eq. 1)
//! total      r rows   A = |F φ|²                 total acceleration                (EQUATIONS 1.5)
//! response  6 rows  constraint force of the node's joint (6 − d rows), q̈ (d rows)  ([R06] Eq. 4)
//! forces     1 row    φ
//! ```

use crate::dca::{
    bodies::Bodies,
    nodes::{Handle, Operation, Program},
};

/// No node, no handle.
pub(super) const NONE: u32 = u32::MAX;

/// Numbers per row of a node with `handles` handles.
#[inline(always)]
pub(super) const fn stride(handles: usize) -> usize {
    6 * handles + 2
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    /// A piece of a body; one of them carries all forces on the body.
    Leaf { body: usize, first: bool },
    /// Joins its two children by a tree joint: handle 0 of both.
    Join { connection: usize },
    /// Closes a joint between two handles of its child, or between one and the ground.
    Close { connection: usize, sides: [Option<usize>; 2] },
    /// Two children side by side.
    Beside,
}

/// A handle that a node takes over from a child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) child: usize,
    pub(super) handle: usize,
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) work: Work,
    /// The inner and the outer child.
    pub(super) children: [u32; 2],
    pub(super) parent: u32,
    pub(super) handles: usize,
    pub(super) stride: usize,
    /// First of the node's handles in [`Layout::kept`].
    pub(super) kept: usize,
    pub(super) matrix: usize,
    pub(super) total: usize,
    /// Rows of F.
    pub(super) rows: usize,
    /// True if F is upper triangular, else its rows are the joints' own, as they are.
    pub(super) triangular: bool,
    /// Per child: true if its handles that stay open come in the same order in the node.
    pub(super) in_order: [bool; 2],
    /// Of a closing node its response; of a leaf the first of its handles in the plan's list.
    pub(super) response: usize,
    pub(super) forces: usize,
    /// First of the handles' poses.
    pub(super) poses: usize,
    /// True if the node stands on the ground: its frame is the world's. Else it is that of handle
    /// 0.
    pub(super) anchored: bool,
}

/// Nodes, children before parents and subtrees contiguous.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) nodes: Vec<Node>,
    pub(super) kept: Vec<Kept>,
    /// Handles of leaves: connection and side.
    pub(super) leaf_handles: Vec<[usize; 2]>,
    /// Lengths of the arrays.
    pub(super) matrix: usize,
    pub(super) total: usize,
    pub(super) response: usize,
    pub(super) forces: usize,
    pub(super) poses: usize,
    pub(super) depth: usize,
    pub(super) most_handles: usize,
}

impl Layout {
    /// `dof`: coordinates of every connection, welds included.
    pub(super) fn new(program: &Program, bodies: &Bodies, dof: &[usize]) -> Self {
        let mut out = Self { depth: program.depth, ..Self::default() };
        let mut seen = vec![false; bodies.bodies.len()];
        for (i, n) in program.nodes.iter().enumerate() {
            let two = [n.inner as u32, i.wrapping_sub(1) as u32];
            let (work, children) = match n.operation {
                Operation::Leaf { body, .. } => {
                    let first = !std::mem::replace(&mut seen[body], true);
                    (Work::Leaf { body, first }, [NONE; 2])
                }
                Operation::Join { connection } => (Work::Join { connection }, two),
                Operation::Close { connection, sides } => {
                    (Work::Close { connection, sides }, [n.inner as u32, NONE])
                }
                Operation::Beside => (Work::Beside, two),
            };
            out.add(work, children, n.handles, program.sources_of(n));
            if let Work::Leaf { .. } = work {
                for h in program.handles_of(n) {
                    if let Handle::Side { connection, side } = *h {
                        out.leaf_handles.push([connection, side]);
                    }
                }
            }
            out.count_rows(i, bodies, dof);
        }
        out
    }

    fn add(&mut self, work: Work, children: [u32; 2], handles: usize, sources: &[usize]) {
        let index = self.nodes.len() as u32;
        let stays = self.candidates(work, children);
        let kept = self.kept.len();
        if !stays.is_empty() {
            self.kept.extend(sources.iter().map(|&s| stays[s]));
        }
        let in_order = [0, 1].map(|child| {
            let mut of_child = self.kept[kept..].iter().filter(|k| k.child == child);
            let mut last = of_child.next().map_or(0, |k| k.handle);
            of_child.all(|k| std::mem::replace(&mut last, k.handle) < k.handle)
        });
        for c in children.into_iter().filter(|&c| c != NONE) {
            self.nodes[c as usize].parent = index;
        }
        let closes = matches!(work, Work::Join { .. } | Work::Close { .. });
        let s = stride(handles);
        self.nodes.push(Node {
            work,
            children,
            parent: NONE,
            handles,
            stride: s,
            kept,
            matrix: self.matrix,
            total: self.total,
            rows: 0,
            triangular: false,
            in_order,
            response: if closes { self.response } else { self.leaf_handles.len() },
            forces: self.forces,
            poses: self.poses,
            anchored: false,
        });
        self.matrix += 6 * handles * s;
        self.response += if closes { 6 * s } else { 0 };
        self.forces += s;
        self.poses += handles;
        self.most_handles = self.most_handles.max(handles);
    }

    /// The children's handles that stay open, in the order that sources count.
    fn candidates(&self, work: Work, children: [u32; 2]) -> Vec<Kept> {
        let all = |child: usize| {
            let count = self.nodes[children[child] as usize].handles;
            (0..count).map(move |handle| Kept { child, handle })
        };
        match work {
            Work::Leaf { .. } => vec![],
            Work::Join { .. } => all(0).skip(1).chain(all(1).skip(1)).collect(),
            Work::Close { sides, .. } => {
                all(0).filter(|k| !sides.contains(&Some(k.handle))).collect()
            }
            Work::Beside => all(0).chain(all(1)).collect(),
        }
    }

    /// Rows of F, and whether the node stands on the ground.
    fn count_rows(&mut self, index: usize, bodies: &Bodies, dof: &[usize]) {
        let n = &self.nodes[index];
        let child = |k: usize| self.nodes.get(n.children[k] as usize);
        let of_children: usize = (0..2).filter_map(child).map(|c| c.rows).sum();
        let below = (0..2).filter_map(child).any(|c| c.anchored);
        let (own, anchored) = match n.work {
            Work::Join { connection } => (dof[connection], below),
            Work::Close { connection, sides } => {
                let on_ground = sides.contains(&None) && !bodies.connections[connection].closing;
                (dof[connection], below || on_ground)
            }
            Work::Leaf { .. } => (0, false),
            Work::Beside => (0, true),
        };
        let (all, most) = (of_children + own, 6 * n.handles + 1);
        let n = &mut self.nodes[index];
        n.triangular = all > most;
        n.rows = all.min(most);
        n.anchored = anchored;
        self.total += n.rows * n.stride;
    }

    /// A node's handles among its children's.
    pub(super) fn kept_of(&self, n: &Node) -> &[Kept] {
        match n.work {
            Work::Leaf { .. } => &[],
            _ => &self.kept[n.kept..n.kept + n.handles],
        }
    }
}

/// A node with its row length, known to the compiler where it is a common one.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) s: usize,
    pub(super) layout: &'a Layout,
    pub(super) n: &'a Node,
}

impl<'a> View<'a> {
    /// A child that is there.
    #[inline(always)]
    pub(super) fn child(&self, child: usize) -> &'a Node {
        &self.layout.nodes[self.n.children[child] as usize]
    }

    /// A child's row, the columns of its open handles and of the constant, in the node's columns.
    #[inline(always)]
    pub(super) fn copy_kept(&self, child: usize, row: &[f64], into: &mut [f64]) {
        for (at, k) in self.layout.kept_of(self.n).iter().enumerate() {
            if k.child == child {
                into[6 * at..6 * at + 6].copy_from_slice(&row[6 * k.handle..6 * k.handle + 6]);
            }
        }
        into[6 * self.n.handles] = row[6 * self.child(child).handles];
    }
}
