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

use forks_mechanism::{
    Mechanism,
    lie::{Twist, Wrench, glam::DVec3},
};

use super::{
    inward::{Factor, Step, exceeds_half, own_right},
    joint_terms::{column_stiffness, own_block, own_scalar},
    motion::Motion,
    order::Elimination,
    plan::SweepPlan,
    rows::Rows,
    spatial::Spatial,
};
use crate::{
    integrate::linearised::{Block, Factorised},
    tree::{
        block::{add, power},
        compile::Carrier,
    },
};

/// A multiplier's pivot below this part of what its equation's slots would give by themselves is
/// rounding: the square of what counts as redundant in an equation.
const REDUNDANT: f64 = 1e-12;
/// A multiplier is eliminated if no inertia grows by more than this factor over its slot's own.
const GROWTH: f64 = 1e4;
/// What is allowed to a pivot that was chosen before.
const SLACK: f64 = 100.0;

/// How a factorisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Tree(Factorised),
    /// The elimination that was planned is not sound here.
    Unsound,
}

/// The matrix that a front leaves to another, and where its unknowns stand there.
#[derive(Clone, Debug)]
struct Child {
    rest: usize,
    places: Vec<u16>,
}

/// A row that occurs in a front for the first time: its multiplier's place and the slots'.
#[derive(Clone, Debug)]
struct Fresh {
    group: usize,
    row: usize,
    place: usize,
    slots: Vec<u16>,
}

#[derive(Clone, Debug)]
struct Front {
    slot: usize,
    /// Nothing but the joint ties the slot to others.
    tree: bool,
    dof: usize,
    /// Multipliers: those eliminated here, in order, then those that wait.
    rows: Vec<usize>,
    pivots: usize,
    around: Vec<u32>,
    fresh: Vec<Fresh>,
    children: Vec<Child>,
    /// Which matrix of the pool takes what is left.
    rest: usize,
    /// Where L and U begin.
    kept: usize,
    /// Where the right-hand side is kept.
    solution: usize,
}

impl Front {
    /// Unknowns once the slot's twist is replaced.
    fn size(&self) -> usize {
        self.dof + self.rows.len() + 6 * self.around.len()
    }

    /// Unknowns that are eliminated.
    fn eliminated(&self) -> usize {
        self.dof + self.pivots
    }

    /// Where a slot's twist stands.
    fn place_of_slot(&self, slot: usize) -> usize {
        match self.around.iter().position(|&s| s as usize == slot) {
            Some(k) => self.dof + self.rows.len() + 6 * k,
            None => self.size(),
        }
    }

    fn place_of_row(&self, row: usize) -> usize {
        let at = self.rows.iter().position(|&r| r == row);
        self.dof + at.expect("a multiplier of this front")
    }
}

/// The factorisation and its plan.
#[derive(Clone, Debug)]
pub(super) struct Fronts<A> {
    pub(super) factor: Factor<A>,
    fronts: Vec<Front>,
    planned: bool,
    pool: Vec<Vec<f64>>,
    scratch: Vec<f64>,
    kept: Vec<f64>,
    solutions: Vec<f64>,
    vector: Vec<f64>,
    /// Right-hand sides of the coordinates.
    pub(super) right: Vec<f64>,
    /// Right-hand sides of the rows, then their multipliers.
    pub(super) multipliers: Vec<f64>,
    /// Equations that repeat others.
    dropped: Vec<bool>,
    /// What each row's slots give to its pivot by themselves.
    references: Vec<f64>,
    /// One over the slots' own diagonal entries.
    inverse_mass: Vec<[f64; 6]>,
}

impl<A: Spatial> Fronts<A> {
    pub(super) fn new(plan: &SweepPlan, rows: &Rows) -> Self {
        Self {
            factor: Factor::new(plan),
            fronts: Vec::new(),
            planned: false,
            pool: Vec::new(),
            scratch: Vec::new(),
            kept: Vec::new(),
            solutions: Vec::new(),
            vector: Vec::new(),
            right: vec![0.0; plan.tree.velocity_count()],
            multipliers: vec![0.0; rows.count()],
            dropped: vec![false; rows.count()],
            references: vec![0.0; rows.count()],
            inverse_mass: inverse_mass(plan),
        }
    }

