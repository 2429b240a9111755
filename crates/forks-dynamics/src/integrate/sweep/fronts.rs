//! Ã with loop equations, \[Ã, Gᵀ; G, 0\], eliminated slot by slot with the multipliers of loops
//! where they can be.
//!
//! A slot that only its joint ties to others is eliminated as in a tree. Others have a front: a
//! dense matrix in the multipliers that wait, the slot's twist and those of the slots that loops
//! tie it to. ξ = Ad⁻¹ ξ_inner + S x puts the joint's coordinates x in place of the twist; these
//! are eliminated, then those multipliers that coordinates so far make definite. The others wait
//! for the next front. What is eliminated where is found once by search (`plan`) and kept for a
//! topology; whether it still holds is checked in every pivot. Multipliers that nothing is left for
//! belong to equations that repeat others.

use forks_mechanism::{Mechanism, lie::Wrench, linalg::simd::Portable};

use super::{
    elimination::{Replay, assemble, finish},
    front::{Child, Fresh, Front, GROWTH, Outcome, REDUNDANT},
    inward::{Factor, Step},
    motion::Motion,
    order::Elimination,
    plan::SweepPlan,
    rows::Rows,
    solve::{Backward, Forward},
    space::Space,
    spatial::Spatial,
};
use crate::integrate::blocks::Factorised;

/// The factorisation and its plan.
#[derive(Clone, Debug)]
pub(super) struct Fronts<A> {
    pub(super) factor: Factor<A>,
    fronts: Vec<Front>,
    planned: bool,
    pub(super) space: Space,
    /// Equations that repeat others.
    dropped: Vec<bool>,
    /// Takes rows of springs and dampers too.
    stiff: bool,
}

impl<A: Spatial> Fronts<A> {
    /// `stiff` if rows of springs and dampers count.
    pub(super) fn new(plan: &SweepPlan, rows: &Rows, stiff: bool) -> Self {
        Self {
            factor: Factor::new(plan),
            fronts: Vec::new(),
            planned: false,
            space: Space::new(plan, rows.count(), A::SYMMETRIC),
            dropped: vec![false; rows.count()],
            stiff,
        }
    }

