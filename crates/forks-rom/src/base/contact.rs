//! Contact of a model whose base floats: the linear response of a step to impulses, and the step with them.
//!
//! Contact sees the velocities (v, ω, η̇), v and ω the base link's body twist. Instead of v the centre of mass'
//! V = v + ω×c + Gη̇ (base axes) answers alone: mΔV = P, and [[J, Σ], [Σᵀ, M̃ + hD + h²𝓗]] Δ(ω, η̇) = (changes of the spin and
//! of η's momentum), all at the state before the step. With T: (V, ω, η̇) → (v, ω, η̇) that gives A⁻¹ = T diag(1/m, …)⁻¹ Tᵀ.
//!
//! From the change of velocity follow the impulses, exactly to rounding, and with these the implicit equations are solved once
//! more: momentum changes by the impulses, the energy by no more than their work. In a step with impulses the centre of mass
//! moves by h times its velocity afterwards, so that what rests on the world stays there.

use alloc::{vec, vec::Vec};

use forks_lie::{Matrix, axpy, dot, glam::DVec3, skew};

use super::{
    inertia::BaseInertia,
    model::FloatingModel,
    state::FloatingState,
    step::{FloatingStatus, FloatingStepper, Start, entry, three},
};
use crate::{EffectorLoad, ModelError};

/// The linear response of one step from one state; memory that is used again for the next.
#[derive(Clone, Debug)]
pub struct FloatingContact {
    /// A⁻¹, (6 + n)².
    inverse: Matrix,
    /// Velocities without impulses.
    free: Vec<f64>,
    /// [[J, Σ], [Σᵀ, M̃ + hD + h²𝓗]], (3 + n)².
    matrix: Matrix,
    /// Its inverse.
    response: Matrix,
    /// Its Cholesky factor L, and L⁻¹, row by row.
    factors: [Vec<f64>; 2],
    /// What does not change during the step.
    start: Start,
    /// Constant part of the equations of η.
    force: Vec<f64>,
    /// G.
    slope: Vec<DVec3>,
    /// Σ.
    coupling: Vec<DVec3>,
    /// Changes: of the velocities (ω, η̇), and of what they are conjugate to.
    change: Vec<f64>,
}

impl FloatingContact {
    /// Memory for steps of a model.
    pub fn new(model: &FloatingModel) -> Self {
        let n = model.inertia.n;
        let square = |size: usize| Matrix::zeros(size, size);
        Self {
            inverse: square(6 + n),
            free: vec![0.0; 6 + n],
            matrix: square(3 + n),
            response: square(3 + n),
            factors: [vec![0.0; (3 + n) * (3 + n)], vec![0.0; (3 + n) * (3 + n)]],
            start: Start::default(),
            force: vec![0.0; n],
            slope: vec![DVec3::ZERO; n],
            coupling: vec![DVec3::ZERO; n],
            change: vec![0.0; 3 + n],
        }
    }

    /// A⁻¹, (6 + n)²: what generalised impulses add to the base link's body twist and η̇; symmetric, positive definite.
    pub fn inverse_system(&self) -> &Matrix {
        &self.inverse
    }

    /// The base link's body twist and η̇ after the step without impulses, axes and lever arms as before the step. The step
    /// proper differs from it by what is not linear.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free
    }

    /// [[J, Σ], [Σᵀ, step]] and its inverse at the state before; false if it is not positive definite.
    fn respond(&mut self, inertia: &BaseInertia, eta: &[f64], step: &Matrix) -> bool {
        let rotation = inertia.rotation_at(eta, self.start.held);
        inertia.coupling_at(eta, self.start.held, &mut self.coupling);
        let size = 3 + inertia.n;
        for i in 0..size {
            for j in 0..size {
                self.matrix[(i, j)] = match (i < 3, j < 3) {
                    (true, true) => 0.5 * (entry(&rotation, i, j) + entry(&rotation, j, i)),
                    (true, false) => self.coupling[j - 3][i],
                    (false, true) => self.coupling[i - 3][j],
                    (false, false) => 0.5 * (step[(i - 3, j - 3)] + step[(j - 3, i - 3)]),
                };
            }
        }
        invert(&self.matrix, &mut self.factors, &mut self.response)
    }

    /// A⁻¹ = T diag(1/m, N) Tᵀ, N the inverse for (ω, η̇); T has v = V + c×ω − Gη̇.
    fn assemble(&mut self, mass: f64) {
        let n = self.slope.len();
        let turn = skew(self.start.center);
        let lever = |i: usize, k: usize| match k {
            0..3 => entry(&turn, i, k),
            _ => -self.slope[k - 3][i],
        };
        // Rows of v: Q N with Q = ([c]×, −G).
        for i in 0..3 {
            let row = &mut self.inverse.row_mut(i)[3..];
            row.fill(0.0);
            for k in 0..3 + n {
                axpy(lever(i, k), self.response.row(k), row);
            }
            for j in 0..3 + n {
                self.inverse[(3 + j, i)] = self.inverse[(i, 3 + j)];
            }
        }
        for i in 0..3 {
            for j in 0..=i {
                let x: f64 = (0..3 + n).map(|k| self.inverse[(i, 3 + k)] * lever(j, k)).sum();
                self.inverse[(i, j)] = x;
                self.inverse[(j, i)] = x;
            }
            self.inverse[(i, i)] += 1.0 / mass;
        }
        for i in 0..3 + n {
            self.inverse.row_mut(3 + i)[3..].copy_from_slice(self.response.row(i));
        }
    }
}

