//! From bodies and connections to the program: the assembly tree with trees joined that loops
//! connect, a node per closing joint, and the places of all data.

use super::assembly_tree::{AssemblyKind, AssemblyTree};
use forks_mechanism::{JointId, LinkId, TreeEdge};

use super::{
    bodies::Bodies,
    kernel::packed_len,
    nodes::{Ends, GRAIN, Handle, Node, Operation, Program},
};

/// When loops are closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClosingOrder {
    /// At the smallest articulated body that holds both sides: fewest handles.
    #[default]
    Early,
    /// All at the end. Slower; for comparison.
    Late,
}

/// A node before numbering.
struct Draft {
    operation: Operation,
    children: Vec<usize>,
    parent: Option<usize>,
    depth: usize,
    handles: Vec<Handle>,
    /// Closing joints to be closed right after this node.
    closing: Vec<usize>,
}

/// Builds the program; gives it and the number of weld connections that follow those of `bodies`.
pub(crate) fn assemble(bodies: &Bodies, chosen: &[usize], order: ClosingOrder) -> (Program, usize) {
    let mut drafts = Drafts::new(bodies, chosen);
    drafts.join_trees(bodies);
    drafts.place_closings(bodies, order);
    let welds = drafts.welds;
    (Numbering::new(drafts).number(), welds)
}

struct Drafts {
    list: Vec<Draft>,
    roots: Vec<usize>,
    /// The leaf at each side of every connection; `None` for the ground.
    leaf_of_side: Vec<[Option<usize>; 2]>,
    welds: usize,
}

impl Drafts {
    fn new(bodies: &Bodies, chosen: &[usize]) -> Self {
        let n = bodies.bodies.len();
        let connections = &bodies.connections;
        let edges: Vec<TreeEdge> = (0..connections.len())
            .filter(|&c| !connections[c].closing)
            .map(|c| TreeEdge {
                joint: JointId::new(c),
                inner: LinkId::new(connections[c].bodies[0]),
                outer: LinkId::new(connections[c].bodies[1]),
                reversed: false,
            })
            .collect();
        let mut further = vec![0; n];
        let closings = || (0..connections.len()).filter(|&c| connections[c].closing);
        closings().for_each(|c| connections[c].bodies.iter().for_each(|&b| further[b] += 1));
        chosen.iter().for_each(|&b| further[b] += 1);
        let tree = AssemblyTree::split(n, &edges, &further);
        let mut roots = tree.roots().to_vec();
        roots.sort_unstable();
        let mut out = Self {
            list: vec![],
            roots,
            leaf_of_side: vec![[None; 2]; connections.len()],
            welds: 0,
        };
        out.copy(&tree, n, connections.len());
        let mut next = vec![0; n];
        let mut take = |body: usize| {
            let handle = next[body];
            next[body] += 1;
            tree.leaf_of_handle(LinkId::new(body), handle).filter(|_| body != 0)
        };
        for c in closings() {
            for side in 0..2 {
                out.leaf_of_side[c][side] = take(connections[c].bodies[side]);
                if let Some(leaf) = out.leaf_of_side[c][side] {
                    out.list[leaf].handles.push(Handle::Side { connection: c, side });
                }
            }
        }
        for (k, &body) in chosen.iter().enumerate() {
            if let Some(leaf) = take(body) {
                out.list[leaf].handles.push(Handle::Chosen(k));
            }
        }
        out
    }

    /// The assembly tree's nodes; a joint on the ground becomes a node with one child.
    fn copy(&mut self, tree: &AssemblyTree, bodies: usize, connections: usize) {
        let mut pieces = vec![0.0; bodies];
        for n in tree.nodes() {
            if let AssemblyKind::Leaf { link } = n.kind {
                pieces[link.index()] += 1.0;
            }
        }
        let ground = AssemblyKind::Leaf { link: LinkId::WORLD };
        let is_ground = |n: usize| tree.nodes()[n].kind == ground;
        for (i, n) in tree.nodes().iter().enumerate() {
            let (operation, children) = match n.kind {
                AssemblyKind::Leaf { link } => {
                    let body = link.index();
                    (Operation::Leaf { body, pieces: pieces[body] }, vec![])
                }
                AssemblyKind::Joined { joint, inner, outer } if is_ground(inner) => {
                    // Which handle of the child it is, is known once the handles are numbered.
                    let sides = [None, Some(0)];
                    (Operation::Close { connection: joint.index(), sides }, vec![outer])
                }
                AssemblyKind::Joined { joint, inner, outer } => {
                    (Operation::Join { connection: joint.index() }, vec![inner, outer])
                }
                AssemblyKind::Welded { inner, outer, .. } => {
                    self.welds += 1;
                    self.leaf_of_side.push([None; 2]);
                    let connection = connections + self.welds - 1;
                    (Operation::Join { connection }, vec![inner, outer])
                }
            };
            self.push(operation, children);
            let connection = match operation {
                Operation::Join { connection } | Operation::Close { connection, .. } => connection,
                _ => continue,
            };
            let tied = tree.tied_leaves(i).expect("a joint ties two leaves");
            for side in 0..2 {
                if !is_ground(tied[side]) {
                    self.leaf_of_side[connection][side] = Some(tied[side]);
                    self.list[tied[side]].handles.push(Handle::Side { connection, side });
                }
            }
        }
    }

