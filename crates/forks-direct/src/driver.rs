//! A mechanism that tasks and keyframes drive.

use forks_control::{
    controller::{Controller, Origin, Relaxed, Solution, Touch},
    limits::CoordinateLimits,
    task::{Frame, Goal, Task},
};
use forks_mechanism::{LinkId, Mechanism};
use forks_rom::EffectorLoad;
use forks_sim::{
    MechanismHandle, World,
    scene::{Scene, SceneMechanism},
};

use crate::{
    aim::Aim,
    commands::{commands, objective, priorities},
    curve::aimed,
    error::{DirectError, invalid},
    keys::Keys,
    near::unknown,
    plant::{Drive, Fault, WorldPlant},
    resolve::{Effectors, Names, single_joints, unit},
    spec::{ContactSpec, ControlSpec, TaskTable},
    touches::{loads, touches},
    watch::{Mark, Watched, norm},
};

/// Rounds in which commands are corrected by what contact makes of them.
const ROUNDS: usize = 5;

/// A change of rates by contact, over the rates, that is small.
const SETTLED: f64 = 1e-9;

/// Drives a mechanism.
#[derive(Clone, Debug)]
pub(crate) struct Driver {
    pub(crate) mechanism: MechanismHandle,
    pub(crate) name: String,
    aims: Vec<Aim>,
    keys: Vec<Keys>,
    drives: Vec<Drive>,
    names: Vec<String>,
    controller: Controller,
    contact: ContactSpec,
    stands: Vec<usize>,
    /// Of the effectors.
    frames: Vec<Frame>,
    relaxed: Watched,
    planned: Vec<f64>,
    /// That rates are the same numbers before and after a step: those of mechanisms with loops are
    /// others at every pose.
    comparable: bool,
    /// Rates that were not as planned, largest of a step.
    missed: Watched,
    /// Steps with rows that gave way, or found within a limit of iterations.
    pub(crate) relaxed_steps: u64,
    pub(crate) unfinished: u64,
    pub(crate) first_relaxed: Option<(f64, String)>,
    commands: Vec<f64>,
    /// Of all servos, as actions have them.
    targets: Vec<f64>,
    begun: bool,
}

impl Driver {
    pub(crate) fn new(
        scene: &mut Scene,
        (mechanism, m): (MechanismHandle, &SceneMechanism),
        spec: &ControlSpec,
        tasks: &[(usize, &TaskTable)],
        keys: Vec<Keys>,
    ) -> Result<Self, DirectError> {
        let element = format!("control of {:?}", m.name);
        let frames = match scene.world.full(mechanism)? {
            Some(full) => full.effectors.iter().map(WorldPlant::frame_of).collect(),
            None => (0..m.effectors.len()).map(|e| Frame::of(LinkId::new(e))).collect(),
        };
        let (drives, names, largest) = commands(spec, m, scene, mechanism, &element)?;
        let mut controller = Controller::new(largest.iter().map(|l| (-l, *l)).collect())
            .minimise(objective(spec.minimise))
            .prioritise(priorities(spec.priorities));
        let effectors = Effectors(m.effectors.clone());
        let solver = scene.world.full_solver(mechanism)?.map(|s| s.mechanism().clone());
        let known: &dyn Names = match &solver {
            Some(solver) => &**solver,
            None => &effectors,
        };
        if let Some(acceleration) = spec.joint_limits {
            let of = known.mechanism().ok_or_else(|| {
                invalid(&element, "has joint_limits, but a reduced model knows no joints")
            })?;
            let limited = single_joints(of)
                .filter_map(|j| Some((j, of.joint(j).limits.first().copied().flatten()?)));
            for (joint, position) in limited {
                let (position, velocity) = (Some(position), f64::INFINITY);
                let limits = CoordinateLimits { position, velocity, acceleration };
                controller = controller.limit_joint(joint, limits);
            }
        }
        let comparable = solver
            .as_ref()
            .is_none_or(|m| m.forest().closures().is_empty() && m.couplings().is_empty());
        let plant = WorldPlant::new(&mut scene.world, mechanism, &drives, &[])
            .map_err(|e| fault(&m.name, e))?;
        let mut aims = Vec::new();
        for (number, table) in tasks {
            aims.push(Aim::new(table, *number, known, &plant)?);
        }
        let stands = match &spec.stands {
            None => (0..m.effectors.len()).collect(),
            Some(names) => {
                let find = |n: &String| {
                    m.effectors.iter().position(|e| e == n).ok_or_else(|| {
                        let known = m.effectors.iter().map(String::as_str);
                        invalid(
                            &element,
                            format!("stands on {n:?}: {}", unknown("effector", n, known)),
                        )
                    })
                };
                names.iter().map(find).collect::<Result<_, _>>()?
            }
        };
        Ok(Self {
            mechanism,
            name: m.name.clone(),
            aims,
            keys,
            commands: vec![0.0; drives.len()],
            drives,
            names,
            controller,
            contact: spec.contact,
            stands,
            frames,
            relaxed: Watched::new("rows that give way", ""),
            planned: Vec::new(),
            comparable,
            missed: Watched::new("rates beside the plan", ""),
            relaxed_steps: 0,
            unfinished: 0,
            first_relaxed: None,
            targets: plant.targets,
            begun: false,
        })
    }