    /// Factorises and takes the step's right-hand side along; rows' are 0.
    pub(super) fn factorize(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        order: &[Elimination],
        motion: &Motion,
        rows: &Rows,
        step: &Step<'_>,
    ) -> Outcome {
        if self.planned {
            match self.replay(m, plan, motion, rows, step) {
                Outcome::Unsound => self.planned = false,
                other => return other,
            }
        }
        self.dropped.fill(false);
        // Equations that are dropped leave a smaller plan for the others.
        for _ in 0..3 {
            let before = self.dropped.iter().filter(|d| **d).count();
            let outcome = self.search(m, plan, order, motion, rows, step);
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
        step: &Step<'_>,
    ) -> Outcome {
        self.start(plan, motion, rows, step);
        let fronts = std::mem::take(&mut self.fronts);
        let mut outcome = Outcome::Tree(Factorised::Sound);
        for front in &fronts {
            outcome = match front.tree {
                true => Outcome::Tree(self.factor.eliminate(m, plan, motion, step, front.slot)),
                false => self.eliminate(m, plan, motion, rows, step, front),
            };
            if outcome != Outcome::Tree(Factorised::Sound) {
                break;
            }
        }
        self.fronts = fronts;
        outcome
    }

    fn start(&mut self, plan: &SweepPlan, motion: &Motion, rows: &Rows, step: &Step<'_>) {
        self.factor.start(plan, motion, step);
        self.multipliers.fill(0.0);
        for (g, group) in rows.groups.iter().enumerate() {
            for row in group.first_row..group.first_row + group.rows {
                let terms = rows.row(g, row).iter().zip(&group.slots);
                self.references[row] = terms
                    .map(|(w, &s)| {
                        let by = &self.inverse_mass[s as usize];
                        w.to_array().iter().zip(by).map(|(w, m)| w * w * m).sum::<f64>()
                    })
                    .sum();
            }
        }
    }

    /// Factorises and finds out where each multiplier can be eliminated.
    fn search(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        order: &[Elimination],
        motion: &Motion,
        rows: &Rows,
        step: &Step<'_>,
    ) -> Outcome {
        self.start(plan, motion, rows, step);
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
        self.kept.clear();
        self.solutions.clear();
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
                kept: self.kept.len(),
                solution: self.solutions.len(),
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
                front.rows.extend(&child.rows[child.pivots..]);
            }
            let groups = fresh[i].iter().map(|&g| (g, &rows.groups[g]));
            let added: Vec<(usize, usize)> = groups
                .flat_map(|(g, group)| {
                    (group.first_row..group.first_row + group.rows).map(move |r| (g, r))
                })
                .filter(|&(_, r)| !self.dropped[r])
                .collect();
            front.rows.extend(added.iter().map(|a| a.1));
            front.rest = free.pop().unwrap_or_else(|| {
                self.pool.push(Vec::new());
                self.pool.len() - 1
            });
            self.place(&mut front, &children[i], &added, rows);
            let done = self.assemble(m, plan, motion, rows, step, &front);
            if done != Factorised::Sound {
                return Outcome::Tree(done);
            }
            self.choose(&mut front);
            // Where everything stands after the choice.
            self.place(&mut front, &children[i], &added, rows);
            self.finish(plan, motion, &front);
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
        front.children = children
            .iter()
            .map(|&c| {
                let child = &self.fronts[c];
                let waiting = child.rows[child.pivots..].iter();
                let mut places: Vec<u16> = waiting.map(|&r| front.place_of_row(r) as u16).collect();
                for &s in &child.around {
                    let at = front.place_of_slot(s as usize) as u16;
                    places.extend(at..at + 6);
                }
                Child { rest: child.rest, places }
            })
            .collect();
        front.fresh = added
            .iter()
            .map(|&(group, row)| Fresh {
                group,
                row,
                place: front.place_of_row(row),
                slots: rows.groups[group]
                    .slots
                    .iter()
                    .map(|&s| front.place_of_slot(s as usize) as u16)
                    .collect(),
            })
            .collect();
        let largest = front.size() + 6;
        if self.scratch.len() < largest * largest {
            self.scratch.resize(largest * largest, 0.0);
            self.vector.resize(largest, 0.0);
        }
    }

