//! A simulation: a state that moves in time, step by step.

use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, Wrench},
};

use super::{
    adaptive,
    explicit::{runge_kutta_4, semi_implicit_euler},
    guarded::Guarded,
    state::{SimulationState, SimulationStatus, System},
    statistics::SimulationStatistics,
};
use crate::constrained::MechanismEnergy;

/// Schemes of time integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Integrator {
    /// Order 1, explicit; keeps the energy of soft conservative systems near its start value.
    SemiImplicitEuler,
    /// The classical scheme of order 4, explicit.
    RungeKutta4,
    /// Linearly implicit Euler: order 1, L-stable; ends exactly on the static equilibrium.
    Implicit,
    /// Dormand–Prince 5(4), explicit, steps chosen by error control.
    Adaptive,
}

/// Settings of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationOptions {
    /// The scheme. Default: implicit.
    pub integrator: Integrator,
    /// True if the mechanism's gravity acts. Default true.
    pub gravity: bool,
    /// Error per step of the adaptive scheme, relative to 1 + |coordinate|. Default 1e-9; sensible
    /// 1e-4 to 1e-12.
    pub tolerance: f64,
    /// The implicit scheme halves steps in which the energy would grow by more than loads gave up
    /// to this many times, then takes off kinetic energy. Default 3.
    pub energy_halvings: usize,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            integrator: Integrator::Implicit,
            gravity: true,
            tolerance: 1e-9,
            energy_halvings: 3,
        }
    }
}

/// A mechanism in motion.
#[derive(Clone, Debug)]
pub struct Simulation<'m> {
    system: System<'m>,
    implicit: Option<Box<Guarded>>,
    options: SimulationOptions,
    state: SimulationState,
    time: f64,
    adaptive_step: f64,
    start_gap: f64,
    statistics: SimulationStatistics,
}

