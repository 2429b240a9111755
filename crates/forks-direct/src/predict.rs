//! A mechanism whose servos, or forces on whose effectors, are found by prediction.

use std::{path::Path, sync::Arc, time::Duration};

use forks_blend::{BlendedModel, BlendedStepper};
use forks_mechanism::{
    lie::{Pose, Wrench, glam::DVec3, so3::log_rotation},
    linalg::{Matrix, dense::min_norm_solve},
};
use forks_mpc::{Commands, Goal, Mpc, MpcError, MpcSettings, MpcStatus, set_point};
use forks_rom::{EffectorLoad, LoadFrame, Stepper, System};
use forks_sim::{
    MechanismHandle, World,
    scene::{Scene, SceneMechanism, spec::MechanismSpec},
};

use crate::{
    curve::Curve,
    error::{DirectError, invalid},
    near::unknown,
    spec::{MpcKind, MpcSpec},
    touches::loads,
    watch::{Mark, Watched},
};

/// What a decision came to.
#[derive(Clone, Copy, Debug, Default)]
struct Decision {
    at_bounds: usize,
    cut: bool,
}

/// Poses of goals after so many steps: step, goal.
type Targets<'a> = &'a dyn Fn(usize, usize) -> Pose;

/// Decides on commands from coordinates and velocities, under loads that stay.
trait Decide: core::fmt::Debug + Send {
    fn duplicate(&self) -> Box<dyn Decide>;

    fn decide(
        &mut self,
        state: (&[f64], &[f64]),
        loads: &[EffectorLoad],
        targets: Targets<'_>,
        commands: &mut Vec<f64>,
    ) -> Result<Decision, MpcError>;
}

impl Clone for Box<dyn Decide> {
    fn clone(&self) -> Self {
        (**self).duplicate()
    }
}

impl<S: System + 'static> Decide for Mpc<S> {
    fn duplicate(&self) -> Box<dyn Decide> {
        Box::new(self.clone())
    }

    fn decide(
        &mut self,
        state: (&[f64], &[f64]),
        loads: &[EffectorLoad],
        targets: Targets<'_>,
        commands: &mut Vec<f64>,
    ) -> Result<Decision, MpcError> {
        let report = self.solve(state, loads, targets)?;
        commands.clear();
        commands.extend_from_slice(self.commands());
        Ok(Decision { at_bounds: report.at_bounds, cut: report.status != MpcStatus::Solved })
    }
}

/// Commands under which effectors rest.
#[derive(Clone, Debug)]
struct SetPoints<S: System> {
    system: S,
    commands: Commands,
    goals: Vec<Goal>,
    bounds: Vec<(f64, f64)>,
    last: Vec<f64>,
}

impl<S: System + 'static> Decide for SetPoints<S> {
    fn duplicate(&self) -> Box<dyn Decide> {
        Box::new(self.clone())
    }

    fn decide(
        &mut self,
        _state: (&[f64], &[f64]),
        loads: &[EffectorLoad],
        targets: Targets<'_>,
        commands: &mut Vec<f64>,
    ) -> Result<Decision, MpcError> {
        let goals: Vec<(Goal, Pose)> =
            self.goals.iter().enumerate().map(|(i, g)| (*g, targets(1, i))).collect();
        let (c, b) = (&self.commands, &self.bounds);
        let found = set_point(&self.system, c, &goals, b, loads, &self.last)?;
        self.last.clone_from(&found.commands);
        commands.clone_from(&found.commands);
        let held = |(u, (l, h)): (&f64, &(f64, f64))| u <= l || u >= h;
        let at_bounds = found.commands.iter().zip(b).filter(|p| held(*p)).count();
        Ok(Decision { at_bounds, cut: false })
    }
}

/// Something that moves as a reduced model says, whoever steps it.
#[derive(Clone, Debug)]
pub(crate) struct Predictor {
    pub(crate) mechanism: MechanismHandle,
    pub(crate) name: String,
    decide: Box<dyn Decide>,
    /// Where a reduced model is in this world, coordinates are read; else seen by effectors.
    seen: Option<Seen>,
    placement: Pose,
    goals: Vec<(String, usize, Curve)>,
    forces: Vec<usize>,
    every: usize,
    h: f64,
    contact: bool,
    count: u64,
    coordinates: Vec<f64>,
    before: Option<Vec<f64>>,
    commands: Vec<f64>,
    errors: Vec<[Watched; 2]>,
    at_bounds: Watched,
    pub(crate) bound_decisions: u64,
    pub(crate) decisions: u64,
    pub(crate) cut: u64,
}

