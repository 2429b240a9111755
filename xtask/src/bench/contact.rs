//! `contact/…`: steps of the scenes of `fixtures/scenes` while things touch, against MuJoCo on the
//! exported scenes.

use std::{path::Path, time::Instant};

use forks_mechanism::lie::{Pose, glam::DVec3};
use forks_sim::{
    Owner, Snapshot, WorldStatus,
    scene::{ExportedOwner, ExportedScene, Fidelity, Scene},
};
use serde::{Deserialize, Serialize};

use super::{
    case::{Case, Context},
    measure::{Timing, time_runs},
    peers::Peers,
};

/// Seconds before anything is timed.
const BEFORE: f64 = 1.0;
/// Steps of a run.
const STEPS: usize = 2000;
/// The same for `--quick`.
const QUICK_STEPS: usize = 100;
/// What MuJoCo's script gets.
#[derive(Serialize)]
struct Task {
    /// MJCF file with a keyframe `start`.
    model: String,
    /// Values of all actuators, a row per step from the start.
    controls: Vec<Vec<f64>>,
    /// Steps that do not count.
    before: usize,
    /// Whose positions at the end are wanted: `body` or `site`, and its name.
    watched: Vec<(&'static str, String)>,
}

/// What it answers; nothing where the simulation does not stay finite.
#[derive(Deserialize)]
struct Stepped {
    timing: Timing,
    settings: String,
    /// Mean number of contact points.
    contacts: f64,
    positions: Vec<[f64; 3]>,
}

/// A scene after what does not count.
struct Run {
    scene: Scene,
    exported: ExportedScene,
    start: Snapshot,
    steps: usize,
}

/// Means over a run.
#[derive(Default)]
struct Means {
    contacts: f64,
    touching: f64,
    sweeps: f64,
    inexact: f64,
}

pub(super) fn grasp(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, "hand-ball")
}

pub(super) fn grasp_box(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, "hand-box")
}

pub(super) fn grasp_object(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, "hand-object")
}

pub(super) fn firefighters(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, "firefighters")
}

pub(super) fn hexapod(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, "hexapod")
}

pub(super) fn solo12(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, "solo12")
}

pub(super) fn peg(name: &str, context: &Context<'_>) -> Result<Vec<Case>, String> {
    measure(name, context, "peg")
}

impl Run {
    fn new(file: &Path, steps: usize) -> Result<Self, String> {
        let mut scene = Scene::load(file, Fidelity::Reduced).map_err(|e| e.to_string())?;
        let exported = scene.to_mjcf().map_err(|e| e.to_string())?;
        for _ in 0..(BEFORE / scene.spec.world.step).round() as usize {
            step(&mut scene)?;
        }
        Ok(Self { start: scene.world.snapshot(), scene, exported, steps })
    }

    fn back(&mut self) {
        self.scene.world.restore(&self.start).expect("a snapshot of this world");
    }

    /// Times runs that all start from the same state.
    fn time(&mut self, poses: &mut Vec<Pose>, links: bool) -> Result<Timing, String> {
        let steps = self.steps;
        let names = self.scene.mechanisms.iter().map(|m| &m.name);
        let handles: Vec<_> = names.filter_map(|name| self.scene.mechanism(name)).collect();
        time_runs(steps, || {
            self.back();
            let begin = Instant::now();
            for _ in 0..steps {
                step(&mut self.scene)?;
                for m in handles.iter().filter(|_| links) {
                    self.scene.world.link_poses(*m, poses).map_err(|e| e.to_string())?;
                }
            }
            Ok(begin.elapsed())
        })
    }

    fn means(&mut self) -> Result<Means, String> {
        self.back();
        let (mut means, part) = (Means::default(), 1.0 / self.steps as f64);
        for _ in 0..self.steps {
            let report = self.scene.step();
            means.contacts += part * report.contacts as f64;
            means.touching += part * report.touching as f64;
            means.sweeps += part * report.sweeps as f64;
            means.inexact += part * report.inexact as f64;
        }
        Ok(means)
    }

    /// Owners of shapes that move.
    fn watched(&self) -> Vec<Owner> {
        let mut seen: Vec<Owner> = Vec::new();
        for (owner, _) in self.scene.shapes() {
            if owner != Owner::World && !seen.contains(&owner) {
                seen.push(owner);
            }
        }
        seen
    }

