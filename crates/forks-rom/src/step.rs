//! One time step of a reduced model.

use alloc::sync::Arc;

use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel, LANES, all_finite},
};

use crate::{
    EffectorLoad, ModelError, ReducedModel, State,
    effectors::{WorldTwist, WorldWrench, load_in_world},
    state::Workspace,
    transition::{Transition, implicit_euler},
    wrench_maps::linear_stiffness,
};

/// How a model is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// Implicit Euler: first order, dissipative at any step.
    #[default]
    ImplicitEuler,
    /// Exact for loads that are constant over the step; needs a mass in every direction.
    Exponential,
}

/// How the elastic force depends on the displacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Elasticity {
    /// Gradient of the energy b_ηᵀη + ½ ηᵀ𝓗η: conservative.
    #[default]
    Energy,
    /// \[A16\]: w = b + K ξ in displaced body axes; agrees to first order, not the gradient of any
    /// energy.
    Linear,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum StepStatus {
    /// As it should.
    Completed,
    /// The step was made; then or before, an effector was outside the model's range or had turned
    /// by π or more.
    OutOfRange {
        /// The first such effector.
        effector: usize,
    },
    /// Loads or result are not finite; the state is unchanged.
    NotFinite,
    /// Of floating bases: the step was made; before or after it the change of the inertia to first
    /// order would take away mass and was held back: the energy is not controlled there.
    InertiaHeldBack,
    /// Of floating bases: the step was made with the linearisation pose's inertia because Newton's
    /// method did not settle, which happens where the base turns by a radian or more in one step:
    /// momentum is exact, the energy is not controlled.
    NotSettled,
}

/// A model with a step size: everything that a step needs is computed once.
#[derive(Clone, Debug)]
pub struct Stepper {
    model: Arc<ReducedModel>,
    h: f64,
    scheme: Scheme,
    elasticity: Elasticity,
    transition: Transition,
    inverse: Option<Matrix>,
}

impl Stepper {
    /// A stepper of the energy-consistent model by implicit Euler; `h` in seconds.
    ///
    /// # Errors
    /// A step that is not positive and finite, a system that is singular.
    pub fn new(model: Arc<ReducedModel>, h: f64) -> Result<Self, ModelError> {
        Self::with(model, h, Scheme::default(), Elasticity::default())
    }

    /// A stepper with a choice of scheme and elastic force.
    ///
    /// # Errors
    /// As [`Stepper::new`]; a mass that is not positive definite where the scheme needs that.
    pub fn with(
        model: Arc<ReducedModel>,
        h: f64,
        scheme: Scheme,
        elasticity: Elasticity,
    ) -> Result<Self, ModelError> {
        if !(h.is_finite() && h > 0.0) {
            return Err(ModelError::StepSize { step: h });
        }
        let stiffness = match elasticity {
            Elasticity::Energy => model.data().hessian.clone(),
            Elasticity::Linear => linear_stiffness(model.data()),
        };
        let (data, b) = (model.data(), model.static_force());
        let transition = match scheme {
            Scheme::ImplicitEuler => implicit_euler(data, b, &stiffness, h)?,
            Scheme::Exponential => crate::exponential::exponential(data, b, &stiffness, h)?,
        };
        let energetic = scheme == Scheme::ImplicitEuler && elasticity == Elasticity::Energy;
        let inverse = energetic.then(|| {
            let (n, inverse) = (model.dof(), 1.0 / h);
            let response = transition.force.unpacked(n);
            Matrix::from_fn(n, n, |i, j| response[(i, j)] * inverse).symmetric_part()
        });
        Ok(Self { model, h, scheme, elasticity, transition, inverse })
    }

    /// The model.
    pub fn model(&self) -> &Arc<ReducedModel> {
        &self.model
    }

