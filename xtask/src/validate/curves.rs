//! Constraint error against displacement (\[A16\] Fig. 7) and the reduced pose beside the full one
//! (Fig. 5).

use forks_io::{Cell, CsvTable};
use forks_mechanism::{
    LinkId,
    kinematics::{Connection, connections},
    lie::{Pose, Wrench, glam::DVec3},
};
use forks_reduce::{relative_constraint_error, relative_displacement};
use forks_rom::{EffectorLoad, LoadFrame, Reconstruction, ReducedModel, StaticStatus};

use super::{
    case::Case,
    record::{Recorder, larger},
    scenario::Curves,
};
use crate::svg::{Axis, Drawing, Layer, LinePlot, Series, Stroke, View};

/// Points on a curve.
const POINTS: usize = 40;
/// Smallest displacement at which the order of growth is measured.
const SMALL: f64 = 2e-3;

/// One point of a curve.
#[derive(Clone, Copy)]
struct Point {
    force: f64,
    displacement: f64,
    twist_error: f64,
    joint_space_error: f64,
    twist_angle: f64,
    joint_space_angle: f64,
}

pub(crate) fn check(c: &Curves, case: &Case, out: &mut Recorder) -> Result<(), String> {
    let tracer = Tracer::new(case);
    let curves: Vec<(DVec3, Vec<Point>)> = c
        .directions
        .iter()
        .map(|d| {
            let direction = DVec3::from_array(*d).normalize();
            (direction, tracer.curve(direction, c.until))
        })
        .collect();
    if curves.iter().any(|(_, points)| points.len() < 3) {
        out.fail("Fig. 7: curves", 0.0, "a direction does not move the effector");
        return Ok(());
    }
    let start = curves.iter().map(|(_, p)| p[0].twist_error.max(p[0].joint_space_error));
    out.at_most("Fig. 7: constraint error at rest", start.fold(0.0, larger), 1e-12);
    type Mode = (&'static str, fn(&Point) -> f64, fn(&Point) -> f64);
    let modes: [Mode; 2] = [
        ("twists", |p| p.twist_error, |p| p.twist_angle),
        ("joint space", |p| p.joint_space_error, |p| p.joint_space_angle),
    ];
    for (mode, value, angle) in modes {
        let at_tenth =
            curves.iter().filter_map(|(_, p)| interpolated(p, 0.1, value)).fold(0.0, larger);
        let check = format!("Fig. 7: error at displacement 0.1, {mode}");
        out.at_most(&check, at_tenth, c.bound_at_tenth);
        let at_tenth =
            curves.iter().filter_map(|(_, p)| interpolated(p, 0.1, angle)).fold(0.0, larger);
        let check = format!("Fig. 7: angles at displacement 0.1, {mode} (rad)");
        out.at_most(&check, at_tenth, c.angle_bound_at_tenth);
        let orders = curves.iter().filter_map(|(d, _)| tracer.order(*d, value));
        let worst = orders.map(|o| (o - 2.0).abs()).fold(0.0, larger);
        out.at_most(&format!("Fig. 7: error is of second order, {mode}"), worst, 0.1);
    }
    report_curves(&curves, out)?;
    overlay(c, case, &tracer.connections, out)
}

/// Follows the reduced model under growing forces.
struct Tracer<'a> {
    case: &'a Case,
    model: &'a ReducedModel,
    connections: Vec<Connection>,
}

impl<'a> Tracer<'a> {
    fn new(case: &'a Case) -> Self {
        let connections = connections(case.problem.mechanism());
        Self { case, model: &case.reduction.model, connections }
    }

