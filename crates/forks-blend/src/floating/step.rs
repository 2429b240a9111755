//! One time step of a blend whose base floats; see [`super`].

use alloc::sync::Arc;

use forks_lie::{
    Pose, Wrench,
    glam::{DQuat, DVec3},
    so3::exp_rotation,
};
use forks_linalg::simd::{Arithmetic, Kernel, LANES, Lanes, Rows, all_finite};
use forks_rom::{
    EffectorLoad, LoadFrame, ModelError, StepStatus,
    internal::{
        assert_effectors, check_numbers,
        floating::{Equations, FIRST_RATE, Start, angular, solve, zero_padded},
    },
};

use super::{
    model::FloatingBlend, place::vector, state::FloatingBlendState,
    workspace::FloatingBlendWorkspace,
};
use crate::{
    dense::{blend, factor_system},
    statics::add_loads,
};

/// A blend whose base floats, with a step size.
#[derive(Clone, Debug)]
pub struct FloatingBlendStepper {
    pub(super) model: Arc<FloatingBlend>,
    pub(super) h: f64,
}

/// Further Newton steps that a step takes at most.
const MAX_CORRECTIONS: usize = 4;
/// A residual below this part of the forces that are balanced needs no correction.
const RESIDUAL: f64 = 1e-8;
/// Pivots of the step's matrix that differ by more than this part were not positive.
const REPLACED: f64 = 1e-9;

/// How a step ends: what the centre of mass does beside its acceleration.
#[derive(Clone, Copy)]
struct Ending {
    start: Start,
    /// Mean velocity of the centre of mass.
    drift: DVec3,
    /// Change of its velocity by impulses.
    kick: DVec3,
    /// Impulses act: no corrections, so that what rests on the world rests where statics has it.
    impulse: bool,
}

impl FloatingBlendStepper {
    /// A stepper; `h` in seconds.
    ///
    /// # Errors
    /// A step that is not positive and finite.
    pub fn new(model: Arc<FloatingBlend>, h: f64) -> Result<Self, ModelError> {
        if h.is_finite() && h > 0.0 {
            return Ok(Self { model, h });
        }
        Err(ModelError::StepSize { step: h })
    }

    /// The model.
    pub fn model(&self) -> &Arc<FloatingBlend> {
        &self.model
    }

    /// Moves a state by one step under loads on effectors, world axes being those of the true
    /// world. Allocates nothing.
    ///
    /// Loads act where the effectors are before the step and travel with the centre of mass during
    /// it, as those of [`FloatingStepper`](forks_rom::FloatingStepper).
    ///
    /// # Panics
    /// If state or memory belong to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn step(
        &self,
        state: &mut FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        loads: &[EffectorLoad],
    ) -> StepStatus {
        let Some(start) = self.begin(state, work, loads, self.model.gravity, false) else {
            return StepStatus::NotFinite;
        };
        let drift = state.center_velocity + start.acceleration * (0.5 * self.h);
        self.finish(state, work, Ending { start, drift, kick: DVec3::ZERO, impulse: false })
    }

    /// Begins a step under a gravity (world axes, m/s²): its linear response into the workspace.
    /// [`FloatingBlendStepper::change_velocity`] makes the step, with or without impulses.
    /// Allocates nothing.
    ///
    /// # Panics
    /// As [`FloatingBlendStepper::step`].
    pub fn respond(
        &self,
        state: &FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> StepStatus {
        let Some(start) = self.begin(state, work, loads, gravity, true) else {
            work.response.responds = false;
            return StepStatus::NotFinite;
        };
        match start.outside {
            Some(effector) => StepStatus::OutOfRange { effector },
            None if work.here.held_back => StepStatus::InertiaHeldBack,
            None => StepStatus::Completed,
        }
    }

    /// Makes the step that [`FloatingBlendStepper::respond`] began, with impulses that change its
    /// velocities, by A⁻¹, by `change` (base link's body twist, ẋ). Momentum changes by exactly
    /// these impulses, at their points before the step. Allocates nothing.
    ///
    /// # Errors
    /// A change of the wrong size or one that is not finite, or a result that is not.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size.
    pub fn change_velocity(
        &self,
        state: &mut FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError> {
        let n = self.model.model.dof();
        check_numbers("change of velocity", change, 6 + n)?;
        assert_eq!([state.shape.x.len(), work.zero.len() / LANES], [n, n.div_ceil(LANES)], "sizes");
        let impulse = change.iter().any(|d| *d != 0.0);
        let (mut start, mut kick) = (work.response.start, DVec3::ZERO);
        if impulse {
            let rotation = state.world_from_base.rotation;
            (start, kick) = self.model.model.isa().run(Impulses { work, rotation, change });
            let forces = work.load.as_chunks_mut::<LANES>().0.iter_mut();
            for (load, (now, old)) in forces.zip(work.step.force.iter().zip(&work.response.force)) {
                (0..LANES).for_each(|i| load[i] += (now[i] - old[i]) / self.h);
            }
        }
        // What rests on the world after impulses stays there.
        let share = if impulse { self.h } else { 0.5 * self.h };
        let drift = state.center_velocity + start.acceleration * share + kick;
        match self.finish(state, work, Ending { start, drift, kick, impulse }) {
            StepStatus::NotFinite => Err(ModelError::NotFinite { quantity: "step" }),
            status => Ok(status),
        }
    }

    /// What does not change during a step, into the workspace too; `None` if numbers are not finite
    /// or nothing resists a motion.
    fn begin(
        &self,
        state: &FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        loads: &[EffectorLoad],
        gravity: DVec3,
        respond: bool,
    ) -> Option<Start> {
        let n = self.model.model.dof();
        assert_eq!([state.shape.x.len(), work.blend.free.len()], [n; 2], "coordinates");
        assert_effectors(loads, self.model.model.effector_count());
        work.update(&self.model, state);
        let isa = self.model.model.isa();
        isa.run(Begin { stepper: self, state, work, loads, gravity, respond })
    }

    fn finish(
        &self,
        state: &mut FloatingBlendState,
        work: &mut FloatingBlendWorkspace,
        ending: Ending,
    ) -> StepStatus {
        self.model.model.isa().run(Finish { stepper: self, state, work, ending })
    }
}

/// [`Response::take_impulses`](forks_rom::internal::floating::Response::take_impulses) as a kernel.
struct Impulses<'a> {
    work: &'a mut FloatingBlendWorkspace,
    rotation: DQuat,
    change: &'a [f64],
}