    /// Puts a front together and eliminates its joint's coordinates; they stand in `scratch`, in
    /// rows of the front's size and six more.
    fn assemble(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        rows: &Rows,
        step: &Step<'_>,
        front: &Front,
    ) -> Factorised {
        let (size, own) = (front.size(), front.size());
        let n = size + 6;
        let a = &mut self.scratch[..n * n];
        a.fill(0.0);
        for child in &front.children {
            let rest = &self.pool[child.rest];
            let places = &child.places;
            for (i, from) in places.iter().zip(rest.chunks_exact(places.len())) {
                let to = &mut a[*i as usize * n..][..n];
                for (j, x) in places.iter().zip(from) {
                    to[*j as usize] += x;
                }
            }
        }
        self.factor.matrices[front.slot].add_to(a, n, own);
        for f in &front.fresh {
            for (w, &at) in rows.row(f.group, f.row).iter().zip(&f.slots) {
                for (k, x) in w.to_array().iter().enumerate() {
                    a[f.place * n + at as usize + k] += x;
                    a[(at as usize + k) * n + f.place] += x;
                }
            }
        }
        let parts =
            JointParts::new(m, plan, motion, step, front.slot, self.factor.loads[front.slot]);
        self.substitute(plan, motion, front, &parts);
        let at = plan.tree.slots[front.slot].velocity as usize;
        self.right[at..at + front.dof].copy_from_slice(&parts.right[..front.dof]);
        self.eliminate_joint(front, &parts)
    }

    /// ξ = Ad⁻¹ ξ_inner + S x in place of the twist that stands last.
    fn substitute(&mut self, plan: &SweepPlan, motion: &Motion, front: &Front, parts: &JointParts) {
        let (size, n, d) = (front.size(), front.size() + 6, front.dof);
        let x = &motion.places[front.slot].from_outer;
        let inner = plan.tree.slots[front.slot].inner as usize;
        let inner_at = (inner != 0).then(|| front.place_of_slot(inner));
        let a = &mut self.scratch[..n * n];
        for row in a[d * n..].chunks_exact_mut(n) {
            let own: [f64; 6] = core::array::from_fn(|i| row[size + i]);
            if own == [0.0; 6] {
                continue;
            }
            let w = Wrench::from_array(own);
            for (k, c) in parts.columns[..d].iter().enumerate() {
                row[k] += power(&w, c);
            }
            if let Some(at) = inner_at {
                let carried = x.wrench_inward(&w).to_array();
                row[at..at + 6].iter_mut().zip(carried).for_each(|(r, c)| *r += c);
            }
        }
        // Rows of x, before the column of x has what the load turns by taken off.
        let (rest, own) = a.split_at_mut(size * n);
        for (k, c) in parts.columns[..d].iter().enumerate() {
            let row = &mut rest[k * n..][..size];
            for (i, s) in c.to_array().iter().enumerate().filter(|s| *s.1 != 0.0) {
                row.iter_mut().zip(&own[i * n..]).for_each(|(r, o)| *r += s * o);
            }
        }
        let Some(at) = inner_at else { return };
        for (k, w) in parts.turned[..d].iter().enumerate() {
            let (column, row) = A::shares();
            for (i, w) in w.to_array().iter().enumerate() {
                own[i * n + k] -= column * w;
            }
            if row != 0.0 {
                let carried = x.wrench_inward(w).to_array();
                let line = &mut rest[k * n + at..][..6];
                line.iter_mut().zip(carried).for_each(|(l, c)| *l -= row * c);
            }
        }
        // Ad⁻ᵀ on the twist's rows: R turns both triples, then p× the forces.
        let (r, p) = (&x.rotation, x.translation);
        let turn = [r.row(0), r.row(1), r.row(2)];
        let inner_rows = &mut rest[at * n..][..6 * n];
        let [f0, f1, f2, t0, t1, t2] = split_rows::<6>(own, n, size);
        let [o0, o1, o2, q0, q1, q2] = split_rows_mut(inner_rows, n, size);
        for j in 0..size {
            let f = DVec3::new(f0[j], f1[j], f2[j]);
            let t = DVec3::new(t0[j], t1[j], t2[j]);
            let force = DVec3::new(turn[0].dot(f), turn[1].dot(f), turn[2].dot(f));
            let torque =
                DVec3::new(turn[0].dot(t), turn[1].dot(t), turn[2].dot(t)) + p.cross(force);
            o0[j] += force.x;
            o1[j] += force.y;
            o2[j] += force.z;
            q0[j] += torque.x;
            q1[j] += torque.y;
            q2[j] += torque.z;
        }
    }