    fn push(&mut self, operation: Operation, children: Vec<usize>) -> usize {
        let node = self.list.len();
        children.iter().for_each(|&c| self.list[c].parent = Some(node));
        let (handles, closing) = (vec![], vec![]);
        self.list.push(Draft { operation, children, parent: None, depth: 0, handles, closing });
        node
    }

    /// Puts trees side by side: first those that loops connect, neighbours together, then the rest.
    fn join_trees(&mut self, bodies: &Bodies) {
        let root_of_node = self.root_of_node();
        let position = |root: usize| self.roots.binary_search(&root).expect("roots ascend");
        let mut neighbours = vec![Vec::new(); self.roots.len()];
        for (c, sides) in self.leaf_of_side.iter().enumerate().take(bodies.connections.len()) {
            if !bodies.connections[c].closing {
                continue;
            }
            if let [Some(a), Some(b)] = *sides {
                let (a, b) = (position(root_of_node[a]), position(root_of_node[b]));
                neighbours[a].push(b);
                neighbours[b].push(a);
            }
        }
        let groups = breadth_first_groups(&neighbours);
        let roots = self.roots.clone();
        let tops: Vec<usize> = groups
            .into_iter()
            .map(|g| self.balanced(&g.into_iter().map(|i| roots[i]).collect::<Vec<_>>()))
            .collect();
        self.roots = if tops.is_empty() { vec![] } else { vec![self.balanced(&tops)] };
    }

    fn root_of_node(&self) -> Vec<usize> {
        let mut root: Vec<usize> = (0..self.list.len()).collect();
        for i in (0..self.list.len()).rev() {
            if let Some(p) = self.list[i].parent {
                root[i] = root[p];
            }
        }
        root
    }

    fn balanced(&mut self, nodes: &[usize]) -> usize {
        let mut level = nodes.to_vec();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| match *pair {
                    [a, b] => self.push(Operation::Beside, vec![a, b]),
                    _ => pair[0],
                })
                .collect();
        }
        level[0]
    }

    /// Every closing joint at the smallest node that holds both its sides, or all at the top.
    fn place_closings(&mut self, bodies: &Bodies, order: ClosingOrder) {
        for i in (0..self.list.len()).rev() {
            if let Some(p) = self.list[i].parent {
                self.list[i].depth = self.list[p].depth + 1;
            }
        }
        let Some(&top) = self.roots.first() else { return };
        for (c, connection) in bodies.connections.iter().enumerate() {
            if !connection.closing {
                continue;
            }
            let at = match (self.leaf_of_side[c], order) {
                ([None, None], _) => continue,
                (_, ClosingOrder::Late) => top,
                ([Some(a), Some(b)], _) => self.common(a, b),
                ([Some(a), None] | [None, Some(a)], _) => a,
            };
            self.list[at].closing.push(c);
        }
    }

    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.list[a].depth < self.list[b].depth {
                std::mem::swap(&mut a, &mut b);
            }
            a = self.list[a].parent.expect("all trees have one root");
        }
        a
    }
}

/// Connected groups of a graph, each in breadth-first order.
fn breadth_first_groups(neighbours: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; neighbours.len()];
    let mut out = vec![];
    for start in 0..neighbours.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut group = vec![start];
        let mut at = 0;
        while at < group.len() {
            for &n in &neighbours[group[at]] {
                if !std::mem::replace(&mut seen[n], true) {
                    group.push(n);
                }
            }
            at += 1;
        }
        out.push(group);
    }
    out
}

/// Lays the nodes out, children before parents and subtrees contiguous.
struct Numbering {
    drafts: Drafts,
    program: Program,
    end: Ends,
    /// Free slots of the subtree under way: (Φ, b, handles).
    free: Vec<(usize, usize, usize)>,
    depth: Vec<usize>,
}

impl Numbering {
    fn new(drafts: Drafts) -> Self {
        Self {
            drafts,
            program: Program::default(),
            end: Ends::default(),
            free: vec![],
            depth: vec![],
        }
    }