impl Kernel for Impulses<'_> {
    type Output = (Start, DVec3);

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> (Start, DVec3) {
        let FloatingBlendWorkspace { response, step, .. } = self.work;
        response.take_impulses(l, self.rotation, step, self.change)
    }
}

/// The start of a step.
struct Begin<'a> {
    stepper: &'a FloatingBlendStepper,
    state: &'a FloatingBlendState,
    work: &'a mut FloatingBlendWorkspace,
    loads: &'a [EffectorLoad],
    gravity: DVec3,
    respond: bool,
}

impl Kernel for Begin<'_> {
    type Output = Option<Start>;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> Option<Start> {
        let Self { stepper: FloatingBlendStepper { model, h }, state, work, loads, .. } = self;
        let h = *h;
        let inertia = &work.here.inertia;
        let (rate, omega) = (&state.shape.velocity, state.derived.twist.angular);
        work.step.slope.copy_from_slice(inertia.center_slope());
        work.step.coupling.copy_from_slice(inertia.coupling_at_rest());
        work.step.trial.fill(0.0);
        work.step.trial[..FIRST_RATE].copy_from_slice(&*zero_padded(omega));
        work.step.trial[FIRST_RATE..][..rate.len()].copy_from_slice(rate);
        let net = gather(l, model, state, work, loads);
        if !work.matrices(model, h) {
            return None;
        }
        let inertia = &work.here.inertia;
        work.step.momentum.fill(Lanes::default());
        inertia.shape_mass_rows.add_to(l, rate, &mut work.step.momentum);
        let gradient = &work.blend.here.gradient;
        for k in 0..rate.len() {
            let momentum = vector(&work.step.coupling, k).dot(omega)
                + work.step.momentum[k / LANES][k % LANES];
            work.step.force[k / LANES][k % LANES] = h * (work.load[k] - gradient[k]) + momentum;
        }
        let start = Start {
            center: inertia.center(),
            acceleration: self.gravity + net.force / inertia.mass,
            held: 1.0,
            rotation: inertia.rotation,
            spin: state.spin + net.torque * h,
            outside: work.blend.here.outside,
        };
        if self.respond {
            let rotation = state.world_from_base.rotation;
            let FloatingBlendWorkspace { here, step, response, matrix, zero, .. } = work;
            let spin = rotation.conjugate() * start.spin;
            let inertia = &here.inertia;
            let equations = Equations { inertia, matrix, h, held: 1.0, spin, eta: zero };
            response.begin(l, &equations, &start, (rotation, state.center_velocity), step);
        }
        Some(start)
    }
}

