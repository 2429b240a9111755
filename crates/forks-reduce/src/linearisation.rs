//! The pose about which a mechanism is linearised.

use forks_dynamics::{Loads, statics::Equilibrium};
use forks_mechanism::{
    Mechanism,
    lie::{Pose, Wrench},
};

use crate::effector::Effector;

/// The state about which a mechanism is linearised.
#[derive(Clone, Copy, Debug)]
pub enum Linearisation<'a> {
    /// Rest: springs unstressed at these positions, no loads.
    Rest {
        /// Positions of the mechanism.
        q: &'a [f64],
    },
    /// An equilibrium under loads, with the multipliers of its loops and couplings.
    Loaded {
        /// Positions of the mechanism.
        q: &'a [f64],
        /// Loads that act there; those on effectors are carried by the reduced model.
        loads: &'a Loads,
        /// Multipliers, rows as in `forks_mechanism::kinematics::loops`: forces + Gᵀ multipliers =
        /// 0.
        multipliers: &'a [f64],
    },
}

impl<'a> Linearisation<'a> {
    /// At an equilibrium under `loads`.
    pub fn equilibrium(e: &'a Equilibrium, loads: &'a Loads) -> Self {
        Self::Loaded { q: &e.q, loads, multipliers: &e.multipliers }
    }

    /// The static wrench on each effector, in the effector's frame.
    pub(crate) fn static_wrenches(
        &self,
        effectors: &[Effector],
        world_from_link: &[Pose],
    ) -> Vec<Wrench> {
        let mut out = vec![Wrench::ZERO; effectors.len()];
        let Self::Loaded { loads, .. } = self else { return out };
        for w in &loads.wrenches {
            // Two effectors on one link: the first carries the link's loads.
            if let Some(i) = effectors.iter().position(|e| e.link == w.link) {
                let in_link = w.in_link(&world_from_link[w.link.index()]);
                let ad = effectors[i].link_from_effector.adjoint();
                out[i] += ad.transpose_apply(in_link);
            }
        }
        out
    }

    /// At a loaded pose the springs beyond joints' limits act with their stiffness there; at rest
    /// springs are unstressed, and those are as well. `None` where the mechanism serves as it is.
    pub(crate) fn tangent_limits(&self, m: &Mechanism) -> Option<Mechanism> {
        match self {
            Self::Loaded { q, .. } => m.with_tangent_limits(q),
            Self::Rest { .. } => None,
        }
    }

    /// The positions.
    pub fn positions(&self) -> &'a [f64] {
        match self {
            Self::Rest { q } | Self::Loaded { q, .. } => q,
        }
    }
}
