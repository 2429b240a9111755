//! A scene of pads from its start to its end, perhaps beside the whole: recording, answer.

use std::time::Instant;

use forks_io::{LinkPose, Text, animation::Animation, short};
use forks_rom::lie::glam::DVec3;
use forks_tissue::{Recording, TissueScene};
use serde::Serialize;

use crate::{Film, SoftModelError, SoftScene, beside};

/// Distance between two recordings over the extent of the skins.
const APART: f64 = 1.6;

/// The answer; field names are part of the program's interface.
#[derive(Clone, Debug, Serialize)]
pub struct SoftReport {
    scene: String,
    status: &'static str,
    steps: u64,
    step: f64,
    /// Simulated time, s.
    duration: f64,
    /// Coordinates of the reduced model.
    coordinates: usize,
    out_of_range_steps: u64,
    inexact_contacts: u64,
    max_touching: usize,
    max_penetration: f64,
    seconds_per_step: f64,
    real_time_factor: f64,
    samples: usize,
    pads: Vec<LinkPose>,
    bodies: Vec<LinkPose>,
    /// All nodes beside it, where that was asked for.
    whole: Option<Whole>,
    notes: Vec<String>,
}

/// The same scene with all nodes of its tissue.
#[derive(Clone, Debug, Serialize)]
struct Whole {
    nodes: usize,
    seconds_per_step: f64,
    /// Reduced steps in the time of one with all nodes.
    times_faster: f64,
    bodies: Vec<LinkPose>,
    /// How far free bodies are from those of the reduced scene at the end, m.
    apart: Vec<f64>,
}

/// Runs a scene to its end, and `whole` beside it; `record`: with a picture of both. `show` is told
/// the time after every step.
///
/// # Errors
/// A step that cannot be made.
pub fn run(
    scene: &mut SoftScene,
    whole: Option<&mut TissueScene>,
    record: bool,
    mut show: impl FnMut(f64),
) -> Result<(SoftReport, Option<Animation>), SoftModelError> {
    let steps = scene.step_count();
    let mut film = if record { Some(scene.film()?) } else { None };
    keep(scene, &mut film)?;
    let (h, frames) = (scene.spec.world.step(), scene.spec.world.frames);
    // Times of exact multiples of the period fall on either side of a tick by rounding.
    let tick = |t: f64| (t * frames * (1.0 + 4.0 * f64::EPSILON)).floor();
    let (mut elapsed, mut finite) = (0.0, true);
    for k in 0..steps {
        let begin = Instant::now();
        finite = scene.step()?;
        elapsed += begin.elapsed().as_secs_f64();
        if !finite {
            break;
        }
        let t = (k + 1) as f64 * h;
        if k + 1 == steps || tick(t) > tick(t - h) {
            keep(scene, &mut film)?;
        }
        show(t);
    }
    let named = |name: &str, p: &forks_rom::lie::Pose| LinkPose::new(name, p);
    let bodies: Vec<LinkPose> = scene.bodies()?.iter().map(|(n, p, _)| named(n, p)).collect();
    let totals = scene.totals();
    let per_step = |seconds: f64, steps: u64| seconds / steps.max(1) as f64;
    let own = per_step(elapsed, totals.steps);
    let mut picture = film.map(|f| f.animation().clone());
    let mut beside_it = None;
    if let Some(whole) = whole {
        let mut recording = record.then(|| Recording::new(whole));
        let (count, mut took) = (whole.step_count(), 0.0);
        for k in 0..count {
            let begin = Instant::now();
            whole.step()?;
            took += begin.elapsed().as_secs_f64();
            if let Some(r) = &mut recording {
                r.after(whole, k + 1 == count);
            }
            show(whole.time());
        }
        let s = &whole.simulation;
        let poses = s.link_poses();
        let find = |b: &LinkPose| {
            let id = s.mechanism().find_link(&b.name)?;
            Some(named(&b.name, &poses[id.index()]))
        };
        let theirs: Vec<LinkPose> = bodies.iter().filter_map(find).collect();
        let far = |(a, b): (&LinkPose, &LinkPose)| {
            DVec3::from_array(a.position).distance(DVec3::from_array(b.position))
        };
        let seconds_per_step = per_step(took, count);
        beside_it = Some(Whole {
            nodes: s.state().x.len(),
            seconds_per_step,
            times_faster: if own > 0.0 { seconds_per_step / own } else { 0.0 },
            apart: bodies.iter().zip(&theirs).map(far).collect(),
            bodies: theirs,
        });
        if let (Some(a), Some(b)) = (&picture, &recording) {
            let shift = DVec3::Y * APART * extent(b.animation());
            let names = ["reduced", "all nodes"];
            let mut theirs = b.animation().clone();
            theirs.notes.retain(|n| !about(scene).contains(n));
            picture = Some(beside(&scene.spec.title, [a, &theirs], names, shift));
        }
    }
    if let Some(p) = &mut picture {
        p.notes.extend(about(scene));
    }
    let duration = totals.steps as f64 * h;
    let pads = scene.pad_poses()?;
    let report = SoftReport {
        scene: scene.spec.title.clone(),
        status: match (finite, totals.out_of_range > 0) {
            (false, _) => "not-finite",
            (true, true) => "out-of-range",
            (true, false) => "completed",
        },
        steps: totals.steps,
        step: h,
        duration,
        coordinates: scene.model().model.dof(),
        out_of_range_steps: totals.out_of_range,
        inexact_contacts: totals.inexact,
        max_touching: totals.touching,
        max_penetration: totals.overlap,
        seconds_per_step: own,
        real_time_factor: if elapsed > 0.0 { duration / elapsed } else { 0.0 },
        samples: picture.as_ref().map_or(0, |p| p.frames.len()),
        pads: pads.iter().map(|(n, p)| named(n, p)).collect(),
        bodies,
        whole: beside_it,
        notes: scene.notes.clone(),
    };
    Ok((report, picture))
}

