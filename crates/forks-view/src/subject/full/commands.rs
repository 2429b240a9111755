//! Commands that bring a point of a link to a place: direct control (forks-control).
//!
//! Before every step commands are found under which, at its end, the point goes towards its place
//! as a critically damped spring would take it there. Rates of joints count a little beside that
//! (damped least squares): where a mechanism is stretched, they stay bounded and it comes as near
//! as it can, and what the point leaves open stays where it is. Gravity, springs and loads are part
//! of the step that is asked, so that nothing sags.

use std::sync::Arc;

use forks_control::{
    controller::Controller,
    objective::Objective,
    plant::{ForceCommand, ImplicitPlant},
    task::{Frame, Goal, Task},
};
use forks_direct::single_joints;
use forks_dynamics::{
    AppliedWrench, WrenchFrame,
    integrate::{ImpulseStepper, SimulationState},
};
use forks_mechanism::{
    JointId, JointKind, LinkId, Mechanism,
    lie::{Pose, Wrench, glam::DVec3},
};

/// How fast the point follows, 1/s: k = ω², d = 2 ω.
const RATE: f64 = 25.0;

/// A rate of 1 rad/s counts as much as the mechanism's radius times this, in m/s: a direction is
/// followed to a part 1/400 or better where a joint moves the point by the radius or more.
const DAMPED: f64 = 0.05;

/// Places further away than this part of the radius are gone to as if they were so far.
const FAR: f64 = 0.2;

/// What is commanded, and what was found last.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    mechanism: Arc<Mechanism>,
    commands: Vec<ForceCommand>,
    controller: Controller,
    /// Rates that count a little.
    damped: Vec<Task>,
    radius: f64,
    /// Of the commands on the velocities of the tree, for the next step.
    pub(super) forces: Vec<f64>,
}

impl Commands {
    /// Of the servos, given by what a unit of each exerts; of all joints but free ones where there
    /// are none.
    ///
    /// # Errors
    /// There is nothing to command.
    pub(super) fn new(mechanism: Arc<Mechanism>, servos: &[ForceCommand]) -> Result<Self, String> {
        let m = &*mechanism;
        let mut commands = servos.to_vec();
        if commands.is_empty() {
            let joints = m.forest().edges().iter().map(|e| e.joint);
            let moving = joints.filter(|j| m.joint(*j).kind != JointKind::Free);
            let mut all: Vec<usize> = moving.flat_map(|j| m.velocity_range(j)).collect();
            all.sort_unstable();
            commands = all.into_iter().map(|c| vec![(c, 1.0)]).collect();
        }
        if commands.is_empty() {
            return Err("there is no joint and no servo to command".into());
        }
        let controller = Controller::new(vec![(f64::NEG_INFINITY, f64::INFINITY); commands.len()])
            .minimise(Objective::kinetic_energy());
        let radius = m.bounding_radius(&m.link_poses(&m.start_positions()));
        let radius = if radius > 0.0 { radius } else { 1.0 };
        let (damped, forces) = (damped(m, radius), vec![0.0; m.tree_velocity_count()]);
        Ok(Self { mechanism, commands, controller, damped, radius, forces })
    }

    /// Finds the commands of a step of `h` (s) that take a frame's origin towards a place, under
    /// forces on the tree's velocities and wrenches on all links (body frames).
    ///
    /// # Errors
    /// Why there are none, in words.
    pub(super) fn decide(
        &mut self,
        state: &SimulationState,
        tau: &[f64],
        wrenches: &[Wrench],
        h: f64,
        (frame, place): (Frame, DVec3),
    ) -> Result<(), String> {
        let m = Arc::clone(&self.mechanism);
        let mut steady = tau.to_vec();
        steady.resize(m.velocity_count(), 0.0);
        let stepper = ImpulseStepper::new(m, &state.q, &state.v, true, h)
            .map_err(|status| format!("no commands: {}", status.name()))?;
        let acting = wrenches.iter().enumerate().filter(|(_, w)| **w != Wrench::ZERO);
        let loads = acting.map(|(link, wrench)| AppliedWrench {
            link: LinkId::new(link),
            link_from_point: Pose::IDENTITY,
            wrench: *wrench,
            frame: WrenchFrame::Body,
        });
        let said = |e: &dyn std::fmt::Display| format!("no commands: {e}");
        let mut plant =
            ImplicitPlant::of(stepper, h, self.commands.clone(), &steady, loads.collect())
                .map_err(|e| said(&e))?;
        let now =
            (plant.stepper().link_poses()[frame.link.index()] * frame.link_from_frame).translation;
        let near = now + (place - now).clamp_length_max(FAR * self.radius);
        let goal = Goal::Position(frame, near);
        let hand = Task { stiffness: RATE * RATE, damping: 2.0 * RATE, ..Task::new("hand", goal) };
        let mut tasks = vec![hand];
        // At the end of the step they shall be none.
        tasks.extend(self.damped.iter().map(|t| Task { damping: 1.0 / h, ..t.clone() }));
        let found = self.controller.solve(&mut plant, &tasks).map_err(|e| said(&e))?;
        if !found.commands.iter().all(|z| z.is_finite()) {
            return Err("no commands: they overflow".into());
        }
        self.forces.fill(0.0);
        for (command, z) in self.commands.iter().zip(&found.commands) {
            command.iter().for_each(|(c, force)| self.forces[*c] += force * z);
        }
        Ok(())
    }
}

/// Rates of all joints but free ones: of those of one coordinate by themselves, of the others by
/// the turning of the link that they carry.
fn damped(m: &Mechanism, radius: f64) -> Vec<Task> {
    let by = |goal: Goal, weight: f64| Task {
        stiffness: 0.0,
        ..Task::new("rates", goal).weighing(DAMPED * weight)
    };
    let slides = |j: &JointId| matches!(m.joint(*j).kind, JointKind::Prismatic { .. });
    let (lines, turns): (Vec<JointId>, Vec<JointId>) = single_joints(m).partition(slides);
    let mut out = Vec::new();
    for (joints, weight) in [(&lines, 1.0), (&turns, radius)] {
        if !joints.is_empty() {
            out.push(by(Goal::Posture(joints.iter().map(|j| (*j, 0.0)).collect()), weight));
        }
    }
    for e in m.forest().edges() {
        let several = !lines.contains(&e.joint) && !turns.contains(&e.joint);
        if several && !matches!(m.joint(e.joint).kind, JointKind::Free | JointKind::Fixed) {
            let still = Goal::Still(Frame { link: e.outer, link_from_frame: Pose::IDENTITY });
            let turning = [false, false, false, true, true, true];
            out.push(by(still, radius).masked(turning));
        }
    }
    out
}
