//! The inward sweep: Ã factorised and the right-hand side taken along; and the outward one.
//!
//! With A the matrix of a slot and all that hangs on it, β the wrench that drives it, U = A S less
//! what the wrench F through the joint turns by, V = Sᵀ A: D = V S + the joint's own terms,
//! s = D⁻¹ (τ + Sᵀ β), A_inner += Ad⁻ᵀ (A − U D⁻¹ V) Ad⁻¹, β_inner += Ad⁻ᵀ (β − U s). Outward,
//! x = s − D⁻¹ V ξ′ with ξ′ = Ad⁻¹ ξ_inner, ξ = ξ′ + S x. See [`super::super::linearised`].

use forks_mechanism::{
    Mechanism,
    lie::{Twist, Wrench, glam::DVec3},
    linalg::simd::{Arithmetic, Kernel},
};

use super::{
    joint_terms::{column_stiffness, own_block, own_scalar},
    motion::{Columns, Motion, Place},
    plan::SweepPlan,
    shift::Shift,
    spatial::Spatial,
};
use crate::{
    integrate::blocks::{Block, Factorised, exceeds_half, inverse, multiply},
    tree::{
        block::{add, add_scaled, power},
        compile::{Carrier, Slot},
    },
};

/// What acts in a step of length h.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    /// 0 for the mass matrix alone, and no forces.
    pub(super) h: f64,
    /// Torques on the tree's coordinates.
    pub(super) tau: &'a [f64],
    /// Wrenches on links that turn with them, in their frames.
    pub(super) followers: &'a [(usize, Wrench)],
    /// Wrenches on links that do not: world axes, at their frames' origins.
    pub(super) dead: &'a [(usize, Wrench)],
    /// Ã contains the derivative of loads.
    pub(super) linearised: bool,
    pub(super) q: &'a [f64],
    pub(super) v: &'a [f64],
}

impl Step<'_> {
    /// True if Ã is symmetric: coordinates are plain numbers, no load turns with its link, and no
    /// torque is among them.
    pub(super) fn is_symmetric(&self, plan: &SweepPlan) -> bool {
        let dead = self.dead.iter().all(|(_, w)| w.torque == DVec3::ZERO);
        !self.linearised || (plan.plain && self.followers.is_empty() && dead)
    }
}

/// What is kept of a hinge or slide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pivot {
    /// U.
    column: Wrench,
    inverse: f64,
    /// V D⁻¹.
    row: Wrench,
    /// s.
    solution: f64,
}

/// What is kept of a joint of several coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct MultiPivot {
    columns: [Wrench; 6],
    rows: [Wrench; 6],
    inverse: Block,
    solution: [f64; 6],
}

/// A factorised Ã of a tree, and the space to make it.
#[derive(Clone, Debug)]
pub(super) struct Factor<A> {
    pub(super) matrices: Vec<A>,
    /// β.
    pub(super) drives: Vec<Wrench>,
    /// −F: weights and wrenches from each slot outward.
    pub(super) loads: Vec<Wrench>,
    pivots: Vec<Pivot>,
    multi: Vec<MultiPivot>,
    pub(super) twists: Vec<Twist>,
}

impl<A: Spatial> Factor<A> {
    pub(super) fn new(plan: &SweepPlan) -> Self {
        let (slots, multi) = (plan.tree.slots.len(), plan.tree.multi.len());
        let pivot = Pivot { column: Wrench::ZERO, inverse: 0.0, row: Wrench::ZERO, solution: 0.0 };
        let empty = MultiPivot {
            columns: [Wrench::ZERO; 6],
            rows: [Wrench::ZERO; 6],
            inverse: [[0.0; 6]; 6],
            solution: [0.0; 6],
        };
        Self {
            matrices: vec![A::ZERO; slots],
            drives: vec![Wrench::ZERO; slots],
            loads: vec![Wrench::ZERO; slots],
            pivots: vec![pivot; slots],
            multi: vec![empty; multi],
            twists: vec![Twist::ZERO; slots],
        }
    }

    /// Every slot's own matrix, drive M v + h f and load.
    #[inline(always)]
    pub(super) fn start(&mut self, plan: &SweepPlan, motion: &Motion, step: &Step<'_>) {
        self.apply_loads(plan, motion, step);
        (0..plan.tree.slots.len()).for_each(|i| self.add_own(plan, motion, step, i));
    }

