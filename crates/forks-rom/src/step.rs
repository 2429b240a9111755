//! One time step of a reduced model.

use alloc::sync::Arc;

use forks_lie::Matrix;

use crate::{
    EffectorLoad, ModelError, ReducedModel, State,
    effectors::{WorldTwist, WorldWrench, load_in_world},
    kernel::{Kernel, LANES, Lanes},
    state::Work,
    transition::{Transition, implicit_euler},
    wrench::linear_stiffness,
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
    /// \[A16\]: w = b + K ξ in displaced body axes; agrees to first order, not the gradient of any energy.
    Linear,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum StepStatus {
    /// As it should.
    Completed,
    /// The step was made; then or before, an effector was outside the model's range or had turned by π or more.
    OutOfRange {
        /// The first such effector.
        effector: usize,
    },
    /// Loads or result are not finite; the state is unchanged.
    NotFinite,
}

/// A model with a step size: everything that a step needs is computed once.
#[derive(Clone, Debug)]
pub struct Stepper {
    model: Arc<ReducedModel>,
    h: f64,
    scheme: Scheme,
    elasticity: Elasticity,
    transition: Transition,
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
        Ok(Self { model, h, scheme, elasticity, transition })
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

    /// A⁻¹ = (M + hD + h²𝓗)⁻¹, n_η × n_η: what an impulse in η adds to η̇⁺, for contact. `None` for other schemes than
    /// implicit Euler, whose velocity answers to impulses in another way, and for elastic forces without an energy.
    pub fn inverse_system(&self) -> Option<Matrix> {
        if self.scheme != Scheme::ImplicitEuler || self.elasticity != Elasticity::Energy {
            return None;
        }
        let (n, inverse) = (self.model.dof(), 1.0 / self.h);
        let response = self.transition.force.unpacked(n);
        let scaled = Matrix::from_fn(n, n, |i, j| response[(i, j)] * inverse);
        Some(scaled.symmetric_part())
    }

    /// Ends a step with another velocity than the free one: η̇⁺ += Δ, η⁺ += hΔ. Of implicit Euler only; allocates nothing.
    ///
    /// With Δ = A⁻¹ j, A⁻¹ from [`Stepper::inverse_system`], after [`Stepper::step`], the state is that of a step on which
    /// the generalised impulse j (N·s per unit η̇) acted too.
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

    /// Moves a state by one step under loads on effectors. Allocates nothing.
    ///
    /// # Panics
    /// If the state belongs to a model of another size, or a load to an effector that does not exist.
    pub fn step(&self, state: &mut State, loads: &[EffectorLoad]) -> StepStatus {
        assert_eq!(state.dof, self.model.dof(), "coordinates of the state");
        crate::statics::assert_effectors(loads, self.model.effector_count());
        self.model.isa().run(Step { stepper: self, state, loads })
    }
}

/// The step as a kernel.
struct Step<'a> {
    stepper: &'a Stepper,
    state: &'a mut State,
    loads: &'a [EffectorLoad],
}

impl Kernel for Step<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> StepStatus {
        let Self { stepper, state, loads } = self;
        // What the state alone gives does not wait for the loads.
        let Work { stretch, result, .. } = &mut state.work;
        let stretch: &[f64] = if state.driven {
            for (s, (x, r)) in stretch.iter_mut().zip(state.eta.iter().zip(&state.rest)) {
                *s = x - r;
            }
            stretch
        } else {
            &state.eta
        };
        stepper.transition.of_state(l, &state.velocity, stretch, result);
        let Checked { loaded, outside } = generalised_force(l, stepper, state, loads);
        if loaded {
            stepper.transition.add_force(l, &state.work.force, &mut state.work.result);
        }
        if !accept(l, stepper, state) {
            return StepStatus::NotFinite;
        }
        outside.map_or(StepStatus::Completed, |effector| StepStatus::OutOfRange { effector })
    }
}

/// Takes over the result if it is finite.
#[inline(always)]
fn accept<L: Lanes>(l: L, stepper: &Stepper, state: &mut State) -> bool {
    let width = state.eta.len() / LANES;
    let (result, _) = state.work.result.as_chunks::<LANES>();
    let (rates, positions) = result.split_at(width);
    let (eta, _) = state.eta.as_chunks_mut::<LANES>();
    let (velocity, _) = state.velocity.as_chunks_mut::<LANES>();
    let (rest, _) = state.rest.as_chunks::<LANES>();
    let (h, zero) = (l.splat(stepper.h), l.splat(0.0));
    let position = |i: usize, eta: &[f64; LANES]| match stepper.scheme {
        Scheme::ImplicitEuler => l.mul_add(h, l.read(&rates[i]), l.read(eta)),
        Scheme::Exponential => l.add(l.read(&rest[i]), l.read(&positions[i])),
    };
    // 0 × x is 0 unless x is NaN or infinite.
    let mut check = zero;
    for i in 0..width {
        check = l.mul_add(position(i, &eta[i]), zero, check);
        check = l.mul_add(l.read(&rates[i]), zero, check);
    }
    if l.store(check).0 != [0.0; LANES] {
        return false;
    }
    for i in 0..width {
        eta[i] = l.store(position(i, &eta[i])).0;
        velocity[i] = rates[i];
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

/// g = Σ_e B_eᵀ J_r(ξ_e)ᵀ w_e into the state's scratch, where some load acts.
#[inline(always)]
fn generalised_force<L: Lanes>(
    l: L,
    stepper: &Stepper,
    state: &mut State,
    loads: &[EffectorLoad],
) -> Checked {
    let blocks = stepper.model.effector_blocks();
    let mut checked = Checked { loaded: false, outside: None };
    for e in 0..blocks.count() {
        let twist = blocks.twist(l, e, &state.eta[..state.dof]);
        if checked.outside.is_none() && !blocks.in_range(&twist) {
            checked.outside = Some(e);
        }
        let mut found = false;
        let mut sum = WorldWrench::default();
        for load in loads.iter().filter(|load| load.effector == e) {
            found = true;
            add_load(l, &mut sum, load, stepper, &twist);
        }
        if !found {
            continue;
        }
        let g = generalise(l, stepper, &twist, &sum);
        blocks.add_force(l, e, &g, checked.loaded, &mut state.work.force);
        checked.loaded = true;
    }
    checked
}

/// What a wrench does on an effector's twist, in the axes of the twist.
#[inline(always)]
pub(crate) fn generalise<L: Lanes>(
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
pub(crate) fn add_load<L: Lanes>(
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