    /// The step, s.
    pub fn step_size(&self) -> f64 {
        self.h
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The elastic force.
    pub fn elasticity(&self) -> Elasticity {
        self.elasticity
    }

    pub(crate) fn transition(&self) -> &Transition {
        &self.transition
    }

    /// A⁻¹ = (M + hD + h²𝓗)⁻¹, n_η × n_η: what an impulse in η adds to η̇⁺, for contact. `None` for
    /// other schemes than implicit Euler, whose velocity answers to impulses in another way, and
    /// for elastic forces without an energy.
    pub fn inverse_system(&self) -> Option<&Matrix> {
        self.inverse.as_ref()
    }

    /// Ends a step with another velocity than the free one: η̇⁺ += Δ, η⁺ += hΔ. Of implicit Euler
    /// only; allocates nothing.
    ///
    /// With Δ = A⁻¹ j, A⁻¹ from [`Stepper::inverse_system`], after [`Stepper::step`], the state is
    /// that of a step on which the generalised impulse j (N·s per unit η̇) acted too.
    ///
    /// # Errors
    /// A change of the wrong size or one that is not finite; the state is then unchanged.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn change_velocity(&self, state: &mut State, change: &[f64]) -> Result<(), ModelError> {
        assert_eq!(state.dof, self.model.dof(), "coordinates of the state");
        crate::state::check("change of velocity", change, state.dof)?;
        for (i, d) in change.iter().enumerate() {
            state.velocity[i] += d;
            state.eta[i] += self.h * d;
        }
        Ok(())
    }

    /// As [`Stepper::change_velocity`], with the velocity that the step shall end with: η⁺ += h (v
    /// − η̇⁺), η̇⁺ = v.
    ///
    /// # Errors
    /// A velocity of the wrong size or one that is not finite; the state is then unchanged.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn end_with(&self, state: &mut State, velocity: &[f64]) -> Result<(), ModelError> {
        assert_eq!(state.dof, self.model.dof(), "coordinates of the state");
        let (quantity, found, expected) = ("velocity", velocity.len(), state.dof);
        if found != expected {
            return Err(ModelError::WrongSize { quantity, found, expected });
        }
        if self.model.isa().run(End { h: self.h, state, velocity }) {
            return Ok(());
        }
        Err(ModelError::NotFinite { quantity })
    }

    /// Moves a state by one step under loads on effectors. Allocates nothing.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn step(
        &self,
        state: &mut State,
        work: &mut Workspace,
        loads: &[EffectorLoad],
    ) -> StepStatus {
        assert_eq!(state.dof, self.model.dof(), "coordinates of the state");
        crate::load::assert_effectors(loads, self.model.effector_count());
        assert_eq!(work.force.len(), state.eta.len(), "coordinates of the workspace");
        self.model.isa().run(Step { stepper: self, state, work, loads })
    }
}

/// [`Stepper::end_with`] as a kernel: true if the velocity is finite.
struct End<'a> {
    h: f64,
    state: &'a mut State,
    velocity: &'a [f64],
}

impl Kernel for End<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let Self { h, state, velocity } = self;
        if !all_finite(l, velocity) {
            return false;
        }
        let end = |eta: &mut [f64; LANES], velocity: &mut [f64; LANES], next: &[f64; LANES]| {
            let next = l.read(next);
            let change = next - l.read(velocity);
            *eta = (h * change + l.read(eta)).store().0;
            *velocity = next.store().0;
        };
        let (groups, last) = velocity.as_chunks::<LANES>();
        let mut eta = state.eta.as_chunks_mut::<LANES>().0.iter_mut();
        let mut velocity = state.velocity.as_chunks_mut::<LANES>().0.iter_mut();
        for (next, (eta, velocity)) in groups.iter().zip((&mut eta).zip(&mut velocity)) {
            end(eta, velocity, next);
        }
        if let (Some(eta), Some(velocity)) = (eta.next(), velocity.next()) {
            let mut padded = [0.0; LANES];
            padded[..last.len()].copy_from_slice(last);
            end(eta, velocity, &padded);
        }
        true
    }
}

/// The step as a kernel.
struct Step<'a> {
    stepper: &'a Stepper,
    state: &'a mut State,
    work: &'a mut Workspace,
    loads: &'a [EffectorLoad],
}

impl Kernel for Step<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> StepStatus {
        let Self { stepper, state, work, loads } = self;
        // What the state alone gives does not wait for the loads.
        let Workspace { stretch, force, result } = work;
        let stretch: &[f64] = if state.driven {
            difference(l, &state.eta, &state.rest, stretch);
            stretch
        } else {
            &state.eta
        };
        stepper.transition.of_state(l, &state.velocity, stretch, result);
        let Checked { loaded, outside } = generalised_force(l, stepper, state, force, loads);
        if loaded {
            stepper.transition.add_force(l, force, result);
        }
        if !accept(l, stepper, state, result) {
            return StepStatus::NotFinite;
        }
        outside.map_or(StepStatus::Completed, |effector| StepStatus::OutOfRange { effector })
    }
}