    /// The external wrenches, and nothing else.
    #[inline(always)]
    fn apply_loads(&mut self, plan: &SweepPlan, motion: &Motion, step: &Step<'_>) {
        self.matrices.fill(A::ZERO);
        self.drives.fill(Wrench::ZERO);
        self.loads.fill(Wrench::ZERO);
        let mut apply = |slot: usize, w: &Wrench| {
            add(&mut self.loads[slot], w);
            add_scaled(&mut self.drives[slot], w, step.h);
        };
        for (link, w) in step.followers {
            let slot = plan.slot(*link);
            apply(slot, &motion.turned(slot, &plan.tree.wrench_in_slot(slot, w)));
        }
        for (link, w) in step.dead {
            let slot = plan.slot(*link);
            let arm = motion.places[slot].rotation * plan.joints[slot].slot_from_link.translation;
            apply(slot, &Shift(arm).wrench_inward(w));
            if step.linearised {
                let turning = A::of_dead(*w * (step.h * step.h), arm);
                self.matrices[slot] = self.matrices[slot].plus(&turning);
            }
        }
    }

    /// Adds a slot's own matrix, drive and load to what outer ones gave.
    #[inline(always)]
    fn add_own(&mut self, plan: &SweepPlan, motion: &Motion, step: &Step<'_>, i: usize) {
        let (h, at) = (step.h, &motion.places[i]);
        let loads_turn = if step.linearised { h * h } else { 0.0 };
        let fall = motion.gravity * plan.joints[i].weight;
        let inertia = &at.inertia;
        let load = Wrench { force: fall * inertia.mass, torque: inertia.moment.cross(fall) };
        self.matrices[i] = self.matrices[i].plus(&A::of_link(inertia, fall * loads_turn));
        add(&mut self.loads[i], &load);
        if h > 0.0 {
            let drive = &mut self.drives[i];
            add(drive, &at.momentum);
            add_scaled(drive, &at.resistance, -h);
            add_scaled(drive, &load, h);
        }
    }

    /// Factorises Ã and takes M v + h f along.
    pub(super) fn inward(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        step: &Step<'_>,
    ) -> Factorised {
        plan.isa.run(Inward { factor: self, m, plan, motion, step })
    }

    /// Eliminates a slot that nothing but its joint ties to others.
    #[inline(always)]
    pub(super) fn eliminate(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        step: &Step<'_>,
        i: usize,
    ) -> Factorised {
        let (s, at) = (&plan.tree.slots[i], &motion.places[i]);
        match s.carrier {
            Carrier::Revolute => self.scalar::<true>(m, plan, i, s, at, step),
            Carrier::Prismatic => self.scalar::<false>(m, plan, i, s, at, step),
            Carrier::Fixed => {
                self.pass(i, s, at, self.matrices[i], self.drives[i]);
                Factorised::Sound
            }
            Carrier::Multi(k) => {
                let columns = &motion.multi[k as usize];
                self.several(m, plan, i, s, k as usize, at, columns, step)
            }
        }
    }

