//! Memory of a floating blend's steps.

use alloc::{vec, vec::Vec};

use forks_linalg::{Matrix, simd::Rows};
use forks_rom::internal::floating::{FloatingWork, Response};

use super::{model::FloatingBlend, place::Place, state::FloatingBlendState};
use crate::{lanes::padded, workspace::BlendedWorkspace};

/// Memory of steps and poses, used again for the next. It belongs to a model, not to a state: for a
/// state it was not last at, it is brought up to date first.
#[derive(Clone, Debug)]
pub struct FloatingBlendWorkspace {
    /// The blend's own memory.
    pub(super) blend: BlendedWorkspace,
    /// Inertia before a step, at `at`, and after it.
    pub(super) here: Place,
    pub(super) there: Place,
    /// Coordinates of `here`; empty at first.
    at: Vec<f64>,
    pub(super) step: FloatingWork,
    pub(super) response: Response,
    /// A = M̃ + hD̄ + h²K̄, and the part h²K̄ of it.
    pub(super) matrix: Rows,
    pub(super) elastic: Rows,
    /// What loads and impulses do on x, the centre of mass held, padded.
    pub(super) load: Vec<f64>,
    /// Corrections of the elastic force, times h.
    pub(super) correction: Vec<f64>,
    /// The trial before a correction, and before all of them.
    pub(super) kept: Vec<f64>,
    pub(super) first: Vec<f64>,
    /// Padded: coordinates count from where the step begins.
    pub(super) zero: Vec<f64>,
}

impl FloatingBlendWorkspace {
    /// For steps of a model.
    pub fn new(model: &FloatingBlend) -> Self {
        let n = model.model.dof();
        let step = FloatingWork::new(n);
        Self {
            blend: BlendedWorkspace::new(&model.model),
            here: Place::new(model),
            there: Place::new(model),
            at: Vec::with_capacity(n),
            response: Response::new(n),
            matrix: Rows::zeros(n, n),
            elastic: Rows::zeros(n, n),
            load: vec![0.0; padded(n)],
            correction: vec![0.0; padded(n)],
            kept: vec![0.0; step.trial.len()],
            first: vec![0.0; step.trial.len()],
            zero: vec![0.0; padded(n)],
            step,
        }
    }

    /// A⁻¹ of the step that was begun, (6 + N)²: what generalised impulses add to the base link's
    /// body twist and ẋ; symmetric, positive definite. `None` where nothing resists a motion.
    pub fn inverse_system(&self) -> Option<&Matrix> {
        self.response.responds.then_some(&self.response.inverse)
    }

    /// The base link's body twist and ẋ after the step without impulses, axes and lever arms as
    /// before the step. The step proper differs from it by what is not linear.
    pub fn free_velocity(&self) -> &[f64] {
        &self.response.free
    }

    /// Brings everything to a state. Allocates nothing unless servo targets were set.
    pub(super) fn update(&mut self, model: &FloatingBlend, state: &FloatingBlendState) {
        self.blend.update(&model.model, &state.shape);
        let x = &state.shape.x;
        let same = |a: &[f64]| a.iter().zip(x).all(|(a, b)| a.to_bits() == b.to_bits());
        if self.at.len() != x.len() || !same(&self.at) {
            self.here.update(model, x, &mut self.blend.here, &mut self.step);
            self.arrive(state);
        }
    }

    /// `here` is what is known at a state.
    pub(super) fn arrive(&mut self, state: &FloatingBlendState) {
        self.at.clear();
        self.at.extend_from_slice(&state.shape.x);
    }
}