impl<'m> Simulation<'m> {
    /// Starts at tree coordinates `q`, `v`. Open loops are closed first ([`Simulation::start_gap`]
    /// says how far they were open) and velocities that violate them taken off; where that fails
    /// the first step says so.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn new(m: &'m Mechanism, q: &[f64], v: &[f64], options: SimulationOptions) -> Self {
        let mut system = System::new(m, options.gravity);
        let mut state = SimulationState { q: q.to_vec(), v: v.to_vec() };
        assert_eq!(q.len(), m.tree_position_count(), "number of tree positions");
        assert_eq!(v.len(), m.tree_velocity_count(), "number of tree velocities");
        let (mut implicit, mut start_gap) = (None, 0.0);
        if options.integrator == Integrator::Implicit {
            let guarded;
            (guarded, start_gap) = Guarded::new(&mut system, &mut state);
            implicit = Some(Box::new(guarded));
        } else if q.iter().chain(v).all(|x| x.is_finite()) {
            start_gap = system.close_loops(&mut state);
        }
        Self {
            system,
            implicit,
            options,
            state,
            time: 0.0,
            adaptive_step: 0.0,
            start_gap,
            statistics: SimulationStatistics::default(),
        }
    }

    /// Torques on the tree coordinates and wrenches on the links (body frames, ground first; may be
    /// empty) from now on.
    ///
    /// # Panics
    /// If a length is wrong.
    pub fn set_loads(&mut self, tau: &[f64], external: &[Wrench]) {
        let m = self.system.mechanism();
        assert_eq!(tau.len(), m.tree_velocity_count(), "number of torques");
        assert!(external.is_empty() || external.len() == m.links().len(), "number of wrenches");
        self.system.tau.copy_from_slice(tau);
        self.system.external.clear();
        self.system.external.extend_from_slice(external);
        self.note_loads();
    }

    /// Wrenches on links from now on, beside the others, that keep their direction in space while
    /// the links turn: world axes, at the origins of the links' frames. Forces among them have a
    /// potential, and implicit steps are faster with them than with wrenches that turn.
    pub fn set_dead_wrenches(&mut self, wrenches: &[(LinkId, Wrench)]) {
        self.system.dead.clear();
        let acting = wrenches.iter().filter(|(_, w)| *w != Wrench::ZERO);
        self.system.dead.extend(acting.map(|(link, w)| (link.index(), *w)));
        self.note_loads();
    }

    fn note_loads(&mut self) {
        if let Some(implicit) = &mut self.implicit {
            implicit.set_loads(&self.system);
        }
    }

    /// The state.
    pub fn state(&self) -> &SimulationState {
        &self.state
    }

    /// Largest gap of the loops in the state that the simulation was given: lengths over r, angles
    /// in rad.
    pub fn start_gap(&self) -> f64 {
        self.start_gap
    }

    /// Time since the start, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Work done so far.
    pub fn statistics(&self) -> SimulationStatistics {
        SimulationStatistics { evaluations: self.system.evaluations, ..self.statistics }
    }

    /// Energy of the state.
    pub fn energy(&mut self) -> MechanismEnergy {
        match &self.implicit {
            Some(implicit) => implicit.energy(),
            None => self.system.energy_of(&self.state),
        }
    }

    /// World poses of all links, the ground first.
    pub fn link_poses(&self) -> Vec<Pose> {
        let mut out = Vec::with_capacity(self.system.mechanism().links().len());
        self.write_link_poses(&mut out);
        out
    }

    /// The same into memory that is there already.
    pub fn write_link_poses(&self, out: &mut Vec<Pose>) {
        let m = self.system.mechanism();
        if let Some(implicit) = &self.implicit {
            return implicit.write_link_poses(m, out);
        }
        let mut q = m.start_positions();
        q[..self.state.q.len()].copy_from_slice(&self.state.q);
        *out = m.link_poses(&q);
    }

    /// Largest gap of loops and couplings: lengths over r, angles in rad.
    pub fn loop_gap(&mut self) -> f64 {
        match &mut self.implicit {
            Some(implicit) => implicit.loop_gap(self.system.mechanism(), &self.state),
            None => self.system.dynamics.loop_gap(&self.state.q, &mut self.system.work),
        }
    }

    /// Moves on by `h` seconds; after a failure state and time are what they were.
    pub fn step(&mut self, h: f64) -> SimulationStatus {
        if let Some(implicit) = &mut self.implicit {
            let halvings = self.options.energy_halvings;
            let (state, statistics) = (&mut self.state, &mut self.statistics);
            return match implicit.step(&mut self.system, state, h, halvings, statistics) {
                Ok(()) => {
                    self.time += h;
                    SimulationStatus::Completed
                }
                Err(status) => status,
            };
        }
        let result = match self.options.integrator {
            Integrator::Adaptive | Integrator::Implicit => self.adaptive(h),
            Integrator::RungeKutta4 => self.explicit(h, runge_kutta_4),
            Integrator::SemiImplicitEuler => self.explicit(h, semi_implicit_euler),
        };
        match result {
            Ok(state) => {
                self.state = state;
                self.time += h;
                SimulationStatus::Completed
            }
            Err(status) => status,
        }
    }

    fn explicit(
        &mut self,
        h: f64,
        scheme: impl Fn(
            &mut System<'_>,
            &SimulationState,
            f64,
        ) -> Result<SimulationState, SimulationStatus>,
    ) -> Result<SimulationState, SimulationStatus> {
        let mut next = scheme(&mut self.system, &self.state, h)?;
        self.system.project(&mut next)?;
        self.statistics.steps += 1;
        Ok(next)
    }

    /// Steps of the error control until `h` has passed.
    fn adaptive(&mut self, h: f64) -> Result<SimulationState, SimulationStatus> {
        let mut state = self.state.clone();
        let mut passed = 0.0;
        if self.adaptive_step <= 0.0 {
            self.adaptive_step = h;
        }
        while passed < h {
            let left = h - passed;
            let last = self.adaptive_step >= left * (1.0 - 1e-12);
            let step = if last { left } else { self.adaptive_step };
            if step < 1e-13 * (h + self.time) {
                return Err(SimulationStatus::StepTooSmall);
            }
            let trial = adaptive::trial(&mut self.system, &state, step, self.options.tolerance)
                .and_then(|(mut next, error)| {
                    if error <= 1.0 {
                        self.system.project(&mut next)?;
                    }
                    Ok((next, error))
                });
            match trial {
                Ok((next, error)) if error <= 1.0 => {
                    state = next;
                    passed = if last { h } else { passed + step };
                    self.statistics.steps += 1;
                    let proposed = adaptive::next_step(step, error);
                    // A step cut short at the end says nothing against the longer one.
                    self.adaptive_step =
                        if last { proposed.max(self.adaptive_step) } else { proposed };
                }
                Ok((_, error)) => {
                    self.statistics.rejected += 1;
                    self.adaptive_step = adaptive::next_step(step, error);
                }
                Err(SimulationStatus::NotFinite | SimulationStatus::LoopsOpen) => {
                    self.statistics.rejected += 1;
                    self.adaptive_step = 0.2 * step;
                }
                Err(other) => return Err(other),
            }
        }
        Ok(state)
    }
}
