//! The linearly implicit step of a tree in one sweep: outward for where all links are and how they
//! move, inward for Ã and its right-hand side, outward for the new velocities. Nothing is allocated
//! in a step.
//!
//! Slots have their joint's axis along z, so that a hinge or slide is an entry of the 6×6 matrices.
//! The motion after a step is that before the next one: it is computed once.

mod inward;
mod joint_terms;
mod motion;
mod plan;
mod spatial;
#[cfg(test)]
mod tests;

use forks_mechanism::{
    Mechanism,
    lie::{Pose, Wrench, glam::DVec3},
};

use super::{
    coordinates::advance,
    implicit::LoadStiffness,
    linearised::Factorised,
    state::{SimulationState, SimulationStatus},
};
use crate::{constrained::MechanismEnergy, tree::block::Inertia};
use inward::{Factor, Step};
pub(super) use inward::{exceeds_half, inverse, multiply};
use motion::Motion;
use plan::SweepPlan;
use spatial::Square;

/// The scheme's memory: a mechanism, its state, and the state that a trial led to.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    plan: SweepPlan,
    gravity: DVec3,
    now: Motion,
    next: Motion,
    symmetric: Factor<Inertia>,
    general: Factor<Square>,
}

impl Sweep {
    /// `None` where something beside single tree joints ties links together.
    pub(crate) fn new(m: &Mechanism, gravity: bool) -> Option<Self> {
        let tied = !m.forest().closures().is_empty()
            || !m.couplings().is_empty()
            || !m.bushings().is_empty()
            || !m.combination_springs().is_empty();
        if tied {
            return None;
        }
        let plan = SweepPlan::new(m);
        Some(Self {
            gravity: if gravity { m.gravity() } else { DVec3::ZERO },
            now: Motion::new(&plan),
            next: Motion::new(&plan),
            symmetric: Factor::new(&plan),
            general: Factor::new(&plan),
            plan,
        })
    }

    /// Takes over a state; its energy.
    pub(crate) fn set(&mut self, m: &Mechanism, state: &SimulationState) -> MechanismEnergy {
        self.now.update(&self.plan, self.gravity, &state.q, &state.v);
        self.now.energy(m, &self.plan, &state.q, &state.v)
    }

    /// Takes over the state that the last [`set_next`](Self::set_next) led to.
    pub(crate) fn accept(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Computes the motion of a state that may follow; its energy.
    pub(crate) fn set_next(&mut self, m: &Mechanism, state: &SimulationState) -> MechanismEnergy {
        self.next.update(&self.plan, self.gravity, &state.q, &state.v);
        self.next.energy(m, &self.plan, &state.q, &state.v)
    }

    /// World pose of a link in the present state.
    pub(crate) fn pose(&self, link: usize) -> Pose {
        self.now.pose(&self.plan, link)
    }

    /// World pose of a link in the state that may follow.
    pub(crate) fn next_pose(&self, link: usize) -> Pose {
        self.next.pose(&self.plan, link)
    }

    /// One step from `state`, for which the sweep was set, into `next`.
    pub(crate) fn step(
        &mut self,
        m: &Mechanism,
        state: &SimulationState,
        (tau, external): (&[f64], &[Wrench]),
        h: f64,
        stiffness: LoadStiffness,
        next: &mut SimulationState,
    ) -> Result<(), SimulationStatus> {
        let linearised = stiffness == LoadStiffness::Linearised;
        let step = Step { h, tau, external, linearised, q: &state.q, v: &state.v };
        let (plan, now) = (&self.plan, &self.now);
        let followers = external.iter().any(|w| *w != Wrench::ZERO);
        let symmetric = !linearised || (plan.plain && !followers);
        let how = match symmetric {
            true => self.symmetric.inward(m, plan, now, &step),
            false => self.general.inward(m, plan, now, &step),
        };
        match how {
            Factorised::Sound => {}
            Factorised::TooSoft(_) if linearised => return Err(SimulationStatus::Singular),
            Factorised::TooSoft(k) | Factorised::Singular(k) => {
                return Err(match () {
                    () if !now.is_finite() => SimulationStatus::NotFinite,
                    () if linearised => SimulationStatus::Singular,
                    () => SimulationStatus::Massless(m.forest().edges()[k].joint),
                });
            }
        }
        match symmetric {
            true => self.symmetric.outward(plan, now, &mut next.v),
            false => self.general.outward(plan, now, &mut next.v),
        }
        next.q.copy_from_slice(&state.q);
        advance(m, &mut next.q, &next.v, h);
        let finite = next.q.iter().chain(&next.v).all(|x| x.is_finite());
        if finite { Ok(()) } else { Err(SimulationStatus::NotFinite) }
    }
}
