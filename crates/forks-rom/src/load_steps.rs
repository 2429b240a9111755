//! Statics by loads that grow: from each part of them Newton's method goes on to the next.

use alloc::{vec, vec::Vec};

/// How a static solution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticStatus {
    /// The residual is at rounding level.
    Converged,
    /// No further progress was possible.
    Stalled,
    /// An effector turned by π or more: outside the model's range.
    OutOfRange,
}

/// A static solution.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticSolution {
    /// Coordinates at rest.
    pub coordinates: Vec<f64>,
    /// How it ended.
    pub status: StaticStatus,
    /// Newton steps taken.
    pub iterations: usize,
    /// Largest residual force over the largest force that was balanced.
    pub residual: f64,
}

/// How Newton's method ended at some part of the loads.
#[derive(Clone, Copy, Debug)]
pub struct NewtonEnd {
    /// How.
    pub status: StaticStatus,
    /// Steps taken.
    pub iterations: usize,
    /// Largest residual over the largest force that was balanced.
    pub residual: f64,
}

/// Parts of the loads that are added at once.
#[derive(Clone, Copy, Debug)]
pub struct LoadSteps {
    /// The first.
    pub first: f64,
    /// What the next is times one with which Newton's method converged; half where it did not.
    pub growth: f64,
    /// The smallest that is tried.
    pub shortest: f64,
}

impl LoadSteps {
    /// The coordinates under the whole loads, from zero on; `newton` takes those of the last part
    /// to a part.
    pub fn follow(
        &self,
        dof: usize,
        mut newton: impl FnMut(&mut [f64], f64) -> NewtonEnd,
    ) -> StaticSolution {
        let mut out = StaticSolution {
            coordinates: vec![0.0; dof],
            status: StaticStatus::Converged,
            iterations: 0,
            residual: 0.0,
        };
        let (mut reached, mut step) = (0.0, self.first);
        while reached < 1.0 {
            let next = f64::min(1.0, reached + step);
            let mut trial = out.coordinates.clone();
            let end = newton(&mut trial, next);
            out.iterations += end.iterations;
            if end.status == StaticStatus::Converged {
                (out.coordinates, out.residual, reached) = (trial, end.residual, next);
                step *= self.growth;
                continue;
            }
            step *= 0.5;
            if step < self.shortest {
                (out.coordinates, out.residual, out.status) = (trial, end.residual, end.status);
                break;
            }
        }
        out
    }
}
