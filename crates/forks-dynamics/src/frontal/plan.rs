//! In which order the links are eliminated, and what is put together before each: made once per
//! mechanism.
//!
//! The unknowns are the joints' coordinates x, the links' twists ξ, one multiplier per loop
//! equation and, for some tree joints, six for ξ_outer = A ξ_inner + C x. Every joint, bushing,
//! cable and coupling is an element that ties a few links and coupled joints together. Of these
//! nodes always the one with the smallest neighbourhood is eliminated next: leaves of the forest
//! first, a ladder rung by rung, whatever its spanning tree is.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, VecDeque},
    ops::Range,
};

use forks_mechanism::{JointId, LinkId, Mechanism};

/// Where each kind of unknown stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) coordinates: usize,
    links: usize,
    pub(crate) rows: usize,
    edges: usize,
}

impl Layout {
    fn new(m: &Mechanism) -> Self {
        Self {
            coordinates: m.velocity_count(),
            links: m.links().len(),
            rows: forks_mechanism::kinematics::loops::constraint_rows(m),
            edges: m.forest().edges().len(),
        }
    }

    /// The twist of a link; the ground has none.
    pub(crate) fn twist(&self, link: usize) -> Option<usize> {
        (link > 0).then(|| self.coordinates + 6 * (link - 1))
    }

    /// The multiplier of a loop equation.
    pub(crate) fn row(&self, row: usize) -> usize {
        self.coordinates + 6 * (self.links - 1) + row
    }

    /// The multipliers of a tree joint.
    pub(crate) fn edge(&self, edge: usize) -> usize {
        self.row(self.rows) + 6 * edge
    }

    pub(crate) fn count(&self) -> usize {
        self.edge(self.edges)
    }
}

/// A part of the mechanism that ties nodes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// A tree joint whose inner link is eliminated before its outer one.
    Edge(usize),
    Closure(usize),
    Bushing(usize),
    Cable(usize),
    Spring(usize),
    Coupling(usize),
}

/// One step of the elimination.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontPlan {
    /// The link whose twist is eliminated; 0 for none.
    pub(crate) link: usize,
    /// The tree joint that gives the link's twist by that of its inner link.
    pub(crate) carrier: Option<usize>,
    /// Unknowns that occur here for the last time.
    pub(crate) own: Vec<usize>,
    /// Unknowns of the nodes around.
    pub(crate) around: Vec<usize>,
    pub(crate) elements: Vec<Element>,
    pub(crate) children: Vec<usize>,
}

/// The whole elimination; the last front is the root, where nothing is left around.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) layout: Layout,
    pub(crate) fronts: Vec<FrontPlan>,
}

/// Links, then joints whose coordinates occur in couplings or combination springs.
struct Nodes<'a> {
    m: &'a Mechanism,
    layout: Layout,
    joint_node: Vec<Option<usize>>,
    joints: Vec<JointId>,
}

impl<'a> Nodes<'a> {
    fn new(m: &'a Mechanism) -> Self {
        let mut coupled = vec![false; m.joints().len()];
        let terms = m.couplings().iter().flat_map(|c| &c.terms).map(|t| &t.combination);
        for c in terms.chain(m.combination_springs().iter().map(|s| &s.combination)) {
            c.terms.iter().for_each(|(c, _)| coupled[c.joint.index()] = true);
        }
        let (mut joint_node, mut joints) = (vec![None; coupled.len()], Vec::new());
        for (j, _) in coupled.iter().enumerate().filter(|c| *c.1) {
            joint_node[j] = Some(m.links().len() + joints.len());
            joints.push(JointId::new(j));
        }
        Self { m, layout: Layout::new(m), joint_node, joints }
    }

    fn count(&self) -> usize {
        self.m.links().len() + self.joints.len()
    }

    fn variables(&self, node: usize) -> Range<usize> {
        match node.checked_sub(self.m.links().len()) {
            Some(k) => self.m.velocity_range(self.joints[k]),
            None => self.layout.twist(node).map_or(0..0, |t| t..t + 6),
        }
    }