/// a − b; all are padded.
#[inline(always)]
pub(crate) fn difference<L: Arithmetic>(l: L, a: &[f64], b: &[f64], out: &mut [f64]) {
    let (out, _) = out.as_chunks_mut::<LANES>();
    let (a, b) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = (l.read(a) - l.read(b)).store().0;
    }
}

/// Takes over the result if it is finite.
#[inline(always)]
fn accept<L: Arithmetic>(l: L, stepper: &Stepper, state: &mut State, result: &mut [f64]) -> bool {
    let (eta, _) = state.eta.as_chunks_mut::<LANES>();
    let width = eta.len();
    let velocity = &mut state.velocity.as_chunks_mut::<LANES>().0[..width];
    let rest = &state.rest.as_chunks::<LANES>().0[..width];
    let (result, _) = result.as_chunks_mut::<LANES>();
    let (rates, positions) = result.split_at_mut(width);
    let positions = &mut positions[..width];
    let (h, zero) = (l.splat(stepper.h), l.splat(0.0));
    // 0 × x is NaN where x is NaN or infinite.
    let mut check = zero;
    for i in 0..width {
        let rate = l.read(&rates[i]);
        let position = match stepper.scheme {
            Scheme::ImplicitEuler => h * rate + l.read(&eta[i]),
            Scheme::Exponential => l.read(&rest[i]) + l.read(&positions[i]),
        };
        check = position * zero + check + rate * zero;
        positions[i] = position.store().0;
    }
    if !check.all_ordered() {
        return false;
    }
    let next = positions.iter().zip(&*rates);
    for ((eta, velocity), (position, rate)) in eta.iter_mut().zip(velocity).zip(next) {
        (*eta, *velocity) = (*position, *rate);
    }
    true
}

/// What was found on the way over the effectors.
struct Checked {
    /// True if a load acts.
    loaded: bool,
    /// The first effector that is out of range.
    outside: Option<usize>,
}

/// g = Σ_e B_eᵀ J_r(ξ_e)ᵀ w_e into `force`, where some load acts.
#[inline(always)]
fn generalised_force<L: Arithmetic>(
    l: L,
    stepper: &Stepper,
    state: &State,
    force: &mut [f64],
    loads: &[EffectorLoad],
) -> Checked {
    let blocks = stepper.model.effector_blocks();
    let mut checked = Checked { loaded: false, outside: None };
    // The twist of an effector with a load is needed anyway.
    let near = loads.len() < blocks.count() && blocks.all_in_range(l, &state.eta);
    if near && loads.is_empty() {
        return checked;
    }
    for e in 0..blocks.count() {
        let is_loaded = loads.iter().any(|load| load.effector == e);
        if near && !is_loaded {
            continue;
        }
        let twist = blocks.twist(l, e, &state.eta[..state.dof]);
        if checked.outside.is_none() && !blocks.in_range(&twist) {
            checked.outside = Some(e);
        }
        if !is_loaded {
            continue;
        }
        let mut sum = WorldWrench::default();
        for load in loads.iter().filter(|load| load.effector == e) {
            add_load(l, &mut sum, load, stepper, &twist);
        }
        let g = generalise(l, stepper, &twist, &sum);
        blocks.add_force(l, e, &g, checked.loaded, force);
        checked.loaded = true;
    }
    checked
}

/// What a wrench does on an effector's twist, in the axes of the twist.
#[inline(always)]
pub(crate) fn generalise<L: Arithmetic>(
    l: L,
    stepper: &Stepper,
    twist: &WorldTwist,
    sum: &WorldWrench,
) -> WorldWrench {
    match stepper.elasticity {
        Elasticity::Energy => twist.pull_back(l, sum),
        // Components of the displaced body axes, in the rest axes.
        Elasticity::Linear => {
            let back = twist.rotation(l).conjugate();
            WorldWrench { force: back * sum.force, torque: back * sum.torque }
        }
    }
}

/// Adds a load in world axes.
#[inline(always)]
pub(crate) fn add_load<L: Arithmetic>(
    l: L,
    sum: &mut WorldWrench,
    load: &EffectorLoad,
    stepper: &Stepper,
    twist: &WorldTwist,
) {
    let rest = stepper.model.effector_blocks().rest_rotation(load.effector);
    let w = load_in_world(l, load, rest, twist);
    sum.force += w.force;
    sum.torque += w.torque;
}
