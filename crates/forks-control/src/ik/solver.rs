//! The levels, one after the other.

use std::sync::Arc;

use forks_dynamics::mechanism::{JointId, JointKind, Mechanism, lie::Pose};

use super::{
    balance::Support,
    handle::{AtLimit, Handle, IkError, IkReport, IkStatus, Root, Unmet},
    rows::{Group, Rows},
};
use crate::lexicographic::{Problem, Solver};

/// Rows beyond this part of the mechanism's size are unmet (angles count times the size).
const TOLERANCE: f64 = 1e-10;
/// Largest turn of a coordinate in a step, rad; lengths: times the size.
const FURTHEST: f64 = 0.5;
/// Most steps that a level tries.
const MOST: usize = 300;

/// A mechanism whose links are dragged and pinned.
#[derive(Clone, Debug)]
pub struct InverseKinematics {
    mechanism: Arc<Mechanism>,
    root: Root,
    pins: Vec<Handle>,
    drags: Vec<Vec<Handle>>,
    q: Vec<f64>,
}

/// What a search of one level works on.
struct Search<'a> {
    m: &'a Mechanism,
    r: f64,
    held: Vec<bool>,
    /// Levels that are kept, with what they miss.
    kept: Vec<(&'a Group, Vec<f64>)>,
    problem: Problem,
    solver: Solver,
    iterations: usize,
}

impl InverseKinematics {
    /// At positions of all joints, or of the tree's joints alone.
    ///
    /// # Errors
    /// Another number of positions, numbers that are not finite.
    pub fn new(mechanism: Arc<Mechanism>, q: &[f64]) -> Result<Self, IkError> {
        let mut out = Self { mechanism, root: Root::Free, pins: vec![], drags: vec![], q: vec![] };
        out.set_positions(q)?;
        Ok(out)
    }

