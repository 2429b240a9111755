//! Loop equations and couplings as rows over the twists of slots.
//!
//! A closing joint forbids wᵀρ with ρ the child's twist against the parent, w the wrenches that do
//! no work on the joint's own motion, all in the joint's frame on the child. A coordinate is the
//! twist of its slot against the inner one, taken with the wrench dual to its column, so that
//! couplings are rows of the same kind.

use forks_mechanism::{
    Bushing, Combination, JointId, JointKind, LinkId, Mechanism,
    kinematics::loops,
    lie::{
        Adjoint, Pose, Twist, Wrench,
        glam::{DMat3, DVec3},
        so3::wxyz_from_quaternion,
    },
    linalg::Matrix,
};

use super::{motion::Motion, plan::SweepPlan, shift::Shift};
use crate::{
    cables::stiff_row_count,
    constrained::{nearest_turn, wrench_bases},
    tree::compile::Carrier,
};

/// Rows that come from one closing joint or coupling.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) source: Source,
    /// The slots that the rows are over; the ground is none.
    pub(super) slots: Vec<u32>,
    pub(super) first_row: usize,
    pub(super) rows: usize,
    /// Loop equations and couplings; others are springs and dampers.
    pub(super) exact: bool,
    /// Where the coefficients start: row by row, slot by slot.
    pub(super) first: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Closing(usize),
    Coupling(usize),
    /// Spring, damper and rotor of a closing joint.
    ClosingTerms(usize),
    Combination(usize),
    Bushing(usize),
    Cable(usize),
}

/// A closing joint: what does not change.
#[derive(Clone, Debug)]
pub(super) struct ClosingJoint {
    pub(super) joint: JointId,
    pub(super) parent: usize,
    pub(super) child: usize,
    parent_from_joint: Pose,
    pub(super) child_from_joint: Pose,
    /// Forbidden and own wrenches turn with the joint.
    varies: bool,
    /// In the joint's frame on the child.
    forbidden: Vec<Wrench>,
    pub(super) own: Vec<Wrench>,
}

/// A frame that is fixed in a child, seen from the places of two slots: from world axes at their
/// origins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) from_child: Adjoint,
    pub(super) from_parent: Adjoint,
}

impl Seen {
    const NONE: Self = Self { from_child: Adjoint::IDENTITY, from_parent: Adjoint::IDENTITY };

    /// A frame at a world pose.
    fn new(motion: &Motion, frame: &Pose, parent: usize, child: usize) -> Self {
        let rotation = DMat3::from_quat(frame.rotation);
        let from = |slot: usize| {
            let translation = frame.translation - motion.places[slot].origin;
            Adjoint { rotation, translation }
        };
        Self { from_child: from(child), from_parent: from(parent) }
    }
}

/// A bushing, as a closing joint that forbids nothing.
#[derive(Clone, Debug)]
pub(super) struct BushingPlace {
    pub(super) parent: usize,
    pub(super) child: usize,
    child_from_frame: Pose,
    pub(super) seen: Seen,
}

/// All rows at a pose.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(super) groups: Vec<Group>,
    pub(super) closings: Vec<ClosingJoint>,
    /// The closing joints' frames.
    pub(super) places: Vec<Seen>,
    pub(super) bushings: Vec<BushingPlace>,
    /// The links of every cable.
    cable_links: Vec<Vec<LinkId>>,
    /// World poses of links that bushings or cables hold.
    pub(super) poses: Vec<Pose>,
    pub(super) coefficients: Vec<Wrench>,
    /// −1/κ of every row, which is scaled to make it one: 0 for exact rows.
    pub(super) diagonal: Vec<f64>,
    /// Residuals of the equations, in units of the rows.
    pub(super) gaps: Vec<f64>,
    /// Positions of all joints.
    pub(super) q: Vec<f64>,
    /// Unit of length of the equations.
    size: f64,
}

