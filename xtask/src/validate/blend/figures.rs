//! \[A16\] Figures 6 and 7 with a blend that was placed automatically.
//!
//! Fig. 7: constraint error against displacement under growing forces along the region's axis and
//! along the loads of some samples, whose curves touch zero there. Fig. 6: the mechanism under the
//! farthest unseen load, the full solver's pose beside the single model's and beside the blend's;
//! every link is drawn on its own, so that gaps show.

use forks_blend::{BlendedModel, LinkBlend};
use forks_io::{Cell, CsvTable};
use forks_mechanism::lie::{Pose, glam::DVec3};
use forks_place::Forces;
use forks_reduce::relative_displacement;
use forks_rom::Reconstruction;
use rayon::prelude::*;

use super::{
    Study,
    rivals::{Rival, SINGLE},
    ruler::rest_under,
};
use crate::{
    svg::{Axis, Drawing, Layer, LinePlot, Series, Stroke, View},
    validate::record::{Recorder, larger},
};

/// Points on a curve.
const POINTS: usize = 60;
/// Curves through samples.
const THROUGH_SAMPLES: usize = 3;
/// Growth of the force while a curve's end is looked for.
const GROWTH: f64 = 1.25;
/// Steps of growth at most.
const STEPS: usize = 80;

/// A direction of pull: forces that are scaled.
struct Pull {
    name: String,
    effector: usize,
    forces: Forces,
    /// Multiples at which a sample was placed.
    sample: Option<f64>,
}

/// One point of a curve.
#[derive(Clone, Copy)]
struct Point {
    force: f64,
    displacement: f64,
    twists: f64,
    joint_space: f64,
    twist_angles: f64,
    joint_space_angles: f64,
    /// A sample is there.
    sample: bool,
}

pub(super) fn report(
    study: &Study<'_>,
    rivals: &[Rival],
    out: &mut Recorder,
) -> Result<(), String> {
    if out.report_path("").is_none() {
        return Ok(());
    }
    let Some(single) = rivals.iter().find(|r| r.name == SINGLE) else { return Ok(()) };
    figure_7(study, &single.model, out)?;
    figure_6(study, &single.model, out)
}

/// The axis, and the samples whose loads differ most in direction.
fn pulls(study: &Study<'_>) -> Vec<Pull> {
    let region = &study.settings.regions[0];
    let axis = DVec3::from_array(region.axis).normalize();
    let mut out = vec![Pull {
        name: format!("axis {}", name_of(axis)),
        effector: region.effector,
        forces: vec![(region.effector, axis)],
        sample: None,
    }];
    let direction = |f: &Forces| f.iter().find(|f| f.0 == region.effector).map(|f| f.1.normalize());
    let mut left: Vec<usize> = (0..study.placed.loads.len())
        .filter(|&i| direction(&study.placed.loads[i]).is_some())
        .collect();
    for _ in 0..THROUGH_SAMPLES {
        let apart = |i: usize| {
            let d = direction(&study.placed.loads[i]).unwrap_or(axis);
            let each = out.iter().map(|p| p.forces[0].1.normalize().dot(d));
            each.fold(f64::NEG_INFINITY, f64::max)
        };
        let next = left.iter().copied().min_by(|&a, &b| apart(a).total_cmp(&apart(b)));
        let Some(next) = next else { break };
        left.retain(|&i| i != next);
        let forces = &study.placed.loads[next];
        let size = forces.iter().map(|f| f.1.length()).fold(0.0, larger);
        let forces: Forces = forces.iter().map(|&(e, f)| (e, f / size)).collect();
        let d = direction(&forces).unwrap_or(axis);
        out.push(Pull {
            name: format!("sample {next}: {}", name_of(d)),
            effector: region.effector,
            forces,
            sample: Some(size),
        });
    }
    out
}

fn name_of(d: DVec3) -> String {
    let text = |x: f64| format!("{:.2}", if x.abs() < 0.005 { 0.0 } else { x });
    format!("({}, {}, {})", text(d.x), text(d.y), text(d.z))
}

