//! What is integrated: state, system under constant torques, outcome of a step.

use forks_mechanism::{
    JointId, Mechanism,
    kinematics::{AssemblySettings, assemble},
    lie::{Pose, Wrench, glam::DVec3},
};

use crate::{
    constrained::{
        ConstrainedDynamics, ConstrainedWorkspace, DynamicsStatus, MechanismEnergy,
        ProjectionStatus,
    },
    loads::dead_load,
};

/// Gaps above this (lengths over r, radians) are closed by damped steps first.
const OPEN: f64 = 1e-6;

/// Tree coordinates at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationState {
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities; body twists for free, spherical and planar joints.
    pub v: Vec<f64>,
}

/// How a step ended. The state moves only if it is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulationStatus {
    /// The step was made.
    Completed,
    /// Numbers overflowed: the step is too long for the scheme, or the state was not finite.
    NotFinite,
    /// No mass resists this joint.
    Massless(JointId),
    /// The loops cannot be closed after the step.
    LoopsOpen,
    /// The error control asks for steps that rounding does not allow.
    StepTooSmall,
    /// The implicit equations are singular.
    Singular,
    /// Loops and couplings admit another number of motions than at the start.
    MotionsChanged {
        /// Independent motions at the start.
        from: usize,
        /// And now.
        to: usize,
    },
}

impl SimulationStatus {
    /// Lower-case name, words joined by hyphens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NotFinite => "not-finite",
            Self::Massless(_) => "massless",
            Self::LoopsOpen => "loops-open",
            Self::StepTooSmall => "step-too-small",
            Self::Singular => "singular",
            Self::MotionsChanged { .. } => "motions-changed",
        }
    }
}

/// The dynamics with the torques and wrenches of the current step.
#[derive(Clone, Debug)]
pub(crate) struct System<'m> {
    pub(crate) dynamics: ConstrainedDynamics<'m>,
    pub(crate) work: ConstrainedWorkspace,
    pub(crate) tau: Vec<f64>,
    /// Wrenches in the links' frames, the ground's first; may be empty.
    pub(crate) external: Vec<Wrench>,
    /// Wrenches in world axes at the origins of links' frames.
    pub(crate) dead: Vec<(usize, Wrench)>,
    /// Evaluations of the accelerations so far.
    pub(crate) evaluations: usize,
}

impl<'m> System<'m> {
    pub(crate) fn new(m: &'m Mechanism, gravity: bool) -> Self {
        let mut dynamics = ConstrainedDynamics::new(m).with_multipliers(false);
        if !gravity {
            dynamics = dynamics.without_gravity();
        }
        Self {
            work: dynamics.workspace(),
            dynamics,
            tau: vec![0.0; m.tree_velocity_count()],
            external: Vec::new(),
            dead: Vec::new(),
            evaluations: 0,
        }
    }

    pub(crate) fn mechanism(&self) -> &'m Mechanism {
        self.dynamics.mechanism()
    }

    pub(crate) fn accelerations(
        &mut self,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<f64>, SimulationStatus> {
        self.evaluations += 1;
        let all = match self.dead.is_empty() {
            true => None,
            false => {
                let m = self.mechanism();
                let mut positions = m.start_positions();
                positions[..q.len()].copy_from_slice(q);
                Some(self.with_dead(&m.link_poses(&positions)))
            }
        };
        let external = all.as_ref().unwrap_or(&self.external);
        let s = self.dynamics.accelerations(q, v, &self.tau, external, &mut self.work);
        match s.status {
            // Stages lie off the loops by the error of the scheme: the independent rows hold.
            DynamicsStatus::Solved | DynamicsStatus::Inconsistent => Ok(s.acceleration),
            DynamicsStatus::Massless(j) => Err(SimulationStatus::Massless(j)),
            _ => Err(SimulationStatus::NotFinite),
        }
    }

    /// The wrenches on the links in their frames, those in world axes included.
    pub(crate) fn with_dead(&self, world_from_link: &[Pose]) -> Vec<Wrench> {
        let mut all = self.external.clone();
        if !self.dead.is_empty() {
            all.resize(world_from_link.len(), Wrench::ZERO);
        }
        for (link, w) in &self.dead {
            all[*link] += dead_load(*w, DVec3::ZERO, &world_from_link[*link]).wrench;
        }
        all
    }

    /// Energy of a state, for which `work` is prepared afterwards.
    pub(crate) fn energy_of(&mut self, state: &SimulationState) -> MechanismEnergy {
        self.dynamics.energy(&state.q, &state.v, &mut self.work)
    }

    /// Closes the loops of a start state, however far they are open; the gap that was there. Where
    /// it fails the state stays.
    pub(crate) fn close_loops(&mut self, state: &mut SimulationState) -> f64 {
        let m = self.mechanism();
        let gap = self.dynamics.loop_gap(&state.q, &mut self.work);
        let mut closed = state.clone();
        if gap > OPEN {
            let start = self.work.q.clone();
            let assembly = assemble(m, &start, &AssemblySettings::default());
            closed.q.copy_from_slice(&assembly.positions[..state.q.len()]);
        }
        if self.project(&mut closed).is_ok() {
            *state = closed;
        }
        gap
    }

    /// Closes the loops of a new state and takes off velocities that violate them.
    pub(crate) fn project(&mut self, state: &mut SimulationState) -> Result<(), SimulationStatus> {
        if !state.q.iter().chain(&state.v).all(|x| x.is_finite()) {
            return Err(SimulationStatus::NotFinite);
        }
        let m = self.mechanism();
        if m.forest().closures().is_empty() && m.couplings().is_empty() {
            return Ok(());
        }
        let p = self.dynamics.project_positions(&mut state.q, &mut self.work);
        match p.status {
            ProjectionStatus::Closed => {}
            ProjectionStatus::Open => return Err(SimulationStatus::LoopsOpen),
            ProjectionStatus::Failed => return Err(SimulationStatus::NotFinite),
        }
        self.dynamics
            .project_velocities(&state.q, &mut state.v, &mut self.work)
            .map(|_| ())
            .ok_or(SimulationStatus::NotFinite)
    }
}
