//! What the error of accelerations does to poses (\[R06\] Figures 1 and 5).

use forks_dynamics::adaptive::{AdaptiveOptions, AdaptivePlan, ErrorMeasure, Target};
use forks_io::{Cell, CsvTable};
use forks_mechanism::{
    LinkId, Mechanism,
    kinematics::connections,
    lie::{Pose, glam::DVec3},
};

use super::{Adaptive, Poses, forces, missed, plan, start, step, target};
use crate::{
    linkages::{Forces, Full, centers, centers_at, largest_distance},
    svg::{Drawing, Layer, Stroke, View},
    validate::record::Recorder,
};

/// Rounding of the two solvers over the largest acceleration: a ring of 30 is worse off than a tree
/// (EQUATIONS 1.4).
const ROUNDING: f64 = 1e-8;

pub(super) fn check(p: &Poses, a: &Adaptive, out: &mut Recorder) -> Result<(), String> {
    let m = a.linkage.mechanism(p.size.links);
    let forces = forces(a, &m, 1);
    let every_joint = Target::new(ErrorMeasure::RelativeJoint, 0.0);
    let exact = run(p, a, &m, &forces, &every_joint)?;
    let still = centers(&m, &m.start_positions());
    let largest = largest_distance(&still, &centers_at(&m, &exact.poses));
    out.at_most(
        "accelerations at the end = full solver's",
        agreement(a, &m, &forces, &exact)?,
        ROUNDING,
    );
    let mut table = CsvTable::new([
        "error threshold",
        "joints computed",
        "relative displacement error",
        "largest displacement (m)",
    ]);
    let mut layers = vec![
        ("start".to_owned(), Stroke::Dotted, m.link_poses(&m.start_positions())),
        ("all joints computed".to_owned(), Stroke::Solid, exact.poses.clone()),
    ];
    let mut rows = vec![(0.0, exact.joints, 0.0)];
    for (&exponent, &bound) in p.exponents.iter().zip(&p.bounds) {
        let found = run(p, a, &m, &forces, &target(exponent))?;
        let error = largest_distance(&centers_at(&m, &found.poses), &centers_at(&m, &exact.poses))
            / largest;
        out.at_most(&format!("2^-{exponent}: relative displacement error"), error, bound);
        rows.push((0.5f64.powi(exponent), found.joints, error));
        layers.push((format!("2^-{exponent}"), Stroke::Dashed, found.poses));
    }
    for (threshold, joints, error) in rows {
        let row: [Cell; 4] = [threshold.into(), joints.into(), error.into(), largest.into()];
        table.push(row).map_err(|e| e.to_string())?;
    }
    if let Some(path) = out.report_path("poses.csv") {
        table.save(path).map_err(|e| e.to_string())?;
    }
    let Some(path) = out.report_path("poses.svg") else { return Ok(()) };
    draw(p, a, &m, &forces, layers)?.save(path).map_err(|e| e.to_string())
}

/// Where a run ends.
struct End {
    q: Vec<f64>,
    poses: Vec<Pose>,
    /// Mean number of joints computed.
    joints: f64,
}

fn run(
    p: &Poses,
    a: &Adaptive,
    m: &Mechanism,
    forces: &Forces,
    target: &Target,
) -> Result<End, String> {
    let plan = plan(a, m, 0)?;
    let mut state = start(forces, &plan)?;
    let mut joints = 0;
    for _ in 0..p.size.steps {
        joints += step(&mut state, target)?.result.counters.joints_computed;
    }
    let q = state.positions().to_vec();
    let joints = joints as f64 / p.size.steps as f64;
    Ok(End { poses: m.link_poses(&q), q, joints })
}

/// Difference from the full solver's accelerations of the tree's joints at the end, without the
/// correction of loops, which the full solver does not know.
fn agreement(a: &Adaptive, m: &Mechanism, forces: &Forces, end: &End) -> Result<f64, String> {
    let options = AdaptiveOptions {
        time_step: a.time_step,
        loop_correction: 0.0,
        ..AdaptiveOptions::default()
    };
    let plan = AdaptivePlan::new(m, &options).map_err(|e| e.to_string())?;
    let mut state = start(forces, &plan)?;
    state.set_positions(&end.q).map_err(|e| e.to_string())?;
    state.solve(&Target::new(ErrorMeasure::RelativeJoint, 0.0));
    let mut full = Full::new(m).map_err(|e| e.to_string())?;
    let tree = &state.accelerations()[..m.tree_velocity_count()];
    Ok(missed(&mut full, forces, &end.q, tree)?.relative_joint)
}

/// Lines between the origins of connected links near the loaded one, and the force.
fn draw(
    p: &Poses,
    a: &Adaptive,
    m: &Mechanism,
    forces: &Forces,
    layers: Vec<(String, Stroke, Vec<Pose>)>,
) -> Result<Drawing, String> {
    let [right, up] = p.view.map(DVec3::from_array);
    let view = View::new(right, up).map_err(|e| e.to_string())?;
    let &(loaded, force) = forces.0.first().ok_or("no force")?;
    let is_near = |l: LinkId| l.index().abs_diff(loaded.index()) <= p.near;
    let pairs: Vec<[LinkId; 2]> = connections(m)
        .iter()
        .filter(|c| c.from != LinkId::WORLD && is_near(c.from) && is_near(c.to))
        .map(|c| [c.from, c.to])
        .collect();
    let title = format!("{} of {} links, {} steps", a.linkage.name(), p.size.links, p.size.steps);
    let mut drawing = Drawing::new(title, view);
    let mut extent = 0.0f64;
    let mut arrow_from = DVec3::ZERO;
    for (name, stroke, poses) in layers {
        let at = |l: LinkId| poses[l.index()].translation;
        let lines = pairs.iter().map(|pair| pair.map(at).to_vec());
        extent = pairs.iter().map(|x| at(x[0]).distance(at(loaded))).fold(extent, f64::max);
        arrow_from = at(loaded);
        drawing = drawing.layer(Layer::new(name, lines).stroke(stroke));
    }
    let arrow = vec![arrow_from, arrow_from + force.normalize_or_zero() * 0.2 * extent];
    Ok(drawing.layer(Layer::new("force", [arrow]).marks()))
}