/// How coordinates follow from poses of effectors.
#[derive(Clone, Debug)]
struct Seen {
    rests: Vec<Pose>,
    basis: Matrix,
}

impl Predictor {
    pub(crate) fn new(
        scene: &mut Scene,
        (mechanism, m): (MechanismHandle, &SceneMechanism),
        file: &MechanismSpec,
        spec: &MpcSpec,
        number: usize,
        folder: &Path,
    ) -> Result<Self, DirectError> {
        let element = format!("mpc {}", number + 1);
        let effector = |name: &String| {
            m.effectors.iter().position(|e| e == name).ok_or_else(|| {
                let known = m.effectors.iter().map(String::as_str);
                invalid(&element, unknown("effector", name, known))
            })
        };
        if m.floating {
            return Err(invalid(element, format!("is for {:?}, whose base floats", m.name)));
        }
        if spec.every == 0 {
            return Err(invalid(element, "decides every 0 steps"));
        }
        let placement = scene.world.placement(mechanism)?;
        let h = scene.spec.world.step * spec.every as f64;
        let forces = spec.forces.iter().map(effector).collect::<Result<Vec<_>, _>>()?;
        let commands = match forces.is_empty() {
            true => Commands::Servos,
            false => Commands::Forces(forces.clone()),
        };
        let mut goals = Vec::new();
        let mut weights = Vec::new();
        for g in &spec.goals {
            let e = effector(&g.effector)?;
            let start = scene.world.effector_pose(mechanism, e)?;
            let curve = Curve::new(&g.way, &[3, 7], start, &g.turns_deg, &element)?;
            goals.push((g.effector.clone(), e, curve));
            weights.push(Goal { effector: e, position: g.position, orientation: g.orientation });
        }
        let full = scene.world.full_solver(mechanism)?.is_some();
        let refused = |source| DirectError::Model { mechanism: m.name.clone(), source };
        let of_mpc = |source| DirectError::Mpc { mechanism: m.name.clone(), source };
        let settings = |count: usize| MpcSettings {
            horizon: spec.horizon,
            commands: commands.clone(),
            bounds: vec![(-spec.largest, spec.largest); count],
            goals: weights.clone(),
            effort: spec.effort,
            change: spec.change,
            pivots: 200,
            budget: None,
        };
        let budget = match spec.budget {
            None => None,
            Some(s) if s.is_finite() && s > 0.0 => Some(Duration::from_secs_f64(s)),
            Some(s) => return Err(invalid(element, format!("has a budget of {s} s"))),
        };
        let settings = |count: usize| MpcSettings { budget, ..settings(count) };
        let (decide, data) = match &file.blend {
            Some(blend) => {
                let blend = BlendedModel::load(folder.join(blend)).map_err(|source| {
                    let (mechanism, source) = (m.name.clone(), Box::new(source));
                    forks_sim::scene::SceneError::Blend { mechanism, source }
                })?;
                let stepper = BlendedStepper::new(Arc::new(blend), h).map_err(refused)?;
                let data = stepper.data().clone();
                (decide(stepper, spec.kind, settings).map_err(of_mpc)?, data)
            }
            None => {
                let model = m.reduced(&m.problem()?)?;
                let data = model.data().clone();
                let stepper = Stepper::new(Arc::new(model), h).map_err(refused)?;
                (decide(stepper, spec.kind, settings).map_err(of_mpc)?, data)
            }
        };
        let seen = full.then(|| Seen {
            rests: data.effectors.iter().map(|e| e.rest).collect(),
            basis: data.basis.clone(),
        });
        let watch = |(name, ..): &(String, usize, Curve)| {
            [("m", "error"), ("rad", "angle")]
                .map(|(unit, what)| Watched::new(format!("{name} {what}"), unit))
        };
        Ok(Self {
            mechanism,
            name: m.name.clone(),
            decide,
            seen,
            placement,
            errors: goals.iter().map(watch).collect(),
            goals,
            forces,
            every: spec.every,
            h,
            contact: spec.contact,
            count: 0,
            coordinates: Vec::new(),
            before: None,
            commands: Vec::new(),
            at_bounds: Watched::new("commands at bounds", ""),
            bound_decisions: 0,
            decisions: 0,
            cut: 0,
        })
    }

