//! Commands by filtered levels, kept within limits.
//!
//! Filters know no bounds. Where filtered commands leave limits, the nearest commands within them
//! are taken that do, level by level, what the filtered ones do: from those the levels ask for
//! nothing that explodes.

use forks_dynamics::mechanism::linalg::{Matrix, norm};

use super::{ControlError, Controller, Levels, push, push_part};
use crate::{
    filter::Filter,
    lexicographic::Status,
    objective::{Metric, Quantity},
};

/// How levels are kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Priorities {
    /// Strict ones with bounds at every level. Near singular poses commands grow without bound.
    #[default]
    Strict,
    /// Gradual ones where directions are weak: no level takes more than `most` per unit of what it
    /// asks for (of commands, weighted as they are, per m/s² or rad/s² of a task of weight 1); what
    /// a level does not take is free for those below. Commands are continuous in the pose. Without
    /// a number a direction is weak below a twentieth of the size of its level: that is no bound
    /// for a level all of whose rows are weak at once.
    Smooth {
        /// The most command per unit of a task's acceleration.
        most: Option<f64>,
    },
    /// The scheme of \[K08\]: the inverse that is robust to singularities, with α in the units of
    /// task acceleration per command, squared, at every level; null spaces by the rank. Never
    /// exact, and it jumps where the rank does.
    Published {
        /// α.
        alpha: f64,
    },
}

/// σ₀ over the size of a level where nothing else is said.
const SHARE: f64 = 0.05;

impl Priorities {
    /// Parameters above zero.
    pub(super) fn check(self) -> Result<(), ControlError> {
        // The filter checks the rest.
        match self {
            Self::Smooth { most: Some(x) } | Self::Published { alpha: x } => {
                Ok(Filter::Selective(x).check()?)
            }
            _ => Ok(()),
        }
    }

    /// Over rates at the end of a step of `h`, which are h times accelerations.
    fn filter(self, h: f64) -> Filter {
        match self {
            Self::Strict => Filter::None,
            Self::Smooth { most: Some(most) } => Filter::Selective(h / most),
            Self::Smooth { most: None } => Filter::Share(SHARE),
            Self::Published { alpha } => Filter::Constant(alpha * h * h),
        }
    }
}

impl Controller {
    /// Commands of all levels after the limits, by the filter.
    pub(super) fn filter(&self, h: f64, levels: Levels) -> Result<Vec<f64>, ControlError> {
        let n = self.problem.unknowns();
        let mut last = levels.first + levels.tasks;
        // The least commands of every level come by themselves.
        let t = &self.objective.terms;
        let least = t.len() == 1 && t[0].quantity == Quantity::Command;
        if !(least && t[0].metric == Metric::Unit) {
            last += 1;
        }
        let mut systems: Vec<(Matrix, Vec<f64>)> = Vec::new();
        for level in &self.problem.levels()[1..last] {
            let mut a = Matrix::zeros(level.len(), n);
            for i in 0..level.len() {
                let row = level.row(i).into_iter().map(|x| level.weight(i) * x);
                a.row_mut(i).iter_mut().zip(row).for_each(|(a, x)| *a = x);
            }
            let d = (0..level.len()).map(|i| level.weight(i) * level.bounds(i).0).collect();
            systems.push((a, d));
        }
        let systems: Vec<(&Matrix, &[f64])> =
            systems.iter().map(|(a, d)| (a, &d[..])).filter(|(a, _)| a.rows() > 0).collect();
        if systems.is_empty() {
            return Ok(vec![0.0; n]);
        }
        Ok(self.priorities.filter(h).solve(&systems)?)
    }

    /// Takes filtered commands if they are within limits, else the nearest that are and do the
    /// same as far as they can.
    pub(super) fn keep_within(
        &mut self,
        x: &[f64],
        levels: Levels,
    ) -> Result<Status, ControlError> {
        let limits = &self.problem.levels()[0];
        let length = norm(x);
        if (0..limits.len()).all(|i| limits.relaxed(i, limits.value(i, x), length).is_none()) {
            self.solution.certificates.clear();
            self.solution.commands.clear();
            self.solution.commands.extend_from_slice(x);
            return Ok(Status::Solved);
        }
        let (n, last) = (x.len(), levels.first + levels.tasks);
        let Self { problem, within, .. } = self;
        within.reset(n, last + 1);
        for (k, level) in problem.levels()[..last].iter().enumerate() {
            for i in 0..level.len() {
                let done = level.value(i, x);
                let (lower, upper) = if k == 0 { level.bounds(i) } else { (done, done) };
                push(within, k, &level.row(i), [lower, upper], level.weight(i))?;
            }
        }
        for (i, x) in x.iter().enumerate() {
            push_part(within, last, (i, &[1.0]), [*x, *x])?;
        }
        let status = self.solver.solve(&self.within);
        self.take_solution();
        Ok(status)
    }
}
