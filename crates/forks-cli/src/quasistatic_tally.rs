//! What the load steps of `forks quasistatic` cost and how exact they were.

use forks_dynamics::adaptive::AdaptiveStep;

/// Work and errors, of a load step or of all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) steps: usize,
    pub(crate) certified_error: f64,
    pub(crate) joints_computed: usize,
    pub(crate) most_computed: usize,
    pub(crate) joints_moved: usize,
    pub(crate) nodes_visited: usize,
    pub(crate) nodes_updated: usize,
    /// By how much the last step moved all joints together, rad and m.
    pub(crate) last_move: f64,
}

impl Tally {
    pub(crate) fn add_step(&mut self, step: &AdaptiveStep, last_move: f64) {
        let c = &step.result.counters;
        let one = Self {
            steps: 1,
            certified_error: step.certified_error,
            joints_computed: c.joints_computed,
            most_computed: c.joints_computed,
            joints_moved: step.joints_moved,
            nodes_visited: c.nodes_visited,
            nodes_updated: c.nodes_updated,
            last_move,
        };
        self.add(&one);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.certified_error = self.certified_error.max(other.certified_error);
        self.joints_computed += other.joints_computed;
        self.most_computed = self.most_computed.max(other.most_computed);
        self.joints_moved += other.joints_moved;
        self.nodes_visited += other.nodes_visited;
        self.nodes_updated += other.nodes_updated;
        self.last_move = other.last_move;
    }
}
