//! Commands that bring tasks about, by priority.

use forks_dynamics::mechanism::linalg::dot;

use crate::{
    lexicographic::{Certificate, Problem, RowError, Solver, Status},
    plant::{ImplicitPlant, Plant, PlantError},
    task::{Task, TaskError},
};

/// Why there are no commands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// A task that is refused.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A step that cannot be made.
    #[error(transparent)]
    Plant(#[from] PlantError),
    /// Limits of commands that leave nothing, or rows that overflow.
    #[error("level {level}: {error}")]
    Row {
        /// Level of the problem: 0 for limits of commands, then tasks.
        level: usize,
        /// What is wrong.
        error: RowError,
    },
    /// Limits as many as commands.
    #[error("{found} limits of commands, expected {expected}")]
    Limits {
        /// How many were given.
        found: usize,
        /// How many commands there are.
        expected: usize,
    },
}

/// A row of a task at the end of the step.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// The task's name.
    pub task: String,
    /// Its level.
    pub level: usize,
    /// Which of its rows.
    pub row: usize,
    /// Rate at the end of the step less the rate that is asked for, m/s or rad/s.
    pub by: f64,
}

/// Commands and what they bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Forces of the commanded coordinates, N or N·m.
    pub commands: Vec<f64>,
    /// The plant's rates at the end of the step.
    pub rates: Vec<f64>,
    /// All rows of all tasks, in their order.
    pub residuals: Vec<Residual>,
    /// How the problem ended; its level 0 holds limits of commands, level k + 1 the tasks of level
    /// k, the last one asks for no commands at all and is never named.
    pub status: Status,
    /// One certificate per level.
    pub certificates: Vec<Certificate>,
}

/// Turns tasks into commands within limits, and what tasks leave open into the least commands.
#[derive(Clone, Debug, Default)]
pub struct Controller {
    limits: Vec<(f64, f64)>,
    problem: Problem,
    solver: Solver,
}

impl Controller {
    /// Limits (lower, upper) of every command, infinite for none.
    pub fn new(limits: Vec<(f64, f64)>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The commands of the plant's next step.
    ///
    /// # Errors
    /// Tasks with numbers out of range, another number of limits than commands, limits in the wrong
    /// order, a step that cannot be made.
    pub fn solve(
        &mut self,
        plant: &mut ImplicitPlant,
        tasks: &[Task],
    ) -> Result<Solution, ControlError> {
        let n = plant.command_count();
        if self.limits.len() != n {
            return Err(ControlError::Limits { found: self.limits.len(), expected: n });
        }
        for task in tasks {
            task.check(plant.stepper().mechanism())?;
        }
        let response = plant.response()?;
        let u = plant.stepper().velocities();
        let levels = tasks.iter().map(|t| t.level + 1).max().unwrap_or(0);
        self.problem.reset(n, levels + 2);
        let mut push = |level: usize, row: &[f64], lower: f64, upper: f64, weight: f64| {
            let to = self.problem.level_mut(level);
            to.push(row, lower, upper, weight).map_err(|error| ControlError::Row { level, error })
        };
        let mut unit = vec![0.0; n];
        for (i, &(lower, upper)) in self.limits.iter().enumerate() {
            unit[i] = 1.0;
            push(0, &unit, lower, upper, 1.0)?;
            push(levels + 1, &unit, 0.0, 0.0, 1.0)?;
            unit[i] = 0.0;
        }
        let mut asked = Vec::new();
        for task in tasks {
            let (rows, errors) = task.rows(plant);
            for (row, e) in rows.into_iter().zip(errors) {
                let rate = dot(&row, u);
                let target =
                    rate + plant.step_length() * (task.stiffness * e - task.damping * rate);
                let open = target - dot(&row, &response.free);
                let by_command = response.gain.transpose_mul_vec(&row);
                push(task.level + 1, &by_command, open, open, task.weight)?;
                asked.push((row, target));
            }
        }
        let status = match self.solver.solve(&self.problem) {
            // Commands that are not zero are no fault.
            Status::Relaxed { level, .. } if level > levels => Status::Solved,
            status => status,
        };
        let commands = self.solver.solution().to_vec();
        let rates = response.rates(&commands);
        let mut rows = asked.iter();
        let mut residuals = Vec::new();
        for task in tasks {
            for (row, (over, target)) in rows.by_ref().take(task.goal.row_count()).enumerate() {
                let by = dot(over, &rates) - target;
                residuals.push(Residual { task: task.name.clone(), level: task.level, row, by });
            }
        }
        let certificates = self.solver.certificates().to_vec();
        Ok(Solution { commands, rates, residuals, status, certificates })
    }
}