    /// What stands for them in the exported scene.
    fn watched_there(&self) -> Vec<(&'static str, String)> {
        let there = |owner: Owner| match self.scene.exported_owner(owner) {
            ExportedOwner::World => None,
            ExportedOwner::Body(name) => Some(("body", name)),
            ExportedOwner::Site(name) => Some(("site", name)),
        };
        self.watched().into_iter().filter_map(there).collect()
    }
}

/// A step; an error where numbers overflow.
fn step(scene: &mut Scene) -> Result<(), String> {
    match scene.step().status {
        WorldStatus::NotFinite { part } => {
            Err(format!("{part:?} is not finite at {} s", scene.world.time()))
        }
        _ => Ok(()),
    }
}

fn measure(name: &str, context: &Context<'_>, scene: &str) -> Result<Vec<Case>, String> {
    if !context.wants(name) {
        return Ok(vec![]);
    }
    let file = context.root.join(format!("fixtures/scenes/{scene}.toml"));
    let mut run = Run::new(&file, if context.quick { QUICK_STEPS } else { STEPS })?;
    let mut poses = Vec::new();
    let timing = run.time(&mut poses, false)?;
    let with_links = run.time(&mut poses, true)?;
    let means = run.means()?;
    let links: usize =
        run.scene.mechanisms.iter().map(|m| m.mechanism.links().len() - 1).sum::<usize>()
            + run.scene.bodies.len();
    let settings = format!(
        "step of the world with its script, {BEFORE} s to {} s of {scene}; collision and contact \
         included, poses of effectors, not of all links",
        BEFORE + run.steps as f64 * run.scene.spec.world.step
    );
    let mut case = Case::new(name, links, 1, timing, &settings);
    case.dt = Some(run.scene.spec.world.step);
    case.figure("ours with the poses of all links, ns", with_links.ns);
    if let Some(ns) = with_links.cpu_ns {
        case.figure("ours with the poses of all links, ns of computing time", ns);
    }
    case.figure("points close", means.contacts);
    case.figure("points that push", means.touching);
    case.figure("sweeps", means.sweeps);
    case.figure("part of the steps solved less exactly than asked", means.inexact);
    if let Some(peers) = &context.peers {
        let answer = peers.as_ref().map_err(Clone::clone).and_then(|p| ask(name, p, &run));
        match answer {
            Ok(Some(a)) => compare(&mut case, &run, &a, &with_links),
            Ok(None) => case.notes.push("mujoco-discrete: it does not stay finite".into()),
            Err(e) => case.notes.push(format!("mujoco-discrete left out: {e}")),
        }
    }
    Ok(vec![case])
}

fn compare(case: &mut Case, run: &Run, answer: &Stepped, with_links: &Timing) {
    case.rival("mujoco-discrete", answer.timing, &answer.settings);
    case.figure("mujoco-discrete: contact points", answer.contacts);
    let ratio = answer.timing.ns / with_links.ns;
    case.figure("mujoco-discrete / ours with the poses of all links", ratio);
    for (owner, theirs) in run.watched().into_iter().zip(&answer.positions) {
        let (name, ours) = (run.scene.owner_name(owner), run.scene.owner_pose(owner));
        let apart = ours.translation.distance(DVec3::from_array(*theirs));
        case.figure(&format!("mujoco-discrete: distance of {name} at the end, m"), apart);
    }
    case.notes.extend(run.exported.notes.iter().map(|n| format!("exported scene: {n}")));
}

fn ask(name: &str, peers: &Peers, run: &Run) -> Result<Option<Stepped>, String> {
    let (scene, exported) = (&run.scene, &run.exported);
    let path = peers.exchange().join(format!("{}.xml", name.replace('/', "-")));
    std::fs::write(&path, &exported.text).map_err(|e| format!("{}: {e}", path.display()))?;
    let h = scene.spec.world.step;
    let before = (BEFORE / h).round() as usize;
    let row = |k: usize| scene.controls_at(exported, k as f64 * h);
    let task = Task {
        model: path.display().to_string(),
        controls: (0..before + run.steps).map(row).collect(),
        before,
        watched: run.watched_there(),
    };
    peers.ask("mujoco_scene.py", &format!("{name}-mujoco"), &task)
}
