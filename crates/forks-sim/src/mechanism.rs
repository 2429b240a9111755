//! Reduced mechanisms in a world.
//!
//! The free velocity of a step comes from the model's own stepper; contact adds A⁻¹ Jᵀλ with A = M + hD + h²𝓗, so that
//! elasticity and damping are implicit in contact too (\[A16\] §6).

use std::sync::Arc;

use forks_contact::BodyId;
use forks_lie::{Matrix, Pose, Twist, Wrench, right_jacobian};
use forks_rom::{EffectorLoad, LoadFrame, ModelError, ReducedModel, State, StepStatus, Stepper};

use crate::{SimError, error::check_finite};

/// A reduced mechanism and its state.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) body: BodyId,
    stepper: Stepper,
    pub(crate) state: State,
    /// World from the frame that the model calls world.
    placement: Pose,
    /// In the model's axes.
    loads: Vec<EffectorLoad>,
    effectors: Vec<EffectorState>,
    /// η̇⁺ without contact.
    free: Vec<f64>,
    /// What contact adds to it.
    change: Vec<f64>,
    /// η, η̇ at the start of the step.
    kept: Kept,
}

/// η and η̇.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    pub(crate) eta: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
}

/// What contact needs to know about an effector.
#[derive(Clone, Debug)]
pub(crate) struct EffectorState {
    /// World from effector.
    pub(crate) pose: Pose,
    /// Effector frame.
    pub(crate) twist: Twist,
    /// J_r(ξ) B, 6 × n_η: body twist per η̇.
    jacobian: Matrix,
}

impl Instance {
    pub(crate) fn new(
        name: &str,
        model: Arc<ReducedModel>,
        placement: Pose,
        h: f64,
        add: impl FnOnce(&Matrix) -> Result<BodyId, SimError>,
    ) -> Result<Self, SimError> {
        let invalid = |source: ModelError| SimError::Model { mechanism: name.into(), source };
        check_finite(&format!("mechanism {name:?}"), "the placement", &placement.to_array())?;
        let stepper = Stepper::new(model.clone(), h).map_err(invalid)?;
        let inverse = stepper.inverse_system().ok_or(ModelError::SingularStep).map_err(invalid)?;
        let n = model.dof();
        let effector = EffectorState {
            pose: Pose::IDENTITY,
            twist: Twist::ZERO,
            jacobian: Matrix::zeros(6, n),
        };
        let mut out = Self {
            name: name.into(),
            body: add(&inverse)?,
            state: State::new(&model),
            placement: placement.normalized(),
            loads: Vec::new(),
            effectors: vec![effector; model.effector_count()],
            free: vec![0.0; n],
            change: vec![0.0; n],
            kept: Kept { eta: vec![0.0; n], velocity: vec![0.0; n] },
            stepper,
        };
        out.update_effectors();
        Ok(out)
    }

    pub(crate) fn model(&self) -> &Arc<ReducedModel> {
        self.stepper.model()
    }

    pub(crate) fn effector(&self, e: usize) -> &EffectorState {
        &self.effectors[e]
    }

    pub(crate) fn effector_count(&self) -> usize {
        self.effectors.len()
    }

    /// World from the model's world.
    pub(crate) fn placement(&self) -> &Pose {
        &self.placement
    }

    /// Poses, twists and Jacobians at the present state.
    pub(crate) fn update_effectors(&mut self) {
        let model = self.stepper.model();
        let (eta, basis) = (self.state.eta(), &model.data().basis);
        for (e, effector) in self.effectors.iter_mut().enumerate() {
            let xi = model.effector_twist(e, eta);
            effector.pose = self.placement * model.data().effectors[e].rest.displaced(xi);
            let right = right_jacobian(xi);
            let mut twist = [0.0; 6];
            for j in 0..eta.len() {
                let column = core::array::from_fn(|i| basis[(6 * e + i, j)]);
                for (i, x) in right.mul_vec(&column).into_iter().enumerate() {
                    effector.jacobian[(i, j)] = x;
                    twist[i] += x * self.state.velocity()[j];
                }
            }
            effector.twist = Twist::from_array(twist);
        }
    }

    /// Replaces the loads of an effector by a wrench at its origin; world axes or the effector's.
    pub(crate) fn set_load(&mut self, effector: usize, wrench: Wrench, frame: LoadFrame) {
        let wrench = match frame {
            LoadFrame::World => {
                let back = self.placement.rotation.conjugate();
                Wrench::new(back * wrench.force, back * wrench.torque)
            }
            LoadFrame::Body => wrench,
        };
        self.loads.retain(|l| l.effector != effector || l.frame != frame);
        if wrench != Wrench::ZERO {
            self.loads.push(EffectorLoad { effector, wrench, frame });
        }
    }

    /// Takes the free step. The state is then the one without contact.
    pub(crate) fn step_freely(&mut self) -> StepStatus {
        let status = self.stepper.step(&mut self.state, &self.loads);
        self.free.copy_from_slice(self.state.velocity());
        status
    }

    /// η̇⁺ without contact.
    pub(crate) fn free(&self) -> &[f64] {
        &self.free
    }

    /// Ends the step with the velocity that contact left.
    pub(crate) fn finish(&mut self, velocity: &[f64]) -> Result<(), ModelError> {
        for (d, (v, free)) in self.change.iter_mut().zip(velocity.iter().zip(&self.free)) {
            *d = v - free;
        }
        self.stepper.change_velocity(&mut self.state, &self.change)
    }

    /// Remembers the state.
    pub(crate) fn keep(&mut self) {
        self.kept.eta.copy_from_slice(self.state.eta());
        self.kept.velocity.copy_from_slice(self.state.velocity());
    }

    /// Back to what was remembered.
    pub(crate) fn restore(&mut self) -> Result<(), ModelError> {
        self.state.set(&self.kept.eta, &self.kept.velocity)?;
        self.update_effectors();
        Ok(())
    }
}

impl EffectorState {
    /// Three rows of the effector's twist as rows of η̇, appended to `out`.
    pub(crate) fn project(&self, rows: &[f64; 18], out: &mut Vec<f64>) {
        for row in rows.chunks_exact(6) {
            for j in 0..self.jacobian.columns() {
                out.push((0..6).map(|i| row[i] * self.jacobian[(i, j)]).sum());
            }
        }
    }
}
