//! The work that torques and wrenches did since a simulation began, and the energy that it leaves
//! room for.
//!
//! Coriolis and centrifugal forces enter implicit steps as they were at the step's start. Where
//! links turn by a large angle per step they pump energy into the motion without end. A mechanism
//! cannot have more energy than it had plus what its loads gave it: dampers, and the scheme itself,
//! only take.

use forks_mechanism::lie::{Pose, Wrench};

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
    /// With the work of one step under torques `tau`, which ended with velocities `v` and whose
    /// links moved from `before` to `after`.
    pub(super) fn after(
        self,
        tau: &[f64],
        before: &LoadedPoses,
        after: impl Fn(usize) -> Pose,
        v: &[f64],
        h: f64,
    ) -> Self {
        let torques: f64 = tau.iter().zip(v).map(|(t, v)| h * t * v).sum();
        let wrenches: f64 = before
            .0
            .iter()
            .map(|(link, pose, w)| w.dot((pose.inverse() * after(*link)).log()))
            .sum();
        let work = torques + wrenches;
        Self { net: self.net + work, gross: self.gross + work.abs() }
    }

    /// The most energy that a mechanism can have which started with `start`.
    pub(super) fn limit(self, start: &MechanismEnergy) -> f64 {
        start.total() + self.net + SHARE * (self.gross + start.size())
    }
}

/// Poses of the links on which wrenches act, with these, in the links' frames.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadedPoses(Vec<(usize, Pose, Wrench)>);

impl LoadedPoses {
    /// Those of links at `pose`, one wrench per link.
    pub(super) fn update(&mut self, external: &[Wrench], pose: impl Fn(usize) -> Pose) {
        self.0.clear();
        let loaded = external.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO);
        self.0.extend(loaded.map(|(link, w)| (link, pose(link), *w)));
    }
}