    fn eliminate_joint(&mut self, front: &Front, parts: &JointParts) -> Factorised {
        let (size, n, d) = (front.size(), front.size() + 6, front.dof);
        let a = &mut self.scratch[..n * n];
        let mut block: Block = [[0.0; 6]; 6];
        for y in 0..d {
            for z in 0..d {
                a[y * n + z] += parts.own[y][z];
                block[y][z] = a[y * n + z];
            }
        }
        let edge = front.slot - 1;
        if !exceeds_half(&block, &parts.least, d) {
            let singular = (0..d).any(|k| block[k][k] == 0.0 || !block[k][k].is_finite());
            return match singular {
                true => Factorised::Singular(edge),
                false => Factorised::TooSoft(edge),
            };
        }
        for k in 0..d {
            let pivot = a[k * n + k];
            if pivot == 0.0 || !pivot.is_finite() {
                return Factorised::Singular(edge);
            }
            take_pivot(a, n, size, k);
        }
        Factorised::Sound
    }

    /// Largest growth of an inertia by a multiplier's pivot, over the slots' own.
    fn growth(&self, front: &Front, k: usize) -> f64 {
        let n = front.size() + 6;
        let a = &self.scratch;
        let mut worst = 0.0f64;
        let first = front.dof + front.rows.len();
        for (b, &s) in front.around.iter().enumerate() {
            for (c, by) in self.inverse_mass[s as usize].iter().enumerate() {
                let at = first + 6 * b + c;
                let (right, below) = (a[k * n + at], a[at * n + k]);
                worst = worst.max(right * right * by).max(below * below * by);
            }
        }
        worst
    }

    /// Eliminates all multipliers that can be, the firmest first, and notes them; drops those that
    /// nothing is left for.
    fn choose(&mut self, front: &mut Front) {
        let (size, n, d) = (front.size(), front.size() + 6, front.dof);
        let total = front.rows.len();
        let mut k = 0;
        loop {
            let mut best: Option<(usize, f64)> = None;
            for p in k..total {
                let (at, reference) = (d + p, self.reference(front.rows[p]));
                let pivot = -self.scratch[at * n + at];
                let firm = pivot / reference;
                let definite = pivot > REDUNDANT * reference;
                if definite
                    && best.is_none_or(|b| firm > b.1)
                    && (front.around.is_empty() || self.growth(front, at) <= GROWTH * pivot)
                {
                    best = Some((p, firm));
                }
            }
            let Some((p, _)) = best else { break };
            swap(&mut self.scratch, n, d + k, d + p);
            front.rows.swap(k, p);
            take_pivot(&mut self.scratch[..n * n], n, size, d + k);
            k += 1;
        }
        front.pivots = k;
        self.drop_redundant(front);
    }

