//! The state of one instance of a reduced model.

use alloc::{vec, vec::Vec};

use forks_lie::{Twist, se3::right_jacobian};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel, LANES, all_finite},
};

use crate::{ModelError, ReducedModel, transition::Packed};

/// Reduced coordinates, their rates and servo targets of one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub(crate) dof: usize,
    /// η, padded with zeros to whole lane groups.
    pub(crate) eta: Vec<f64>,
    /// η̇, padded likewise.
    pub(crate) velocity: Vec<f64>,
    pub(crate) servo_targets: Vec<f64>,
    /// True if some servo target is not 0.
    pub(crate) driven: bool,
    /// η_s, the coordinates at which the mechanism rests for the servo targets, padded.
    pub(crate) rest: Vec<f64>,
}

/// Memory of a step; holds nothing between steps.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// η − η_s, padded.
    pub(crate) stretch: Vec<f64>,
    /// g, padded.
    pub(crate) force: Vec<f64>,
    /// What the step's matrix gives, each part padded.
    pub(crate) result: Vec<f64>,
}

impl Workspace {
    /// For steps of a model.
    pub fn new(model: &ReducedModel) -> Self {
        let padded = LANES * model.effector_blocks().width();
        Self { stretch: vec![0.0; padded], force: vec![0.0; padded], result: vec![0.0; 2 * padded] }
    }
}

impl State {
    /// The linearisation pose at rest.
    pub fn new(model: &ReducedModel) -> Self {
        let (n, padded) = (model.dof(), LANES * model.effector_blocks().width());
        Self {
            dof: n,
            eta: vec![0.0; padded],
            velocity: vec![0.0; padded],
            servo_targets: vec![0.0; model.data().servos.len()],
            driven: false,
            rest: vec![0.0; padded],
        }
    }

    /// η, metres and radians in the directions of the basis.
    pub fn coordinates(&self) -> &[f64] {
        &self.eta[..self.dof]
    }

    /// η̇.
    pub fn velocity(&self) -> &[f64] {
        &self.velocity[..self.dof]
    }

    /// Servo targets relative to those of the linearisation pose.
    pub fn servo_targets(&self) -> &[f64] {
        &self.servo_targets
    }

    /// Sets η and η̇.
    ///
    /// # Errors
    /// Wrong lengths, numbers that are not finite; the state is then unchanged.
    pub fn set(&mut self, eta: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        check("eta", eta, self.dof)?;
        check("velocity", velocity, self.dof)?;
        self.eta[..self.dof].copy_from_slice(eta);
        self.velocity[..self.dof].copy_from_slice(velocity);
        Ok(())
    }

    /// Sets the servo targets relative to those of the linearisation pose, in the order of
    /// [`ModelData::servos`](crate::data::ModelData::servos).
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite; the state is then unchanged.
    pub fn set_servo_targets(
        &mut self,
        model: &ReducedModel,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        let (quantity, found) = ("servo targets of the model", self.servo_targets.len());
        let expected = model.data().servos.len();
        if found != expected {
            return Err(ModelError::WrongSize { quantity, found, expected });
        }
        let quantity = "servo targets";
        if targets.len() != expected {
            return Err(ModelError::WrongSize { quantity, found: targets.len(), expected });
        }
        // Without a branch per servo.
        let pairs = self.servo_targets.iter().zip(targets);
        if pairs.fold(0, |changed, (a, b)| changed | (a.to_bits() ^ b.to_bits())) == 0 {
            return Ok(());
        }
        let map = model.servo_rest();
        if !model.isa().run(Product { map, x: targets, out: &mut self.rest }) {
            return Err(ModelError::NotFinite { quantity });
        }
        self.servo_targets.copy_from_slice(targets);
        self.driven = targets.iter().any(|x| *x != 0.0);
        Ok(())
    }

    /// Servo targets, empty where all are 0.
    #[doc(hidden)]
    pub fn drive(&self) -> &[f64] {
        if self.driven { &self.servo_targets } else { &[] }
    }
}

/// A matrix times a vector as a kernel, if that is finite.
struct Product<'a> {
    map: &'a Packed,
    x: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Product<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let finite = all_finite(l, self.x);
        if finite {
            self.map.product(l, self.x, self.out);
        }
        finite
    }
}

/// The right count of finite numbers.
pub fn check(quantity: &'static str, x: &[f64], expected: usize) -> Result<(), ModelError> {
    if x.len() != expected {
        return Err(ModelError::WrongSize { quantity, found: x.len(), expected });
    }
    if x.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(ModelError::NotFinite { quantity })
}

impl ReducedModel {
    /// Body twist of effector `e` relative to the base: φ_e = J_r(ξ_e) B_e η̇, effector frame.
    pub fn effector_velocity(&self, e: usize, state: &State) -> Twist {
        let rate = self.effector_twist(e, state.velocity());
        let jacobian = right_jacobian(self.effector_twist(e, state.coordinates()));
        Twist::from_array(jacobian.mul_vec(&rate.to_array()))
    }

    /// Body twist of effector `e` per unit rate of η, J_r(B_e η) B_e, 6 × n_η, into `out`.
    ///
    /// # Panics
    /// If there is no such effector, or sizes differ.
    pub fn effector_jacobian(&self, e: usize, eta: &[f64], out: &mut Matrix) {
        let n = self.dof();
        assert_eq!([eta.len(), out.rows(), out.columns()], [n, 6, n], "sizes");
        let (right, basis) = (right_jacobian(self.effector_twist(e, eta)), &self.data().basis);
        for j in 0..n {
            let column = core::array::from_fn(|i| basis[(6 * e + i, j)]);
            for (i, y) in right.mul_vec(&column).into_iter().enumerate() {
                out[(i, j)] = y;
            }
        }
    }

    /// Kinetic energy ½ η̇ᵀ M η̇, J.
    pub fn kinetic_energy(&self, velocity: &[f64]) -> f64 {
        let momentum = self.data().mass.mul_vec(velocity);
        0.5 * momentum.iter().zip(velocity).map(|(p, v)| p * v).sum::<f64>()
    }

    /// Kinetic energy and elastic energy over its value at the linearisation pose, J.
    pub fn energy(&self, state: &State) -> f64 {
        self.kinetic_energy(state.velocity())
            + self.elastic_energy(state.coordinates(), state.drive())
    }
}
