//! A blend whose base floats as a [`System`]: v = (body twist of the base link, ẋ).

use alloc::vec::Vec;

use forks_lie::{Pose, Twist, glam::DVec3};
use forks_linalg::Matrix;
use forks_rom::{
    ConstraintError, EffectorLoad, EffectorState, ModelError, Momentum, Openings, PoseBuffer,
    Reconstruction, StaticSolution, StepStatus, System, data::ModelData, internal::carry,
};

use super::{
    state::FloatingBlendState, step::FloatingBlendStepper, workspace::FloatingBlendWorkspace,
};
use crate::mean::LinkBlend;

impl System for FloatingBlendStepper {
    type State = FloatingBlendState;
    type Workspace = FloatingBlendWorkspace;

    fn state(&self) -> FloatingBlendState {
        FloatingBlendState::new(&self.model)
    }

    fn workspace(&self) -> FloatingBlendWorkspace {
        FloatingBlendWorkspace::new(&self.model)
    }

    fn data(&self) -> &ModelData {
        self.model.model.data().samples[0].model.data()
    }

    fn range(&self) -> f64 {
        self.model.model.data().range
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn dof(&self) -> usize {
        6 + self.model.model.dof()
    }

    fn coordinate_count(&self) -> usize {
        7 + self.model.model.dof()
    }

    fn coordinates(&self, state: &FloatingBlendState, out: &mut [f64]) {
        let (pose, x) = out.split_at_mut(7);
        pose.copy_from_slice(&state.world_from_base.to_array());
        x.copy_from_slice(&state.shape.x);
    }

    fn velocity(&self, state: &FloatingBlendState, out: &mut [f64]) {
        let (twist, rate) = out.split_at_mut(6);
        twist.copy_from_slice(&state.derived.twist.to_array());
        rate.copy_from_slice(&state.shape.velocity);
    }

    fn set(
        &self,
        state: &mut FloatingBlendState,
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
        state.set(&self.model, &coordinates[7..], &velocity[6..], pose, twist)
    }

    fn extra_state(&self, state: &FloatingBlendState, out: &mut Vec<f64>) {
        state.extra_state(out);
    }

    fn set_extra_state(
        &self,
        state: &mut FloatingBlendState,
        numbers: &[f64],
    ) -> Result<(), ModelError> {
        state.set_extra_state(numbers)
    }

    fn servo_targets<'a>(&self, state: &'a FloatingBlendState) -> &'a [f64] {
        state.shape.servo_targets()
    }

    fn set_servo_targets(
        &self,
        state: &mut FloatingBlendState,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        state.set_servo_targets(&self.model, targets)
    }

    fn step(
        &self,
        state: &mut FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        loads: &[EffectorLoad],
    ) -> StepStatus {
        self.step(state, work, loads)
    }

    fn respond(
        &self,
        state: &mut FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> StepStatus {
        self.respond(state, work, loads, gravity)
    }

    fn inverse_system<'a>(&'a self, work: &'a FloatingBlendWorkspace) -> Option<&'a Matrix> {
        work.inverse_system()
    }

    fn free_velocity<'a>(
        &self,
        _state: &'a FloatingBlendState,
        work: &'a FloatingBlendWorkspace,
    ) -> &'a [f64] {
        work.free_velocity()
    }

    fn change_velocity(
        &self,
        state: &mut FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError> {
        self.change_velocity(state, work, change)
    }

    fn solve_static(
        &self,
        loads: &[EffectorLoad],
        servo_targets: &[f64],
    ) -> Result<StaticSolution, ModelError> {
        self.model.model.solve_static(loads, servo_targets)
    }

    fn effector_pose(&self, e: usize, state: &FloatingBlendState) -> Pose {
        self.model.effector_pose(e, state)
    }

    /// (Ad⁻¹ of the base, Jacobian relative to it).
    fn effectors(
        &self,
        state: &FloatingBlendState,
        work: &FloatingBlendWorkspace,
        velocity: &[f64],
        out: &mut [EffectorState],
    ) {
        let (world, base) = (self.model.world_from_rest(state), self.model.base_from_rest);
        for (e, out) in out.iter_mut().enumerate() {
            let (blend, shape) = (&self.model.model, &state.shape);
            let pose = blend.effector(e, shape, &work.blend, &mut out.jacobian);
            out.pose = world * pose;
            let carry = (base * pose).adjoint();
            for j in 0..6 {
                let column = carry.apply_inverse(Twist::unit(j)).to_array();
                (0..6).for_each(|i| out.jacobian[(i, j)] = column[i]);
            }
            out.move_by(velocity);
        }
    }

    fn kinetic_energy(&self, state: &FloatingBlendState, _work: &FloatingBlendWorkspace) -> f64 {
        self.model.kinetic_energy(state)
    }

    fn elastic_energy(&self, state: &FloatingBlendState, work: &FloatingBlendWorkspace) -> f64 {
        self.model.model.evaluation(&state.shape, &work.blend).potential_energy()
    }

    fn gravitational_energy(&self, state: &FloatingBlendState, gravity: DVec3) -> f64 {
        self.model.gravitational_energy(state, gravity)
    }

    fn momentum(&self, state: &FloatingBlendState) -> Option<Momentum> {
        Some(self.model.momentum(state))
    }

    fn pose_buffer(&self) -> PoseBuffer {
        self.model.model.pose_buffer()
    }

    /// By the fast blend, relative to the base, then carried along by it.
    fn poses(
        &self,
        state: &FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        out: &mut PoseBuffer,
    ) {
        let blend = &self.model.model;
        blend.poses(&state.shape, &mut work.blend, LinkBlend::default(), out);
        carry(blend.isa(), &self.model.world_from_rest(state), &mut out.blocks);
    }

    fn constraint_error(
        &self,
        state: &FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        mode: Reconstruction,
    ) -> ConstraintError {
        let (blend, links) = (&self.model.model, LinkBlend::default());
        blend.constraint_error(&state.shape, &mut work.blend, mode, links)
    }

    /// As those of a blend on a fixed base.
    fn openings(
        &self,
        state: &FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
    ) -> [Openings; 2] {
        [self.model.model.openings(&state.shape, &mut work.blend), Openings::default()]
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.model.model.find_joint(name)?;
        Some((joint, self.model.model.joint_coordinate_count(joint)))
    }

    fn joint_coordinate(
        &self,
        joint: usize,
        coordinate: usize,
        state: &FloatingBlendState,
        row: &mut [f64],
    ) -> f64 {
        let (twist, rates) = row.split_at_mut(6);
        twist.fill(0.0);
        self.model.model.joint_coordinate(joint, coordinate, &state.shape, rates)
    }

    fn weights(
        &self,
        state: &FloatingBlendState,
        work: &FloatingBlendWorkspace,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        let here = self.model.model.evaluation(&state.shape, &work.blend);
        out.extend_from_slice(here.weights());
    }
}