fn point(
    study: &Study<'_>,
    model: &BlendedModel,
    pull: &Pull,
    force: f64,
    sample: bool,
) -> Option<Point> {
    let forces: Forces = pull.forces.iter().map(|&(e, f)| (e, f * force)).collect();
    let x = rest_under(model, &forces)?;
    let gaps = |mode| study.ruler.gaps(model, &x, mode, LinkBlend::Average);
    let (twists, twist_angles) = gaps(Reconstruction::Twist);
    let (joint_space, joint_space_angles) = gaps(Reconstruction::JointSpace);
    let e = pull.effector;
    let pose = model.effector_pose(e, &x);
    Some(Point {
        force,
        displacement: relative_displacement(&study.ruler.rest[e], &pose, study.ruler.r),
        twists,
        joint_space,
        twist_angles,
        joint_space_angles,
        sample,
    })
    .filter(|p| p.twists.is_finite() && p.joint_space.is_finite())
}

/// Points from rest up to the region's displacement, or as far as the model goes.
fn curve(study: &Study<'_>, model: &BlendedModel, pull: &Pull) -> Vec<Point> {
    let until = study.settings.regions[0].until;
    let largest = |f: &Forces| f.iter().map(|f| f.1.length()).fold(0.0, larger);
    let known = study.unseen.iter().map(|t| largest(&t.forces)).fold(0.0, larger);
    let mut end = 1e-2 * known;
    for _ in 0..STEPS {
        let Some(p) = point(study, model, pull, end * GROWTH, false) else { break };
        end *= GROWTH;
        // Stiff directions straighten out before the end.
        if p.displacement >= until || p.force >= 4.0 * known {
            break;
        }
    }
    let mut forces: Vec<(f64, bool)> =
        (0..=POINTS).map(|k| (end * (k as f64 / POINTS as f64).powi(2), false)).collect();
    forces.extend(pull.sample.filter(|s| *s <= end).map(|s| (s, true)));
    forces.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all = forces.par_iter().map(|&(f, s)| point(study, model, pull, f, s));
    let found: Vec<Option<Point>> = all.collect();
    found.into_iter().flatten().filter(|p| p.displacement <= until || p.sample).collect()
}

