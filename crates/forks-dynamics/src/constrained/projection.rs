//! Projection on the loops: positions by Newton's method, velocities by one linear step; both move
//! as little as possible in the metric of the mass matrix.

use super::dynamics::{ConstrainedDynamics, ConstrainedWorkspace, WeightedRows};
use crate::integrate::advance;

/// Gaps below this (lengths over r, radians) are closed; times the number of links.
const CLOSED: f64 = 4.0 * f64::EPSILON;
const MAX_ITERATIONS: usize = 20;

/// How a projection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProjectionStatus {
    /// The loops are closed to rounding, or no further step closes them more.
    Closed,
    /// The loops stay open.
    Open,
    /// The mass matrix cannot be factorised, or numbers are not finite.
    Failed,
}

/// Result of a position projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// How it ended.
    pub status: ProjectionStatus,
    /// Newton steps taken.
    pub iterations: usize,
    /// Largest gap that is left: lengths over r, angles in rad, couplings in their own unit.
    pub gap: f64,
}

impl ConstrainedDynamics<'_> {
    /// Moves `q` (tree positions) until the loops are closed and the couplings hold.
    ///
    /// # Panics
    /// If `q` has not the length of the tree positions.
    pub fn project_positions(&self, q: &mut [f64], work: &mut ConstrainedWorkspace) -> Projection {
        let n = self.m.tree_velocity_count();
        let zero = vec![0.0; n];
        let tolerance = CLOSED * self.m.links().len() as f64;
        let mut rows = self.prepare(q, &zero, work);
        let mut gap = largest(&rows.gaps);
        let mut iterations = 0;
        let end = |status, iterations, gap| Projection { status, iterations, gap };
        while gap > tolerance && iterations < MAX_ITERATIONS {
            if self.factorize(&rows, work).is_err() {
                return end(ProjectionStatus::Failed, iterations, gap);
            }
            let weighted = WeightedRows::without_rotors(self, &rows, work);
            let z = weighted.constrain(&vec![0.0; n], &rows.gaps);
            let mut step = vec![0.0; n];
            work.factor.transposed_half_solve(&work.motion, &z, &mut step);
            let mut next = q.to_vec();
            advance(self.m, &mut next, &step, 1.0);
            let next_rows = self.prepare(&next, &zero, work);
            let next_gap = largest(&next_rows.gaps);
            iterations += 1;
            if next_gap.is_nan() || next_gap >= gap {
                // Rounding: the step before was the best there is.
                self.prepare(q, &zero, work);
                let settled = gap <= 1e-9;
                let status =
                    if settled { ProjectionStatus::Closed } else { ProjectionStatus::Open };
                return end(status, iterations, gap);
            }
            q.copy_from_slice(&next);
            (rows, gap) = (next_rows, next_gap);
        }
        let status = match gap {
            g if g.is_nan() => ProjectionStatus::Failed,
            g if g <= tolerance.max(1e-9) => ProjectionStatus::Closed,
            _ => ProjectionStatus::Open,
        };
        end(status, iterations, gap)
    }

    /// Takes off the part of `v` that violates the loops at `q`; the largest violation found, in
    /// rad/s (lengths over r). `None` where the mass matrix cannot be factorised.
    ///
    /// # Panics
    /// If `q` or `v` has not the length of the tree coordinates.
    pub fn project_velocities(
        &self,
        q: &[f64],
        v: &mut [f64],
        work: &mut ConstrainedWorkspace,
    ) -> Option<f64> {
        let rows = self.prepare(q, v, work);
        if rows.jacobian.rows() == 0 {
            return Some(0.0);
        }
        let violation = rows.jacobian.mul_vec(v);
        self.factorize(&rows, work).ok()?;
        let weighted = WeightedRows::without_rotors(self, &rows, work);
        let z = weighted.constrain(&vec![0.0; v.len()], &violation);
        let mut step = vec![0.0; v.len()];
        work.factor.transposed_half_solve(&work.motion, &z, &mut step);
        v.iter_mut().zip(step).for_each(|(v, s)| *v += s);
        Some(largest(&violation))
    }

    /// Largest violation of the loops by positions: lengths over r, angles in rad, couplings in
    /// their own unit.
    pub fn loop_gap(&self, q: &[f64], work: &mut ConstrainedWorkspace) -> f64 {
        let zero = vec![0.0; self.m.tree_velocity_count()];
        largest(&self.prepare(q, &zero, work).gaps)
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}
