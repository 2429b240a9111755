//! A mechanism under the full reference solver: all its joints.

use std::sync::Arc;

use forks_dynamics::{
    AppliedWrench, WrenchFrame, elastic_energy, gravitational_energy,
    integrate::{ImpulseStepper, SimulationStatus as SolverStatus},
};
use forks_lie::{Pose, glam::DVec3};
use forks_linalg::Matrix;
use forks_mechanism::{
    Joint, JointId, JointKind, LinkId, Mechanism,
    kinematics::{link_twists, loops},
};
use forks_reduce::{Drive, Effector};
use forks_rom::{EffectorLoad, EffectorState, LoadFrame, ModelError, StepStatus};

use super::{Motion, full_joints};
use crate::twin::{FullDrive, FullMechanism, Gravity, with_gravity};

/// The solver and its state. Coordinates are the positions of all joints; v = u, the velocities of
/// the independent motions: those of the tree joints where there are no loops and couplings.
#[derive(Clone, Debug)]
pub(crate) struct Full {
    stepper: ImpulseStepper,
    effectors: Vec<Effector>,
    servos: Vec<Drive>,
    targets: Vec<f64>,
    /// What the targets are exerted as and [`Full::set_joint_forces`] adds, all velocity
    /// coordinates; empty while all are 0.
    forces: Vec<f64>,
    /// Of joints, beside their springs, dampers and servos.
    joint_forces: Vec<f64>,
    /// Positions at which targets 0 are at rest.
    start: Vec<f64>,
    /// Positions at the start: of the linearisation, where there is one.
    origin: Vec<f64>,
    gravity: Gravity,
    /// From the world's origin to the mechanism's, in the mechanism's axes; zero under a gravity of
    /// its own.
    shift: DVec3,
    /// Links that are shown.
    shown: Vec<usize>,
    /// Poses and Jacobians of the effectors at the state.
    states: Vec<EffectorState>,
    velocity: Vec<f64>,
    failure: Option<&'static str>,
}

impl Full {
    /// `gravity` in the world's axes.
    pub(crate) fn new(
        f: &FullMechanism,
        world_from_mechanism: &Pose,
        gravity: DVec3,
        h: f64,
    ) -> Result<Self, SolverStatus> {
        let back = world_from_mechanism.rotation.conjugate();
        let gravity = back * gravity;
        let shift = match f.gravity {
            Gravity::World => back * world_from_mechanism.translation,
            Gravity::Own | Gravity::Off => DVec3::ZERO,
        };
        let mechanism = match f.gravity {
            Gravity::World => with_gravity(&f.mechanism, gravity),
            Gravity::Own | Gravity::Off => Some(Arc::clone(&f.mechanism)),
        };
        let m = mechanism.ok_or(SolverStatus::NotFinite)?;
        let (q, v) = (&f.start[..m.tree_position_count()], &f.velocity);
        let mut stepper = ImpulseStepper::new(Arc::clone(&m), q, v, f.gravity != Gravity::Off, h)?;
        let velocity = stepper.velocities().to_vec();
        // The first A⁻¹.
        stepper.free(&[], &[])?;
        let shown = m.links().iter().enumerate().skip(1).filter(|(_, l)| !l.auxiliary);
        let empty = EffectorState::new(velocity.len());
        let mut out = Self {
            shown: shown.map(|(i, _)| i).collect(),
            effectors: f.effectors.clone(),
            servos: f.servos.clone(),
            targets: vec![0.0; f.servos.len()],
            forces: Vec::new(),
            joint_forces: Vec::new(),
            start: m.start_positions(),
            origin: stepper.positions().to_vec(),
            gravity: f.gravity,
            shift,
            states: vec![empty; f.effectors.len()],
            velocity,
            failure: None,
            stepper,
        };
        out.refresh();
        Ok(out)
    }

    fn mechanism(&self) -> &Mechanism {
        self.stepper.mechanism()
    }

    /// Poses and Jacobians of the effectors, from the solver.
    fn refresh(&mut self) {
        let poses = self.stepper.link_poses();
        for (e, s) in self.effectors.iter().zip(&mut self.states) {
            s.pose = poses[e.link.index()] * e.link_from_effector;
            s.jacobian = self.stepper.frame_jacobian(e.link, &e.link_from_effector);
        }
    }

    /// Energy that the servos' targets add to that of the springs at the start pose's targets: ½ k
    /// (ℓ − ℓ₀ − s)² less ½ k (ℓ − ℓ₀)².
    fn target_energy(&self) -> f64 {
        let (m, q) = (self.mechanism(), self.stepper.positions());
        let of = |(drive, target): (&Drive, &f64)| {
            let plain = |c: &(forks_mechanism::Coordinate, f64)| {
                m.joint(c.0.joint).kind.has_scalar_coordinates()
            };
            if let Some(id) = drive.cable.filter(|_| *target != 0.0) {
                let c = m.cable(id);
                let moved = c.length(self.stepper.link_poses()) - c.rest[0];
                return drive.gain * target * (0.5 * target - moved);
            }
            if *target == 0.0 || !drive.combination.terms.iter().all(plain) {
                return 0.0;
            }
            let value = |q: &[f64]| loops::combination_value(m, &drive.combination, q);
            let moved = value(q) - value(&self.start);
            drive.gain * target * (0.5 * target - moved)
        };
        self.servos.iter().zip(&self.targets).map(of).sum()
    }

