//! Partial back-substitution with a priority queue (\[R06\] §4.3, corrected by EQUATIONS 1.3).

use std::time::Instant;

use super::{
    AdaptiveCounters, AdaptiveResult, AdaptiveStatus, ErrorMeasure, Target,
    connection::Shape,
    layout::{NONE, Work},
    projection::Projection,
    state::AdaptiveState,
    total::norm,
};
use crate::dca::kernel::Vec6;

/// What is known while nodes are opened.
struct Progress {
    /// √A of the whole mechanism.
    norm: f64,
    largest: f64,
    /// Nodes with a larger √A have to be opened whatever else is, in any order.
    certain: f64,
    finite: bool,
    counters: AdaptiveCounters,
}

impl AdaptiveState<'_> {
    /// Computes the joint accelerations that matter until the error is at most `target.error` or
    /// the budget is spent; all others count as zero. Coefficients are brought up to date first.
    ///
    /// The certificate: in exact arithmetic the true error is at most
    /// [`AdaptiveResult::certified_error`]. Rounding adds what a full solution has as well: about
    /// 1e-14 of the largest acceleration in trees with bounded mass ratios, and up to 1e-9 with
    /// many loops (EQUATIONS 1.4, 1.5). A deadline is looked at before every joint; bringing
    /// coefficients up to date is not interrupted. With `target.error` 0 the result is that of
    /// [`crate::dca::dca()`] to rounding.
    pub fn solve(&mut self, target: &Target) -> AdaptiveResult {
        self.refresh();
        self.forget_accelerations();
        let mut progress = Progress {
            norm: 0.0,
            largest: 0.0,
            certain: f64::INFINITY,
            finite: self.dependent == 0,
            counters: AdaptiveCounters {
                nodes_updated: std::mem::take(&mut self.updated),
                ..AdaptiveCounters::default()
            },
        };
        let status = self.open_nodes(target, &mut progress);
        self.report(target, status, &progress)
    }

    /// Zeros for what the last solution computed.
    fn forget_accelerations(&mut self) {
        for i in 0..self.computed.len() {
            let node = self.computed[i].0 as usize;
            self.for_coordinates(node, |a, _| *a = 0.0);
        }
        self.computed.clear();
    }

    fn open_nodes(&mut self, target: &Target, p: &mut Progress) -> AdaptiveStatus {
        let layout = &self.plan.layout;
        let Some(root) = layout.nodes.last() else { return AdaptiveStatus::Converged };
        p.norm = norm(root, &self.coefficients.total[root.total..], &self.forces[root.forces..]);
        self.queue.start(p.norm);
        if self.dependent > 0 {
            return AdaptiveStatus::DependentDirections;
        }
        p.certain = certain(target, p.norm);
        self.put(layout.nodes.len() as u32 - 1, p.norm, p);
        self.open_certain(p);
        let budget = target.max_joints.unwrap_or(usize::MAX);
        while p.finite && !self.is_reached(target, p) {
            let late = || target.deadline.is_some_and(|d| Instant::now() >= d);
            if p.counters.joints_computed >= budget || late() {
                return AdaptiveStatus::BudgetSpent;
            }
            let Some(node) = self.queue.pop() else { break };
            self.open(node as usize, p);
            self.open_certain(p);
        }
        if p.finite { AdaptiveStatus::Converged } else { AdaptiveStatus::NotFinite }
    }

    /// A node to be opened: at once if that is certain, else when its turn comes.
    fn put(&mut self, node: u32, norm: f64, p: &mut Progress) {
        p.finite &= norm.is_finite();
        if norm > p.certain {
            self.stack.push(node);
        } else if norm != 0.0 {
            self.queue.push(norm, node);
        }
    }

    /// Opens what has to be opened depth first, which is the order of the nodes in memory.
    fn open_certain(&mut self, p: &mut Progress) {
        while let Some(node) = self.stack.pop() {
            if p.finite {
                self.open(node as usize, p);
            }
        }
    }

    /// True if the error is small enough by the bounds of EQUATIONS 1.3. Written so that NaN is
    /// not.
    fn is_reached(&self, target: &Target, p: &Progress) -> bool {
        let error = if target.error > 0.0 { target.error } else { 0.0 };
        let top = self.queue.top();
        if top == 0.0 {
            return true;
        }
        match target.measure {
            ErrorMeasure::AbsoluteLinkage => {
                self.queue.running() * p.norm <= error && self.queue.residual() * p.norm <= error
            }
            ErrorMeasure::RelativeLinkage => {
                self.queue.running() <= error && self.queue.residual() <= error
            }
            ErrorMeasure::AbsoluteJoint => top <= error,
            ErrorMeasure::RelativeJoint => top <= error * p.largest,
        }
    }

    /// Acceleration of a node's joint, forces on its children, and their place in the queue.
    fn open(&mut self, node: usize, p: &mut Progress) {
        p.counters.nodes_visited += 1;
        let size = self.pass_down(node, p);
        self.computed.push((node as u32, size));
        p.largest = p.largest.max(size);
        p.finite &= size.is_finite();
        for child in self.plan.layout.nodes[node].children {
            if child == NONE {
                continue;
            }
            let c = &self.plan.layout.nodes[child as usize];
            // Nothing moves inside a leaf.
            if c.rows == 0 {
                continue;
            }
            let total = &self.coefficients.total[c.total..];
            let below = norm(c, total, &self.forces[c.forces..]);
            self.put(child, below, p);
        }
    }

    /// \[R06\] Eq. 4 and 5. Gives the norm of the weighted acceleration.
    fn pass_down(&mut self, node: usize, p: &mut Progress) -> f64 {
        let plan = self.plan;
        let n = &plan.layout.nodes[node];
        let (children, own) = self.forces.split_at_mut(n.forces);
        let own = &own[..n.stride];
        for (at, k) in plan.layout.kept_of(n).iter().enumerate() {
            let c = &plan.layout.nodes[n.children[k.child] as usize];
            let to = c.forces + 6 * k.handle;
            children[to..to + 6].copy_from_slice(&own[6 * at..6 * at + 6]);
        }
        let (connection, sides) = match n.work {
            Work::Leaf { .. } | Work::Beside => return 0.0,
            Work::Join { connection } => (connection, [Some((0, 0)), Some((1, 0))]),
            Work::Close { connection, sides } => (connection, sides.map(|h| h.map(|h| (0, h)))),
        };
        let response = &self.coefficients.response[n.response..n.response + 6 * n.stride];
        let mut x = apply(n.stride, response, own);
        let c = &plan.connections[connection];
        p.counters.joints_computed += c.joints;
        let (projections, size) = match &c.shape {
            Shape::Hinge(h) => {
                let q = x[5];
                self.acceleration[h.v] = q;
                let load = self.tau[h.v] - h.stiffness * (self.q[h.q] - h.rest);
                x[5] = load - h.implicit * q;
                let turn = self.turns[connection].projection();
                ([Projection::Identity, turn], (h.weight * q).abs())
            }
            Shape::Weld => ([Projection::Identity; 2], 0.0),
            Shape::General(g) => {
                let (general, state) = (&plan.generals[*g], &self.generals[*g]);
                let mut sum = 0.0;
                let k = 6 - c.dof;
                let q: Vec6 = std::array::from_fn(|i| if i < c.dof { x[k + i] } else { 0.0 });
                for part in &general.parts {
                    for i in 0..part.dof {
                        let (at, w) = (part.column + i, general.weights[part.column + i]);
                        self.acceleration[part.v + i] = q[at];
                        sum += (w * q[at]) * (w * q[at]);
                    }
                }
                for i in 0..c.dof {
                    let stiff: f64 = (0..c.dof).map(|j| general.implicit[i][j] * q[j]).sum();
                    x[k + i] = state.load[i] - stiff;
                }
                let [a, b] = &state.sides;
                ([Projection::Full(a), Projection::Full(b)], sum.sqrt())
            }
        };
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some((child, handle)) = sides[side] {
                let c = &plan.layout.nodes[n.children[child] as usize];
                let f = projections[side].force(&x);
                let to = c.forces + 6 * handle;
                for i in 0..6 {
                    children[to + i] = sign * f[i];
                }
            }
        }
        size
    }

    /// Calls `f` with the acceleration of every coordinate of a node's joint and its index.
    pub(super) fn for_coordinates(&mut self, node: usize, mut f: impl FnMut(&mut f64, usize)) {
        let plan = self.plan;
        let (Work::Join { connection } | Work::Close { connection, .. }) =
            plan.layout.nodes[node].work
        else {
            return;
        };
        match &plan.connections[connection].shape {
            Shape::Hinge(h) => f(&mut self.acceleration[h.v], h.v),
            Shape::Weld => {}
            Shape::General(g) => {
                for part in &plan.generals[*g].parts {
                    (part.v..part.v + part.dof).for_each(|v| f(&mut self.acceleration[v], v));
                }
            }
        }
    }

    fn report(&self, target: &Target, status: AdaptiveStatus, p: &Progress) -> AdaptiveResult {
        let (mut certified, mut linkage, mut size) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        if p.finite {
            let (top, relative) = (self.queue.top(), self.queue.residual());
            linkage = relative * p.norm;
            size = p.norm;
            certified = match target.measure {
                ErrorMeasure::AbsoluteLinkage => linkage,
                ErrorMeasure::RelativeLinkage => relative,
                ErrorMeasure::AbsoluteJoint => top,
                ErrorMeasure::RelativeJoint if top == 0.0 => 0.0,
                ErrorMeasure::RelativeJoint => top / p.largest,
            };
        }
        AdaptiveResult {
            status,
            certified_error: certified,
            linkage_error: linkage,
            linkage_norm: size,
            largest_computed: if p.finite { p.largest } else { f64::INFINITY },
            counters: p.counters,
        }
    }
}