/// Net force, and torque about the centre of mass, world axes; what they do on x with the centre of
/// mass held goes to `work.load`.
#[inline(always)]
fn gather<L: Arithmetic>(
    l: L,
    model: &FloatingBlend,
    state: &FloatingBlendState,
    work: &mut FloatingBlendWorkspace,
    loads: &[EffectorLoad],
) -> Wrench {
    let (world_from_rest, center) = (model.world_from_rest(state), state.center_of_mass());
    let mut net = Wrench::ZERO;
    work.load.fill(0.0);
    for load in loads {
        let pose = world_from_rest * work.blend.here.poses[load.effector];
        let turned = |v: DVec3| match load.frame {
            LoadFrame::World => v,
            LoadFrame::Body => pose.rotation * v,
        };
        let (force, torque) = (turned(load.wrench.force), turned(load.wrench.torque));
        net += Wrench::new(force, (pose.translation - center).cross(force) + torque);
        let back = world_from_rest.rotation.conjugate();
        let wrench = Wrench::new(back * force, back * torque);
        let at_rest = EffectorLoad { wrench, frame: LoadFrame::World, ..*load };
        let (here, x) = (&mut work.blend.here, &state.shape.x);
        add_loads(l, &model.model, here, x, &[at_rest], &mut work.load);
    }
    let force = state.world_from_base.rotation.conjugate() * net.force;
    let slopes = work.here.inertia.center_slope();
    for (k, load) in work.load.iter_mut().enumerate() {
        *load -= vector(slopes, k).dot(force);
    }
    net
}

impl FloatingBlendWorkspace {
    /// A = M̃ + hD̄ + h²K̄ and its part h²K̄, raised where what is left of A with ω free is not
    /// positive, as at poses that only their loads hold. False if numbers are not finite or nothing
    /// resists a motion.
    #[inline(always)]
    fn matrices(&mut self, model: &FloatingBlend, h: f64) -> bool {
        let n = model.model.dof();
        let (weights, samples) = (&self.blend.here.weights, &model.model.samples);
        let work = &mut self.blend.step;
        blend(&mut work.damping, weights, samples.iter().map(|s| &s.damping));
        blend(&mut work.system, weights, samples.iter().map(|s| &s.hessian));
        let inertia = &self.here.inertia;
        let turning = inertia.rotation.inverse();
        let coupling = inertia.coupling_at_rest();
        for i in 0..n {
            let carried = turning * vector(coupling, i);
            for j in 0..n {
                let (at, own) = (i * n + j, inertia.shape_mass_rows.get(i, j));
                let elastic = h * h * work.system[at];
                self.elastic.set(i, j, elastic);
                self.matrix.set(i, j, own + h * work.damping[at] + elastic);
                work.mass[at] = own - carried.dot(vector(coupling, j));
            }
        }
        if !factor_system(&work.mass, &work.damping, &mut work.system, h, n) {
            return false;
        }
        let (free, factor) = (&work.mass, &work.system);
        let sum = |i: usize, j: usize| -> f64 {
            (0..=i.min(j)).map(|k| factor[i * n + k] * factor[j * n + k]).sum()
        };
        let carried =
            |i: usize, j: usize| self.here.inertia.shape_mass_rows.get(i, j) - free[i * n + j];
        let raised = (0..n).any(|i| {
            let own = self.matrix.get(i, i);
            sum(i, i) + carried(i, i) - own > REPLACED * own.abs()
        });
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|_| raised) {
            let more = sum(i, j) + carried(i, j) - self.matrix.get(i, j);
            let add = |rows: &mut Rows| rows.set(i, j, rows.get(i, j) + more);
            add(&mut self.matrix);
            add(&mut self.elastic);
        }
        true
    }
}

/// The step from its start.
struct Finish<'a> {
    stepper: &'a FloatingBlendStepper,
    state: &'a mut FloatingBlendState,
    work: &'a mut FloatingBlendWorkspace,
    ending: Ending,
}

