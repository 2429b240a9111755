//! One time step of a model whose base floats.

use alloc::sync::Arc;
use core::f64::consts::PI;

use forks_lie::{
    Wrench,
    glam::{DQuat, DVec3},
    se3::right_jacobian,
};
use forks_linalg::simd::{Arithmetic, Kernel, LANES, Lanes, Rows, WideVectors, all_finite};

use super::{
    inertia::{contract, step_matrix, vectors},
    model::FloatingModel,
    newton::{Equations, FIRST_RATE, FloatingWork, angular, solve, zero_padded},
    start::Start,
    state::FloatingState,
    workspace::FloatingWorkspace,
};
use crate::{EffectorLoad, LoadFrame, ModelError, State, StepStatus, kernel::Isa};

/// A floating model with a step size.
#[derive(Clone, Debug)]
pub struct FloatingStepper {
    model: Arc<FloatingModel>,
    h: f64,
    /// M̃ + hD + h²𝓗.
    pub(super) matrix: Rows,
}

/// Sum of the loads.
#[derive(Clone, Copy, Default)]
struct Net {
    /// World axes.
    force: DVec3,
    /// About the centre of mass, world axes.
    torque: DVec3,
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

    /// What the kernels run on.
    pub(super) fn isa(&self) -> Isa {
        self.model.model.isa()
    }

    /// The step, s.
    pub fn step_size(&self) -> f64 {
        self.h
    }

