//! One instance of any reduced model in motion.

use forks_mechanism::lie::{Pose, glam::DVec3};
use forks_rom::{
    ConstraintError, EffectorLoad, EffectorState, ModelError, PoseBuffer, Reconstruction,
    StepStatus, System, data::ModelData,
};

/// What is asked of an instance, whatever its model is made of.
pub(crate) trait Run: Send + std::fmt::Debug {
    /// As [`System::step`].
    fn step(&mut self, loads: &[EffectorLoad]) -> StepStatus;
    /// As [`System::data`].
    fn data(&self) -> &ModelData;
    /// Numbers of coordinates and velocities.
    fn sizes(&self) -> [usize; 2];
    /// As [`System::coordinates`].
    fn coordinates(&self, out: &mut [f64]);
    /// As [`System::velocity`].
    fn velocity(&self, out: &mut [f64]);
    /// As [`System::set`].
    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError>;
    /// Back to the linearisation pose, at rest.
    fn reset(&mut self);
    /// As [`System::servo_targets`].
    fn servo_targets(&self) -> &[f64];
    /// As [`System::set_servo_targets`].
    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError>;
    /// As [`System::effector_pose`].
    fn effector_pose(&self, e: usize) -> Pose;
    /// Poses, twists and Jacobians of all effectors.
    fn effectors(&self) -> Vec<EffectorState>;
    /// Kinetic, gravitational and elastic energy, J.
    fn energies(&self) -> [f64; 3];
    /// Links whose poses are known.
    fn links(&self) -> &[usize];
    /// Their poses.
    fn link_poses(&mut self) -> &PoseBuffer;
    /// As [`System::constraint_error`], by twists.
    fn constraint_error(&mut self) -> ConstraintError;
    /// As [`System::weights`].
    fn weights(&self) -> Vec<f64>;
}

/// An instance with its memory.
#[derive(Debug)]
pub(crate) struct One<S: System> {
    system: S,
    state: S::State,
    work: S::Workspace,
    poses: PoseBuffer,
}

impl<S: System> One<S> {
    pub(crate) fn new(system: S) -> Self {
        let (state, work, poses) = (system.state(), system.workspace(), system.pose_buffer());
        Self { system, state, work, poses }
    }
}

impl<S: System> Run for One<S> {
    fn step(&mut self, loads: &[EffectorLoad]) -> StepStatus {
        self.system.step(&mut self.state, &mut self.work, loads)
    }

    fn data(&self) -> &ModelData {
        self.system.data()
    }

    fn sizes(&self) -> [usize; 2] {
        [self.system.coordinate_count(), self.system.dof()]
    }

    fn coordinates(&self, out: &mut [f64]) {
        self.system.coordinates(&self.state, out);
    }

    fn velocity(&self, out: &mut [f64]) {
        self.system.velocity(&self.state, out);
    }

    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        self.system.set(&mut self.state, coordinates, velocity)
    }

    fn reset(&mut self) {
        self.state = self.system.state();
    }

    fn servo_targets(&self) -> &[f64] {
        self.system.servo_targets(&self.state)
    }

    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError> {
        self.system.set_servo_targets(&mut self.state, targets)
    }

    fn effector_pose(&self, e: usize) -> Pose {
        self.system.effector_pose(e, &self.state)
    }

    fn effectors(&self) -> Vec<EffectorState> {
        let n = self.system.dof();
        let mut velocity = vec![0.0; n];
        self.system.velocity(&self.state, &mut velocity);
        let mut out = vec![EffectorState::new(n); self.system.data().effectors.len()];
        self.system.effectors(&self.state, &self.work, &velocity, &mut out);
        out
    }

    fn energies(&self) -> [f64; 3] {
        let gravity = self.data().base.as_ref().map_or(DVec3::ZERO, |b| b.gravity);
        [
            self.system.kinetic_energy(&self.state, &self.work),
            self.system.gravitational_energy(&self.state, gravity),
            self.system.elastic_energy(&self.state, &self.work),
        ]
    }

    fn links(&self) -> &[usize] {
        self.poses.links()
    }

    fn link_poses(&mut self) -> &PoseBuffer {
        self.system.poses(&self.state, &mut self.work, &mut self.poses);
        &self.poses
    }

    fn constraint_error(&mut self) -> ConstraintError {
        self.system.constraint_error(&self.state, &mut self.work, Reconstruction::Twist)
    }

    fn weights(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.system.weights(&self.state, &self.work, &mut out);
        out
    }
}
