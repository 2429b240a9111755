//! The inward sweep: Ã factorised and the right-hand side taken along; and the outward one.
//!
//! With A the matrix of a slot and all that hangs on it, β the wrench that drives it, U = A S less
//! what the wrench F through the joint turns by, V = Sᵀ A: D = V S + the joint's own terms,
//! s = D⁻¹ (τ + Sᵀ β), A_inner += Ad⁻ᵀ (A − U D⁻¹ V) Ad⁻¹, β_inner += Ad⁻ᵀ (β − U s). Outward,
//! x = s − D⁻¹ V ξ′ with ξ′ = Ad⁻¹ ξ_inner, ξ = ξ′ + S x. See [`super::super::linearised`].

use forks_mechanism::{
    Mechanism,
    lie::{
        Twist, Wrench,
        glam::{DVec2, DVec3},
    },
    linalg::simd::{Arithmetic, Kernel},
};

use super::{
    joint_terms::{column_stiffness, own_block, own_scalar},
    motion::Motion,
    plan::SweepPlan,
    spatial::Spatial,
};
use crate::{
    integrate::blocks::{Block, Factorised, exceeds_half, inverse, multiply},
    tree::{
        block::{Transform, add, add_scaled, power},
        compile::{Carrier, Slot},
        motion::MultiMotion,
    },
};