    fn number(mut self) -> Program {
        enum Task {
            Enter(usize),
            Leave(usize),
        }
        let mut operations: Vec<(Operation, usize, usize)> = vec![];
        let mut own_handles: Vec<Vec<Handle>> = vec![];
        let mut tasks: Vec<Task> = self.drafts.roots.iter().map(|&r| Task::Enter(r)).collect();
        let mut number_of = vec![0; self.drafts.list.len()];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Enter(d) => {
                    tasks.push(Task::Leave(d));
                    let children = self.drafts.list[d].children.iter().rev();
                    tasks.extend(children.map(|&c| Task::Enter(c)));
                }
                Task::Leave(d) => {
                    let draft = &mut self.drafts.list[d];
                    let inner = draft.children.first().map_or(0, |&c| number_of[c]);
                    let sizes = draft.children.iter().map(|&c| operations[number_of[c]].2);
                    let size_below: usize = sizes.sum();
                    operations.push((draft.operation, inner, size_below + 1));
                    own_handles.push(std::mem::take(&mut draft.handles));
                    for (i, &c) in draft.closing.iter().enumerate() {
                        let child = operations.len() - 1;
                        let sides = [Some(0), Some(0)];
                        let operation = Operation::Close { connection: c, sides };
                        operations.push((operation, child, size_below + 2 + i));
                        own_handles.push(vec![]);
                    }
                    number_of[d] = operations.len() - 1;
                }
            }
        }
        let parents = parents(&operations);
        for (i, (operation, inner, size)) in operations.iter().enumerate() {
            let own = std::mem::take(&mut own_handles[i]);
            self.add(*operation, *inner, *size, own, parents[i]);
        }
        self.program.total = self.end;
        self.program.depth = self.depth.last().copied().unwrap_or(0);
        self.program
    }

    /// Adds the next node. `parent`: the joint that its parent closes, whose handle goes first, and
    /// the parent's number of nodes.
    fn add(
        &mut self,
        operation: Operation,
        inner: usize,
        size: usize,
        own: Vec<Handle>,
        parent: (Option<usize>, usize),
    ) {
        let index = self.program.nodes.len();
        let is =
            |h: &Handle, c: usize| matches!(h, Handle::Side { connection, .. } if *connection == c);
        let below = |n: usize| self.program.handles_of(&self.program.nodes[n]).to_vec();
        let mut operation = operation;
        let (gathered, rows, children): (Vec<Handle>, usize, Vec<usize>) = match &mut operation {
            Operation::Leaf { .. } => (own, 0, vec![]),
            Operation::Beside => {
                ([below(inner), below(index - 1)].concat(), 0, vec![inner, index - 1])
            }
            Operation::Join { connection } => {
                let mut all = [below(inner), below(index - 1)].concat();
                all.retain(|h| !is(h, *connection));
                let rows = all.len();
                (all, rows, vec![inner, index - 1])
            }
            Operation::Close { connection, sides } => {
                let mut all = below(inner);
                for (side, at) in sides.iter_mut().enumerate() {
                    let wanted = Handle::Side { connection: *connection, side };
                    *at = all.iter().position(|h| *h == wanted);
                }
                all.retain(|h| !is(h, *connection));
                let rows = all.len();
                (all, rows, vec![inner])
            }
        };
        let m = gathered.len();
        let mut sources: Vec<usize> = (0..m).collect();
        if let Some(c) = parent.0
            && let Some(at) = gathered.iter().position(|h| is(h, c))
        {
            sources.remove(at);
            sources.insert(0, at);
        }
        let handles: Vec<Handle> = sources.iter().map(|&s| gathered[s]).collect();
        let (phi, b) = self.slot(size, m);
        let closes = matches!(operation, Operation::Join { .. } | Operation::Close { .. });
        let node = Node {
            operation,
            inner,
            size,
            handles: m,
            list: self.program.handles.len(),
            phi,
            b,
            factor: self.end.factor,
            rows: self.end.rows,
            force: self.end.force,
            end: Ends::default(),
        };
        self.end.factor += usize::from(closes);
        self.end.rows += rows;
        self.end.force += m;
        if size <= GRAIN {
            let children = children.iter().map(|&c| &self.program.nodes[c]);
            self.free.extend(children.map(|c| (c.phi, c.b, c.handles)));
        }
        if parent.1 > GRAIN {
            // The end of a small subtree: the next one has storage of its own.
            self.free.clear();
        }
        self.depth.push(children.iter().map(|&c| self.depth[c] + 1).max().unwrap_or(0));
        self.program.most_handles = self.program.most_handles.max(m);
        self.program.handles.extend(handles);
        self.program.sources.extend(sources);
        self.program.nodes.push(Node { end: self.end, ..node });
    }

    /// A place for Φ and b: a free one within a small subtree, else a new one.
    fn slot(&mut self, size: usize, m: usize) -> (usize, usize) {
        if size <= GRAIN
            && let Some(at) = self.free.iter().rposition(|f| f.2 == m)
        {
            let f = self.free.remove(at);
            return (f.0, f.1);
        }
        let out = (self.end.phi, self.end.b);
        self.end.phi += packed_len(m);
        self.end.b += m;
        out
    }
}

/// For every node the joint that its parent closes, and the parent's number of nodes.
fn parents(operations: &[(Operation, usize, usize)]) -> Vec<(Option<usize>, usize)> {
    let mut out = vec![(None, usize::MAX); operations.len()];
    for (i, (operation, inner, size)) in operations.iter().enumerate() {
        match operation {
            Operation::Leaf { .. } => {}
            Operation::Join { connection } => {
                out[*inner] = (Some(*connection), *size);
                out[i - 1] = (Some(*connection), *size);
            }
            Operation::Close { .. } => out[i - 1] = (None, *size),
            Operation::Beside => {
                out[*inner] = (None, *size);
                out[i - 1] = (None, *size);
            }
        }
    }
    out
}
