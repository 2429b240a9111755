//! Forces on links: those that turn with a body are constant in its frame, those fixed in the world
//! are turned into it whenever the body may have moved (\[R06\] §5.2).

use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};

use super::{
    frames::Frames,
    general::GeneralState,
    layout::NONE,
    plan::{AdaptivePlan, LinkPlace},
};
use crate::WrenchFrame;

/// A wrench at the origin of a link's frame.
#[derive(Clone, Copy, Debug)]
struct Load {
    link: usize,
    wrench: Wrench,
    frame: WrenchFrame,
    /// The next load on the same body.
    next: u32,
}

/// All forces on links.
#[derive(Clone, Debug)]
pub(super) struct BodyLoads {
    loads: Vec<Load>,
    of_link: Vec<u32>,
    first_on_body: Vec<u32>,
    /// Bodies whose forces depend on poses.
    follow_poses: Vec<u32>,
    is_following: Vec<bool>,
    /// Bodies whose forces were changed by the caller.
    pending: Vec<u32>,
    is_pending: Vec<bool>,
    /// Wrench on every body about its centre of mass, body axes.
    wrenches: Vec<Wrench>,
}

/// What has to be read to turn forces into bodies.
pub(super) struct Poses<'a> {
    pub(super) plan: &'a AdaptivePlan,
    pub(super) frames: &'a mut Frames,
    pub(super) generals: &'a mut [GeneralState],
    pub(super) q: &'a [f64],
}

impl BodyLoads {
    pub(super) fn new(plan: &AdaptivePlan) -> Self {
        let n = plan.bodies.len();
        let mut out = Self {
            loads: vec![],
            of_link: vec![NONE; plan.links.len()],
            first_on_body: vec![NONE; n],
            follow_poses: vec![],
            is_following: vec![false; n],
            pending: vec![],
            is_pending: vec![false; n],
            wrenches: vec![Wrench::ZERO; n],
        };
        out.follow_compensated(plan);
        out
    }

    fn follow_compensated(&mut self, plan: &AdaptivePlan) {
        if plan.gravity == DVec3::ZERO {
            return;
        }
        for body in (0..plan.bodies.len()).filter(|&b| plan.bodies[b].is_compensated()) {
            self.follow(body);
        }
    }

    fn follow(&mut self, body: usize) {
        if !std::mem::replace(&mut self.is_following[body], true) {
            self.follow_poses.push(body as u32);
        }
    }

    /// Sets the force on a link.
    pub(super) fn set(
        &mut self,
        plan: &AdaptivePlan,
        link: usize,
        wrench: Wrench,
        frame: WrenchFrame,
    ) {
        let (body, folded) = match plan.links[link] {
            LinkPlace::Body { body, .. } => (body, false),
            LinkPlace::Folded { general, .. } => (plan.generals[general].bodies[0], true),
        };
        match self.of_link[link] {
            NONE => {
                let next =
                    std::mem::replace(&mut self.first_on_body[body], self.loads.len() as u32);
                self.of_link[link] = self.loads.len() as u32;
                self.loads.push(Load { link, wrench, frame, next });
            }
            at => {
                let load = &mut self.loads[at as usize];
                (load.wrench, load.frame) = (wrench, frame);
            }
        }
        if folded || frame == WrenchFrame::World {
            self.follow(body);
        }
        self.change(body);
    }

    fn change(&mut self, body: usize) {
        if !std::mem::replace(&mut self.is_pending[body], true) {
            self.pending.push(body as u32);
        }
    }

    /// Takes all forces away.
    pub(super) fn clear(&mut self, plan: &AdaptivePlan) {
        for load in std::mem::take(&mut self.loads) {
            self.of_link[load.link] = NONE;
            if let LinkPlace::Body { body, .. } = plan.links[load.link] {
                self.change(body);
            } else if let LinkPlace::Folded { general, .. } = plan.links[load.link] {
                self.change(plan.generals[general].bodies[0]);
            }
        }
        self.first_on_body.fill(NONE);
        self.is_following.fill(false);
        self.follow_poses.clear();
        self.follow_compensated(plan);
    }

