//! Static response of a blend: ∇U(x) = generalised load.

use alloc::{vec, vec::Vec};

use forks_linalg::{
    Matrix, Pivots,
    simd::{Arithmetic, Kernel, LANES},
    sqrt,
};
use forks_rom::{
    EffectorLoad, ModelError, StaticSolution, StaticStatus,
    internal::{LoadSteps, NewtonEnd, check_loads, check_numbers, load_in_world},
};

use crate::{evaluation::Evaluation, model::BlendedModel};

const MAX_ITERATIONS: usize = 60;
const TOLERANCE: f64 = 1e-11;
/// A step of this length (over r, rad) changes nothing.
const STILL: f64 = 1e-11;
/// The same where the energy's rounding hides what a step changes.
const NEARLY_STILL: f64 = 1e-7;
/// The energy's rounding over the sizes of what it is a sum of.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// What a step that the energy does not show makes of the residual, at least.
const LOWER: f64 = 0.5;
/// Longest step.
const LONGEST: f64 = 0.2;
const MAX_HALVINGS: usize = 30;
/// Part of the decrease that the gradient promises.
const SUFFICIENT: f64 = 1e-4;
/// Smallest part of the load that is added at once.
const SHORTEST: f64 = 1.0 / 1024.0;
/// The slope is kept while whole steps leave less than this part of the residual: it takes 2N
/// evaluations, a step one.
const QUICK: f64 = 0.2;

impl BlendedModel {
    /// Chart coordinates at rest under loads and servo targets that grow from nothing, from the
    /// chart's reference pose on (no targets: at rest).
    ///
    /// Newton's method with the derivative of the exact gradient by central differences.
    ///
    /// # Errors
    /// A load on an effector that does not exist, numbers that are not finite, another number of
    /// targets than servos.
    pub fn solve_static(
        &self,
        loads: &[EffectorLoad],
        servo_targets: &[f64],
    ) -> Result<StaticSolution, ModelError> {
        check_loads(loads, self.effector_count())?;
        let still = vec![0.0; self.servo_count()];
        let servo_targets = if servo_targets.is_empty() { &still } else { servo_targets };
        check_numbers("servo targets", servo_targets, self.servo_count())?;
        self.check_targets(servo_targets)?;
        let mut here = Evaluation::new(self);
        let first = LoadSteps { first: 0.25, growth: 1.5, shortest: SHORTEST };
        Ok(first.follow(self.dof(), |x, part| {
            let targets: Vec<f64> = servo_targets.iter().map(|s| part * s).collect();
            here.drive(self, &targets);
            self.newton(x, loads, part, &mut here)
        }))
    }

    /// [`BlendedModel::solve_static`] without targets, by loads that grow in equal parts: the rest
    /// at which they arrive when they grow slowly.
    ///
    /// # Errors
    /// As [`BlendedModel::solve_static`].
    pub fn follow_static(
        &self,
        loads: &[EffectorLoad],
        parts: u32,
    ) -> Result<StaticSolution, ModelError> {
        check_loads(loads, self.effector_count())?;
        let mut here = Evaluation::new(self);
        let first = 1.0 / f64::from(parts.max(1));
        let steps = LoadSteps { first, growth: 1.0, shortest: first.min(SHORTEST) };
        Ok(steps.follow(self.dof(), |x, part| self.newton(x, loads, part, &mut here)))
    }

