//! Memory of a floating model's steps.

use forks_linalg::Matrix;

use super::{model::FloatingModel, newton::FloatingWork, response::Response};

/// Memory of steps: the linear response of the one that was begun.
#[derive(Clone, Debug)]
pub struct FloatingWorkspace {
    pub(super) step: FloatingWork,
    pub(super) response: Response,
}

impl FloatingWorkspace {
    /// For steps of a model.
    pub fn new(model: &FloatingModel) -> Self {
        let n = model.inertia.n;
        Self { step: FloatingWork::new(n), response: Response::new(n) }
    }

    /// A⁻¹, (6 + n)²: what generalised impulses add to the base link's body twist and η̇;
    /// symmetric, positive definite. `None` where nothing resists a motion.
    pub fn inverse_system(&self) -> Option<&Matrix> {
        self.response.responds.then_some(&self.response.inverse)
    }

    /// The base link's body twist and η̇ after the step without impulses, axes and lever arms as
    /// before the step. The step proper differs from it by what is not linear.
    pub fn free_velocity(&self) -> &[f64] {
        &self.response.free
    }
}
