//! Model predictive control of a reduced system: the commands of the next steps that follow moving
//! poses best, within bounds, of which the first are given.
//!
//! Around the last plan, moved on by one step, the system is stepped and its steps are known to
//! first order; what commands cost is then a quadratic problem with bounds ([`BoxQp`]). Where one
//! linearisation is driven by servos the steps are affine and the problem is exact, its matrix the
//! same for ever; elsewhere (blends, forces on effectors) steps are taken to first order anew along
//! the plan, in every solve. What comes after the horizon costs what the Riccati equation says
//! about the system at rest.

use std::time::Instant;

use forks_rom::{
    EffectorLoad, EffectorState, ModelError, StepStatus, System,
    lie::Pose,
    linalg::{Matrix, axpy, dot},
};

use crate::{
    box_qp::{BoxQp, QpStatus},
    commands::{Commands, Moving},
    end::{Rest, after},
    goals::{Measure, error},
    horizon::{Condensed, Costs, Node},
    separable::SeparableQp,
    settings::{MpcError, MpcSettings, check},
    slopes::Slopes,
};

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
    /// Guesses of the quadratic problem; where it falls apart, of the part that needed most.
    pub pivots: usize,
    /// Commands at a bound, of all steps.
    pub at_bounds: usize,
    /// The first effector that leaves the model's range along the plan that was known before.
    pub out_of_range: Option<usize>,
}

/// Predicts and chooses commands.
#[derive(Clone, Debug)]
pub struct Mpc<S: System> {
    system: S,
    settings: MpcSettings,
    measure: Measure,
    costs: Costs,
    /// One node for all steps, or one each.
    nodes: Vec<Node>,
    condensed: Condensed,
    qp: SeparableQp,
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
        let qp = match constant {
            true => SeparableQp::new(&condensed.h)?,
            false => SeparableQp::whole(&condensed.h)?,
        };
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
        let status = self.qp.solve(&self.condensed.g, &memory.lower, &memory.upper, most, go_on);
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