    fn point(&self, direction: DVec3, force: f64) -> Option<Point> {
        let load = world_force(direction * force);
        let s = self.model.solve_static(&[load], &[]).ok()?;
        if s.status != StaticStatus::Converged {
            return None;
        }
        let m = self.case.problem.mechanism();
        let error = |mode| {
            relative_constraint_error(m, &self.connections, self.model, &s.coordinates, &[], mode)
        };
        let twist = error(Reconstruction::Twist);
        let joint_space = error(Reconstruction::JointSpace);
        let rest = &self.model.data().effectors[0].rest;
        Some(Point {
            force,
            displacement: relative_displacement(
                rest,
                &self.model.effector_pose(0, &s.coordinates),
                self.case.r(),
            ),
            twist_error: twist.position,
            twist_angle: twist.angle,
            joint_space_error: joint_space.position,
            joint_space_angle: joint_space.angle,
        })
    }

    /// A force that displaces by about `displacement`, from the linear model.
    fn force_for(&self, direction: DVec3, displacement: f64) -> Option<f64> {
        let mut force = 1.0;
        for _ in 0..60 {
            // Where there is no solution the force is too large.
            let moved = self.point(direction, force).map_or(f64::INFINITY, |p| p.displacement);
            if moved > 1e-9 && moved < 0.05 {
                return Some(force * displacement / moved);
            }
            force *= if moved < 0.05 { 8.0 } else { 0.25 };
        }
        None
    }

    fn curve(&self, direction: DVec3, until: f64) -> Vec<Point> {
        let Some(mut last) = self.force_for(direction, 0.05) else { return vec![] };
        while let Some(p) = self.point(direction, 1.3 * last) {
            last *= 1.3;
            // Stiff directions straighten out before the end.
            if p.displacement >= until || last > 1e9 {
                break;
            }
        }
        (0..=POINTS)
            .filter_map(|k| self.point(direction, last * (k as f64 / POINTS as f64).powi(2)))
            .collect()
    }

    /// Order of growth of the error at small displacements.
    fn order(&self, direction: DVec3, value: fn(&Point) -> f64) -> Option<f64> {
        let force = self.force_for(direction, SMALL)?;
        let (a, b) = (self.point(direction, force)?, self.point(direction, 2.0 * force)?);
        // An error at rounding level has no order.
        (value(&a) > 1e-9)
            .then(|| (value(&b) / value(&a)).ln() / (b.displacement / a.displacement).ln())
    }
}

fn world_force(force: DVec3) -> EffectorLoad {
    EffectorLoad { effector: 0, wrench: Wrench::new(force, DVec3::ZERO), frame: LoadFrame::World }
}

fn interpolated(points: &[Point], at: f64, value: fn(&Point) -> f64) -> Option<f64> {
    points.windows(2).find(|w| w[0].displacement <= at && w[1].displacement >= at).map(|w| {
        let t = (at - w[0].displacement) / (w[1].displacement - w[0].displacement);
        value(&w[0]) + t * (value(&w[1]) - value(&w[0]))
    })
}

