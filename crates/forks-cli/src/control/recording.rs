//! What `forks control -o` writes.

use std::path::Path;

use forks_control::task::Goal;
use forks_direct::unit;
use forks_io::{
    IoError,
    animation::{AnimationFrame, Colour, Series},
    gltf, html, json,
};
use forks_mechanism::lie::so3::wxyz_from_quaternion;
use forks_record::Picture;
use serde::Serialize;

use super::state::{Run, norm};
use crate::{
    output::short,
    scene::{Format, csv},
};

/// Frames per second of pages.
const FRAMES: f64 = 60.0;

/// Targets stand out.
const TARGET: Colour = Colour::rgb(0xd5, 0x5e, 0x00);

/// All steps, as frames.
pub(super) struct Recording {
    picture: Picture,
}

impl Recording {
    /// With the start as its first frame, and the targets as knobs.
    pub(super) fn new(run: &Run) -> Self {
        let m = &run.mechanism;
        let poses = run.plant.stepper().link_poses();
        let mut picture = Picture::new(m.name(), m, poses);
        for t in &run.tasks {
            match &t.goal {
                Goal::Position(_, p) | Goal::CentreOfMass(p) => picture.mark(*p, TARGET),
                Goal::Pose(_, p) => picture.mark(p.translation, TARGET),
                _ => {}
            }
            let gains = [t.weight, t.stiffness, t.damping].map(short);
            let [weight, k, d] = gains;
            picture.animation.notes.push(format!(
                "{}: level {}, weight {weight}, k = {k}/s², d = {d}/s",
                t.name, t.level
            ));
        }
        let series = &mut picture.animation.series;
        series.push(Series::new("norm of the commands", ""));
        series.push(Series::new("rows that give way", ""));
        for t in &run.tasks {
            for (what, of) in parts(run, t) {
                series.push(Series::new(format!("{} error", t.name), what));
                series.push(Series::new(format!("{} residual", t.name), of));
            }
        }
        for a in &run.actuators {
            series.push(Series::new(format!("command {}", a.name), a.unit));
        }
        let values = vec![0.0; series.len()];
        let frame = AnimationFrame::new(0.0, picture.poses(poses)).values(values);
        picture.animation.frames.push(frame);
        Self { picture }
    }

    /// After a step.
    pub(super) fn push(&mut self, run: &Run, time: f64) {
        let last = &run.tally.last;
        let mut values = vec![norm(&last.commands), last.relaxed.len() as f64];
        for (task, t) in run.tasks.iter().enumerate() {
            for (what, _) in parts(run, t) {
                let rows = last
                    .residuals
                    .iter()
                    .filter(|r| r.task == task && unit(Some(&run.mechanism), t, r.row) == what);
                let (errors, residuals): (Vec<f64>, Vec<f64>) =
                    rows.map(|r| (r.error, r.by)).unzip();
                values.extend([norm(&errors), norm(&residuals)]);
            }
        }
        values.extend(&last.commands);
        let poses = self.picture.poses(run.plant.stepper().link_poses());
        self.picture.animation.frames.push(AnimationFrame::new(time, poses).values(values));
    }

    /// Writes a file.
    pub(super) fn save(&self, format: Format, path: &Path) -> Result<(), IoError> {
        let animation = &self.picture.animation;
        let thinned = || {
            let mut a = animation.clone();
            a.thin(FRAMES);
            a
        };
        match format {
            Format::Csv => csv(animation)?.save(path),
            Format::Json => json::save(path, &Recorded::new(self)),
            Format::Html => html::save(path, &thinned()),
            Format::Glb => gltf::save(path, &thinned()),
        }
    }
}

/// The units of a task's rows, each once, with that of their rates.
fn parts(run: &Run, t: &forks_control::task::Task) -> Vec<(&'static str, &'static str)> {
    let rows = match &t.goal {
        Goal::Posture(all) => (0..all.len()).collect::<Vec<_>>(),
        goal => (0..goal.row_count()).filter(|i| t.mask[*i]).collect(),
    };
    [("m", "m/s"), ("rad", "rad/s")]
        .into_iter()
        .filter(|(u, _)| rows.iter().any(|r| unit(Some(&run.mechanism), t, *r) == *u))
        .collect()
}

/// The JSON; field names are part of the program's interface.
#[derive(Serialize)]
struct Recorded<'a> {
    title: &'a str,
    links: Vec<&'a str>,
    series: &'a [Series],
    samples: Vec<Sample<'a>>,
}

#[derive(Serialize)]
struct Sample<'a> {
    time: f64,
    values: &'a [f64],
    positions: Vec<[f64; 3]>,
    quaternions_wxyz: Vec<[f64; 4]>,
}

impl<'a> Recorded<'a> {
    fn new(recording: &'a Recording) -> Self {
        let animation = &recording.picture.animation;
        let sample = |f: &'a AnimationFrame| Sample {
            time: f.time,
            values: &f.values,
            positions: f.world_from_body.iter().map(|p| p.translation.to_array()).collect(),
            quaternions_wxyz: f
                .world_from_body
                .iter()
                .map(|p| wxyz_from_quaternion(p.rotation))
                .collect(),
        };
        Self {
            title: &animation.title,
            links: animation.bodies.iter().map(|b| b.name.as_str()).collect(),
            series: &animation.series,
            samples: animation.frames.iter().map(sample).collect(),
        }
    }
}