impl Rows {
    pub(super) fn new(m: &Mechanism, plan: &SweepPlan, size: f64) -> Self {
        let q = m.start_positions();
        let closings: Vec<ClosingJoint> = m
            .forest()
            .closures()
            .iter()
            .map(|&id| ClosingJoint::new(m, plan, id, &q, size))
            .collect();
        let has_ties = !m.bushings().is_empty() || m.cables().iter().any(|c| !c.is_idle());
        let mut out = Self {
            groups: Vec::new(),
            places: vec![Seen::NONE; closings.len()],
            closings,
            bushings: m.bushings().iter().map(|b| BushingPlace::new(plan, b)).collect(),
            cable_links: Vec::with_capacity(m.cables().len()),
            poses: vec![Pose::IDENTITY; if has_ties { m.links().len() } else { 0 }],
            coefficients: Vec::new(),
            diagonal: Vec::new(),
            gaps: Vec::new(),
            q,
            size,
        };
        for k in 0..out.closings.len() {
            let c = &out.closings[k];
            let (slots, rows) = (vec![c.parent, c.child], c.forbidden.len());
            let own = has_terms(m, c.joint).then(|| (slots.clone(), c.own.len()));
            out.add_group(Source::Closing(k), slots, rows);
            if let Some((slots, rows)) = own {
                out.add_group(Source::ClosingTerms(k), slots, rows);
            }
        }
        for (k, c) in m.couplings().iter().enumerate() {
            let terms = c.terms.iter().flat_map(|t| &t.combination.terms);
            let slots = terms.flat_map(|(c, _)| out.slots_of(m, plan, m.velocity_index(*c)));
            let slots = slots.collect();
            out.add_group(Source::Coupling(k), slots, 1);
        }
        for (k, s) in m.combination_springs().iter().enumerate() {
            let terms = s.combination.terms.iter();
            let slots = terms.flat_map(|(c, _)| out.slots_of(m, plan, m.velocity_index(*c)));
            let slots = slots.collect();
            out.add_group(Source::Combination(k), slots, 1);
        }
        for k in 0..out.bushings.len() {
            let b = &out.bushings[k];
            let slots = vec![b.parent, b.child];
            out.add_group(Source::Bushing(k), slots, 6);
        }
        for (k, c) in m.cables().iter().enumerate() {
            if c.is_idle() {
                out.cable_links.push(vec![]);
                continue;
            }
            let links = c.links();
            let slots = links.iter().map(|l| plan.slot(l.index())).collect();
            out.add_group(Source::Cable(k), slots, stiff_row_count(c));
            out.cable_links.push(links);
        }
        out
    }

    /// True if there is nothing that ties slots together.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The slots whose twists make up a velocity coordinate.
    fn slots_of(&self, m: &Mechanism, plan: &SweepPlan, velocity: usize) -> [usize; 2] {
        let n = m.tree_velocity_count();
        if velocity < n {
            let slot = plan.tree.slot_of_velocity(velocity);
            return [slot, plan.tree.slots[slot].inner as usize];
        }
        let (k, _) = closing_of(m, velocity);
        [self.closings[k].parent, self.closings[k].child]
    }

    fn add_group(&mut self, source: Source, mut slots: Vec<usize>, rows: usize) {
        slots.sort_unstable();
        slots.dedup();
        slots.retain(|&s| s != 0);
        let slots: Vec<u32> = slots.into_iter().map(|s| s as u32).collect();
        let (first_row, first) = (self.gaps.len(), self.coefficients.len());
        self.coefficients.resize(first + rows * slots.len(), Wrench::ZERO);
        self.gaps.resize(first_row + rows, 0.0);
        let exact = matches!(source, Source::Closing(_) | Source::Coupling(_));
        self.diagonal.resize(first_row + rows, if exact { 0.0 } else { -1.0 });
        self.groups.push(Group { source, slots, first_row, rows, exact, first });
    }

    pub(super) fn count(&self) -> usize {
        self.gaps.len()
    }

    /// The coefficients of a group's row, slot by slot.
    pub(super) fn row(&self, group: usize, row: usize) -> &[Wrench] {
        let g = &self.groups[group];
        let n = g.slots.len();
        &self.coefficients[g.first + (row - g.first_row) * n..][..n]
    }

    /// Largest residual.
    pub(super) fn gap(&self) -> f64 {
        self.gaps.iter().fold(0.0, |m, g| if g.is_nan() { f64::NAN } else { m.max(g.abs()) })
    }

    /// Recomputes everything at a pose of the tree; closing joints stay within half a turn of where
    /// they were.
    pub(super) fn update(&mut self, m: &Mechanism, plan: &SweepPlan, motion: &Motion, q: &[f64]) {
        self.q[..q.len()].copy_from_slice(q);
        for group in 0..self.groups.len() {
            match self.groups[group].source {
                Source::Closing(k) => self.update_closing(m, motion, group, k),
                Source::Coupling(k) => self.update_coupling(m, plan, motion, group, k),
                Source::Bushing(k) => self.update_bushing(m, plan, motion, k),
                Source::Cable(k) => {
                    for l in &self.cable_links[k] {
                        self.poses[l.index()] = motion.pose(plan, l.index());
                    }
                }
                Source::ClosingTerms(_) | Source::Combination(_) => {}
            }
        }
    }

