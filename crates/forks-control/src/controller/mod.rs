//! Commands that bring tasks about, by priority.

mod error;
mod filtered;
mod outcome;
mod touching;

pub use error::ControlError;
pub use filtered::Priorities;
pub use outcome::{Origin, Relaxed, Residual, Solution};
pub use touching::Touch;

use forks_dynamics::mechanism::{
    JointId,
    linalg::{dot, norm},
};

use crate::{
    lexicographic::{Problem, Solver, Status},
    limits::CoordinateLimits,
    objective::{Objective, ObjectiveRows},
    plant::{Kinematics, Response},
    task::{Rows, Task},
};
use touching::Touching;

/// Excess below this share of the sizes of a row's terms is rounding.
const ROUNDING: f64 = 1e-12;

/// A row of the problem with what it is for.
#[derive(Clone, Copy, Debug)]
struct Named {
    level: usize,
    row: usize,
    origin: Origin,
    /// What rounding of the numbers that it is made of may leave.
    rounding: f64,
}

/// Turns tasks into commands within limits, and what tasks leave open into the least of an
/// objective.
///
/// After the first steps of the same sizes it asks for no memory, as far as the plant does not; a
/// mass as metric of the objective does.
#[derive(Clone, Debug, Default)]
pub struct Controller {
    limits: Vec<(f64, f64)>,
    joints: Vec<(JointId, CoordinateLimits)>,
    objective: Objective,
    priorities: Priorities,
    problem: Problem,
    /// Filtered commands within limits.
    within: Problem,
    touching: Touching,
    solver: Solver,
    response: Response,
    rows: Rows,
    costs: ObjectiveRows,
    /// What the rows of limits and tasks are for, in their order, and their level and row there.
    origins: Vec<Named>,
    over: Vec<f64>,
    by_command: Vec<f64>,
    solution: Solution,
}

/// How many levels there are for what.
#[derive(Clone, Copy, Debug)]
struct Levels {
    /// Of limits and touches.
    first: usize,
    /// Of tasks.
    tasks: usize,
}