/// √A above which a node has to be opened in any case: alone it is more than the error. With a
/// budget the largest go first, and nothing is certain.
fn certain(target: &Target, norm: f64) -> f64 {
    if target.max_joints.is_some() || target.deadline.is_some() {
        return f64::INFINITY;
    }
    let error = if target.error > 0.0 { target.error } else { 0.0 };
    match target.measure {
        ErrorMeasure::AbsoluteLinkage | ErrorMeasure::AbsoluteJoint => error,
        // The largest acceleration is at most the norm.
        ErrorMeasure::RelativeLinkage | ErrorMeasure::RelativeJoint => error * norm,
    }
}

/// Six rows times φ.
#[inline]
fn apply(s: usize, response: &[f64], phi: &[f64]) -> Vec6 {
    #[inline(always)]
    fn of(s: usize, response: &[f64], phi: &[f64]) -> Vec6 {
        let phi = &phi[..s];
        let mut out = [0.0; 6];
        for (x, row) in out.iter_mut().zip(response.chunks_exact(s)) {
            let (mut even, mut odd) = (0.0, 0.0);
            for (x, y) in row.chunks_exact(2).zip(phi.chunks_exact(2)) {
                even += x[0] * y[0];
                odd += x[1] * y[1];
            }
            *x = even + odd;
        }
        out
    }
    match s {
        14 => of(14, response, phi),
        8 => of(8, response, phi),
        s => of(s, response, phi),
    }
}
