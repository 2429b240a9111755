//! Contact of a model whose base floats: the linear response of a step to impulses, and the step
//! with them.
//!
//! Contact sees the velocities (v, ω, η̇), v and ω the base link's body twist. Instead of v the
//! centre of mass' V = v + ω×c + Gη̇ (base axes) answers alone: mΔV = P, and [[J, Σ], [Σᵀ, M̃ + hD
//! + h²𝓗]] Δ(ω, η̇) = (changes of the spin and of η's momentum), all at the state before the step.
//! With T: (V, ω, η̇) → (v, ω, η̇) that gives A⁻¹ = T diag(1/m, …)⁻¹ Tᵀ.
//!
//! From the change of velocity follow the impulses, exactly to rounding, and with these the
//! implicit equations are solved once more: momentum changes by the impulses, the energy by no more
//! than their work. In a step with impulses the centre of mass moves by h times its velocity
//! afterwards, so that what rests on the world stays there.

use alloc::{vec, vec::Vec};

use forks_lie::{glam::DVec3, skew};
use forks_linalg::{
    Matrix,
    simd::{
        Arithmetic, Kernel, LANES, Lanes, Rows, all_lanes_finite, cholesky, inverse_of_cholesky,
    },
};

use super::{
    inertia::{BaseInertia, contract},
    model::FloatingModel,
    newton::{FIRST_RATE, angular, fill},
    state::FloatingState,
    step::{FloatingStatus, FloatingStepper, Start, entry},
};
use crate::{EffectorLoad, ModelError};

/// The linear response of one step from one state; memory that is used again for the next.
#[derive(Clone, Debug)]
pub struct FloatingContact {
    /// A⁻¹, (6 + n)².
    inverse: Matrix,
    /// Velocities without impulses.
    free: Vec<f64>,
    /// [[J, Σ], [Σᵀ, M̃ + hD + h²𝓗]], with a row and a column before it: see the equations.
    matrix: Rows,
    /// Its inverse.
    response: Rows,
    /// Its Cholesky factor U, and U⁻ᵀ.
    factors: [Rows; 2],
    /// ([c]×, −G), with a zero before each row: its v = V + these times (ω, η̇).
    lever: Rows,
    /// The same times the inverse.
    carried: Rows,
    /// What does not change during the step.
    start: Start,
    /// Constant part of the equations of η, padded.
    force: Vec<Lanes>,
    /// Field of G.
    slope: Vec<Lanes>,
    /// 0, ω, η̇: changes, then trial; padded.
    change: Vec<f64>,
    /// What they are conjugate to.
    impulse: Vec<Lanes>,
}

impl FloatingContact {
    /// Memory for steps of a model.
    pub fn new(model: &FloatingModel) -> Self {
        let n = model.inertia.n;
        let (groups, size) = (n.div_ceil(LANES), FIRST_RATE + n);
        let square = || Rows::zeros(size, size);
        Self {
            inverse: Matrix::zeros(6 + n, 6 + n),
            free: vec![0.0; 6 + n],
            matrix: square(),
            response: square(),
            factors: [square(), square()],
            lever: Rows::zeros(3, size),
            carried: Rows::zeros(3, size),
            start: Start::default(),
            force: vec![Lanes::default(); groups],
            slope: vec![Lanes::default(); 3 * groups],
            change: vec![0.0; LANES * (1 + groups)],
            impulse: vec![Lanes::default(); 1 + groups],
        }
    }

    /// A⁻¹, (6 + n)²: what generalised impulses add to the base link's body twist and η̇;
    /// symmetric, positive definite.
    pub fn inverse_system(&self) -> &Matrix {
        &self.inverse
    }

