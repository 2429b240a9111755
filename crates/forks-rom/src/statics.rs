//! Static response of the energy-consistent model.
//!
//! The elastic force balances the loads' generalised force: b_η + 𝓗(η − η_s) = Σ_e B_eᵀ J_r(ξ_e)ᵀ
//! w_e, w_e in the displaced effector frame. Newton's method with the exact derivative of the right
//! side.

use alloc::vec::Vec;

use forks_lie::{
    Twist, Wrench,
    glam::DVec3,
    se3::{right_jacobian, right_jacobian_derivative},
};
use forks_linalg::{Matrix, Pivots};

use crate::{
    error::ModelError,
    load::{EffectorLoad, LoadFrame, check_loads},
    load_steps::{LoadSteps, NewtonEnd, StaticSolution, StaticStatus},
    model::ReducedModel,
};

const MAX_ITERATIONS: usize = 200;
const TOLERANCE: f64 = 1e-12;

impl ReducedModel {
    /// The reduced coordinates at rest under loads that grow from those of the linearisation pose.
    ///
    /// # Errors
    /// A load on an effector that does not exist, numbers that are not finite.
    pub fn solve_static(
        &self,
        loads: &[EffectorLoad],
        servo_targets: &[f64],
    ) -> Result<StaticSolution, ModelError> {
        self.check_input(loads, servo_targets)?;
        // The load grows from what holds the linearisation pose.
        let steps = LoadSteps { first: 1.0, growth: 1.0, shortest: 1e-3 };
        Ok(steps.follow(self.dof(), |eta, part| self.newton(eta, loads, servo_targets, part)))
    }

    fn check_input(&self, loads: &[EffectorLoad], targets: &[f64]) -> Result<(), ModelError> {
        check_loads(loads, self.effector_count())?;
        if targets.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(ModelError::NotFinite { quantity: "servo target" })
    }

    fn newton(
        &self,
        eta: &mut [f64],
        loads: &[EffectorLoad],
        servo_targets: &[f64],
        scale: f64,
    ) -> NewtonEnd {
        let mut best = f64::INFINITY;
        let mut end = NewtonEnd { status: StaticStatus::Stalled, iterations: 0, residual: best };
        for i in 0..MAX_ITERATIONS {
            end.iterations = i;
            let out = (0..self.effector_count())
                .any(|e| self.effector_twist(e, eta).angular.length() >= core::f64::consts::PI);
            if out {
                end.status = StaticStatus::OutOfRange;
                return end;
            }
            let (residual, size, slope) = self.balance(eta, loads, servo_targets, scale);
            let error = residual.iter().fold(0.0f64, |m, x| m.max(x.abs())) / size;
            end.residual = error;
            if error <= TOLERANCE {
                end.status = StaticStatus::Converged;
                return end;
            }
            if !error.is_finite() || (i > 30 && error > 0.999 * best) {
                return end;
            }
            best = best.min(error);
            let Some(dx) = slope.solve_vec(&residual, Pivots::AboveZero) else { return end };
            let longest = self.longest_twist(&dx);
            let damp = if longest > 0.5 { 0.5 / longest } else { 1.0 };
            eta.iter_mut().zip(&dx).for_each(|(x, d)| *x -= damp * d);
        }
        end
    }

    /// Largest dimensionless effector twist of a step.
    fn longest_twist(&self, eta: &[f64]) -> f64 {
        (0..self.effector_count())
            .map(|e| self.effector_twist(e, eta).scale_linear(1.0 / self.data().radius).norm())
            .fold(0.0, f64::max)
    }

    /// Residual, the size of what is balanced, and the residual's derivative.
    fn balance(
        &self,
        eta: &[f64],
        loads: &[EffectorLoad],
        servo_targets: &[f64],
        scale: f64,
    ) -> (Vec<f64>, f64, Matrix) {
        let elastic = self.elastic_force(eta, servo_targets);
        let stretch = self.data().hessian.mul_vec(eta);
        let drive = self.data().hessian.mul_vec(&self.rest_coordinates(servo_targets));
        // Parts that may cancel: without loads the elastic force itself vanishes.
        let parts = [self.static_force(), &stretch, &drive];
        let mut size = parts.iter().flat_map(|p| *p).fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let mut slope = self.data().hessian.clone();
        let mut residual = elastic;
        // At scale 0 the loads are those that hold the linearisation pose.
        let held = 1.0 - scale;
        for (r, b) in residual.iter_mut().zip(self.static_force()) {
            *r -= held * b;
        }
        for l in loads {
            let b = self.basis_of(l.effector);
            let term = self.load_term(l, eta);
            for j in 0..self.dof() {
                let g: f64 = (0..6).map(|i| b[(i, j)] * term.force[i]).sum();
                residual[j] -= scale * g;
                size = size.max(scale * g.abs());
            }
            let turned = b.transpose_mul(&term.slope.mul(&b));
            for i in 0..self.dof() {
                for j in 0..self.dof() {
                    slope[(i, j)] -= scale * turned[(i, j)];
                }
            }
        }
        (residual, size, slope)
    }

