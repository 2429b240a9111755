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
        let (q, v) = (std::mem::take(&mut self.state.q), std::mem::take(&mut self.state.v));
        let skeleton = self.skeleton.kinetic(&q, &v);
        let potential = self.skeleton.potential(&q, self.options.gravity);
        (self.state.q, self.state.v) = (q, v);
        let g = self.gravity();
        let (mut kinetic, mut weight) = (0.0, 0.0);
        for &n in &self.free {
            let m = self.body.masses[n];
            kinetic += 0.5 * m * self.state.velocity[n].length_squared();
            weight -= m * g.dot(self.state.x[n]);
        }
        SoftEnergy {
            kinetic: skeleton + kinetic,
            tissue: self.body.elastic.energy(&self.state.x),
            potential: potential + weight,
        }
    }
}
