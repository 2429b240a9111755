//! One time step of a model whose base floats.

use alloc::sync::Arc;
use core::f64::consts::PI;

use forks_lie::{
    Matrix, Wrench, dot,
    glam::{DMat3, DVec3},
    right_jacobian,
};

use super::{
    inertia::step_matrix,
    model::FloatingModel,
    newton::{Equations, solve},
    state::FloatingState,
};
use crate::{EffectorLoad, LoadFrame, ModelError};

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum FloatingStatus {
    /// As it should.
    Completed,
    /// The step was made; before it an effector was outside the model's range or had turned by π or more.
    OutOfRange {
        /// The first such effector.
        effector: usize,
    },
    /// The step was made; before or after it the change of the inertia to first order would take away mass and was
    /// held back: the energy is not controlled there.
    InertiaHeldBack,
    /// The step was made with the linearisation pose's inertia because Newton's method did not settle, which
    /// happens where the base turns by a radian or more in one step: momentum is
    /// exact, the energy is not controlled.
    NotSettled,
    /// Loads or result are not finite; the state is unchanged.
    NotFinite,
}

/// A floating model with a step size.
#[derive(Clone, Debug)]
pub struct FloatingStepper {
    model: Arc<FloatingModel>,
    h: f64,
    /// M̃ + hD + h²𝓗.
    pub(super) matrix: Matrix,
}

/// Sum of the loads.
#[derive(Clone, Copy, Default)]
struct Net {
    /// World axes.
    force: DVec3,
    /// About the centre of mass, world axes.
    torque: DVec3,
}

/// What a step starts from, with its loads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    /// Centre of mass, base axes.
    pub(super) center: DVec3,
    /// Its acceleration, world axes.
    pub(super) acceleration: DVec3,
    /// Factor on the changes of the inertia.
    pub(super) held: f64,
    /// L + hτ, world axes.
    pub(super) spin: DVec3,
    /// The first effector out of range.
    pub(super) outside: Option<usize>,
}

impl FloatingStepper {
    /// A stepper by implicit Euler; `h` in seconds.
    ///
    /// # Errors
    /// A step that is not positive and finite.
    pub fn new(model: Arc<FloatingModel>, h: f64) -> Result<Self, ModelError> {
        if !(h.is_finite() && h > 0.0) {
            return Err(ModelError::StepSize { step: h });
        }
        let data = model.model.data();
        let matrix = step_matrix(&model.inertia.shape_mass, &data.damping, &data.hessian, h);
        Ok(Self { h, matrix, model })
    }

    /// The model.
    pub fn model(&self) -> &Arc<FloatingModel> {
        &self.model
    }

    /// The step, s.
    pub fn step_size(&self) -> f64 {
        self.h
    }

    /// Moves a state by one step under loads on effectors, world axes being those of the true world. Allocates nothing.
    ///
    /// Loads act where the effectors are before the step and travel with the centre of mass during it: the angular
    /// momentum about the world's origin changes by h ((r_e + ½ h V) × f_e + τ_e), V the centre's velocity before.
    ///
    /// # Panics
    /// If the state belongs to a model of another size, or a load to an effector that does not exist.
    pub fn step(&self, state: &mut FloatingState, loads: &[EffectorLoad]) -> FloatingStatus {
        self.step_under(state, loads, self.model.gravity)
    }

    /// The same under another acceleration of free fall than the model's, world axes, m/s².
    ///
    /// # Panics
    /// As [`FloatingStepper::step`].
    pub fn step_under(
        &self,
        state: &mut FloatingState,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> FloatingStatus {
        let start = self.start(state, loads, gravity);
        let drift = state.center_velocity + start.acceleration * (0.5 * self.h);
        self.finish(state, &start, drift, DVec3::ZERO)
    }

    /// Gathers the loads: what does not change during the step, into the state's scratch memory too.
    pub(super) fn start(
        &self,
        state: &mut FloatingState,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> Start {
        let (model, inertia, h) = (&*self.model, &self.model.inertia, self.h);
        assert_eq!(state.work.force.len(), inertia.n, "coordinates of the state");
        let outside = self.first_outside(state);
        let held = inertia.hold_back(state.eta());
        let start_rate = model.base_rate(state);
        let mut work = core::mem::take(&mut state.work);
        let center = inertia.center_and_slope(state.eta(), &mut work.slope);
        let net = self.gather(state, loads, center, &work.slope, &mut work.force);
        self.constant_part(state, start_rate, held, &mut work);
        state.work = work;
        let acceleration = gravity + net.force / inertia.mass;
        Start { center, acceleration, held, spin: state.spin + net.torque * h, outside }
    }

    /// Solves for (ω, η̇), from the state's scratch memory, and moves on; the centre of mass by h times `drift`, and its velocity
    /// by the acceleration and a further `change`.
    pub(super) fn finish(
        &self,
        state: &mut FloatingState,
        start: &Start,
        drift: DVec3,
        change: DVec3,
    ) -> FloatingStatus {
        let (inertia, h) = (&self.model.inertia, self.h);
        let mut work = core::mem::take(&mut state.work);
        let settled = solve(&self.equations(state, start), &mut work);
        let rotation = state.world_from_base.rotation;
        let result = work.trial.iter().sum::<f64>()
            + (drift + start.acceleration + change).length_squared()
            + start.spin.length();
        if !result.is_finite() {
            state.work = work;
            return FloatingStatus::NotFinite;
        }
        let (rate, shape_rate) = work.trial.split_at(3);
        let world_center = state.world_from_base.transform_point(start.center) + drift * h;
        for (k, y) in shape_rate.iter().enumerate() {
            state.shape.velocity[k] = *y;
            state.shape.eta[k] += h * y;
        }
        let turn = forks_lie::exp_rotation(DVec3::new(rate[0], rate[1], rate[2]) * h);
        let rotation = (rotation * turn).normalize();
        state.world_from_base.rotation = rotation;
        state.world_from_base.translation = world_center - rotation * inertia.center(state.eta());
        state.center_velocity += start.acceleration * h + change;
        state.spin = start.spin;
        state.work = work;
        match start.outside {
            _ if !settled => FloatingStatus::NotSettled,
            Some(effector) => FloatingStatus::OutOfRange { effector },
            None if start.held.min(inertia.hold_back(state.eta())) < 1.0 => {
                FloatingStatus::InertiaHeldBack
            }
            None => FloatingStatus::Completed,
        }
    }

    /// The implicit equations of a step.
    pub(super) fn equations<'a>(
        &'a self,
        state: &'a FloatingState,
        start: &Start,
    ) -> Equations<'a> {
        Equations {
            inertia: &self.model.inertia,
            matrix: &self.matrix,
            h: self.h,
            held: start.held,
            spin: state.world_from_base.rotation.conjugate() * start.spin,
            eta: state.eta(),
        }
    }

