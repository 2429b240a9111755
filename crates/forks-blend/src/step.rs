//! One time step of a blended model, in which energy cannot grow.
//!
//! Velocity from (M̄ + h D̄ + h² K̄) v = M̄ v₀ + h (g − ∇U), all at the old place, the blended
//! matrices symmetric; further Newton steps where the force at the new place says so. Then the
//! first law is enforced: with W = gᵀ(x − x₀) the energy afterwards is at most the energy before
//! plus W, if need be by a shorter move and a slower velocity.

use alloc::{sync::Arc, vec, vec::Vec};

use forks_lie::Wrench;
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, Kernel, LANES},
};
use forks_rom::{EffectorLoad, ModelError, StepStatus};

use crate::{
    evaluate::Evaluation, links::Scratch, matrices::Blend, model::BlendedModel, statics::pull_loads,
};

/// The state of one instance of a blended model.
#[derive(Clone, Debug)]
pub struct BlendedState {
    pub(crate) x: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) servo_targets: Vec<f64>,
    /// True if some servo target is not 0.
    driven: bool,
    /// At `x`.
    pub(crate) here: Evaluation,
    pub(crate) work: Work,
    /// For the links.
    pub(crate) scratch: Scratch,
}

/// Scratch memory of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    there: Evaluation,
    x: Vec<f64>,
    velocity: Vec<f64>,
    /// The velocity before a correction.
    last: Vec<f64>,
    /// The velocity before all corrections.
    first: Vec<f64>,
    /// Generalised force of the loads, padded.
    pub(crate) force: Vec<f64>,
    pub(crate) right: Vec<f64>,
    pub(crate) mass: Vec<f64>,
    pub(crate) damping: Vec<f64>,
    pub(crate) system: Vec<f64>,
}

impl BlendedState {
    /// At rest at chart coordinates `x`.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite.
    pub fn new(model: &BlendedModel, x: &[f64]) -> Result<Self, ModelError> {
        let n = model.dof();
        let mut out = Self {
            x: vec![0.0; n],
            velocity: vec![0.0; n],
            servo_targets: vec![0.0; model.servo_count()],
            driven: false,
            here: Evaluation::new(model),
            work: Work {
                there: Evaluation::new(model),
                x: vec![0.0; n],
                velocity: vec![0.0; n],
                last: vec![0.0; n],
                first: vec![0.0; n],
                force: vec![0.0; n.div_ceil(LANES) * LANES],
                right: vec![0.0; n],
                mass: vec![0.0; n * n],
                damping: vec![0.0; n * n],
                system: vec![0.0; n * n],
            },
            scratch: Scratch::new(model.samples.len()),
        };
        out.set(model, x, &vec![0.0; n])?;
        Ok(out)
    }

    /// Sets chart coordinates and their rates.
    ///
    /// # Errors
    /// Wrong lengths, numbers that are not finite; the state is then unchanged.
    pub fn set(&mut self, model: &BlendedModel, x: &[f64], rate: &[f64]) -> Result<(), ModelError> {
        forks_rom::internal::check_numbers("chart coordinates", x, model.dof())?;
        forks_rom::internal::check_numbers("chart velocity", rate, model.dof())?;
        self.x.copy_from_slice(x);
        self.velocity.copy_from_slice(rate);
        self.here.at(model, x);
        Ok(())
    }

    /// Sets the servos' targets relative to those of the samples, in the order of
    /// [`ModelData::servos`](forks_rom::ModelData::servos). The potential energy changes by what the
    /// servos' drives do.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite, targets other than 0 in a chart of joint
    /// displacements; the state is then unchanged.
    pub fn set_servo_targets(
        &mut self,
        model: &BlendedModel,
        targets: &[f64],
    ) -> Result<(), ModelError> {
        forks_rom::internal::check_numbers("servo targets", targets, model.servo_count())?;
        forks_rom::internal::check_numbers("chart coordinates", &self.x, model.dof())?;
        model.check_targets(targets)?;
        self.servo_targets.clear();
        self.servo_targets.extend_from_slice(targets);
        self.driven = targets.iter().any(|s| *s != 0.0);
        self.here.drive(model, targets);
        self.work.there.drive(model, targets);
        self.here.at(model, &self.x);
        Ok(())
    }

    /// Servo targets relative to those of the samples.
    pub fn servo_targets(&self) -> &[f64] {
        &self.servo_targets
    }

    /// Servo targets, empty where all are 0.
    pub(crate) fn driven_targets(&self) -> &[f64] {
        if self.driven { &self.servo_targets } else { &[] }
    }

    /// Chart coordinates.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// Their rates.
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// ∂U/∂x, the generalised force that holds the effectors here.
    pub fn elastic_force(&self) -> &[f64] {
        &self.here.gradient[..self.x.len()]
    }

