//! What is done in every step: fronts put together, eliminated and solved, four numbers at a time.

use forks_mechanism::{
    Mechanism,
    lie::{Twist, Wrench, glam::DVec3},
    linalg::simd::{Arithmetic, Kernel, LANES, Lanes, Wide},
};

use super::{
    front::{Front, GROWTH, Outcome, REDUNDANT, SLACK},
    inward::{Factor, Step, own_right, symmetrised},
    joint_terms::{column_stiffness, own_block, own_scalar},
    motion::Motion,
    packed::{self, add_row},
    plan::SweepPlan,
    rows::Rows,
    shift::Shift,
    solve::{chunks, forward},
    space::Space,
    spatial::Spatial,
};
use crate::{
    integrate::blocks::{Block, Factorised, exceeds_half},
    tree::{
        block::{add, power},
        compile::{Carrier, Slot},
    },
};

const ZERO: Lanes = Lanes([0.0; LANES]);

/// A factorisation as planned, with the step's right-hand side.
pub(super) struct Replay<'a, A> {
    pub(super) m: &'a Mechanism,
    pub(super) plan: &'a SweepPlan,
    pub(super) motion: &'a Motion,
    pub(super) rows: &'a Rows,
    pub(super) step: &'a Step<'a>,
    pub(super) fronts: &'a [Front],
    pub(super) factor: &'a mut Factor<A>,
    pub(super) space: &'a mut Space,
}

impl<A: Spatial> Kernel for Replay<'_, A> {
    type Output = Outcome;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> Outcome {
        let Self { m, plan, motion, rows, step, fronts, factor, space } = self;
        for front in fronts {
            if front.tree {
                let done = factor.eliminate(m, plan, motion, step, front.slot);
                if done != Factorised::Sound {
                    return Outcome::Tree(done);
                }
                continue;
            }
            let done = assemble(l, m, plan, motion, rows, step, front, factor, space);
            if done != Factorised::Sound {
                return Outcome::Tree(done);
            }
            for k in front.dof..front.eliminated() {
                let pivot = space.entry(front, k, k).abs();
                let reference = space.references[front.rows[k - front.dof]];
                let sound = pivot > REDUNDANT * reference
                    && !space.grows(l, front, k, SLACK * GROWTH * pivot);
                if !sound {
                    return Outcome::Unsound;
                }
                space.take_pivot(l, front, k);
            }
            finish(l, plan, motion, front, factor, space);
        }
        Outcome::Tree(Factorised::Sound)
    }
}

/// Puts a front together and eliminates its joint's coordinates.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn assemble<A: Spatial, L: Arithmetic>(
    l: L,
    m: &Mechanism,
    plan: &SweepPlan,
    motion: &Motion,
    rows: &Rows,
    step: &Step<'_>,
    front: &Front,
    factor: &mut Factor<A>,
    space: &mut Space,
) -> Factorised {
    let own = factor.matrices[front.slot].rows();
    match A::SYMMETRIC {
        true => packed::gather(l, rows, front, &own, space),
        false => gather(l, rows, front, &own, space),
    }
    let s = &plan.tree.slots[front.slot];
    let place = &motion.places[front.slot];
    let load = factor.loads[front.slot];
    match s.carrier {
        Carrier::Revolute | Carrier::Prismatic => {
            let j = &plan.joints[front.slot];
            let (own, force) = own_scalar(m, j, s, step.q, step.h);
            let (still, axis) = (DVec3::ZERO, place.axis());
            let (column, least) = match s.carrier {
                Carrier::Revolute => (Twist { linear: still, angular: axis }, s.inertia.tensor.zz),
                _ => (Twist { linear: axis, angular: still }, s.inertia.mass),
            };
            let mut turned = Wrench::ZERO;
            if step.linearised {
                turned = column.ad_transpose(load) * (-step.h * step.h);
            }
            substitute::<A, L>(l, front, s, &place.offset, &[column], &[turned], space);
            let at = s.velocity as usize;
            space.right[at] = own_right(j.spring.armature, force, at, step);
            space.scratch[0][0] += own;
            let pivot = space.scratch[0][0];
            if !pivot.is_finite() || pivot == 0.0 {
                return Factorised::Singular(front.slot - 1);
            }
            if pivot < 0.5 * (least + own) {
                return Factorised::TooSoft(front.slot - 1);
            }
            space.take_pivot(l, front, 0);
            Factorised::Sound
        }
        Carrier::Fixed => {
            substitute::<A, L>(l, front, s, &place.offset, &[], &[], space);
            Factorised::Sound
        }
        Carrier::Multi(_) => {
            let parts = JointParts::new(m, plan, motion, step, front.slot, load);
            let d = front.dof;
            substitute::<A, L>(
                l,
                front,
                s,
                &place.offset,
                &parts.columns[..d],
                &parts.turned[..d],
                space,
            );
            let at = s.velocity as usize;
            space.right[at..at + d].copy_from_slice(&parts.right[..d]);
            eliminate_joint::<A, L>(l, front, &parts, space)
        }
    }
}

