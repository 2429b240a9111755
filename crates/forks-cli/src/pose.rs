//! `forks pose`: a pose in which links are where they are dragged to.

use std::{process::ExitCode, sync::Arc};

use forks_control::ik::{Handle, IkReport, IkStatus, InverseKinematics};
use forks_io::{Align, TextTable, json};
use forks_mechanism::{
    LinkId, Mechanism,
    lie::{Pose, glam::DVec3, so3::quaternion_from_wxyz},
};
use forks_reduce::{Effector, ReduceError};
use serde::Serialize;

use crate::{
    error::CliError,
    model::{Model, joint_name},
    output::{self, LinkPose, Text, short},
    pose_args::PoseArgs,
};

/// Runs the command.
pub(crate) fn run(args: &PoseArgs) -> Result<ExitCode, CliError> {
    let model = Model::load(&args.model)?;
    let m = Arc::new(model.mechanism.clone());
    let wrong = |source| CliError::Pose { path: args.model.path.clone(), source };
    let mut ik = InverseKinematics::new(Arc::clone(&m), &model.positions).map_err(wrong)?;
    ik.set_root(args.root.into());
    let start = ik.link_poses();
    let pinned = args.pin.iter().map(|l| (l, true));
    for (name, turn) in pinned.chain(args.pin_point.iter().map(|l| (l, false))) {
        let e = find(args, &m, name)?;
        let target = start[e.link.index()] * e.link_from_effector;
        let mut handle = Handle::pose(name, e.link, e.link_from_effector, target);
        handle.rotation = [turn; 3];
        ik.pin(handle).map_err(wrong)?;
    }
    for d in &args.drag {
        let e = find(args, &m, &d.link)?;
        let position = DVec3::from_array(d.position);
        let rotation = d.quaternion.map(|q| quaternion_from_wxyz(q).normalize());
        let target = Pose::new(rotation.unwrap_or_default(), position);
        let mut handle = Handle::pose(&d.link, e.link, e.link_from_effector, target);
        handle.rotation = [rotation.is_some(); 3];
        ik.drag(0, handle).map_err(wrong)?;
    }
    let found = ik.follow().map_err(wrong)?;
    if let Some(path) = &args.output {
        let state = State { qpos: &found.positions[..m.tree_position_count()] };
        json::save(path, &state)?;
    }
    let report = Report::new(args, &m, &ik, &found);
    let code = output::print(&report, args.model.json, Report::text)?;
    match found.status {
        IkStatus::Reached => Ok(code),
        status => {
            let first = &found.unmet[0];
            let unit = if first.row.starts_with("turn") { "rad" } else { "m" };
            let problem = format!(
                "{}: {} misses {} {unit} along {}",
                status.name(),
                first.name,
                short(first.by),
                first.row
            );
            Err(CliError::NotReached { path: args.model.path.clone(), problem })
        }
    }
}

/// A link or site, or what is there instead.
fn find(args: &PoseArgs, m: &Mechanism, name: &str) -> Result<Effector, CliError> {
    Effector::find(m, name).map_err(|source| match source {
        ReduceError::UnknownEffector { name } => {
            let links: Vec<&str> = match name.starts_with("site:") {
                true => m.frames().iter().map(|f| f.name.as_str()).collect(),
                false => m.moving_links().map(|(_, l)| l.name.as_str()).collect(),
            };
            let kind = if name.starts_with("site:") { "sites" } else { "links" };
            let known = match links.len() {
                0 => "none".to_string(),
                1..=12 => links.join(", "),
                n => format!("{} and {} more", links[..10].join(", "), n - 10),
            };
            CliError::UnknownLink { path: args.model.path.clone(), name, kind, known }
        }
        source => CliError::reduce(&args.model.path, source),
    })
}

/// A state file.
#[derive(Serialize)]
struct State<'a> {
    qpos: &'a [f64],
}

#[derive(Serialize)]
struct Row {
    name: String,
    row: String,
    by: f64,
}

#[derive(Serialize)]
struct AtLimit {
    joint: String,
    coordinate: usize,
    limit: f64,
}

#[derive(Serialize)]
struct Report {
    model: String,
    start: String,
    status: &'static str,
    iterations: usize,
    qpos: Vec<f64>,
    unmet: Vec<Row>,
    at_limit: Vec<AtLimit>,
    links: Vec<LinkPose>,
}

impl Report {
    fn new(args: &PoseArgs, m: &Mechanism, ik: &InverseKinematics, found: &IkReport) -> Self {
        let poses = ik.link_poses();
        let links = m.moving_links().filter(|(_, l)| !l.auxiliary);
        let link =
            |(id, l): (LinkId, &forks_mechanism::Link)| LinkPose::new(&l.name, &poses[id.index()]);
        Self {
            model: m.name().to_string(),
            start: Model::pose_name(&args.model),
            status: found.status.name(),
            iterations: found.iterations,
            qpos: found.positions[..m.tree_position_count()].to_vec(),
            unmet: (found.unmet.iter())
                .map(|u| Row { name: u.name.clone(), row: u.row.clone(), by: u.by })
                .collect(),
            at_limit: (found.limits.iter())
                .map(|l| AtLimit {
                    joint: joint_name(m, l.joint, l.joint.index()),
                    coordinate: l.coordinate,
                    limit: l.limit,
                })
                .collect(),
            links: links.map(link).collect(),
        }
    }

    fn text(&self) -> String {
        let mut out = Text::new(12);
        out.line("model", &self.model);
        out.line("from", &self.start);
        out.line("status", self.status);
        out.line("steps", self.iterations);
        let mut unmet = TextTable::new()
            .column("unmet", Align::Left)
            .column("along", Align::Left)
            .column("by (m, rad)", Align::Right);
        for u in &self.unmet {
            unmet.push(vec![u.name.clone(), u.row.clone(), short(u.by)]);
        }
        let mut limits = TextTable::new()
            .column("joint", Align::Left)
            .columns(["coordinate", "limit (m, rad)"], Align::Right);
        for l in &self.at_limit {
            limits.push(vec![l.joint.clone(), l.coordinate.to_string(), short(l.limit)]);
        }
        out.tables([("rows that are not met", unmet), ("coordinates at their limits", limits)]);
        out.block(LinkPose::table("link", &self.links));
        out.finish()
    }
}
