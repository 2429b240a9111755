//! Commands that bring tasks about, by priority.

use forks_dynamics::mechanism::{JointId, linalg::dot};

use crate::{
    lexicographic::{Certificate, Problem, RowError, Solver, Status},
    limits::{CoordinateLimits, LimitError},
    objective::{Objective, ObjectiveError, ObjectiveRows},
    plant::{Kinematics, PlantError, Response},
    task::{Rows, Task, TaskError},
};

/// Excess below this share of the sizes of a row's terms is rounding.
const ROUNDING: f64 = 1e-12;

/// Why there are no commands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// A task that is refused.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// An objective that is refused.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// A step that cannot be made.
    #[error(transparent)]
    Plant(#[from] PlantError),
    /// Limits of commands that leave nothing, or rows that overflow.
    #[error("level {level}: {error}")]
    Row {
        /// Level of the problem: 0 for limits, then tasks.
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
    /// Limits of a joint that cannot be kept.
    #[error("limits of joint {joint}: {error}")]
    Joint {
        /// The joint's name, or its number where the plant knows no joints.
        joint: String,
        /// What is wrong.
        error: LimitError,
    },
    /// Limits of a joint that is no tree joint with one coordinate.
    #[error("limits of joint {joint}: it is no tree joint with one coordinate")]
    NoCoordinate {
        /// The joint's name, or its number where there is none.
        joint: String,
    },
}

/// A row of a task at the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Which of the tasks, from zero.
    pub task: usize,
    /// Its level.
    pub level: usize,
    /// Which row of its goal.
    pub row: usize,
    /// What is missing before the step, m or rad.
    pub error: f64,
    /// Rate at the end of the step less the rate that is asked for, m/s or rad/s.
    pub by: f64,
}

/// What a row of the problem is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The limits of a command.
    Command(usize),
    /// The limits of a joint.
    Joint(JointId),
    /// A row of a task's goal.
    Task {
        /// Which of the tasks.
        task: usize,
        /// Which row of its goal.
        row: usize,
    },
}

/// A row that gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxed {
    /// What it is for.
    pub origin: Origin,
    /// Level of the problem: 0 for limits, then tasks.
    pub level: usize,
    /// What it is beyond its bound: N or N·m of a command, else m/s or rad/s.
    pub by: f64,
}

/// Commands and what they bring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Commands in the plant's order and units.
    pub commands: Vec<f64>,
    /// The plant's rates at the end of the step.
    pub rates: Vec<f64>,
    /// All rows of all tasks, in their order.
    pub residuals: Vec<Residual>,
    /// Every row that gives way, the most important level first. Empty where all are met.
    pub relaxed: Vec<Relaxed>,
    /// Joints that cannot keep their limits any more, from this state on, whatever is done.
    pub beyond: Vec<JointId>,
    /// False if the solver used up its iterations at some level; those before it are optimal.
    pub finished: bool,
    /// One certificate per level: limits, tasks, the objective, and where that leaves commands
    /// open the least of them.
    pub certificates: Vec<Certificate>,
}

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
    problem: Problem,
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
        let n = plant.command_count();
        if self.limits.len() != n {
            return Err(ControlError::Limits { found: self.limits.len(), expected: n });
        }
        self.objective.check(n, plant.coordinate_count())?;
        tasks.iter().try_for_each(|t| t.check(plant))?;
        self.check_joints(plant)?;
        plant.respond(&mut self.response)?;
        self.costs.observe(plant);
        let levels = tasks.iter().map(|t| t.level + 1).max().unwrap_or(0);
        self.problem.reset(n, levels + 3);
        self.origins.clear();
        self.solution.residuals.clear();
        self.solution.beyond.clear();
        self.limit(plant)?;
        self.ask(plant, tasks)?;
        let problem = &mut self.problem;
        self.costs.rows(&self.objective, plant, &self.response, |row, target, weight| {
            push(problem, levels + 1, row, [target, target], weight)
        })?;
        if !self.objective.decides_commands() {
            self.over.clear();
            self.over.resize(n, 0.0);
            for i in 0..n {
                self.over[i] = 1.0;
                push(problem, levels + 2, &self.over, [0.0, 0.0], 1.0)?;
                self.over[i] = 0.0;
            }
        }
        let status = self.solver.solve(&self.problem);
        self.conclude(status);
        Ok(&self.solution)
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
        let n = self.limits.len();
        self.over.clear();
        self.over.resize(n, 0.0);
        for (i, &(lower, upper)) in self.limits.iter().enumerate() {
            self.over[i] = 1.0;
            let row = self.problem.levels()[0].len();
            let origin = Origin::Command(i);
            self.origins.push(Named { level: 0, row, origin, rounding: 0.0 });
            push(&mut self.problem, 0, &self.over, [lower, upper], 1.0)?;
            self.over[i] = 0.0;
        }
        let h = plant.step_length();
        for (joint, limits) in &self.joints {
            self.over.resize(plant.rates().len(), 0.0);
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
            self.response.over_commands(&self.over, &mut self.by_command);
            let (row, origin) = (self.problem.levels()[0].len(), Origin::Joint(*joint));
            let rounding = ROUNDING * (free.abs() + q.abs() / h);
            self.origins.push(Named { level: 0, row, origin, rounding });
            push(&mut self.problem, 0, &self.by_command, bounds, 1.0)?;
        }
        Ok(())
    }

    /// Tasks, from level 1 on; residuals hold what is asked for until there is an answer.
    fn ask<P: Kinematics>(&mut self, plant: &P, tasks: &[Task]) -> Result<(), ControlError> {
        let (n, h) = (plant.rates().len(), plant.step_length());
        for (task, t) in tasks.iter().enumerate() {
            self.rows.fill(plant, &t.goal, t.axes, &t.mask);
            for k in 0..self.rows.errors.len() {
                let (row, error) = (self.rows.numbers[k], self.rows.errors[k]);
                let over = &self.rows.rows[k * n..(k + 1) * n];
                let rate = dot(over, plant.rates());
                let target = rate + h * (t.stiffness * error - t.damping * rate);
                let open = target - dot(over, &self.response.free);
                self.response.over_commands(over, &mut self.by_command);
                let level = t.level + 1;
                let at = self.problem.levels()[level].len();
                let terms = sizes(over, plant.rates()) + sizes(over, &self.response.free);
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

    /// What the solver has found, in the words of tasks.
    fn conclude(&mut self, status: Status) {
        let Self { solver, problem, response, solution, origins, .. } = self;
        solution.finished = !matches!(status, Status::IterationLimit { .. });
        solution.commands.clear();
        solution.commands.extend_from_slice(solver.solution());
        let z = &solution.commands;
        solution.rates.clear();
        let gain = &response.gain;
        let rates = response.free.iter().enumerate().map(|(i, f)| f + dot(gain.row(i), z));
        solution.rates.extend(rates);
        solution.certificates.clear();
        solution.certificates.extend_from_slice(solver.certificates());
        solution.relaxed.clear();
        let mut residuals = solution.residuals.iter_mut();
        for &Named { level, row, origin, rounding } in origins.iter() {
            let rows = &problem.levels()[level];
            if matches!(origin, Origin::Task { .. })
                && let Some(r) = residuals.next()
            {
                r.by = dot(rows.row(row), z) - rows.bounds(row).0;
            }
            if let Some(by) = rows.relaxed(row, z).filter(|by| by.abs() > rounding) {
                solution.relaxed.push(Relaxed { origin, level, by });
            }
        }
        solution.relaxed.sort_unstable_by_key(|r| (r.level, r.origin));
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