    /// Newton's method towards a minimum of U(x) − gᵀx, g the load here: where the energy is not
    /// convex the slope is shifted, and no step may make that potential larger.
    fn newton(
        &self,
        x: &mut [f64],
        loads: &[EffectorLoad],
        scale: f64,
        here: &mut Evaluation,
    ) -> NewtonEnd {
        let end = |status, iterations, residual| NewtonEnd { status, iterations, residual };
        let mut residual = f64::INFINITY;
        let mut kept: Option<Matrix> = None;
        for i in 0..MAX_ITERATIONS {
            let last = residual;
            let (force, size) = self.unbalanced(x, loads, scale, here);
            let energy = here.energy;
            let load: Vec<f64> = here.gradient.iter().zip(&force).map(|(u, f)| u - f).collect();
            residual = force.iter().fold(0.0f64, |m, f| m.max(f.abs())) / size;
            let turned = !self.is_curved()
                && (0..self.effector_count())
                    .any(|e| self.effector_twist(e, x).angular.length() >= core::f64::consts::PI);
            if turned {
                return end(StaticStatus::OutOfRange, i, residual);
            }
            if residual <= TOLERANCE {
                return end(StaticStatus::Converged, i, residual);
            }
            if !residual.is_finite() {
                break;
            }
            let terms = here.size_of_terms + work_of(&load, x);
            let (slope, shifted, fresh) = match kept.take() {
                Some(slope) if residual <= QUICK * last => (slope, false, false),
                _ => {
                    let (slope, shifted) = shifted(self.slope(x, loads, scale, here));
                    (slope, shifted, true)
                }
            };
            let Some(dx) = slope.solve_vec(&force, Pivots::AboveZero) else { break };
            // Lengths are over r already: the chart's columns are orthonormal.
            let length = sqrt(dx.iter().map(|d| d * d).sum());
            if length <= STILL && !shifted {
                return end(StaticStatus::Converged, i, residual);
            }
            let damp = if length > LONGEST { LONGEST / length } else { 1.0 };
            let descent: f64 = dx.iter().zip(&force).map(|(d, f)| d * f).sum();
            // Where the energy cannot show what a step does, the residual decides.
            if descent <= ROUNDING * terms && !shifted {
                if self.lowers(x, &dx, loads, scale, residual, here) {
                    x.iter_mut().zip(&dx).for_each(|(x, d)| *x -= d);
                    kept = Some(slope);
                } else if fresh {
                    return end(StaticStatus::Converged, i, residual);
                }
                continue;
            }
            let Some(part) = self.descent(x, &dx, damp, energy, &load, descent, here) else {
                // The next slope is another: the residual is what it was.
                if !fresh {
                    continue;
                }
                // Rounding: the energy shows no difference any more.
                let status = match length <= NEARLY_STILL && !shifted {
                    true => StaticStatus::Converged,
                    false => StaticStatus::Stalled,
                };
                return end(status, i, residual);
            };
            x.iter_mut().zip(&dx).for_each(|(x, d)| *x -= part * d);
            kept = (part == 1.0 && !shifted).then_some(slope);
        }
        end(StaticStatus::Stalled, MAX_ITERATIONS, residual)
    }

    /// True if a whole step makes the residual much smaller.
    fn lowers(
        &self,
        x: &[f64],
        dx: &[f64],
        loads: &[EffectorLoad],
        scale: f64,
        residual: f64,
        here: &mut Evaluation,
    ) -> bool {
        let trial: Vec<f64> = x.iter().zip(dx).map(|(x, d)| x - d).collect();
        let (force, size) = self.unbalanced(&trial, loads, scale, here);
        force.iter().all(|f| f.abs() <= LOWER * residual * size)
    }

    /// The largest part of a step, halved from `part` on, that makes U − gᵀx smaller.
    #[allow(clippy::too_many_arguments)]
    fn descent(
        &self,
        x: &[f64],
        dx: &[f64],
        mut part: f64,
        energy: f64,
        load: &[f64],
        descent: f64,
        here: &mut Evaluation,
    ) -> Option<f64> {
        for _ in 0..MAX_HALVINGS {
            let trial: Vec<f64> = x.iter().zip(dx).map(|(x, d)| x - part * d).collect();
            here.at(self, &trial);
            let work: f64 = load.iter().zip(dx).map(|(g, d)| g * part * d).sum();
            let change = here.energy - energy + work;
            if change <= -SUFFICIENT * part * descent {
                return Some(part);
            }
            part *= 0.5;
        }
        None
    }

    /// ∇U − g and the size of what is balanced.
    fn unbalanced(
        &self,
        x: &[f64],
        loads: &[EffectorLoad],
        scale: f64,
        here: &mut Evaluation,
    ) -> (Vec<f64>, f64) {
        here.at(self, x);
        let load = self.generalised_force_of(here, x, loads);
        let mut size = f64::MIN_POSITIVE;
        let force = here.gradient.iter().zip(&load).map(|(u, g)| {
            size = size.max(u.abs()).max(scale * g.abs());
            u - scale * g
        });
        (force.take(self.dof()).collect(), size)
    }

