//! Implicit steps whose energy does not grow beyond what loads gave: halved where it would, and
//! damped where that does not help.

use forks_mechanism::{Mechanism, lie::Pose};

use super::{
    implicit::{Implicit, LoadStiffness},
    state::{SimulationState, SimulationStatus, System},
    statistics::SimulationStatistics,
    sweep::{Failure, Sweep},
    work::{Drive, Supply},
};
use crate::constrained::MechanismEnergy;

/// Energy may grow by this part of its terms in one guarded step: rounding.
const ENERGY_ROUNDING: f64 = 1e-13;

/// How a single step is made.
#[derive(Clone, Debug)]
struct Scheme {
    sweep: Sweep,
    /// What decides where the sweep cannot.
    dense: Implicit,
}

impl Scheme {
    /// One step from `state`, for which the sweep was set, into `next`; its energy.
    fn step(
        &mut self,
        system: &mut System<'_>,
        state: &SimulationState,
        drive: &Drive,
        h: f64,
        stiffness: LoadStiffness,
        next: &mut SimulationState,
    ) -> Result<MechanismEnergy, SimulationStatus> {
        system.evaluations += 1;
        let m = system.dynamics.mechanism();
        let loads = (system.tau.as_slice(), drive);
        match self.sweep.step(m, state, loads, h, stiffness, next) {
            Ok(energy) => return Ok(energy),
            Err(Failure::Refused(status)) => return Err(status),
            Err(Failure::Undecided) => {}
        }
        *next = self.dense.step(system, state, h, stiffness)?;
        system.project(next)?;
        Ok(self.sweep.set_next(m, next))
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
    drive: Drive,
    /// Lengths still to be done, the next one last, and how often they were halved.
    pending: Vec<(f64, usize)>,
}

impl Guarded {
    /// Closes the loops of the start state, and takes off velocities that violate them; the gap
    /// that was there.
    pub(super) fn new(system: &mut System<'_>, state: &mut SimulationState) -> (Self, f64) {
        let d = &system.dynamics;
        let m = d.mechanism();
        let mut sweep = Sweep::new(m, d.has_gravity(), d.size);
        let finite = state.q.iter().chain(&state.v).all(|x| x.is_finite());
        let gap = match finite {
            true => sweep.close(m, state).unwrap_or_else(|| system.close_loops(state)),
            false => 0.0,
        };
        let energy = sweep.set(m, state);
        let scheme = Scheme { sweep, dense: Implicit::default() };
        let out = Self {
            scheme,
            energy,
            start_energy: energy,
            supply: Supply::default(),
            running: state.clone(),
            trial: state.clone(),
            drive: Drive::default(),
            pending: Vec::new(),
        };
        (out, gap)
    }

    /// Takes note of torques and wrenches.
    pub(super) fn set_loads(&mut self, system: &System<'_>) {
        self.drive.set(&system.tau, &system.external);
        self.drive.dead.clone_from(&system.dead);
    }

    /// Energy of the state.
    pub(super) fn energy(&self) -> MechanismEnergy {
        self.energy
    }

    /// Largest gap of loops and couplings in the state.
    pub(super) fn loop_gap(&mut self, m: &Mechanism, state: &SimulationState) -> f64 {
        self.scheme.sweep.gap(m, state)
    }

    /// World poses of all links, the ground first.
    pub(super) fn write_link_poses(&self, m: &Mechanism, out: &mut Vec<Pose>) {
        out.clear();
        out.extend((0..m.links().len()).map(|i| self.scheme.sweep.pose(i)));
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
        let supply = self.supply;
        copy(state, &mut self.running);
        let result = self.substeps(system, h, halvings, statistics);
        match result {
            Ok(()) => copy(&self.running, state),
            Err(_) => {
                self.supply = supply;
                self.energy = self.scheme.sweep.set(system.mechanism(), state);
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
        let driven = self.drive.acts();
        self.pending.clear();
        self.pending.push((h, 0));
        while let Some((h, depth)) = self.pending.pop() {
            let deepest = depth == halvings;
            let (from, drive) = (&self.running, &self.drive);
            let mut trial =
                |stiffness| self.scheme.step(system, from, drive, h, stiffness, &mut self.trial);
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
            let sweep = &self.scheme.sweep;
            let (pose, next_pose) = (|l| sweep.pose(l), |l| sweep.next_pose(l));
            let (tau, v) = (&system.tau, &self.trial.v);
            let supplied = self.supply.after(tau, &self.drive, pose, next_pose, v, h);
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
                after = self.scheme.sweep.set_next(system.mechanism(), &self.trial);
            }
            (self.energy, self.supply) = (after, supplied);
            std::mem::swap(&mut self.running, &mut self.trial);
            self.scheme.sweep.accept();
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
