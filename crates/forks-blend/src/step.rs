//! One time step of a blended model, in which energy cannot grow.
//!
//! Velocity from (M̄ + h D̄ + h² K̄) v = M̄ v₀ + h (g + f − ∇U), all at the old place, the blended
//! matrices symmetric, f those of [`crate::coriolis`]; further Newton steps where the force at the
//! new place says so. Then the first law is enforced: with W = gᵀ(x − x₀) the energy afterwards is
//! at most the energy before plus W, if need be by a shorter move and a slower velocity.
//!
//! Impulses j = Σ Jᵀλ of contact need a response that is linear and the same for what is free and
//! what contact adds, or bodies that rest on the world rest at other places than statics says: a
//! step with impulses is A v = M̄ v₀ + h (g + f − ∇U) + j without corrections. Its first law has
//! the work of contact too, jᵀv.

use alloc::sync::Arc;

use forks_linalg::{
    invert_cholesky,
    simd::{Arithmetic, Kernel},
    sqrt,
};
use forks_rom::{
    EffectorLoad, ModelError, StepStatus,
    internal::{assert_effectors, check_numbers},
};

use crate::{
    dense::{blend, factor_system, multiply, quadratic, row, solve_factored},
    evaluation::Evaluation,
    matrices::Blend,
    model::BlendedModel,
    state::BlendedState,
    statics::pull_loads,
    workspace::{BlendedWorkspace, Work},
};

/// A blended model with a step size.
#[derive(Clone, Debug)]
pub struct BlendedStepper {
    model: Arc<BlendedModel>,
    h: f64,
}

/// Further Newton steps that a step takes at most.
const MAX_CORRECTIONS: usize = 3;
/// A residual below this part of the forces that are balanced needs no correction.
const RESIDUAL: f64 = 1e-3;
/// Rounding of energies relative to their sizes: at rest their differences are nothing else.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// The same relative to the sizes of the terms that an energy is a sum of: some roundings each.
const ROUNDING_OF_TERMS: f64 = 4.0 * f64::EPSILON;
/// How often a move is shortened before it is given up, and by how much at once.
const MAX_SHORTENINGS: usize = 20;
const SHORTER: (f64, f64) = (1e-3, 0.5);

impl BlendedStepper {
    /// A stepper; `h` in seconds.
    ///
    /// # Errors
    /// A step that is not positive and finite.
    pub fn new(model: Arc<BlendedModel>, h: f64) -> Result<Self, ModelError> {
        if h.is_finite() && h > 0.0 {
            return Ok(Self { model, h });
        }
        Err(ModelError::StepSize { step: h })
    }

    /// The model.
    pub fn model(&self) -> &Arc<BlendedModel> {
        &self.model
    }

    /// The step, s.
    pub fn step_size(&self) -> f64 {
        self.h
    }

    /// Moves a state by one step under loads on effectors. Allocates nothing.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn step(
        &self,
        state: &mut BlendedState,
        work: &mut BlendedWorkspace,
        loads: &[EffectorLoad],
    ) -> StepStatus {
        if !self.begin(state, work, loads, false) {
            return StepStatus::NotFinite;
        }
        self.model.isa().run(Finish { stepper: self, state, work, impulse: false })
    }

    /// Begins a step: its linear response into the workspace. [`BlendedStepper::change_velocity`]
    /// makes the step, with or without impulses. Allocates nothing. False, with the response
    /// undefined, if nothing resists a motion or numbers are not finite.
    ///
    /// # Panics
    /// As [`BlendedStepper::step`].
    pub fn respond(
        &self,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
        loads: &[EffectorLoad],
    ) -> bool {
        self.begin(state, work, loads, true)
    }

    fn begin(
        &self,
        state: &BlendedState,
        work: &mut BlendedWorkspace,
        loads: &[EffectorLoad],
        invert: bool,
    ) -> bool {
        let n = self.model.dof();
        assert_eq!([state.x.len(), work.free.len()], [n; 2], "coordinates of the state");
        assert_effectors(loads, self.model.effector_count());
        work.update(&self.model, state);
        work.responds = self.model.isa().run(Begin { stepper: self, state, work, loads });
        if invert && work.responds {
            work.free.copy_from_slice(&work.step.velocity);
            if !self.model.has_constant_matrices() {
                invert_cholesky(n, &work.step.system, n, work.inverse.as_mut_slice());
            }
            let finite = work.free.iter().all(|v| v.is_finite());
            work.responds = finite && work.inverse.is_finite();
        }
        work.responds
    }

    /// Makes the step that [`BlendedStepper::respond`] began, with impulses that change its free
    /// velocity by Δ = A⁻¹ j: ẋ = free velocity + Δ, x = x₀ + hẋ; shorter and slower if else the
    /// energy afterwards were more than before plus the work of loads and impulses. Without change
    /// it is [`BlendedStepper::step`] bit by bit. Allocates nothing.
    ///
    /// # Errors
    /// A change of the wrong size or one that is not finite, or a result that is not; the state is
    /// then unchanged.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size.
    pub fn change_velocity(
        &self,
        state: &mut BlendedState,
        work: &mut BlendedWorkspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError> {
        let n = self.model.dof();
        assert_eq!([state.x.len(), work.free.len()], [n; 2], "coordinates of the state");
        check_numbers("change of velocity", change, n)?;
        let impulse = change.iter().any(|d| *d != 0.0);
        if impulse {
            work.step.take_impulse(self.h, change);
        }
        match self.model.isa().run(Finish { stepper: self, state, work, impulse }) {
            StepStatus::NotFinite => Err(ModelError::NotFinite { quantity: "step" }),
            status => Ok(status),
        }
    }
}

