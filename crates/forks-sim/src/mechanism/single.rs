//! One linearisation on a fixed base.

use std::sync::Arc;

use forks_lie::{Pose, glam::DVec3};
use forks_linalg::Matrix;
use forks_rom::{
    EffectorLoad, EffectorMotions, ModelError, Openings, PoseBuffer, ReducedModel, ServoTerms,
    State, StepStatus, Stepper,
};

use super::{Motion, openings};
use crate::energy::about_targets;

/// A reduced model and its state; v = η̇.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    stepper: Stepper,
    state: State,
    inverse: Matrix,
    /// Room for the poses of the links that are shown.
    shown: PoseBuffer,
    terms: ServoTerms,
}

impl Single {
    pub(crate) fn new(model: Arc<ReducedModel>, h: f64) -> Result<Self, ModelError> {
        let stepper = Stepper::new(model, h)?;
        let inverse = stepper.inverse_system().ok_or(ModelError::SingularStep)?;
        let shown = PoseBuffer::new(stepper.model());
        let (state, terms) = (State::new(stepper.model()), ServoTerms::default());
        Ok(Self { state, inverse, shown, terms, stepper })
    }

    fn model(&self) -> &ReducedModel {
        self.stepper.model()
    }
}

impl Motion for Single {
    fn boxed(&self) -> Box<dyn Motion> {
        Box::new(self.clone())
    }

    fn dof(&self) -> usize {
        self.model().dof()
    }

    fn effector_count(&self) -> usize {
        self.model().effector_count()
    }

    fn coordinates(&self) -> &[f64] {
        self.state.eta()
    }

    fn velocity(&self) -> &[f64] {
        self.state.velocity()
    }

    fn servo_targets(&self) -> &[f64] {
        self.state.servo_targets()
    }

    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        self.state.set(coordinates, velocity)
    }

    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError> {
        self.state.set_servo_targets(self.stepper.model(), targets)
    }

    fn effector_motions(&self, world_from_model: &Pose) -> Option<EffectorMotions> {
        Some(EffectorMotions::new(self.model(), world_from_model))
    }

    fn update_motions(&self, effectors: &mut EffectorMotions) {
        effectors.update(&self.state);
    }

    fn inverse_system(&mut self) -> Option<&Matrix> {
        Some(&self.inverse)
    }

    /// Gravity is part of the model: that of the pose it was linearised in.
    fn step_freely(&mut self, loads: &[EffectorLoad], _gravity: DVec3) -> StepStatus {
        self.stepper.step(&mut self.state, loads)
    }

    fn change_velocity(&mut self, change: &[f64]) -> Result<(), ModelError> {
        self.stepper.change_velocity(&mut self.state, change)
    }

    fn end_with(&mut self, velocity: &[f64], _change: &mut [f64]) -> Result<(), ModelError> {
        self.stepper.end_with(&mut self.state, velocity)
    }

    fn kinetic_energy(&self) -> f64 {
        self.model().kinetic_energy(self.state.velocity())
    }

    fn elastic_energy(&self) -> f64 {
        let moved = about_targets(self.model(), &self.terms, self.servo_targets());
        self.model().energy(&self.state) - self.kinetic_energy() + moved
    }

    fn set_servo_terms(&mut self, terms: &ServoTerms) {
        self.terms.clone_from(terms);
    }

    fn joint_count(&self) -> usize {
        self.model().data().joints.len()
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.model().find_joint(name)?;
        Some((joint, self.model().data().joints[joint].map.rows()))
    }

    fn joint_coordinate(&self, joint: usize, coordinate: usize, row: &mut [f64]) -> f64 {
        row.copy_from_slice(self.model().joint_row(joint, coordinate));
        self.model().joint_coordinate(joint, coordinate, &self.state)
    }

    fn openings(&self) -> Option<[Openings; 2]> {
        openings(self.model(), &self.state)
    }

    fn link_count(&self) -> usize {
        self.shown.len()
    }

    fn link_name(&self, link: usize) -> &str {
        &self.model().data().links[self.shown.links()[link]].name
    }

    fn link_poses(&self, out: &mut Vec<Pose>) {
        let mut buffer = self.shown.clone();
        self.model().poses(&self.state, &mut buffer);
        out.extend(buffer.iter().map(|(_, pose)| pose));
    }
}
