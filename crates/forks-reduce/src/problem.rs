//! A mechanism as the user described it, ready for reduction or statics.

use forks_dynamics::{
    Loads,
    statics::{Equilibrium, EquilibriumOptions, solve_equilibrium},
};
use forks_mechanism::{Mechanism, Preparation, PreparedMechanism};

use crate::{
    attached::Attached, drive::Drive, effector::Effector, error::ReduceError,
    linearisation::Linearisation,
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
    /// Superelements, with the links of their outputs.
    pub attached: Vec<Attached>,
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
        Ok(Self { prepared, effectors, servos, start, attached: vec![] })
    }

    /// A mechanism as it is: nothing is held, servos are ignored.
    pub fn unprepared(m: Mechanism, effectors: Vec<Effector>) -> Self {
        let start = m.start_positions();
        let prepared = PreparedMechanism::unchanged(m);
        Self { prepared, effectors, servos: vec![], start, attached: vec![] }
    }

    /// The prepared mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.prepared.mechanism
    }

    /// The start pose as a state to linearise about: springs unstressed, no gravity, loops taken as
    /// they are.
    pub fn at_rest(&self) -> Linearisation<'_> {
        Linearisation::Rest { q: &self.start }
    }

    /// The static equilibrium under loads, reached from the start pose.
    pub fn equilibrium(&self, loads: &Loads, options: &EquilibriumOptions) -> Equilibrium {
        solve_equilibrium(self.mechanism(), &self.start, loads, options)
    }
}
