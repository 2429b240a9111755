//! The work that torques and wrenches did since a simulation began, and the energy that it leaves
//! room for.
//!
//! Coriolis and centrifugal forces enter implicit steps as they were at the step's start. Where
//! links turn by a large angle per step they pump energy into the motion without end. A mechanism
//! cannot have more energy than it had plus what its loads gave it: dampers, and the scheme itself,
//! only take.

use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};

use crate::constrained::MechanismEnergy;

/// Energy may exceed what loads gave by this part of the work they did in either direction: the
/// error of a scheme of first order at steps that resolve the motion is smaller (0.0003 for the
/// helix of 400 links under 100 N at 4 ms).
const SHARE: f64 = 0.01;

/// What loads have done so far, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Supply {
    net: f64,
    gross: f64,
}

impl Supply {
    /// With the work of one step under torques `tau` and `drive`, which ended with velocities `v`
    /// and whose links moved from `before` to `after`.
    pub(super) fn after(
        self,
        tau: &[f64],
        drive: &Drive,
        before: impl Fn(usize) -> Pose,
        after: impl Fn(usize) -> Pose,
        v: &[f64],
        h: f64,
    ) -> Self {
        let torques = match drive.torques {
            true => tau.iter().zip(v).map(|(t, v)| h * t * v).sum(),
            false => 0.0,
        };
        let follower = |(link, w): &(usize, Wrench)| w.dot(before(*link).twist_to(&after(*link)));
        let dead = |(link, w): &(usize, Wrench)| {
            let (a, b) = (before(*link), after(*link));
            let force = w.force.dot(b.translation - a.translation);
            if w.torque == DVec3::ZERO {
                return force;
            }
            let turn = (a.rotation.conjugate() * b.rotation).to_scaled_axis();
            force + w.torque.dot(a.rotation * turn)
        };
        let followers: f64 = drive.followers.iter().map(follower).sum();
        let work = torques + followers + drive.dead.iter().map(dead).sum::<f64>();
        Self { net: self.net + work, gross: self.gross + work.abs() }
    }

    /// The most energy that a mechanism can have which started with `start`.
    pub(super) fn limit(self, start: &MechanismEnergy) -> f64 {
        start.total() + self.net + SHARE * (self.gross + start.size())
    }
}

/// What acts beside weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Drive {
    /// There are torques on the tree's coordinates.
    pub(super) torques: bool,
    /// Wrenches on links that turn with them, in their frames.
    pub(super) followers: Vec<(usize, Wrench)>,
    /// Wrenches on links that do not: world axes, at their frames' origins.
    pub(super) dead: Vec<(usize, Wrench)>,
}

impl Drive {
    /// Sets torques, and wrenches that turn with their links: one per link, or none.
    pub(super) fn set(&mut self, tau: &[f64], external: &[Wrench]) {
        self.torques = tau.iter().any(|&t| t != 0.0);
        self.followers.clear();
        let loaded = external.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO);
        self.followers.extend(loaded.map(|(link, w)| (link, *w)));
    }

    /// True if anything acts.
    pub(super) fn acts(&self) -> bool {
        self.torques || !self.followers.is_empty() || !self.dead.is_empty()
    }
}
