//! A blend on a fixed base as a [`System`]: v = ẋ, the rates of the chart coordinates.

use alloc::vec::Vec;

use forks_lie::{Pose, glam::DVec3};
use forks_linalg::Matrix;
use forks_rom::{
    ConstraintError, EffectorLoad, EffectorState, ModelError, Openings, PoseBuffer, Reconstruction,
    StaticSolution, StepStatus, System, data::ModelData,
};

use crate::{
    mean::LinkBlend, state::BlendedState, step::BlendedStepper, workspace::BlendedWorkspace,
};

impl System for BlendedStepper {
    type State = BlendedState;
    type Workspace = BlendedWorkspace;

    fn state(&self) -> BlendedState {
        BlendedState::reference(self.model())
    }

    fn workspace(&self) -> BlendedWorkspace {
        BlendedWorkspace::new(self.model())
    }

    fn data(&self) -> &ModelData {
        self.model().data().samples[0].model.data()
    }

    fn range(&self) -> f64 {
        self.model().data().range
    }

    fn step_size(&self) -> f64 {
        self.step_size()
    }

    fn dof(&self) -> usize {
        self.model().dof()
    }

    fn coordinates(&self, state: &BlendedState, out: &mut [f64]) {
        out.copy_from_slice(state.coordinates());
    }

    fn velocity(&self, state: &BlendedState, out: &mut [f64]) {
        out.copy_from_slice(state.velocity());
    }

    fn set(&self, state: &mut BlendedState, x: &[f64], rate: &[f64]) -> Result<(), ModelError> {
        state.set(x, rate)
    }

    fn servo_targets<'a>(&self, state: &'a BlendedState) -> &'a [f64] {
        state.servo_targets()
    }

    fn set_servo_targets(
        &self,
        state: &mut BlendedState,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        state.set_servo_targets(self.model(), targets)
    }

    fn step(
        &self,
        state: &mut BlendedState,
        work: &mut BlendedWorkspace,
        loads: &[EffectorLoad],
    ) -> StepStatus {
        self.step(state, work, loads)
    }

    /// Gravity is part of the samples: that of the equilibria they are at.
    fn respond(
        &self,
        state: &mut BlendedState,
        work: &mut BlendedWorkspace,
        loads: &[EffectorLoad],
        _gravity: DVec3,
    ) -> StepStatus {
        match self.respond(state, work, loads) {
            true => StepStatus::Completed,
            false => StepStatus::NotFinite,
        }
    }

    fn inverse_system<'a>(&'a self, work: &'a BlendedWorkspace) -> Option<&'a Matrix> {
        work.inverse_system()
    }

    fn free_velocity<'a>(&self, _state: &'a BlendedState, work: &'a BlendedWorkspace) -> &'a [f64] {
        work.free_velocity()
    }

    fn change_velocity(
        &self,
        state: &mut BlendedState,
        work: &mut BlendedWorkspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError> {
        self.change_velocity(state, work, change)
    }

    fn solve_static(
        &self,
        loads: &[EffectorLoad],
        servo_targets: &[f64],
    ) -> Result<StaticSolution, ModelError> {
        self.model().solve_static(loads, servo_targets)
    }

    fn effector_pose(&self, e: usize, state: &BlendedState) -> Pose {
        self.model().effector_pose_at(e, state)
    }

    fn effectors(
        &self,
        state: &BlendedState,
        work: &BlendedWorkspace,
        velocity: &[f64],
        out: &mut [EffectorState],
    ) {
        for (e, out) in out.iter_mut().enumerate() {
            out.pose = self.model().effector(e, state, work, &mut out.jacobian);
            out.move_by(velocity);
        }
    }

    fn kinetic_energy(&self, state: &BlendedState, work: &BlendedWorkspace) -> f64 {
        let here = self.model().evaluation(state, work);
        self.model().kinetic_energy_with(here.weights(), state.velocity())
    }

    fn elastic_energy(&self, state: &BlendedState, work: &BlendedWorkspace) -> f64 {
        self.model().evaluation(state, work).potential_energy()
    }

    fn pose_buffer(&self) -> PoseBuffer {
        self.model().pose_buffer()
    }

    /// By the fast blend.
    fn poses(&self, state: &BlendedState, work: &mut BlendedWorkspace, out: &mut PoseBuffer) {
        self.model().poses(state, work, LinkBlend::default(), out);
    }

    fn constraint_error(
        &self,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
        mode: Reconstruction,
    ) -> ConstraintError {
        self.model().constraint_error(state, work, mode, LinkBlend::default())
    }

    /// Where a blend rests for its targets takes a search; what they open shows in the motion.
    fn openings(&self, state: &BlendedState, work: &mut BlendedWorkspace) -> [Openings; 2] {
        [self.model().openings(state, work), Openings::default()]
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.model().find_joint(name)?;
        Some((joint, self.model().joint_coordinate_count(joint)))
    }

    fn joint_coordinate(
        &self,
        joint: usize,
        coordinate: usize,
        state: &BlendedState,
        row: &mut [f64],
    ) -> f64 {
        self.model().joint_coordinate(joint, coordinate, state, row)
    }

    fn weights(&self, state: &BlendedState, work: &BlendedWorkspace, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.model().evaluation(state, work).weights());
    }
}
