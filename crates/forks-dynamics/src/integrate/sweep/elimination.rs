//! What is done in every step: fronts put together, eliminated and solved, four numbers at a time.

use forks_mechanism::{
    Mechanism,
    lie::{
        Twist, Wrench,
        glam::{DMat3, DVec3},
    },
    linalg::simd::{Arithmetic, Kernel, LANES, Lanes, Wide},
};

use super::{
    front::{Child, Front, GROWTH, Outcome, REDUNDANT, SLACK},
    inward::{Factor, Step, own_right},
    joint_terms::{column_stiffness, own_block, own_scalar},
    motion::Motion,
    plan::SweepPlan,
    rows::Rows,
    solve::{chunks, forward},
    space::Space,
    spatial::Spatial,
};
use crate::{
    integrate::blocks::{Block, Factorised, exceeds_half},
    tree::{
        block::{Transform, add, power},
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
    for (i, row) in factor.matrices[front.slot].rows().iter().enumerate() {
        let own = &mut a[(front.size() + i) * w + w - 2..][..2];
        let [x, y] = chunks(row);
        own[0] = (l.load(&own[0]) + l.load(&x)).store();
        own[1] = (l.load(&own[1]) + l.load(&y)).store();
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
    let s = &plan.tree.slots[front.slot];
    let x = &motion.places[front.slot].from_outer;
    let load = factor.loads[front.slot];
    match s.carrier {
        Carrier::Revolute | Carrier::Prismatic => {
            let j = &plan.joints[front.slot];
            let (own, force) = own_scalar(m, j, s, step.q, step.h);
            let (column, least) = match s.carrier {
                Carrier::Revolute => (Twist::unit(5), s.inertia.tensor.zz),
                _ => (Twist::unit(2), s.inertia.mass),
            };
            let mut turned = Wrench::ZERO;
            if step.linearised {
                turned = column.ad_transpose(load) * (-step.h * step.h);
            }
            substitute::<A, L>(l, front, s, x, &[column], &[turned], space);
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
            substitute::<A, L>(l, front, s, x, &[], &[], space);
            Factorised::Sound
        }
        Carrier::Multi(_) => {
            let parts = JointParts::new(m, plan, motion, step, front.slot, load);
            let d = front.dof;
            substitute::<A, L>(l, front, s, x, &parts.columns[..d], &parts.turned[..d], space);
            let at = s.velocity as usize;
            space.right[at..at + d].copy_from_slice(&parts.right[..d]);
            eliminate_joint(l, front, &parts, space)
        }
    }
}

/// Adds a row of what a child left to the front's, whose multipliers take `head` chunks.
#[inline(always)]
fn add_row<L: Arithmetic>(l: L, to: &mut [Lanes], head: usize, child: &Child, from: &[Lanes]) {
    let (waiting, blocks) = from.split_at(child.scalars.len().div_ceil(LANES));
    for (k, &at) in child.scalars.iter().enumerate() {
        let at = at as usize;
        to[at / LANES][at % LANES] += waiting[k / LANES][k % LANES];
    }
    for (block, &at) in blocks.chunks_exact(2).zip(&child.blocks) {
        let to = &mut to[head + 2 * at as usize..][..2];
        to[0] = (l.load(&to[0]) + l.load(&block[0])).store();
        to[1] = (l.load(&to[1]) + l.load(&block[1])).store();
    }
}

/// ξ = Ad⁻¹ ξ_inner + S x in place of the twist that stands last.
#[inline(always)]
fn substitute<A: Spatial, L: Arithmetic>(
    l: L,
    front: &Front,
    s: &Slot,
    x: &Transform,
    columns: &[Twist],
    turned: &[Wrench],
    space: &mut Space,
) {
    let (size, width, head, d) = (front.size(), front.width(), front.head(), front.dof);
    let w = width + 2;
    // The inner slot is the first one around.
    let inner = s.inner != 0;
    let (r, p) = (&x.rotation, x.translation);
    let moved = DMat3::from_cols(p.cross(r.x_axis), p.cross(r.y_axis), p.cross(r.z_axis));
    let carry = [
        column(r.x_axis, moved.x_axis),
        column(r.y_axis, moved.y_axis),
        column(r.z_axis, moved.z_axis),
        column(DVec3::ZERO, r.x_axis),
        column(DVec3::ZERO, r.y_axis),
        column(DVec3::ZERO, r.z_axis),
    ];
    let a = &mut space.scratch[..(size + 6) * w];
    for row in a[d * w..].chunks_exact_mut(w) {
        let own = [row[width], row[width + 1]];
        let parts = [own[0][0], own[0][1], own[0][2], own[0][3], own[1][0], own[1][1]];
        match s.carrier {
            Carrier::Revolute => row[0][0] += parts[5],
            Carrier::Prismatic => row[0][0] += parts[2],
            _ => {
                let wrench = Wrench::from_array(parts);
                for (k, c) in columns.iter().enumerate() {
                    row[k / LANES][k % LANES] += power(&wrench, c);
                }
            }
        }
        if inner {
            let (mut x, mut y) = (l.load(&row[head]), l.load(&row[head + 1]));
            for (part, [c, e]) in parts.iter().zip(&carry) {
                let part = l.splat(*part);
                x += part * l.load(c);
                y += part * l.load(e);
            }
            (row[head], row[head + 1]) = (x.store(), y.store());
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
    let (of_column, of_row) = A::shares();
    for (k, t) in turned.iter().enumerate() {
        for (i, t) in t.to_array().iter().enumerate() {
            own[i * w + k / LANES][k % LANES] -= of_column * t;
        }
        if of_row != 0.0 {
            let carried = chunks(&x.wrench_inward(t).to_array());
            for (to, c) in rest[k * w + head..].iter_mut().zip(&carried) {
                *to = (l.load(to) - l.splat(of_row) * l.load(c)).store();
            }
        }
    }
    let turn = [splat(l, r.row(0)), splat(l, r.row(1)), splat(l, r.row(2))];
    let shift = [splat(l, moved.row(0)), splat(l, moved.row(1)), splat(l, moved.row(2))];
    let at = front.scalars() * w;
    let to = &mut rest[at..at + 6 * w];
    for c in 0..width {
        let o = [
            l.load(&own[c]),
            l.load(&own[w + c]),
            l.load(&own[2 * w + c]),
            l.load(&own[3 * w + c]),
            l.load(&own[4 * w + c]),
            l.load(&own[5 * w + c]),
        ];
        for i in 0..3 {
            let (t, s) = (&turn[i], &shift[i]);
            let force = l.load(&to[i * w + c]) + t[0] * o[0] + t[1] * o[1] + t[2] * o[2];
            to[i * w + c] = force.store();
            let torque = l.load(&to[(i + 3) * w + c]) + s[0] * o[0] + s[1] * o[1] + s[2] * o[2];
            let torque = torque + t[0] * o[3] + t[1] * o[4] + t[2] * o[5];
            to[(i + 3) * w + c] = torque.store();
        }
    }
}

#[inline(always)]
fn splat<L: Arithmetic>(l: L, v: DVec3) -> [Wide<L>; 3] {
    [l.splat(v.x), l.splat(v.y), l.splat(v.z)]
}

#[inline(always)]
fn column(force: DVec3, torque: DVec3) -> [Lanes; 2] {
    [Lanes([force.x, force.y, force.z, torque.x]), Lanes([torque.y, torque.z, 0.0, 0.0])]
}

#[inline(always)]
fn eliminate_joint<L: Arithmetic>(
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
    let inner = plan.tree.slots[front.slot].inner as usize;
    let x = &motion.places[front.slot].from_outer;
    let load = x.wrench_inward(&factor.loads[front.slot]);
    add(&mut factor.loads[inner], &load);
    forward(l, plan, motion, front, factor, space);
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
        let moving = &motion.multi[k as usize];
        let (mut own, force) = own_block(m, j, joint, s, step.q, h);
        let mut least = own;
        if step.linearised {
            let turning = column_stiffness(joint, moving, &step.q[s.position as usize..], -load);
            for (o, t) in own.iter_mut().flatten().zip(turning.iter().flatten()) {
                *o += h * h * t;
            }
        }
        let mut columns = [Twist::ZERO; 6];
        columns[..d].copy_from_slice(moving.columns.as_slice());
        let (mut turned, mut right) = ([Wrench::ZERO; 6], [0.0; 6]);
        for y in 0..d {
            let felt = s.inertia.apply(&columns[y]);
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
