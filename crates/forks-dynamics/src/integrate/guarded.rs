//! Implicit steps whose energy does not grow beyond what loads gave: halved where it would, and
//! damped where that does not help.

use forks_mechanism::{
    Mechanism,
    lie::{Pose, Wrench},
};

use super::{
    implicit::{Implicit, LoadStiffness},
    simulation::SimulationStatistics,
    state::{SimulationState, SimulationStatus, System},
    sweep::{Failure, Sweep},
    work::{LoadedPoses, Supply},
};
use crate::constrained::MechanismEnergy;

/// Energy may grow by this part of its terms in one guarded step: rounding.
const ENERGY_ROUNDING: f64 = 1e-13;

/// How a single step is made.
#[derive(Clone, Debug)]
struct Scheme {
    /// Where all that acts is known to it.
    sweep: Option<Box<Sweep>>,
    /// What decides where the sweep cannot.
    dense: Implicit,
}

impl Scheme {
    /// Takes over a state; its energy.
    fn set(&mut self, system: &mut System<'_>, state: &SimulationState) -> MechanismEnergy {
        match &mut self.sweep {
            Some(sweep) => sweep.set(system.mechanism(), state),
            None => system.energy_of(state),
        }
    }

    /// Energy of a state that may follow.
    fn set_next(&mut self, system: &mut System<'_>, next: &SimulationState) -> MechanismEnergy {
        match &mut self.sweep {
            Some(sweep) => sweep.set_next(system.mechanism(), next),
            None => system.energy_of(next),
        }
    }

    fn pose(&self, system: &System<'_>, link: usize) -> Pose {
        match &self.sweep {
            Some(sweep) => sweep.pose(link),
            None => system.work.motion.world_from_link[link],
        }
    }

    fn next_pose(&self, system: &System<'_>, link: usize) -> Pose {
        match &self.sweep {
            Some(sweep) => sweep.next_pose(link),
            None => system.work.motion.world_from_link[link],
        }
    }

    fn accept(&mut self) {
        if let Some(sweep) = &mut self.sweep {
            sweep.accept();
        }
    }

    /// One step from `state`, for which all was set, into `next`; its energy.
    fn step(
        &mut self,
        system: &mut System<'_>,
        state: &SimulationState,
        h: f64,
        stiffness: LoadStiffness,
        next: &mut SimulationState,
    ) -> Result<MechanismEnergy, SimulationStatus> {
        if let Some(sweep) = &mut self.sweep {
            system.evaluations += 1;
            let m = system.dynamics.mechanism();
            let loads = (system.tau.as_slice(), system.external.as_slice());
            match sweep.step(m, state, loads, h, stiffness, next) {
                Ok(()) => return Ok(sweep.next_energy(m, next)),
                Err(Failure::Refused(status)) => return Err(status),
                Err(Failure::Undecided) => {}
            }
        }
        *next = self.dense.step(system, state, h, stiffness)?;
        system.project(next)?;
        Ok(self.set_next(system, next))
    }
}

/// The scheme with its guard.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    scheme: Scheme,
    /// Energy of the state.
    energy: MechanismEnergy,
    /// Energy of the start, and what loads gave since.
    start_energy: MechanismEnergy,
    supply: Supply,
    running: SimulationState,
    trial: SimulationState,
    loaded: LoadedPoses,
    /// Lengths still to be done, the next one last, and how often they were halved.
    pending: Vec<(f64, usize)>,
}

impl Guarded {
    pub(super) fn new(system: &mut System<'_>, state: &SimulationState) -> Self {
        let d = &system.dynamics;
        let sweep = Sweep::new(d.mechanism(), d.has_gravity(), d.size).map(Box::new);
        let mut scheme = Scheme { sweep, dense: Implicit::default() };
        let energy = scheme.set(system, state);
        Self {
            scheme,
            energy,
            start_energy: energy,
            supply: Supply::default(),
            running: state.clone(),
            trial: state.clone(),
            loaded: LoadedPoses::default(),
            pending: Vec::new(),
        }
    }

