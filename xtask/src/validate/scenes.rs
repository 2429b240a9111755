//! Scenes with contact over a long time: finite, above the ground, held things held, no energy from
//! nothing.

use std::path::Path;

use forks_io::{Cell, CsvTable};
use forks_mechanism::{
    Geometry,
    lie::{Pose, glam::DVec3},
};
use forks_sim::{
    CollisionShape, Owner, WorldStatus,
    scene::{Fidelity, Scene},
};
use serde::Deserialize;

use super::{
    record::{Recorder, larger},
    upright::{Base, Upright},
};
use crate::svg::{Axis, LinePlot, Series};

/// Which scenes, for how long, and what is allowed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenes {
    /// Simulated time, s.
    duration: f64,
    /// The same with `--nightly`.
    long: f64,
    /// How far a shape may be in a plane or height field after the first second, and in any other
    /// where there is neither, m.
    below_ground: f64,
    /// Seconds after the end of a scene's script from which what stands or lies is at rest.
    settled: f64,
    /// Bound of the growth of the energy at rest, part of the span of energies before.
    growth: f64,
    /// The scenes.
    #[serde(rename = "scene")]
    scenes: Vec<SceneCase>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneCase {
    /// File in `fixtures/scenes` without its ending.
    name: String,
    /// How deep shapes may be in each other, m.
    penetration: f64,
    /// Part of the steps that may be solved less exactly than asked.
    inexact: f64,
    #[serde(default)]
    held: Vec<Held>,
    /// For bases that float.
    upright: Option<Upright>,
}

/// A thing that stays near the mean of others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    /// A body, or `MECHANISM/EFFECTOR`.
    thing: String,
    /// The same, what holds it.
    by: Vec<String>,
    /// Largest distance, m.
    within: f64,
    /// From when on, s.
    #[serde(default)]
    from: f64,
}

impl Scenes {
    /// As long as with `--nightly`.
    pub(crate) fn lengthen(&mut self) {
        self.duration = self.long;
    }
}

/// What a run came to.
#[derive(Default)]
struct Seen {
    /// When numbers overflowed, s.
    not_finite: Option<f64>,
    /// Steps outside a model's range.
    outside: usize,
    inexact: usize,
    /// Deepest contact, m.
    penetration: f64,
    /// Deepest point below a plane or height field after the first second, m; none where there is
    /// neither.
    below: Option<f64>,
    /// Deepest contact after the first second, m.
    later: f64,
    bases: Vec<Base>,
    /// Largest distance for each held thing, m.
    apart: Vec<f64>,
    /// Time and energy once a second: total, kinetic.
    energy: Vec<[f64; 3]>,
}

/// Runs the scenes.
pub(crate) fn check(s: &Scenes, fixtures: &Path, out: &mut Recorder) -> Result<(), String> {
    for case in &s.scenes {
        let file = fixtures.join(format!("scenes/{}.toml", case.name));
        let mut scene = Scene::load(&file, Fidelity::Reduced).map_err(|e| e.to_string())?;
        let seen = run(s, case, &mut scene)?;
        record(s, case, &scene, &seen, out);
        report(case, &seen, out)?;
    }
    Ok(())
}

fn run(s: &Scenes, case: &SceneCase, scene: &mut Scene) -> Result<Seen, String> {
    let ground = Ground::of(scene);
    let mut seen = Seen {
        apart: vec![0.0; case.held.len()],
        bases: Base::all(scene),
        below: (!ground.surfaces.is_empty()).then_some(0.0),
        ..Seen::default()
    };
    let held: Vec<(Owner, Vec<Owner>)> =
        case.held.iter().map(|h| h.find(scene)).collect::<Result<_, _>>()?;
    let h = scene.spec.world.step;
    let second = (1.0 / h).round() as u64;
    for k in 0..(s.duration / h).round() as u64 {
        if k % second == 0 {
            let e = scene.world.energy();
            seen.energy.push([scene.world.time(), e.total(), e.kinetic]);
        }
        let report = scene.step();
        match report.status {
            WorldStatus::NotFinite { .. } => {
                seen.not_finite = Some(scene.world.time());
                return Ok(seen);
            }
            WorldStatus::OutOfRange { .. } => seen.outside += 1,
            _ => {}
        }
        seen.inexact += usize::from(report.inexact > 0);
        let deepest = scene.world.contacts().iter().map(|c| -c.gap).fold(0.0, larger);
        seen.penetration = seen.penetration.max(deepest);
        if k >= second {
            seen.later = seen.later.max(deepest);
            seen.below = seen.below.map(|b| b.max(-ground.clearance(scene)));
        }
        seen.bases.iter_mut().for_each(|b| b.see(scene));
        for ((most, h), (thing, by)) in seen.apart.iter_mut().zip(&case.held).zip(&held) {
            if scene.world.time() < h.from {
                continue;
            }
            let place = |o: &Owner| scene.owner_pose(*o).translation;
            let middle = by.iter().map(place).sum::<DVec3>() / by.len() as f64;
            *most = most.max(middle.distance(place(thing)));
        }
    }
    let e = scene.world.energy();
    seen.energy.push([scene.world.time(), e.total(), e.kinetic]);
    Ok(seen)
}

