//! How a search for an equilibrium ended, in a sentence.

use forks_mechanism::Mechanism;

use crate::equilibrium::{Equilibrium, EquilibriumStatus};

impl Equilibrium {
    /// What happened and what helps, in one sentence without a full stop; `None` for a stable
    /// equilibrium.
    pub fn explanation(&self, m: &Mechanism) -> Option<String> {
        let part = || {
            // Never 100 %: a part that is left is said to be left.
            let percent = (1000.0 * self.load_scale).floor() / 10.0;
            format!("{percent} % of the way to the full loads")
        };
        Some(match self.status {
            EquilibriumStatus::Converged => return None,
            EquilibriumStatus::Unstable => "the loads balance at a pose that is not stable: the \
                slightest push makes the mechanism leave it"
                .into(),
            EquilibriumStatus::Singular => m.describe_unresisted(&self.free_motion),
            EquilibriumStatus::Stalled => format!(
                "no equilibrium was found beyond {}: there the mechanism gives way to another pose \
                 or its loops come to an end; try smaller loads or stiffer springs",
                part()
            ),
            EquilibriumStatus::Cancelled => format!("the search was stopped after {}", part()),
            EquilibriumStatus::Diverged => format!(
                "the mechanism runs away without bound beyond {}: nothing stiff enough holds it; \
                 try smaller loads or stiffer springs",
                part()
            ),
        })
    }
}