    /// The nodes of an element; the ground is none.
    fn of(&self, element: Element) -> Vec<usize> {
        let m = self.m;
        let joint = |id: JointId| {
            let j = m.joint(id);
            let links = [j.parent.index(), j.child.index()];
            links.into_iter().filter(|l| *l > 0).chain(self.joint_node[id.index()]).collect()
        };
        let combination = |c: &forks_mechanism::Combination| {
            let nodes = c.terms.iter().filter_map(|(c, _)| self.joint_node[c.joint.index()]);
            nodes.collect::<Vec<_>>()
        };
        let mut out: Vec<usize> = match element {
            Element::Edge(e) => joint(m.forest().edges()[e].joint),
            Element::Closure(k) => joint(m.forest().closures()[k]),
            Element::Bushing(b) => {
                let b = &m.bushings()[b];
                let links = [b.link_a.index(), b.link_b.index()];
                links.into_iter().filter(|l| *l > 0).collect()
            }
            Element::Cable(c) => m.cables()[c].links().into_iter().map(LinkId::index).collect(),
            Element::Spring(s) => combination(&m.combination_springs()[s].combination),
            Element::Coupling(c) => {
                let terms = m.couplings()[c].terms.iter();
                terms.flat_map(|t| combination(&t.combination)).collect()
            }
        };
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Unknowns of an element that occur nowhere else.
    fn own(&self, element: Element) -> Vec<usize> {
        let (m, l) = (self.m, self.layout);
        let coordinates = |id: JointId| match self.joint_node[id.index()] {
            Some(_) => 0..0,
            None => m.velocity_range(id),
        };
        match element {
            Element::Edge(e) => {
                let joint = m.forest().edges()[e].joint;
                coordinates(joint).chain(l.edge(e)..l.edge(e) + 6).collect()
            }
            Element::Closure(k) => {
                let joint = m.forest().closures()[k];
                coordinates(joint).chain(l.row(6 * k)..l.row(6 * k) + 6).collect()
            }
            Element::Coupling(c) => vec![l.row(6 * m.forest().closures().len() + c)],
            Element::Bushing(_) | Element::Cable(_) | Element::Spring(_) => vec![],
        }
    }

    fn elements(&self) -> Vec<Element> {
        let m = self.m;
        let edges = (0..m.forest().edges().len()).map(Element::Edge);
        edges
            .chain((0..m.forest().closures().len()).map(Element::Closure))
            .chain((0..m.bushings().len()).map(Element::Bushing))
            .chain(
                (0..m.cables().len())
                    .filter(|&c| m.cables()[c].stiffness != 0.0)
                    .map(Element::Cable),
            )
            .chain((0..m.combination_springs().len()).map(Element::Spring))
            .chain((0..m.couplings().len()).map(Element::Coupling))
            .collect()
    }

    /// Number of joints to the ground; coupled joints come just after the link that they carry.
    fn depths(&self) -> Vec<usize> {
        let m = self.m;
        let mut out = vec![0usize; self.count()];
        for e in m.forest().edges() {
            out[e.outer.index()] = out[e.inner.index()] + 2;
        }
        for (k, id) in self.joints.iter().enumerate() {
            let j = m.joint(*id);
            out[m.links().len() + k] =
                out[j.parent.index()].max(out[j.child.index()]).saturating_sub(1);
        }
        out
    }
}

impl Plan {
    pub(crate) fn new(m: &Mechanism) -> Self {
        let nodes = Nodes::new(m);
        let elements = nodes.elements();
        let (order, around) = order(&nodes, &elements);
        let mut position = vec![usize::MAX; nodes.count()];
        order.iter().enumerate().for_each(|(i, &node)| position[node] = i);
        let root = order.len();
        let mut fronts = vec![FrontPlan::default(); root + 1];
        for (i, &node) in order.iter().enumerate() {
            let front = &mut fronts[i];
            front.around = around[i].iter().flat_map(|&n| nodes.variables(n)).collect();
            if node < m.links().len() {
                front.link = node;
            } else {
                front.own.extend(nodes.variables(node));
            }
            let parent = around[i].iter().map(|&n| position[n]).min().unwrap_or(root);
            fronts[parent].children.push(i);
        }
        for element in elements {
            let first = nodes.of(element).iter().map(|&n| position[n]).min().unwrap_or(root);
            match element {
                Element::Edge(e) if fronts[first].link == m.forest().edges()[e].outer.index() => {
                    let own = nodes.own(element);
                    fronts[first].own.extend(own.iter().filter(|&&v| v < nodes.layout.edge(0)));
                    fronts[first].carrier = Some(e);
                }
                _ => {
                    fronts[first].own.extend(nodes.own(element));
                    fronts[first].elements.push(element);
                }
            }
        }
        for front in &mut fronts {
            if front.link > 0 && front.carrier.is_none() {
                front.own.extend(nodes.variables(front.link));
            }
        }
        Self { layout: nodes.layout, fronts }
    }
}

/// Nodes in the order of elimination, and the nodes around each when it is eliminated.
fn order(nodes: &Nodes<'_>, elements: &[Element]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let (m, count, depth) = (nodes.m, nodes.count(), nodes.depths());
    let mut near: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
    for &e in elements {
        tie(&mut near, &nodes.of(e));
    }
    let cost = |near: &[BTreeSet<usize>], n: usize| -> usize {
        near[n].iter().map(|&k| nodes.variables(k).len()).sum()
    };
    // A coupled coordinate waits until one of its joint's links is gone.
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); m.links().len()];
    let mut queue = BTreeSet::new();
    let mut costs = vec![0; count];
    let mut queued = vec![false; count];
    for n in 1..count {
        costs[n] = cost(&near, n);
        let link = n < m.links().len();
        let tree = !link && {
            let j = m.joint(nodes.joints[n - m.links().len()]);
            let ends = [j.parent, j.child].into_iter().filter(|l| *l != LinkId::WORLD);
            ends.for_each(|l| waiting[l.index()].push(n));
            true
        };
        if link || !tree {
            queue.insert((costs[n], Reverse(depth[n]), Reverse(n)));
            queued[n] = true;
        }
    }
    let (mut order, mut around) = (Vec::with_capacity(count - 1), Vec::with_capacity(count - 1));
    let mut gone = vec![false; count];
    let mut late: VecDeque<usize> = VecDeque::new();
    loop {
        while let Some(n) = late.pop_front() {
            if !queued[n] {
                costs[n] = cost(&near, n);
                queue.insert((costs[n], Reverse(depth[n]), Reverse(n)));
                queued[n] = true;
            }
        }
        let Some((_, _, Reverse(v))) = queue.pop_first() else {
            // Coordinates of joints that move no link.
            match (1..count).find(|&n| !queued[n]) {
                Some(n) => late.push_back(n),
                None => break,
            }
            continue;
        };
        gone[v] = true;
        let mut ring: Vec<usize> = std::mem::take(&mut near[v]).into_iter().collect();
        ring.iter().for_each(|&n| {
            near[n].remove(&v);
        });
        tie(&mut near, &ring);
        for &n in ring.iter().filter(|&&n| queued[n]) {
            queue.remove(&(costs[n], Reverse(depth[n]), Reverse(n)));
            costs[n] = cost(&near, n);
            queue.insert((costs[n], Reverse(depth[n]), Reverse(n)));
        }
        if v < m.links().len() {
            late.extend(waiting[v].iter().copied());
        }
        ring.sort_unstable();
        order.push(v);
        around.push(ring);
    }
    debug_assert!(gone[1..].iter().all(|g| *g));
    (order, around)
}

/// Makes all pairs of nodes neighbours.
fn tie(near: &mut [BTreeSet<usize>], nodes: &[usize]) {
    for &a in nodes {
        for &b in nodes {
            if a != b {
                near[a].insert(b);
            }
        }
    }
}