    fn basis_of(&self, e: usize) -> Matrix {
        self.data().basis.block(6 * e, 0, 6, self.dof())
    }

    /// J_r(ξ)ᵀ w and its derivative with respect to ξ.
    fn load_term(&self, load: &EffectorLoad, eta: &[f64]) -> LoadTerm {
        let xi = self.effector_twist(load.effector, eta);
        let jacobian = right_jacobian(xi);
        let back = self.effector_pose(load.effector, eta).rotation.conjugate();
        let w = match load.frame {
            LoadFrame::Body => load.wrench,
            LoadFrame::World => Wrench::new(back * load.wrench.force, back * load.wrench.torque),
        };
        let force = jacobian.transpose_mul_vec(&w.to_array());
        let mut slope = Matrix::zeros(6, 6);
        for k in 0..6 {
            let direction = Twist::unit(k);
            let mut column =
                right_jacobian_derivative(xi, direction).transpose_mul_vec(&w.to_array());
            if load.frame == LoadFrame::World {
                // The body sees a world-fixed wrench turn backwards: ẇ = w × ω.
                let omega = Twist::from_array(jacobian.mul_vec(&direction.to_array())).angular;
                let turn = |v: DVec3| v.cross(omega);
                let dw = Wrench::new(turn(w.force), turn(w.torque));
                let more = jacobian.transpose_mul_vec(&dw.to_array());
                column.iter_mut().zip(more).for_each(|(c, m)| *c += m);
            }
            for i in 0..6 {
                slope[(i, k)] = column[i];
            }
        }
        LoadTerm { force, slope }
    }
}

struct LoadTerm {
    force: [f64; 6],
    slope: Matrix,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{EffectorRest, ModelData};
    use forks_lie::{Pose, so3::exp_rotation};

    /// One effector that moves freely, six coordinates.
    fn model() -> ReducedModel {
        let rest = Pose::new(exp_rotation(DVec3::new(0.4, -0.2, 0.9)), DVec3::new(0.1, 0.5, -0.3));
        let basis =
            Matrix::from_fn(6, 6, |i, j| f64::from(i == j) + 0.1 * ((3 * i + 5 * j) as f64).sin());
        ReducedModel::new(ModelData {
            radius: 1.0,
            range: crate::data::DEFAULT_RANGE,
            effectors: vec![EffectorRest {
                name: "hand".into(),
                link: 0,
                link_from_effector: Pose::IDENTITY,
                rest,
                static_wrench: Wrench::new(DVec3::new(1.0, -2.0, 0.5), DVec3::new(0.3, 0.1, -0.7)),
            }],
            basis,
            hessian: Matrix::from_fn(6, 6, |i, j| if i == j { 10.0 + i as f64 } else { 0.5 }),
            mass: Matrix::identity(6),
            damping: Matrix::zeros(6, 6),
            servo_rest: Matrix::zeros(6, 0),
            servos: vec![],
            links: vec![crate::data::LinkRest {
                name: "hand".into(),
                auxiliary: false,
                rest,
                map: Matrix::zeros(6, 6),
                servo_map: Matrix::zeros(6, 0),
            }],
            joints: vec![],
            base: None,
        })
        .unwrap()
    }

    #[test]
    fn the_slope_of_the_balance_is_the_derivative_of_its_residual() {
        let m = model();
        let eta = [0.3, -0.2, 0.5, 0.7, -0.4, 0.6];
        let wrench = Wrench::new(DVec3::new(3.0, -1.0, 2.0), DVec3::new(0.5, 1.5, -0.8));
        for frame in [LoadFrame::World, LoadFrame::Body] {
            let loads = [EffectorLoad { effector: 0, wrench, frame }];
            let residual = |k: usize, h: f64| {
                let mut x = eta;
                x[k] += h;
                m.balance(&x, &loads, &[], 0.7).0
            };
            let slope = m.balance(&eta, &loads, &[], 0.7).2;
            for k in 0..6 {
                let h = 1e-3;
                let central =
                    |h: f64, i: usize| (residual(k, h)[i] - residual(k, -h)[i]) / (2.0 * h);
                for i in 0..6 {
                    // One Richardson step: errors of h⁴ and of rounding ε/h, both below 1e-11.
                    let derivative = (4.0 * central(0.5 * h, i) - central(h, i)) / 3.0;
                    let error = (slope[(i, k)] - derivative).abs() / slope.max_abs();
                    assert!(error < 1e-11, "{frame:?}, {i}, {k}: {error:e}");
                }
            }
        }
    }
}