    /// Chooses the commands of the next step and gives them to the world.
    pub(crate) fn act(&mut self, scene: &mut Scene) -> Result<(), DirectError> {
        // Contacts are known after a step only.
        let ahead = (!self.begun && self.contact == ContactSpec::Aware).then(|| {
            let mut ahead = scene.world.clone();
            let _ = ahead.step();
            ahead
        });
        self.begun = true;
        let stands: &[usize] = match self.contact {
            ContactSpec::Aware => &self.stands,
            _ => &[],
        };
        let contacts = ahead.as_ref().unwrap_or(&scene.world);
        let loads = match self.contact {
            ContactSpec::After | ContactSpec::Ignored => vec![],
            _ => loads(contacts, self.mechanism, stands),
        };
        let touches = touches(contacts, self.mechanism, stands, &self.frames);
        let solution = self.solve(scene, &loads, &touches)?;
        self.planned.clone_from(&solution.rates);
        self.commands.clone_from(&solution.commands);
        if self.contact == ContactSpec::After {
            self.correct(scene)?;
        }
        self.give(&mut scene.world)
    }

    fn solve(
        &mut self,
        scene: &mut Scene,
        loads: &[EffectorLoad],
        touches: &[Touch],
    ) -> Result<Solution, DirectError> {
        let (t, h) = (scene.world.time(), scene.world.settings().step);
        let mut plant = WorldPlant::new(&mut scene.world, self.mechanism, &self.drives, loads)
            .map_err(|e| fault(&self.name, e))?;
        self.targets.clone_from(&plant.targets);
        let mut tasks = Vec::new();
        let mut of = Vec::new();
        for (k, aim) in self.aims.iter().enumerate().filter(|(_, a)| a.from <= t && t < a.until) {
            let at = aim.at(t);
            tasks.push(Task {
                goal: aimed(&aim.task.goal, &at),
                moving: at.moving,
                ..aim.task.clone()
            });
            of.push(k);
        }
        let solver = scene.world.full_solver(self.mechanism)?.map(|s| s.mechanism().clone());
        let forces = matches!(self.drives.first(), Some(Drive::Force(_)));
        for keys in self.keys.iter_mut().filter(|k| forces && k.is_on(t)) {
            tasks.push(keys.task(t, h));
            of.push(usize::MAX);
        }
        let mut free = Solution { finished: true, ..Solution::default() };
        free.commands.resize(self.drives.len(), 0.0);
        if tasks.is_empty() {
            self.follow(t + h, &mut free);
            return Ok(free);
        }
        let solved = self.controller.solve_touching(&mut plant, &tasks, touches);
        let solution = solved
            .map_err(|source| DirectError::Control { mechanism: self.name.clone(), source })?
            .clone();
        self.see(t, &solution, &tasks, &of, solver.as_deref());
        let mut solution = solution;
        self.follow(t + h, &mut solution);
        Ok(solution)
    }

    /// Targets of servos that follow keyframes.
    fn follow(&mut self, t: f64, solution: &mut Solution) {
        for keys in &mut self.keys {
            keys.lead(t, &self.drives, &mut solution.commands);
        }
    }

    /// Watches what was found.
    fn see(&mut self, t: f64, s: &Solution, tasks: &[Task], of: &[usize], m: Option<&Mechanism>) {
        for (task, (t, &k)) in tasks.iter().zip(of).enumerate() {
            let Some(aim) = self.aims.get_mut(k) else { continue };
            for w in &mut aim.watched {
                let rows = s.residuals.iter().filter(|r| r.task == task);
                let rows = rows.filter(|r| unit(m, t, r.row) == w.unit);
                w.see(norm(rows.map(|r| r.error)));
            }
        }
        self.relaxed.see(s.relaxed.len() as f64);
        self.unfinished += u64::from(!s.finished);
        if let Some(r) = s.relaxed.first() {
            self.relaxed_steps += 1;
            if self.first_relaxed.is_none() {
                self.first_relaxed = Some((t, self.said(r, of)));
            }
        }
    }

