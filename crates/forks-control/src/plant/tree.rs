//! Explicit steps of trees: v⁺ = v + h a(q, v, z), q⁺ = q ⊞ h v⁺.

use std::sync::Arc;

use forks_dynamics::{
    mechanism::{Mechanism, linalg::Matrix},
    passive::{PassiveWorkspace, passive_forces},
    tree::{AbaWorkspace, DerivativeWorkspace, LinkLoads, Tree, acceleration_derivatives, hybrid},
};

use super::{
    error::{PlantError, check, check_commands},
    response::{Plant, Response},
};

/// What a command of a velocity coordinate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// A force beside the coordinate's springs and dampers, N or N·m.
    Force(usize),
    /// Its acceleration, whatever force that takes.
    Acceleration(usize),
}

impl Command {
    /// The velocity coordinate.
    pub fn coordinate(self) -> usize {
        match self {
            Self::Force(c) | Self::Acceleration(c) => c,
        }
    }
}

/// A tree in motion by explicit steps, under gravity, springs and dampers. Its rates are the
/// velocity coordinates.
#[derive(Clone, Debug)]
pub struct TreePlant {
    mechanism: Arc<Mechanism>,
    tree: Tree,
    h: f64,
    commands: Vec<Command>,
    prescribed: Vec<bool>,
    q: Vec<f64>,
    v: Vec<f64>,
    aba: AbaWorkspace,
    derivatives: DerivativeWorkspace,
    passive: PassiveWorkspace,
}

impl TreePlant {
    /// At positions `q` and velocities `v`, with steps of `h` (s).
    ///
    /// # Errors
    /// A mechanism with loops or couplings, commands of coordinates that are not there or commanded
    /// twice, a step that is not positive, lengths that do not fit, numbers that are not finite.
    pub fn new(
        mechanism: Arc<Mechanism>,
        q: &[f64],
        v: &[f64],
        commands: &[Command],
        h: f64,
    ) -> Result<Self, PlantError> {
        let m = &*mechanism;
        let n = m.tree_velocity_count();
        let (loops, couplings) = (m.velocity_count() - n, m.couplings().len());
        if m.position_count() != m.tree_position_count() || couplings > 0 {
            let mechanism = m.name().to_string();
            return Err(PlantError::NotATree { mechanism, loops, couplings });
        }
        check_commands(h, commands.iter().map(|c| c.coordinate()), n)?;
        check(["position", "positions"], q, m.tree_position_count())?;
        check(["velocity", "velocities"], v, n)?;
        let mut prescribed = vec![false; n];
        for c in commands {
            prescribed[c.coordinate()] = matches!(c, Command::Acceleration(_));
        }
        let tree = Tree::new(m);
        Ok(Self {
            h,
            commands: commands.to_vec(),
            prescribed,
            q: q.to_vec(),
            v: v.to_vec(),
            aba: AbaWorkspace::new(&tree),
            derivatives: DerivativeWorkspace::new(&tree),
            passive: PassiveWorkspace::new(m),
            tree,
            mechanism,
        })
    }

    /// Positions.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// Velocities.
    pub fn velocities(&self) -> &[f64] {
        &self.v
    }

    /// v⁺ under commands.
    fn next(&mut self, commands: &[f64]) -> Result<Vec<f64>, PlantError> {
        let n = self.v.len();
        let mut given = vec![0.0; n];
        passive_forces(&self.mechanism, &mut self.passive, &self.q, &self.v, &mut given);
        for (c, z) in self.commands.iter().zip(commands) {
            match c {
                Command::Force(i) => given[*i] += z,
                Command::Acceleration(i) => given[*i] = *z,
            }
        }
        let (mut a, mut tau) = (vec![0.0; n], vec![0.0; n]);
        hybrid(
            &self.tree,
            &mut self.aba,
            &self.q,
            &self.v,
            &self.prescribed,
            &given,
            &LinkLoads::GRAVITY,
            &mut a,
            &mut tau,
        )?;
        a.iter_mut().zip(&self.v).for_each(|(a, v)| *a = v + self.h * *a);
        match a.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(PlantError::NotFinite { what: "velocity", index, value: a[index] }),
            None => Ok(a),
        }
    }
}

impl Plant for TreePlant {
    fn command_count(&self) -> usize {
        self.commands.len()
    }

    fn response(&mut self) -> Result<Response, PlantError> {
        let n = self.v.len();
        let free = self.next(&vec![0.0; self.commands.len()])?;
        let mut map =
            acceleration_derivatives(&self.tree, &mut self.derivatives, &self.q, &self.prescribed)?;
        let mut gain = Matrix::zeros(n, self.commands.len());
        let (mut a, mut tau) = (vec![0.0; n], vec![0.0; n]);
        for (j, c) in self.commands.iter().enumerate() {
            map.apply_unit(c.coordinate(), &mut a, &mut tau);
            (0..n).for_each(|i| gain[(i, j)] = self.h * a[i]);
        }
        Ok(Response { free, gain })
    }

    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError> {
        check(["command", "commands"], commands, self.commands.len())?;
        let v = self.next(commands)?;
        let moved: Vec<f64> = v.iter().map(|v| self.h * v).collect();
        self.mechanism.integrate(&mut self.q, &moved);
        self.v = v;
        Ok(())
    }
}
