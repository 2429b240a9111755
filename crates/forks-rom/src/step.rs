//! One time step of a reduced model.

use alloc::sync::Arc;

use forks_lie::{Matrix, glam::DVec3};

use crate::{
    EffectorLoad, LoadFrame, ModelError, ReducedModel, State,
    effectors::{WorldTwist, WorldWrench},
    kernel::{Kernel, LANES, Lanes},
    linear::sum,
    transition::{Transition, implicit_euler},
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
            Elasticity::Linear => linear_stiffness(&model),
        };
        let transition = match scheme {
            Scheme::ImplicitEuler => implicit_euler(model.data(), &stiffness, h)?,
            Scheme::Exponential => crate::exponential::exponential(model.data(), &stiffness, h)?,
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

    /// Moves a state by one step under loads on effectors. Allocates nothing.
    ///
    /// # Panics
    /// If the state belongs to a model of another size, or a load to an effector that does not exist.
    pub fn step(&self, state: &mut State, loads: &[EffectorLoad]) -> StepStatus {
        assert_eq!(state.dof, self.model.dof(), "coordinates of the state");
        let count = self.model.effector_count();
        for l in loads {
            assert!(l.effector < count, "load on effector {} of {count}", l.effector);
        }
        self.model.isa().run(Step { stepper: self, state, loads })
    }
}

/// K = 𝓗 − BᵀQB, `Q = blockdiag [[0, ½[f]×], [−½[f]×, ½[τ]×]]` of the static wrenches.
fn linear_stiffness(model: &ReducedModel) -> Matrix {
    let data = model.data();
    let n = model.dof();
    let mut out = data.hessian.clone();
    for (e, effector) in data.effectors.iter().enumerate() {
        let b = data.basis.block(6 * e, 0, 6, n);
        let (f, t) = (effector.static_wrench.force * 0.5, effector.static_wrench.torque * 0.5);
        let (f, t) = (forks_lie::skew(f), forks_lie::skew(t));
        let q = Matrix::from_fn(6, 6, |i, j| match (i < 3, j < 3) {
            (true, true) => 0.0,
            (true, false) => f.col(j - 3)[i],
            (false, true) => -f.col(j)[i - 3],
            (false, false) => t.col(j - 3)[i - 3],
        });
        out = sum(&out, -1.0, &b.transpose_mul(&q.mul(&b)));
    }
    out
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
        let n = state.dof;
        // What the state alone gives does not wait for the loads.
        let (velocity, stretch) = state.work.inputs.split_at_mut(n);
        velocity.copy_from_slice(&state.velocity[..n]);
        for (s, (x, r)) in stretch.iter_mut().zip(state.eta.iter().zip(&state.rest)) {
            *s = x - r;
        }
        state.work.result.fill(0.0);
        stepper.transition.state.add_product(l, &state.work.inputs, &mut state.work.result);
        let outside = generalised_force(l, stepper, state, loads);
        stepper.transition.force.add_product(l, &state.work.force, &mut state.work.result);
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
        Scheme::ImplicitEuler => l.mul_add(h, l.from_array(&rates[i]), l.from_array(eta)),
        Scheme::Exponential => l.add(l.from_array(&rest[i]), l.from_array(&positions[i])),
    };
    // 0 × x is 0 unless x is NaN or infinite.
    let mut check = zero;
    for i in 0..width {
        check = l.mul_add(position(i, &eta[i]), zero, check);
        check = l.mul_add(l.from_array(&rates[i]), zero, check);
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

/// g − b_η with g = Σ_e B_eᵀ J_r(ξ_e)ᵀ w_e into the state's scratch; returns the first effector that is out of range.
#[inline(always)]
fn generalised_force<L: Lanes>(
    l: L,
    stepper: &Stepper,
    state: &mut State,
    loads: &[EffectorLoad],
) -> Option<usize> {
    let blocks = stepper.model.effector_blocks();
    state.work.force[..state.dof].copy_from_slice(stepper.model.held_force());
    let mut outside = None;
    for e in 0..blocks.count() {
        let twist = blocks.twist(l, e, state.eta());
        if outside.is_none() && !blocks.in_range(&twist) {
            outside = Some(e);
        }
        let mut found = false;
        let mut sum = WorldWrench::default();
        for load in loads.iter().filter(|load| load.effector == e) {
            found = true;
            add_load(l, &mut sum, load, stepper, &twist);
        }
        if found {
            let g = match stepper.elasticity {
                Elasticity::Energy => twist.pull_back(l, &sum),
                // Components of the displaced body axes, in the rest axes.
                Elasticity::Linear => {
                    let back = twist.rotation(l).conjugate();
                    WorldWrench { force: back * sum.force, torque: back * sum.torque }
                }
            };
            blocks.add_force(l, e, &g, &mut state.work.force);
        }
    }
    outside
}

/// A load in world axes.
#[inline(always)]
fn add_load<L: Lanes>(
    l: L,
    sum: &mut WorldWrench,
    load: &EffectorLoad,
    stepper: &Stepper,
    twist: &WorldTwist,
) {
    let turned = |v: DVec3| match load.frame {
        LoadFrame::World => v,
        LoadFrame::Body => {
            let rest = stepper.model.effector_blocks().rest_rotation(load.effector);
            twist.rotation(l) * (rest * v)
        }
    };
    sum.force += turned(load.wrench.force);
    sum.torque += turned(load.wrench.torque);
}