/// v = A⁻¹(M̄ v₀ + h (g + f − ∇U)) at the old place; false if A is not one.
struct Begin<'a> {
    stepper: &'a BlendedStepper,
    state: &'a BlendedState,
    work: &'a mut BlendedWorkspace,
    loads: &'a [EffectorLoad],
}

impl Kernel for Begin<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        let Self { stepper: BlendedStepper { model, h }, state, work, loads } = self;
        let BlendedWorkspace { here, step: work, inverse, .. } = work;
        pull_loads(l, model, here, &state.x, loads, &mut work.force);
        let (constant, n) = (model.has_constant_matrices(), state.x.len());
        if !(constant && work.known == *h) {
            work.known = f64::NAN;
            work.matrices(model, here);
            if !factor_system(&work.mass, &work.damping, &mut work.system, *h, n) {
                return false;
            }
            if constant {
                invert_cholesky(n, &work.system, n, inverse.as_mut_slice());
                work.known = *h;
            }
        }
        work.balanced.copy_from_slice(&work.force[..n]);
        if model.is_curved() && !constant {
            let memory = (&mut work.last[..], &mut work.right[..]);
            here.add_coriolis_force(model, &state.velocity, memory, &mut work.balanced);
        }
        work.momentum_balance(*h, &state.velocity, &here.gradient);
        work.solve(inverse.as_slice());
        work.velocity.copy_from_slice(&work.right);
        true
    }
}

/// The move by `work.velocity`: corrected if there are no impulses, linear in them if there are, so
/// that what rests on the world rests where statics has it.
struct Finish<'a> {
    stepper: &'a BlendedStepper,
    state: &'a mut BlendedState,
    work: &'a mut BlendedWorkspace,
    impulse: bool,
}

impl Kernel for Finish<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, _: L) -> StepStatus {
        let Self { stepper: BlendedStepper { model, h }, state, work, impulse } = self;
        let BlendedState { x, velocity, .. } = state;
        let BlendedWorkspace { here, step, inverse, .. } = work;
        step.move_by(*h, x, model);
        let inverse = inverse.as_slice();
        let corrected = !impulse && step.correct(*h, x, velocity, inverse, model);
        if model.blend() == Blend::Energy && !step.first_law(*h, here, x, corrected, model)
            || !(step.velocity.iter().chain(&step.x).all(|x| x.is_finite()))
        {
            step.arrived = false;
            return StepStatus::NotFinite;
        }
        x.copy_from_slice(&step.x);
        velocity.copy_from_slice(&step.velocity);
        core::mem::swap(here, &mut step.there);
        let outside = here.outside;
        work.arrive(state);
        outside.map_or(StepStatus::Completed, |effector| StepStatus::OutOfRange { effector })
    }
}