    /// Derivative of [`BlendedModel::unbalanced`].
    fn slope(
        &self,
        x: &[f64],
        loads: &[EffectorLoad],
        scale: f64,
        here: &mut Evaluation,
    ) -> Matrix {
        const STEP: f64 = 1e-5;
        let n = self.dof();
        let mut out = Matrix::zeros(n, n);
        let mut y = x.to_vec();
        for j in 0..n {
            y[j] = x[j] + STEP;
            let (plus, _) = self.unbalanced(&y, loads, scale, here);
            y[j] = x[j] - STEP;
            let (minus, _) = self.unbalanced(&y, loads, scale, here);
            y[j] = x[j];
            for i in 0..n {
                out[(i, j)] = (plus[i] - minus[i]) / (2.0 * STEP);
            }
        }
        out
    }

    /// What loads do on the coordinates at `x`: g = Σ_e J_eᵀ w_e, J_e ẋ the effector's motion.
    ///
    /// # Panics
    /// If there are not N coordinates, or there is no such effector.
    pub fn generalised_force(&self, x: &[f64], loads: &[EffectorLoad]) -> Vec<f64> {
        let mut out = self.generalised_force_of(&mut self.evaluated(x), x, loads);
        out.truncate(self.dof());
        out
    }

    /// The same where the blend was evaluated at `x`, padded.
    fn generalised_force_of(
        &self,
        here: &mut Evaluation,
        x: &[f64],
        loads: &[EffectorLoad],
    ) -> Vec<f64> {
        let mut out = vec![0.0; self.dof().div_ceil(LANES) * LANES];
        self.isa().run(Pull { model: self, here, x, loads, out: &mut out });
        out
    }
}

/// Σ |g x|.
fn work_of(load: &[f64], x: &[f64]) -> f64 {
    load.iter().zip(x).map(|(g, x)| (g * x).abs()).sum()
}

/// A symmetric matrix, shifted by a multiple of its diagonal's size until it is positive definite;
/// whether it was.
fn shifted(slope: Matrix) -> (Matrix, bool) {
    let slope = slope.symmetric_part();
    let n = slope.rows();
    let size = (0..n).map(|i| slope[(i, i)].abs()).fold(0.0, f64::max);
    let mut shift = 0.0;
    let with =
        |shift: f64| Matrix::from_fn(n, n, |i, j| slope[(i, j)] + if i == j { shift } else { 0.0 });
    while !with(shift).is_positive_definite() {
        shift = if shift == 0.0 { 1e-12 * size } else { 4.0 * shift };
        if shift > 1e3 * size || !shift.is_finite() {
            break;
        }
    }
    (with(shift), shift > 0.0)
}

struct Pull<'a> {
    model: &'a BlendedModel,
    here: &'a mut Evaluation,
    x: &'a [f64],
    loads: &'a [EffectorLoad],
    out: &'a mut [f64],
}

impl Kernel for Pull<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        pull_loads(l, self.model, self.here, self.x, self.loads, self.out);
    }
}

/// Σ_e B_eᵀ J_r(ξ_e)ᵀ w_e into a padded vector; `here` is the evaluation at `x`.
#[inline(always)]
pub(crate) fn pull_loads<L: Arithmetic>(
    l: L,
    model: &BlendedModel,
    here: &mut Evaluation,
    x: &[f64],
    loads: &[EffectorLoad],
    out: &mut [f64],
) {
    out.fill(0.0);
    add_loads(l, model, here, x, loads, out);
}

/// Adds the same.
#[inline(always)]
pub(crate) fn add_loads<L: Arithmetic>(
    l: L,
    model: &BlendedModel,
    here: &mut Evaluation,
    x: &[f64],
    loads: &[EffectorLoad],
    out: &mut [f64],
) {
    if let Some(tree) = &model.tree {
        return here.pull_tree_loads(l, tree, loads, out, x.len());
    }
    if model.is_curved() {
        return here.pull_chart_loads(loads, out, x.len());
    }
    for load in loads {
        let e = load.effector;
        let twist = model.chart.twist(l, e, x);
        let w = load_in_world(l, load, model.chart.rest_rotation(e), &twist);
        model.chart.add_force(l, e, &twist.pull_back(l, &w), true, out);
    }
}
