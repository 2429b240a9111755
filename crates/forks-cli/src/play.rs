//! `forks play`: joints follow keyframes, physics moves the rest.

use std::{fs, process::ExitCode, sync::Arc};

use forks_control::{
    keyframe::Motion,
    playback::{Group, Player},
};
use forks_io::{
    Align, IoError, TextTable,
    animation::{AnimationFrame, Series},
    gltf, html, json,
};
use forks_mechanism::{LinkId, Mechanism};
use forks_record::Picture;
use serde::Serialize;

use crate::{
    error::CliError,
    model::Model,
    mujoco::FreeJoints,
    output::{self, LinkPose, Text, short},
    play_args::PlayArgs,
    progress::{Progress, seconds},
    scene::{Format, csv},
};

/// Frames per second of pages.
const FRAMES: f64 = 60.0;

/// Runs the command.
pub(crate) fn run(args: &PlayArgs) -> Result<ExitCode, CliError> {
    let outputs = args.output.iter().map(|path| match Format::of(path) {
        Some(format) => Ok((format, path)),
        None => Err(CliError::OutputName { path: path.clone() }),
    });
    let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
    let of_keys = |problem: String| CliError::Keys { path: args.keys.clone(), problem };
    let of_model = |problem: String| CliError::Keys { path: args.model.path.clone(), problem };
    let model = Model::load(&args.model)?;
    let m = Arc::new(model.moving(&args.model, args.servos, None)?);
    let text = fs::read_to_string(&args.keys).map_err(|e| of_keys(e.to_string()))?;
    let mut motion = Motion::from_toml(&m, &text).map_err(|e| of_keys(e.to_string()))?;
    let mut q = model.positions.clone();
    let mut v = model.velocities.clone();
    FreeJoints::new(&m, &q).to_body(&mut v);
    let (start, end) = motion.range();
    if args.from_state {
        motion = motion.started_from(&m, &q, &v).map_err(|e| of_keys(e.to_string()))?;
    } else {
        motion.positions(&m, start, &mut q);
        for (id, state) in motion.joints().zip(motion.state(start)) {
            v[m.velocity_range(id)].copy_from_slice(&state.v);
        }
    }
    let tree = &q[..m.tree_position_count()];
    let scheme = args.integrator.into();
    let mut player = Player::new(Arc::clone(&m), scheme, tree, &v, start, args.step)
        .map_err(|e| of_model(e.to_string()))?;
    let group = Group::keyframes(motion.clone());
    player.switch(vec![group]).map_err(|e| of_model(e.to_string()))?;
    let mut run = Run::new(&m, &motion, &player, !outputs.is_empty());
    let time = args.time.unwrap_or(end - start);
    let steps = (time / args.step - 1e-9).ceil().max(1.0) as usize;
    let mut progress = Progress::new();
    for _ in 0..steps {
        let step = player.step().map_err(|e| {
            of_model(format!("stopped after {} s: {e}", short(player.time() - start)))
        })?;
        run.after(&player, &step.forces).map_err(|link| {
            of_model(format!("{link} is nowhere after {} s: shorter steps", short(player.time())))
        })?;
        progress.show(|| seconds(player.time() - start, time));
    }
    for (format, path) in outputs {
        run.save(format, path)?;
    }
    let report = Report::new(args, &run, &player, steps);
    report.warnings.iter().for_each(|w| output::warn(w));
    output::print(&report, args.model.json, Report::text)
}

/// What is watched on the way.
struct Run<'a> {
    m: &'a Mechanism,
    motion: &'a Motion,
    names: Vec<(String, &'static str)>,
    largest: Vec<f64>,
    missed: f64,
    picture: Option<Picture>,
}

impl<'a> Run<'a> {
    fn new(m: &'a Mechanism, motion: &'a Motion, player: &Player, record: bool) -> Self {
        let mut names = vec![];
        for id in motion.joints() {
            let joint = m.joint(id);
            for (i, column) in joint
                .columns(&player.positions()[m.position_range(id)])
                .as_slice()
                .iter()
                .enumerate()
            {
                let name = match joint.dof() {
                    1 => joint.name.clone(),
                    _ => format!("{}[{i}]", joint.name),
                };
                let turns = column.angular.length_squared() > 0.0;
                names.push((name, if turns { "N·m" } else { "N" }));
            }
        }
        let largest = vec![0.0; names.len()];
        let picture = record.then(|| {
            let poses = player.link_poses();
            let mut picture = Picture::new(m.name(), m, &poses);
            for (name, unit) in &names {
                picture.animation.series.push(Series::new(format!("force on {name}"), *unit));
            }
            let frame = AnimationFrame::new(player.time(), picture.poses(&poses));
            picture.animation.frames.push(frame.values(largest.clone()));
            picture
        });
        Self { m, motion, names, largest, missed: 0.0, picture }
    }

