//! One linearisation on a base that floats.

use std::sync::Arc;

use forks_lie::{Matrix, Pose, Twist, glam::DVec3, right_jacobian};
use forks_rom::{
    EffectorLoad, FloatingContact, FloatingModel, FloatingState, FloatingStatus, FloatingStepper,
    ModelError, PoseBuffer, StepStatus,
};

use super::{EffectorState, Motion};

/// A floating model and its state; v = (body twist of the base link, η̇).
#[derive(Clone, Debug)]
pub(crate) struct Floating {
    stepper: FloatingStepper,
    state: FloatingState,
    /// The linear response of the present step.
    response: FloatingContact,
    /// True if there is one.
    responds: bool,
    /// True if the last step was made with the linearisation pose's inertia.
    unsettled: bool,
    /// Base pose (x, y, z, qw, qx, qy, qz), η.
    coordinates: Vec<f64>,
    velocity: Vec<f64>,
    /// The state to the last bit.
    memory: Vec<f64>,
    shown: PoseBuffer,
}

impl Floating {
    /// The linearisation pose at rest, its base at a pose.
    pub(crate) fn new(
        model: Arc<FloatingModel>,
        h: f64,
        world_from_base: Pose,
    ) -> Result<Self, ModelError> {
        let n = model.reduced().dof();
        let zeros = vec![0.0; n];
        let mut state = FloatingState::new(&model);
        state.set(&model, &zeros, &zeros, world_from_base, Twist::ZERO)?;
        let mut response = FloatingContact::new(&model);
        let shown = PoseBuffer::new(model.reduced());
        let stepper = FloatingStepper::new(model, h)?;
        let (_, responds) = stepper.respond(&mut state, &[], DVec3::ZERO, &mut response);
        let mut out = Self {
            stepper,
            state,
            response,
            responds,
            unsettled: false,
            coordinates: vec![0.0; 7 + n],
            velocity: vec![0.0; 6 + n],
            memory: Vec::new(),
            shown,
        };
        out.read();
        Ok(out)
    }

    fn model(&self) -> &FloatingModel {
        self.stepper.model()
    }

    /// Coordinates and velocities of the state.
    fn read(&mut self) {
        let twist = self.stepper.model().base_velocity(&self.state);
        let pose = self.state.world_from_base().to_array();
        self.coordinates[..7].copy_from_slice(&pose);
        self.coordinates[7..].copy_from_slice(self.state.eta());
        self.velocity[..6].copy_from_slice(&twist.to_array());
        self.velocity[6..].copy_from_slice(self.state.velocity());
        self.state.numbers(&mut self.memory);
    }
}

impl Motion for Floating {
    fn boxed(&self) -> Box<dyn Motion> {
        Box::new(self.clone())
    }

    fn dof(&self) -> usize {
        self.velocity.len()
    }

    fn effector_count(&self) -> usize {
        self.model().reduced().effector_count()
    }

    fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    fn memory(&self) -> &[f64] {
        &self.memory
    }

