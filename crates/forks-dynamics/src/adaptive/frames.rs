//! Hierarchical frames (\[R06\] §5.1, Eq. 10 and 11): every node has a frame, that of its first
//! handle or, if it stands on the ground, the world's. It keeps the poses of its handles there, and
//! its own pose in its parent's frame. A joint that moves changes them at its node and at the
//! node's ancestors only.

use forks_mechanism::lie::Pose;

use super::layout::{Layout, NONE, Node, Work};

/// Poses of all nodes.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    /// Handles in their node's frame.
    pub(super) handles: Vec<Pose>,
    pub(super) parent_from_node: Vec<Pose>,
    /// World poses, where `known` is the present count.
    world: Vec<Pose>,
    known: Vec<u32>,
    present: u32,
    path: Vec<u32>,
}

/// What a node's joint puts between its sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Side B's handle frame in side A's.
    pub(super) a_from_b: Pose,
    /// The ground's handle in the world, where one side is the ground.
    pub(super) ground: Pose,
    /// True for a closing joint: it puts nothing anywhere.
    pub(super) closing: bool,
}

impl Frames {
    pub(super) fn new(layout: &Layout) -> Self {
        let n = layout.nodes.len();
        Self {
            handles: vec![Pose::IDENTITY; layout.poses],
            parent_from_node: vec![Pose::IDENTITY; n],
            world: vec![Pose::IDENTITY; n],
            known: vec![0; n],
            present: 1,
            path: Vec::with_capacity(layout.depth + 1),
        }
    }

    /// Bytes of [`Frames::new`].
    pub(super) fn bytes(layout: &Layout) -> usize {
        (layout.poses + 2 * layout.nodes.len()) * size_of::<Pose>() + 4 * layout.nodes.len()
    }

    /// Places the handles and the children of a node that is no leaf.
    pub(super) fn place(&mut self, layout: &Layout, n: &Node, joint: &Placed) {
        let [a, b] = n.children;
        match n.work {
            Work::Leaf { .. } => {}
            Work::Join { .. } => self.join(layout, n, &joint.a_from_b),
            Work::Close { sides, .. } => {
                let child = &layout.nodes[a as usize];
                let handle = |h: usize| self.handles[child.poses + h];
                self.parent_from_node[a as usize] = match sides {
                    [None, Some(h)] if !joint.closing => {
                        joint.ground * joint.a_from_b * handle(h).inverse()
                    }
                    [Some(h), None] if !joint.closing => {
                        joint.ground * joint.a_from_b.inverse() * handle(h).inverse()
                    }
                    _ if n.anchored || n.handles == 0 => Pose::IDENTITY,
                    _ => handle(layout.kept_of(n)[0].handle).inverse(),
                };
                self.take_over(layout, n);
            }
            Work::Beside => {
                self.parent_from_node[a as usize] = Pose::IDENTITY;
                self.parent_from_node[b as usize] = Pose::IDENTITY;
                self.take_over(layout, n);
            }
        }
    }

    /// Eq. 11: the children's frames in the node's. The joint is between the handles 0 of both.
    #[inline]
    fn join(&mut self, layout: &Layout, n: &Node, a_from_b: &Pose) {
        let [a, b] = n.children.map(|c| c as usize);
        let (inner, outer) = (&layout.nodes[a], &layout.nodes[b]);
        let (from_a, from_b) = if inner.anchored {
            (Pose::IDENTITY, self.handles[inner.poses] * *a_from_b)
        } else if outer.anchored {
            (self.handles[outer.poses] * a_from_b.inverse(), Pose::IDENTITY)
        } else {
            match layout.kept_of(n).first() {
                Some(k) if k.child == 0 => {
                    let from_a = self.handles[inner.poses + k.handle].inverse();
                    (from_a, from_a * *a_from_b)
                }
                Some(k) => {
                    let from_b = self.handles[outer.poses + k.handle].inverse();
                    (from_b * a_from_b.inverse(), from_b)
                }
                None => (Pose::IDENTITY, *a_from_b),
            }
        };
        self.parent_from_node[a] = from_a;
        self.parent_from_node[b] = from_b;
        self.take_over(layout, n);
    }

    /// Eq. 10: the handles' poses from the children's.
    #[inline]
    fn take_over(&mut self, layout: &Layout, n: &Node) {
        for (at, k) in layout.kept_of(n).iter().enumerate() {
            let child = n.children[k.child] as usize;
            self.handles[n.poses + at] = if at == 0 && !n.anchored {
                Pose::IDENTITY
            } else {
                let handle = self.handles[layout.nodes[child].poses + k.handle];
                self.parent_from_node[child] * handle
            };
        }
    }

    /// World pose of a node's frame: the product along its path, O(log n).
    pub(super) fn world_from_node(&self, layout: &Layout, node: usize) -> Pose {
        let mut pose = Pose::IDENTITY;
        let mut at = node;
        while layout.nodes[at].parent != NONE {
            pose = self.parent_from_node[at] * pose;
            at = layout.nodes[at].parent as usize;
        }
        pose
    }

    /// Forgets the world poses kept by [`Frames::shared_world_from_node`].
    pub(super) fn forget_world(&mut self) {
        self.present = self.present.wrapping_add(1);
        if self.present == 0 {
            self.known.fill(0);
            self.present = 1;
        }
    }

    /// As [`Frames::world_from_node`], but nodes that several paths share are computed once until
    /// they are forgotten.
    pub(super) fn shared_world_from_node(&mut self, layout: &Layout, node: usize) -> Pose {
        self.path.clear();
        let mut at = node as u32;
        while self.known[at as usize] != self.present {
            self.path.push(at);
            let parent = layout.nodes[at as usize].parent;
            if parent == NONE {
                break;
            }
            at = parent;
        }
        while let Some(n) = self.path.pop() {
            let i = n as usize;
            self.world[i] = match layout.nodes[i].parent {
                NONE => Pose::IDENTITY,
                p => self.world[p as usize] * self.parent_from_node[i],
            };
            self.known[i] = self.present;
        }
        self.world[node]
    }
}