    /// The base link's body twist and η̇ after the step without impulses, axes and lever arms as
    /// before the step. The step proper differs from it by what is not linear.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free
    }

    /// [[J, Σ], [Σᵀ, step]] and its inverse; false if it is not positive definite.
    #[inline(always)]
    fn respond<L: Arithmetic>(&mut self, l: L, coupling: &[Lanes], step: &Rows) -> bool {
        fill(&mut self.matrix, &self.start.rotation, coupling, step);
        let size = self.change_size();
        let [factor, work] = &mut self.factors;
        factor.as_mut_slice().copy_from_slice(self.matrix.as_slice());
        let responds = cholesky(l, size, factor).is_ok();
        if responds {
            inverse_of_cholesky(l, size, factor, work, &mut self.response);
        }
        responds
    }

    /// Rows of the equations.
    fn change_size(&self) -> usize {
        self.inverse.rows() - 6 + FIRST_RATE
    }

    /// A⁻¹ = T diag(1/m, N) Tᵀ, N the inverse for (ω, η̇); T has v = V + c×ω − Gη̇. False if it is
    /// not finite.
    #[inline(always)]
    fn assemble<L: Arithmetic>(&mut self, l: L, mass: f64) -> bool {
        let (size, turn) = (self.change_size(), skew(self.start.center));
        for i in 0..3 {
            let lever = self.lever.row_mut(i);
            lever[0] = Lanes([0.0, entry(&turn, i, 0), entry(&turn, i, 1), entry(&turn, i, 2)]);
            for (out, vectors) in lever[1..].iter_mut().zip(self.slope.as_chunks::<3>().0) {
                *out = (0.0 - l.load(&vectors[i])).store();
            }
            let carried = self.carried.row_mut(i);
            carried.fill(Lanes::default());
            numbers(lever, &mut self.change);
            self.response.add_to(l, &self.change[..size], carried);
        }
        for i in 0..3 {
            for j in 0..=i {
                let x = forks_linalg::simd::dot(l, self.carried.row(i), self.lever.row(j));
                let x = if i == j { x + 1.0 / mass } else { x };
                self.inverse[(i, j)] = x;
                self.inverse[(j, i)] = x;
            }
            behind(self.carried.row(i), &mut self.inverse.row_mut(i)[3..]);
        }
        for i in 1..size {
            let row = self.inverse.row_mut(2 + i);
            (0..3).for_each(|k| row[k] = self.carried.get(k, i));
            behind(self.response.row(i), &mut row[3..]);
        }
        // What is in v's own block is in the rows too.
        let own = (0..3).fold(0.0, |sum, i| sum + self.inverse[(i, i)]);
        own.is_finite()
            && all_lanes_finite(l, self.response.as_slice())
            && all_lanes_finite(l, self.carried.as_slice())
    }

    /// Velocities (v, ω, η̇) from the centre's, base axes, and what is in `change`.
    #[inline(always)]
    fn take_free<L: Arithmetic>(&mut self, l: L, center: DVec3) {
        let omega = angular(&self.change);
        let moved = contract(l, &self.slope, &self.change[FIRST_RATE..]);
        let v = center - omega.cross(self.start.center) - moved;
        self.free[..3].copy_from_slice(&v.to_array());
        let n = self.free.len() - 3;
        self.free[3..].copy_from_slice(&self.change[1..][..n]);
    }
}

/// What follows the zero of a padded vector of the equations.
#[inline(always)]
fn behind(x: &[Lanes], out: &mut [f64]) {
    let (omega, rates) = out.split_at_mut(3);
    omega.copy_from_slice(&x[0][1..]);
    let (fours, rest) = rates.as_chunks_mut::<LANES>();
    for (out, x) in fours.iter_mut().zip(&x[1..]) {
        *out = x.0;
    }
    if let Some(last) = x.last() {
        rest.iter_mut().zip(last.iter()).for_each(|(out, x)| *out = *x);
    }
}

/// Lane groups as numbers.
#[inline(always)]
fn numbers(x: &[Lanes], out: &mut [f64]) {
    out.as_chunks_mut::<LANES>().0.iter_mut().zip(x).for_each(|(out, x)| *out = x.0);
}

impl FloatingStepper {
    /// The response of the next step, which is not made before
    /// [`FloatingStepper::change_velocity`], with or without impulses. Allocates nothing. What is
    /// known of the status before a step comes first: effectors out of range, inertia held back.
    /// The second is false, with the response undefined, if nothing resists a motion.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size, or a load to an effector that does not
    /// exist.
    pub fn respond(
        &self,
        state: &mut FloatingState,
        loads: &[EffectorLoad],
        gravity: DVec3,
        out: &mut FloatingContact,
    ) -> (FloatingStatus, bool) {
        assert_eq!(out.free.len(), 6 + self.model().inertia.n, "coordinates of the response");
        self.isa().run(Respond { stepper: self, state, loads, gravity, out })
    }

    /// Makes the step that [`FloatingStepper::respond`] was about, with impulses that change its
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
        response: &mut FloatingContact,
        change: &[f64],
    ) -> Result<FloatingStatus, ModelError> {
        let n = self.model().inertia.n;
        assert_eq!([state.eta().len(), response.free.len() - 6], [n; 2], "coordinates");
        crate::state::check("change of velocity", change, 6 + n)?;
        match self.isa().run(ChangeVelocity { stepper: self, state, response, change }) {
            FloatingStatus::NotFinite => Err(ModelError::NotFinite { quantity: "step" }),
            status => Ok(status),
        }
    }
}

