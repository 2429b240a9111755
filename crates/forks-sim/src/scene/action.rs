//! What servos and forces do in a step.

use forks_lie::{Wrench, glam::DVec3};
use forks_rom::LoadFrame;

use super::{
    Scene, Schedule,
    error::{SceneError, invalid},
    mechanism::meant,
    script::LARGEST,
    spec::ActionSpec,
};
use crate::{BodyHandle, MechanismHandle, SimError, World};

/// A schedule and what it drives.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) schedule: Schedule,
    pub(super) drives: Drives,
}

/// What a value drives.
#[derive(Clone, Debug)]
pub(super) enum Drives {
    /// Targets of servos, by number, times a weight.
    Servos { mechanism: usize, servos: Vec<(usize, f64)> },
    /// A force at the centre of mass of a body.
    Body { body: BodyHandle, direction: DVec3 },
    /// A force at the origin of an effector.
    Effector { mechanism: MechanismHandle, effector: usize, direction: DVec3 },
}

/// All that servos and forces do.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) actions: Vec<Action>,
    /// Servo targets of each mechanism, as far as they do not change.
    steady: Vec<Vec<f64>>,
    /// Numbers of the actions that change others.
    changing: Vec<usize>,
    /// Numbers of the actions that load the same thing, for every such thing.
    loads: Vec<Vec<usize>>,
    /// Servo targets of each mechanism now.
    targets: Vec<Vec<f64>>,
}

impl Script {
    /// Another mechanism.
    pub(super) fn add_mechanism(&mut self, servos: usize) {
        self.steady.push(vec![0.0; servos]);
        self.targets.push(vec![0.0; servos]);
    }

    /// Another action on what is known by now.
    pub(super) fn add(&mut self, action: Action) {
        let number = self.actions.len();
        if let Drives::Servos { .. } = action.drives {
            match action.schedule.constant() {
                Some(value) => action.add_to(&mut self.steady, value),
                None => self.changing.push(number),
            }
        } else {
            let same = |load: &&mut Vec<usize>| self.actions[load[0]].same_load(&action);
            match self.loads.iter_mut().find(same) {
                Some(load) => load.push(number),
                None => self.loads.push(vec![number]),
            }
        }
        self.actions.push(action);
    }

    /// Servo targets of each mechanism at a time.
    pub(super) fn targets(&mut self, t: f64) -> &[Vec<f64>] {
        for (targets, steady) in self.targets.iter_mut().zip(&self.steady) {
            targets.copy_from_slice(steady);
        }
        for &k in &self.changing {
            let value = self.actions[k].schedule.value(t);
            if value != 0.0 {
                self.actions[k].add_to(&mut self.targets, value);
            }
        }
        &self.targets
    }

    /// Servo targets and forces at a world's time, into that world.
    ///
    /// # Errors
    /// A world of other bodies and mechanisms.
    pub fn act(&mut self, world: &mut World) -> Result<(), SimError> {
        let t = world.time();
        for (k, targets) in self.targets(t).iter().enumerate() {
            if !targets.is_empty() {
                world.set_servo_targets(MechanismHandle(k), targets)?;
            }
        }
        self.loads.iter().try_for_each(|load| self.apply_force(load, t, world))
    }

    /// The sum of the forces of actions that load the same thing, into the world.
    fn apply_force(&self, load: &[usize], t: f64, world: &mut World) -> Result<(), SimError> {
        let sum: DVec3 = load.iter().map(|k| self.actions[*k].force(t)).sum();
        let wrench = Wrench::new(sum, DVec3::ZERO);
        match self.actions[load[0]].drives {
            Drives::Servos { .. } => Ok(()),
            Drives::Body { body, .. } => world.set_body_load(body, wrench),
            Drives::Effector { mechanism, effector, .. } => {
                world.set_effector_load(mechanism, effector, wrench, LoadFrame::World)
            }
        }
    }
}

