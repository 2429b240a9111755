//! Several linearisations of one mechanism on a fixed base, blended.

use std::sync::Arc;

use forks_blend::{BlendedContact, BlendedModel, BlendedState, BlendedStepper, LinkBlend};
use forks_lie::{Pose, glam::DVec3};
use forks_linalg::Matrix;
use forks_rom::{EffectorLoad, ModelError, Openings, PoseBuffer, StepStatus};

use super::{EffectorState, Motion};

/// A blended model and its state; v = ẋ, the rates of the chart coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Blended {
    stepper: BlendedStepper,
    state: BlendedState,
    /// The linear response of the present step.
    response: BlendedContact,
    /// True if there is one.
    responds: bool,
    /// Room for the poses of the links that are shown.
    shown: PoseBuffer,
}

impl Blended {
    /// At rest at x = 0, the reference poses of the chart.
    pub(crate) fn new(model: Arc<BlendedModel>, h: f64) -> Result<Self, ModelError> {
        let n = model.dof();
        let mut state = BlendedState::new(&model, &vec![0.0; n])?;
        let (mut response, shown) = (BlendedContact::new(&model), model.pose_buffer());
        let stepper = BlendedStepper::new(model, h)?;
        let responds = stepper.linear_response(&mut state, &[], &mut response);
        Ok(Self { stepper, state, response, responds, shown })
    }

    fn model(&self) -> &BlendedModel {
        self.stepper.model()
    }
}

impl Motion for Blended {
    fn boxed(&self) -> Box<dyn Motion> {
        Box::new(self.clone())
    }

    fn openings(&self) -> Option<[Openings; 2]> {
        Some([self.model().openings(&mut self.state.clone()), Openings::default()])
    }

    fn dof(&self) -> usize {
        self.model().dof()
    }

    fn effector_count(&self) -> usize {
        self.model().effector_count()
    }

    fn coordinates(&self) -> &[f64] {
        self.state.x()
    }

    fn velocity(&self) -> &[f64] {
        self.state.velocity()
    }

    fn servo_targets(&self) -> &[f64] {
        self.state.servo_targets()
    }

    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        self.state.set(self.stepper.model(), coordinates, velocity)
    }

    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError> {
        self.state.set_servo_targets(self.stepper.model(), targets)
    }

    fn update(&self, effectors: &mut [EffectorState]) {
        for (e, effector) in effectors.iter_mut().enumerate() {
            effector.pose = self.state.effector(self.model(), e, &mut effector.jacobian);
            effector.twist_of(self.state.velocity());
        }
    }

    fn inverse_system(&mut self) -> Option<&Matrix> {
        self.responds.then_some(self.response.inverse_system())
    }

    fn varies(&self) -> bool {
        true
    }

    /// Gravity is part of the samples: that of the equilibria they are at.
    fn step_freely(&mut self, loads: &[EffectorLoad], _gravity: DVec3) -> StepStatus {
        self.responds = self.stepper.linear_response(&mut self.state, loads, &mut self.response);
        self.stepper.step(&mut self.state, loads)
    }

    fn free_velocity(&self) -> &[f64] {
        self.response.free_velocity()
    }

    fn change_velocity(&mut self, change: &[f64]) -> Result<(), ModelError> {
        self.stepper.change_velocity(&mut self.state, &mut self.response, change)
    }

    fn kinetic_energy(&self) -> f64 {
        self.state.kinetic_energy(self.model())
    }

    fn elastic_energy(&self) -> f64 {
        self.state.potential_energy()
    }

    fn joint_count(&self) -> usize {
        self.model().data().samples[0].model.data().joints.len()
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let joint = self.model().find_joint(name)?;
        Some((joint, self.model().joint_coordinate_count(joint)))
    }

    fn joint_coordinate(&self, joint: usize, coordinate: usize, row: &mut [f64]) -> f64 {
        self.model().joint_coordinate(joint, coordinate, &self.state, row)
    }

    fn link_count(&self) -> usize {
        self.shown.len()
    }

    fn link_name(&self, link: usize) -> &str {
        &self.model().data().samples[0].model.data().links[self.shown.links()[link]].name
    }

    /// By the fast blend.
    fn link_poses(&self, out: &mut Vec<Pose>) {
        // The links' coordinates are scratch memory of the state.
        let (mut state, mut buffer) = (self.state.clone(), self.shown.clone());
        self.model().poses(&mut state, LinkBlend::Average, &mut buffer);
        out.extend(buffer.iter().map(|(_, pose)| pose));
    }
}