    /// Wrenches that hold the effectors here, each in its effector's displaced frame.
    pub fn effector_wrenches(&self) -> &[Wrench] {
        &self.here.held
    }

    /// Weights of the samples.
    pub fn weights(&self) -> &[f64] {
        &self.here.weights
    }

    /// True if an effector is out of the blend's range.
    pub fn is_out_of_range(&self) -> bool {
        self.here.outside.is_some()
    }

    /// Potential energy, J.
    pub fn potential_energy(&self) -> f64 {
        self.here.energy
    }

    /// Kinetic energy with the blended mass, J.
    pub fn kinetic_energy(&self, model: &BlendedModel) -> f64 {
        0.5 * quadratic(model.mass(&self.here.weights).as_slice(), &self.velocity)
    }
}

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
pub(crate) const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// The same relative to the sizes of the terms that an energy is a sum of: some roundings each.
pub(crate) const ROUNDING_OF_TERMS: f64 = 4.0 * f64::EPSILON;
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
    /// If the state belongs to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn step(&self, state: &mut BlendedState, loads: &[EffectorLoad]) -> StepStatus {
        assert_eq!(state.x.len(), self.model.dof(), "coordinates of the state");
        forks_rom::internal::assert_effectors(loads, self.model.effector_count());
        self.model.isa().run(Step { stepper: self, state, loads })
    }
}

struct Step<'a> {
    stepper: &'a BlendedStepper,
    state: &'a mut BlendedState,
    loads: &'a [EffectorLoad],
}

impl Kernel for Step<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> StepStatus {
        let Self { stepper: BlendedStepper { model, h }, state, loads } = self;
        let BlendedState { x, velocity, here, work, .. } = state;
        pull_loads(l, model, here, x, loads, &mut work.force);
        work.matrices(model, here);
        if !factor_system(&work.mass, &work.damping, &mut work.system, *h, x.len()) {
            return StepStatus::NotFinite;
        }
        work.momentum_balance(*h, velocity, &here.gradient);
        solve_factored(&work.system, &mut work.right);
        work.velocity.copy_from_slice(&work.right);
        work.move_by(*h, x, model);
        let corrected = work.correct(*h, x, velocity, model);
        if model.blend() == Blend::Energy
            && !work.first_law(*h, here, x, velocity, corrected, model)
            || !(work.velocity.iter().chain(&work.x).all(|x| x.is_finite()))
        {
            return StepStatus::NotFinite;
        }
        x.copy_from_slice(&work.x);
        velocity.copy_from_slice(&work.velocity);
        core::mem::swap(here, &mut work.there);
        here.outside.map_or(StepStatus::Completed, |effector| StepStatus::OutOfRange { effector })
    }
}

impl Work {
    /// M̄, D̄, K̄ for the weights of an evaluation.
    #[inline(always)]
    pub(crate) fn matrices(&mut self, model: &BlendedModel, here: &mut Evaluation) {
        let (weights, samples) = (&here.weights, &model.samples);
        if let Some(m) = &model.matrices {
            m.mass.blend(weights, &mut here.scratch, &mut self.mass);
            m.damping.blend(weights, &mut here.scratch, &mut self.damping);
            m.hessian.blend(weights, &mut here.scratch, &mut self.system);
            return;
        }
        blend(&mut self.mass, weights, samples.iter().map(|s| &s.mass));
        blend(&mut self.damping, weights, samples.iter().map(|s| &s.damping));
        blend(&mut self.system, weights, samples.iter().map(|s| &s.hessian));
    }

