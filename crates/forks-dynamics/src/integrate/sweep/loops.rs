//! Steps of mechanisms with loops and couplings: the same equations as in a tree, with the
//! multipliers of the loops, then loops and velocities brought back to where they belong.
//!
//! The projections move as little as possible in the metric of the mass matrix, which is factorised
//! once where the step leads to: its Newton steps for positions converge at once, since what is
//! left there is of second order in the step's length.

use forks_mechanism::{
    Mechanism,
    lie::{Wrench, glam::DVec3},
};

use super::{
    front::Outcome,
    fronts::Fronts,
    inward::Step,
    motion::Motion,
    order::{Elimination, order},
    plan::SweepPlan,
    rows::Rows,
    spatial::Square,
};
use crate::{
    integrate::{blocks::Factorised, coordinates::advance, state::SimulationState},
    tree::block::Inertia,
};

/// Gaps below this (lengths over r, radians), times the number of links, are closed.
const CLOSED: f64 = 4.0 * f64::EPSILON;
/// Gaps that no step makes smaller are closed if they are below this.
const SETTLED: f64 = 1e-9;
/// A projection is factorised anew where a step leaves more than this part of the gap.
const SLOW: f64 = 1e-2;
const MAX_ITERATIONS: usize = 20;

/// Loops, and the space to solve for them.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    pub(super) rows: Rows,
    order: Vec<Elimination>,
    general: Fronts<Square>,
    symmetric: Fronts<Inertia>,
    mass: Fronts<Inertia>,
    /// Where the mass matrix is factorised.
    middle: Motion,
    change: Vec<f64>,
    /// Impulses of springs beside tree joints on the slots.
    impulses: Vec<Wrench>,
    /// There are loop equations or couplings.
    looped: bool,
    q: Vec<f64>,
}

impl Loops {
    /// `None` where only tree joints tie links together.
    pub(super) fn new(m: &Mechanism, plan: &SweepPlan, gravity: DVec3, size: f64) -> Option<Self> {
        let rows = Rows::new(m, plan, size);
        if rows.is_empty() {
            return None;
        }
        let inner: Vec<u32> = plan.tree.slots.iter().map(|s| s.inner).collect();
        let ties: Vec<&[u32]> = rows.groups.iter().map(|g| g.slots.as_slice()).collect();
        let (n, p) = (plan.tree.velocity_count(), plan.tree.position_count());
        Some(Self {
            order: order(&inner, &ties),
            general: Fronts::new(plan, &rows, true),
            symmetric: Fronts::new(plan, &rows, true),
            mass: Fronts::new(plan, &rows, false),
            middle: Motion::new(plan, gravity),
            change: vec![0.0; n],
            impulses: vec![Wrench::ZERO; plan.tree.slots.len()],
            q: vec![0.0; p],
            looped: rows.groups.iter().any(|g| g.exact),
            rows,
        })
    }

    /// v⁺ of a step from the state for which `motion` and the rows were computed.
    pub(super) fn velocities(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        step: &Step<'_>,
        v: &mut [f64],
    ) -> Outcome {
        self.impulses.fill(Wrench::ZERO);
        self.rows.stiffen(m, plan, motion, step.h, &mut self.impulses);
        let (rows, order, impulses) = (&self.rows, &self.order, &self.impulses);
        let sound = Outcome::Tree(Factorised::Sound);
        if step.is_symmetric(plan) {
            let fronts = &mut self.symmetric;
            let outcome = fronts.factorize(m, plan, order, motion, rows, impulses, step);
            if outcome == sound {
                fronts.backward(plan, motion, v);
            }
            return outcome;
        }
        let fronts = &mut self.general;
        let outcome = fronts.factorize(m, plan, order, motion, rows, impulses, step);
        if outcome == sound {
            fronts.backward(plan, motion, v);
        }
        outcome
    }

    fn factorize_mass(&mut self, m: &Mechanism, plan: &SweepPlan, state: &SimulationState) -> bool {
        let (q, v) = (&state.q, &state.v);
        let step = Step { h: 0.0, tau: &[], followers: &[], dead: &[], linearised: false, q, v };
        let (middle, rows) = (&self.middle, &self.rows);
        let outcome = self.mass.factorize(m, plan, &self.order, middle, rows, &[], &step);
        outcome == Outcome::Tree(Factorised::Sound)
    }

