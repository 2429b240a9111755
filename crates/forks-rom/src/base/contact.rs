//! Contact of a model whose base floats: the linear response of a step to impulses, and the step
//! with them.
//!
//! Contact sees the velocities (v, ω, η̇), v and ω the base link's body twist. Instead of v the
//! centre of mass' V = v + ω×c + Gη̇ (base axes) answers alone: mΔV = P, and [[J, Σ], [Σᵀ, M̃ +
//! hD + h²𝓗]] Δ(ω, η̇) = (changes of the spin and of η's momentum), all at the state before the
//! step. With T: (V, ω, η̇) → (v, ω, η̇) that gives A⁻¹ = T diag(1/m, …)⁻¹ Tᵀ.
//!
//! From the change of velocity follow the impulses, exactly to rounding, and with these the
//! implicit equations are solved once more: momentum changes by the impulses, the energy by no more
//! than their work. In a step with impulses the centre of mass moves by h times its velocity
//! afterwards, so that what rests on the world stays there.

use forks_lie::glam::DVec3;

use super::{state::FloatingState, step::FloatingStepper, workspace::FloatingWorkspace};
use crate::{EffectorLoad, ModelError, StepStatus};
use forks_linalg::simd::{Arithmetic, Kernel};

impl FloatingStepper {
    /// Begins a step: its linear response into the workspace. [`FloatingStepper::change_velocity`]
    /// makes the step, with or without impulses. Allocates nothing. What is known of the status
    /// before a step is returned: effectors out of range, inertia held back.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn respond(
        &self,
        state: &FloatingState,
        work: &mut FloatingWorkspace,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> StepStatus {
        let n = self.model().inertia.n;
        assert_eq!(work.response.free.len(), 6 + n, "coordinates of the workspace");
        self.isa().run(Respond { stepper: self, state, work, loads, gravity })
    }

    /// Makes the step that [`FloatingStepper::respond`] began, with impulses that change its
    /// velocities, by A⁻¹, by `change` (base link's body twist, η̇). Momentum changes by exactly
    /// these impulses, at their points before the step. Without change it is
    /// [`FloatingStepper::step_under`] bit by bit. Allocates nothing.
    ///
    /// # Errors
    /// A change of the wrong size or one that is not finite, or a result that is not.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size.
    pub fn change_velocity(
        &self,
        state: &mut FloatingState,
        work: &mut FloatingWorkspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError> {
        let n = self.model().inertia.n;
        let found = [state.shape.coordinates().len(), work.response.free.len() - 6];
        assert_eq!(found, [n; 2], "coordinates");
        crate::state::check("change of velocity", change, 6 + n)?;
        match self.isa().run(ChangeVelocity { stepper: self, state, work, change }) {
            StepStatus::NotFinite => Err(ModelError::NotFinite { quantity: "step" }),
            status => Ok(status),
        }
    }
}

/// [`FloatingStepper::respond`] as a kernel.
struct Respond<'a> {
    stepper: &'a FloatingStepper,
    state: &'a FloatingState,
    work: &'a mut FloatingWorkspace,
    loads: &'a [EffectorLoad],
    gravity: DVec3,
}

impl Kernel for Respond<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> StepStatus {
        let Self { stepper, state, work, loads, gravity } = self;
        let FloatingWorkspace { step: work, response: out } = work;
        let start = stepper.start(l, state, work, loads, gravity);
        let FloatingState { shape, world_from_base, center_velocity, .. } = state;
        let rotation = world_from_base.rotation;
        let equations = stepper.equations(shape, rotation, &start);
        out.begin(l, &equations, &start, (rotation, *center_velocity), work);
        match start.outside {
            Some(effector) => StepStatus::OutOfRange { effector },
            None if start.held < 1.0 => StepStatus::InertiaHeldBack,
            None => StepStatus::Completed,
        }
    }
}

/// [`FloatingStepper::change_velocity`] as a kernel.
struct ChangeVelocity<'a> {
    stepper: &'a FloatingStepper,
    state: &'a mut FloatingState,
    work: &'a mut FloatingWorkspace,
    change: &'a [f64],
}

impl Kernel for ChangeVelocity<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> StepStatus {
        let Self { stepper, state, work, change } = self;
        let FloatingWorkspace { step: work, response: r } = work;
        let h = stepper.step_size();
        let (start, kick) = if change.iter().all(|d| *d == 0.0) {
            (r.start, None)
        } else {
            let (start, kick) = r.take_impulses(l, state.world_from_base.rotation, work, change);
            (start, Some(kick))
        };
        // What rests on the world after impulses stays there.
        let share = if kick.is_some() { h } else { 0.5 * h };
        let kick = kick.unwrap_or(DVec3::ZERO);
        let drift = state.center_velocity + start.acceleration * share + kick;
        stepper.finish(l, state, work, &start, drift, kick)
    }
}
