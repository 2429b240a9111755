//! Energy of a state, and the bias force.

use forks_mechanism::lie::Wrench;

use super::{
    dynamics::{ConstrainedDynamics, ConstrainedWorkspace},
    inverse::{inverse_dynamics, weight},
};
use crate::energy::{elastic_energy, gravitational_energy};

/// Energy by kind, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MechanismEnergy {
    /// Of all links and rotors.
    pub kinetic: f64,
    /// Of the weights, zero at the world's origin; 0 where gravity is switched off.
    pub gravitational: f64,
    /// Of joint springs, combination springs and bushings.
    pub elastic: f64,
}

impl MechanismEnergy {
    /// Sum of their absolute values, to which rounding is relative.
    pub(crate) fn size(&self) -> f64 {
        self.kinetic + self.gravitational.abs() + self.elastic
    }

    /// Their sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravitational + self.elastic
    }
}

impl ConstrainedDynamics<'_> {
    /// Energy at tree coordinates `q`, `v`.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn energy(&self, q: &[f64], v: &[f64], work: &mut ConstrainedWorkspace) -> MechanismEnergy {
        let m = self.m;
        self.prepare(q, v, work);
        let links: f64 = m
            .links()
            .iter()
            .zip(&work.motion.twists)
            .skip(1)
            .map(|(l, t)| l.inertia.kinetic_energy(*t))
            .sum();
        let rotors: f64 = self.armature.iter().zip(&work.v).map(|(a, v)| 0.5 * a * v * v).sum();
        let poses = &work.motion.world_from_link;
        MechanismEnergy {
            // An empty sum is −0.
            kinetic: 0.0 + links + rotors,
            gravitational: if self.has_gravity() {
                0.0 + gravitational_energy(m, poses)
            } else {
                0.0
            },
            elastic: 0.0 + elastic_energy(m, &work.q, poses),
        }
    }

    /// Coriolis and centrifugal forces and the full weight, gravity compensation not taken off:
    /// what M v̇ needs at v̇ = 0 beside springs, dampers and loops.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn bias(&self, q: &[f64], v: &[f64], work: &mut ConstrainedWorkspace) -> Vec<f64> {
        let m = self.m;
        self.prepare(q, v, work);
        let motion = &work.motion;
        let mut wrenches = vec![Wrench::ZERO; m.links().len()];
        if self.has_gravity() {
            for i in 1..wrenches.len() {
                wrenches[i] = weight(m, i, &motion.world_from_link[i], false);
            }
        }
        let mut out = vec![0.0; m.tree_velocity_count()];
        let accelerations = &motion.bias_accelerations;
        inverse_dynamics(m, motion, accelerations, &wrenches, &mut work.carried, &mut out);
        out
    }
}