    /// Closes the loops of a new state and takes off velocities that violate them; `motion` and
    /// the rows are those of the state afterwards. False where another way has to be found.
    pub(super) fn project(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &mut Motion,
        state: &mut SimulationState,
    ) -> bool {
        if !self.looped {
            motion.update(plan, &state.q, &state.v);
            self.rows.update(m, plan, motion, &state.q);
            return true;
        }
        motion.update_positions(plan, &state.q, &state.v);
        self.rows.update(m, plan, motion, &state.q);
        std::mem::swap(&mut self.middle, motion);
        if !self.factorize_mass(m, plan, state) {
            return false;
        }
        let closed = CLOSED * m.links().len() as f64;
        let mut gap = self.rows.gap();
        if gap <= closed {
            motion.copy_from(&self.middle);
        }
        let mut iterations = 0;
        while gap > closed && iterations < MAX_ITERATIONS {
            for (r, g) in self.mass.multipliers().iter_mut().zip(&self.rows.gaps) {
                *r = -g;
            }
            self.mass.solve_rows(plan, &self.middle, &mut self.change);
            self.q.copy_from_slice(&state.q);
            advance(m, &mut state.q, &self.change, 1.0);
            motion.update_positions(plan, &state.q, &state.v);
            self.rows.update(m, plan, motion, &state.q);
            let next = self.rows.gap();
            iterations += 1;
            if next.is_nan() || next >= gap {
                // Rounding: the step before was the best there is.
                state.q.copy_from_slice(&self.q);
                motion.update_positions(plan, &state.q, &state.v);
                self.rows.update(m, plan, motion, &state.q);
                break;
            }
            if next > closed && next > SLOW * gap {
                self.middle.copy_from(motion);
                if !self.factorize_mass(m, plan, state) {
                    return false;
                }
            }
            gap = next;
        }
        if gap.is_nan() || gap > closed.max(SETTLED) {
            return false;
        }
        self.project_velocities(m, plan, motion, state)
    }

    fn project_velocities(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &mut Motion,
        state: &mut SimulationState,
    ) -> bool {
        let closed = CLOSED * m.links().len() as f64;
        let (mut last, mut fresh) = (f64::INFINITY, false);
        motion.update_twists(plan, &state.v);
        for _ in 0..MAX_ITERATIONS {
            let (largest, scale) = self.violation(motion);
            if largest <= closed * scale {
                break;
            }
            if largest.is_nan() {
                return false;
            }
            if largest >= 0.5 * last {
                // Rounding, or too far from where the mass matrix was factorised.
                if fresh || largest <= SETTLED * scale {
                    break;
                }
                fresh = true;
                self.middle.copy_from(motion);
                if !self.factorize_mass(m, plan, state) {
                    return false;
                }
                self.violation(motion);
            }
            last = largest;
            self.mass.solve_rows(plan, &self.middle, &mut self.change);
            state.v.iter_mut().zip(&self.change).for_each(|(v, c)| *v += c);
            motion.update_twists(plan, &state.v);
        }
        motion.update_velocities(plan, &state.q, &state.v);
        true
    }

    /// Puts −G v at right-hand sides; the largest entry, and the size of what it is made of.
    fn violation(&mut self, motion: &Motion) -> (f64, f64) {
        let (mut largest, mut scale) = (0.0f64, f64::MIN_POSITIVE);
        for (g, group) in self.rows.groups.iter().enumerate().filter(|g| g.1.exact) {
            for row in group.first_row..group.first_row + group.rows {
                let mut sum = 0.0;
                for (w, &s) in self.rows.row(g, row).iter().zip(&group.slots) {
                    let x = motion.places[s as usize].twist.dot(*w);
                    sum += x;
                    scale = scale.max(x.abs());
                }
                self.mass.multipliers()[row] = -sum;
                if sum.is_nan() {
                    largest = f64::NAN;
                } else {
                    largest = largest.max(sum.abs());
                }
            }
        }
        (largest, scale)
    }

    /// Number of equations that repeat others.
    #[cfg(test)]
    pub(super) fn redundant(&self) -> usize {
        self.general.redundant().max(self.symmetric.redundant())
    }
}