    /// Of the multipliers that wait without a pivot of their own, those that the others span.
    fn drop_redundant(&mut self, front: &mut Front) {
        let (n, d) = (front.size() + 6, front.dof);
        let first = d + front.rows.len();
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let mut rest: Vec<(usize, Vec<f64>)> = Vec::new();
        for (p, &row) in front.rows.iter().enumerate().skip(front.pivots) {
            let at = d + p;
            if -self.scratch[at * n + at] > REDUNDANT * self.references[row] {
                continue;
            }
            let mut scaled = Vec::with_capacity(6 * front.around.len());
            for (b, &s) in front.around.iter().enumerate() {
                let line = &self.scratch[at * n + first + 6 * b..][..6];
                let by = &self.inverse_mass[s as usize];
                scaled
                    .extend(line.iter().zip(by).map(|(x, m)| x * (m / self.reference(row)).sqrt()));
            }
            rest.push((row, scaled));
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
            swap(&mut self.scratch, n, d + front.pivots, d + p);
            front.rows.swap(front.pivots, p);
            let at = d + front.pivots;
            for k in 0..n {
                (self.scratch[at * n + k], self.scratch[k * n + at]) = (0.0, 0.0);
            }
            self.scratch[at * n + at] = 1.0;
            front.pivots += 1;
            self.dropped[row] = true;
        }
    }

    fn reference(&self, row: usize) -> f64 {
        self.references[row].max(f64::MIN_POSITIVE)
    }

    /// A planned front from beginning to end.
    fn eliminate(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        rows: &Rows,
        step: &Step<'_>,
        front: &Front,
    ) -> Outcome {
        let done = self.assemble(m, plan, motion, rows, step, front);
        if done != Factorised::Sound {
            return Outcome::Tree(done);
        }
        let (size, n, d) = (front.size(), front.size() + 6, front.dof);
        for k in d..d + front.pivots {
            let pivot = -self.scratch[k * n + k];
            let sound = pivot > REDUNDANT * self.references[front.rows[k - d]]
                && (front.around.is_empty() || self.growth(front, k) <= SLACK * GROWTH * pivot);
            if !sound {
                return Outcome::Unsound;
            }
            take_pivot(&mut self.scratch[..n * n], n, size, k);
        }
        self.finish(plan, motion, front);
        Outcome::Tree(Factorised::Sound)
    }

    /// Keeps L and U, hands on what is left, and takes the right-hand side along.
    fn finish(&mut self, plan: &SweepPlan, motion: &Motion, front: &Front) {
        let (size, n, k) = (front.size(), front.size() + 6, front.eliminated());
        let needed = front.kept + 2 * k * size;
        if self.kept.len() < needed {
            self.kept.resize(needed, 0.0);
        }
        let kept = &mut self.kept[front.kept..needed];
        let (upper, lower) = kept.split_at_mut(k * size);
        for p in 0..k {
            upper[p * size..][..size].copy_from_slice(&self.scratch[p * n..][..size]);
            let column = &mut lower[p * size..][..size];
            for (q, l) in column.iter_mut().enumerate().skip(p + 1) {
                *l = self.scratch[q * n + p];
            }
        }
        let left = size - k;
        let rest = &mut self.pool[front.rest];
        rest.resize(left * left, 0.0);
        for (i, to) in rest.chunks_exact_mut(left.max(1)).enumerate() {
            to.copy_from_slice(&self.scratch[(k + i) * n + k..][..left]);
        }
        let inner = plan.tree.slots[front.slot].inner as usize;
        let x = &motion.places[front.slot].from_outer;
        let load = x.wrench_inward(&self.factor.loads[front.slot]);
        add(&mut self.factor.loads[inner], &load);
        if self.solutions.len() < front.solution + k {
            self.solutions.resize(front.solution + k, 0.0);
        }
        self.forward_front(plan, motion, front);
    }

