//! Memory of a blend's steps, with what is known of the place it was last at.

use alloc::{borrow::Cow, vec, vec::Vec};

use forks_linalg::Matrix;

use crate::{
    evaluation::Evaluation, lanes::padded, link_kernel::Scratch, model::BlendedModel,
    state::BlendedState,
};

/// Memory of steps and poses, used again for the next. It belongs to a model, not to a state: for a
/// state it was not last at, it is brought up to date first.
#[derive(Clone, Debug)]
pub struct BlendedWorkspace {
    /// What is known at `place`.
    pub(crate) here: Evaluation,
    /// Coordinates and servo targets of `here`; empty at first.
    place: Vec<f64>,
    targets: Vec<f64>,
    /// For the links.
    pub(crate) scratch: Scratch,
    pub(crate) step: Work,
    /// A⁻¹, and whether there is one.
    pub(crate) inverse: Matrix,
    pub(crate) responds: bool,
    /// ẋ after the step without impulses.
    pub(crate) free: Vec<f64>,
}

/// Memory of one step.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) there: Evaluation,
    pub(crate) x: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    /// The velocity before a correction.
    pub(crate) last: Vec<f64>,
    /// The velocity before all corrections.
    pub(crate) first: Vec<f64>,
    /// Generalised force of the loads, padded.
    pub(crate) force: Vec<f64>,
    /// The same with centrifugal and Coriolis forces, which do no work but with the changing mass.
    pub(crate) balanced: Vec<f64>,
    pub(crate) right: Vec<f64>,
    pub(crate) mass: Vec<f64>,
    /// M̄ at the place where a step ended, and whether it is known.
    pub(crate) mass_there: Vec<f64>,
    pub(crate) arrived: bool,
    /// ½ v₀ᵀM̄v₀.
    pub(crate) moving: f64,
    pub(crate) damping: Vec<f64>,
    /// K̄, then L of A = M̄ + hD̄ + h²K̄ = L Lᵀ.
    pub(crate) system: Vec<f64>,
    /// For blends whose matrices do not depend on the place: the step h for which matrices, L and
    /// the inverse are known; not a number at first.
    pub(crate) known: f64,
}

impl BlendedWorkspace {
    /// For steps of a model.
    pub fn new(model: &BlendedModel) -> Self {
        let n = model.dof();
        Self {
            here: Evaluation::new(model),
            place: Vec::with_capacity(n),
            targets: Vec::with_capacity(model.servo_count()),
            scratch: Scratch::new(model.samples.len()),
            step: Work {
                there: Evaluation::new(model),
                x: vec![0.0; n],
                velocity: vec![0.0; n],
                last: vec![0.0; n],
                first: vec![0.0; n],
                force: vec![0.0; padded(n)],
                balanced: vec![0.0; n],
                right: vec![0.0; n],
                mass: vec![0.0; n * n],
                mass_there: vec![0.0; n * n],
                arrived: false,
                moving: 0.0,
                damping: vec![0.0; n * n],
                system: vec![0.0; n * n],
                known: f64::NAN,
            },
            inverse: Matrix::zeros(n, n),
            responds: false,
            free: vec![0.0; n],
        }
    }

    /// A⁻¹ of the step that was begun, N × N, symmetric and positive definite: where poses are held
    /// by their loads only, A has the positive pivots that the step takes. `None` if nothing
    /// resists a motion or numbers are not finite.
    pub fn inverse_system(&self) -> Option<&Matrix> {
        self.responds.then_some(&self.inverse)
    }

    /// ẋ after the step without impulses. The step proper differs from it by what is not linear.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free
    }

    /// True if `here` is what is known at a state.
    fn is_at(&self, state: &BlendedState) -> bool {
        let same = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        same(&self.place, &state.x) && same(&self.targets, &state.servo_targets)
    }

    /// Brings `here` to a state. Allocates nothing unless servo targets were set.
    pub(crate) fn update(&mut self, model: &BlendedModel, state: &BlendedState) {
        if self.is_at(state) {
            return;
        }
        if self.targets != state.servo_targets {
            self.here.drive(model, &state.servo_targets);
            self.step.there.drive(model, &state.servo_targets);
        }
        self.here.at(model, &state.x);
        self.step.arrived = false;
        self.arrive(state);
    }

    /// `here` is what is known at a state.
    pub(crate) fn arrive(&mut self, state: &BlendedState) {
        self.place.clear();
        self.place.extend_from_slice(&state.x);
        self.targets.clear();
        self.targets.extend_from_slice(&state.servo_targets);
    }
}

impl BlendedModel {
    /// What is known at a state. A workspace that was last there, as after a step, has it; else it
    /// is found anew.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size.
    pub fn evaluation<'a>(
        &self,
        state: &BlendedState,
        work: &'a BlendedWorkspace,
    ) -> Cow<'a, Evaluation> {
        assert_eq!([state.x.len(), work.free.len()], [self.dof(); 2], "coordinates of the state");
        if work.is_at(state) {
            return Cow::Borrowed(&work.here);
        }
        Cow::Owned(self.evaluated_at(state))
    }

    /// The same without memory of steps.
    pub fn evaluated_at(&self, state: &BlendedState) -> Evaluation {
        let mut out = Evaluation::new(self);
        out.drive(self, &state.servo_targets);
        out.at(self, &state.x);
        out
    }
}
