//! A step x⁺ = f(x, u) of a reduced system to first order, x = (coordinates, velocities).
//!
//! By central differences of the step itself, so that they hold for every system. Steps of one
//! linearisation are affine in x and in servo targets: there the differences are exact up to
//! rounding.

use forks_rom::{EffectorLoad, ModelError, StepStatus, System, linalg::Matrix};

use crate::commands::{Commands, Moving};

/// Relative displacement by which a difference moves the effectors.
const DISPLACEMENT: f64 = 1e-4;

/// Takes differences of steps.
#[derive(Clone, Debug)]
pub(crate) struct Slopes<S: System> {
    moving: Moving<S>,
    /// By how much each entry of (x, u) is changed.
    sizes: Vec<f64>,
    x: Vec<f64>,
    u: Vec<f64>,
    ends: [Vec<f64>; 2],
}

impl<S: System> Slopes<S> {
    /// For a system with its commands; `most` is the largest number of loads beside commands.
    pub(crate) fn new(system: &S, commands: &Commands) -> Self {
        let (n, m) = (system.dof(), commands.count(system));
        let data = system.data();
        // How far effectors move per coordinate, over r.
        let size = |column: &dyn Fn(usize) -> f64| {
            let rows = (0..data.basis.rows()).map(|i| {
                let over = if i % 6 < 3 { data.radius } else { 1.0 };
                (column(i) / over).powi(2)
            });
            rows.sum::<f64>().sqrt()
        };
        let or_one = |s: f64| if s > 0.0 && s.is_finite() { s } else { 1.0 };
        let moved = |j: usize| match j < data.basis.columns() {
            true => or_one(size(&|i| data.basis[(i, j)])),
            false => 1.0,
        };
        let mut sizes: Vec<f64> = (0..n).map(|j| DISPLACEMENT / moved(j)).collect();
        let h = system.step_size();
        sizes.extend((0..n).map(|j| DISPLACEMENT / moved(j) / h));
        match commands {
            Commands::Servos => {
                let rest = data.basis.mul(&data.servo_rest);
                let moved = |s: usize| or_one(size(&|i| rest[(i, s)]));
                sizes.extend((0..m).map(|s| DISPLACEMENT / moved(s)));
            }
            // What holds the mechanism that far from its rest.
            Commands::Forces(_) => {
                let stiffness = data.hessian.max_abs() / data.radius;
                sizes.extend((0..m).map(|_| DISPLACEMENT * or_one(stiffness)));
            }
        }
        Self {
            moving: Moving::new(system),
            sizes,
            x: vec![0.0; 2 * n],
            u: vec![0.0; m],
            ends: [vec![0.0; 2 * n], vec![0.0; 2 * n]],
        }
    }

    /// ∂f/∂x into `a`, ∂f/∂u into `b`; false if a step is not finite.
    pub(crate) fn at(
        &mut self,
        system: &S,
        commands: &Commands,
        (x, u): (&[f64], &[f64]),
        loads: &[EffectorLoad],
        (a, b): (&mut Matrix, &mut Matrix),
    ) -> Result<bool, ModelError> {
        let count = x.len();
        self.moving.take_loads(loads);
        for (j, size) in self.sizes.iter().enumerate() {
            for (end, sign) in self.ends.iter_mut().zip([1.0, -1.0]) {
                self.x.copy_from_slice(x);
                self.u.copy_from_slice(u);
                match j.checked_sub(count) {
                    None => self.x[j] += sign * size,
                    Some(k) => self.u[k] += sign * size,
                }
                self.moving.set(system, &self.x)?;
                if self.moving.step(system, commands, &self.u)? == StepStatus::NotFinite {
                    return Ok(false);
                }
                self.moving.read(system, end);
            }
            for i in 0..count {
                let slope = (self.ends[0][i] - self.ends[1][i]) / (2.0 * size);
                match j.checked_sub(count) {
                    None => a[(i, j)] = slope,
                    Some(k) => b[(i, k)] = slope,
                }
            }
        }
        Ok(true)
    }
}