    /// World poses of all links, the ground first, where they are at hand.
    pub(super) fn link_poses(&self, m: &Mechanism) -> Option<Vec<Pose>> {
        let sweep = self.scheme.sweep.as_ref()?;
        Some((0..m.links().len()).map(|i| sweep.pose(i)).collect())
    }

    /// Moves `state` on by `h`; after a failure it is what it was.
    pub(super) fn step(
        &mut self,
        system: &mut System<'_>,
        state: &mut SimulationState,
        h: f64,
        halvings: usize,
        statistics: &mut SimulationStatistics,
    ) -> Result<(), SimulationStatus> {
        if self.scheme.sweep.is_none() {
            self.energy = self.scheme.set(system, state);
        }
        let supply = self.supply;
        copy(state, &mut self.running);
        let result = self.substeps(system, h, halvings, statistics);
        match result {
            Ok(()) => copy(&self.running, state),
            Err(_) => {
                self.supply = supply;
                self.energy = self.scheme.set(system, state);
            }
        }
        result
    }

    fn substeps(
        &mut self,
        system: &mut System<'_>,
        h: f64,
        halvings: usize,
        statistics: &mut SimulationStatistics,
    ) -> Result<(), SimulationStatus> {
        let driven = system.tau.iter().any(|&t| t != 0.0)
            || system.external.iter().any(|w| *w != Wrench::ZERO);
        self.loaded.update(&system.external, |link| self.scheme.pose(system, link));
        self.pending.clear();
        self.pending.push((h, 0));
        while let Some((h, depth)) = self.pending.pop() {
            let deepest = depth == halvings;
            let mut trial =
                |stiffness| self.scheme.step(system, &self.running, h, stiffness, &mut self.trial);
            let mut made = trial(LoadStiffness::Linearised);
            if deepest && matches!(made, Err(SimulationStatus::Singular)) {
                made = trial(LoadStiffness::LeftOut);
            }
            let mut after = match made {
                Ok(energy) => energy,
                Err(_) if !deepest => {
                    self.halve(h, depth, statistics);
                    continue;
                }
                Err(status) => return Err(status),
            };
            let next_pose = |link| self.scheme.next_pose(system, link);
            let supplied =
                self.supply.after(&system.tau, &self.loaded, next_pose, &self.trial.v, h);
            let before = &self.energy;
            let limit = if driven {
                supplied.limit(&self.start_energy)
            } else {
                before.total() + ENERGY_ROUNDING * (before.size() + after.size())
            };
            // Energies that are not numbers are within no limit.
            let within = after.total() <= limit;
            if !within {
                if !deepest {
                    self.halve(h, depth, statistics);
                    continue;
                }
                statistics.damped += 1;
                let most = if driven { limit } else { before.total() };
                damp(most, &after, &self.running, &mut self.trial);
                after = self.scheme.set_next(system, &self.trial);
            }
            (self.energy, self.supply) = (after, supplied);
            std::mem::swap(&mut self.running, &mut self.trial);
            self.scheme.accept();
            self.loaded.update(&system.external, |link| self.scheme.pose(system, link));
            statistics.steps += 1;
        }
        Ok(())
    }

    fn halve(&mut self, h: f64, depth: usize, statistics: &mut SimulationStatistics) {
        statistics.rejected += 1;
        self.pending.push((0.5 * h, depth + 1));
        self.pending.push((0.5 * h, depth + 1));
    }
}

fn copy(from: &SimulationState, to: &mut SimulationState) {
    to.q.copy_from_slice(&from.q);
    to.v.copy_from_slice(&from.v);
}

/// Takes off kinetic energy until there is no more than `most` in all; where even the potential
/// energy is higher, the mechanism stays where it was, at rest.
fn damp(most: f64, after: &MechanismEnergy, state: &SimulationState, next: &mut SimulationState) {
    let available = most - (after.gravitational + after.elastic);
    if available >= 0.0 && after.kinetic > 0.0 {
        let factor = (available / after.kinetic).sqrt().min(1.0);
        next.v.iter_mut().for_each(|v| *v *= factor);
    } else {
        next.q.copy_from_slice(&state.q);
        next.v.fill(0.0);
    }
}
