//! Scenes as MJCF, for other simulators.

use forks_import::write::{MjcfScene, write_mjcf_scene};
use forks_mechanism::LinkId;

use super::{
    Scene,
    action::Drives,
    combine::{Combined, Names, START},
    error::SceneError,
};
use crate::{CollisionShape, Owner};

/// Friction that creeps less than by default: what is held would slip out of a hand within seconds.
const IMPRATIO: f64 = 10.0;
/// Time constant of loops over the step: they give way hardly more than ours, which do not; MuJoCo
/// allows no less.
const LOOP_TIME: f64 = 2.0;
/// Distance of effectors at the start from which on it is said, m.
const NOTED: f64 = 1e-5;

/// A scene as MJCF, with what MJCF has no place for.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedScene {
    /// The MJCF text. It has a keyframe `start` with positions, velocities and controls.
    pub text: String,
    /// What is not exactly as in the scene.
    pub notes: Vec<String>,
    /// The actuators in order.
    pub controls: Vec<Control>,
}

/// An actuator: a servo of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Name.
    pub name: String,
    /// Target in the linearisation pose; scenes' targets are relative to it.
    pub rest: f64,
    mechanism: usize,
    servo: usize,
}

/// What stands for an owner of shapes in an exported scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportedOwner {
    /// The world.
    World,
    /// The body of this name.
    Body(String),
    /// The site of this name.
    Site(String),
}

impl Scene {
    /// The scene as MJCF. Servos become actuators whose controls [`Scene::controls_at`] gives; a
    /// mechanism that is linearised without gravity has all of it compensated.
    ///
    /// # Errors
    /// What MJCF cannot express, triangle meshes of the world among it.
    pub fn to_mjcf(&self) -> Result<ExportedScene, SceneError> {
        let c = self.combined()?;
        let mut notes = Vec::new();
        let controls = self.controls();
        let step = self.spec.world.step;
        let whole = MjcfScene {
            step: Some(step),
            friction_stiffness: Some(IMPRATIO),
            equality_time: Some(LOOP_TIME * step),
            forms: c.others.clone(),
            excluded: self.excluded_links(&c, &mut notes),
            velocities: c.bodies.iter().zip(&self.bodies).map(|(l, b)| (*l, b.twist)).collect(),
            controls: self.values(&controls, 0.0),
        };
        let (text, written) = write_mjcf_scene(&c.mechanism, &whole)?;
        notes.splice(0..0, written.iter().map(ToString::to_string));
        notes.extend(self.lost(&c).into_iter().map(Into::into));
        notes.extend(self.starts_elsewhere(&c));
        Ok(ExportedScene { text, notes, controls })
    }

    /// Values of an exported scene's controls at a time.
    pub fn controls_at(&self, exported: &ExportedScene, t: f64) -> Vec<f64> {
        self.values(&exported.controls, t)
    }

    /// Where an exported scene has an owner of shapes: effectors are bodies, or sites where the
    /// scene calls them `site:NAME`.
    ///
    /// # Panics
    /// If the owner is of another scene.
    pub fn exported_owner(&self, owner: Owner) -> ExportedOwner {
        match owner {
            Owner::World => ExportedOwner::World,
            Owner::Body(b) => ExportedOwner::Body(self.spec.bodies[b.0].name.clone()),
            Owner::Effector { mechanism, effector } => {
                let m = &self.mechanisms[mechanism.0];
                let (names, effector) = (Names(&m.name), &m.effectors[effector]);
                match effector.strip_prefix("site:") {
                    Some(site) => ExportedOwner::Site(names.of(site)),
                    None => ExportedOwner::Body(names.of(effector)),
                }
            }
        }
    }

    fn controls(&self) -> Vec<Control> {
        let mut out = Vec::new();
        for (mechanism, m) in self.mechanisms.iter().enumerate() {
            let start = m.mechanism.start_positions();
            let poses = m.mechanism.link_poses(&start);
            for (servo, s) in m.mechanism.servos().iter().enumerate() {
                let rest = s.value(&m.mechanism, &start, &poses);
                out.push(Control { name: Names(&m.name).of(&s.name), rest, mechanism, servo });
            }
        }
        out
    }

    fn values(&self, controls: &[Control], t: f64) -> Vec<f64> {
        let mut script = self.script.clone();
        let targets = script.targets(t);
        controls.iter().map(|c| c.rest + targets[c.mechanism][c.servo]).collect()
    }

    /// Pairs of links none of whose shapes touch each other.
    fn excluded_links(&self, c: &Combined, notes: &mut Vec<String>) -> Vec<[LinkId; 2]> {
        let (mut out, mut seen): (Vec<_>, Vec<[LinkId; 2]>) = Default::default();
        for pair in &self.world.excluded {
            let [a, b] = pair.map(|k| c.carriers[k].0);
            if a == b || seen.contains(&[a, b]) || seen.contains(&[b, a]) {
                continue;
            }
            seen.push([a, b]);
            let of = |l: LinkId| (0..self.shapes.len()).filter(move |k| c.carriers[*k].0 == l);
            let whole = of(a).all(|i| {
                of(b).all(|j| self.world.excluded.binary_search(&[i.min(j), i.max(j)]).is_ok())
            });
            if whole {
                out.push([a, b]);
            } else {
                let [a, b] = [a, b].map(|l| &c.mechanism.link(l).name);
                notes.push(format!("some shapes of {a} and {b} touch that the scene lets pass"));
            }
        }
        out
    }

    /// Mechanisms whose effectors the file has elsewhere at the start: blends begin at the poses
    /// that they are charted from.
    fn starts_elsewhere(&self, c: &Combined) -> Vec<String> {
        let key = c.mechanism.keyframes().iter().find(|k| k.name == START);
        let (Some(key), 0) = (key, self.world.step_count()) else { return Vec::new() };
        let poses = c.mechanism.link_poses(&key.positions);
        let mut apart = vec![0.0f64; self.mechanisms.len()];
        for ((owner, _), (link, link_from_owner)) in self.shapes.iter().zip(&c.carriers) {
            if let Owner::Effector { mechanism, .. } = owner {
                let there = (poses[link.index()] * *link_from_owner).translation;
                let gap = there.distance(self.owner_pose(*owner).translation);
                apart[mechanism.0] = apart[mechanism.0].max(gap);
            }
        }
        let far = self.mechanisms.iter().zip(apart).filter(|(_, gap)| *gap > NOTED);
        far.map(|(m, gap)| format!("{} starts {gap:.1e} m from where the scene has it", m.name))
            .collect()
    }

    /// What the file does not say.
    fn lost(&self, c: &Combined) -> Vec<&'static str> {
        let m = &c.mechanism;
        let tied = !(m.forest().closures().is_empty() && m.couplings().is_empty());
        let soft = |(_, s): &(Owner, CollisionShape)| s.material.compliance != 0.0;
        let bounces = |(_, s): &(Owner, CollisionShape)| s.material.restitution != 0.0;
        let actions = &self.script.actions;
        let forces = actions.iter().any(|a| !matches!(a.drives, Drives::Servos { .. }));
        [
            (tied, "loops and couplings are as stiff as the step allows, not exact"),
            (self.shapes.iter().any(bounces), "restitution is not part of the file"),
            (self.shapes.iter().any(soft), "compliance of surfaces is not part of the file"),
            (forces, "forces of actions are not part of the file"),
        ]
        .into_iter()
        .filter_map(|(lost, what)| lost.then_some(what))
        .collect()
    }
}
