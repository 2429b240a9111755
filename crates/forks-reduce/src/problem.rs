//! One call from a mechanism as the user described it to a reduced model.

use forks_dynamics::{Equilibrium, EquilibriumOptions, Loads, solve_equilibrium};
use forks_mechanism::{Mechanism, Preparation, PreparedMechanism};

use crate::{
    error::ReduceError,
    reduce::{Drive, Reduction, reduce, reduce_held},
    response::{Effector, Linearisation},
};

/// What to do with a mechanism before it is reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemOptions {
    /// Stiffness for every coordinate of a non-free joint that neither a spring nor a servo
    /// resists.
    pub default_stiffness: Option<f64>,
    /// Servos count as springs that rest at the start pose. Default `true`.
    pub servos: bool,
    /// Start pose: tree positions of the mechanism; its own start pose if `None`.
    pub start: Option<Vec<f64>>,
}

impl Default for ProblemOptions {
    fn default() -> Self {
        Self { default_stiffness: None, servos: true, start: None }
    }
}

/// A mechanism prepared for reduction or statics, with its effectors.
///
/// The free joint at the root of the tree that carries the first effector is held where nothing
/// else holds that tree; free bodies beside the effectors stand still ([`Preparation`]).
#[derive(Clone, Debug)]
pub struct Problem {
    /// The prepared mechanism; same links and joints as the original.
    pub prepared: PreparedMechanism,
    /// The effectors.
    pub effectors: Vec<Effector>,
    /// The servos' targets.
    pub servos: Vec<Drive>,
    /// Positions of the prepared mechanism at the start pose.
    pub start: Vec<f64>,
}

impl Problem {
    /// Prepares a mechanism. Effectors are link names, or `site:NAME` for a named frame.
    ///
    /// # Errors
    /// Effectors that do not exist, a default stiffness that is not valid.
    pub fn new(
        m: &Mechanism,
        effectors: &[&str],
        options: &ProblemOptions,
    ) -> Result<Self, ReduceError> {
        let effectors: Vec<Effector> =
            effectors.iter().map(|name| Effector::find(m, name)).collect::<Result<_, _>>()?;
        let preparation = Preparation {
            hold_root_of: Some(effectors.first().ok_or(ReduceError::NoEffector)?.link),
            wanted: effectors.iter().map(|e| e.link).collect(),
            default_stiffness: options.default_stiffness,
            servos: options.servos,
            start: options.start.clone(),
        };
        let prepared = preparation.apply(m)?;
        let servos = prepared
            .servo_springs
            .iter()
            .map(|(id, spring)| {
                Drive::servo(&prepared.mechanism, &m.servos()[id.index()].name, *spring)
            })
            .collect();
        let start = prepared.mechanism.start_positions();
        Ok(Self { prepared, effectors, servos, start })
    }

    /// The prepared mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.prepared.mechanism
    }

    /// The reduced model about the start pose: springs unstressed, no gravity, loops taken as they
    /// are.
    ///
    /// # Errors
    /// See [`ReduceError`].
    pub fn reduce(&self) -> Result<Reduction, ReduceError> {
        let at = Linearisation::Rest { q: &self.start };
        reduce(self.mechanism(), &self.effectors, at, &self.servos)
    }

    /// The reduced model about the start pose with one more drive: gravity and spring preloads, as
    /// the generalised forces that they exert there. Its value 1 moves the model as far as they
    /// would move a linear mechanism.
    ///
    /// # Errors
    /// See [`ReduceError`].
    pub fn reduce_with_loads(&self, loads: &Loads) -> Result<Reduction, ReduceError> {
        let m = self.mechanism();
        let poses = m.link_poses(&self.start);
        let forces = forks_dynamics::generalized_forces(m, &self.start, &poses, loads);
        let mut drives = self.servos.clone();
        drives.push(Drive::forces(m, "gravity and preload", &forces));
        reduce(m, &self.effectors, Linearisation::Rest { q: &self.start }, &drives)
    }

    /// The static equilibrium under loads, reached from the start pose.
    pub fn equilibrium(&self, loads: &Loads, options: &EquilibriumOptions) -> Equilibrium {
        solve_equilibrium(self.mechanism(), &self.start, loads, options)
    }

    /// The reduced model about an equilibrium.
    ///
    /// # Errors
    /// See [`ReduceError`].
    pub fn reduce_at(&self, e: &Equilibrium, loads: &Loads) -> Result<Reduction, ReduceError> {
        let at = Linearisation::Loaded { q: &e.q, loads, multipliers: &e.multipliers };
        reduce(self.mechanism(), &self.effectors, at, &self.servos)
    }

    /// The reduced model about an equilibrium that may be held only by the loads on the effectors,
    /// for blends.
    ///
    /// # Errors
    /// See [`ReduceError`].
    pub fn reduce_held_at(&self, e: &Equilibrium, loads: &Loads) -> Result<Reduction, ReduceError> {
        let at = Linearisation::Loaded { q: &e.q, loads, multipliers: &e.multipliers };
        reduce_held(self.mechanism(), &self.effectors, at, &self.servos)
    }
}