    /// Decides where it is time to, and gives the commands to the world.
    pub(crate) fn act(&mut self, scene: &mut Scene) -> Result<(), DirectError> {
        if self.count.is_multiple_of(self.every as u64) {
            self.decide_now(&scene.world)?;
        }
        self.count += 1;
        if self.forces.is_empty() {
            let trial = scene.world.trial(self.mechanism)?;
            let script = trial.servo_targets();
            // What actions ask for is added.
            let targets: Vec<f64> = script.iter().zip(&self.commands).map(|(a, b)| a + b).collect();
            scene.world.set_servo_targets(self.mechanism, &targets)?;
        }
        for (e, f) in self.forces.iter().zip(self.commands.chunks_exact(3)) {
            let force = self.placement.rotation * DVec3::from_slice(f);
            let wrench = Wrench::new(force, DVec3::ZERO);
            scene.world.set_effector_load(self.mechanism, *e, wrench, LoadFrame::World)?;
        }
        Ok(())
    }

    fn decide_now(&mut self, world: &World) -> Result<(), DirectError> {
        let velocity = match &self.seen {
            None => {
                self.coordinates.clear();
                self.coordinates.extend_from_slice(world.coordinates(self.mechanism)?);
                world.velocities(self.mechanism)?.to_vec()
            }
            Some(seen) => {
                let back = self.placement.inverse();
                let mut xi = Vec::new();
                for (e, rest) in seen.rests.iter().enumerate() {
                    let pose = back * world.effector_pose(self.mechanism, e)?;
                    xi.extend((rest.inverse() * pose).log().to_array());
                }
                self.coordinates = min_norm_solve(&seen.basis, &xi, 1e-12);
                let before = self.before.replace(self.coordinates.clone());
                let before = before.unwrap_or_else(|| self.coordinates.clone());
                let change = self.coordinates.iter().zip(before);
                change.map(|(a, b)| (a - b) / self.h).collect()
            }
        };
        let back = self.placement.inverse();
        let turned = |l: EffectorLoad| {
            let w = l.wrench;
            let wrench = Wrench::new(back.rotation * w.force, back.rotation * w.torque);
            EffectorLoad { wrench, ..l }
        };
        let loads: Vec<EffectorLoad> = match self.contact {
            true => loads(world, self.mechanism, &[]).into_iter().map(turned).collect(),
            false => vec![],
        };
        let (t, h, goals) = (world.time(), self.h, &self.goals);
        let targets = |k: usize, g: usize| back * goals[g].2.at(t + k as f64 * h, 0.0).pose;
        let state = (&self.coordinates[..], &velocity[..]);
        let decided = self.decide.decide(state, &loads, &targets, &mut self.commands);
        let d =
            decided.map_err(|source| DirectError::Mpc { mechanism: self.name.clone(), source })?;
        self.at_bounds.see(d.at_bounds as f64);
        self.decisions += 1;
        self.cut += u64::from(d.cut);
        self.bound_decisions += u64::from(d.at_bounds > 0);
        Ok(())
    }

    /// After the world's step: how far goals are from their effectors.
    pub(crate) fn after(&mut self, world: &World) -> Result<(), DirectError> {
        let t = world.time();
        for ((_, e, curve), w) in self.goals.iter().zip(&mut self.errors) {
            let (pose, wanted) = (world.effector_pose(self.mechanism, *e)?, curve.at(t, 0.0).pose);
            w[0].see(pose.translation.distance(wanted.translation));
            w[1].see(log_rotation(wanted.rotation.inverse() * pose.rotation).length());
        }
        Ok(())
    }

    /// Numbers to show.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &Watched> {
        self.errors.iter().flatten().chain([&self.at_bounds])
    }

    /// Places to show.
    pub(crate) fn marks(&self, t: f64) -> Vec<Mark> {
        let mark = |(name, _, c): &(String, usize, Curve)| Mark {
            name: name.clone(),
            place: c.at(t, 0.0).pose.translation,
        };
        self.goals.iter().map(mark).collect()
    }
}

/// What decides for a system.
fn decide<S: System + 'static>(
    system: S,
    kind: MpcKind,
    settings: impl Fn(usize) -> MpcSettings,
) -> Result<Box<dyn Decide>, MpcError> {
    let count = settings(0).commands.count(&system);
    let s = settings(count);
    if let Some(&(lower, upper)) = s.bounds.iter().find(|b| !(b.0 <= b.1 && b.1 < f64::INFINITY)) {
        return Err(MpcError::Bounds { command: 0, lower, upper });
    }
    if count == 0 {
        return Err(MpcError::NoCommands);
    }
    Ok(match kind {
        MpcKind::Predict => Box::new(Mpc::new(system, s)?),
        MpcKind::SetPoint => {
            let last = vec![0.0; count];
            Box::new(SetPoints {
                system,
                commands: s.commands,
                goals: s.goals,
                bounds: s.bounds,
                last,
            })
        }
    })
}
