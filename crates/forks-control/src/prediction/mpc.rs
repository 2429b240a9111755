//! Model predictive control of a reduced system: the commands of the next steps that follow moving
//! poses best, within bounds, of which the first are given.
//!
//! Around the last plan, moved on by one step, the system is stepped and its steps are known to
//! first order; what commands cost is then a quadratic problem with bounds ([`BoxQp`]). Where one
//! linearisation is driven by servos the steps are affine and the problem is exact, its matrix the
//! same for ever; elsewhere (blends, forces on effectors) steps are taken to first order anew along
//! the plan, in every solve. What comes after the horizon costs what the Riccati equation says about
//! the system at rest.

use std::time::{Duration, Instant};

use forks_rom::{
    EffectorLoad, EffectorState, ModelError, StepStatus, System,
    lie::Pose,
    linalg::{Matrix, Pivots, axpy, dot},
};

use super::{
    box_qp::{BoxQp, QpError, QpStatus},
    commands::{Commands, Moving},
    goals::{Goal, Measure, error},
    horizon::{Condensed, Costs, Node},
    riccati::cost_to_go,
    slopes::Slopes,
};

/// What a prediction is for.
#[derive(Clone, Debug, PartialEq)]
pub struct MpcSettings {
    /// Steps of the horizon.
    pub horizon: usize,
    /// What may be commanded.
    pub commands: Commands,
    /// Bounds (lower, upper) of each command, infinite for none.
    pub bounds: Vec<(f64, f64)>,
    /// Which effectors follow poses.
    pub goals: Vec<Goal>,
    /// Cost of a command's distance from where it shall end, ½ effort d².
    pub effort: f64,
    /// Cost of a command's change from step to step, ½ change d².
    pub change: f64,
    /// Guesses of the quadratic problem at most.
    pub pivots: usize,
    /// Time after which no further guess is tried.
    pub budget: Option<Duration>,
}