    fn update_closing(&mut self, m: &Mechanism, motion: &Motion, group: usize, k: usize) {
        let c = &mut self.closings[k];
        let j = m.joint(c.joint);
        let frame = motion.slot_pose(c.child) * c.child_from_joint;
        let moved = (motion.slot_pose(c.parent) * c.parent_from_joint).inverse() * frame;
        let range = m.position_range(c.joint);
        let gap = gap(j, &moved, &mut self.q[range.clone()]);
        if c.varies {
            c.turn(m, &self.q[range], self.size);
        }
        let seen = Seen::new(motion, &frame, c.parent, c.child);
        self.places[k] = seen;
        let (g, c) = (&self.groups[group], &self.closings[k]);
        for (i, w) in c.forbidden.iter().enumerate() {
            self.gaps[g.first_row + i] = gap.dot(*w);
            let row = &mut self.coefficients[g.first + i * g.slots.len()..][..g.slots.len()];
            row.fill(Wrench::ZERO);
            // The same axes on both sides.
            let r = &seen.from_child.rotation;
            let w = Wrench { force: *r * w.force, torque: *r * w.torque };
            let at = |a: &Adjoint| Shift(a.translation).wrench_inward(&w);
            add(row, &g.slots, c.child, at(&seen.from_child));
            add(row, &g.slots, c.parent, -at(&seen.from_parent));
        }
    }

    fn update_bushing(&mut self, m: &Mechanism, plan: &SweepPlan, motion: &Motion, k: usize) {
        let (b, place) = (&m.bushings()[k], &mut self.bushings[k]);
        for link in [b.link_a.index(), b.link_b.index()] {
            self.poses[link] = motion.pose(plan, link);
        }
        let frame = motion.slot_pose(place.child) * place.child_from_frame;
        place.seen = Seen::new(motion, &frame, place.parent, place.child);
    }

    /// g = Σ p(ℓ): row Σ p′ a.
    fn update_coupling(
        &mut self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        group: usize,
        k: usize,
    ) {
        let g = &self.groups[group];
        let mut row = core::mem::take(&mut self.coefficients);
        let own = &mut row[g.first..][..g.slots.len()];
        own.fill(Wrench::ZERO);
        let mut value = 0.0;
        for t in &m.couplings()[k].terms {
            let (p, slope, _) = t.evaluate(loops::combination_value(m, &t.combination, &self.q));
            value += p;
            self.add_combination(m, plan, motion, &t.combination, slope, &g.slots, own);
        }
        self.gaps[g.first_row] = value;
        self.coefficients = row;
    }

    /// Adds s·ℓ to a row over `slots`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn add_combination(
        &self,
        m: &Mechanism,
        plan: &SweepPlan,
        motion: &Motion,
        l: &Combination,
        s: f64,
        slots: &[u32],
        row: &mut [Wrench],
    ) {
        let n = m.tree_velocity_count();
        for (c, a) in &l.terms {
            let k = m.velocity_index(*c);
            if k < n {
                let slot = plan.tree.slot_of_velocity(k);
                let dual = tree_dual(plan, motion, slot, k) * (s * a);
                add(row, slots, slot, dual);
                let carried = motion.places[slot].offset.wrench_inward(&dual);
                add(row, slots, plan.tree.slots[slot].inner as usize, -carried);
            } else {
                let (k, coordinate) = closing_of(m, k);
                let c = &self.closings[k];
                let w = c.own[coordinate] * (s * a);
                add(row, slots, c.child, self.places[k].from_child.apply_to_wrench(w));
                let on_parent = self.places[k].from_parent.apply_to_wrench(w);
                add(row, slots, c.parent, -on_parent);
            }
        }
    }
}

impl BushingPlace {
    fn new(plan: &SweepPlan, b: &Bushing) -> Self {
        let (parent, child) = (plan.slot(b.link_a.index()), plan.slot(b.link_b.index()));
        Self {
            parent,
            child,
            child_from_frame: plan.joints[child].slot_from_link * b.b_from_bushing,
            seen: Seen::NONE,
        }
    }
}

/// True if a closing joint has a spring, damper or rotor.
fn has_terms(m: &Mechanism, id: JointId) -> bool {
    let j = m.joint(id);
    j.spring.is_some()
        || j.has_limit_springs()
        || j.damping.as_slice().iter().chain(&j.armature).any(|x| *x != 0.0)
}

impl ClosingJoint {
    fn new(m: &Mechanism, plan: &SweepPlan, id: JointId, q: &[f64], size: f64) -> Self {
        let j = m.joint(id);
        let slot_from_link = |link: usize| plan.joints[plan.slot(link)].slot_from_link;
        let (p, c) = (j.parent.index(), j.child.index());
        let mut out = Self {
            joint: id,
            parent: plan.slot(p),
            child: plan.slot(c),
            parent_from_joint: slot_from_link(p) * j.parent_from_joint,
            child_from_joint: slot_from_link(c) * j.child_from_joint,
            varies: match &j.kind {
                JointKind::Universal { .. } => true,
                JointKind::General { subspace } => subspace.len() > 1,
                _ => false,
            },
            forbidden: Vec::new(),
            own: Vec::new(),
        };
        out.turn(m, &q[m.position_range(id)], size);
        out
    }

