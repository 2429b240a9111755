//! Rests of a blend next to full equilibria, by Newton's method with the mechanism's own stiffness
//! in place of the blend's: one evaluation a step, where the blend's slope takes 2N.
//!
//! A blend that is any good has nearly this stiffness. Where steps do not become much shorter it
//! has not, and nobody knows where it rests.

use forks_blend::BlendedModel;
use forks_mechanism::linalg::{Matrix, norm};
use forks_rom::Reconstruction;

use crate::{
    measure::{Errors, Gauge, UNSTABLE, effector_loads},
    truth::Truth,
};

/// Each step is at most this part of the one before; the second one of a blend that is any good.
const SHORTER: f64 = 0.9;
const MUCH_SHORTER: f64 = 0.5;
/// Lengths over r and angles that change nothing.
const STILL: f64 = 1e-9;
/// Steps at most.
const STEPS: usize = 60;

/// Newton's steps from one place.
struct Descent<'a> {
    blend: &'a BlendedModel,
    truth: &'a Truth,
    compliance: &'a Matrix,
    x: Vec<f64>,
    /// Length of the last step.
    last: f64,
}

impl Descent<'_> {
    /// Goes one step; false where it is more than this part of the one before.
    fn step(&mut self, shorter: f64) -> bool {
        let held = self.blend.elastic_force(&self.x);
        let load = self.blend.generalised_force(&self.x, &effector_loads(self.truth));
        let left: Vec<f64> = held.iter().zip(load).map(|(u, g)| u - g).collect();
        let step = self.compliance.mul_vec(&left);
        self.x.iter_mut().zip(&step).for_each(|(x, d)| *x -= d);
        let length = norm(&step);
        // Written so that NaN is not shorter.
        let converges = length <= (shorter * self.last).max(STILL);
        self.last = length;
        converges
    }
}

impl Gauge<'_> {
    /// As [`Gauge::errors_nearby`], in a chart of joint displacements; `compliance` is the
    /// mechanism's at the equilibrium, N × N: displacements x per generalised force.
    pub(crate) fn errors_by(
        &self,
        blend: &BlendedModel,
        truth: &Truth,
        (x, compliance): (Vec<f64>, &Matrix),
        joint_space: bool,
    ) -> Errors {
        let gap = |mode| self.position_gap(blend, &x, mode);
        let constraint = gap(Reconstruction::Twist);
        let joint_space = if joint_space { gap(Reconstruction::JointSpace) } else { 0.0 };
        let mut to = Descent { blend, truth, compliance, x: x.clone(), last: f64::INFINITY };
        to.step(MUCH_SHORTER);
        let unstable = if to.step(MUCH_SHORTER) { 0.0 } else { UNSTABLE };
        let statics = self.static_error(blend, truth, &to.x) + unstable;
        Errors { constraint, angle: 0.0, joint_space, statics }.numbers()
    }

    /// Errors where the blend rests next to the equilibrium; `None` where that is not found so.
    pub(crate) fn errors_at_rest_by(
        &self,
        blend: &BlendedModel,
        truth: &Truth,
        (x, compliance): (Vec<f64>, &Matrix),
    ) -> Option<Errors> {
        let mut to = Descent { blend, truth, compliance, x, last: f64::INFINITY };
        for _ in 0..STEPS {
            if !to.step(SHORTER) {
                return None;
            }
            if to.last <= STILL {
                return Some(self.errors_at(blend, truth, &to.x));
            }
        }
        None
    }
}