    /// A row that gives way, in words.
    fn said(&self, r: &Relaxed, of: &[usize]) -> String {
        let by = r.by;
        match r.origin {
            Origin::Command(i) => {
                format!("the command of {} is beyond its limit by {by:.3e}", self.names[i])
            }
            Origin::Joint(j) => format!("the range of joint {} by {by:.3e}", j.index()),
            Origin::Force { touch } => format!("the force of touch {touch} by {by:.3e} N"),
            Origin::Touch { touch, .. } => format!("touch {touch} moves by {by:.3e} m/s"),
            Origin::Task { task, row } => match of.get(task).and_then(|k| self.aims.get(*k)) {
                Some(a) => format!(
                    "row {} of task {:?} (level {}) ends {by:.3e} beyond what it asks for",
                    a.rows.get(row).map_or("?", String::as_str),
                    a.task.name,
                    a.task.level
                ),
                None => format!("row {row} of keyframes ends {by:.3e} beyond what it asks for"),
            },
            _ => String::new(),
        }
    }

    /// Corrects commands by what contact makes of them.
    fn correct(&mut self, scene: &mut Scene) -> Result<(), DirectError> {
        for _ in 0..ROUNDS {
            let mut ahead = scene.world.clone();
            self.give(&mut ahead)?;
            let _ = ahead.step();
            let loads = loads(&ahead, self.mechanism, &[]);
            let before = self.commands.clone();
            let solution = self.solve(scene, &loads, &[])?;
            self.planned.clone_from(&solution.rates);
            self.commands.clone_from(&solution.commands);
            let change = norm(self.commands.iter().zip(&before).map(|(a, b)| a - b));
            if change <= SETTLED * norm(before.iter().copied()) {
                break;
            }
        }
        Ok(())
    }

    fn give(&mut self, world: &mut World) -> Result<(), DirectError> {
        let mut targets = self.targets.clone();
        let solver = world.full_solver(self.mechanism)?;
        let count = solver.map_or(0, |s| s.mechanism().velocity_count());
        let mut forces = vec![0.0; count];
        for (d, z) in self.drives.iter().zip(&self.commands) {
            match d {
                Drive::Force(c) => forces[*c] = *z,
                Drive::Servo(k) => targets[*k] = *z,
            }
        }
        if self.drives.iter().any(|d| matches!(d, Drive::Servo(_))) {
            world.set_servo_targets(self.mechanism, &targets)?;
        }
        if count > 0 && self.drives.iter().any(|d| matches!(d, Drive::Force(_))) {
            world.set_joint_forces(self.mechanism, &forces)?;
        }
        Ok(())
    }

    /// After the world's step: what came of the plan.
    pub(crate) fn after(&mut self, world: &World) -> Result<(), DirectError> {
        let rates = world.velocities(self.mechanism)?;
        if self.comparable && rates.len() == self.planned.len() {
            let apart = rates.iter().zip(&self.planned).map(|(a, b)| (a - b).abs());
            self.missed.see(apart.fold(0.0, f64::max));
        }
        Ok(())
    }

    /// Numbers to show.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &Watched> {
        let errors = self.aims.iter().flat_map(|a| &a.watched);
        let missed = self.comparable.then_some(&self.missed);
        errors.chain([&self.relaxed]).chain(missed)
    }

    /// Places to show.
    pub(crate) fn marks(&self, t: f64) -> Vec<Mark> {
        let placed = |a: &&Aim| {
            matches!(a.task.goal, Goal::Position(..) | Goal::Pose(..) | Goal::CentreOfMass(_))
        };
        let mark = |a: &Aim| Mark { name: a.task.name.clone(), place: a.at(t).pose.translation };
        self.aims.iter().filter(placed).map(mark).collect()
    }
}

pub(crate) fn fault(mechanism: &str, e: Fault) -> DirectError {
    match e {
        Fault::World(e) => e.into(),
        Fault::Plant(e) => DirectError::Control { mechanism: mechanism.into(), source: e.into() },
    }
}
