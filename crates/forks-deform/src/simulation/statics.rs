//! Rest of skeleton and tissue under weights and dead forces: the minimum of their energy by
//! projected Newton, loads in equal steps.

use forks_dynamics::mechanism::{lie::glam::DVec3, linalg::Matrix};

use super::{
    border::Terms, commands::Commands, linearly_implicit::at_node, stepper::SoftSimulation,
};
use crate::{body::SoftError, curvature::Curvature};

/// Halvings of a step at most.
const CUTS: usize = 40;

/// Part of the predicted fall that Armijo asks for.
const ARMIJO: f64 = 1e-4;

/// Settings of [`SoftSimulation::rest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticsOptions {
    /// Part of the largest nodal force that may be left. Default 1e-10; sensible 1e-6 to 1e-12.
    pub tolerance: f64,
    /// Newton steps for each step of the load. Default 200.
    pub iterations: usize,
    /// Steps of the loads on nodes and coordinates. Default 1.
    pub load_steps: usize,
}

impl Default for StaticsOptions {
    fn default() -> Self {
        Self { tolerance: 1e-10, iterations: 200, load_steps: 1 }
    }
}

/// How a search for rest ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticsStatus {
    /// Forces balance.
    Converged,
    /// No lower energy was found along a direction of descent.
    Stalled,
    /// The iterations were not enough.
    IterationLimit,
}

/// What a search for rest took and left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticsReport {
    /// How it ended.
    pub status: StaticsStatus,
    /// Newton steps.
    pub newton: usize,
    /// Halvings in line searches.
    pub line_search_cuts: usize,
    /// Largest force that is not balanced, N or N·m.
    pub residual: f64,
}

impl SoftSimulation {
    /// Moves skeleton and tissue to rest under gravity and commands (forces alone), velocities
    /// zero.
    ///
    /// # Errors
    /// A law without energy, parts of the tissue that nothing holds, prescribed accelerations,
    /// forces that do not fit, a skeleton that moves freely.
    pub fn rest(
        &mut self,
        commands: &Commands<'_>,
        options: &StaticsOptions,
    ) -> Result<StaticsReport, SoftError> {
        if !self.body.elastic.material().is_conservative() {
            return Err(SoftError::NoEnergy);
        }
        self.check_parts()?;
        self.state.v.fill(0.0);
        self.state.velocity.fill(DVec3::ZERO);
        self.place();
        let mut report = StaticsReport {
            status: StaticsStatus::Converged,
            newton: 0,
            line_search_cuts: 0,
            residual: 0.0,
        };
        let steps = options.load_steps.max(1);
        for step in 1..=steps {
            let part = step as f64 / steps as f64;
            let forces: Vec<f64> = commands.forces.iter().map(|f| f * part).collect();
            let node_forces: Vec<DVec3> = commands.node_forces.iter().map(|f| *f * part).collect();
            let now = Commands { forces: &forces, node_forces: &node_forces, accelerations: &[] };
            self.balance(&now, options, &mut report)?;
            // Where rounding of energies stalls a step of the loads, the rest of them follows.
            if report.status == StaticsStatus::IterationLimit {
                break;
            }
        }
        Ok(report)
    }

    /// Every part of the tissue has a node in a bone.
    fn check_parts(&self) -> Result<(), SoftError> {
        let parts = self.body.mesh.parts();
        let mut held = vec![false; parts.len()];
        for (n, part) in parts.iter().enumerate() {
            held[*part] |= self.body.holder[n].is_some();
        }
        match parts.iter().find(|p| !held[**p]) {
            Some(&node) => Err(SoftError::LoosePart { node }),
            None => Ok(()),
        }
    }