fn record(s: &Scenes, case: &SceneCase, scene: &Scene, seen: &Seen, out: &mut Recorder) {
    let name = |what: &str| format!("{}: {what}", case.name);
    if let Some(t) = seen.not_finite {
        out.fail(&name("finite to the end"), 0.0, format!("not finite at {t:.3} s"));
        return;
    }
    let steps = s.duration / scene.spec.world.step;
    out.equal(&name("steps outside a model's range"), seen.outside, 0);
    match seen.below {
        Some(depth) => {
            out.at_most(&name("depth in plane or height field (m)"), depth, s.below_ground);
        }
        None => {
            let row = "deepest contact after the first second (m)";
            out.at_most(&name(row), seen.later, s.below_ground);
        }
    }
    out.at_most(&name("deepest contact (m)"), seen.penetration, case.penetration);
    out.at_most(&name("steps solved less exactly"), seen.inexact as f64 / steps, case.inexact);
    for (h, apart) in case.held.iter().zip(&seen.apart) {
        out.at_most(&name(&format!("{} from what holds it (m)", h.thing)), *apart, h.within);
    }
    for base in &seen.bases {
        match &case.upright {
            Some(allowed) => base.record(allowed, &case.name, out),
            None => out.fail(&name("base"), 0.0, "the scenario says nothing of bases that float"),
        }
    }
    let rest_from = scene.spec.world.duration + s.settled;
    let (before, rest): (Vec<[f64; 3]>, Vec<[f64; 3]>) =
        seen.energy.iter().partition(|e| e[0] < rest_from);
    if rest.len() < 2 {
        return;
    }
    let totals = || before.iter().map(|e| e[1]);
    let span = totals().fold(f64::MIN, f64::max) - totals().fold(f64::MAX, f64::min);
    let (mut lowest, mut growth, mut kinetic) = (f64::MAX, 0.0f64, 0.0f64);
    for [_, total, moving] in &rest {
        lowest = lowest.min(*total);
        growth = growth.max(total - lowest);
        kinetic = kinetic.max(*moving);
    }
    out.at_most(&name("growth of the energy at rest / span"), growth / span, s.growth);
    out.at_most(&name("kinetic energy at rest / span"), kinetic / span, s.growth);
    let drift = (rest[rest.len() - 1][1] - rest[0][1]).abs() / span;
    out.at_most(&name("drift of the energy at rest / span"), drift, 1e-2);
}

/// Energies over time (CSV and SVG).
fn report(case: &SceneCase, seen: &Seen, out: &Recorder) -> Result<(), String> {
    let file = |ending: &str| out.report_path(&format!("{}-energy.{ending}", case.name));
    let (Some(table_file), Some(plot_file)) = (file("csv"), file("svg")) else { return Ok(()) };
    let mut table = CsvTable::new(["time_s", "total_J", "kinetic_J"]);
    for row in &seen.energy {
        table.push(row.map(Cell::from)).map_err(|e| e.to_string())?;
    }
    table.save(table_file).map_err(|e| e.to_string())?;
    let total = seen.energy.iter().map(|e| [e[0], e[1]]);
    let title = format!("Energy: {}", case.name);
    LinePlot::new(title, Axis::linear("time", "s"), Axis::linear("energy", "J"))
        .series(Series::new("total", total))
        .save(plot_file)
        .map_err(|e| e.to_string())
}

impl Held {
    fn find(&self, scene: &Scene) -> Result<(Owner, Vec<Owner>), String> {
        let find = |name: &String| {
            let mut owners = scene.shapes().map(|(o, _)| o);
            owners.find(|o| scene.owner_name(*o) == *name).ok_or(format!("no shape is on {name:?}"))
        };
        Ok((find(&self.thing)?, self.by.iter().map(find).collect::<Result<_, _>>()?))
    }
}

/// Planes and height fields, and the shapes that move.
struct Ground {
    surfaces: Vec<CollisionShape>,
    /// Owner, points in its frame, their radius.
    movers: Vec<(Owner, Vec<DVec3>, f64)>,
}