    /// right = M̄ v₀ + h (g − ∇U).
    #[inline(always)]
    pub(crate) fn momentum_balance(&mut self, h: f64, velocity: &[f64], gradient: &[f64]) {
        let n = velocity.len();
        for i in 0..n {
            let momentum: f64 =
                self.mass[i * n..(i + 1) * n].iter().zip(velocity).map(|(m, v)| m * v).sum();
            self.right[i] = momentum + h * (self.force[i] - gradient[i]);
        }
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
    /// change over next to no distance. True if the velocity is another one.
    #[inline(always)]
    fn correct(&mut self, h: f64, x: &[f64], old: &[f64], model: &BlendedModel) -> bool {
        self.first.copy_from_slice(&self.velocity);
        for done in 0..MAX_CORRECTIONS {
            let (left, size) = self.unbalanced(h, old);
            if left.is_nan() || left <= RESIDUAL * size {
                return done > 0;
            }
            solve_factored(&self.system, &mut self.right);
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

    /// ½ (v − v₀)ᵀM̄(v − v₀) + ½ h vᵀD̄v + U(x) − gᵀ(x − x₀): least where implicit Euler's method
    /// ends.
    #[inline(always)]
    fn incremental_potential(&mut self, h: f64, x: &[f64], old: &[f64]) -> f64 {
        for (c, (v, old)) in self.right.iter_mut().zip(self.velocity.iter().zip(old)) {
            *c = v - old;
        }
        let inertia = 0.5 * quadratic(&self.mass, &self.right);
        let damping = 0.5 * h * quadratic(&self.damping, &self.velocity);
        inertia + damping + self.there.energy - self.work(&self.force, x)
    }

    /// right = −residual of implicit Euler at the new place; its largest entry, and the size of
    /// what is balanced.
    #[inline(always)]
    fn unbalanced(&mut self, h: f64, old: &[f64]) -> (f64, f64) {
        let n = old.len();
        let (mut worst, mut size) = (0.0f64, 0.0f64);
        for i in 0..n {
            let row = i * n..(i + 1) * n;
            let (mut inertia, mut damping) = (0.0, 0.0);
            for (j, (m, d)) in self.mass[row.clone()].iter().zip(&self.damping[row]).enumerate() {
                inertia += m * (self.velocity[j] - old[j]);
                damping += d * self.velocity[j];
            }
            let load = h * (self.force[i] - self.there.gradient[i]);
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
        velocity: &[f64],
        mut corrected: bool,
        model: &BlendedModel,
    ) -> bool {
        let moving = 0.5 * quadratic(&self.mass, velocity);
        let before = here.energy + moving;
        for _ in 0..MAX_SHORTENINGS {
            let work = self.work(&self.force, x);
            let available = before + work - self.there.energy;
            blend(&mut self.system, &self.there.weights, model.samples.iter().map(|s| &s.mass));
            let kinetic = 0.5 * quadratic(&self.system, &self.velocity);
            if !(available.is_finite() && kinetic.is_finite()) {
                return false;
            }
            let size = before.abs() + work.abs() + self.there.energy.abs();
            let terms = here.size_of_terms + self.there.size_of_terms;
            let rounding = ROUNDING * size + ROUNDING_OF_TERMS * terms;
            if kinetic <= available + rounding {
                return true;
            }
            if available >= -rounding {
                let slower = forks_rom::internal::sqrt(available.max(0.0) / kinetic);
                self.velocity.iter_mut().for_each(|v| *v *= slower);
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
    let root = forks_rom::internal::sqrt(slope * slope + 4.0 * c * moving.max(0.0));
    let part = (root - slope) / (4.0 * c);
    let (least, most) = SHORTER;
    // Not a number where the growth is not convex.
    if part < most { part.max(least) } else { most }
}

/// Σ α_i A_i.
#[inline(always)]
pub(crate) fn blend<'a>(
    out: &mut [f64],
    weights: &[f64],
    matrices: impl Iterator<Item = &'a Matrix>,
) {
    out.fill(0.0);
    for (alpha, m) in weights.iter().zip(matrices) {
        if *alpha != 0.0 {
            out.iter_mut().zip(m.as_slice()).for_each(|(o, x)| *o += alpha * x);
        }
    }
}

/// xᵀ A x.
#[inline(always)]
pub(crate) fn quadratic(a: &[f64], x: &[f64]) -> f64 {
    let row = |a: &[f64]| -> f64 { a.iter().zip(x).map(|(a, x)| a * x).sum() };
    a.chunks_exact(x.len().max(1)).zip(x).map(|(a, x)| x * row(a)).sum()
}

/// Cholesky's L Lᵀ of M̄ + h D̄ + h² K̄ in place of K̄, lower triangle. A pivot that is not
/// positive, as at poses that only their loads hold, is replaced by its size: the matrix steers
/// Newton's method, which must go downhill. False if numbers are not finite or nothing resists a
/// motion.
#[inline(always)]
pub(crate) fn factor_system(
    mass: &[f64],
    damping: &[f64],
    a: &mut [f64],
    h: f64,
    n: usize,
) -> bool {
    for (s, (m, d)) in a.iter_mut().zip(mass.iter().zip(damping)) {
        *s = m + h * d + h * h * *s;
    }
    for j in 0..n {
        let mut pivot = a[j * n + j];
        let size = pivot.abs();
        for k in 0..j {
            pivot -= a[j * n + k] * a[j * n + k];
        }
        let pivot = if pivot > 1e-13 * size { pivot } else { pivot.abs().max(1e-6 * size) };
        if !(pivot.is_finite() && pivot > 0.0) {
            return false;
        }
        let root = forks_rom::internal::sqrt(pivot);
        a[j * n + j] = root;
        for i in j + 1..n {
            let mut x = a[i * n + j];
            for k in 0..j {
                x -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = x / root;
        }
    }
    true
}

/// x = (L Lᵀ)⁻¹ x.
#[inline(always)]
pub(crate) fn solve_factored(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        for k in 0..i {
            x[i] -= l[i * n + k] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= l[k * n + i] * x[k];
        }
        x[i] /= l[i * n + i];
    }
}