    fn balance(
        &mut self,
        commands: &Commands<'_>,
        options: &StaticsOptions,
        report: &mut StaticsReport,
    ) -> Result<(), SoftError> {
        let dof = self.skeleton.dof();
        self.work.prescribed.fill(false);
        let own = Matrix::zeros(dof, dof);
        let nodes = self.state.x.len();
        let g = self.gravity();
        for _ in 0..=options.iterations {
            self.evaluate_forces(commands);
            let mut force = vec![0.0; dof];
            let q = std::mem::take(&mut self.state.q);
            self.skeleton.conservative(&q, self.options.gravity, &mut force);
            self.state.q = q;
            force.iter_mut().zip(commands.forces).for_each(|(f, c)| *f += c);
            self.load_held_nodes();
            self.skeleton.pull_back(&mut force);
            let mut pull = vec![DVec3::ZERO; nodes];
            for &n in &self.free {
                pull[n] = self.forces[n] + g * self.body.masses[n];
            }
            let most = pull.iter().map(|f| f.length()).fold(0.0, f64::max);
            report.residual = force.iter().fold(most, |m, f| m.max(f.abs()));
            if report.residual <= options.tolerance * self.force_scale() {
                report.status = StaticsStatus::Converged;
                return Ok(());
            }
            let motion = self.motion();
            let (mut dq, mut dx) = (force.clone(), pull.clone());
            self.static_direction(&motion, &own, (&mut dq, &mut dx))?;
            report.newton += 1;
            let slope: f64 = force.iter().zip(&dq).map(|(f, d)| f * d).sum::<f64>()
                + self.free.iter().map(|&n| pull[n].dot(dx[n])).sum::<f64>();
            let before = self.state.clone();
            let value = self.loaded_energy(commands, &before.q);
            let (mut t, mut cuts) = (1.0, 0);
            loop {
                let step: Vec<f64> = dq.iter().map(|d| t * d).collect();
                self.state.q.copy_from_slice(&before.q);
                self.skeleton.mechanism.integrate(&mut self.state.q, &step);
                for &n in &self.free {
                    self.state.x[n] = before.x[n] + dx[n] * t;
                }
                self.place();
                let next = self.loaded_energy(commands, &before.q);
                let rounding = 64.0 * f64::EPSILON * (next.1 + value.1);
                if next.0 <= value.0 - ARMIJO * t * slope + rounding {
                    break;
                }
                if cuts == CUTS {
                    self.state = before;
                    self.place();
                    report.status = StaticsStatus::Stalled;
                    return Ok(());
                }
                (t, cuts) = (0.5 * t, cuts + 1);
            }
            report.line_search_cuts += cuts;
        }
        report.status = StaticsStatus::IterationLimit;
        Ok(())
    }

    /// Energy, and that of the forces on coordinates counted from given positions.
    fn loaded_energy(&self, commands: &Commands<'_>, from: &[f64]) -> (f64, f64) {
        let (value, size) = self.potential(commands);
        if commands.forces.is_empty() {
            return (value, size);
        }
        let moved = self.skeleton.mechanism.difference(from, &self.state.q);
        let work: f64 = moved.iter().zip(commands.forces).map(|(d, f)| d * f).sum();
        (value - work, size + work.abs())
    }

    /// The largest force that elements or loads put on a node: what residuals are measured by.
    fn force_scale(&self) -> f64 {
        let material = self.body.elastic.material();
        let elements = self.body.elastic.elements();
        let mut most: f64 = self.forces.iter().map(|f| f.length()).fold(0.0, f64::max);
        for (n, m) in self.body.masses.iter().enumerate() {
            most = most.max(self.gravity().length() * m);
            most = most.max(self.forces[n].length());
        }
        // Forces of a strain of 1e-4 in the largest element, so that rest without loads ends too.
        let largest = (0..elements.count()).map(|e| elements.volume(e)).fold(0.0, f64::max);
        most.max(1e-4 * material.young() * largest.powf(2.0 / 3.0))
    }

    fn static_direction(
        &mut self,
        motion: &[Vec<DVec3>],
        own: &Matrix,
        (dq, dx): (&mut [f64], &mut [DVec3]),
    ) -> Result<(), SoftError> {
        // With the exact matrix where it is positive definite, Newton's method is quadratic.
        self.border.stiffness(&self.body.elastic, &self.state.x, Curvature::Exact);
        let mut diagonal = vec![0.0; self.state.x.len()];
        let terms = Terms { scale: 1.0, diagonal: &diagonal, dampers: &[], motion };
        if self.border.eliminate(&terms).is_ok() && self.complete_exactly(own, 1.0, None) {
            self.border.solve(dq, dx);
            return Ok(());
        }
        // A projected stiffness may have no resistance in some direction; then a little is added.
        self.border.stiffness(&self.body.elastic, &self.state.x, Curvature::Projected);
        let elements = self.body.elastic.elements();
        let volume: f64 = (0..elements.count()).map(|e| elements.volume(e)).sum();
        let typical =
            self.body.elastic.material().young() * (volume / elements.count() as f64).cbrt();
        let mut shift = 0.0;
        loop {
            diagonal.fill(shift);
            let terms = Terms { scale: 1.0, diagonal: &diagonal, dampers: &[], motion };
            match self.border.eliminate(&terms) {
                Ok(()) => break,
                Err(e) if shift > typical => return Err(at_node(e)),
                Err(_) => shift = if shift == 0.0 { 1e-8 * typical } else { 10.0 * shift },
            }
        }
        self.complete_roughly(own, 1.0, None)?;
        self.border.solve(dq, dx);
        Ok(())
    }
}