/// What the scene says of itself, by paragraphs.
fn about(scene: &SoftScene) -> Vec<String> {
    let paragraphs = scene.spec.about.split("\n\n").map(|p| p.replace('\n', " "));
    paragraphs.filter(|p| !p.trim().is_empty()).collect()
}

fn keep(scene: &SoftScene, film: &mut Option<Film>) -> Result<(), SoftModelError> {
    film.as_mut().map_or(Ok(()), |f| scene.record(f))
}

/// Extent of the skins of the first frame along y, m.
fn extent(a: &Animation) -> f64 {
    let corners = || a.frames.first().into_iter().flat_map(|f| f.skins.iter().flatten());
    let low = corners().fold(f64::INFINITY, |m, x| m.min(x.y));
    let high = corners().fold(f64::NEG_INFINITY, |m, x| m.max(x.y));
    let wide = corners().fold(0.0, |m: f64, x| m.max(x.z.abs()));
    if high > low { (high - low).max(wide) } else { 0.1 }
}

impl SoftReport {
    /// True if the run went to its end within what the model is meant for.
    pub fn is_complete(&self) -> bool {
        self.status == "completed"
    }

    /// Why it did not, in a sentence.
    pub fn problem(&self) -> Option<String> {
        match self.status {
            "completed" => None,
            "out-of-range" => Some(format!(
                "pads left the range of the model in {} of {} steps; step all nodes instead",
                self.out_of_range_steps, self.steps
            )),
            _ => Some(format!("stopped after {} s: the numbers overflow", short(self.duration))),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = Text::new(27);
        out.line("scene", &self.scene);
        out.line("status", self.status);
        out.line("steps", format!("{} of {} s", self.steps, short(self.step)));
        out.line("coordinates", self.coordinates);
        let Self { max_touching, inexact_contacts, .. } = self;
        out.line("contacts", format!("at most {max_touching} points, {inexact_contacts} inexact"));
        out.line("deepest overlap (m)", short(self.max_penetration));
        let (speed, factor) = (short(1e6 * self.seconds_per_step), short(self.real_time_factor));
        out.line("speed", format!("{speed} µs per step, {factor} times real time"));
        if let Some(w) = &self.whole {
            let speed = short(1e6 * w.seconds_per_step);
            let times = short(w.times_faster);
            let nodes = w.nodes;
            out.line("all nodes", format!("{nodes}, {speed} µs per step, {times} times as long"));
            let apart: Vec<String> = w.apart.iter().map(|x| short(*x)).collect();
            out.line("bodies apart (m)", apart.join(", "));
        }
        out.block(format_args!("pads at the end\n{}", LinkPose::table("pad", &self.pads)));
        if !self.bodies.is_empty() {
            let table = LinkPose::table("body", &self.bodies);
            out.block(format_args!("bodies at the end\n{table}"));
        }
        if !self.notes.is_empty() {
            out.block(format_args!("notes\n{}\n", self.notes.join("\n")));
        }
        out.finish()
    }
}
