//! Quasi-static stepping: velocities are zero at each instant, so a step moves q by h² q̈.

use super::{
    AdaptiveCounters, AdaptiveStatus, AdaptiveStep, ErrorMeasure, Target, connection::Shape,
    layout::Work, state::AdaptiveState,
};

/// What a step left where it was.
#[derive(Default)]
struct Left {
    squares: f64,
    largest: f64,
}

/// For how many steps a joint moves at once.
#[derive(Clone, Copy)]
struct Lag {
    steps: f64,
    known: bool,
}

impl AdaptiveState<'_> {
    /// Solves at the present state, moves every computed joint by q ← q ⊞ h² q̈ with the plan's
    /// time step, and brings the coefficients up to date.
    ///
    /// Joints that [`super::AdaptiveOptions::rest_below`] keeps where they are count into the
    /// step's error. When all of them do, the mechanism is at rest: further steps to the same
    /// target cost nothing until a force or a position is set. After a solution that is not finite
    /// nothing moves.
    pub fn step(&mut self, target: &Target) -> AdaptiveStep {
        if let Some((at, mut step)) = self.rest
            && at == *target
        {
            step.result.counters = AdaptiveCounters::default();
            return step;
        }
        self.steps += 1;
        let due = self.plan.options.catch_up;
        let catches_up = due > 0 && self.steps >= self.caught_up + due as u64;
        let mut tightened = *target;
        if catches_up {
            tightened.error *= self.plan.options.catch_up_error;
        }
        let result = self.solve(&tightened);
        let mut out =
            AdaptiveStep { result, joints_moved: 0, certified_error: result.certified_error };
        let failed = [AdaptiveStatus::NotFinite, AdaptiveStatus::DependentDirections];
        if failed.contains(&result.status) {
            return out;
        }
        let left = self.move_joints(&mut out.joints_moved);
        if left.squares > 0.0 {
            out.certified_error = with_left(target.measure, &out, &left);
        }
        if catches_up {
            self.caught_up = self.steps;
        }
        self.place_moved();
        self.refresh();
        let settled = out.joints_moved == 0 && due == 0;
        if settled && result.status == AdaptiveStatus::Converged {
            self.rest = Some((*target, out));
        }
        out
    }

    /// Moves the computed joints; gives what stayed.
    fn move_joints(&mut self, moved: &mut usize) -> Left {
        let plan = self.plan;
        let h = plan.options.time_step;
        let mut left = Left::default();
        for i in 0..self.computed.len() {
            let (node, size) = self.computed[i];
            let (Work::Join { connection } | Work::Close { connection, .. }) =
                plan.layout.nodes[node as usize].work
            else {
                continue;
            };
            let c = &plan.connections[connection];
            if self.rests(connection, size) {
                left.squares += size * size;
                left.largest = left.largest.max(size);
                continue;
            }
            let lag = self.lag(connection);
            match &c.shape {
                Shape::Weld => continue,
                Shape::Hinge(x) => self.q[x.q] += h * h * self.summed(x.v, lag),
                Shape::General(g) => {
                    for part in plan.generals[*g].parts.iter().filter(|p| !p.closing) {
                        let mut v = [0.0; 6];
                        for i in 0..part.dof {
                            v[i] = h * h * self.summed(part.v + i, lag);
                        }
                        let q = &mut self.q[part.q..part.q + part.q_len];
                        part.kind.integrate(q, &v[..part.dof]);
                    }
                }
            }
            *moved += c.joints;
            self.touch(node as usize);
        }
        left
    }

    /// Steps that a joint moves for, and whether its acceleration at their beginning is known.
    fn lag(&mut self, connection: usize) -> Lag {
        if self.plan.options.catch_up == 0 {
            return Lag { steps: 1.0, known: false };
        }
        let last = std::mem::replace(&mut self.moved[connection], self.steps);
        let steps = (self.steps - last.max(self.caught_up)) as f64;
        Lag { steps, known: last >= self.caught_up }
    }

    /// Sum of an acceleration over the steps that it was left out of, on a straight line from when
    /// it was last computed; from zero if it was too small when the others last caught up.
    fn summed(&mut self, v: usize, lag: Lag) -> f64 {
        let now = self.acceleration[v];
        if lag.steps == 1.0 && self.plan.options.catch_up == 0 {
            return now;
        }
        let last = std::mem::replace(&mut self.last_acceleration[v], now);
        let last = if lag.known { last } else { 0.0 };
        lag.steps * last + 0.5 * (lag.steps + 1.0) * (now - last)
    }

    /// Whether a joint stays where it is, with hysteresis.
    fn rests(&mut self, connection: usize, size: f64) -> bool {
        let o = &self.plan.options;
        if o.rest_below == 0.0 {
            return false;
        }
        let moving = &mut self.moving[connection];
        let limit = if *moving { o.rest_below } else { o.resume_ratio * o.rest_below };
        *moving = size > limit;
        !*moving
    }

    /// New frames for all that was touched.
    fn place_moved(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
        self.dirty.sort_unstable();
        for i in 0..self.dirty.len() {
            self.place(self.dirty[i] as usize);
        }
        self.poses_changed = true;
    }
}

/// The error with what was computed but not moved.
fn with_left(measure: ErrorMeasure, out: &AdaptiveStep, left: &Left) -> f64 {
    let r = &out.result;
    let linkage = r.linkage_error.hypot(left.squares.sqrt());
    match measure {
        ErrorMeasure::AbsoluteLinkage => linkage,
        ErrorMeasure::RelativeLinkage => linkage / r.linkage_norm,
        ErrorMeasure::AbsoluteJoint => r.certified_error.max(left.largest),
        ErrorMeasure::RelativeJoint => r.certified_error.max(left.largest / r.largest_computed),
    }
}