impl Work {
    /// Changes the velocity by Δ, and the force by j/h with j = L Lᵀ Δ: impulses do the work of
    /// forces.
    fn take_impulse(&mut self, h: f64, change: &[f64]) {
        let n = change.len();
        let (l, j) = (&self.system, &mut self.last);
        for i in 0..n {
            j[i] = (i..n).map(|k| l[k * n + i] * change[k]).sum();
        }
        for i in (0..n).rev() {
            j[i] = (0..=i).map(|k| l[i * n + k] * j[k]).sum();
        }
        self.velocity.iter_mut().zip(change).for_each(|(v, d)| *v += d);
        self.force.iter_mut().zip(j.iter()).for_each(|(f, j)| *f += *j / h);
    }

    /// M̄, D̄, K̄ for the weights of an evaluation.
    #[inline(always)]
    fn matrices(&mut self, model: &BlendedModel, here: &mut Evaluation) {
        let (weights, samples) = (&here.weights, &model.samples);
        if let Some(m) = &model.matrices {
            m.mass.blend(weights, &mut here.scratch, &mut self.mass);
            m.damping.blend(weights, &mut here.scratch, &mut self.damping);
            m.hessian.blend(weights, &mut here.scratch, &mut self.system);
            return;
        }
        if core::mem::take(&mut self.arrived) {
            core::mem::swap(&mut self.mass, &mut self.mass_there);
        } else {
            blend(&mut self.mass, weights, samples.iter().map(|s| &s.mass));
        }
        blend(&mut self.damping, weights, samples.iter().map(|s| &s.damping));
        blend(&mut self.system, weights, samples.iter().map(|s| &s.hessian));
    }

    /// right = A⁻¹ right, with the inverse where it is known.
    #[inline(always)]
    fn solve(&mut self, inverse: &[f64]) {
        if self.known.is_nan() {
            return solve_factored(&self.system, &mut self.right);
        }
        multiply(inverse, &self.right, &mut self.last);
        core::mem::swap(&mut self.last, &mut self.right);
    }

    /// right = M̄ v₀ + h (g + f − ∇U), and the energy of motion ½ v₀ᵀM̄v₀.
    #[inline(always)]
    fn momentum_balance(&mut self, h: f64, velocity: &[f64], gradient: &[f64]) {
        let n = velocity.len();
        let mut twice = 0.0;
        for i in 0..n {
            let momentum = row(&self.mass[i * n..(i + 1) * n], velocity);
            twice += velocity[i] * momentum;
            self.right[i] = momentum + h * (self.balanced[i] - gradient[i]);
        }
        self.moving = 0.5 * twice;
    }

    /// x = x₀ + h v, and what is there.
    #[inline(always)]
    fn move_by(&mut self, h: f64, x: &[f64], model: &BlendedModel) {
        for (new, (x, v)) in self.x.iter_mut().zip(x.iter().zip(&self.velocity)) {
            *new = x + h * v;
        }
        self.there.at(model, &self.x);
    }

    /// Newton's method towards implicit Euler's balance at the new place. A correction that makes
    /// the incremental potential larger is taken back: samples that are very stiff make the force
    /// change over next to no distance. True if the velocity changed.
    #[inline(always)]
    fn correct(
        &mut self,
        h: f64,
        x: &[f64],
        old: &[f64],
        inverse: &[f64],
        model: &BlendedModel,
    ) -> bool {
        self.first.copy_from_slice(&self.velocity);
        for done in 0..MAX_CORRECTIONS {
            let (left, size) = self.unbalanced(h, old);
            if left.is_nan() || left <= RESIDUAL * size {
                return done > 0;
            }
            self.solve(inverse);
            self.last.copy_from_slice(&self.right);
            let before = self.incremental_potential(h, x, old);
            core::mem::swap(&mut self.last, &mut self.right);
            self.last.copy_from_slice(&self.velocity);
            self.velocity.iter_mut().zip(&self.right).for_each(|(v, d)| *v += d);
            self.move_by(h, x, model);
            let now = self.incremental_potential(h, x, old);
            if model.blend() == Blend::Energy && (now.is_nan() || now > before) {
                self.velocity.copy_from_slice(&self.last);
                self.move_by(h, x, model);
                return done > 0;
            }
        }
        true
    }