    /// True if the caller changed a force since the last [`BodyLoads::refresh`].
    pub(super) fn are_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Brings the wrenches on bodies up to date; calls `changed` with every body whose wrench is
    /// another one, and with every general connection whose carried force may be.
    pub(super) fn refresh(
        &mut self,
        mut poses: Poses<'_>,
        mut changed: impl FnMut(Change, &[Wrench]),
    ) {
        for list in 0..2 {
            for i in 0..if list == 0 { self.follow_poses.len() } else { self.pending.len() } {
                let body = if list == 0 { self.follow_poses[i] } else { self.pending[i] } as usize;
                if list == 1 {
                    self.is_pending[body] = false;
                    if self.is_following[body] {
                        continue;
                    }
                }
                let wrench = self.on_body(body, &mut poses, &mut changed);
                if wrench != self.wrenches[body] {
                    self.wrenches[body] = wrench;
                    changed(Change::Body(body), &self.wrenches);
                }
            }
        }
        self.pending.clear();
    }

    /// The sum of all forces on a body.
    fn on_body(
        &self,
        body: usize,
        p: &mut Poses<'_>,
        changed: &mut impl FnMut(Change, &[Wrench]),
    ) -> Wrench {
        let b = &p.plan.bodies[body];
        let mut sum = Wrench::ZERO;
        let mut to_body = None;
        if self.is_following[body] {
            // The ground's frame is the world's.
            let world = match b.leaf {
                Some(leaf) => p.frames.shared_world_from_node(&p.plan.layout, leaf),
                None => Pose::IDENTITY,
            };
            let rotation = (world.rotation * b.leaf_from_body.rotation).conjugate();
            if b.is_compensated() {
                sum = b.compensation(rotation * p.plan.gravity);
            }
            to_body = Some(rotation);
        }
        self.clear_carried(body, p);
        let mut at = self.first_on_body[body];
        while at != NONE {
            let load = &self.loads[at as usize];
            let pose = match p.plan.links[load.link] {
                LinkPlace::Body { pose, .. } => pose,
                LinkPlace::Folded { general, part, pose } => {
                    let g = &p.plan.generals[general];
                    let in_a = g.far_in_a(part, p.q, &p.generals[general]) * pose;
                    p.plan.connections[g.connection].handles[0] * in_a
                }
            };
            let turn = match (load.frame, to_body) {
                (WrenchFrame::World, Some(r)) => r,
                _ => pose.rotation,
            };
            let (force, torque) = (turn * load.wrench.force, turn * load.wrench.torque);
            let arm = pose.translation - b.center;
            sum += Wrench::new(force, torque + arm.cross(force));
            if let LinkPlace::Folded { general, part, .. } = p.plan.links[load.link] {
                carry(p, general, part, Wrench::new(force, torque), &pose);
                changed(Change::General(general), &self.wrenches);
            }
            at = load.next;
        }
        sum
    }

    fn clear_carried(&self, body: usize, p: &mut Poses<'_>) {
        let mut at = self.first_on_body[body];
        while at != NONE {
            let load = &self.loads[at as usize];
            if let LinkPlace::Folded { general, .. } = p.plan.links[load.link] {
                p.generals[general].carried = [0.0; 6];
            }
            at = load.next;
        }
    }
}

/// What a refresh found different.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Body(usize),
    General(usize),
}

/// A force on a massless link acts on the joints between it and side A: Q₁ + S₁ᵀf (EQUATIONS 1.7).
/// `w`: body axes, at the origin of `pose`, which is in the body.
fn carry(p: &mut Poses<'_>, general: usize, part: usize, w: Wrench, pose: &Pose) {
    let g = &p.plan.generals[general];
    let handle = p.plan.connections[g.connection].handles[0];
    let state = &mut p.generals[general];
    let body_from_b = handle * state.pose;
    let arm = pose.translation - body_from_b.translation;
    let back = body_from_b.rotation.conjugate();
    let at_b = Wrench::new(back * w.force, back * (w.torque + arm.cross(w.force))).to_array();
    let last = &g.parts[part];
    for i in 0..last.column + last.dof {
        state.carried[i] += crate::dca::kernel::dot(&state.columns[i], &at_b);
    }
}
