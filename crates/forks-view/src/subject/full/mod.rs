//! A mechanism under the full solver.

mod commands;

use std::sync::Arc;

use forks_control::{
    ik::{Handle, IkStatus, InverseKinematics},
    plant::ForceCommand,
    task::Frame,
};
use forks_dynamics::integrate::{Simulation, SimulationOptions, SimulationStatus};
use forks_io::animation::{Animation, AnimationFrame, Series};
use forks_mechanism::{
    LinkId, Mechanism, PreparedMechanism, ServoSpring,
    lie::{Pose, Wrench},
};
use forks_record::Picture;

use super::{Aim, Push, REACH, Servo, Subject};
use crate::source::MechanismSource;
use commands::Commands;

/// A mechanism in motion.
#[derive(Clone)]
pub(crate) struct Full<'m> {
    m: &'m Mechanism,
    /// The same for what keeps it; there once a hand has commanded or posed it.
    shared: Option<Arc<Mechanism>>,
    simulation: Simulation<'m>,
    /// When the simulation began, s: it begins anew in poses that hands give.
    since: f64,
    step: f64,
    picture: Arc<Picture>,
    servos: Vec<Servo>,
    /// What a unit of a servo's target exerts on the velocities of the tree.
    pulls: Vec<ForceCommand>,
    /// Of the servos' targets.
    tau: Vec<f64>,
    commands: Option<Commands>,
    wrenches: Vec<Wrench>,
    poses: Vec<Pose>,
}

impl<'m> Full<'m> {
    /// Of a mechanism whose servos are springs.
    pub(crate) fn new(prepared: &'m PreparedMechanism, s: &MechanismSource, step: f64) -> Self {
        let m = &prepared.mechanism;
        let q = &m.start_positions()[..m.tree_position_count()];
        // Where a joint is held that the velocities are about, everything starts at rest.
        let n = m.tree_velocity_count();
        let v = if prepared.held.is_none() { s.velocities.clone() } else { vec![0.0; n] };
        let mut simulation = Simulation::new(m, q, &v, SimulationOptions::default());
        let poses = simulation.link_poses();
        let mut picture = Picture::new(m.name(), m, &poses);
        picture.animation.notes.clone_from(&s.notes);
        let series = [("kinetic", "J"), ("gravitational", "J"), ("elastic", "J"), ("total", "J")];
        picture.animation.series = series.map(|(n, u)| Series::new(n, u)).to_vec();
        let (mut servos, mut pulls) = (Vec::new(), Vec::new());
        for (id, spring) in &prepared.servo_springs {
            let servo = &s.mechanism.servos()[id.index()];
            let ServoSpring::Combination(spring) = spring else { continue };
            let spring = &m.combination_springs()[spring.index()];
            let plain = |c: &forks_mechanism::Coordinate| {
                m.joint(c.joint).kind.has_scalar_coordinates()
                    && m.velocity_index(*c) < m.tree_velocity_count()
            };
            // Others turn with the pose, or act in joints that close loops.
            if !spring.combination.terms.iter().all(|(c, _)| plain(c)) {
                continue;
            }
            let at = spring.combination.terms.iter();
            let pull = at.map(|(c, a)| (m.velocity_index(*c), spring.stiffness * a)).collect();
            let (name, range) = (servo.name.clone(), [-REACH, REACH]);
            servos.push(Servo { name, target: 0.0, range });
            pulls.push(pull);
        }
        let _ = simulation.energy();
        Self {
            m,
            shared: None,
            simulation,
            since: 0.0,
            step,
            picture: Arc::new(picture),
            servos,
            pulls,
            tau: vec![0.0; m.tree_velocity_count()],
            commands: None,
            wrenches: vec![Wrench::ZERO; m.links().len()],
            poses,
        }
    }

    /// A copy at rest elsewhere, at time 0: positions of all joints.
    pub(crate) fn at(&self, positions: &[f64]) -> Self {
        let mut there = self.clone();
        there.go_to(positions, 0.0);
        there
    }

    /// At rest at positions of all joints.
    fn go_to(&mut self, positions: &[f64], time: f64) {
        let m = self.m;
        let (q, v) = (&positions[..m.tree_position_count()], vec![0.0; m.tree_velocity_count()]);
        self.simulation = Simulation::new(m, q, &v, SimulationOptions::default());
        self.since = time;
        self.poses = self.simulation.link_poses();
        let _ = self.simulation.energy();
        self.set_loads();
    }

