//! The order of a sweep: which tree joints are entered, and when.

use forks_mechanism::{Combination, LinkId, Mechanism};

use crate::motion::JointCompliance;

/// Where a sweep goes.
pub(crate) struct Plan {
    /// Tree edges (positions in the forest's list) in sweep order: depth first, smallest branch first,
    /// so that few links stay live.
    pub(crate) edges: Vec<usize>,
    /// Links of parts that hang on a free joint and hold no effector: left out of the sweep.
    pub(crate) left_out: Vec<LinkId>,
}

/// Plans a sweep. A branch is entered if it holds an effector, a loop, a bushing, a coupled or
/// springless coordinate, or, at loaded poses (`enter_all`), anything at all.
pub(crate) fn plan(
    m: &Mechanism,
    effectors: &[LinkId],
    outputs: &[Combination],
    compliance: &[JointCompliance],
    enter_all: bool,
) -> Plan {
    let edges = m.forest().edges();
    let mut wanted = vec![enter_all; m.links().len()];
    for l in effectors {
        wanted[l.index()] = true;
    }
    for (a, b) in m.link_ties() {
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
    let left_out = m.loose_links(effectors);
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
    Plan { edges: order, left_out }
}