impl Ground {
    fn of(scene: &Scene) -> Self {
        let is_surface =
            |s: &CollisionShape| matches!(s.form, Geometry::Plane | Geometry::HeightField { .. });
        let (mut surfaces, mut movers) = (Vec::new(), Vec::new());
        for (owner, shape) in scene.shapes() {
            if owner == Owner::World {
                surfaces.extend(is_surface(shape).then(|| shape.clone()));
            } else {
                let (points, radius) = outline(&shape.form);
                let placed = points.into_iter().map(|p| shape.owner_from_shape.transform_point(p));
                movers.push((owner, placed.collect(), radius));
            }
        }
        Self { surfaces, movers }
    }

    /// Smallest distance of a shape from a surface, negative inside; infinite without surfaces.
    fn clearance(&self, scene: &Scene) -> f64 {
        let mut least = f64::INFINITY;
        for (owner, points, radius) in &self.movers {
            let pose = scene.owner_pose(*owner);
            for p in points.iter().map(|p| pose.transform_point(*p)) {
                for s in &self.surfaces {
                    least = least.min(above(s, p) - radius);
                }
            }
        }
        least
    }
}

/// Points whose hull, grown by a radius, is the form; of round bodies a good part of them.
fn outline(form: &Geometry) -> (Vec<DVec3>, f64) {
    let ring = |r: DVec3, z: f64| {
        (0..16).map(move |i| {
            let (s, c) = (std::f64::consts::TAU * f64::from(i) / 16.0).sin_cos();
            DVec3::new(c * r.x, s * r.y, z)
        })
    };
    match form {
        Geometry::Sphere { radius } => (vec![DVec3::ZERO], *radius),
        Geometry::Capsule { radius, half_length } => {
            (vec![DVec3::Z * *half_length, DVec3::Z * -*half_length], *radius)
        }
        Geometry::Box { half_extents } => {
            let sign = |k: usize, i: usize| if k >> i & 1 == 0 { 1.0 } else { -1.0 };
            let corner = |k| DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)) * *half_extents;
            ((0..8).map(corner).collect(), 0.0)
        }
        Geometry::Cylinder { radius, half_length } => {
            let r = DVec3::splat(*radius);
            (ring(r, *half_length).chain(ring(r, -half_length)).collect(), 0.0)
        }
        Geometry::Ellipsoid { radii } => {
            let tops = [DVec3::Z * radii.z, DVec3::Z * -radii.z];
            (ring(*radii, 0.0).chain(tops).collect(), 0.0)
        }
        Geometry::Hull { points } => (points.clone(), 0.0),
        _ => (vec![DVec3::ZERO], 0.0),
    }
}

/// Distance of a point from a surface; on a height field from the plane that touches it below the
/// point.
fn above(surface: &CollisionShape, point: DVec3) -> f64 {
    let pose: Pose = surface.owner_from_shape;
    let p = pose.inverse().transform_point(point);
    let Geometry::HeightField { size, columns, heights } = &surface.form else { return p.z };
    let rows = heights.len() / columns;
    // Cell and place in it, from 0 to 1.
    let cell = |x: f64, side: f64, n: usize| {
        let u = ((x / side + 0.5) * (n - 1) as f64).clamp(0.0, (n - 1) as f64);
        let i = (u.floor() as usize).min(n - 2);
        (i, u - i as f64, side / (n - 1) as f64)
    };
    let ((i, u, dx), (j, v, dy)) = (cell(p.x, size.x, *columns), cell(p.y, size.y, rows));
    let at = |i: usize, j: usize| heights[j * columns + i];
    let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
    let height = (1.0 - v) * ((1.0 - u) * a + u * b) + v * ((1.0 - u) * c + u * d);
    let slope_x = ((1.0 - v) * (b - a) + v * (d - c)) / dx;
    let slope_y = ((1.0 - u) * (c - a) + u * (d - b)) / dy;
    (p.z - height) / (1.0 + slope_x * slope_x + slope_y * slope_y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use forks_mechanism::lie::glam::DVec2;

    #[test]
    fn distances_from_a_slope_are_those_of_its_plane() {
        // z = x over 2 m by 2 m.
        let heights = vec![-1.0, 0.0, 1.0, -1.0, 0.0, 1.0];
        let form = Geometry::HeightField { size: DVec2::splat(2.0), columns: 3, heights };
        let slope = CollisionShape::new("slope", form).at(Pose::from_translation(DVec3::Z));
        let found = above(&slope, DVec3::new(0.25, 0.3, 1.25 + 2f64.sqrt()));
        assert!((found - 1.0).abs() < 4.0 * f64::EPSILON, "{found}");
        let plane = CollisionShape::new("plane", Geometry::Plane);
        assert_eq!(above(&plane, DVec3::new(3.0, 4.0, -0.5)), -0.5);
    }
}