impl Kernel for Finish<'_> {
    type Output = StepStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> StepStatus {
        let Self { stepper: FloatingBlendStepper { model, h }, state, work, ending } = self;
        let Ending { start, drift, kick, impulse } = ending;
        let (h, back) = (*h, state.world_from_base.rotation.conjugate());
        let settled = work.solve(l, model, h, state, back * start.spin, !impulse);
        let result = drift + start.acceleration + kick + start.spin;
        let whole = all_finite(l, &work.step.trial) && result.is_finite();
        let turning = back * (start.spin - state.spin);
        if !whole || !work.first_law(model, h, state, turning, settled) {
            return StepStatus::NotFinite;
        }
        let n = state.shape.x.len();
        let world_center = state.center_of_mass() + drift * h;
        state.shape.x.copy_from_slice(&work.blend.step.x);
        state.shape.velocity.copy_from_slice(&work.step.trial[FIRST_RATE..][..n]);
        let turn = exp_rotation(angular(&work.step.trial) * h);
        let rotation = (state.world_from_base.rotation * turn).normalize();
        let inertia = &work.there.inertia;
        let translation = world_center - rotation * inertia.center();
        state.world_from_base = Pose::new(rotation, translation);
        state.center_velocity += start.acceleration * h + kick;
        state.spin = start.spin;
        state.derive(inertia);
        core::mem::swap(&mut work.blend.here, &mut work.blend.step.there);
        core::mem::swap(&mut work.here, &mut work.there);
        work.blend.arrive(&state.shape);
        work.arrive(state);
        match work.blend.here.outside {
            _ if !settled => StepStatus::NotSettled,
            Some(effector) => StepStatus::OutOfRange { effector },
            None if work.here.held_back => StepStatus::InertiaHeldBack,
            None => StepStatus::Completed,
        }
    }
}

impl FloatingBlendWorkspace {
    /// (ω, ẋ) into the trial: implicit Euler with the force at the new place, which the blend is
    /// evaluated at; false if inertia and axes of the start had to be used.
    #[inline(always)]
    fn solve<L: Arithmetic>(
        &mut self,
        l: L,
        model: &FloatingBlend,
        h: f64,
        state: &FloatingBlendState,
        spin: DVec3,
        correct: bool,
    ) -> bool {
        let x = &state.shape.x;
        let mut settled = true;
        let mut last = f64::INFINITY;
        self.correction.fill(0.0);
        for round in 0.. {
            let Self { here, step, matrix, zero, .. } = &mut *self;
            let inertia = &here.inertia;
            let equations = Equations { inertia, matrix, h, held: 1.0, spin, eta: zero };
            settled &= solve(l, &equations, step);
            self.move_by(h, x, model);
            if round == 0 {
                self.first.copy_from_slice(&self.step.trial);
            }
            if !(correct && settled) || round == MAX_CORRECTIONS {
                break;
            }
            let (left, size) = self.unbalanced(l, h, x.len());
            if left.is_nan() || left <= RESIDUAL * size {
                break;
            }
            if left >= last {
                // Samples that are very stiff make the force change over next to no distance.
                self.step.trial.copy_from_slice(&self.kept);
                self.move_by(h, x, model);
                break;
            }
            last = left;
            self.kept.copy_from_slice(&self.step.trial);
            for (k, r) in self.blend.step.right.iter().enumerate() {
                self.correction[k] += r;
                self.step.force[k / LANES][k % LANES] -= r;
            }
        }
        settled
    }

    /// x = x₀ + hẋ, and what is there.
    #[inline(always)]
    pub(super) fn move_by(&mut self, h: f64, x: &[f64], model: &FloatingBlend) {
        let work = &mut self.blend.step;
        let rates = &self.step.trial[FIRST_RATE..];
        for (new, (x, v)) in work.x.iter_mut().zip(x.iter().zip(rates)) {
            *new = x + h * v;
        }
        work.there.at(&model.model, &work.x);
    }

    /// right = h (∇U(x) − ∇U(x₀) − K̄hẋ) less the corrections so far: what the last solution left
    /// out; its largest entry, and the size of what is balanced.
    #[inline(always)]
    fn unbalanced<L: Arithmetic>(&mut self, l: L, h: f64, n: usize) -> (f64, f64) {
        let (mut worst, mut size) = (0.0f64, 0.0f64);
        self.step.momentum.fill(Lanes::default());
        let rates = &self.step.trial[FIRST_RATE..][..n];
        self.elastic.add_to(l, rates, &mut self.step.momentum);
        let [old, new] = [&self.blend.here.gradient, &self.blend.step.there.gradient];
        for (k, right) in self.blend.step.right.iter_mut().enumerate() {
            let elastic = self.step.momentum[k / LANES][k % LANES];
            *right = h * (new[k] - old[k]) - elastic - self.correction[k];
            worst = worst.max(right.abs());
            size = size.max(h * new[k].abs()).max(elastic.abs());
        }
        (worst, size)
    }
}