impl Action {
    /// Adds a value of its schedule to servo targets.
    fn add_to(&self, targets: &mut [Vec<f64>], value: f64) {
        if let Drives::Servos { mechanism, servos } = &self.drives {
            let targets = &mut targets[*mechanism];
            servos.iter().for_each(|&(k, w)| targets[k] += w * value);
        }
    }

    fn same_load(&self, other: &Self) -> bool {
        match (&self.drives, &other.drives) {
            (Drives::Body { body: a, .. }, Drives::Body { body: b, .. }) => a == b,
            (
                Drives::Effector { mechanism: a, effector: i, .. },
                Drives::Effector { mechanism: b, effector: j, .. },
            ) => a == b && i == j,
            _ => false,
        }
    }

    fn force(&self, t: f64) -> DVec3 {
        match self.drives {
            Drives::Servos { .. } => DVec3::ZERO,
            Drives::Body { direction, .. } | Drives::Effector { direction, .. } => {
                direction * self.schedule.value(t)
            }
        }
    }

    /// Finds what an action of the file is about.
    pub(super) fn new(spec: &ActionSpec, number: usize, scene: &Scene) -> Result<Self, SceneError> {
        let element = format!("action {}", number + 1);
        let schedule = Schedule::new(&spec.times, &spec.values, spec.wave.clone())
            .map_err(|problem| invalid(&element, problem))?;
        let direction = spec.direction.map(DVec3::from_array);
        let mechanism = match &spec.mechanism {
            Some(name) => Some(scene.mechanism(name).ok_or_else(|| {
                invalid(&element, format!("names the mechanism {name:?}, which is not there"))
            })?),
            None => None,
        };
        let drives = match (mechanism, &spec.body, &spec.effector, direction) {
            (Some(m), None, None, None) if !spec.servos.is_empty() => {
                let servos = servos(spec, scene, m, &element)?;
                Drives::Servos { mechanism: m.0, servos }
            }
            (None, Some(name), None, Some(direction)) => {
                let body = scene.body(name).ok_or_else(|| {
                    invalid(&element, format!("names the body {name:?}, which is not there"))
                })?;
                Drives::Body { body, direction }
            }
            (Some(mechanism), None, Some(name), Some(direction)) => {
                let found = scene.mechanisms[mechanism.0].effectors.iter().position(|e| e == name);
                let effector = found.ok_or_else(|| {
                    invalid(&element, format!("names the effector {name:?}, which is not there"))
                })?;
                Drives::Effector { mechanism, effector, direction }
            }
            _ => {
                let problem = "needs mechanism and servos, body and direction, or mechanism, \
                               effector and direction";
                return Err(invalid(element, problem));
            }
        };
        let beyond = |d: DVec3| d.to_array().iter().any(|x| x.is_nan() || x.abs() > LARGEST);
        if direction.is_some_and(beyond) {
            return Err(invalid(element, "has a direction that is not finite or beyond 1e150"));
        }
        Ok(Self { schedule, drives })
    }
}

/// Numbers of the servos that an action names, with their weights.
fn servos(
    spec: &ActionSpec,
    scene: &Scene,
    m: MechanismHandle,
    element: &str,
) -> Result<Vec<(usize, f64)>, SceneError> {
    let known = scene.mechanisms[m.0].mechanism.servos();
    let mut out = Vec::new();
    let ones = vec![1.0; spec.servos.len()];
    let weights = spec.weights.as_ref().unwrap_or(&ones);
    if weights.len() != spec.servos.len() || weights.iter().any(|w| w.is_nan() || w.abs() > LARGEST)
    {
        return Err(invalid(element, "needs one weight, at most 1e150, per entry of `servos`"));
    }
    for (pattern, &weight) in spec.servos.iter().zip(weights) {
        let before = out.len();
        let named = (0..known.len()).filter(|&k| meant(pattern, &known[k].name));
        out.extend(named.map(|k| (k, weight)));
        if out.len() == before {
            let names: Vec<&str> = known.iter().map(|s| s.name.as_str()).collect();
            let problem = format!("names the servo {pattern:?}; there are {}", names.join(", "));
            return Err(invalid(element, problem));
        }
    }
    Ok(out)
}