    /// Factorises and takes the step's right-hand side along, with further impulses on the slots
    /// (may be empty); rows' are 0.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn factorize(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        order: &[Elimination],
        motion: &Motion,
        rows: &Rows,
        impulses: &[Wrench],
        step: &Step<'_>,
    ) -> Outcome {
        if self.planned {
            match self.replay(m, plan, motion, rows, impulses, step) {
                Outcome::Unsound => self.planned = false,
                other => return other,
            }
        }
        self.dropped.fill(false);
        // Equations that are dropped leave a smaller plan for the others.
        for _ in 0..3 {
            let before = self.dropped.iter().filter(|d| **d).count();
            let outcome = self.search(m, plan, order, motion, rows, impulses, step);
            if outcome != Outcome::Tree(Factorised::Sound) {
                return outcome;
            }
            if self.dropped.iter().filter(|d| **d).count() == before {
                self.planned = true;
                return outcome;
            }
        }
        Outcome::Unsound
    }

    fn replay(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        rows: &Rows,
        impulses: &[Wrench],
        step: &Step<'_>,
    ) -> Outcome {
        self.start(plan, motion, rows, impulses, step);
        let Self { factor, fronts, space, .. } = self;
        plan.isa.run(Replay { m, plan, motion, rows, step, fronts, factor, space })
    }

    fn start(
        &mut self,
        plan: &SweepPlan,
        motion: &Motion,
        rows: &Rows,
        impulses: &[Wrench],
        step: &Step<'_>,
    ) {
        self.factor.start(plan, motion, step);
        for (d, i) in self.factor.drives.iter_mut().zip(impulses) {
            *d += *i;
        }
        self.space.start(rows, motion);
    }

    /// Factorises and finds out where each multiplier can be eliminated.
    #[allow(clippy::too_many_arguments)]
    fn search(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        order: &[Elimination],
        motion: &Motion,
        rows: &Rows,
        impulses: &[Wrench],
        step: &Step<'_>,
    ) -> Outcome {
        self.start(plan, motion, rows, impulses, step);
        let count = plan.tree.slots.len();
        let mut position = vec![usize::MAX; count];
        order.iter().enumerate().for_each(|(i, e)| position[e.slot as usize] = i);
        let mut fresh: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (g, group) in rows.groups.iter().enumerate() {
            let first = group.slots.iter().map(|&s| position[s as usize]).min();
            if let Some(first) = first {
                fresh[first].push(g);
            }
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        let mut free: Vec<usize> = Vec::new();
        self.fronts.clear();
        self.space.clear();
        for (i, e) in order.iter().enumerate() {
            let slot = e.slot as usize;
            let inner = plan.tree.slots[slot].inner;
            let mut front = Front {
                slot,
                tree: children[i].is_empty()
                    && fresh[i].is_empty()
                    && e.around.iter().all(|&s| s == inner),
                dof: plan.tree.slots[slot].dof as usize,
                rows: Vec::new(),
                pivots: 0,
                around: e.around.clone(),
                fresh: Vec::new(),
                children: Vec::new(),
                rest: usize::MAX,
                kept: self.space.kept.len(),
                solution: self.space.solutions.len(),
            };
            if front.tree {
                let done = self.factor.eliminate(m, plan, motion, step, slot);
                self.fronts.push(front);
                if done != Factorised::Sound {
                    return Outcome::Tree(done);
                }
                continue;
            }
            for &c in &children[i] {
                let child = &self.fronts[c];
                front.rows.extend(child.waiting());
            }
            let groups = fresh[i].iter().map(|&g| (g, &rows.groups[g]));
            let added: Vec<(usize, usize)> = groups
                .flat_map(|(g, group)| {
                    (group.first_row..group.first_row + group.rows).map(move |r| (g, r))
                })
                .filter(|&(g, r)| !self.dropped[r] && (self.stiff || rows.groups[g].exact))
                .collect();
            front.rows.extend(added.iter().map(|a| a.1));
            front.rest = free.pop().unwrap_or_else(|| self.space.add_rest());
            self.place(&mut front, &children[i], &added, rows);
            let Self { factor, space, .. } = self;
            space.make_room(&front);
            let done = assemble(Portable, m, plan, motion, rows, step, &front, factor, space);
            if done != Factorised::Sound {
                return Outcome::Tree(done);
            }
            self.choose(&mut front);
            // Where everything stands after the choice.
            self.place(&mut front, &children[i], &added, rows);
            finish(Portable, plan, motion, &front, &mut self.factor, &mut self.space);
            self.space.trim(&front);
            free.extend(front.children.iter().map(|c| c.rest));
            let parent = front.around.iter().map(|&s| position[s as usize]).min();
            if let Some(parent) = parent {
                children[parent].push(i);
            }
            self.fronts.push(front);
        }
        Outcome::Tree(Factorised::Sound)
    }

    /// Finds the places of what a front is put together from.
    fn place(
        &mut self,
        front: &mut Front,
        children: &[usize],
        added: &[(usize, usize)],
        rows: &Rows,
    ) {
        let block = |front: &Front, s: &u32| front.block_of_slot(*s as usize) as u16;
        front.children = children
            .iter()
            .map(|&c| {
                let child = &self.fronts[c];
                let waiting = child.waiting().iter();
                Child {
                    rest: child.rest,
                    width: child.rest_width(),
                    scalars: waiting.map(|&r| front.place_of_row(r) as u16).collect(),
                    blocks: child.around.iter().map(|s| block(front, s)).collect(),
                }
            })
            .collect();
        front.fresh = added
            .iter()
            .map(|&(group, row)| Fresh {
                group,
                row,
                place: front.place_of_row(row),
                blocks: rows.groups[group].slots.iter().map(|s| block(front, s)).collect(),
            })
            .collect();
    }

    /// Eliminates all multipliers that can be, the firmest first, and notes them; drops those that
    /// nothing is left for.
    fn choose(&mut self, front: &mut Front) {
        let d = front.dof;
        let mut k = 0;
        loop {
            let mut best: Option<(usize, f64)> = None;
            for p in k..front.rows.len() {
                let (at, reference) = (d + p, self.space.reference(front.rows[p]));
                let pivot = self.space.entry(front, at, at).abs();
                let firm = pivot / reference;
                let definite = pivot > REDUNDANT * reference;
                if definite
                    && best.is_none_or(|b| firm > b.1)
                    && !self.space.grows(Portable, front, at, GROWTH * pivot)
                {
                    best = Some((p, firm));
                }
            }
            let Some((p, _)) = best else { break };
            self.space.swap(front, d + k, d + p);
            front.rows.swap(k, p);
            self.space.take_pivot(Portable, front, d + k);
            k += 1;
        }
        front.pivots = k;
        self.drop_redundant(front);
    }

    /// Of the multipliers that wait without a pivot of their own, those that the others span.
    fn drop_redundant(&mut self, front: &mut Front) {
        let d = front.dof;
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let mut rest: Vec<(usize, Vec<f64>)> = Vec::new();
        for (p, &row) in front.rows.iter().enumerate().skip(front.pivots) {
            let reference = self.space.reference(row);
            if self.space.entry(front, d + p, d + p).abs() > REDUNDANT * reference {
                continue;
            }
            rest.push((row, self.space.scaled_row(front, d + p, reference)));
        }
        while !rest.is_empty() {
            let longest = (1..rest.len())
                .fold(0, |b, i| if square(&rest[i].1) > square(&rest[b].1) { i } else { b });
            if square(&rest[longest].1) <= REDUNDANT {
                break;
            }
            let (_, mut v) = rest.swap_remove(longest);
            let length = square(&v).sqrt();
            v.iter_mut().for_each(|x| *x /= length);
            for (_, r) in &mut rest {
                let c: f64 = v.iter().zip(r.iter()).map(|(a, b)| a * b).sum();
                r.iter_mut().zip(&v).for_each(|(r, v)| *r -= c * v);
            }
        }
        for (row, _) in rest {
            let p = front.place_of_row(row) - d;
            self.space.swap(front, d + front.pivots, d + p);
            front.rows.swap(front.pivots, p);
            self.space.isolate(front, d + front.pivots);
            front.pivots += 1;
            self.dropped[row] = true;
        }
    }

    /// Coordinates x, multipliers and twists from what was taken along.
    pub(super) fn backward(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64]) {
        let Self { factor, fronts, space, .. } = self;
        plan.isa.run(Backward { plan, motion, fronts, factor, space, x });
    }

    /// Right-hand sides of the rows, then their multipliers.
    pub(super) fn multipliers(&mut self) -> &mut [f64] {
        &mut self.space.multipliers
    }

    /// Solves for right-hand sides of the rows, which stand in the multipliers.
    pub(super) fn solve_rows(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64]) {
        self.space.right.fill(0.0);
        self.factor.drives.fill(Wrench::ZERO);
        let Self { factor, fronts, space, .. } = self;
        plan.isa.run(Forward { plan, motion, fronts, factor, space });
        self.backward(plan, motion, x);
    }

    /// Number of equations that repeat others.
    #[cfg(test)]
    pub(super) fn redundant(&self) -> usize {
        self.dropped.iter().filter(|d| **d).count()
    }
}
