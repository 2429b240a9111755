//! The order of a sweep: which tree joints are entered, and when.

use forks_mechanism::{Combination, LinkId, Mechanism};

use crate::{attached::Attached, motion::JointCompliance};

/// A sweep that keeps no more links than this needs no better order.
const FEW_LIVE: usize = 64;

/// Where a sweep goes.
pub(crate) struct Plan {
    /// Tree edges (positions in the forest's list) in sweep order: depth first, smallest branch
    /// first, so that few links stay live.
    pub(crate) edges: Vec<usize>,
    /// Links of parts that hang on a free joint and hold no effector: left out of the sweep.
    pub(crate) left_out: Vec<LinkId>,
}

/// Plans a sweep. A branch is entered if it holds an effector, a superelement, a loop, a bushing, a
/// coupled or springless coordinate, or, at loaded poses (`enter_all`), anything at all.
pub(crate) fn plan(
    m: &Mechanism,
    effectors: &[LinkId],
    outputs: &[Combination],
    compliance: &[JointCompliance],
    enter_all: bool,
    attached: &[Attached],
) -> Plan {
    let edges = m.forest().edges();
    let mut wanted = vec![enter_all; m.links().len()];
    let of_elements: Vec<Vec<LinkId>> = attached.iter().map(Attached::links).collect();
    let held: Vec<LinkId> = effectors.iter().chain(of_elements.iter().flatten()).copied().collect();
    for l in &held {
        wanted[l.index()] = true;
    }
    let mut ties = m.link_ties();
    ties.extend(of_elements.iter().flat_map(|l| l.windows(2).map(|w| (w[0], w[1]))));
    for (a, b) in &ties {
        wanted[a.index()] = true;
        wanted[b.index()] = true;
    }
    let mut driven = vec![false; m.joints().len()];
    for (c, _) in outputs.iter().flat_map(|c| &c.terms) {
        driven[c.joint.index()] = true;
    }
    for e in edges {
        wanted[e.outer.index()] |= driven[e.joint.index()] || compliance[e.joint.index()].is_free();
    }
    let left_out = m.loose_links(&held);
    for l in &left_out {
        wanted[l.index()] = false;
    }
    // A branch is wanted if anything in it is; sizes count entered links.
    let mut size = vec![0usize; m.links().len()];
    for e in edges.iter().rev() {
        if wanted[e.outer.index()] {
            size[e.outer.index()] += 1;
            size[e.inner.index()] += size[e.outer.index()];
            wanted[e.inner.index()] = true;
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); m.links().len()];
    for (k, e) in edges.iter().enumerate() {
        if wanted[e.outer.index()] {
            children[e.inner.index()].push(k);
        }
    }
    for list in &mut children {
        // Pushed on a stack below: largest first, so that the smallest is taken first.
        list.sort_by_key(|&k| std::cmp::Reverse(size[edges[k].outer.index()]));
    }
    let mut order = Vec::new();
    let mut stack: Vec<usize> = children[0].clone();
    while let Some(k) = stack.pop() {
        order.push(k);
        stack.extend(&children[edges[k].outer.index()]);
    }
    ties.retain(|(a, b)| a != b);
    let live = Live { m, ties: &ties, effectors };
    // Loops between branches that are long and side by side: depth first would keep all of one
    // branch.
    if !ties.is_empty() && live.most(&order) > FEW_LIVE {
        let abreast = live.abreast(&order);
        if 2 * live.most(&abreast) <= live.most(&order) {
            order = abreast;
        }
    }
    Plan { edges: order, left_out }
}

/// Which links have to be kept, by their number of joints and ties to links that are not entered
/// yet.
struct Live<'a> {
    m: &'a Mechanism,
    ties: &'a [(LinkId, LinkId)],
    effectors: &'a [LinkId],
}

/// What a sweep so far leaves to be done.
struct Left {
    entered: Vec<bool>,
    joints_and_ties: Vec<usize>,
    tied: Vec<Vec<usize>>,
}

impl Live<'_> {
    fn start(&self, order: &[usize]) -> Left {
        let n = self.m.links().len();
        let mut left =
            Left { entered: vec![false; n], joints_and_ties: vec![0; n], tied: vec![vec![]; n] };
        left.entered[0] = true;
        for &k in order {
            left.joints_and_ties[self.m.forest().edges()[k].inner.index()] += 1;
        }
        for (a, b) in self.ties {
            for (a, b) in [(a.index(), b.index()), (b.index(), a.index())] {
                left.tied[a].push(b);
                left.joints_and_ties[a] += 1;
            }
        }
        // Effectors stay to the end.
        self.effectors.iter().for_each(|l| left.joints_and_ties[l.index()] += 1);
        left
    }

    /// Links that an edge adds to those that are kept, less those that it lets go.
    fn change(&self, left: &Left, edge: usize) -> isize {
        let e = &self.m.forest().edges()[edge];
        let (inner, outer) = (e.inner.index(), e.outer.index());
        let mut gone = isize::from(inner > 0 && left.joints_and_ties[inner] == 1);
        let mut open = left.joints_and_ties[outer];
        for &other in left.tied[outer].iter().filter(|&&l| left.entered[l]) {
            open -= 1;
            let last = if other == inner { 2 } else { 1 };
            gone += isize::from(other > 0 && left.joints_and_ties[other] == last);
        }
        isize::from(open > 0) - gone
    }

    fn enter(&self, left: &mut Left, edge: usize) {
        let e = &self.m.forest().edges()[edge];
        let outer = e.outer.index();
        left.joints_and_ties[e.inner.index()] -= 1;
        left.entered[outer] = true;
        for k in 0..left.tied[outer].len() {
            let other = left.tied[outer][k];
            if left.entered[other] {
                left.joints_and_ties[other] -= 1;
                left.joints_and_ties[outer] -= 1;
            }
        }
    }

    /// Most links that are kept at a time.
    fn most(&self, order: &[usize]) -> usize {
        let mut left = self.start(order);
        let (mut live, mut most) = (0isize, 0);
        for &k in order {
            live += self.change(&left, k);
            self.enter(&mut left, k);
            most = most.max(live);
        }
        most.max(0) as usize
    }

    /// The same edges, always that which keeps the fewest links, of equal ones the one that has
    /// waited longest.
    fn abreast(&self, order: &[usize]) -> Vec<usize> {
        let edges = self.m.forest().edges();
        let mut left = self.start(order);
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.m.links().len()];
        order.iter().for_each(|&k| next[edges[k].inner.index()].push(k));
        let mut waiting = std::mem::take(&mut next[0]);
        let mut out = Vec::with_capacity(order.len());
        while !waiting.is_empty() {
            let best = (0..waiting.len())
                .min_by_key(|&i| (self.change(&left, waiting[i]), i))
                .expect("some edge waits");
            let k = waiting.remove(best);
            self.enter(&mut left, k);
            waiting.append(&mut next[edges[k].outer.index()]);
            out.push(k);
        }
        out
    }
}
