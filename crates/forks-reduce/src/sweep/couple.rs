//! Relations between joint coordinates: couplings condition, springs on combinations inform,
//! outputs only look.

use forks_mechanism::{Coordinate, JointId, kinematics::loops, linalg::Matrix};

use super::{Op, Sweep};
use crate::frontier::{Rows, Singular, Variable};

impl Sweep<'_> {
    /// A coupling: condition on Σ p′ₖ aₖᵀ δθ = 0.
    pub(super) fn couple(&mut self, i: usize) -> Result<(), Singular> {
        let m = self.m;
        let c = &m.couplings()[i];
        let mut terms: Vec<(Coordinate, f64)> = Vec::new();
        for t in &c.terms {
            let slope = t.evaluate(loops::combination_value(m, &t.combination, self.q)).1;
            terms.extend(t.combination.terms.iter().map(|(c, a)| (*c, a * slope)));
        }
        let rows = self.combination_rows(&terms);
        self.condition(rows)?;
        let force = self.prestress.as_ref().map_or(0.0, |p| p.coupling_force[i]);
        for t in &c.terms {
            let bend = t.evaluate(loops::combination_value(m, &t.combination, self.q)).2;
            if force * bend != 0.0 {
                let rows = self.combination_rows(&t.combination.terms);
                self.add_energy_rows(rows, Matrix::from_fn(1, 1, |_, _| -force * bend))?;
            }
            self.release_combination(&t.combination);
        }
        Ok(())
    }

    pub(super) fn add_combination_spring(&mut self, i: usize) -> Result<(), Singular> {
        let s = &self.m.combination_springs()[i];
        if s.stiffness > 0.0 && !s.combination.terms.is_empty() {
            let rows = self.combination_rows(&s.combination.terms);
            self.add_spring_energy(rows, &Matrix::from_fn(1, 1, |_, _| s.stiffness))?;
        }
        self.release_combination(&s.combination);
        Ok(())
    }

    /// Adds a joint's share to the outputs: y ← y + aᵀθ, so that no coordinate has to stay live for
    /// them.
    pub(super) fn add_to_outputs(&mut self, joint: JointId) {
        for i in 0..self.output_terms[joint.index()].len() {
            let (output, coordinate, weight) = self.output_terms[joint.index()][i];
            let (variable, source) = (self.outputs[output], self.coordinate_variable(coordinate));
            self.frontier.add_multiple(variable, weight, source);
            self.tape.push(Op::Output { variable, weight, source });
            self.release(&[source]);
        }
    }

    /// One row over joint coordinates; repeated coordinates are added up.
    pub(super) fn combination_rows(&self, terms: &[(Coordinate, f64)]) -> Rows {
        let mut variables: Vec<Variable> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for (c, a) in terms {
            let v = self.coordinate_variable(self.m.velocity_index(*c));
            match variables.iter().position(|&x| x == v) {
                Some(i) => weights[i] += a,
                None => {
                    variables.push(v);
                    weights.push(*a);
                }
            }
        }
        let matrix = Matrix::from_fn(1, weights.len(), |_, j| weights[j]);
        Rows { variables, matrix }
    }
}