    /// Forces of the servos' targets in the present pose.
    fn update_forces(&mut self) {
        self.forces.clone_from(&self.joint_forces);
        if self.targets.iter().all(|s| *s == 0.0) {
            return;
        }
        let m = Arc::clone(self.stepper.mechanism());
        self.forces.resize(m.velocity_count(), 0.0);
        let (q, poses) = (self.stepper.positions(), self.stepper.link_poses());
        for (drive, s) in self.servos.iter().zip(&self.targets).filter(|(_, s)| **s != 0.0) {
            for (c, a) in &drive.at(&m, q, poses).combination.terms {
                self.forces[m.velocity_index(*c)] += drive.gain * s * a;
            }
        }
    }

    /// Forces of all velocity coordinates from now on.
    pub(crate) fn set_joint_forces(&mut self, forces: &[f64]) -> Result<(), ModelError> {
        check("joint forces", forces, self.mechanism().velocity_count())?;
        self.joint_forces.clear();
        if forces.iter().any(|f| *f != 0.0) {
            self.joint_forces.extend_from_slice(forces);
        }
        self.update_forces();
        Ok(())
    }

    /// What it is driven by.
    pub(crate) fn drive(&self) -> FullDrive<'_> {
        let (m, q) = (self.mechanism(), self.stepper.positions());
        let poses = self.stepper.link_poses();
        let row = |d: &Drive| {
            let terms = d.at(m, q, poses).combination.terms;
            terms.iter().map(|(c, a)| (m.velocity_index(*c), d.gain * a)).collect()
        };
        let servos = self.servos.iter().map(row).collect();
        FullDrive { stepper: &self.stepper, servos, effectors: &self.effectors }
    }

    fn failed(&mut self, status: SolverStatus) -> ModelError {
        self.failure = Some(status.name());
        refusal(status)
    }
}

/// A solver's status as what a model says.
fn refusal(status: SolverStatus) -> ModelError {
    match status {
        SolverStatus::MotionsChanged { from, to } => ModelError::WrongSize {
            quantity: "independent motions that the loops admit",
            found: to,
            expected: from,
        },
        SolverStatus::Singular | SolverStatus::Massless(_) => ModelError::SingularStep,
        _ => ModelError::NotFinite { quantity: "the step of the full solver" },
    }
}

/// True if only free joints without springs and dampers tie the mechanism to the ground.
fn floats(m: &Mechanism) -> bool {
    let grounded = |a: LinkId, b: LinkId| a == LinkId::WORLD || b == LinkId::WORLD;
    let free =
        |j: &Joint| matches!(j.kind, JointKind::Free) && j.spring.is_none() && j.damping.is_zero();
    m.joints().iter().all(|j| !grounded(j.parent, j.child) || free(j))
        && m.bushings().iter().all(|b| !grounded(b.link_a, b.link_b))
        && m.cables().iter().all(|c| c.is_idle() || c.nodes().all(|n| n.link() != LinkId::WORLD))
}

fn check(quantity: &'static str, x: &[f64], expected: usize) -> Result<(), ModelError> {
    match x.len() {
        found if found != expected => Err(ModelError::WrongSize { quantity, found, expected }),
        _ if x.iter().all(|x| x.is_finite()) => Ok(()),
        _ => Err(ModelError::NotFinite { quantity }),
    }
}

impl Motion for Full {
    fn boxed(&self) -> Box<dyn Motion> {
        Box::new(self.clone())
    }

    fn dof(&self) -> usize {
        self.stepper.motion_count()
    }

    fn effector_count(&self) -> usize {
        self.effectors.len()
    }

    fn coordinates(&self) -> &[f64] {
        self.stepper.positions()
    }

    fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    fn servo_targets(&self) -> &[f64] {
        &self.targets
    }

    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        check("coordinates", coordinates, self.stepper.positions().len())?;
        check("velocity", velocity, self.dof())?;
        self.stepper.set(coordinates, velocity).map_err(refusal)?;
        self.velocity.copy_from_slice(velocity);
        self.refresh();
        Ok(())
    }

    /// A target s pulls as its spring, k (ℓ − ℓ₀ − s), does: with the constant force k s beside it.
    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError> {
        check("servo targets", targets, self.servos.len())?;
        self.targets.copy_from_slice(targets);
        self.update_forces();
        Ok(())
    }

    fn update(&self, effectors: &mut [EffectorState]) {
        for (out, own) in effectors.iter_mut().zip(&self.states) {
            out.clone_from(own);
            out.move_by(&self.velocity);
        }
    }

    fn inverse_system(&mut self) -> Option<&Matrix> {
        Some(self.stepper.inverse_system())
    }

    fn varies(&self) -> bool {
        true
    }

    fn step_freely(&mut self, loads: &[EffectorLoad], gravity: DVec3) -> StepStatus {
        if self.gravity == Gravity::World && self.mechanism().gravity() != gravity {
            match with_gravity(self.stepper.mechanism(), gravity) {
                Some(m) => self.stepper.set_mechanism(m),
                None => return StepStatus::NotFinite,
            }
        }
        let applied = |l: &EffectorLoad| {
            let e = &self.effectors[l.effector];
            let frame = match l.frame {
                LoadFrame::World => WrenchFrame::World,
                LoadFrame::Body => WrenchFrame::Body,
            };
            let link_from_point = e.link_from_effector;
            AppliedWrench { link: e.link, link_from_point, wrench: l.wrench, frame }
        };
        let loads: Vec<AppliedWrench> = loads.iter().map(applied).collect();
        if self.servos.iter().any(|d| d.cable.is_some()) {
            self.update_forces();
        }
        match self.stepper.free(&self.forces, &loads) {
            Ok(()) => {
                self.velocity.copy_from_slice(self.stepper.velocities());
                StepStatus::Completed
            }
            Err(status) => {
                self.failed(status);
                StepStatus::NotFinite
            }
        }
    }

    fn free_velocity(&self) -> &[f64] {
        &self.velocity
    }

    fn end_with(
        &mut self,
        velocity: &[f64],
        _change: &mut [f64],
    ) -> Result<StepStatus, ModelError> {
        check("the velocity", velocity, self.dof())?;
        if let Err(status) = self.stepper.finish(velocity) {
            return Err(self.failed(status));
        }
        self.velocity.copy_from_slice(self.stepper.velocities());
        self.refresh();
        Ok(StepStatus::Completed)
    }

    fn full(&mut self) -> Option<&mut Full> {
        Some(self)
    }

    fn failure(&self) -> Option<&'static str> {
        self.failure
    }

    fn kinetic_energy(&self) -> f64 {
        self.stepper.energy().kinetic
    }

    /// Of springs; their rest positions have none.
    fn elastic_energy(&self) -> f64 {
        let (m, q) = (self.mechanism(), self.stepper.positions());
        elastic_energy(m, q, self.stepper.link_poses()) + self.target_energy()
    }

    fn gravitational_energy(&self, _gravity: DVec3) -> f64 {
        if self.gravity == Gravity::Off {
            return 0.0;
        }
        let moved = |p: &Pose| Pose { translation: p.translation + self.shift, ..*p };
        let poses: Vec<Pose> = self.stepper.link_poses().iter().map(moved).collect();
        gravitational_energy(self.mechanism(), &poses)
    }

    fn momentum(&self) -> Option<(DVec3, DVec3)> {
        let (m, q) = (self.mechanism(), self.stepper.positions());
        if !floats(m) {
            return None;
        }
        let twists = link_twists(m, q, self.stepper.tree_velocities());
        let mut sum = (DVec3::ZERO, DVec3::ZERO);
        for ((link, twist), pose) in m.links().iter().zip(twists).zip(self.stepper.link_poses()) {
            let p = link.inertia.apply(twist);
            let linear = pose.rotation * p.force;
            sum.0 += linear;
            sum.1 += pose.rotation * p.torque + pose.translation.cross(linear);
        }
        Some(sum)
    }

    fn joint_count(&self) -> usize {
        self.mechanism().joints().len()
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.mechanism().joints().iter().position(|j| j.name == name)?;
        Some((joint, self.mechanism().joints()[joint].dof()))
    }

    fn joint_coordinate(&self, joint: usize, coordinate: usize, row: &mut [f64]) -> f64 {
        full_joints::joint_coordinate(&self.stepper, &self.origin, joint, coordinate, row)
    }

    fn joint_rate(&self, joint: usize, coordinate: usize, row: &mut [f64]) {
        let first = self.mechanism().velocity_range(JointId::new(joint)).start;
        self.stepper.rate_row(first + coordinate, row);
    }

    fn full_solver(&self) -> Option<&ImpulseStepper> {
        Some(&self.stepper)
    }

    fn link_count(&self) -> usize {
        self.shown.len()
    }

    fn link_name(&self, link: usize) -> &str {
        &self.mechanism().links()[self.shown[link]].name
    }

    fn link_poses(&self, out: &mut Vec<Pose>) {
        let poses = self.stepper.link_poses();
        out.extend(self.shown.iter().map(|&l| poses[l]));
    }
}
