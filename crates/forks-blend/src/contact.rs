//! Contact of a blended model: the linear response of a step to impulses, and the step with them.
//!
//! Without contact a step is Newton's method followed by the first law. Impulses need a response
//! that is linear and the same for what is free and what contact adds, or bodies that rest on the
//! world rest at other places than statics says: A v = M̄ v₀ + h (g − ∇U) + j, all at the old
//! place, A = M̄ + hD̄ + h²K̄, j = Σ Jᵀλ. The first law then holds with the work of contact, jᵀv.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, right_jacobian};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel},
};
use forks_rom::{EffectorLoad, ModelError, internal::invert_factored};

use crate::{
    matrices::Blend,
    model::BlendedModel,
    statics::pull_loads,
    step::{
        BlendedState, BlendedStepper, ROUNDING, ROUNDING_OF_TERMS, blend, factor_system, quadratic,
        solve_factored,
    },
};

/// Halvings of a move that would create energy before it is given up.
const MAX_HALVINGS: usize = 30;

/// The linear response of one step from one state; memory that is used again for the next.
#[derive(Clone, Debug)]
pub struct BlendedContact {
    /// A⁻¹.
    inverse: Matrix,
    /// L of A = L Lᵀ, lower triangle.
    factor: Vec<f64>,
    /// v without impulses.
    velocity: Vec<f64>,
    /// The old place.
    x: Vec<f64>,
    /// Generalised force of the loads, padded.
    force: Vec<f64>,
    /// j.
    impulse: Vec<f64>,
    /// Of the old place and velocity, J.
    energy: f64,
    /// Sizes of what the potential there is a sum of.
    size_of_terms: f64,
}

impl BlendedContact {
    /// Memory for steps of a model.
    pub fn new(model: &BlendedModel) -> Self {
        let n = model.dof();
        Self {
            inverse: Matrix::zeros(n, n),
            factor: vec![0.0; n * n],
            velocity: vec![0.0; n],
            x: vec![0.0; n],
            force: Vec::new(),
            impulse: vec![0.0; n],
            energy: 0.0,
            size_of_terms: 0.0,
        }
    }

    /// A⁻¹, N × N, symmetric and positive definite: where poses are held by their loads only, A has
    /// the positive pivots that the step takes.
    pub fn inverse_system(&self) -> &Matrix {
        &self.inverse
    }

    /// ẋ after the step without impulses. The step proper differs from it by what is not linear.
    pub fn free_velocity(&self) -> &[f64] {
        &self.velocity
    }
}

impl BlendedModel {
    /// Body twist of effector `e` per unit rate of the chart coordinates, J_r(B_e x) B_e, 6 × N,
    /// into `out`.
    ///
    /// # Panics
    /// If there is no such effector, or sizes differ.
    pub fn effector_jacobian(&self, e: usize, x: &[f64], out: &mut Matrix) {
        let n = self.dof();
        assert_eq!([x.len(), out.rows(), out.columns()], [n, 6, n], "sizes");
        if self.is_curved() {
            return self.chart_jacobian(&self.evaluated(x), e, out);
        }
        let (right, basis) = (right_jacobian(self.effector_twist(e, x)), &self.data().basis);
        for j in 0..n {
            let column = core::array::from_fn(|i| basis[(6 * e + i, j)]);
            for (i, y) in right.mul_vec(&column).into_iter().enumerate() {
                out[(i, j)] = y;
            }
        }
    }
}

impl BlendedState {
    /// Pose of effector `e` in the state, and its [Jacobian](BlendedModel::effector_jacobian) into
    /// `out`: from what the state knows of its place already. Allocates nothing.
    ///
    /// # Panics
    /// If there is no such effector, or sizes differ.
    pub fn effector(&self, model: &BlendedModel, e: usize, out: &mut Matrix) -> Pose {
        if model.is_curved() {
            assert_eq!([out.rows(), out.columns()], [6, self.x.len()], "sizes");
            model.chart_jacobian(&self.here, e, out);
            return self.here.poses[e];
        }
        model.effector_jacobian(e, &self.x, out);
        model.effector_pose(e, &self.x)
    }
}

