//! One linearisation on a base that floats as a [`System`]: v = (body twist of the base link, η̇).

use alloc::vec::Vec;

use forks_lie::{Pose, Twist, glam::DVec3};
use forks_linalg::Matrix;

use super::{
    effectors::Effectors, model::FloatingModel, state::FloatingState, step::FloatingStepper,
    workspace::FloatingWorkspace,
};
use crate::{
    ConstraintError, EffectorLoad, EffectorState, ModelError, Momentum, Openings, PoseBuffer,
    Reconstruction, ReducedModel, ServoTerms, StaticSolution, StepStatus, System, data::ModelData,
};

impl FloatingStepper {
    fn shape(&self) -> &ReducedModel {
        self.model().reduced()
    }

    fn floating(&self) -> &FloatingModel {
        self.model()
    }
}

impl System for FloatingStepper {
    type State = FloatingState;
    type Workspace = FloatingWorkspace;

    fn state(&self) -> FloatingState {
        FloatingState::new(self.model())
    }

    fn workspace(&self) -> FloatingWorkspace {
        FloatingWorkspace::new(self.model())
    }

    fn data(&self) -> &ModelData {
        self.shape().data()
    }

    fn step_size(&self) -> f64 {
        self.step_size()
    }

    fn dof(&self) -> usize {
        6 + self.shape().dof()
    }

    fn coordinate_count(&self) -> usize {
        7 + self.shape().dof()
    }

    fn coordinates(&self, state: &FloatingState, out: &mut [f64]) {
        let (pose, eta) = out.split_at_mut(7);
        pose.copy_from_slice(&state.world_from_base().to_array());
        eta.copy_from_slice(state.shape().coordinates());
    }

    fn velocity(&self, state: &FloatingState, out: &mut [f64]) {
        let (twist, rate) = out.split_at_mut(6);
        twist.copy_from_slice(&self.floating().base_velocity(state).to_array());
        rate.copy_from_slice(state.shape().velocity());
    }

    fn set(
        &self,
        state: &mut FloatingState,
        coordinates: &[f64],
        velocity: &[f64],
    ) -> Result<(), ModelError> {
        let sizes = [
            ("floating coordinates", coordinates.len(), self.coordinate_count()),
            ("floating velocities", velocity.len(), self.dof()),
        ];
        for (quantity, found, expected) in sizes {
            if found != expected {
                return Err(ModelError::WrongSize { quantity, found, expected });
            }
        }
        let pose = Pose::from_array(core::array::from_fn(|i| coordinates[i]));
        let twist = Twist::from_array(core::array::from_fn(|i| velocity[i]));
        state.set(self.model(), &coordinates[7..], &velocity[6..], pose, twist)
    }

    fn extra_state(&self, state: &FloatingState, out: &mut Vec<f64>) {
        state.extra_state(out);
    }

    fn set_extra_state(
        &self,
        state: &mut FloatingState,
        numbers: &[f64],
    ) -> Result<(), ModelError> {
        state.set_extra_state(numbers)
    }

    fn servo_targets<'a>(&self, state: &'a FloatingState) -> &'a [f64] {
        state.shape().servo_targets()
    }

    fn set_servo_targets(
        &self,
        state: &mut FloatingState,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        state.set_servo_targets(self.model(), targets)
    }

    fn step(
        &self,
        state: &mut FloatingState,
        work: &mut FloatingWorkspace,
        loads: &[EffectorLoad],
    ) -> StepStatus {
        self.step(state, work, loads)
    }

    fn respond(
        &self,
        state: &mut FloatingState,
        work: &mut FloatingWorkspace,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> StepStatus {
        self.respond(state, work, loads, gravity)
    }

    fn inverse_system<'a>(&'a self, work: &'a FloatingWorkspace) -> Option<&'a Matrix> {
        work.inverse_system()
    }

    fn free_velocity<'a>(
        &self,
        _state: &'a FloatingState,
        work: &'a FloatingWorkspace,
    ) -> &'a [f64] {
        work.free_velocity()
    }

    fn change_velocity(
        &self,
        state: &mut FloatingState,
        work: &mut FloatingWorkspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError> {
        self.change_velocity(state, work, change)
    }

    fn solve_static(
        &self,
        loads: &[EffectorLoad],
        servo_targets: &[f64],
    ) -> Result<StaticSolution, ModelError> {
        self.shape().solve_static(loads, servo_targets)
    }

    fn effector_pose(&self, e: usize, state: &FloatingState) -> Pose {
        self.floating().effector_pose(e, state)
    }

    fn effectors(
        &self,
        state: &FloatingState,
        _work: &FloatingWorkspace,
        velocity: &[f64],
        out: &mut [EffectorState],
    ) {
        let own = Twist::from_array(core::array::from_fn(|i| velocity[i]));
        self.shape().isa().run(Effectors { model: self.model(), state, own, out });
    }

    fn kinetic_energy(&self, state: &FloatingState, _work: &FloatingWorkspace) -> f64 {
        self.floating().kinetic_energy(state)
    }

    fn elastic_energy(&self, state: &FloatingState, _work: &FloatingWorkspace) -> f64 {
        self.floating().elastic_energy(state)
    }

    fn target_energy(&self, terms: &ServoTerms, state: &FloatingState) -> f64 {
        terms.energy_beyond_rest(self.shape(), state.shape().servo_targets())
    }

    fn gravitational_energy(&self, state: &FloatingState, gravity: DVec3) -> f64 {
        let weight = gravity * self.floating().mass();
        -weight.dot(self.floating().center_of_mass(state))
    }

    fn momentum(&self, state: &FloatingState) -> Option<Momentum> {
        Some(self.floating().momentum(state))
    }

    fn pose_buffer(&self) -> PoseBuffer {
        PoseBuffer::new(self.shape())
    }

    fn poses(&self, state: &FloatingState, _work: &mut FloatingWorkspace, out: &mut PoseBuffer) {
        self.floating().poses(state, out);
    }

    fn constraint_error(
        &self,
        state: &FloatingState,
        _work: &mut FloatingWorkspace,
        mode: Reconstruction,
    ) -> ConstraintError {
        self.shape().constraint_error(state.shape(), mode)
    }

    fn openings(&self, state: &FloatingState, _work: &mut FloatingWorkspace) -> [Openings; 2] {
        let (model, shape) = (self.shape(), state.shape());
        let targets = model.target_openings(shape.servo_targets());
        [model.openings(shape), targets.unwrap_or_default()]
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.shape().find_joint(name)?;
        Some((joint, self.data().joints[joint].map.rows()))
    }

    fn joint_coordinate(
        &self,
        joint: usize,
        coordinate: usize,
        state: &FloatingState,
        row: &mut [f64],
    ) -> f64 {
        let (twist, rates) = row.split_at_mut(6);
        twist.fill(0.0);
        rates.copy_from_slice(self.shape().joint_row(joint, coordinate));
        self.shape().joint_coordinate(joint, coordinate, state.shape())
    }
}
