//! How long variables stay live: each counts what still needs it and is dropped as soon as nothing
//! does.

use forks_mechanism::{Cable, Combination, JointId, LinkId};

use super::{Op, Sweep, link_variables};
use crate::frontier::Variable;

impl Sweep<'_> {
    /// Counts how often each variable is still needed, so that it can be dropped as soon as it is
    /// not.
    pub(super) fn count_uses(&mut self, effectors: &[LinkId]) {
        let m = self.m;
        for i in 0..self.plan.edges.len() {
            self.use_link(m.forest().edges()[self.plan.edges[i]].inner);
        }
        // Effectors stay live for ever.
        effectors.iter().for_each(|&l| self.use_link(l));
        for &id in m.forest().closures() {
            self.use_link(m.joint(id).parent);
            self.use_link(m.joint(id).child);
        }
        for b in m.bushings() {
            self.use_link(b.link_a);
            self.use_link(b.link_b);
        }
        for l in m.cables().iter().filter(|c| !c.is_idle()).flat_map(Cable::links) {
            self.use_link(l);
        }
        for l in self.attached.iter().flat_map(|a| a.links()) {
            self.use_link(l);
        }
        let combinations = m
            .couplings()
            .iter()
            .flat_map(|c| c.terms.iter().map(|t| &t.combination))
            .chain(m.combination_springs().iter().map(|s| &s.combination));
        for c in combinations {
            for (coordinate, _) in &c.terms {
                let v = self.coordinate_variable(m.velocity_index(*coordinate));
                self.uses[v as usize] += 1;
            }
        }
        for (_, coordinate, _) in self.output_terms.iter().flatten() {
            self.uses[6 * m.links().len() + coordinate] += 1;
        }
    }

    fn use_link(&mut self, l: LinkId) {
        if l != LinkId::WORLD {
            link_variables(l).iter().for_each(|&v| self.uses[v as usize] += 1);
        }
    }

    pub(crate) fn is_coordinate(&self, v: Variable) -> bool {
        let first = 6 * self.m.links().len();
        (first..first + self.m.velocity_count()).contains(&(v as usize))
    }

    /// The joint that a coordinate variable belongs to.
    pub(super) fn owner(&self, v: Variable) -> JointId {
        self.owners[v as usize - 6 * self.m.links().len()]
    }

    pub(super) fn release_link(&mut self, l: LinkId) {
        if l != LinkId::WORLD {
            self.release(&link_variables(l));
        }
    }

    pub(super) fn release_combination(&mut self, c: &Combination) {
        let variables: Vec<Variable> = c
            .terms
            .iter()
            .map(|(c, _)| self.coordinate_variable(self.m.velocity_index(*c)))
            .collect();
        self.release(&variables);
    }

    pub(super) fn release(&mut self, variables: &[Variable]) {
        variables.iter().for_each(|&v| self.uses[v as usize] -= 1);
        self.drop_if_unused(variables);
    }

    /// Drops variables that nothing needs any more. A coordinate that is still free stays; one that
    /// was free leaves its row of C on the tape, because its value cannot be had from its own
    /// spring.
    pub(super) fn drop_if_unused(&mut self, variables: &[Variable]) {
        for &v in variables {
            if self.uses[v as usize] > 0 || !self.frontier.is_live(v) {
                continue;
            }
            if self.is_coordinate(v) {
                if self.frontier.is_free(v) {
                    continue;
                }
                let owner = self.owner(v);
                let was_free = self.compliance[owner.index()].is_free();
                if was_free {
                    let record = Box::new(self.frontier.value_record(v));
                    self.tape.push(Op::Update { record, exact: false });
                }
            }
            self.frontier.drop_variable(v);
        }
    }
}
