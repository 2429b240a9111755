//! One linearisation on a fixed base as a [`System`]: v = η̇.

use forks_lie::{Pose, glam::DVec3};
use forks_linalg::Matrix;

use crate::{
    ConstraintError, EffectorLoad, EffectorMotions, EffectorState, ModelError, Openings,
    PoseBuffer, Reconstruction, ServoTerms, State, StaticSolution, StepStatus, Stepper, System,
    Workspace, data::ModelData,
};

impl System for Stepper {
    type State = State;
    type Workspace = Workspace;

    fn state(&self) -> State {
        State::new(self.model())
    }

    fn workspace(&self) -> Workspace {
        Workspace::new(self.model())
    }

    fn data(&self) -> &ModelData {
        self.model().data()
    }

    fn step_size(&self) -> f64 {
        self.step_size()
    }

    fn dof(&self) -> usize {
        self.model().dof()
    }

    fn coordinates(&self, state: &State, out: &mut [f64]) {
        out.copy_from_slice(state.coordinates());
    }

    fn velocity(&self, state: &State, out: &mut [f64]) {
        out.copy_from_slice(state.velocity());
    }

    fn set(&self, state: &mut State, eta: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        state.set(eta, velocity)
    }

    fn servo_targets<'a>(&self, state: &'a State) -> &'a [f64] {
        state.servo_targets()
    }

    fn set_servo_targets(&self, state: &mut State, targets: &[f64]) -> Result<(), ModelError> {
        state.set_servo_targets(self.model(), targets)
    }

    fn step(&self, state: &mut State, work: &mut Workspace, loads: &[EffectorLoad]) -> StepStatus {
        self.step(state, work, loads)
    }

    /// The step itself: impulses add to it.
    fn respond(
        &self,
        state: &mut State,
        work: &mut Workspace,
        loads: &[EffectorLoad],
        _gravity: DVec3,
    ) -> StepStatus {
        self.step(state, work, loads)
    }

    fn inverse_system<'a>(&'a self, _work: &'a Workspace) -> Option<&'a Matrix> {
        self.inverse_system()
    }

    fn varies(&self) -> bool {
        false
    }

    fn free_velocity<'a>(&self, state: &'a State, _work: &'a Workspace) -> &'a [f64] {
        state.velocity()
    }

    fn change_velocity(
        &self,
        state: &mut State,
        _work: &mut Workspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError> {
        self.change_velocity(state, change).map(|()| StepStatus::Completed)
    }

    fn end_with(
        &self,
        state: &mut State,
        _work: &mut Workspace,
        velocity: &[f64],
        _change: &mut [f64],
    ) -> Result<StepStatus, ModelError> {
        self.end_with(state, velocity).map(|()| StepStatus::Completed)
    }

    fn solve_static(
        &self,
        loads: &[EffectorLoad],
        servo_targets: &[f64],
    ) -> Result<StaticSolution, ModelError> {
        self.model().solve_static(loads, servo_targets)
    }

    fn effector_pose(&self, e: usize, state: &State) -> Pose {
        self.model().effector_pose(e, state.coordinates())
    }

    fn effectors(
        &self,
        state: &State,
        _work: &Workspace,
        velocity: &[f64],
        out: &mut [EffectorState],
    ) {
        for (e, out) in out.iter_mut().enumerate() {
            out.pose = self.model().effector_pose(e, state.coordinates());
            self.model().effector_jacobian(e, state.coordinates(), &mut out.jacobian);
            out.move_by(velocity);
        }
    }

    fn effector_motions(&self, world_from_model: &Pose) -> Option<EffectorMotions> {
        Some(EffectorMotions::new(self.model(), world_from_model))
    }

    fn update_motions(&self, state: &State, motions: &mut EffectorMotions) {
        motions.update(state);
    }

    fn kinetic_energy(&self, state: &State, _work: &Workspace) -> f64 {
        self.model().kinetic_energy(state.velocity())
    }

    fn elastic_energy(&self, state: &State, _work: &Workspace) -> f64 {
        self.model().elastic_energy(state.coordinates(), state.drive())
    }

    fn target_energy(&self, terms: &ServoTerms, state: &State) -> f64 {
        terms.energy_beyond_rest(self.model(), state.servo_targets())
    }

    fn pose_buffer(&self) -> PoseBuffer {
        PoseBuffer::new(self.model())
    }

    fn poses(&self, state: &State, _work: &mut Workspace, out: &mut PoseBuffer) {
        self.model().poses(state, out);
    }

    fn constraint_error(
        &self,
        state: &State,
        _work: &mut Workspace,
        mode: Reconstruction,
    ) -> ConstraintError {
        self.model().constraint_error(state, mode)
    }

    /// Targets that a state took are finite and as many as there are servos.
    fn openings(&self, state: &State, _work: &mut Workspace) -> [Openings; 2] {
        let targets = self.model().target_openings(state.servo_targets());
        [self.model().openings(state), targets.unwrap_or_default()]
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.model().find_joint(name)?;
        Some((joint, self.data().joints[joint].map.rows()))
    }

    fn joint_coordinate(
        &self,
        joint: usize,
        coordinate: usize,
        state: &State,
        row: &mut [f64],
    ) -> f64 {
        row.copy_from_slice(self.model().joint_row(joint, coordinate));
        self.model().joint_coordinate(joint, coordinate, state)
    }
}