    /// Starts from other positions.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn set_positions(&mut self, q: &[f64]) -> Result<(), IkError> {
        let m = &*self.mechanism;
        let (all, tree) = (m.position_count(), m.tree_position_count());
        if q.len() != all && q.len() != tree {
            return Err(IkError::Count { found: q.len(), expected: tree });
        }
        if let Some(index) = q.iter().position(|x| !x.is_finite()) {
            return Err(IkError::NotFinite { index, value: q[index] });
        }
        let mut positions = q.to_vec();
        positions.resize(all, 0.0);
        if q.len() < all {
            m.fit_closures(&mut positions);
        }
        self.q = positions;
        Ok(())
    }

    /// What the base does.
    pub fn set_root(&mut self, root: Root) {
        self.root = root;
    }

    /// Holds a frame; pins stand above all drags.
    ///
    /// # Errors
    /// A link that is not there, numbers out of range, a handle without rows.
    pub fn pin(&mut self, handle: Handle) -> Result<(), IkError> {
        handle.check(&self.mechanism)?;
        self.pins.push(handle);
        Ok(())
    }

    /// Drags a frame, on a level: 0 is the most important after the pins.
    ///
    /// # Errors
    /// As [`pin`](Self::pin).
    pub fn drag(&mut self, level: usize, handle: Handle) -> Result<(), IkError> {
        handle.check(&self.mechanism)?;
        if self.drags.len() <= level {
            self.drags.resize(level + 1, vec![]);
        }
        self.drags[level].push(handle);
        Ok(())
    }

    /// Takes all drags away; pins stay.
    pub fn clear_drags(&mut self) {
        self.drags.clear();
    }

    /// Positions of all joints: where the next search starts.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// World poses of all links at these positions.
    pub fn link_poses(&self) -> Vec<Pose> {
        self.mechanism.link_poses(&self.q)
    }

    /// Searches from given positions, whatever was dragged before, and stays there: the same
    /// positions and handles give the same bits.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`follow`](Self::follow).
    pub fn from_pose(&mut self, q: &[f64]) -> Result<IkReport, IkError> {
        self.set_positions(q)?;
        self.follow()
    }

    /// Searches from where the last search ended, as a hand that drags does.
    ///
    /// # Errors
    /// Balance without pins, mass or gravity.
    pub fn follow(&mut self) -> Result<IkReport, IkError> {
        let mechanism = Arc::clone(&self.mechanism);
        let m = &*mechanism;
        let groups = self.groups()?;
        let r = m.bounding_radius(&m.link_poses(&self.q)).max(f64::MIN_POSITIVE);
        let mut search = Search {
            m,
            r,
            held: self.held(),
            kept: vec![],
            problem: Problem::default(),
            solver: Solver::new(),
            iterations: 0,
        };
        let (mut q, mut status, mut unmet) = (self.q.clone(), IkStatus::Reached, vec![]);
        for (group, missed) in &groups {
            let missing = search.level(group, &mut q);
            for ((name, row), x) in group.names(m).into_iter().zip(&missing) {
                if x.abs() > TOLERANCE * r {
                    let by = if row.starts_with("turn") { x / r } else { *x };
                    unmet.push(Unmet { name, row, by });
                    if status == IkStatus::Reached {
                        status = *missed;
                    }
                }
            }
            search.kept.push((group, missing));
        }
        self.q.clone_from(&q);
        let limits = at_limits(m, &q);
        Ok(IkReport { status, positions: q, unmet, limits, iterations: search.iterations })
    }

    /// The levels and what it means if one is not met.
    fn groups(&self) -> Result<Vec<(Group, IkStatus)>, IkError> {
        let m = &*self.mechanism;
        let mut out = vec![];
        if !m.forest().closures().is_empty() || !m.couplings().is_empty() {
            out.push((Group::Loops, IkStatus::LoopsOpen));
        }
        if !self.pins.is_empty() {
            out.push((Group::Handles(self.pins.clone()), IkStatus::PinsUnmet));
        }
        if self.root == Root::Balanced {
            let missing = |missing| Err(IkError::Balance { missing });
            let Some(down) = m.gravity().try_normalize() else { return missing("gravity") };
            if self.pins.is_empty() {
                return missing("a pin to stand on");
            }
            if m.moving_mass() <= 0.0 {
                return missing("mass");
            }
            let points: Vec<_> = self.pins.iter().map(|p| p.target.translation).collect();
            let near = 1e-9 * m.bounding_radius(&m.link_poses(&self.q));
            out.push((Group::Balance(Support::new(&points, -down, near)), IkStatus::PinsUnmet));
        }
        let drags = self.drags.iter().filter(|d| !d.is_empty());
        out.extend(drags.map(|d| (Group::Handles(d.clone()), IkStatus::DragsUnmet)));
        Ok(out)
    }

    /// Velocity coordinates that do not move.
    fn held(&self) -> Vec<bool> {
        let m = &*self.mechanism;
        let mut out = vec![false; m.velocity_count()];
        if self.root == Root::Pinned {
            for e in m.forest().edges() {
                if e.inner.index() == 0 && m.joint(e.joint).kind == JointKind::Free {
                    out[m.velocity_range(e.joint)].fill(true);
                }
            }
        }
        out
    }
}