    /// Takes a slot's share of another right-hand side along: `right` for the coordinates, the
    /// drives for the slots.
    #[inline(always)]
    pub(super) fn forward(&mut self, plan: &SweepPlan, motion: &Motion, right: &[f64], i: usize) {
        let (s, place) = (&plan.tree.slots[i], &motion.places[i]);
        let mut drive = self.drives[i];
        let (at, pivot) = (s.velocity as usize, &mut self.pivots[i]);
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute => {
                pivot.solution = (right[at] + place.axis().dot(drive.torque)) * pivot.inverse;
                add_scaled(&mut drive, &pivot.column, -pivot.solution);
            }
            Carrier::Prismatic => {
                pivot.solution = (right[at] + place.axis().dot(drive.force)) * pivot.inverse;
                add_scaled(&mut drive, &pivot.column, -pivot.solution);
            }
            Carrier::Multi(k) => {
                let (d, pivot) = (s.dof as usize, &mut self.multi[k as usize]);
                let mut b = [0.0; 6];
                for (y, c) in motion.multi[k as usize].world.as_slice().iter().enumerate() {
                    b[y] = right[at + y] + power(&drive, c);
                }
                pivot.solution = multiply(&pivot.inverse, &b, d);
                for y in 0..d {
                    add_scaled(&mut drive, &pivot.columns[y], -pivot.solution[y]);
                }
            }
        }
        let inward = place.offset.wrench_inward(&drive);
        add(&mut self.drives[s.inner as usize], &inward);
    }

    /// Hands a slot's matrix, drive and load to the inner slot.
    #[inline(always)]
    fn pass(&mut self, i: usize, s: &Slot, at: &Place, matrix: A, drive: Wrench) {
        let (inner, x) = (s.inner as usize, &at.offset);
        if inner == 0 {
            return;
        }
        let load = x.wrench_inward(&self.loads[i]);
        add(&mut self.loads[inner], &load);
        add(&mut self.drives[inner], &x.wrench_inward(&drive));
        matrix.add_inward(x, &mut self.matrices[inner]);
    }

    #[inline(always)]
    fn scalar<const TURNS: bool>(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        i: usize,
        s: &Slot,
        at: &Place,
        step: &Step<'_>,
    ) -> Factorised {
        let h = step.h;
        let j = &plan.joints[i];
        let (own, force) = own_scalar(m, j, s, step.q, h);
        let a = self.matrices[i];
        let (load, drive) = (self.loads[i], self.drives[i]);
        let squared = if step.linearised { h * h } else { 0.0 };
        let axis = at.axis();
        let across = |v: DVec3| axis.cross(v) * squared;
        let (column, row, diagonal, turned, driven);
        if TURNS {
            (column, row, diagonal) = a.about(axis);
            turned = Wrench { force: across(load.force), torque: across(load.torque) };
            driven = axis.dot(drive.torque);
        } else {
            (column, row, diagonal) = a.along(axis);
            turned = Wrench { force: DVec3::ZERO, torque: across(load.force) };
            driven = axis.dot(drive.force);
        }
        let least = if TURNS { s.inertia.tensor.zz } else { s.inertia.mass };
        let d = diagonal + own;
        if !d.is_finite() || d == 0.0 {
            return Factorised::Singular(i - 1);
        }
        if d < 0.5 * (least + own) {
            return Factorised::TooSoft(i - 1);
        }
        let (column, row) = A::turn(column, row, turned);
        let k = s.velocity as usize;
        let inverse = 1.0 / d;
        let right = own_right(j.spring.armature, force, k, step) + driven;
        let solution = right * inverse;
        let row = Wrench { force: row.force * inverse, torque: row.torque * inverse };
        self.pivots[i] = Pivot { column, inverse, row, solution };
        let mut rest = drive;
        add_scaled(&mut rest, &column, -solution);
        self.pass(i, s, at, a.minus_outer(&column, &row), rest);
        Factorised::Sound
    }

    #[allow(clippy::too_many_arguments)]
    fn several(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        i: usize,
        s: &Slot,
        k: usize,
        at: &Place,
        columns: &Columns,
        step: &Step<'_>,
    ) -> Factorised {
        let (h, d) = (step.h, s.dof as usize);
        let (j, joint) = (&plan.joints[i], &plan.tree.multi[k]);
        let (own, force) = own_block(m, j, joint, s, step.q, h);
        let (a, load) = (self.matrices[i], self.loads[i]);
        let mut drive = self.drives[i];
        let moving = columns.world.as_slice();
        let mut block = own;
        if step.linearised {
            let q = &step.q[s.position as usize..];
            let turning = column_stiffness(joint, &columns.own, q, -at.turned_back(&load));
            for (b, t) in block.iter_mut().flatten().zip(turning.iter().flatten()) {
                *b += h * h * t;
            }
        }
        let pivot = &mut self.multi[k];
        let squared = if step.linearised { h * h } else { 0.0 };
        let (mut least, mut right) = (own, [0.0; 6]);
        for (y, c) in moving.iter().enumerate() {
            let (column, row) = (a.column(c), a.row(c));
            let felt = at.inertia.apply(c);
            for (z, other) in moving.iter().enumerate() {
                block[y][z] += power(&row, other);
                least[z][y] += power(&felt, other);
            }
            let turned = c.ad_transpose(load) * -squared;
            (pivot.columns[y], pivot.rows[y]) = A::turn(column, row, turned);
            let to = s.velocity as usize + y;
            right[y] = own_right(joint.armature[y], force[y], to, step) + power(&drive, c);
        }
        if A::SYMMETRIC {
            symmetrised(&mut block, d);
        }
        let Some(inverse) = inverse(&block, d) else { return Factorised::Singular(i - 1) };
        if !exceeds_half(&block, &least, d) {
            return Factorised::TooSoft(i - 1);
        }
        pivot.inverse = inverse;
        pivot.solution = multiply(&inverse, &right, d);
        let mut rest = a;
        for y in 0..d {
            let mut row = Wrench::ZERO;
            for z in 0..d {
                add_scaled(&mut row, &pivot.rows[z], inverse[y][z]);
            }
            rest = rest.minus_outer(&pivot.columns[y], &row);
            add_scaled(&mut drive, &pivot.columns[y], -pivot.solution[y]);
        }
        self.pass(i, s, at, rest, drive);
        Factorised::Sound
    }

    /// x = Ã⁻¹ (what the inward sweep took along).
    pub(super) fn outward(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64]) {
        plan.isa.run(Outward { factor: self, plan, motion, x });
    }

    /// The coordinates and the twist of a slot whose inner one's is known.
    #[inline(always)]
    pub(super) fn backward(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64], i: usize) {
        let (s, place) = (&plan.tree.slots[i], &motion.places[i]);
        let mut t = place.offset.twist_outward(&self.twists[s.inner as usize]);
        let (at, pivot) = (s.velocity as usize, &self.pivots[i]);
        match s.carrier {
            Carrier::Revolute => {
                x[at] = pivot.solution - power(&pivot.row, &t);
                t.angular += place.axis() * x[at];
            }
            Carrier::Prismatic => {
                x[at] = pivot.solution - power(&pivot.row, &t);
                t.linear += place.axis() * x[at];
            }
            Carrier::Fixed => {}
            Carrier::Multi(k) => {
                let (d, pivot) = (s.dof as usize, &self.multi[k as usize]);
                let felt = core::array::from_fn(|y| power(&pivot.rows[y], &t));
                let less = multiply(&pivot.inverse, &felt, d);
                let columns = &motion.multi[k as usize].world;
                for (y, c) in columns.as_slice().iter().enumerate() {
                    x[at + y] = pivot.solution[y] - less[y];
                    t += *c * x[at + y];
                }
            }
        }
        self.twists[i] = t;
    }
}