    /// The wrenches at the joint's positions.
    fn turn(&mut self, m: &Mechanism, q: &[f64], size: f64) {
        let j = m.joint(self.joint);
        let to_joint = j.child_from_joint.adjoint();
        let (own, forbidden) = wrench_bases(j, q, size);
        let in_joint = |w: &Wrench| to_joint.transpose_apply(*w);
        self.own = own.iter().map(in_joint).collect();
        self.forbidden = forbidden.iter().map(in_joint).collect();
    }
}

/// The gap in the joint's frame on the child, and the closest positions, from the motion of that
/// frame in the one on the parent.
fn gap(j: &forks_mechanism::Joint, moved: &Pose, q: &mut [f64]) -> Twist {
    let reference = |i: usize| j.reference.get(i).copied().unwrap_or(0.0);
    match &j.kind {
        JointKind::Spherical => {
            let wxyz = wxyz_from_quaternion(moved.rotation);
            (0..4).for_each(|i| q[i] = wxyz[i] + reference(i));
            let linear = moved.rotation.conjugate() * moved.translation;
            Twist { linear, angular: Default::default() }
        }
        JointKind::Fixed => moved.log(),
        JointKind::Revolute { axis } => {
            let r = moved.rotation;
            let sine = r.x * axis.x + r.y * axis.y + r.z * axis.z;
            let angle = 2.0 * sine.atan2(r.w);
            q[0] = nearest_turn(angle + reference(0), q[0]);
            let at = [q[0] - reference(0)];
            j.kind.motion(&at).twist_to(moved)
        }
        kind => {
            let near: [f64; 7] = core::array::from_fn(|i| q.get(i).copied().unwrap_or(0.0));
            let closest = kind.closest_positions(moved);
            q.iter_mut().zip(closest).enumerate().for_each(|(i, (q, c))| *q = c + reference(i));
            let angle = match kind {
                JointKind::Cylindrical { .. } => Some(1),
                JointKind::Planar => Some(2),
                _ => None,
            };
            if let Some(i) = angle {
                q[i] = nearest_turn(q[i], near[i]);
            }
            let at: [f64; 7] = core::array::from_fn(|i| q.get(i).map_or(0.0, |q| q - reference(i)));
            kind.motion(&at[..q.len()]).twist_to(moved)
        }
    }
}

/// The wrench dual to a tree coordinate's column, at its slot's place.
fn tree_dual(plan: &SweepPlan, motion: &Motion, slot: usize, velocity: usize) -> Wrench {
    let s = &plan.tree.slots[slot];
    match s.carrier {
        Carrier::Prismatic => Wrench::new(motion.places[slot].axis(), DVec3::ZERO),
        Carrier::Multi(k) => {
            let columns = motion.multi[k as usize].own;
            let columns: Vec<[f64; 6]> = columns.as_slice().iter().map(|c| c.to_array()).collect();
            let d = columns.len();
            let dot = |a: &[f64; 6], b: &[f64; 6]| (0..6).map(|i| a[i] * b[i]).sum::<f64>();
            let gram = Matrix::from_fn(d, d, |i, k| dot(&columns[i], &columns[k]));
            let unit =
                Matrix::from_fn(
                    d,
                    1,
                    |i, _| {
                        if i == velocity - s.velocity as usize { 1.0 } else { 0.0 }
                    },
                );
            let x = forks_mechanism::linalg::dense::lu_solve(&gram, &unit);
            let sum = |i: usize| (0..d).map(|k| columns[k][i] * x[(k, 0)]).sum();
            motion.turned(slot, &Wrench::from_array(core::array::from_fn(sum)))
        }
        _ => Wrench::new(DVec3::ZERO, motion.places[slot].axis()),
    }
}

/// Which closing joint has a velocity coordinate, and which of its coordinates it is.
fn closing_of(m: &Mechanism, velocity: usize) -> (usize, usize) {
    let closures = m.forest().closures();
    let at = closures.iter().position(|&id| m.velocity_range(id).contains(&velocity));
    let k = at.expect("coordinates beyond the tree's belong to closing joints");
    (k, velocity - m.velocity_range(closures[k]).start)
}

pub(super) fn add(row: &mut [Wrench], slots: &[u32], slot: usize, w: Wrench) {
    if let Some(i) = slots.iter().position(|&s| s as usize == slot) {
        row[i] += w;
    }
}
