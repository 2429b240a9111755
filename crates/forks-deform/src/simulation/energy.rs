//! Energy of skeleton and tissue.

use super::stepper::SoftSimulation;

/// Parts of the energy, J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftEnergy {
    /// Kinetic, skeleton and tissue.
    pub kinetic: f64,
    /// Elastic, of the tissue.
    pub tissue: f64,
    /// Of springs, and of gravity on skeleton and tissue where it acts.
    pub potential: f64,
}

impl SoftEnergy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.tissue + self.potential
    }
}

impl SoftSimulation {
    /// Energy of the state.
    pub fn energy(&mut self) -> SoftEnergy {
        let g = self.gravity();
        let weights = self.free.iter().map(|&n| -self.body.masses[n] * g.dot(self.state.x[n]));
        let weight: f64 = weights.sum();
        SoftEnergy {
            kinetic: self.kinetic(),
            tissue: self.body.elastic.energy(&self.state.x),
            potential: self.skeleton.potential(&self.state.q, self.options.gravity) + weight,
        }
    }

    /// Kinetic energy of skeleton and tissue, J.
    pub(crate) fn kinetic(&mut self) -> f64 {
        let nodes = self.free.iter().map(|&n| self.body.masses[n] * self.velocity_square(n));
        let nodes: f64 = nodes.sum();
        self.skeleton.kinetic(&self.state.q, &self.state.v) + 0.5 * nodes
    }

    fn velocity_square(&self, n: usize) -> f64 {
        self.state.velocity[n].length_squared()
    }
}
