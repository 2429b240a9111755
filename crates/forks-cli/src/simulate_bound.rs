//! `forks simulate --stops --friction`: a mechanism whose joints stop and rub, alone in a world.

use std::sync::Arc;

use forks_dynamics::{
    AppliedWrench, MechanismEnergy, WrenchFrame,
    integrate::{ImpulseStepper, SimulationState, SimulationStatus},
};
use forks_mechanism::{
    BuildError, Mechanism, MechanismBuilder,
    lie::{Pose, glam::DVec3},
};
use forks_reduce::Effector;
use forks_sim::{
    JointForces, MechanismHandle, SimError, World, WorldSettings, WorldStatus,
    rom::LoadFrame,
    twin::{FullMechanism, Gravity},
};

/// The world and what is read from it.
pub(crate) struct Bound {
    world: World,
    mechanism: MechanismHandle,
    state: SimulationState,
    /// Steps whose impulses were solved less exactly than asked.
    pub(crate) inexact: usize,
}

impl Bound {
    /// A mechanism at tree positions `q` and velocities `v` under its own gravity, with loads that
    /// stay on their links.
    pub(crate) fn new(
        m: &Mechanism,
        q: &[f64],
        v: &[f64],
        loads: &[AppliedWrench],
        forces: JointForces,
        step: f64,
    ) -> Result<Self, SimError> {
        let settings = WorldSettings { step, gravity: DVec3::ZERO, ..WorldSettings::default() };
        let mut world = World::new(settings)?;
        let effector = |(i, l): (usize, &AppliedWrench)| Effector {
            name: i.to_string(),
            link: l.link,
            link_from_effector: l.link_from_point,
        };
        let full = FullMechanism {
            mechanism: Arc::new(m.clone()),
            effectors: loads.iter().enumerate().map(effector).collect(),
            servos: Vec::new(),
            start: q.to_vec(),
            velocity: v.to_vec(),
            gravity: Gravity::Own,
        };
        let mechanism = world.add_full(m.name(), &full, Pose::IDENTITY)?;
        world.add_joint_forces(mechanism, m, forces)?;
        for (i, l) in loads.iter().enumerate() {
            let frame = match l.frame {
                WrenchFrame::Body => LoadFrame::Body,
                _ => LoadFrame::World,
            };
            world.set_effector_load(mechanism, i, l.wrench, frame)?;
        }
        let state = SimulationState { q: q.to_vec(), v: v.to_vec() };
        let mut out = Self { world, mechanism, state, inexact: 0 };
        out.read();
        Ok(out)
    }

    fn solver(&self) -> &ImpulseStepper {
        let found = self.world.full_solver(self.mechanism);
        found.ok().flatten().expect("the mechanism was added by add_full")
    }

    fn read(&mut self) {
        let solver = self.solver();
        let tree = solver.mechanism().tree_position_count();
        let (q, v) = (solver.positions()[..tree].to_vec(), solver.tree_velocities().to_vec());
        self.state = SimulationState { q, v };
    }

    pub(crate) fn step(&mut self) -> SimulationStatus {
        let report = self.world.step();
        self.inexact += usize::from(report.inexact > 0);
        if matches!(report.status, WorldStatus::NotFinite { .. }) {
            let why = self.world.failure(self.mechanism).ok().flatten();
            return match why {
                Some(why) if why == SimulationStatus::LoopsOpen.name() => {
                    SimulationStatus::LoopsOpen
                }
                Some(why) if why == SimulationStatus::Singular.name() => SimulationStatus::Singular,
                _ => SimulationStatus::NotFinite,
            };
        }
        self.read();
        SimulationStatus::Completed
    }

    pub(crate) fn steps(&self) -> usize {
        self.world.step_count() as usize
    }

    pub(crate) fn state(&self) -> &SimulationState {
        &self.state
    }

    pub(crate) fn time(&self) -> f64 {
        self.world.time()
    }

    pub(crate) fn energy(&self) -> MechanismEnergy {
        self.solver().energy()
    }

    pub(crate) fn link_poses(&self) -> &[Pose] {
        self.solver().link_poses()
    }

    pub(crate) fn loop_gap(&self) -> f64 {
        self.solver().loop_gap()
    }
}

/// The same mechanism with a name for every joint, as worlds ask for.
pub(crate) fn named(m: &Mechanism) -> Result<Mechanism, BuildError> {
    let mut b = MechanismBuilder::from_mechanism(m);
    for (i, j) in b.joints_mut().iter_mut().enumerate() {
        if j.name.is_empty() {
            j.name = format!("#{i}");
        }
    }
    b.build()
}