    /// Takes a right-hand side through a front.
    fn forward_front(&mut self, plan: &SweepPlan, motion: &Motion, front: &Front) {
        let (size, k, d) = (front.size(), front.eliminated(), front.dof);
        let s = &plan.tree.slots[front.slot];
        let drive = self.factor.drives[front.slot];
        let b = &mut self.vector[..size];
        let columns = columns(motion, s);
        for y in 0..d {
            b[y] = self.right[s.velocity as usize + y] + power(&drive, &columns[y]);
        }
        for (b, &row) in b[d..].iter_mut().zip(&front.rows) {
            *b = self.multipliers[row];
        }
        b[d + front.rows.len()..].fill(0.0);
        let lower = &self.kept[front.kept + k * size..][..k * size];
        for p in 0..k {
            let x = b[p];
            if x != 0.0 {
                let column = &lower[p * size..][..size];
                b[p + 1..].iter_mut().zip(&column[p + 1..]).for_each(|(b, l)| *b -= l * x);
            }
        }
        self.solutions[front.solution..][..k].copy_from_slice(&b[..k]);
        for (b, &row) in b[k..].iter().zip(&front.rows[front.pivots..]) {
            self.multipliers[row] = *b;
        }
        let twists = b[d + front.rows.len()..].chunks_exact(6);
        for (w, &slot) in twists.zip(&front.around) {
            let w = Wrench::from_array(core::array::from_fn(|i| w[i]));
            add(&mut self.factor.drives[slot as usize], &w);
        }
        let carried = motion.places[front.slot].from_outer.wrench_inward(&drive);
        add(&mut self.factor.drives[s.inner as usize], &carried);
    }

    /// Coordinates x, multipliers and twists from what was taken along.
    pub(super) fn backward(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64]) {
        self.factor.twists[0] = Twist::ZERO;
        let fronts = std::mem::take(&mut self.fronts);
        for front in fronts.iter().rev() {
            if front.tree {
                self.factor.backward(plan, motion, x, front.slot);
                continue;
            }
            let (size, k, d) = (front.size(), front.eliminated(), front.dof);
            let s = &plan.tree.slots[front.slot];
            let b = &mut self.vector[..size];
            b[..k].copy_from_slice(&self.solutions[front.solution..][..k]);
            for (b, &row) in b[k..].iter_mut().zip(&front.rows[front.pivots..]) {
                *b = self.multipliers[row];
            }
            for (b, &slot) in b[d + front.rows.len()..].chunks_exact_mut(6).zip(&front.around) {
                b.copy_from_slice(&self.factor.twists[slot as usize].to_array());
            }
            let upper = &self.kept[front.kept..][..k * size];
            for p in (0..k).rev() {
                let row = &upper[p * size..][..size];
                let known: f64 = row[p + 1..].iter().zip(&b[p + 1..]).map(|(u, y)| u * y).sum();
                b[p] = (b[p] - known) / row[p];
            }
            let at = s.velocity as usize;
            x[at..at + d].copy_from_slice(&b[..d]);
            for (b, &row) in b[d..k].iter().zip(&front.rows) {
                self.multipliers[row] = *b;
            }
            let inner = &self.factor.twists[s.inner as usize];
            let mut t = motion.places[front.slot].from_outer.twist_outward(inner);
            let columns = columns(motion, s);
            for y in 0..d {
                t += columns[y] * b[y];
            }
            self.factor.twists[front.slot] = t;
        }
        self.fronts = fronts;
    }

    /// Solves for right-hand sides of the rows, which stand in `multipliers`.
    pub(super) fn solve_rows(&mut self, plan: &SweepPlan, motion: &Motion, x: &mut [f64]) {
        self.right.fill(0.0);
        self.factor.drives.fill(Wrench::ZERO);
        let fronts = std::mem::take(&mut self.fronts);
        for front in &fronts {
            match front.tree {
                true => self.factor.forward(plan, motion, &self.right, front.slot),
                false => self.forward_front(plan, motion, front),
            }
        }
        self.fronts = fronts;
        self.backward(plan, motion, x);
    }

    /// Number of equations that are kept.
    #[cfg(test)]
    pub(super) fn rank(&self) -> usize {
        self.dropped.iter().filter(|d| !**d).count()
    }
}