fn report_curves(curves: &[(DVec3, Vec<Point>)], out: &Recorder) -> Result<(), String> {
    let Some(path) = out.report_path("fig7.csv") else { return Ok(()) };
    let mut table = CsvTable::new([
        "direction",
        "force (N)",
        "relative displacement",
        "relative constraint error",
        "relative constraint error, joint space",
        "sum of angles (rad)",
        "sum of angles, joint space (rad)",
    ]);
    let plot = |title: &str| {
        let x = Axis::linear("relative displacement", "");
        LinePlot::new(title, x, Axis::linear("relative constraint error", ""))
    };
    let mut twists = plot("Constraint error, every link by its own twist");
    let mut joint_space = plot("Constraint error, reconstruction in joint space");
    let mut both = plot("Constraint error: own twists (solid), joint space (dashed)");
    for (d, points) in curves {
        let name = format!("{} {} {}", round(d.x), round(d.y), round(d.z));
        for p in points {
            let row: [Cell; 7] = [
                name.as_str().into(),
                p.force.into(),
                p.displacement.into(),
                p.twist_error.into(),
                p.joint_space_error.into(),
                p.twist_angle.into(),
                p.joint_space_angle.into(),
            ];
            table.push(row).map_err(|e| e.to_string())?;
        }
        let line = |f: fn(&Point) -> f64| {
            let points = points.iter().map(move |p| [p.displacement, f(p)]);
            Series::new(format!("force along {name}"), points)
        };
        let modes = [line(|p| p.twist_error), line(|p| p.joint_space_error)];
        both = both.series(modes[0].clone()).series(modes[1].clone().stroke(Stroke::Dashed));
        let [by_twist, by_joint] = modes;
        twists = twists.series(by_twist);
        joint_space = joint_space.series(by_joint);
    }
    table.save(path).map_err(|e| e.to_string())?;
    let files =
        [(twists, "fig7.svg"), (joint_space, "fig7-joint-space.svg"), (both, "fig7-both.svg")];
    for (plot, file) in files {
        if let Some(path) = out.report_path(file) {
            plot.save(path).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

fn round(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

/// The reduced pose under a force beside the full equilibrium.
fn overlay(
    c: &Curves,
    case: &Case,
    connections: &[Connection],
    out: &mut Recorder,
) -> Result<(), String> {
    let name = "Fig. 5: effector's error over its displacement";
    let force = DVec3::from_array(c.overlay_force);
    let full = case.equilibrium(&case.load_on_first(Wrench::new(force, DVec3::ZERO)));
    if !full.status.is_equilibrium() {
        out.fail(name, c.overlay_bound, format!("full solver: {}", full.status.name()));
        return Ok(());
    }
    let model = &case.reduction.model;
    let solution = model.solve_static(&[world_force(force)], &[]).map_err(|e| e.to_string())?;
    if solution.status != StaticStatus::Converged {
        out.fail(name, c.overlay_bound, format!("reduced model: {:?}", solution.status));
        return Ok(());
    }
    let effector = &case.problem.effectors[0];
    let at = full.world_from_link[effector.link.index()] * effector.link_from_effector;
    let rest = &model.data().effectors[0].rest;
    let reduced = model.effector_pose(0, &solution.coordinates);
    let moved = at.translation.distance(rest.translation);
    let error = reduced.translation.distance(at.translation) / moved.max(0.1 * case.r());
    out.at_most(name, error, c.overlay_bound);
    let Some(path) = out.report_path("fig5.svg") else { return Ok(()) };
    let rest_poses = case.problem.mechanism().link_poses(&case.problem.start);
    let reduced_poses = model.link_poses(&solution.coordinates, &[], Reconstruction::Twist);
    let lines = |poses: &[Pose]| skeleton(case, connections, poses);
    let [right, up] = c.view.map(DVec3::from_array);
    let view = View::new(right, up).map_err(|e| e.to_string())?;
    Drawing::new(format!("Static pose under {force} N"), view)
        .layer(Layer::new("rest", lines(&rest_poses)).stroke(Stroke::Dotted))
        .layer(Layer::new("full", lines(&full.world_from_link)))
        .layer(Layer::new("reduced", lines(&reduced_poses)).stroke(Stroke::Dashed))
        .save(path)
        .map_err(|e| e.to_string())
}

/// Lines from link origins over the joints' anchors to the next link's origin.
fn skeleton(case: &Case, connections: &[Connection], poses: &[Pose]) -> Vec<Vec<DVec3>> {
    let m = case.problem.mechanism();
    let line = |c: &Connection| {
        let (last, backwards) = c.joints[c.joints.len() - 1];
        let j = m.joint(last);
        let frame = if backwards { &j.parent_from_joint } else { &j.child_from_joint };
        let anchor = poses[c.to.index()].transform_point(frame.translation);
        let mut points = vec![anchor, poses[c.to.index()].translation];
        if c.from != LinkId::WORLD {
            points.insert(0, poses[c.from.index()].translation);
        }
        points
    };
    connections.iter().map(line).collect()
}