fn figure_7(study: &Study<'_>, single: &BlendedModel, out: &Recorder) -> Result<(), String> {
    let mut table = CsvTable::new([
        "form",
        "direction",
        "force (N)",
        "relative displacement",
        "relative constraint error",
        "relative constraint error, joint space",
        "sum of angles (rad)",
        "sum of angles, joint space (rad)",
        "sample",
    ]);
    let pulls = pulls(study);
    let curves: Vec<[Vec<Point>; 2]> = pulls
        .iter()
        .map(|p| [curve(study, &study.placed.model, p), curve(study, single, p)])
        .collect();
    for (pull, both) in pulls.iter().zip(&curves) {
        for (form, points) in ["blended", "single"].iter().zip(both) {
            for p in points {
                let row: [Cell; 9] = [
                    (*form).into(),
                    pull.name.as_str().into(),
                    p.force.into(),
                    p.displacement.into(),
                    p.twists.into(),
                    p.joint_space.into(),
                    p.twist_angles.into(),
                    p.joint_space_angles.into(),
                    f64::from(u8::from(p.sample)).into(),
                ];
                table.push(row).map_err(|e| e.to_string())?;
            }
        }
    }
    if let Some(path) = out.report_path("fig7.csv") {
        table.save(path).map_err(|e| e.to_string())?;
    }
    type Mode = (&'static str, &'static str, fn(&Point) -> f64);
    let modes: [Mode; 2] = [
        ("twist maps", "fig7.svg", |p| p.twists),
        ("joint space", "fig7-joint-space.svg", |p| p.joint_space),
    ];
    for (mode, file, value) in modes {
        let Some(path) = out.report_path(file) else { continue };
        plot(mode, value, &pulls, &curves).save(path).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Colours of series repeat after so many: with empty ones between them a direction's lines have
/// one colour.
const COLOURS: usize = 8;

fn plot(
    mode: &str,
    value: fn(&Point) -> f64,
    pulls: &[Pull],
    curves: &[[Vec<Point>; 2]],
) -> LinePlot {
    let x = Axis::linear("relative displacement", "");
    let y = Axis::linear("relative constraint error", "");
    let title = format!("Blended (solid, samples circled) and single model (dashed), {mode}");
    let mut plot = LinePlot::new(title, x, y);
    let at = |p: &Point| [p.displacement, value(p)];
    let padding = |mut plot: LinePlot| {
        for _ in pulls.len()..COLOURS {
            plot = plot.series(Series::new("", []));
        }
        plot
    };
    for (pull, [blended, _]) in pulls.iter().zip(curves) {
        plot = plot.series(Series::new(pull.name.clone(), blended.iter().map(at)));
    }
    plot = padding(plot);
    for [_, single] in curves {
        plot = plot.series(Series::new("", single.iter().map(at)).stroke(Stroke::Dashed));
    }
    plot = padding(plot);
    for [blended, _] in curves {
        let samples = blended.iter().filter(|p| p.sample).map(at);
        plot = plot.series(Series::new("", samples).stroke(Stroke::None).marks());
    }
    plot
}

/// The pose under the farthest unseen load.
fn figure_6(study: &Study<'_>, single: &BlendedModel, out: &Recorder) -> Result<(), String> {
    let farthest = study.unseen.iter().max_by(|a, b| a.displacement.total_cmp(&b.displacement));
    let Some(truth) = farthest else { return Ok(()) };
    let [right, up] = study.settings.view.map(DVec3::from_array);
    let m = study.case.problem.mechanism();
    let rest = m.link_poses(&study.case.problem.start);
    let forms = [("blended", &study.placed.model), ("single", single)];
    for (name, model) in forms {
        let Some(path) = out.report_path(&format!("fig6-{name}.svg")) else { continue };
        let poses = rest_under(model, &truth.forces).and_then(|x| {
            study.ruler.link_poses(model, &x, Reconstruction::Twist, LinkBlend::Average)
        });
        let view = View::new(right, up).map_err(|e| e.to_string())?;
        let title = format!("Relative displacement {:.2}: {name}", truth.displacement);
        let mut drawing = Drawing::new(title, view)
            .layer(Layer::new("rest", bars(study, &rest)).stroke(Stroke::Dotted));
        if let Some(poses) = poses {
            drawing = drawing.layer(Layer::new(name, bars(study, &poses)).marks());
        }
        let full = bars(study, &truth.equilibrium.world_from_link);
        let drawing = drawing.layer(Layer::new("full", full).stroke(Stroke::Dashed));
        drawing.save(path).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Each link on its own: lines between its joints' anchors, or to its centre of mass where it has
/// but one.
fn bars(study: &Study<'_>, poses: &[Pose]) -> Vec<Vec<DVec3>> {
    let m = study.case.problem.mechanism();
    let mut anchors: Vec<Vec<DVec3>> = vec![Vec::new(); m.links().len()];
    for c in &study.ruler.connections {
        let ends = [(0, c.from, true), (c.joints.len() - 1, c.to, false)];
        for (k, link, at_start) in ends {
            let (id, backwards) = c.joints[k];
            let j = m.joint(id);
            let frame =
                if at_start != backwards { &j.parent_from_joint } else { &j.child_from_joint };
            anchors[link.index()].push(frame.translation);
        }
    }
    let mut out = Vec::new();
    // The ground is not drawn.
    for (l, own) in anchors.iter().enumerate().skip(1) {
        let at = |p: DVec3| poses[l].transform_point(p);
        match own[..] {
            [] => {}
            [only] => out.push(vec![at(only), at(m.links()[l].inertia.center_of_mass)]),
            _ => out.push(own.iter().map(|&p| at(p)).collect()),
        }
    }
    out
}