/// [`Factor::inward`] with an instruction set.
struct Inward<'a, A> {
    factor: &'a mut Factor<A>,
    m: &'a Mechanism,
    plan: &'a SweepPlan,
    motion: &'a Motion,
    step: &'a Step<'a>,
}

impl<A: Spatial> Kernel for Inward<'_, A> {
    type Output = Factorised;

    #[inline(always)]
    fn run<L: Arithmetic>(self, _: L) -> Factorised {
        let Self { factor, m, plan, motion, step } = self;
        factor.apply_loads(plan, motion, step);
        for i in (1..plan.tree.slots.len()).rev() {
            factor.add_own(plan, motion, step, i);
            let done = factor.eliminate(m, plan, motion, step, i);
            if done != Factorised::Sound {
                return done;
            }
        }
        Factorised::Sound
    }
}

/// [`Factor::outward`] with an instruction set.
struct Outward<'a, A> {
    factor: &'a mut Factor<A>,
    plan: &'a SweepPlan,
    motion: &'a Motion,
    x: &'a mut [f64],
}

impl<A: Spatial> Kernel for Outward<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, _: L) {
        let Self { factor, plan, motion, x } = self;
        factor.twists[0] = Twist::ZERO;
        for i in 1..plan.tree.slots.len() {
            factor.backward(plan, motion, x, i);
        }
    }
}

/// What drives a coordinate itself: its rotor's momentum, spring and torque.
#[inline(always)]
pub(super) fn own_right(armature: f64, force: f64, at: usize, step: &Step<'_>) -> f64 {
    match step.h > 0.0 {
        true => armature * step.v[at] + step.h * (step.tau[at] + force),
        false => 0.0,
    }
}

/// The symmetric part of the leading d × d part takes its place.
pub(super) fn symmetrised(m: &mut Block, d: usize) -> &Block {
    for y in 0..d {
        for z in 0..y {
            let mean = 0.5 * (m[y][z] + m[z][y]);
            (m[y][z], m[z][y]) = (mean, mean);
        }
    }
    m
}