/// What acts in a step of length h.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    /// 0 for the mass matrix alone, and no forces.
    pub(super) h: f64,
    /// Torques on the tree's coordinates.
    pub(super) tau: &'a [f64],
    /// Body wrenches on the links, the ground first; may be empty.
    pub(super) external: &'a [Wrench],
    /// Ã contains the derivative of loads.
    pub(super) linearised: bool,
    pub(super) q: &'a [f64],
    pub(super) v: &'a [f64],
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
        let h = step.h;
        let loads_turn = if step.linearised { h * h } else { 0.0 };
        for (i, s) in plan.tree.slots.iter().enumerate() {
            let (at, j) = (&motion.places[i], &plan.joints[i]);
            let fall = at.fall * j.weight;
            let inertia = &s.inertia;
            self.matrices[i] = A::of_link(inertia, fall * loads_turn);
            let mut load =
                Wrench { force: fall * inertia.mass, torque: inertia.moment.cross(fall) };
            if let Some(w) = step.external.get(plan.tree.links[i].link.index())
                && *w != Wrench::ZERO
            {
                add(&mut load, &plan.tree.wrench_in_slot(i, w));
            }
            let rate = Twist {
                linear: at.twist.linear - at.bias.linear * h,
                angular: at.twist.angular - at.bias.angular * h,
            };
            let mut drive = Wrench::ZERO;
            if h > 0.0 {
                drive = inertia.apply(&rate);
                add_scaled(&mut drive, &inertia.gyroscopic(&at.twist), -h);
                add_scaled(&mut drive, &load, h);
            }
            self.drives[i] = drive;
            self.loads[i] = load;
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
        let s = &plan.tree.slots[i];
        let x = &motion.places[i].from_outer;
        match s.carrier {
            Carrier::Revolute => self.scalar::<true>(m, plan, i, s, x, step),
            Carrier::Prismatic => self.scalar::<false>(m, plan, i, s, x, step),
            Carrier::Fixed => {
                self.pass(i, s, x, self.matrices[i], self.drives[i]);
                Factorised::Sound
            }
            Carrier::Multi(k) => {
                let moving = &motion.multi[k as usize];
                self.several(m, plan, i, s, k as usize, x, moving, step)
            }
        }
    }

    /// Takes a slot's share of another right-hand side along: `right` for the coordinates, the
    /// drives for the slots.
    #[inline(always)]
    pub(super) fn forward(&mut self, plan: &SweepPlan, motion: &Motion, right: &[f64], i: usize) {
        let s = &plan.tree.slots[i];
        let mut drive = self.drives[i];
        let (at, pivot) = (s.velocity as usize, &mut self.pivots[i]);
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute => {
                pivot.solution = (right[at] + drive.torque.z) * pivot.inverse;
                add_scaled(&mut drive, &pivot.column, -pivot.solution);
            }
            Carrier::Prismatic => {
                pivot.solution = (right[at] + drive.force.z) * pivot.inverse;
                add_scaled(&mut drive, &pivot.column, -pivot.solution);
            }
            Carrier::Multi(k) => {
                let (d, pivot) = (s.dof as usize, &mut self.multi[k as usize]);
                let mut b = [0.0; 6];
                for (y, c) in motion.multi[k as usize].columns.as_slice().iter().enumerate() {
                    b[y] = right[at + y] + power(&drive, c);
                }
                pivot.solution = multiply(&pivot.inverse, &b, d);
                for y in 0..d {
                    add_scaled(&mut drive, &pivot.columns[y], -pivot.solution[y]);
                }
            }
        }
        let inward = motion.places[i].from_outer.wrench_inward(&drive);
        add(&mut self.drives[s.inner as usize], &inward);
    }

    /// Hands a slot's matrix, drive and load to the inner slot.
    #[inline(always)]
    fn pass(&mut self, i: usize, s: &Slot, x: &Transform, matrix: A, drive: Wrench) {
        let inner = s.inner as usize;
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
        x: &Transform,
        step: &Step<'_>,
    ) -> Factorised {
        let h = step.h;
        let j = &plan.joints[i];
        let (own, force) = own_scalar(m, j, s, step.q, h);
        let a = self.matrices[i];
        let (load, drive) = (self.loads[i], self.drives[i]);
        let squared = if step.linearised { h * h } else { 0.0 };
        let across = |v: DVec3| DVec3::from((DVec2::new(-v.y, v.x), 0.0)) * squared;
        let (column, row, diagonal, least, turned, driven);
        if TURNS {
            (column, row, diagonal) = a.about_z();
            least = s.inertia.tensor.zz;
            turned = Wrench { force: across(load.force), torque: across(load.torque) };
            driven = drive.torque.z;
        } else {
            (column, row, diagonal) = a.along_z();
            least = s.inertia.mass;
            turned = Wrench { force: DVec3::ZERO, torque: across(load.force) };
            driven = drive.force.z;
        }
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
        self.pass(i, s, x, a.minus_outer(&column, &row), rest);
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
        x: &Transform,
        moving: &MultiMotion,
        step: &Step<'_>,
    ) -> Factorised {
        let (h, d) = (step.h, s.dof as usize);
        let (j, joint) = (&plan.joints[i], &plan.tree.multi[k]);
        let (own, force) = own_block(m, j, joint, s, step.q, h);
        let (a, load) = (self.matrices[i], self.loads[i]);
        let mut drive = self.drives[i];
        let columns = moving.columns.as_slice();
        let mut block = own;
        if step.linearised {
            let q = &step.q[s.position as usize..];
            let turning = column_stiffness(joint, moving, q, -load);
            for (b, t) in block.iter_mut().flatten().zip(turning.iter().flatten()) {
                *b += h * h * t;
            }
        }
        let pivot = &mut self.multi[k];
        let squared = if step.linearised { h * h } else { 0.0 };
        let (mut least, mut right) = (own, [0.0; 6]);
        for (y, c) in columns.iter().enumerate() {
            let (column, row) = (a.column(c), a.row(c));
            let felt = s.inertia.apply(c);
            for (z, other) in columns.iter().enumerate() {
                block[y][z] += power(&row, other);
                least[z][y] += power(&felt, other);
            }
            let turned = c.ad_transpose(load) * -squared;
            (pivot.columns[y], pivot.rows[y]) = A::turn(column, row, turned);
            let at = s.velocity as usize + y;
            right[y] = own_right(joint.armature[y], force[y], at, step) + power(&drive, c);
        }
        if A::SYMMETRIC {
            symmetrise(&mut block, d);
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
        self.pass(i, s, x, rest, drive);
        Factorised::Sound
    }

    /// x = Ã⁻¹ (what the inward sweep took along).
    pub(super) fn outward(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64]) {
        plan.isa.run(Outward { factor: self, plan, motion, x });
    }

    /// The coordinates and the twist of a slot whose inner one's is known.
    #[inline(always)]
    pub(super) fn backward(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64], i: usize) {
        let s = &plan.tree.slots[i];
        let from = &motion.places[i].from_outer;
        let mut t = from.twist_outward(&self.twists[s.inner as usize]);
        let (at, pivot) = (s.velocity as usize, &self.pivots[i]);
        match s.carrier {
            Carrier::Revolute => {
                x[at] = pivot.solution - power(&pivot.row, &t);
                t.angular.z += x[at];
            }
            Carrier::Prismatic => {
                x[at] = pivot.solution - power(&pivot.row, &t);
                t.linear.z += x[at];
            }
            Carrier::Fixed => {}
            Carrier::Multi(k) => {
                let (d, pivot) = (s.dof as usize, &self.multi[k as usize]);
                let felt = core::array::from_fn(|y| power(&pivot.rows[y], &t));
                let less = multiply(&pivot.inverse, &felt, d);
                let columns = motion.multi[k as usize].columns;
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
        factor.start(plan, motion, step);
        for i in (1..plan.tree.slots.len()).rev() {
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

fn symmetrise(m: &mut Block, d: usize) {
    for y in 0..d {
        for z in 0..y {
            let mean = 0.5 * (m[y][z] + m[z][y]);
            (m[y][z], m[z][y]) = (mean, mean);
        }
    }
}