/// Adds up what outer fronts left, the slot's own matrix and fresh rows.
#[inline(always)]
fn gather<L: Arithmetic>(l: L, rows: &Rows, front: &Front, own: &[[f64; 6]; 6], space: &mut Space) {
    let (w, head, scalars) = (front.width() + 2, front.head(), front.scalars());
    let a = &mut space.scratch[..(front.size() + 6) * w];
    a.fill(ZERO);
    for child in &front.children {
        let rest = &space.pool[child.rest];
        let mut from = rest.chunks_exact(child.width);
        for &to in &child.scalars {
            let Some(from) = from.next() else { break };
            add_row(l, &mut a[to as usize * w..][..w], head, child, from);
        }
        for &b in &child.blocks {
            for i in 0..6 {
                let Some(from) = from.next() else { break };
                add_row(l, &mut a[(scalars + 6 * b as usize + i) * w..][..w], head, child, from);
            }
        }
    }
    for (i, row) in own.iter().enumerate() {
        let to = &mut a[(front.size() + i) * w + w - 2..][..2];
        let [x, y] = chunks(row);
        to[0] = (l.load(&to[0]) + l.load(&x)).store();
        to[1] = (l.load(&to[1]) + l.load(&y)).store();
    }
    for f in &front.fresh {
        a[f.place * w + f.place / LANES][f.place % LANES] = rows.diagonal[f.row];
        for (wrench, &b) in rows.row(f.group, f.row).iter().zip(&f.blocks) {
            let b = b as usize;
            let entries = wrench.to_array();
            let [x, y] = chunks(&entries);
            a[f.place * w + head + 2 * b] = x;
            a[f.place * w + head + 2 * b + 1] = y;
            for (i, e) in entries.iter().enumerate() {
                a[(scalars + 6 * b + i) * w + f.place / LANES][f.place % LANES] = *e;
            }
        }
    }
}

/// ξ = Ad⁻¹ ξ_inner + S x in place of the twist that stands last.
#[inline(always)]
fn substitute<A: Spatial, L: Arithmetic>(
    l: L,
    front: &Front,
    s: &Slot,
    x: &Shift,
    columns: &[Twist],
    turned: &[Wrench],
    space: &mut Space,
) {
    // The inner slot is the first one around.
    let inner = s.inner != 0;
    if A::SYMMETRIC {
        return packed::substitute(l, front, inner, x, columns, turned, space);
    }
    let (size, width, head, d) = (front.size(), front.width(), front.head(), front.dof);
    let w = width + 2;
    let a = &mut space.scratch[..(size + 6) * w];
    for row in a[d * w..].chunks_exact_mut(w) {
        let (x0, x1) = (row[width], row[width + 1]);
        let wrench = Wrench::from_array([x0[0], x0[1], x0[2], x0[3], x1[0], x1[1]]);
        for (k, c) in columns.iter().enumerate() {
            row[k / LANES][k % LANES] += power(&wrench, c);
        }
        if inner {
            let [c, e] = chunks(&x.wrench_inward(&wrench).to_array());
            row[head] = (l.load(&row[head]) + l.load(&c)).store();
            row[head + 1] = (l.load(&row[head + 1]) + l.load(&e)).store();
        }
    }
    let (rest, own) = a.split_at_mut(size * w);
    for (k, c) in columns.iter().enumerate() {
        let row = &mut rest[k * w..][..width];
        for (i, s) in c.to_array().iter().enumerate() {
            if *s == 0.0 {
                continue;
            }
            let s = l.splat(*s);
            for (r, o) in row.iter_mut().zip(&own[i * w..]) {
                *r = (l.load(r) + s * l.load(o)).store();
            }
        }
    }
    if !inner {
        return;
    }
    for (k, t) in turned.iter().enumerate() {
        for (i, t) in t.to_array().iter().enumerate() {
            own[i * w + k / LANES][k % LANES] -= t;
        }
    }
    // Rows of forces, then those of torques with p × f.
    let at = front.scalars() * w;
    let to = &mut rest[at..at + 6 * w];
    let p = splat(l, x.0);
    for c in 0..width {
        let o = |i: usize| l.load(&own[i * w + c]);
        let f = [o(0), o(1), o(2)];
        let crossed =
            [p[1] * f[2] - p[2] * f[1], p[2] * f[0] - p[0] * f[2], p[0] * f[1] - p[1] * f[0]];
        for i in 0..3 {
            to[i * w + c] = (l.load(&to[i * w + c]) + f[i]).store();
            let torque = l.load(&to[(i + 3) * w + c]) + o(i + 3) + crossed[i];
            to[(i + 3) * w + c] = torque.store();
        }
    }
}