/// What a joint adds to its front.
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
        let h = step.h;
        let mut out = Self {
            columns: columns(motion, s),
            own: [[0.0; 6]; 6],
            least: [[0.0; 6]; 6],
            turned: [Wrench::ZERO; 6],
            right: [0.0; 6],
        };
        let (mut force, mut armature) = ([0.0; 6], [0.0; 6]);
        match s.carrier {
            Carrier::Fixed => {}
            Carrier::Revolute | Carrier::Prismatic => {
                (out.own[0][0], force[0]) = own_scalar(m, j, s, step.q, h);
                armature[0] = j.spring.armature;
                out.least = out.own;
            }
            Carrier::Multi(k) => {
                let joint = &plan.tree.multi[k as usize];
                armature = joint.armature;
                (out.own, force) = own_block(m, j, joint, s, step.q, h);
                out.least = out.own;
                if step.linearised {
                    let q = &step.q[s.position as usize..];
                    let moving = &motion.multi[k as usize];
                    let turning = column_stiffness(joint, moving, q, -load);
                    for (o, t) in out.own.iter_mut().flatten().zip(turning.iter().flatten()) {
                        *o += h * h * t;
                    }
                }
            }
        }
        let d = s.dof as usize;
        for y in 0..d {
            let felt = s.inertia.apply(&out.columns[y]);
            for z in 0..d {
                out.least[z][y] += power(&felt, &out.columns[z]);
            }
            if step.linearised {
                out.turned[y] = out.columns[y].ad_transpose(load) * (-h * h);
            }
            out.right[y] = own_right(armature[y], force[y], s.velocity as usize + y, step);
        }
        out
    }
}

/// The columns of a slot's joint.
fn columns(motion: &Motion, s: &crate::tree::compile::Slot) -> [Twist; 6] {
    let mut out = [Twist::ZERO; 6];
    match s.carrier {
        Carrier::Fixed => {}
        Carrier::Revolute => out[0] = Twist::unit(5),
        Carrier::Prismatic => out[0] = Twist::unit(2),
        Carrier::Multi(k) => {
            let columns = motion.multi[k as usize].columns;
            out[..columns.as_slice().len()].copy_from_slice(columns.as_slice());
        }
    }
    out
}

/// One over the diagonal entries of the slots' own inertias; of empty slots that of the lightest
/// that counts.
fn inverse_mass(plan: &SweepPlan) -> Vec<[f64; 6]> {
    const LIGHT: f64 = 1e-9;
    let diagonal = |i: &crate::tree::block::RigidInertia| {
        [i.mass, i.mass, i.mass, i.tensor.xx, i.tensor.yy, i.tensor.zz]
    };
    let all = plan.tree.slots.iter().map(|s| diagonal(&s.inertia));
    let largest =
        all.clone().fold([0.0f64; 2], |m, d| [m[0].max(d[0]), m[1].max(d[3]).max(d[4]).max(d[5])]);
    let least = |i: usize| {
        let largest = largest[i / 3];
        LIGHT * if largest > 0.0 { largest } else { 1.0 }
    };
    all.map(|d| core::array::from_fn(|i| 1.0 / d[i].max(least(i)))).collect()
}

/// Eliminates unknown `k` of the leading `size` ones: multipliers of rows below it, U to its right.
#[inline(always)]
fn take_pivot(a: &mut [f64], n: usize, size: usize, k: usize) {
    let (above, below) = a.split_at_mut((k + 1) * n);
    let row = &above[k * n + k..k * n + size];
    let inverse = 1.0 / row[0];
    for r in below.chunks_exact_mut(n).take(size - k - 1) {
        let r = &mut r[k..size];
        if r[0] == 0.0 {
            continue;
        }
        let l = r[0] * inverse;
        r[0] = l;
        for (x, u) in r[1..].iter_mut().zip(&row[1..]) {
            *x -= l * u;
        }
    }
}

fn swap(a: &mut [f64], n: usize, i: usize, j: usize) {
    if i == j {
        return;
    }
    for k in 0..n {
        a.swap(i * n + k, j * n + k);
    }
    for k in 0..n {
        a.swap(k * n + i, k * n + j);
    }
}

fn split_rows<const N: usize>(a: &[f64], n: usize, size: usize) -> [&[f64]; N] {
    core::array::from_fn(|i| &a[i * n..i * n + size])
}

fn split_rows_mut(a: &mut [f64], n: usize, size: usize) -> [&mut [f64]; 6] {
    let mut rows = a.chunks_exact_mut(n);
    core::array::from_fn(|_| &mut rows.next().expect("six rows")[..size])
}
