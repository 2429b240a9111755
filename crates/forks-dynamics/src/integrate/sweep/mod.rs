//! The linearly implicit step in one sweep: outward for where all links are and how they
//! move, inward for Ã and its right-hand side, outward for the new velocities. Nothing is allocated
//! in a step.
//!
//! Every slot is seen in world axes at its own origin: only translations lie between slots, and a
//! load that keeps its direction does not turn. The motion after a step is that before the next
//! one: it is computed once.

mod elimination;
mod front;
mod fronts;
mod inward;
mod joint_terms;
mod loops;
mod motion;
mod onward;
mod order;
mod packed;
mod pairs;
mod plan;
mod rows;
mod shift;
mod sine;
mod solve;
mod space;
mod spatial;
mod stiff;
#[cfg(test)]
mod tests;

use forks_mechanism::{
    Mechanism,
    lie::{Pose, glam::DVec3},
};

use super::{
    blocks::Factorised,
    coordinates::advance,
    implicit::LoadStiffness,
    state::{SimulationState, SimulationStatus},
    work::Drive,
};
use crate::{constrained::MechanismEnergy, tree::block::Inertia};
use front::Outcome;
use inward::{Factor, Step};
use loops::Loops;
use motion::Motion;
use plan::SweepPlan;
use spatial::Square;

/// Gaps up to this (lengths over r, radians) are closed by the step's own projection.
const ALMOST_CLOSED: f64 = 1e-6;

/// The scheme's memory: a mechanism, its state, and the state that a trial led to.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    plan: SweepPlan,
    now: Motion,
    next: Motion,
    symmetric: Factor<Inertia>,
    general: Factor<Square>,
    loops: Option<Box<Loops>>,
    /// The loops' rows are those of the present state.
    rows_are_current: bool,
}

/// Why a step was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// For this reason.
    Refused(SimulationStatus),
    /// The sweep cannot tell: the dense scheme has to.
    Undecided,
}

impl Sweep {
    /// `size` is the unit of length of loop equations.
    pub(crate) fn new(m: &Mechanism, gravity: bool, size: f64) -> Self {
        let plan = SweepPlan::new(m);
        let gravity = if gravity { m.gravity() } else { DVec3::ZERO };
        let loops = Loops::new(m, &plan, gravity, size);
        Self {
            now: Motion::new(&plan, gravity),
            next: Motion::new(&plan, gravity),
            symmetric: Factor::new(&plan),
            general: Factor::new(&plan),
            loops: loops.map(Box::new),
            rows_are_current: false,
            plan,
        }
    }

    /// Takes over a state; its energy.
    pub(crate) fn set(&mut self, m: &Mechanism, state: &SimulationState) -> MechanismEnergy {
        self.rows_are_current = false;
        self.now.update(&self.plan, &state.q, &state.v);
        self.update_rows(m, state);
        self.energy(m, &self.now, state)
    }

    /// Energy of a state, for which the rows are those.
    fn energy(&self, m: &Mechanism, motion: &Motion, state: &SimulationState) -> MechanismEnergy {
        let mut out = motion.energy(m, &self.plan, &state.q, &state.v);
        if let Some(loops) = &self.loops {
            loops.rows.add_energy(m, motion, &mut out);
        }
        out
    }

    /// Closes loops that are almost closed and takes off velocities that violate them; the gap that
    /// was there. `None` where another way has to be found.
    pub(crate) fn close(&mut self, m: &Mechanism, state: &mut SimulationState) -> Option<f64> {
        let gap = self.gap(m, state);
        let plan = &self.plan;
        let Some(loops) = &mut self.loops else { return Some(gap) };
        self.rows_are_current = false;
        let mut closed = state.clone();
        let made = gap <= ALMOST_CLOSED && loops.project(m, plan, &mut self.next, &mut closed);
        made.then(|| {
            *state = closed;
            gap
        })
    }

    /// Largest gap of loops and couplings: lengths over r, angles in rad.
    pub(crate) fn gap(&mut self, m: &Mechanism, state: &SimulationState) -> f64 {
        if self.loops.is_some() && !self.rows_are_current {
            self.now.update(&self.plan, &state.q, &state.v);
            self.update_rows(m, state);
        }
        self.loops.as_ref().map_or(0.0, |l| l.rows.gap())
    }

    /// The rows at the present state.
    fn update_rows(&mut self, m: &Mechanism, state: &SimulationState) {
        if let Some(loops) = &mut self.loops
            && !self.rows_are_current
        {
            loops.rows.update(m, &self.plan, &self.now, &state.q);
            self.rows_are_current = true;
        }
    }

    /// Takes over the state that the last step led to.
    pub(crate) fn accept(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
        self.rows_are_current = self.loops.is_some();
    }