    fn servo_targets(&self) -> &[f64] {
        self.state.shape().servo_targets()
    }

    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        let sizes = [
            ("floating coordinates", coordinates.len(), self.coordinates.len()),
            ("floating velocities", velocity.len(), self.velocity.len()),
        ];
        for (quantity, found, expected) in sizes {
            if found != expected {
                return Err(ModelError::WrongSize { quantity, found, expected });
            }
        }
        let pose = Pose::from_array(core::array::from_fn(|i| coordinates[i]));
        let twist = Twist::from_array(core::array::from_fn(|i| velocity[i]));
        let (eta, rate) = (&coordinates[7..], &velocity[6..]);
        self.state.set(self.stepper.model(), eta, rate, pose, twist)?;
        self.unsettled = false;
        self.read();
        Ok(())
    }

    fn set_memory(&mut self, memory: &[f64]) -> Result<(), ModelError> {
        self.state.set_numbers(memory)?;
        self.read();
        Ok(())
    }

    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError> {
        self.state.set_servo_targets(self.stepper.model(), targets)
    }

    /// J_e = Ad⁻¹ of the base, and J_r(ξ_e) B_e relative to it.
    fn update(&self, effectors: &mut [EffectorState]) {
        let (model, eta) = (self.model().reduced(), self.state.eta());
        let back = self.state.world_from_base().inverse();
        for (e, effector) in effectors.iter_mut().enumerate() {
            effector.pose = self.model().effector_pose(e, &self.state);
            let carry = (back * effector.pose).adjoint();
            for j in 0..6 {
                let unit = core::array::from_fn(|i| f64::from(i == j));
                let column = carry.apply_inverse(Twist::from_array(unit)).to_array();
                (0..6).for_each(|i| effector.jacobian[(i, j)] = column[i]);
            }
            let right = right_jacobian(model.effector_twist(e, eta));
            effector.turn_basis(&right, &model.data().basis, e, 6);
            effector.twist_of(&self.velocity);
        }
    }

    fn inverse_system(&mut self) -> Option<&Matrix> {
        self.responds.then_some(self.response.inverse_system())
    }

    fn varies(&self) -> bool {
        true
    }

    /// Gravity is the world's. The step proper is made when contact is known.
    fn step_freely(&mut self, loads: &[EffectorLoad], gravity: DVec3) -> StepStatus {
        let (state, response) = (&mut self.state, &mut self.response);
        let (status, responds) = self.stepper.respond(state, loads, gravity, response);
        self.responds = responds;
        match (status, core::mem::take(&mut self.unsettled)) {
            (FloatingStatus::Completed, false) => StepStatus::Completed,
            (FloatingStatus::OutOfRange { effector }, _) => StepStatus::OutOfRange { effector },
            // Nowhere that the model is meant for.
            (FloatingStatus::NotFinite, _) => StepStatus::NotFinite,
            _ => StepStatus::OutOfRange { effector: 0 },
        }
    }

    fn free_velocity(&self) -> &[f64] {
        self.response.free_velocity()
    }

    fn change_velocity(&mut self, change: &[f64]) -> Result<(), ModelError> {
        let (state, response) = (&mut self.state, &mut self.response);
        let status = self.stepper.change_velocity(state, response, change)?;
        // Known after the step only: the next one reports it.
        self.unsettled = status == FloatingStatus::NotSettled;
        self.read();
        Ok(())
    }

    fn kinetic_energy(&self) -> f64 {
        self.model().kinetic_energy(&self.state)
    }

    fn elastic_energy(&self) -> f64 {
        self.model().elastic_energy(&self.state)
    }

    fn gravitational_energy(&self, gravity: DVec3) -> f64 {
        let weight = gravity * self.model().mass();
        -weight.dot(self.model().center_of_mass(&self.state))
    }

    fn momentum(&self) -> Option<(DVec3, DVec3)> {
        let p = self.model().momentum(&self.state);
        Some((p.linear, p.angular))
    }

    fn joint_count(&self) -> usize {
        self.model().reduced().data().joints.len()
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        let model = self.model().reduced();
        let joint = model.find_joint(name)?;
        Some((joint, model.data().joints[joint].map.rows()))
    }

    fn joint_coordinate(&self, joint: usize, coordinate: usize, row: &mut [f64]) -> f64 {
        let model = self.model().reduced();
        row[..6].fill(0.0);
        row[6..].copy_from_slice(model.joint_row(joint, coordinate));
        model.joint_coordinate(joint, coordinate, self.state.shape())
    }

    fn link_count(&self) -> usize {
        self.shown.len()
    }

    fn link_name(&self, link: usize) -> &str {
        &self.model().reduced().data().links[self.shown.links()[link]].name
    }

    fn link_poses(&self, out: &mut Vec<Pose>) {
        let mut buffer = self.shown.clone();
        self.model().poses(&self.state, &mut buffer);
        out.extend(buffer.iter().map(|(_, pose)| pose));
    }
}