    /// After a step; the name of a link without a pose otherwise.
    fn after(&mut self, player: &Player, forces: &[f64]) -> Result<(), String> {
        for (l, f) in self.largest.iter_mut().zip(forces) {
            *l = l.max(f.abs());
        }
        let mut on_curve = player.positions().to_vec();
        self.motion.positions(self.m, player.time(), &mut on_curve);
        let apart = self.m.difference(player.positions(), &on_curve);
        self.missed = apart.iter().fold(self.missed, |a, x| a.max(x.abs()));
        let poses = player.link_poses();
        if let Some(i) = poses.iter().position(|p| !p.is_finite()) {
            return Err(self.m.links()[i].name.clone());
        }
        if let Some(picture) = &mut self.picture {
            let frame = AnimationFrame::new(player.time(), picture.poses(&poses));
            picture.animation.frames.push(frame.values(forces.iter().copied()));
        }
        Ok(())
    }

    fn save(&self, format: Format, path: &std::path::Path) -> Result<(), IoError> {
        let Some(picture) = &self.picture else { return Ok(()) };
        let animation = &picture.animation;
        let thinned = || {
            let mut a = animation.clone();
            a.thin(FRAMES);
            a
        };
        match format {
            Format::Csv => csv(animation)?.save(path),
            Format::Json => json::save(path, animation),
            Format::Html => html::save(path, &thinned()),
            Format::Glb => gltf::save(path, &thinned()),
        }
    }
}

#[derive(Serialize)]
struct Force {
    joint: String,
    unit: &'static str,
    largest: f64,
}

#[derive(Serialize)]
struct Excess {
    joint: String,
    coordinate: usize,
    time: f64,
    value: f64,
    limit: f64,
}

#[derive(Serialize)]
struct Report {
    model: String,
    integrator: &'static str,
    start: f64,
    end: f64,
    steps: usize,
    largest_miss: f64,
    forces: Vec<Force>,
    beyond_limits: Vec<Excess>,
    warnings: Vec<String>,
    qpos: Vec<f64>,
    links: Vec<LinkPose>,
}

impl Report {
    fn new(args: &PlayArgs, run: &Run<'_>, player: &Player, steps: usize) -> Self {
        let m = run.m;
        let poses = player.link_poses();
        let links = m.moving_links().filter(|(_, l)| !l.auxiliary);
        let link =
            |(id, l): (LinkId, &forks_mechanism::Link)| LinkPose::new(&l.name, &poses[id.index()]);
        let excesses = run.motion.excesses(m);
        let warning = |e: &forks_control::keyframe::Excess| {
            format!(
                "the curve of {} reaches {} at {} s, beyond its limit of {}: more keys, or \
                 method = \"monotone\"",
                e.joint,
                short(e.value),
                short(e.time),
                short(e.limit)
            )
        };
        Self {
            model: m.name().to_string(),
            integrator: args.integrator.name(),
            start: run.motion.range().0,
            end: player.time(),
            steps,
            largest_miss: run.missed,
            forces: (run.names.iter().zip(&run.largest))
                .map(|((joint, unit), l)| Force { joint: joint.clone(), unit, largest: *l })
                .collect(),
            warnings: excesses.iter().map(warning).collect(),
            beyond_limits: (excesses.into_iter())
                .map(|e| Excess {
                    joint: e.joint,
                    coordinate: e.coordinate,
                    time: e.time,
                    value: e.value,
                    limit: e.limit,
                })
                .collect(),
            qpos: player.positions()[..m.tree_position_count()].to_vec(),
            links: links.map(link).collect(),
        }
    }

    fn text(&self) -> String {
        let mut out = Text::new(24);
        out.line("model", &self.model);
        out.line("integrator", self.integrator);
        out.line("from (s)", short(self.start));
        out.line("to (s)", short(self.end));
        out.line("steps", self.steps);
        out.line("largest miss (m, rad)", short(self.largest_miss));
        let mut forces = TextTable::new()
            .column("joint", Align::Left)
            .column("largest", Align::Right)
            .column("unit", Align::Left);
        for f in &self.forces {
            forces.push(vec![f.joint.clone(), short(f.largest), f.unit.into()]);
        }
        out.tables([("forces on joints with keys", forces)]);
        let table = LinkPose::table("link", &self.links);
        out.block(format_args!("positions at the end\n{table}"));
        out.finish()
    }
}