    /// Moves a state by one step under loads on effectors, world axes being those of the true
    /// world. Allocates nothing.
    ///
    /// Loads act where the effectors are before the step and travel with the centre of mass during
    /// it: the angular momentum about the world's origin changes by h ((r_e + ½ h V) × f_e + τ_e),
    /// V the centre's velocity before.
    ///
    /// # Panics
    /// If the state belongs to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn step(
        &self,
        state: &mut FloatingState,
        work: &mut FloatingWorkspace,
        loads: &[EffectorLoad],
    ) -> StepStatus {
        self.step_under(state, work, loads, self.model.gravity)
    }

    /// The same under another acceleration of free fall than the model's, world axes, m/s².
    ///
    /// # Panics
    /// As [`FloatingStepper::step`].
    pub fn step_under(
        &self,
        state: &mut FloatingState,
        work: &mut FloatingWorkspace,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> StepStatus {
        let work = &mut work.step;
        self.isa().run(Step { stepper: self, state, work, loads, gravity })
    }

    /// Gathers the loads: what does not change during the step, into the scratch memory too.
    #[inline(always)]
    pub(super) fn start<L: Arithmetic>(
        &self,
        l: L,
        state: &FloatingState,
        work: &mut FloatingWork,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> Start {
        let (inertia, h) = (&self.model.inertia, self.h);
        assert_eq!(state.shape.coordinates().len(), inertia.n, "coordinates of the state");
        let near = self.model.model.effector_blocks().all_in_range(l, &state.shape.eta);
        let outside = if near { None } else { self.first_outside(state) };
        let FloatingState { shape, world_from_base, spin, .. } = state;
        let held = inertia.hold_back(l, &shape.eta);
        work.held_eta.iter_mut().zip(&shape.eta).for_each(|(out, x)| *out = held * x);
        let center = inertia.center_and_slope(l, &shape.eta, &mut work.slope);
        inertia.coupling_at(l, &work.held_eta, &mut work.coupling);
        let rotation = inertia.rotation_at(l, &work.held_eta);
        // ω = J⁻¹(L − Ση̇)
        let own_spin = world_from_base.rotation.conjugate() * *spin;
        let moving = contract(l, &work.coupling, &shape.velocity);
        let omega = rotation.inverse() * (own_spin - moving);
        work.trial[..FIRST_RATE].copy_from_slice(&*zero_padded(omega));
        work.trial[FIRST_RATE..].copy_from_slice(&shape.velocity);
        work.force.fill(Lanes::default());
        let net = match loads.is_empty() {
            true => Net::default(),
            false => self.gather(state, work, loads, center),
        };
        self.constant_part(l, shape, work, omega);
        let acceleration = gravity + net.force / inertia.mass;
        Start { center, acceleration, held, rotation, spin: state.spin + net.torque * h, outside }
    }

    /// Solves for (ω, η̇), from the scratch memory, and moves on; the centre of mass by h
    /// times `drift`, and its velocity by the acceleration and a further `change`.
    #[inline(always)]
    pub(super) fn finish<L: Arithmetic>(
        &self,
        l: L,
        state: &mut FloatingState,
        work: &mut FloatingWork,
        start: &Start,
        drift: DVec3,
        change: DVec3,
    ) -> StepStatus {
        let (inertia, h) = (&self.model.inertia, self.h);
        let rotation = state.world_from_base.rotation;
        let shape = &mut state.shape;
        let settled = solve(l, &self.equations(shape, rotation, start), work);
        let result = drift + start.acceleration + change + start.spin;
        if !all_finite(l, &work.trial) || !result.is_finite() {
            return StepStatus::NotFinite;
        }
        let world_center = state.world_from_base.transform_point(start.center) + drift * h;
        let step = l.splat(h);
        let etas = shape.eta.as_chunks_mut::<LANES>().0;
        let rates = work.trial[FIRST_RATE..].as_chunks::<LANES>().0;
        for (eta, y) in etas.iter_mut().zip(rates) {
            *eta = (step * l.read(y) + l.read(eta)).store().0;
        }
        shape.velocity.copy_from_slice(&work.trial[FIRST_RATE..]);
        let turn = forks_lie::so3::exp_rotation(angular(&work.trial) * h);
        let rotation = (rotation * turn).normalize();
        state.world_from_base.rotation = rotation;
        let center = inertia.center_and_slope(l, &shape.eta, &mut work.slope);
        state.world_from_base.translation = world_center - rotation * center;
        state.center_velocity += start.acceleration * h + change;
        state.spin = start.spin;
        match start.outside {
            _ if !settled => StepStatus::NotSettled,
            Some(effector) => StepStatus::OutOfRange { effector },
            None if start.held.min(inertia.hold_back(l, &shape.eta)) < 1.0 => {
                StepStatus::InertiaHeldBack
            }
            None => StepStatus::Completed,
        }
    }

    /// The implicit equations of a step.
    pub(super) fn equations<'a>(
        &'a self,
        shape: &'a State,
        rotation: DQuat,
        start: &Start,
    ) -> Equations<'a> {
        Equations {
            inertia: &self.model.inertia,
            matrix: &self.matrix,
            h: self.h,
            held: start.held,
            spin: rotation.conjugate() * start.spin,
            eta: &shape.eta,
        }
    }

    /// The first effector beyond the stated range, or turned by π or more.
    fn first_outside(&self, state: &FloatingState) -> Option<usize> {
        let (model, data) = (&*self.model.model, self.model.model.data());
        (0..model.effector_count()).find(|&e| {
            let t = model.effector_twist(e, state.shape.coordinates());
            let turned = t.angular.length() / PI;
            let moved = t.linear.length() / data.radius;
            // Written so that NaN is outside.
            let inside = turned < 1.0 && turned * turned + moved * moved <= data.range * data.range;
            !inside
        })
    }

    /// Net force and torque, and the generalised force on η with the centre of mass held into the
    /// scratch memory.
    fn gather(
        &self,
        state: &FloatingState,
        work: &mut FloatingWork,
        loads: &[EffectorLoad],
        center: DVec3,
    ) -> Net {
        let model = &*self.model.model;
        let world_from_rest = self.model.world_from_rest(state);
        let world_center = state.world_from_base.transform_point(center);
        let mut net = Net::default();
        let out = &mut work.force;
        for load in loads {
            let e = load.effector;
            assert!(e < model.effector_count(), "load on effector {e}");
            let pose = world_from_rest * model.effector_pose(e, state.shape.coordinates());
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
            let jacobian = right_jacobian(model.effector_twist(e, state.shape.coordinates()));
            for (i, x) in jacobian.transpose_mul_vec(&body.to_array()).into_iter().enumerate() {
                let row = model.data().basis.row(6 * e + i);
                let entries = out.iter_mut().flat_map(|four| four.iter_mut());
                entries.zip(row).for_each(|(o, b)| *o += b * x);
            }
        }
        let force = state.world_from_base.rotation.conjugate() * net.force;
        for (o, [x, y, z]) in out.iter_mut().zip(work.slope.as_chunks::<3>().0) {
            *o = o.minus(x.scaled(force.x)).minus(y.scaled(force.y)).minus(z.scaled(force.z));
        }
        net
    }

    /// Σᵀω + M̃η̇ + h (g − b_η − 𝓗 (η − η_s)) in place of the generalised force g.
    #[inline(always)]
    fn constant_part<L: Arithmetic>(
        &self,
        l: L,
        shape: &State,
        work: &mut FloatingWork,
        omega: DVec3,
    ) {
        let model = &*self.model;
        let n = model.inertia.n;
        crate::step::difference(l, &shape.eta, &shape.rest, &mut work.stretch);
        let elastic = &mut work.bent[..work.force.len()];
        elastic.copy_from_slice(model.static_force.row(0));
        model.stiffness.add_to(l, &work.stretch[..n], elastic);
        work.momentum.fill(Lanes::default());
        model.inertia.shape_mass_rows.add_to(l, &shape.velocity[..n], &mut work.momentum);
        let (h, w) = (l.splat(self.h), WideVectors::splat(l, omega));
        for (group, f) in work.force.iter_mut().enumerate() {
            let coupled = vectors(l, &work.coupling, group).dot(w);
            let momentum = coupled + l.load(&work.momentum[group]);
            let force = l.load(f) - l.load(&work.bent[group]);
            *f = (h * force + momentum).store();
        }
    }
}

/// The step as a kernel.
struct Step<'a> {
    stepper: &'a FloatingStepper,
    state: &'a mut FloatingState,
    work: &'a mut FloatingWork,
    loads: &'a [EffectorLoad],
    gravity: DVec3,
}

impl Kernel for Step<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> StepStatus {
        let Self { stepper, state, work, loads, gravity } = self;
        let start = stepper.start(l, state, work, loads, gravity);
        let drift = state.center_velocity + start.acceleration * (0.5 * stepper.h);
        stepper.finish(l, state, work, &start, drift, DVec3::ZERO)
    }
}