impl Controller {
    /// Limits (lower, upper) of every command, infinite for none; the least forces.
    pub fn new(limits: Vec<(f64, f64)>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// With another objective.
    #[must_use]
    pub fn minimise(self, objective: Objective) -> Self {
        Self { objective, ..self }
    }

    /// With limits of a tree joint with one coordinate, kept for good in discrete time where the
    /// joint's positions follow its rates (without loops exactly). They stand on the level of the
    /// limits of commands, above all tasks.
    #[must_use]
    pub fn limit_joint(mut self, joint: JointId, limits: CoordinateLimits) -> Self {
        self.joints.push((joint, limits));
        self
    }

    /// With other priorities than strict ones.
    #[must_use]
    pub fn prioritise(self, priorities: Priorities) -> Self {
        Self { priorities, ..self }
    }

    /// Forgets the last solution and the last step: the next one starts afresh.
    pub fn restart(&mut self) {
        self.solver.restart();
        self.costs.restart();
    }

    /// The commands of the plant's next step.
    ///
    /// # Errors
    /// Tasks, objectives or limits with numbers out of range or of what is not there, another
    /// number of limits than commands, limits in the wrong order, a step that cannot be made.
    pub fn solve<P: Kinematics>(
        &mut self,
        plant: &mut P,
        tasks: &[Task],
    ) -> Result<&Solution, ControlError> {
        self.solve_touching(plant, tasks, &[])
    }

    /// The same with points that stay on something, whose forces are found together with the
    /// commands: they push, keep to their cones of friction to 1e-9, and hold the points where they
    /// are, before any task, as far as they can.
    ///
    /// # Errors
    /// The same; touches with numbers out of range or links that are not there.
    pub fn solve_touching<P: Kinematics>(
        &mut self,
        plant: &mut P,
        tasks: &[Task],
        touches: &[Touch],
    ) -> Result<&Solution, ControlError> {
        let n = plant.command_count();
        if self.limits.len() != n {
            return Err(ControlError::Limits { found: self.limits.len(), expected: n });
        }
        self.objective.check(n, plant.coordinate_count())?;
        self.priorities.check()?;
        tasks.iter().try_for_each(|t| t.check(plant))?;
        self.check_joints(plant)?;
        touching::check(touches, plant.link_count())?;
        self.touching.respond(plant, touches, &mut self.response)?;
        self.costs.observe(plant);
        let all = n + 3 * touches.len();
        let levels = Levels {
            first: 1 + usize::from(!touches.is_empty()),
            tasks: tasks.iter().map(|t| t.level + 1).max().unwrap_or(0),
        };
        let last = levels.first + levels.tasks;
        self.problem.reset(all, last + 2);
        self.origins.clear();
        self.solution.residuals.clear();
        self.solution.beyond.clear();
        self.limit(plant)?;
        self.stay(plant.step_length(), touches)?;
        self.ask(plant, tasks, levels.first)?;
        let problem = &mut self.problem;
        self.costs.rows(&self.objective, plant, &self.response, n, |row, target, weight| {
            push(problem, last, row, [target, target], weight)
        })?;
        if !self.objective.decides_commands() || all > n {
            for i in 0..all {
                push_part(&mut self.problem, last + 1, (i, &[1.0]), [0.0, 0.0])?;
            }
        }
        let status = self.decide(plant.step_length(), levels, touches)?;
        self.conclude(status, n);
        Ok(&self.solution)
    }

    /// Solves the problem, and again with closer cones while forces leave theirs.
    fn decide(
        &mut self,
        h: f64,
        levels: Levels,
        touches: &[Touch],
    ) -> Result<Status, ControlError> {
        let filtered = match self.priorities {
            Priorities::Strict => None,
            _ => Some(self.filter(h, levels)?),
        };
        self.solution.rounds = 0;
        loop {
            self.solution.rounds += 1;
            let status = match &filtered {
                None => {
                    let status = self.solver.solve(&self.problem);
                    self.take_solution();
                    status
                }
                Some(x) => self.keep_within(x, levels)?,
            };
            let close = self.solution.rounds >= touching::ROUNDS;
            if touches.is_empty() || close || !self.cut(touches)? {
                return Ok(status);
            }
        }
    }

    /// The solver's solution as commands and reactions in one.
    fn take_solution(&mut self) {
        let Self { solver, solution, .. } = self;
        solution.commands.clear();
        solution.commands.extend_from_slice(solver.solution());
        solution.certificates.clear();
        solution.certificates.extend_from_slice(solver.certificates());
    }

    fn check_joints<P: Kinematics>(&self, plant: &P) -> Result<(), ControlError> {
        for (joint, _) in &self.joints {
            let m = plant.mechanism().filter(|m| joint.index() < m.joints().len());
            let Some(m) = m else {
                return Err(ControlError::NoCoordinate { joint: joint.index().to_string() });
            };
            let velocities = m.velocity_range(*joint);
            let single = velocities.len() == 1 && m.position_range(*joint).len() == 1;
            if !single || velocities.start >= m.tree_velocity_count() {
                return Err(ControlError::NoCoordinate { joint: m.joint_label(*joint) });
            }
        }
        Ok(())
    }

    /// Limits of commands and joints, level 0.
    fn limit<P: Kinematics>(&mut self, plant: &P) -> Result<(), ControlError> {
        for (i, &(lower, upper)) in self.limits.iter().enumerate() {
            let row = self.problem.levels()[0].len();
            let origin = Origin::Command(i);
            self.origins.push(Named { level: 0, row, origin, rounding: 0.0 });
            push_part(&mut self.problem, 0, (i, &[1.0]), [lower, upper])?;
        }
        let h = plant.step_length();
        self.over.clear();
        self.over.resize(plant.rates().len(), 0.0);
        for (joint, limits) in &self.joints {
            let q = plant.joint(*joint, &mut self.over);
            let range = limits.range(q, dot(&self.over, plant.rates()), h);
            let range = range.map_err(|error| ControlError::Joint {
                joint: plant.mechanism().map_or_else(String::new, |m| m.joint_label(*joint)),
                error,
            })?;
            if !range.viable {
                self.solution.beyond.push(*joint);
            }
            let free = dot(&self.over, &self.response.free);
            let bounds = [range.lower - free, range.upper - free];
            self.response.over_commands(&self.over, 0, &mut self.by_command);
            let (row, origin) = (self.problem.levels()[0].len(), Origin::Joint(*joint));
            let rounding = ROUNDING * (free.abs() + q.abs() / h);
            self.origins.push(Named { level: 0, row, origin, rounding });
            push(&mut self.problem, 0, &self.by_command, bounds, 1.0)?;
        }
        Ok(())
    }

    /// Tasks, from a level on; residuals hold what is asked for until there is an answer.
    fn ask<P: Kinematics>(
        &mut self,
        plant: &P,
        tasks: &[Task],
        first_level: usize,
    ) -> Result<(), ControlError> {
        let (n, h) = (plant.rates().len(), plant.step_length());
        for (task, t) in tasks.iter().enumerate() {
            self.rows.fill(plant, t);
            for k in 0..self.rows.errors.len() {
                let (row, error) = (self.rows.numbers[k], self.rows.errors[k]);
                let (first, end) = self.rows.spans[k];
                let over = &self.rows.rows[k * n + first..k * n + end];
                let (rates, free) = (&plant.rates()[first..end], &self.response.free[first..end]);
                let rate = dot(over, rates);
                let [v, a] = self.rows.moving[k];
                let target = rate + h * (a + t.stiffness * error - t.damping * (rate - v));
                let open = target - dot(over, free);
                self.response.over_commands(over, first, &mut self.by_command);
                let level = first_level + t.level;
                let at = self.problem.levels()[level].len();
                let terms = sizes(over, rates) + sizes(over, free);
                let rounding = ROUNDING * (terms + h * t.stiffness * self.rows.sizes[k]);
                let origin = Origin::Task { task, row };
                self.origins.push(Named { level, row: at, origin, rounding });
                push(&mut self.problem, level, &self.by_command, [open, open], t.weight)?;
                let by = 0.0;
                self.solution.residuals.push(Residual { task, level: t.level, row, error, by });
            }
        }
        Ok(())
    }

    /// What was found, in the words of tasks; `n` is the number of commands.
    fn conclude(&mut self, status: Status, n: usize) {
        let Self { problem, response, solution, origins, .. } = self;
        solution.finished = !matches!(status, Status::IterationLimit { .. });
        let z = &solution.commands;
        solution.rates.clear();
        let gain = &response.gain;
        let rates = response.free.iter().enumerate().map(|(i, f)| f + dot(gain.row(i), z));
        solution.rates.extend(rates);
        solution.relaxed.clear();
        let mut residuals = solution.residuals.iter_mut();
        let length = norm(z);
        for &Named { level, row, origin, rounding } in origins.iter() {
            let rows = &problem.levels()[level];
            let value = rows.value(row, z);
            if matches!(origin, Origin::Task { .. })
                && let Some(r) = residuals.next()
            {
                r.by = value - rows.bounds(row).0;
            }
            if let Some(by) = rows.relaxed(row, value, length).filter(|by| by.abs() > rounding) {
                solution.relaxed.push(Relaxed { origin, level, by });
            }
        }
        solution.relaxed.sort_unstable_by_key(|r| (r.level, r.origin));
        solution.reactions.clear();
        solution.reactions.extend_from_slice(&solution.commands[n..]);
        solution.commands.truncate(n);
    }
}

/// Σ |a b|.
fn sizes(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

fn push(
    problem: &mut Problem,
    level: usize,
    row: &[f64],
    [lower, upper]: [f64; 2],
    weight: f64,
) -> Result<(), ControlError> {
    let to = problem.level_mut(level);
    to.push(row, lower, upper, weight).map_err(|error| ControlError::Row { level, error })
}

/// A row of weight 1 for commands or reactions from one on.
fn push_part(
    problem: &mut Problem,
    level: usize,
    (first, row): (usize, &[f64]),
    [lower, upper]: [f64; 2],
) -> Result<(), ControlError> {
    let to = problem.level_mut(level);
    to.push_part(first, row, lower, upper, 1.0).map_err(|error| ControlError::Row { level, error })
}