    /// The first effector beyond the stated range, or turned by π or more.
    fn first_outside(&self, state: &FloatingState) -> Option<usize> {
        let (model, data) = (&*self.model.model, self.model.model.data());
        (0..model.effector_count()).find(|&e| {
            let t = model.effector_twist(e, state.eta());
            let turned = t.angular.length() / PI;
            let moved = t.linear.length() / data.radius;
            // Written so that NaN is outside.
            let inside = turned < 1.0 && turned * turned + moved * moved <= data.range * data.range;
            !inside
        })
    }

    /// Net force and torque, and the generalised force on η with the centre of mass held into `out`.
    fn gather(
        &self,
        state: &FloatingState,
        loads: &[EffectorLoad],
        center: DVec3,
        slope: &[DVec3],
        out: &mut [f64],
    ) -> Net {
        let model = &*self.model.model;
        let world_from_rest = self.model.world_from_rest(state);
        let world_center = state.world_from_base.transform_point(center);
        let mut net = Net::default();
        out.fill(0.0);
        for load in loads {
            let e = load.effector;
            assert!(e < model.effector_count(), "load on effector {e}");
            let pose = world_from_rest * model.effector_pose(e, state.eta());
            let turned = |v: DVec3| match load.frame {
                LoadFrame::World => v,
                LoadFrame::Body => pose.rotation * v,
            };
            let (force, torque) = (turned(load.wrench.force), turned(load.wrench.torque));
            net.force += force;
            net.torque += (pose.translation - world_center).cross(force) + torque;
            let back = pose.rotation.conjugate();
            let body = Wrench::new(back * force, back * torque);
            // B_eᵀ J_r(ξ_e)ᵀ w
            let jacobian = right_jacobian(model.effector_twist(e, state.eta()));
            for (i, x) in jacobian.transpose_mul_vec(&body.to_array()).into_iter().enumerate() {
                let row = model.data().basis.row(6 * e + i);
                out.iter_mut().zip(row).for_each(|(o, b)| *o += b * x);
            }
        }
        let force = state.world_from_base.rotation.conjugate() * net.force;
        out.iter_mut().zip(slope).for_each(|(o, s)| *o -= s.dot(force));
        net
    }

    /// Σᵀω + M̃η̇ + h (g − b_η − 𝓗 (η − η_s)) in place of the generalised force g.
    fn constant_part(
        &self,
        state: &FloatingState,
        start_rate: DVec3,
        held: f64,
        work: &mut super::state::FloatingWork,
    ) {
        let (model, inertia) = (&*self.model.model, &self.model.inertia);
        let (data, rate) = (model.data(), state.velocity());
        for (s, (x, r)) in work.stretch.iter_mut().zip(state.eta().iter().zip(&state.shape.rest)) {
            *s = x - r;
        }
        inertia.coupling_at(state.eta(), held, &mut work.coupling);
        for (k, f) in work.force.iter_mut().enumerate() {
            let elastic = model.static_force()[k] + dot(data.hessian.row(k), &work.stretch);
            let momentum = work.coupling[k].dot(start_rate) + dot(inertia.shape_mass.row(k), rate);
            *f = momentum + self.h * (*f - elastic);
        }
        work.trial[..3].copy_from_slice(&start_rate.to_array());
        work.trial[3..].copy_from_slice(rate);
    }
}

/// Three entries of a slice.
pub(super) fn three(x: &[f64]) -> DVec3 {
    DVec3::new(x[0], x[1], x[2])
}

/// Entry (i, j) of a matrix stored by columns.
pub(super) fn entry(m: &DMat3, i: usize, j: usize) -> f64 {
    m.col(j)[i]
}