    fn set_loads(&mut self) {
        match &self.commands {
            None => self.simulation.set_loads(&self.tau, &self.wrenches),
            Some(commands) => {
                let all: Vec<f64> =
                    self.tau.iter().zip(&commands.forces).map(|(a, b)| a + b).collect();
                self.simulation.set_loads(&all, &self.wrenches);
            }
        }
    }

    fn shared(&mut self) -> Arc<Mechanism> {
        Arc::clone(self.shared.get_or_insert_with(|| Arc::new(self.m.clone())))
    }

    fn link(&self, body: usize) -> LinkId {
        self.picture.links()[body]
    }
}

impl<'m> Subject<'m> for Full<'m> {
    fn duplicate(&self) -> Box<dyn Subject<'m> + 'm> {
        Box::new(self.clone())
    }

    fn step_length(&self) -> f64 {
        self.step
    }

    fn time(&self) -> f64 {
        self.since + self.simulation.time()
    }

    fn step(&mut self) -> Result<(), String> {
        let status = self.simulation.step(self.step);
        if status != SimulationStatus::Completed {
            let time = self.time();
            return Err(format!("the step at {time:.4} s was not made: {}", status.name()));
        }
        self.poses = self.simulation.link_poses();
        Ok(())
    }

    fn push(&mut self, pushes: &[Push]) -> Result<(), String> {
        self.wrenches.fill(Wrench::ZERO);
        for p in pushes {
            let link = self.link(p.body).index();
            let force = self.poses[link].rotation.conjugate() * p.force;
            self.wrenches[link] += Wrench::new(force, p.point.cross(force));
        }
        self.set_loads();
        Ok(())
    }

    fn feels(&self, body: usize) -> bool {
        body < self.picture.links().len()
    }

    fn pose(&self, body: usize) -> Pose {
        self.poses[self.link(body).index()]
    }

    fn frame(&mut self) -> AnimationFrame {
        let e = self.simulation.energy();
        let values = [e.kinetic, e.gravitational, e.elastic, e.total()];
        let poses = self.picture.poses(&self.poses);
        AnimationFrame::new(self.time(), poses).values(values)
    }

    fn servos(&self) -> &[Servo] {
        &self.servos
    }

    fn set_servo(&mut self, index: usize, target: f64) -> Result<(), String> {
        let change = target - self.servos[index].target;
        self.servos[index].target = target;
        for &(k, force) in &self.pulls[index] {
            self.tau[k] += force * change;
        }
        self.set_loads();
        Ok(())
    }

    fn is_commanded(&self) -> bool {
        true
    }

    fn command(&mut self, aim: Option<&Aim>) -> Result<(), String> {
        let Some(aim) = aim else {
            if self.commands.take().is_some() {
                self.set_loads();
            }
            return Ok(());
        };
        let mut commands = match self.commands.take() {
            Some(commands) => commands,
            None => Commands::new(self.shared(), &self.pulls)?,
        };
        let frame =
            Frame { link: self.link(aim.body), link_from_frame: Pose::from_translation(aim.point) };
        let state = self.simulation.state();
        let goal = (frame, aim.target);
        let found = commands.decide(state, &self.tau, &self.wrenches, self.step, goal);
        self.commands = found.is_ok().then_some(commands);
        self.set_loads();
        found
    }

    fn pose_by(&mut self, aim: &Aim, pins: &[Aim]) -> Result<(), String> {
        let said = |e: &dyn std::fmt::Display| format!("no pose: {e}");
        let m = self.shared();
        let tree = &self.simulation.state().q;
        let mut ik = InverseKinematics::new(m, tree).map_err(|e| said(&e))?;
        let handle = |a: &Aim| Handle::point("hand", self.link(a.body), a.point, a.target);
        for pin in pins {
            ik.pin(handle(pin)).map_err(|e| said(&e))?;
        }
        ik.drag(0, handle(aim)).map_err(|e| said(&e))?;
        let found = ik.follow().map_err(|e| said(&e))?;
        if found.status == IkStatus::LoopsOpen {
            return Err(format!("no pose: {}", found.status.name()));
        }
        self.go_to(&found.positions, self.time());
        Ok(())
    }

    fn picture(&self) -> &Animation {
        &self.picture.animation
    }

    fn size(&self) -> usize {
        // Joints, factors of the step, poses: measured on helices, rounded up.
        4096 * (1 + self.m.links().len())
    }
}