#[inline(always)]
fn splat<L: Arithmetic>(l: L, v: DVec3) -> [Wide<L>; 3] {
    [l.splat(v.x), l.splat(v.y), l.splat(v.z)]
}

#[inline(always)]
fn eliminate_joint<A: Spatial, L: Arithmetic>(
    l: L,
    front: &Front,
    parts: &JointParts,
    space: &mut Space,
) -> Factorised {
    let (w, d) = (front.width() + 2, front.dof);
    let mut block: Block = [[0.0; 6]; 6];
    for y in 0..d {
        for z in 0..d {
            let entry = &mut space.scratch[y * w + z / LANES][z % LANES];
            *entry += parts.own[y][z];
            block[y][z] = *entry;
        }
    }
    if A::SYMMETRIC {
        for (y, row) in symmetrised(&mut block, d).iter().enumerate().take(d) {
            for (z, entry) in row.iter().enumerate().take(d) {
                space.scratch[y * w + z / LANES][z % LANES] = *entry;
            }
        }
    }
    let edge = front.slot - 1;
    let sound = |x: f64| x != 0.0 && x.is_finite();
    if (0..d).any(|k| !sound(block[k][k])) {
        return Factorised::Singular(edge);
    }
    if !exceeds_half(&block, &parts.least, d) {
        return Factorised::TooSoft(edge);
    }
    for k in 0..d {
        if !sound(space.entry(front, k, k)) {
            return Factorised::Singular(edge);
        }
        space.take_pivot(l, front, k);
    }
    Factorised::Sound
}

/// Hands on what is left, and takes the right-hand side along.
#[inline(always)]
pub(super) fn finish<A: Spatial, L: Arithmetic>(
    l: L,
    plan: &SweepPlan,
    motion: &Motion,
    front: &Front,
    factor: &mut Factor<A>,
    space: &mut Space,
) {
    match A::SYMMETRIC {
        true => packed::hand_on(front, space),
        false => hand_on(front, space),
    }
    let inner = plan.tree.slots[front.slot].inner as usize;
    let x = &motion.places[front.slot].offset;
    let load = x.wrench_inward(&factor.loads[front.slot]);
    add(&mut factor.loads[inner], &load);
    forward(l, plan, motion, front, factor, space);
}

/// Hands on what is left of a front.
#[inline(always)]
fn hand_on(front: &Front, space: &mut Space) {
    let (w, k, scalars) = (front.width() + 2, front.eliminated(), front.scalars());
    let (waiting, width) = (scalars - k, front.rest_width());
    let first = waiting.div_ceil(LANES);
    let rest = &mut space.pool[front.rest];
    let from = &space.scratch[k * w..front.size() * w];
    if width > 0 {
        for (to, from) in rest.chunks_exact_mut(width).zip(from.chunks_exact(w)) {
            to[..first].fill(ZERO);
            for i in 0..waiting {
                to[i / LANES][i % LANES] = from[(k + i) / LANES][(k + i) % LANES];
            }
            to[first..].copy_from_slice(&from[front.head()..front.width()]);
        }
    }
}

/// What a joint of several coordinates adds to its front.
struct JointParts {
    columns: [Twist; 6],
    own: Block,
    least: Block,
    /// What the load through the joint turns by.
    turned: [Wrench; 6],
    right: [f64; 6],
}

impl JointParts {
    fn new(
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        step: &Step<'_>,
        slot: usize,
        load: Wrench,
    ) -> Self {
        let (s, j) = (&plan.tree.slots[slot], &plan.joints[slot]);
        let Carrier::Multi(k) = s.carrier else { unreachable!("a joint of several coordinates") };
        let (h, d) = (step.h, s.dof as usize);
        let joint = &plan.tree.multi[k as usize];
        let (moving, at) = (&motion.multi[k as usize], &motion.places[slot]);
        let (mut own, force) = own_block(m, j, joint, s, step.q, h);
        let mut least = own;
        if step.linearised {
            let q = &step.q[s.position as usize..];
            let turning = column_stiffness(joint, &moving.own, q, -at.turned_back(&load));
            for (o, t) in own.iter_mut().flatten().zip(turning.iter().flatten()) {
                *o += h * h * t;
            }
        }
        let mut columns = [Twist::ZERO; 6];
        columns[..d].copy_from_slice(moving.world.as_slice());
        let (mut turned, mut right) = ([Wrench::ZERO; 6], [0.0; 6]);
        for y in 0..d {
            let felt = at.inertia.apply(&columns[y]);
            for z in 0..d {
                least[z][y] += power(&felt, &columns[z]);
            }
            if step.linearised {
                turned[y] = columns[y].ad_transpose(load) * (-h * h);
            }
            right[y] = own_right(joint.armature[y], force[y], s.velocity as usize + y, step);
        }
        Self { columns, own, least, turned, right }
    }
}