    /// ½ (v − v₀)ᵀM̄(v − v₀) + ½ h vᵀD̄v + U(x) − (g + f)ᵀ(x − x₀): least where implicit Euler's
    /// method ends.
    #[inline(always)]
    fn incremental_potential(&mut self, h: f64, x: &[f64], old: &[f64]) -> f64 {
        for (c, (v, old)) in self.right.iter_mut().zip(self.velocity.iter().zip(old)) {
            *c = v - old;
        }
        let inertia = 0.5 * quadratic(&self.mass, &self.right);
        let damping = 0.5 * h * quadratic(&self.damping, &self.velocity);
        inertia + damping + self.there.energy - self.work(&self.balanced, x)
    }

    /// right = −residual of implicit Euler at the new place; its largest entry, and the size of
    /// what is balanced.
    #[inline(always)]
    fn unbalanced(&mut self, h: f64, old: &[f64]) -> (f64, f64) {
        let n = old.len();
        let (mut worst, mut size) = (0.0f64, 0.0f64);
        for (d, (v, old)) in self.last.iter_mut().zip(self.velocity.iter().zip(old)) {
            *d = v - old;
        }
        for i in 0..n {
            let inertia = row(&self.mass[i * n..(i + 1) * n], &self.last);
            let damping = row(&self.damping[i * n..(i + 1) * n], &self.velocity);
            let load = h * (self.balanced[i] - self.there.gradient[i]);
            self.right[i] = load - inertia - h * damping;
            worst = worst.max(self.right[i].abs());
            size = size.max(inertia.abs()).max(h * self.there.gradient[i].abs());
        }
        (worst, size)
    }

    /// Shortens the move and slows the velocity until the energy is at most that before plus the
    /// loads' work. False if numbers are not finite.
    #[inline(always)]
    fn first_law(
        &mut self,
        h: f64,
        here: &Evaluation,
        x: &[f64],
        mut corrected: bool,
        model: &BlendedModel,
    ) -> bool {
        let moving = self.moving;
        let before = here.energy + moving;
        for _ in 0..MAX_SHORTENINGS {
            let work = self.work(&self.force, x);
            let available = before + work - self.there.energy;
            let mass = if self.known.is_nan() {
                let masses = model.samples.iter().map(|s| &s.mass);
                blend(&mut self.mass_there, &self.there.weights, masses);
                &self.mass_there
            } else {
                &self.mass
            };
            let kinetic = 0.5 * quadratic(mass, &self.velocity);
            if !(available.is_finite() && kinetic.is_finite()) {
                return false;
            }
            let size = before.abs() + work.abs() + self.there.energy.abs();
            let terms = here.size_of_terms + self.there.size_of_terms;
            let rounding = ROUNDING * size + ROUNDING_OF_TERMS * terms;
            let paid = kinetic <= available + rounding;
            if paid || available >= -rounding {
                if !paid {
                    let slower = sqrt(available.max(0.0) / kinetic);
                    self.velocity.iter_mut().for_each(|v| *v *= slower);
                }
                self.arrived = self.known.is_nan() && model.matrices.is_none();
                return true;
            }
            if core::mem::take(&mut corrected) {
                // The first move goes downhill, or is paid for by the motion there was; its
                // corrections need not.
                self.velocity.copy_from_slice(&self.first);
                self.move_by(h, x, model);
                continue;
            }
            let slope = self.work(&here.gradient, x) - work;
            let part = shorter(slope, moving - available, moving);
            self.velocity.iter_mut().for_each(|v| *v *= part);
            self.move_by(h, x, model);
        }
        // No move at all: the old place has the energy before, less the velocity's.
        self.velocity.fill(0.0);
        self.move_by(h, x, model);
        true
    }

    /// Work of generalised forces from `x` to the new place.
    #[inline(always)]
    fn work(&self, force: &[f64], x: &[f64]) -> f64 {
        force.iter().zip(self.x.iter().zip(x)).map(|(f, (new, x))| f * (new - x)).sum()
    }
}

/// Part t of a move to try next. Along it the potential less the loads' work grows by about s t + c
/// t², which is `end` at t = 1, s the `slope`. Half the way to where that is the energy of motion:
/// its minimum where there is none.
#[inline(always)]
fn shorter(slope: f64, end: f64, moving: f64) -> f64 {
    let c = end - slope;
    let root = sqrt(slope * slope + 4.0 * c * moving.max(0.0));
    let part = (root - slope) / (4.0 * c);
    let (least, most) = SHORTER;
    // Not a number where the growth is not convex.
    if part < most { part.max(least) } else { most }
}