impl BlendedStepper {
    /// The linear response of the next step from a state under loads. Allocates nothing once it was
    /// called. False, with `out` undefined, if nothing resists a motion or numbers are not finite.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn linear_response(
        &self,
        state: &mut BlendedState,
        loads: &[EffectorLoad],
        out: &mut BlendedContact,
    ) -> bool {
        let n = self.model().dof();
        assert_eq!([state.x.len(), out.x.len()], [n; 2], "coordinates of the state");
        forks_rom::internal::assert_effectors(loads, self.model().effector_count());
        self.model().isa().run(Respond { stepper: self, state, loads, out })
    }

    /// Replaces the step that was just made by one with impulses: velocity ẋ = free velocity + Δ, Δ
    /// = A⁻¹ j, both of the response from the state before, and x = x₀ + hẋ; shorter and slower if
    /// else the energy afterwards were more than before plus the work of loads and impulses.
    /// Allocates nothing. Without change the state keeps its bits.
    ///
    /// # Errors
    /// A change of the wrong size or one that is not finite; the state is then unchanged.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size.
    pub fn change_velocity(
        &self,
        state: &mut BlendedState,
        response: &mut BlendedContact,
        change: &[f64],
    ) -> Result<(), ModelError> {
        let n = self.model().dof();
        assert_eq!([state.x.len(), response.x.len()], [n; 2], "coordinates of the state");
        forks_rom::internal::check_numbers("change of velocity", change, n)?;
        if change.iter().all(|d| *d == 0.0) {
            return Ok(());
        }
        response.multiply(change);
        for (v, (free, d)) in state.velocity.iter_mut().zip(response.velocity.iter().zip(change)) {
            *v = free + d;
        }
        self.first_law(state, response);
        Ok(())
    }

    /// Moves from the old place by the velocity, or by as much of it as creates no energy.
    fn first_law(&self, state: &mut BlendedState, response: &BlendedContact) {
        let (model, h) = (self.model(), self.step_size());
        for _ in 0..MAX_HALVINGS {
            self.move_by(state, response);
            if model.blend() != Blend::Energy {
                return;
            }
            let mut work = 0.0;
            for (i, v) in state.velocity.iter().enumerate() {
                work += v * (h * response.force[i] + response.impulse[i]);
            }
            let (here, mass) = (&state.here, &mut state.work.mass);
            blend(mass, &here.weights, model.samples.iter().map(|s| &s.mass));
            let kinetic = 0.5 * quadratic(mass, &state.velocity);
            let available = response.energy + work - state.here.energy;
            let size = response.energy.abs() + work.abs() + state.here.energy.abs();
            let terms = response.size_of_terms + state.here.size_of_terms;
            let rounding = ROUNDING * size + ROUNDING_OF_TERMS * terms;
            // Not a number passes: the next step says so.
            if kinetic.is_nan() || kinetic <= available + rounding {
                return;
            }
            if available >= -rounding {
                let slower = forks_rom::internal::sqrt(available.max(0.0) / kinetic);
                return state.velocity.iter_mut().for_each(|v| *v *= slower);
            }
            state.velocity.iter_mut().for_each(|v| *v *= 0.5);
        }
        state.velocity.fill(0.0);
        self.move_by(state, response);
    }

    fn move_by(&self, state: &mut BlendedState, response: &BlendedContact) {
        for (x, (start, v)) in state.x.iter_mut().zip(response.x.iter().zip(&state.velocity)) {
            *x = start + self.step_size() * v;
        }
        state.here.at(self.model(), &state.x);
    }
}

impl BlendedContact {
    /// j = L Lᵀ Δ.
    fn multiply(&mut self, change: &[f64]) {
        let n = change.len();
        for i in 0..n {
            self.impulse[i] = (i..n).map(|k| self.factor[k * n + i] * change[k]).sum();
        }
        for i in (0..n).rev() {
            self.impulse[i] = (0..=i).map(|k| self.factor[i * n + k] * self.impulse[k]).sum();
        }
    }
}

struct Respond<'a> {
    stepper: &'a BlendedStepper,
    state: &'a mut BlendedState,
    loads: &'a [EffectorLoad],
    out: &'a mut BlendedContact,
}

impl Kernel for Respond<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let Self { stepper, state, loads, out } = self;
        let (model, h, n) = (stepper.model(), stepper.step_size(), out.x.len());
        let BlendedState { x, velocity, here, work, .. } = state;
        pull_loads(l, model, here, x, loads, &mut work.force);
        work.matrices(model, here);
        out.energy = here.energy + 0.5 * quadratic(&work.mass, velocity);
        out.size_of_terms = here.size_of_terms;
        if !factor_system(&work.mass, &work.damping, &mut work.system, h, n) {
            return false;
        }
        work.momentum_balance(h, velocity, &here.gradient);
        solve_factored(&work.system, &mut work.right);
        out.x.copy_from_slice(x);
        out.velocity.copy_from_slice(&work.right);
        out.factor.copy_from_slice(&work.system);
        out.force.clone_from(&work.force);
        invert_factored(&work.system, &mut out.inverse);
        out.inverse.is_finite() && out.velocity.iter().all(|v| v.is_finite())
    }
}
