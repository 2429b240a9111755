//! Parts of a mechanism: what is one with the ground, what floats, what lies loose beside the rest.

use super::forest::{DisjointSets, TreeEdge};
use crate::{Cable, CableNode, Joint, JointId, JointKind, LinkId, Mechanism, Transmission};

impl Joint {
    /// True for a free joint that no spring resists: its two sides have nothing to do with each
    /// other.
    pub(crate) fn lets_go(&self) -> bool {
        matches!(self.kind, JointKind::Free)
            && self.spring.as_ref().is_none_or(|s| s.stiffness.is_zero())
    }
}

impl Mechanism {
    /// By link: true for the ground and all links that joints without freedom, tree joints or
    /// loops, make one with it. A coupling of a single coordinate takes its freedom from a joint;
    /// joints that are only held for the time being ([`Joint::held`]) do not count.
    pub fn grounded_links(&self) -> Vec<bool> {
        let mut sets = DisjointSets::new(self.links().len());
        let stiff = self.joints().iter().filter(|j| j.dof() == 0 && !j.held);
        let locked = self.couplings().iter().filter_map(|c| {
            let mut terms = c.terms.iter().flat_map(|t| &t.combination.terms);
            let joint = terms.next()?.0.joint;
            let alone = terms.all(|(c, _)| c.joint == joint);
            Some(self.joint(joint)).filter(|j| alone && j.dof() == 1)
        });
        for j in stiff.chain(locked) {
            sets.union(j.parent.index(), j.child.index());
        }
        (0..self.links().len()).map(|l| sets.find(l) == 0).collect()
    }

    /// Pairs of links that something beside tree joints ties together: loops, bushings, couplings,
    /// cables and springs on combinations of coordinates.
    pub fn link_ties(&self) -> Vec<(LinkId, LinkId)> {
        let mut ties: Vec<(LinkId, LinkId)> = self.loops_and_bushings().collect();
        let mut tie_coordinates = |joints: &mut dyn Iterator<Item = JointId>| {
            let ends: Vec<LinkId> =
                joints.flat_map(|j| [self.joint(j).parent, self.joint(j).child]).collect();
            ties.extend(ends.windows(2).map(|w| (w[0], w[1])));
        };
        for c in self.couplings() {
            let terms = c.terms.iter().flat_map(|t| &t.combination.terms);
            tie_coordinates(&mut terms.map(|(c, _)| c.joint));
        }
        for s in self.combination_springs() {
            tie_coordinates(&mut s.combination.terms.iter().map(|(c, _)| c.joint));
        }
        ties.extend(self.cables().iter().filter(|c| !c.is_idle()).flat_map(cable_ties));
        ties
    }

    fn loops_and_bushings(&self) -> impl Iterator<Item = (LinkId, LinkId)> {
        let closures = self.forest().closures().iter().map(|&id| self.joint(id));
        let closures = closures.map(|j| (j.parent, j.child));
        closures.chain(self.bushings().iter().map(|b| (b.link_a, b.link_b)))
    }

    /// Links of free bodies beside what is wanted: parts behind a free joint without spring that
    /// hold none of the links `wanted` and that no loop, bushing, coupling, cable or spring ties,
    /// directly or through other such parts, to one that does, or to what is joined to the ground.
    pub fn loose_links(&self, wanted: &[LinkId]) -> Vec<LinkId> {
        let part = self.parts();
        let mut sets = DisjointSets::new(part.len());
        let servos = self.servos().iter().flat_map(|s| {
            let ends = s.combination.terms.iter().map(|(c, _)| self.joint(c.joint).child);
            let ends: Vec<LinkId> = ends.collect();
            let mut ties: Vec<_> = ends.windows(2).map(|w| (w[0], w[1])).collect();
            if let Transmission::Cable(id) = s.transmission {
                ties.extend(cable_ties(self.cable(id)));
            }
            ties
        });
        for (a, b) in self.link_ties().into_iter().chain(servos) {
            sets.union(part[a.index()], part[b.index()]);
        }
        let mut kept = vec![false; part.len()];
        kept[sets.find(0)] = true;
        for l in wanted {
            kept[sets.find(part[l.index()])] = true;
        }
        (1..part.len()).filter(|&l| !kept[sets.find(part[l])]).map(LinkId::new).collect()
    }

    /// The springless free joint that ties the part of `link` to the ground, and whether loops,
    /// bushings or sprung cables tie the part, directly or through other such parts, to what is
    /// joined to the ground otherwise.
    pub(crate) fn free_root(&self, link: LinkId) -> Option<(JointId, bool)> {
        let part = self.parts();
        let root = part[link.index()];
        let edge = self.forest().carrying_edge(LinkId::new(root)).filter(|_| root != 0)?;
        if !self.grounded_links()[edge.inner.index()] {
            return None;
        }
        let mut sets = DisjointSets::new(part.len());
        for &id in self.forest().closures() {
            let j = self.joint(id);
            if !j.lets_go() {
                sets.union(part[j.parent.index()], part[j.child.index()]);
            }
        }
        for b in self
            .bushings()
            .iter()
            .filter(|b| b.stiffness.to_mat6().rows.iter().flatten().any(|&k| k != 0.0))
        {
            sets.union(part[b.link_a.index()], part[b.link_b.index()]);
        }
        for (a, b) in self.cables().iter().filter(|c| c.stiffness != 0.0).flat_map(cable_ties) {
            sets.union(part[a.index()], part[b.index()]);
        }
        Some((edge.joint, sets.find(root) == sets.find(0)))
    }

    /// By link: the first link of its part, 0 for what is joined to the ground. Springless free
    /// joints separate parts.
    fn parts(&self) -> Vec<usize> {
        let mut part = vec![0; self.links().len()];
        for e in self.forest().edges() {
            let TreeEdge { joint, inner, outer, .. } = *e;
            let begins = self.joint(joint).lets_go();
            part[outer.index()] = if begins { outer.index() } else { part[inner.index()] };
        }
        part
    }
}

/// Neighbours along a cable, the ground among them where it is a stop.
fn cable_ties(c: &Cable) -> Vec<(LinkId, LinkId)> {
    let links: Vec<LinkId> = c.nodes().map(CableNode::link).collect();
    links.windows(2).map(|w| (w[0], w[1])).collect()
}