impl FloatingStepper {
    /// The response of the next step, which is not made before [`FloatingStepper::change_velocity`], with or without impulses.
    /// Allocates nothing. What is known of the status before a step comes first: effectors out of range, inertia held back. The
    /// second is false, with the response undefined, if nothing resists a motion.
    ///
    /// # Panics
    /// If state or memory belong to a model of another size, or a load to an effector that does not exist.
    pub fn respond(
        &self,
        state: &mut FloatingState,
        loads: &[EffectorLoad],
        gravity: DVec3,
        out: &mut FloatingContact,
    ) -> (FloatingStatus, bool) {
        let inertia = &self.model().inertia;
        assert_eq!(out.slope.len(), inertia.n, "coordinates of the response");
        let start = self.start(state, loads, gravity);
        out.start = start;
        out.force.copy_from_slice(&state.work.force);
        out.slope.copy_from_slice(&state.work.slope);
        let responds = out.respond(inertia, state.eta(), &self.matrix);
        out.assemble(inertia.mass);
        // (ω, η̇) by one step of Newton's method with this matrix, which leaves what rests at rest.
        let mut work = core::mem::take(&mut state.work);
        self.equations(state, &start).linearise(&mut work);
        for (i, x) in out.free[3..].iter_mut().enumerate() {
            *x = work.trial[i] - dot(out.response.row(i), &work.residual);
        }
        state.work = work;
        let back = state.world_from_base.rotation.conjugate();
        let (omega, rates) = (three(&out.free[3..]), &out.free[6..]);
        let moved: DVec3 = out.slope.iter().zip(rates).map(|(s, y)| *s * *y).sum();
        let center = state.center_velocity + start.acceleration * self.step_size();
        let base = back * center - omega.cross(start.center) - moved;
        out.free[..3].copy_from_slice(&base.to_array());
        let status = match start.outside {
            Some(effector) => FloatingStatus::OutOfRange { effector },
            None if start.held < 1.0 => FloatingStatus::InertiaHeldBack,
            None => FloatingStatus::Completed,
        };
        (status, responds && out.inverse.is_finite())
    }

    /// Makes the step that [`FloatingStepper::respond`] was about, with impulses that change its velocities, by A⁻¹, by `change`
    /// (base link's body twist, η̇). Momentum changes by exactly these impulses, at their points before the step. Without change
    /// it is [`FloatingStepper::step_under`] bit by bit. Allocates nothing.
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
        let (inertia, h) = (&self.model().inertia, self.step_size());
        assert_eq!([state.eta().len(), response.slope.len()], [inertia.n; 2], "coordinates");
        crate::state::check("change of velocity", change, 6 + inertia.n)?;
        let r = response;
        let made = |status| match status {
            FloatingStatus::NotFinite => Err(ModelError::NotFinite { quantity: "step" }),
            status => Ok(status),
        };
        if change.iter().all(|d| *d == 0.0) {
            let drift = state.center_velocity + r.start.acceleration * (0.5 * h);
            return made(self.finish(state, &r.start, drift, DVec3::ZERO));
        }
        r.change.copy_from_slice(&change[3..]);
        let omega = three(&r.change);
        let moved: DVec3 = r.slope.iter().zip(&r.change[3..]).map(|(s, y)| *s * *y).sum();
        let center = three(change) + omega.cross(r.start.center) + moved;
        let turned = DVec3::from_array(core::array::from_fn(|i| dot(r.matrix.row(i), &r.change)));
        let rotation = state.world_from_base.rotation;
        let start = Start { spin: r.start.spin + rotation * turned, ..r.start };
        for (k, force) in state.work.force.iter_mut().enumerate() {
            *force = r.force[k] + dot(r.matrix.row(3 + k), &r.change);
        }
        for (x, (free, d)) in state.work.trial.iter_mut().zip(r.free[3..].iter().zip(&r.change)) {
            *x = free + d;
        }
        let kick = rotation * center;
        let drift = state.center_velocity + r.start.acceleration * h + kick;
        made(self.finish(state, &start, drift, kick))
    }
}

/// A⁻¹ of a symmetric positive definite matrix by Cholesky's factor; false if it is not. All inner loops run along rows.
fn invert(a: &Matrix, [l, m]: &mut [Vec<f64>; 2], out: &mut Matrix) -> bool {
    let n = a.rows();
    for i in 0..n {
        let (above, row) = l.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..];
            row[j] = (a[(i, j)] - dot(&row[..j], &other[..j])) / other[j];
        }
        row[i] = crate::scalar::sqrt(a[(i, i)] - dot(&row[..i], &row[..i]));
        if row[i].is_nan() || row[i] <= 0.0 {
            return false;
        }
    }
    // L⁻¹: row i is (e_i − Σ L_ik row k)/L_ii.
    for i in 0..n {
        let (above, row) = m.split_at_mut(i * n);
        row[..i].fill(0.0);
        for k in 0..i {
            axpy(-l[i * n + k], &above[k * n..][..=k], &mut row[..=k]);
        }
        let diagonal = l[i * n + i];
        row[..i].iter_mut().for_each(|x| *x /= diagonal);
        row[i] = 1.0 / diagonal;
    }
    // A⁻¹ = L⁻ᵀ L⁻¹, lower triangle first.
    for i in 0..n {
        let row = out.row_mut(i);
        row[..=i].fill(0.0);
        for k in i..n {
            axpy(m[k * n + i], &m[k * n..][..=i], &mut row[..=i]);
        }
    }
    for i in 0..n {
        for j in 0..i {
            out[(j, i)] = out[(i, j)];
        }
    }
    true
}