/// Why there is no prediction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MpcError {
    /// The system refuses numbers.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A horizon without steps, or no guess allowed.
    #[error("{quantity} is 0")]
    Zero {
        /// Which.
        quantity: &'static str,
    },
    /// Nothing to command.
    #[error("there is nothing to command: the system has no servos and no effector takes forces")]
    NoCommands,
    /// Nothing to follow.
    #[error("no goal has a weight")]
    NoGoals,
    /// Bounds as many as commands.
    #[error("{found} bounds of commands, expected {expected}")]
    BoundCount {
        /// How many were given.
        found: usize,
        /// How many commands there are.
        expected: usize,
    },
    /// A bound that leaves nothing.
    #[error("bounds of command {command} are {lower} and {upper}")]
    Bounds {
        /// Which command.
        command: usize,
        /// Its bounds.
        lower: f64,
        /// Its bounds.
        upper: f64,
    },
    /// A weight that is negative or not a number; costs of commands must be above 0.
    #[error("{quantity} is {value}")]
    Weight {
        /// Which.
        quantity: &'static str,
        /// Its value.
        value: f64,
    },
    /// An effector that does not exist.
    #[error("effector {index} of {count}")]
    NoEffector {
        /// Its index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A base that floats: its pose is no coordinate that could be predicted to first order.
    #[error("the base floats")]
    FloatingBase,
    /// A pose to follow that is not finite.
    #[error("the pose of goal {goal} after step {step} is not finite")]
    Target {
        /// Which goal.
        goal: usize,
        /// After which step, from 1.
        step: usize,
    },
    /// Motions that do not die out and that no command stops.
    #[error("the system is not stable, and no command makes it so")]
    Unstable,
    /// Rounding leaves no single best plan.
    #[error(transparent)]
    Cost(#[from] QpError),
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum MpcStatus {
    /// The plan is the best one, of the problem to first order.
    Solved,
    /// Pivots or time ran out: the plan keeps the bounds and is not the best one.
    Cut,
    /// Predicted steps are not finite; the commands are those of the step before.
    NotFinite,
}

/// The outcome of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpcReport {
    /// How it ended.
    pub status: MpcStatus,
    /// Guesses of the quadratic problem.
    pub pivots: usize,
    /// Commands at a bound, of all steps.
    pub at_bounds: usize,
    /// The first effector that leaves the model's range along the plan that was known before.
    pub out_of_range: Option<usize>,
}

/// Predicts and chooses commands.
#[derive(Debug)]
pub struct Mpc<S: System> {
    system: S,
    settings: MpcSettings,
    measure: Measure,
    costs: Costs,
    /// One node for all steps, or one each.
    nodes: Vec<Node>,
    condensed: Condensed,
    qp: BoxQp,
    /// Finds where a set of poses is held: few variables.
    rest: BoxQp,
    rest_maps: Rest,
    slopes: Slopes<S>,
    moving: Moving<S>,
    effectors: Vec<EffectorState>,
    memory: Memory,
}

/// Vectors of a solve.
#[derive(Clone, Debug)]
struct Memory {
    /// Commands of all steps.
    plan: Vec<f64>,
    before: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Where commands end.
    wanted: Vec<f64>,
    /// x before each step and after the last.
    way: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    targets: Vec<Pose>,
    end: Vec<f64>,
    velocity: Vec<f64>,
    /// Of the search for the end: changes of x, of errors by commands, and bounds.
    moved: Vec<f64>,
    drift: Vec<f64>,
    still: Vec<f64>,
    slope: Vec<f64>,
    least: Vec<f64>,
    most: Vec<f64>,
}

/// Part of the largest cost that keeps a command in place which moves nothing.
const RIDGE: f64 = 1e-9;

impl<S: System> Mpc<S> {
    /// Prepares predictions of a system, whose step is that of the horizon and of commands.
    ///
    /// # Errors
    /// Settings out of range, a floating base, a system that nothing stabilises.
    pub fn new(system: S, settings: MpcSettings) -> Result<Self, MpcError> {
        check(&system, &settings)?;
        let (n, m) = (system.dof(), settings.commands.count(&system));
        let (steps, errors) = (settings.horizon, 6 * settings.goals.len());
        let constant = !system.varies() && settings.commands == Commands::Servos;
        let mut slopes = Slopes::new(&system, &settings.commands);
        let mut moving = Moving::new(&system);
        let mut first = Node::zeros(n, m, errors);
        let (x, u) = (vec![0.0; 2 * n], vec![0.0; m]);
        let (a, b) = (&mut first.a, &mut first.b);
        if !slopes.at(&system, &settings.commands, (&x, &u), &[], (a, b))? {
            return Err(ModelError::NotFinite { quantity: "step" }.into());
        }
        let measure = if constant { Measure::Chart } else { Measure::World };
        let count = system.data().effectors.len();
        let mut effectors = vec![EffectorState::new(n); count];
        moving.set(&system, &x)?;
        let _ = moving.step(&system, &settings.commands, &u)?;
        system.effectors(&moving.state, &moving.work, &x[n..], &mut effectors);
        let mut e = vec![0.0; errors];
        for (i, goal) in settings.goals.iter().enumerate() {
            let (at, target) = (&effectors[goal.effector], effectors[goal.effector].pose);
            let out = &mut e[6 * i..6 * i + 6];
            let slopes = Some((&mut first.c, 6 * i));
            error(&system, measure, goal, &target, (&x[..n], at), out, slopes);
        }
        let costs = Costs {
            change: vec![settings.change; m],
            effort: vec![settings.effort; m],
            terminal: after(&first, settings.effort, settings.change).ok_or(MpcError::Unstable)?,
        };
        let mut condensed = Condensed::new(n, m, steps, errors);
        condensed.build(steps, |_| &first, &costs);
        let qp = BoxQp::new(condensed.h.clone())?;
        let rest_maps = Rest::new(&first).ok_or(MpcError::Unstable)?;
        let rest = BoxQp::new(rest_maps.cost())?;
        let bound = |pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            let one: Vec<f64> = settings.bounds.iter().map(pick).collect();
            one.repeat(steps)
        };
        let memory = Memory {
            plan: vec![0.0; steps * m],
            before: vec![0.0; m],
            lower: bound(|b| b.0),
            upper: bound(|b| b.1),
            wanted: vec![0.0; m],
            way: vec![vec![0.0; 2 * n]; steps + 1],
            errors: vec![vec![0.0; errors]; steps],
            targets: vec![Pose::IDENTITY; steps * settings.goals.len()],
            end: vec![0.0; 2 * n + m],
            velocity: vec![0.0; n],
            moved: vec![0.0; 2 * n],
            drift: vec![0.0; 2 * n],
            still: vec![0.0; 2 * n],
            slope: vec![0.0; m],
            least: vec![0.0; m],
            most: vec![0.0; m],
        };
        let nodes = vec![first; if constant { 1 } else { steps }];
        Ok(Self {
            system,
            settings,
            measure,
            costs,
            nodes,
            condensed,
            qp,
            rest,
            rest_maps,
            slopes,
            moving,
            effectors,
            memory,
        })
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The settings.
    pub fn settings(&self) -> &MpcSettings {
        &self.settings
    }

    /// Commands of the next step.
    pub fn commands(&self) -> &[f64] {
        &self.memory.plan[..self.memory.before.len()]
    }

    /// Commands of all steps of the horizon.
    pub fn plan(&self) -> &[f64] {
        &self.memory.plan
    }

    /// The quadratic problem of the last solve around the plan before it: H and its solution, the
    /// change of the plan; with [`Mpc::slope`] and [`Mpc::step_bounds`] what another solver needs.
    pub fn problem(&self) -> (&Matrix, &[f64]) {
        (&self.condensed.h, self.qp.solution())
    }

    /// Derivative of the last solve's cost at the plan before it.
    pub fn slope(&self) -> &[f64] {
        &self.condensed.g
    }

    /// Bounds of the last solve's changes of the plan.
    pub fn step_bounds(&self) -> (&[f64], &[f64]) {
        (&self.memory.lower, &self.memory.upper)
    }

    /// Chooses commands from a state on, x = (coordinates, velocities), under loads that stay.
    /// `target(k, g)` is the pose of goal g after step k, from 1 to the horizon. Allocates nothing
    /// where one linearisation is driven by servos.
    ///
    /// # Errors
    /// Numbers that are not finite, sizes that do not fit.
    pub fn solve(
        &mut self,
        (coordinates, velocity): (&[f64], &[f64]),
        loads: &[EffectorLoad],
        target: impl Fn(usize, usize) -> Pose,
    ) -> Result<MpcReport, MpcError> {
        let begin = Instant::now();
        self.take_targets(target)?;
        let n = self.system.dof();
        for (quantity, numbers) in [("coordinates", coordinates), ("velocities", velocity)] {
            if numbers.len() != n {
                let (found, expected) = (numbers.len(), n);
                return Err(ModelError::WrongSize { quantity, found, expected }.into());
            }
        }
        self.memory.way[0][..n].copy_from_slice(coordinates);
        self.memory.way[0][n..].copy_from_slice(velocity);
        self.move_on();
        let mut out_of_range = None;
        if !self.follow(loads, &mut out_of_range)? || !self.look_around(loads)? {
            let (m, before) = (self.memory.before.len(), self.memory.before.clone());
            self.memory.plan.chunks_exact_mut(m).for_each(|u| u.copy_from_slice(&before));
            let status = MpcStatus::NotFinite;
            return Ok(MpcReport { status, pivots: 0, at_bounds: 0, out_of_range });
        }
        self.find_end()?;
        let (nodes, memory) = (&self.nodes, &self.memory);
        let node = |k: usize| &nodes[k.min(nodes.len() - 1)];
        let parts = (&memory.plan[..], &memory.wanted[..], &memory.before[..], &memory.end[..]);
        let errors = |k: usize| &memory.errors[k][..];
        self.condensed.slope(self.settings.horizon, node, &self.costs, errors, parts);
        let status = self.choose(begin);
        Ok(MpcReport {
            status,
            pivots: self.qp.pivots(),
            at_bounds: self.qp.active_count(),
            out_of_range,
        })
    }

    fn take_targets(&mut self, target: impl Fn(usize, usize) -> Pose) -> Result<(), MpcError> {
        let count = self.settings.goals.len();
        for (i, pose) in self.memory.targets.iter_mut().enumerate() {
            let (step, goal) = (i / count + 1, i % count);
            *pose = target(step, goal);
            if !pose.is_finite() {
                return Err(MpcError::Target { goal, step });
            }
        }
        Ok(())
    }

    /// The plan begins one step later; its last commands are repeated.
    fn move_on(&mut self) {
        let m = self.memory.before.len();
        self.memory.before.copy_from_slice(&self.memory.plan[..m]);
        self.memory.plan.copy_within(m.., 0);
        self.qp.shift(m);
    }

    /// Steps along the plan: where it leads, and the errors there. False if numbers are not finite.
    fn follow(
        &mut self,
        loads: &[EffectorLoad],
        out_of_range: &mut Option<usize>,
    ) -> Result<bool, MpcError> {
        let (n, m) = (self.system.dof(), self.memory.before.len());
        let (memory, count) = (&mut self.memory, self.settings.goals.len());
        self.moving.take_loads(loads);
        self.moving.set(&self.system, &memory.way[0])?;
        for k in 0..self.settings.horizon {
            let u = &memory.plan[k * m..(k + 1) * m];
            match self.moving.step(&self.system, &self.settings.commands, u)? {
                StepStatus::NotFinite => return Ok(false),
                StepStatus::OutOfRange { effector } => _ = out_of_range.get_or_insert(effector),
                _ => {}
            }
            self.moving.read(&self.system, &mut memory.way[k + 1]);
            let x = &memory.way[k + 1];
            if self.measure == Measure::World {
                memory.velocity.copy_from_slice(&x[n..]);
                let (state, work) = (&self.moving.state, &self.moving.work);
                self.system.effectors(state, work, &memory.velocity, &mut self.effectors);
            }
            let several = self.measure == Measure::World;
            for (i, goal) in self.settings.goals.iter().enumerate() {
                let target = &memory.targets[k * count + i];
                let out = &mut memory.errors[k][6 * i..6 * i + 6];
                let slopes = if several { Some((&mut self.nodes[k].c, 6 * i)) } else { None };
                let at = &self.effectors[goal.effector];
                error(&self.system, self.measure, goal, target, (&x[..n], at), out, slopes);
            }
        }
        Ok(memory.way.iter().flatten().all(|x| x.is_finite()))
    }

    /// Steps to first order along the plan, where they are not the same everywhere.
    fn look_around(&mut self, loads: &[EffectorLoad]) -> Result<bool, MpcError> {
        if self.measure == Measure::Chart {
            return Ok(true);
        }
        let m = self.memory.before.len();
        for (k, node) in self.nodes.iter_mut().enumerate() {
            let at = (&self.memory.way[k][..], &self.memory.plan[k * m..(k + 1) * m]);
            let out = (&mut node.a, &mut node.b);
            if !self.slopes.at(&self.system, &self.settings.commands, at, loads, out)? {
                return Ok(false);
            }
        }
        let nodes = &self.nodes;
        self.condensed.build(self.settings.horizon, |k| &nodes[k], &self.costs);
        self.qp.replace(&self.condensed.h)?;
        Ok(true)
    }

    /// Where the last target is held, from the last step to first order; z relative to it.
    fn find_end(&mut self) -> Result<(), MpcError> {
        let (n, m, steps) = (self.system.dof(), self.memory.before.len(), self.settings.horizon);
        let last = &self.nodes[self.nodes.len() - 1];
        if self.measure == Measure::World {
            self.rest_maps = Rest::new(last).ok_or(MpcError::Unstable)?;
            self.rest.replace(&self.rest_maps.cost())?;
        }
        let (memory, maps) = (&mut self.memory, &self.rest_maps);
        // What another step changes there at the last commands: x⁺ − x to first order.
        let (from, to) = (&memory.way[steps - 1], &memory.way[steps]);
        for (d, (a, b)) in memory.moved.iter_mut().zip(to.iter().zip(from)) {
            *d = a - b;
        }
        product(&last.a, &memory.moved, &mut memory.drift);
        product(&maps.inverse, &memory.drift, &mut memory.still);
        let e = &memory.errors[steps - 1];
        memory.slope.fill(0.0);
        for i in 0..e.len() {
            let left = e[i] + dot(last.c.row(i), &memory.still[..n]);
            axpy(left, maps.seen.row(i), &mut memory.slope);
        }
        let u = &memory.plan[(steps - 1) * m..];
        for (s, (lower, upper)) in self.settings.bounds.iter().enumerate() {
            (memory.least[s], memory.most[s]) = (lower - u[s], upper - u[s]);
        }
        let (lower, upper) = (&memory.least, &memory.most);
        let most = 4 * m + 8;
        if self.rest.solve(&memory.slope, lower, upper, most, || true) == QpStatus::Refused {
            return Err(ModelError::NotFinite { quantity: "commands" }.into());
        }
        let change = self.rest.solution();
        product(&maps.moved, change, &mut memory.drift);
        for i in 0..2 * n {
            memory.end[i] = -(memory.still[i] + memory.drift[i]);
        }
        for s in 0..m {
            memory.wanted[s] = u[s] + change[s];
            memory.end[2 * n + s] = -change[s];
        }
        Ok(())
    }

    /// The change of the plan.
    fn choose(&mut self, begin: Instant) -> MpcStatus {
        let m = self.memory.before.len();
        let memory = &mut self.memory;
        for (i, u) in memory.plan.iter().enumerate() {
            let (lower, upper) = self.settings.bounds[i % m];
            (memory.lower[i], memory.upper[i]) = (lower - u, upper - u);
        }
        let budget = self.settings.budget;
        let go_on = || budget.is_none_or(|b| begin.elapsed() < b);
        let most = self.settings.pivots;
        let status =
            self.qp.solve(&self.condensed.g, &memory.lower, &memory.upper, most, go_on);
        if status == QpStatus::Refused {
            let before = memory.before.clone();
            memory.plan.chunks_exact_mut(m).for_each(|u| u.copy_from_slice(&before));
            return MpcStatus::NotFinite;
        }
        for (i, (u, d)) in memory.plan.iter_mut().zip(self.qp.solution()).enumerate() {
            // Rounding leaves no bound.
            let (lower, upper) = self.settings.bounds[i % m];
            *u = (*u + d).clamp(lower, upper);
        }
        match status {
            QpStatus::Solved => MpcStatus::Solved,
            _ => MpcStatus::Cut,
        }
    }
}

/// A x.
fn product(a: &Matrix, x: &[f64], out: &mut [f64]) {
    out.iter_mut().enumerate().for_each(|(i, y)| *y = dot(a.row(i), x));
}

/// Where steps end that are repeated with the same commands.
#[derive(Debug)]
struct Rest {
    /// (1 − A)⁻¹.
    inverse: Matrix,
    /// (1 − A)⁻¹B.
    moved: Matrix,
    /// C of it.
    seen: Matrix,
}

impl Rest {
    fn new(node: &Node) -> Option<Self> {
        let (count, n) = (node.a.rows(), node.c.columns());
        let one = Matrix::identity(count);
        let inverse = one.plus_scaled(-1.0, &node.a).solve(&one, Pivots::AboveZero)?;
        let moved = inverse.mul(&node.b);
        let seen = node.c.mul(&moved.block(0, 0, n, moved.columns()));
        seen.is_finite().then_some(Self { inverse, moved, seen })
    }

    /// The second derivative of the errors at rest by the commands.
    fn cost(&self) -> Matrix {
        let cost = self.seen.transpose_mul(&self.seen);
        let ridge = RIDGE * cost.max_abs().max(f64::MIN_POSITIVE);
        let m = cost.rows();
        Matrix::from_fn(m, m, |i, j| cost[(i, j)] + if i == j { ridge } else { 0.0 })
    }
}

/// P: what follows the horizon costs, as a function of z = (x, u) there.
fn after(node: &Node, effort: f64, change: f64) -> Option<Matrix> {
    let (x, m, n) = (node.a.rows(), node.b.columns(), node.c.columns());
    // z⁺ = (A x + B u⁺, u⁺), u⁺ = u + Δ.
    let a = Matrix::from_fn(x + m, x + m, |i, j| match (i < x, j < x) {
        (true, true) => node.a[(i, j)],
        (true, false) => node.b[(i, j - x)],
        (false, true) => 0.0,
        (false, false) => f64::from(i == j),
    });
    let b = Matrix::from_fn(x + m, m, |i, s| match i < x {
        true => node.b[(i, s)],
        false => f64::from(i == x + s),
    });
    let seen = node.c.transpose_mul(&node.c);
    let q = Matrix::from_fn(x + m, x + m, |i, j| match () {
        () if i < n && j < n => seen[(i, j)],
        () if i >= x && i == j => effort,
        () => 0.0,
    });
    let r = Matrix::from_fn(m, m, |i, j| if i == j { change } else { 0.0 });
    // What z itself costs is counted in the horizon.
    Some(cost_to_go(&a, &b, &q, &r)?.sub(&q))
}

fn check<S: System>(system: &S, s: &MpcSettings) -> Result<(), MpcError> {
    if system.data().base.is_some() || system.coordinate_count() != system.dof() {
        return Err(MpcError::FloatingBase);
    }
    for (quantity, number) in [("the horizon", s.horizon), ("the number of pivots", s.pivots)] {
        if number == 0 {
            return Err(MpcError::Zero { quantity });
        }
    }
    let count = system.data().effectors.len();
    let forced = match &s.commands {
        Commands::Forces(effectors) => &effectors[..],
        Commands::Servos => &[],
    };
    let named = s.goals.iter().map(|g| g.effector).chain(forced.iter().copied());
    for index in named {
        if index >= count {
            return Err(MpcError::NoEffector { index, count });
        }
    }
    let expected = s.commands.count(system);
    if expected == 0 {
        return Err(MpcError::NoCommands);
    }
    if s.bounds.len() != expected {
        return Err(MpcError::BoundCount { found: s.bounds.len(), expected });
    }
    for (command, &(lower, upper)) in s.bounds.iter().enumerate() {
        if !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY) {
            return Err(MpcError::Bounds { command, lower, upper });
        }
    }
    let weights = s.goals.iter().flat_map(|g| [g.position, g.orientation]);
    if let Some(value) = weights.clone().find(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(MpcError::Weight { quantity: "the weight of a goal", value });
    }
    if weights.fold(0.0, f64::max) == 0.0 {
        return Err(MpcError::NoGoals);
    }
    for (quantity, value) in [("effort", s.effort), ("change", s.change)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(MpcError::Weight { quantity, value });
        }
    }
    Ok(())
}