    /// Computes the motion of a state that may follow; its energy.
    pub(crate) fn set_next(&mut self, m: &Mechanism, state: &SimulationState) -> MechanismEnergy {
        self.rows_are_current = false;
        self.next.update(&self.plan, &state.q, &state.v);
        if let Some(loops) = &mut self.loops {
            loops.rows.update(m, &self.plan, &self.next, &state.q);
        }
        self.energy(m, &self.next, state)
    }

    /// World pose of a link in the present state.
    pub(crate) fn pose(&self, link: usize) -> Pose {
        self.now.pose(&self.plan, link)
    }

    /// World pose of a link in the state that may follow.
    pub(crate) fn next_pose(&self, link: usize) -> Pose {
        self.next.pose(&self.plan, link)
    }

    /// One step from `state`, for which the sweep was set, into `next`, whose motion is computed;
    /// its energy.
    pub(crate) fn step(
        &mut self,
        m: &Mechanism,
        state: &SimulationState,
        loads: (&[f64], &Drive),
        h: f64,
        stiffness: LoadStiffness,
        next: &mut SimulationState,
    ) -> Result<MechanismEnergy, Failure> {
        let finite = |s: &SimulationState| s.q.iter().chain(&s.v).all(|x| x.is_finite());
        let refused = Err(Failure::Refused(SimulationStatus::NotFinite));
        if self.loops.is_none() {
            let step = step_of(state, loads, h, stiffness);
            let symmetric = self.inward(m, &step)?;
            let (plan, now, from) = (&self.plan, &self.now, (h, state));
            let energy = match symmetric {
                true => self.symmetric.onward(m, plan, now, from, next, &mut self.next),
                false => self.general.onward(m, plan, now, from, next, &mut self.next),
            };
            return if finite(next) { Ok(energy) } else { refused };
        }
        self.velocities(m, state, loads, h, stiffness, &mut next.v)?;
        next.q.copy_from_slice(&state.q);
        advance(m, &mut next.q, &next.v, h);
        if !finite(next) {
            return refused;
        }
        self.rows_are_current = false;
        let (plan, motion) = (&self.plan, &mut self.next);
        if let Some(loops) = &mut self.loops
            && !loops.project(m, plan, motion, next)
        {
            return Err(Failure::Undecided);
        }
        Ok(self.energy(m, &self.next, next))
    }

    /// v⁺ of a step, before loops are closed at the new positions.
    pub(crate) fn velocities(
        &mut self,
        m: &Mechanism,
        state: &SimulationState,
        loads: (&[f64], &Drive),
        h: f64,
        stiffness: LoadStiffness,
        v: &mut [f64],
    ) -> Result<(), Failure> {
        let step = step_of(state, loads, h, stiffness);
        self.update_rows(m, state);
        let (plan, now) = (&self.plan, &self.now);
        if let Some(loops) = &mut self.loops {
            return match loops.velocities(m, plan, now, &step, v) {
                Outcome::Tree(Factorised::Sound) => Ok(()),
                Outcome::Tree(Factorised::TooSoft(_)) if step.linearised => {
                    Err(Failure::Refused(SimulationStatus::Singular))
                }
                _ => Err(Failure::Undecided),
            };
        }
        let symmetric = self.inward(m, &step)?;
        match symmetric {
            true => self.symmetric.outward(&self.plan, &self.now, v),
            false => self.general.outward(&self.plan, &self.now, v),
        }
        Ok(())
    }

    /// The inward sweep of a tree; true if its matrices are symmetric.
    fn inward(&mut self, m: &Mechanism, step: &Step<'_>) -> Result<bool, Failure> {
        let (plan, now, linearised) = (&self.plan, &self.now, step.linearised);
        let symmetric = step.is_symmetric(plan);
        let how = match symmetric {
            true => self.symmetric.inward(m, plan, now, step),
            false => self.general.inward(m, plan, now, step),
        };
        match how {
            Factorised::Sound => Ok(symmetric),
            Factorised::TooSoft(_) if linearised => {
                Err(Failure::Refused(SimulationStatus::Singular))
            }
            Factorised::TooSoft(k) | Factorised::Singular(k) => Err(Failure::Refused(match () {
                () if !now.is_finite() => SimulationStatus::NotFinite,
                () if linearised => SimulationStatus::Singular,
                () => SimulationStatus::Massless(m.forest().edges()[k].joint),
            })),
        }
    }
}

fn step_of<'a>(
    state: &'a SimulationState,
    (tau, drive): (&'a [f64], &'a Drive),
    h: f64,
    stiffness: LoadStiffness,
) -> Step<'a> {
    let linearised = stiffness == LoadStiffness::Linearised;
    let (followers, dead) = (drive.followers.as_slice(), drive.dead.as_slice());
    Step { h, tau, followers, dead, linearised, q: &state.q, v: &state.v }
}