/// [`FloatingStepper::respond`] as a kernel.
struct Respond<'a> {
    stepper: &'a FloatingStepper,
    state: &'a mut FloatingState,
    loads: &'a [EffectorLoad],
    gravity: DVec3,
    out: &'a mut FloatingContact,
}

impl Kernel for Respond<'_> {
    type Output = (FloatingStatus, bool);

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> (FloatingStatus, bool) {
        let Self { stepper, state, loads, gravity, out } = self;
        let inertia: &BaseInertia = &stepper.model().inertia;
        let start = stepper.start(l, state, loads, gravity);
        let FloatingState { shape, work, world_from_base, center_velocity, .. } = state;
        let rotation = world_from_base.rotation;
        out.start = start;
        out.force.copy_from_slice(&work.force);
        out.slope.copy_from_slice(&work.slope);
        let responds = out.respond(l, &work.coupling, &stepper.matrix);
        let finite = responds && out.assemble(l, inertia.mass);
        // (ω, η̇) by one step of Newton's method with this matrix, which leaves what rests at rest.
        stepper.equations(shape, rotation, &start).residual(l, work);
        numbers(&work.residual, &mut work.correction);
        out.impulse.fill(Lanes::default());
        out.response.add_to(l, &work.correction[..FIRST_RATE + inertia.n], &mut out.impulse);
        let pairs = work.trial.as_chunks::<LANES>().0.iter().zip(&out.impulse);
        for (x, (old, d)) in out.change.as_chunks_mut::<LANES>().0.iter_mut().zip(pairs) {
            *x = (l.read(old) - l.load(d)).store().0;
        }
        let center = *center_velocity + start.acceleration * stepper.step_size();
        out.take_free(l, rotation.conjugate() * center);
        let status = match start.outside {
            Some(effector) => FloatingStatus::OutOfRange { effector },
            None if start.held < 1.0 => FloatingStatus::InertiaHeldBack,
            None => FloatingStatus::Completed,
        };
        (status, finite)
    }
}

/// [`FloatingStepper::change_velocity`] as a kernel.
struct ChangeVelocity<'a> {
    stepper: &'a FloatingStepper,
    state: &'a mut FloatingState,
    response: &'a mut FloatingContact,
    change: &'a [f64],
}

impl Kernel for ChangeVelocity<'_> {
    type Output = FloatingStatus;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> FloatingStatus {
        let Self { stepper, state, response: r, change } = self;
        let h = stepper.step_size();
        let (start, kick) = if change.iter().all(|d| *d == 0.0) {
            (r.start, None)
        } else {
            let (start, kick) = r.take_impulses(l, state, change);
            (start, Some(kick))
        };
        // What rests on the world after impulses stays there.
        let share = if kick.is_some() { h } else { 0.5 * h };
        let kick = kick.unwrap_or(DVec3::ZERO);
        let drift = state.center_velocity + start.acceleration * share + kick;
        stepper.finish(l, state, &start, drift, kick)
    }
}

impl FloatingContact {
    /// The impulses behind a change of velocities, into what the step starts from; and the change
    /// of the centre's velocity, world axes.
    #[inline(always)]
    fn take_impulses<L: Arithmetic>(
        &mut self,
        l: L,
        state: &mut FloatingState,
        change: &[f64],
    ) -> (Start, DVec3) {
        let (linear, rest) = change.split_at(3);
        self.change[1..][..rest.len()].copy_from_slice(rest);
        self.change[0] = 0.0;
        self.change[1 + rest.len()..].fill(0.0);
        let omega = angular(&self.change);
        let moved = contract(l, &self.slope, &self.change[FIRST_RATE..]);
        let center =
            DVec3::new(linear[0], linear[1], linear[2]) + omega.cross(self.start.center) + moved;
        self.impulse.fill(Lanes::default());
        let size = self.change_size();
        self.matrix.add_to(l, &self.change[..size], &mut self.impulse);
        let [_, x, y, z] = self.impulse[0].0;
        let rotation = state.world_from_base.rotation;
        let spin = self.start.spin + rotation * DVec3::new(x, y, z);
        let pairs = self.force.iter().zip(&self.impulse[1..]);
        for (force, (old, p)) in state.work.force.iter_mut().zip(pairs) {
            *force = (l.load(old) + l.load(p)).store();
        }
        let free = self.free[3..].iter().zip(rest);
        for (x, (free, d)) in state.work.trial[1..].iter_mut().zip(free) {
            *x = free + d;
        }
        (Start { spin, ..self.start }, rotation * center)
    }
}
