//! A mechanism under the full solver.

use forks_dynamics::integrate::{Simulation, SimulationOptions, SimulationStatus};
use forks_io::animation::{Animation, AnimationFrame, Series};
use forks_mechanism::{
    Mechanism, PreparedMechanism, ServoSpring,
    lie::{Pose, Wrench},
};
use forks_record::Picture;

use super::{Push, REACH, Servo, Subject};
use crate::source::MechanismSource;

/// What a servo's target exerts: force per unit of the target on tree velocities.
type Pull = Vec<(usize, f64)>;

/// A mechanism in motion.
#[derive(Clone)]
pub(crate) struct Full<'m> {
    m: &'m Mechanism,
    simulation: Simulation<'m>,
    step: f64,
    picture: Picture,
    servos: Vec<Servo>,
    pulls: Vec<Pull>,
    tau: Vec<f64>,
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
            simulation,
            step,
            picture,
            servos,
            pulls,
            tau: vec![0.0; m.tree_velocity_count()],
            wrenches: vec![Wrench::ZERO; m.links().len()],
            poses,
        }
    }

    /// A copy at rest elsewhere, at time 0: positions of all joints.
    pub(crate) fn at(&self, positions: &[f64]) -> Self {
        let (m, mut there) = (self.m, self.clone());
        let (q, v) = (&positions[..m.tree_position_count()], vec![0.0; m.tree_velocity_count()]);
        there.simulation = Simulation::new(m, q, &v, SimulationOptions::default());
        there.poses = there.simulation.link_poses();
        let _ = there.simulation.energy();
        there
    }

    fn set_loads(&mut self) {
        self.simulation.set_loads(&self.tau, &self.wrenches);
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
        self.simulation.time()
    }

    fn step(&mut self) -> Result<(), String> {
        let status = self.simulation.step(self.step);
        if status != SimulationStatus::Completed {
            let time = self.simulation.time();
            return Err(format!("the step at {time:.4} s was not made: {}", status.name()));
        }
        self.poses = self.simulation.link_poses();
        Ok(())
    }

    fn push(&mut self, pushes: &[Push]) -> Result<(), String> {
        self.wrenches.fill(Wrench::ZERO);
        for p in pushes {
            let link = self.picture.links()[p.body].index();
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
        self.poses[self.picture.links()[body].index()]
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

    fn picture(&self) -> &Animation {
        &self.picture.animation
    }

    fn size(&self) -> usize {
        // Joints, factors of the step, poses: measured on helices, rounded up.
        4096 * (1 + self.m.links().len())
    }
}
