//! One linearisation on a base that floats.

use std::sync::Arc;

use forks_lie::{Mat6, Pose, Twist, glam::DVec3, right_jacobian};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel, Lanes, Rows, Wide},
};
use forks_rom::{
    EffectorLoad, FloatingContact, FloatingModel, FloatingState, FloatingStatus, FloatingStepper,
    ModelError, Openings, PoseBuffer, ServoTerms, StepStatus,
};

use super::{EffectorState, Motion, openings};
use crate::energy::about_targets;

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
    /// B, 6E × n.
    basis: Rows,
    /// η and η̇, padded to whole lane groups.
    padded: Rows,
    shown: PoseBuffer,
    terms: ServoTerms,
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
        let data = model.reduced().data();
        let basis = Rows::from_fn(data.basis.rows(), n, |i, j| data.basis[(i, j)]);
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
            basis,
            padded: Rows::zeros(2, n),
            shown,
            terms: ServoTerms::default(),
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
        for (row, x) in [self.state.eta(), self.state.velocity()].into_iter().enumerate() {
            let entries = self.padded.row_mut(row).iter_mut().flat_map(|four| four.iter_mut());
            entries.zip(x).for_each(|(out, x)| *out = *x);
        }
    }
}

/// Poses, Jacobians and twists of effectors: J_e = (Ad⁻¹ of the base, J_r(ξ_e) B_e).
struct Update<'a> {
    floating: &'a Floating,
    effectors: &'a mut [EffectorState],
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { floating, effectors } = self;
        let (model, state) = (floating.model(), &floating.state);
        let base_from_world = state.world_from_base().inverse();
        let world_from_rest = model.world_from_rest(state);
        let own = Twist::from_array(core::array::from_fn(|i| floating.velocity[i]));
        let rests = &model.reduced().data().effectors;
        let maps = floating.basis.as_slice().chunks_exact((6 * floating.basis.width()).max(1));
        for ((effector, rest), map) in effectors.iter_mut().zip(rests).zip(maps) {
            let twist = Twist::from_array(times(l, map, floating.padded.row(0)));
            effector.pose = world_from_rest * (rest.rest * Pose::exp(twist));
            let carry = (base_from_world * effector.pose).adjoint();
            for j in 0..6 {
                let unit = core::array::from_fn(|i| f64::from(i == j));
                let column = carry.apply_inverse(Twist::from_array(unit)).to_array();
                (0..6).for_each(|i| effector.jacobian[(i, j)] = column[i]);
            }
            let right = right_jacobian(twist);
            turn(l, &right, map, &mut effector.jacobian);
            let relative = right.mul_vec(&times(l, map, floating.padded.row(1)));
            effector.twist = carry.apply_inverse(own) + Twist::from_array(relative);
        }
    }
}

/// Six rows times a padded vector.
#[inline(always)]
fn times<L: Arithmetic>(l: L, rows: &[Lanes], x: &[Lanes]) -> [f64; 6] {
    let mut sums = [l.splat(0.0); 6];
    for (sum, row) in sums.iter_mut().zip(rows.chunks_exact(x.len().max(1))) {
        for (row, x) in row.iter().zip(x) {
            *sum += l.load(row) * l.load(x);
        }
    }
    let [a, b, c, d, e, f] = sums;
    let ([a, b, c, d], [e, f, ..]) =
        (l.sums([a, b, c, d]).store().0, l.sums([e, f, e, f]).store().0);
    [a, b, c, d, e, f]
}

/// J_r B_e into the columns of a Jacobian behind the base's six.
#[inline(always)]
fn turn<L: Arithmetic>(l: L, right: &Mat6, map: &[Lanes], out: &mut Matrix) {
    let width = map.len() / 6;
    for group in 0..width {
        let rows: [Wide<L>; 6] = core::array::from_fn(|k| l.load(&map[k * width + group]));
        for (i, coefficients) in right.rows.iter().enumerate() {
            // The angular rows have no linear part.
            let from = if i < 3 { 0 } else { 3 };
            let mut sum = (coefficients[from] * rows[from]).rounded();
            for k in from + 1..6 {
                sum += coefficients[k] * rows[k];
            }
            let four = sum.store().0;
            let out = &mut out.row_mut(i)[6 + 4 * group..];
            match out.first_chunk_mut::<4>() {
                Some(out) => *out = four,
                None => out.iter_mut().zip(four).for_each(|(out, x)| *out = x),
            }
        }
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

    fn update(&self, effectors: &mut [EffectorState]) {
        self.model().reduced().isa().run(Update { floating: self, effectors });
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
        let moved = about_targets(self.model().reduced(), &self.terms, self.servo_targets());
        self.model().elastic_energy(&self.state) + moved
    }

    fn set_servo_terms(&mut self, terms: &ServoTerms) {
        self.terms.clone_from(terms);
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

    fn openings(&self) -> Option<[Openings; 2]> {
        openings(self.model().reduced(), self.state.shape())
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