impl Search<'_> {
    /// Brings the errors of a group down from `q` on; returns what its rows miss then.
    fn level(&mut self, group: &Group, q: &mut Vec<f64>) -> Vec<f64> {
        let mut rows = self.rows(group, q);
        let mut damping = 1e-3;
        let (mut kicks, mut slow) = (0, 0);
        for _ in 0..MOST {
            if rows.worst() <= 1e-3 * TOLERANCE * self.r {
                break;
            }
            self.iterations += 1;
            let merit = rows.merit();
            let step = self.step(q, &rows, damping * (2.0 * merit).sqrt() / self.r);
            let next = self.restored(self.moved(q, &step));
            let then = next.as_ref().map(|n| self.rows(group, n));
            match (next, then) {
                (Some(next), Some(then)) if then.merit() < merit * (1.0 - 1e-14) => {
                    slow = if then.merit() > merit * (1.0 - 1e-11) { slow + 1 } else { 0 };
                    (*q, rows) = (next, then);
                    damping = (damping / 4.0).max(1e-9);
                    if slow > 3 {
                        damping = 1e9;
                    }
                }
                _ if damping < 1e9 => damping *= 4.0,
                _ => {
                    // A stretched arm that is pushed has no direction to give way: it gets one.
                    kicks += 1;
                    if kicks > 2 || rows.worst() <= TOLERANCE * self.r {
                        break;
                    }
                    match self.kicked(group, q, rows.merit(), 0.02 * f64::from(kicks)) {
                        Some((next, then)) => (*q, rows, damping) = (next, then, 1e-3),
                        None => continue,
                    }
                }
            }
        }
        (0..rows.len()).map(|i| rows.missing(i)).collect()
    }

    fn rows(&self, group: &Group, q: &[f64]) -> Rows {
        group.rows(self.m, q, &self.m.link_poses(q), self.r)
    }

    /// Limits of motion as rows of level 0.
    fn bounds(&mut self, q: &[f64], levels: usize) {
        let m = self.m;
        let n = m.velocity_count();
        self.problem.reset(n, levels);
        self.solver.restart();
        for i in 0..n {
            let c = m.velocity_owner(i);
            let joint = m.joint(c.joint);
            let furthest = FURTHEST * self.size(i);
            let (mut lower, mut upper) = (-furthest, furthest);
            if self.held[i] {
                (lower, upper) = (0.0, 0.0);
            } else if joint.kind.has_scalar_coordinates()
                && let Some(limit) = joint.limits[c.index]
            {
                let at = q[m.position_range(c.joint).start + c.index];
                lower = lower.max(limit.lower - at).min(furthest);
                upper = upper.min(limit.upper - at).max(-furthest).max(lower);
            }
            let pushed = self.problem.level_mut(0).push_part(i, &[1.0], lower, upper, 1.0);
            debug_assert!(pushed.is_ok(), "{pushed:?}");
        }
    }

    /// Unit of a coordinate: 1 rad, or the mechanism's size.
    fn size(&self, i: usize) -> f64 {
        let c = self.m.velocity_owner(i);
        let linear = match &self.m.joint(c.joint).kind {
            JointKind::Prismatic { .. } => true,
            JointKind::Cylindrical { .. } => c.index == 0,
            JointKind::Planar => c.index < 2,
            JointKind::Free => c.index < 3,
            _ => false,
        };
        if linear { self.r } else { 1.0 }
    }

    fn push(&mut self, level: usize, rows: &Rows) {
        for i in 0..rows.len() {
            let (row, w) = (&rows.gradients[i], rows.weights[i]);
            let (lower, upper) = (rows.lower[i], rows.upper[i]);
            let pushed = self.problem.level_mut(level).push(row, lower, upper, w);
            debug_assert!(pushed.is_ok(), "{pushed:?}");
        }
    }

    /// Least motion, weighted, on a level.
    fn still(&mut self, level: usize, weight: f64) {
        for i in 0..self.m.velocity_count() {
            let w = (weight / self.size(i)).max(f64::MIN_POSITIVE);
            let pushed = self.problem.level_mut(level).push_part(i, &[1.0], 0.0, 0.0, w);
            debug_assert!(pushed.is_ok(), "{pushed:?}");
        }
    }

    fn kept_rows(&self, q: &[f64]) -> Vec<Rows> {
        let of = |(g, missing): &(&Group, Vec<f64>)| {
            let mut rows = self.rows(g, q);
            rows.keep(missing);
            rows
        };
        self.kept.iter().map(of).collect()
    }

    /// A damped step towards the rows that keeps the levels before.
    fn step(&mut self, q: &[f64], rows: &Rows, damping: f64) -> Vec<f64> {
        let kept = self.kept_rows(q);
        self.bounds(q, kept.len() + 3);
        for (k, rows) in kept.iter().enumerate() {
            self.push(k + 1, rows);
        }
        self.push(kept.len() + 1, rows);
        self.still(kept.len() + 1, damping * self.r);
        self.still(kept.len() + 2, 1.0);
        self.solver.solve(&self.problem);
        self.solver.solution().to_vec()
    }

    /// Positions after a step, within limits to the bit.
    fn moved(&self, q: &[f64], step: &[f64]) -> Vec<f64> {
        let mut out = q.to_vec();
        self.m.integrate(&mut out, step);
        for (j, joint) in self.m.joints().iter().enumerate() {
            if !joint.kind.has_scalar_coordinates() {
                continue;
            }
            let range = self.m.position_range(JointId::new(j));
            for (x, (was, limit)) in
                out[range.clone()].iter_mut().zip(q[range].iter().zip(&joint.limits))
            {
                let Some(limit) = limit else { continue };
                // From outside the way back may take several steps.
                *x = x.clamp(limit.lower.min(*was), limit.upper.max(*was));
            }
        }
        out
    }

    /// Kept levels brought back to what they had attained; `None` if they do not come back.
    fn restored(&mut self, mut q: Vec<f64>) -> Option<Vec<f64>> {
        for _ in 0..12 {
            let kept = self.kept_rows(&q);
            let worst = kept.iter().fold(0.0f64, |a, r| a.max(r.worst()));
            if worst <= 1e-3 * TOLERANCE * self.r {
                return Some(q);
            }
            self.bounds(&q, kept.len() + 2);
            for (k, rows) in kept.iter().enumerate() {
                self.push(k + 1, rows);
            }
            self.still(kept.len() + 1, 1.0);
            self.solver.solve(&self.problem);
            let step = self.solver.solution().to_vec();
            q = self.moved(&q, &step);
        }
        let kept = self.kept_rows(&q);
        kept.iter().all(|r| r.worst() <= TOLERANCE * self.r).then_some(q)
    }

    /// A pose nearby from which the group comes further, with its rows.
    fn kicked(
        &mut self,
        group: &Group,
        q: &[f64],
        merit: f64,
        size: f64,
    ) -> Option<(Vec<f64>, Rows)> {
        let n = self.m.velocity_count();
        let of = |i: usize| match self.held[i] {
            true => 0.0,
            false => size * self.size(i) * (1.0 + 2.7 * i as f64).sin(),
        };
        let kick: Vec<f64> = (0..n).map(of).collect();
        let mut at = self.restored(self.moved(q, &kick))?;
        let mut damping = 1e-3;
        let mut rows = self.rows(group, &at);
        for _ in 0..40 {
            self.iterations += 1;
            let before = rows.merit();
            let step = self.step(&at, &rows, damping * (2.0 * before).sqrt() / self.r);
            let next = self.restored(self.moved(&at, &step));
            match next.map(|n| (self.rows(group, &n), n)) {
                Some((then, next)) if then.merit() < before => {
                    (at, rows) = (next, then);
                    damping = (damping / 4.0).max(1e-9);
                    if rows.merit() < 0.99 * merit {
                        return Some((at, rows));
                    }
                }
                _ => damping *= 4.0,
            }
        }
        None
    }
}

/// Coordinates at their limits.
fn at_limits(m: &Mechanism, q: &[f64]) -> Vec<AtLimit> {
    let mut out = vec![];
    for (j, joint) in m.joints().iter().enumerate() {
        let id = JointId::new(j);
        if !joint.kind.has_scalar_coordinates() {
            continue;
        }
        for (coordinate, (x, limit)) in
            q[m.position_range(id)].iter().zip(&joint.limits).enumerate()
        {
            let Some(l) = limit else { continue };
            let near = 1e-12 * (1.0 + x.abs());
            if *x >= l.upper - near {
                out.push(AtLimit { joint: id, coordinate, limit: l.upper });
            } else if *x <= l.lower + near {
                out.push(AtLimit { joint: id, coordinate, limit: l.lower });
            }
        }
    }
    out
}
