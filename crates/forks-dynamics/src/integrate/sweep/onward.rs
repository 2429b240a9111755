//! The outward sweep of a tree that does all that can be done on one way out: new velocities, where
//! they lead to, how everything moves there and its energy. What depends on the slot before waits
//! for it, and the rest is computed meanwhile.

use forks_mechanism::{
    Mechanism,
    lie::Twist,
    linalg::simd::{Arithmetic, Kernel},
};

use super::{inward::Factor, motion::Motion, plan::SweepPlan, spatial::Spatial};
use crate::{
    constrained::MechanismEnergy,
    integrate::{coordinates::advance_joint, state::SimulationState},
    tree::compile::Carrier,
};

impl<A: Spatial> Factor<A> {
    /// Ã⁻¹ (what the inward sweep took along) as velocities of `to`, and where they lead to in a
    /// step of length h: the state, how it moves, its energy.
    pub(super) fn onward(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        (h, from): (f64, &SimulationState),
        to: &mut SimulationState,
        next: &mut Motion,
    ) -> MechanismEnergy {
        plan.isa.run(Onward { factor: self, m, plan, motion, h, from, to, next })
    }
}

/// [`Factor::onward`] with an instruction set.
struct Onward<'a, A> {
    factor: &'a mut Factor<A>,
    m: &'a Mechanism,
    plan: &'a SweepPlan,
    motion: &'a Motion,
    h: f64,
    from: &'a SimulationState,
    to: &'a mut SimulationState,
    next: &'a mut Motion,
}

impl<A: Spatial> Kernel for Onward<'_, A> {
    type Output = MechanismEnergy;

    #[inline(always)]
    fn run<L: Arithmetic>(self, _: L) -> MechanismEnergy {
        let Self { factor, m, plan, motion, h, from, to, next } = self;
        let mut energy = MechanismEnergy::default();
        factor.twists[0] = Twist::ZERO;
        for (i, s) in plan.tree.slots.iter().enumerate().skip(1) {
            factor.backward(plan, motion, &mut to.v, i);
            match s.carrier {
                Carrier::Fixed => {}
                Carrier::Revolute | Carrier::Prismatic => {
                    let at = s.position as usize;
                    to.q[at] = from.q[at] + h * to.v[s.velocity as usize];
                }
                Carrier::Multi(k) => {
                    let j = &plan.tree.multi[k as usize];
                    let at = s.position as usize..(s.position + j.positions) as usize;
                    to.q[at.clone()].copy_from_slice(&from.q[at.clone()]);
                    advance_joint(&j.kind, &mut to.q[at], &to.v[s.velocity as usize..], h);
                }
            }
            next.settle(plan, i, &to.q, &to.v);
            next.set_moving(plan, i, &to.v);
            next.add_energy(m, plan, i, &to.q, &to.v, &mut energy);
        }
        energy
    }
}
