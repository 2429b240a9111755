//! Energies from the naive kinematics.

use forks_mechanism::Mechanism;

use super::{
    Double, State,
    equations::{Equations, combine, d, dot},
};
use crate::{Loads, Potential, kinematics::link_poses};

/// Energies, J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energies {
    /// Of all links and rotors.
    pub kinetic: f64,
    /// Zero where centres of mass are at the world's origin.
    pub gravitational: f64,
    /// Of all springs.
    pub elastic: f64,
}

impl Energies {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravitational + self.elastic
    }
}

/// Energies of `m` in a state.
pub fn energies(m: &Mechanism, s: &State) -> Energies {
    let e = Equations::new(m, s);
    let mut twice = Double::ZERO;
    for (i, t) in e.inertias.iter().zip(&e.twists) {
        twice = twice + dot(&combine(i, t), t);
    }
    for (a, v) in e.armature.iter().zip(&s.v) {
        twice = twice + d(*a) * d(*v) * d(*v);
    }
    let mut gravitational = 0.0;
    for (l, pose) in m.links().iter().zip(&e.poses) {
        let c = pose.point(&l.inertia.center_of_mass.to_array());
        let g = m.gravity().to_array();
        let mass = l.inertia.mass * (1.0 - l.gravity_compensation);
        gravitational -= (0..3).map(|k| mass * g[k] * c[k].high).sum::<f64>();
    }
    let loads = Loads::default();
    let still = vec![0.0; m.velocity_count()];
    let poses = link_poses(m, &s.q, &still);
    let elastic = Potential::new(m, &loads).value(&s.q, &still, &poses);
    Energies { kinetic: 0.5 * twice.high, gravitational, elastic }
}
