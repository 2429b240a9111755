//! What a full-solver twin is made from.

use std::sync::Arc;

use forks_lie::glam::DVec3;
use forks_mechanism::{Mechanism, MechanismBuilder, Preparation};
use forks_reduce::{Drive, Effector, Problem, ReduceError};

use crate::{SimError, error::check_finite};

/// Which gravity acts on a full mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gravity {
    /// The world's.
    #[default]
    World,
    /// The mechanism's own, in its own axes, as in a reduced model made at its equilibrium.
    Own,
    /// None.
    Off,
}

/// A mechanism that a world steps by the full solver: linearly implicit Euler over all joints,
/// loops and couplings exact.
#[derive(Clone, Debug)]
pub struct FullMechanism {
    /// Springs, dampers and masses; its own servos are not looked at ([`Preparation`] makes springs
    /// of them).
    pub mechanism: Arc<Mechanism>,
    /// In the order of the reduced model's.
    pub effectors: Vec<Effector>,
    /// What targets move, in the order of the reduced model's; 0 is the target of the mechanism's
    /// start pose.
    pub servos: Vec<Drive>,
    /// Positions at the start, at least those of the tree joints.
    pub start: Vec<f64>,
    /// Velocities of the tree joints at the start.
    pub velocity: Vec<f64>,
    /// Gravity.
    pub gravity: Gravity,
}

impl FullMechanism {
    /// A prepared mechanism at rest in its start pose. Effectors are link names, or `site:NAME` for
    /// a named frame.
    ///
    /// # Errors
    /// Effectors that do not exist, a preparation that cannot be made.
    pub fn new(
        mechanism: &Mechanism,
        preparation: &Preparation,
        effectors: &[&str],
    ) -> Result<Self, ReduceError> {
        let effectors: Result<Vec<_>, _> =
            effectors.iter().map(|name| Effector::find(mechanism, name)).collect();
        let prepared = preparation.apply(mechanism)?;
        let servo = |(id, spring): &(forks_mechanism::ServoId, _)| {
            let name = &mechanism.servos()[id.index()].name;
            Drive::servo(&prepared.mechanism, name, *spring)
        };
        let servos = prepared.servo_springs.iter().map(servo).collect();
        Ok(Self::at_rest(prepared.mechanism, effectors?, servos))
    }

    /// What a reduction starts from, at rest in its start pose.
    pub fn of(problem: &Problem) -> Self {
        let mechanism = problem.mechanism().clone();
        Self::at_rest(mechanism, problem.effectors.clone(), problem.servos.clone())
    }

    fn at_rest(mechanism: Mechanism, effectors: Vec<Effector>, servos: Vec<Drive>) -> Self {
        let (start, n) = (mechanism.start_positions(), mechanism.tree_velocity_count());
        Self {
            mechanism: Arc::new(mechanism),
            effectors,
            servos,
            start,
            velocity: vec![0.0; n],
            gravity: Gravity::default(),
        }
    }

    /// From other positions, such as those of an equilibrium.
    #[must_use]
    pub fn from_positions(mut self, q: &[f64]) -> Self {
        self.start = q.to_vec();
        self
    }

    /// Under a gravity.
    #[must_use]
    pub fn under(mut self, gravity: Gravity) -> Self {
        self.gravity = gravity;
        self
    }

    pub(super) fn check(&self, name: &str) -> Result<(), SimError> {
        let element = format!("mechanism {name:?}");
        let m = &self.mechanism;
        let wrong = |quantity, found, expected| {
            let source = forks_rom::ModelError::WrongSize { quantity, found, expected };
            SimError::Model { mechanism: name.into(), source }
        };
        let (found, expected) = (self.start.len(), m.tree_position_count());
        if found < expected {
            return Err(wrong("start positions", found, expected));
        }
        let (found, expected) = (self.velocity.len(), m.tree_velocity_count());
        if found != expected {
            return Err(wrong("start velocities", found, expected));
        }
        check_finite(&element, "a start position", &self.start)?;
        check_finite(&element, "a start velocity", &self.velocity)
    }
}

/// The same mechanism under another gravity; `None` if that is not finite.
pub(crate) fn with_gravity(m: &Arc<Mechanism>, gravity: DVec3) -> Option<Arc<Mechanism>> {
    if m.gravity() == gravity {
        return Some(Arc::clone(m));
    }
    let mut builder = MechanismBuilder::from_mechanism(m);
    builder.set_gravity(gravity);
    builder.build().ok().map(Arc::new)
}
