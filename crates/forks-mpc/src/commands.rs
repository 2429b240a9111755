//! What a prediction may change, and the step that takes it.

use forks_rom::{
    EffectorLoad, LoadFrame, ModelError, StepStatus, System,
    lie::{Wrench, glam::DVec3},
};

/// What commands are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commands {
    /// The targets of all servos, rad or m, relative to those of the linearisation pose.
    Servos,
    /// Forces at the origins of effectors (by index), three per effector, world axes, N.
    Forces(Vec<usize>),
}

impl Commands {
    /// How many numbers commands of a system are.
    pub fn count<S: System>(&self, system: &S) -> usize {
        match self {
            Self::Servos => system.data().servos.len(),
            Self::Forces(effectors) => 3 * effectors.len(),
        }
    }
}

/// Forces on effectors as loads.
pub(crate) fn command_loads(effectors: &[usize], u: &[f64]) -> impl Iterator<Item = EffectorLoad> {
    effectors.iter().zip(u.chunks_exact(3)).map(|(&effector, f)| EffectorLoad {
        effector,
        wrench: Wrench::new(DVec3::from_slice(f), DVec3::ZERO),
        frame: LoadFrame::World,
    })
}

/// A state with what its steps need, and loads of which the first `external` are not commands.
#[derive(Clone, Debug)]
pub(crate) struct Moving<S: System> {
    pub(crate) state: S::State,
    pub(crate) work: S::Workspace,
    loads: Vec<EffectorLoad>,
    external: usize,
}

impl<S: System> Moving<S> {
    pub(crate) fn new(system: &S) -> Self {
        Self { state: system.state(), work: system.workspace(), loads: vec![], external: 0 }
    }

    /// Takes loads that act beside the commands.
    pub(crate) fn take_loads(&mut self, loads: &[EffectorLoad]) {
        self.loads.clear();
        self.loads.extend_from_slice(loads);
        self.external = loads.len();
    }

    /// Sets x = (coordinates, velocities).
    pub(crate) fn set(&mut self, system: &S, x: &[f64]) -> Result<(), ModelError> {
        let (coordinates, velocity) = x.split_at(system.dof());
        system.set(&mut self.state, coordinates, velocity)
    }

    /// Reads x.
    pub(crate) fn read(&self, system: &S, x: &mut [f64]) {
        let (coordinates, velocity) = x.split_at_mut(system.dof());
        system.coordinates(&self.state, coordinates);
        system.velocity(&self.state, velocity);
    }

    /// A step with commands.
    pub(crate) fn step(
        &mut self,
        system: &S,
        commands: &Commands,
        u: &[f64],
    ) -> Result<StepStatus, ModelError> {
        match commands {
            Commands::Servos => system.set_servo_targets(&mut self.state, u)?,
            Commands::Forces(effectors) => {
                self.loads.truncate(self.external);
                self.loads.extend(command_loads(effectors, u));
            }
        }
        Ok(system.step(&mut self.state, &mut self.work, &self.loads))
    }
}
