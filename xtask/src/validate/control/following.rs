//! Prediction against set points: fingertips that follow moving places, the hand with all its
//! joints.

use std::{f64::consts::TAU, path::Path, sync::Arc};

use forks_direct::{
    Direct,
    spec::{DirectSpec, MpcKind, Way},
};
use forks_mechanism::lie::{Pose, SplitMix64, glam::DVec3};
use forks_mpc::{Commands, Goal, set_point};
use forks_rom::{EffectorState, Stepper, System};
use forks_sim::scene::{Fidelity, Scene, spec::SceneSpec};

use crate::validate::record::{Recorder, larger};

/// Generated ways.
const WAYS: u64 = 8;
/// The part of their bounds that targets of servos need at most where they have time: what follows
/// without delay needs more.
const PART: f64 = 1.0 / 3.0;
/// Places on a circle.
const ROUND: usize = 24;
/// A way's keys, per second, and the time in which its motion grows to its size, s.
const KEYS: usize = 20;
const GROWTH: f64 = 0.5;

/// Places of every effector relative to where it starts, by key.
type Places = Vec<Vec<Vec<f64>>>;

pub(super) fn check(fixtures: &Path, out: &mut Recorder) -> Result<(), String> {
    let path = fixtures.join("scenes/direct/hand-follows.toml");
    let (spec, scene) = Direct::read(&path).map_err(|e| e.to_string())?;
    let bound = spec.mpc.first().map_or(0.0, |m| m.largest);
    let times: Vec<f64> = {
        let count = (scene.world.duration * KEYS as f64).ceil() as usize;
        (0..=count).map(|k| k as f64 / KEYS as f64).collect()
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let reduced = Scene::build(scene, folder, Fidelity::Reduced).map_err(|e| e.to_string())?;
    let hand = reduced.mechanisms.first().ok_or("the scene has no mechanism")?;
    let model = hand.problem().and_then(|p| hand.reduced(&p)).map_err(|e| e.to_string())?;
    let stepper = Stepper::new(Arc::new(model), reduced.spec.world.step);
    let stepper = stepper.map_err(|e| e.to_string())?;
    let (mut worst, mut least, mut most) = (0.0f64, f64::INFINITY, 0.0f64);
    for seed in 0..WAYS {
        let way = held_within_bounds(&stepper, PART * bound, &times, seed)?;
        let change = Some((&times[..], &way));
        let held = rms(&path, MpcKind::SetPoint, change)?;
        let followed = rms(&path, MpcKind::Predict, change)?;
        worst = larger(worst, followed / held);
        (least, most) = (least.min(followed), larger(most, followed));
    }
    let what = format!("{WAYS} ways that servos can hold");
    out.info(&format!("hand, all joints, {what}: least rms error by prediction, m"), least);
    out.info(&format!("hand, all joints, {what}: largest rms error by prediction, m"), most);
    out.at_most(
        &format!("error by prediction over that by set points, worst of {what}"),
        worst,
        1.0 / 3.0,
    );
    let held = rms(&path, MpcKind::SetPoint, None)?;
    let followed = rms(&path, MpcKind::Predict, None)?;
    out.info("hand on circles, all joints: rms error by set points, m", held);
    out.info("hand on circles, all joints: rms error by prediction, m", followed);
    out.info(
        "farthest of its circles that servos hold within bounds, m",
        left_at_rest(&stepper, &spec)?,
    );
    out.at_most("the same ratio for circles", followed / held, 1.0 / 3.0);
    circles_out_of_reach(&path, &stepper, out)
}

/// The thumb's circle in planes in which it cannot be held within the bounds of the servos: what is
/// left is left to both, and prediction shall not be the worse one.
fn circles_out_of_reach(path: &Path, stepper: &Stepper, out: &mut Recorder) -> Result<(), String> {
    let (mut worst, mut nearest) = (0.0f64, f64::INFINITY);
    for rpy in [[0.0, 90.0, 0.0], [0.0, 0.0, 0.0], [0.0, 45.0, 30.0]] {
        let turned = |kind| -> Result<(DirectSpec, SceneSpec), String> {
            let (mut spec, scene) = Direct::read(path).map_err(|e| e.to_string())?;
            for m in &mut spec.mpc {
                m.kind = kind;
                m.goals.iter_mut().rev().take(1).for_each(|g| g.way.plane.rpy_deg = rpy);
            }
            Ok((spec, scene))
        };
        let (spec, scene) = turned(MpcKind::SetPoint)?;
        let left = left_at_rest(stepper, &spec)?;
        nearest = nearest.min(left);
        let held = run(path, &spec, scene)?;
        let (spec, scene) = turned(MpcKind::Predict)?;
        let followed = run(path, &spec, scene)?;
        let what = format!("thumb's plane {rpy:?}");
        out.info(&format!("farthest of a circle that servos hold within bounds, {what}, m"), left);
        let ratio = followed / held;
        out.info(&format!("error by prediction over that by set points, {what}"), ratio);
        worst = larger(worst, ratio);
    }
    out.at_most("0.1 mm over what bounds leave of these circles at rest", 1e-4 / nearest, 1.0);
    out.at_most("worst ratio for circles that bounds keep the thumb from", worst, 1.0);
    Ok(())
}

/// The largest error of a tip on its circle where servos are given all the time they want.
fn left_at_rest(stepper: &Stepper, spec: &DirectSpec) -> Result<f64, String> {
    let mut largest = 0.0f64;
    for m in &spec.mpc {
        let count = Commands::Servos.count(stepper);
        let (bounds, mut commands) = (vec![(-m.largest, m.largest); count], vec![0.0; count]);
        for k in 0..ROUND {
            let angle = TAU * k as f64 / ROUND as f64;
            let goals: Vec<(Goal, Pose)> = (m.goals.iter().enumerate())
                .map(|(i, g)| {
                    let rest = stepper.data().effectors[i].rest;
                    let radius = g.way.circle.map_or(0.0, |c| c.radius);
                    let (s, c) = angle.sin_cos();
                    let way = g.way.plane.pose().rotation * DVec3::new(c - 1.0, s, 0.0) * radius;
                    (Goal::position(i), Pose { translation: rest.translation + way, ..rest })
                })
                .collect();
            let found = set_point(stepper, &Commands::Servos, &goals, &bounds, &[], &commands)
                .map_err(|e| e.to_string())?;
            for e in found.errors.chunks_exact(6) {
                largest = larger(largest, DVec3::from_slice(&e[..3]).length());
            }
            commands = found.commands;
        }
    }
    Ok(largest)
}

/// Where effectors rest under targets of servos that swing once a second, every one as far as it
/// likes within `size`, each at its own phase.
fn held_within_bounds(
    stepper: &Stepper,
    size: f64,
    times: &[f64],
    seed: u64,
) -> Result<Places, String> {
    let mut rng = SplitMix64::new(seed);
    let data = stepper.data();
    let servos: Vec<(f64, f64)> =
        data.servos.iter().map(|_| (rng.range(-size, size), rng.range(0.0, TAU))).collect();
    let (n, count) = (stepper.dof(), data.effectors.len());
    let (mut state, work, still) = (stepper.state(), stepper.workspace(), vec![0.0; n]);
    let mut at = vec![EffectorState::new(n); count];
    let mut way = vec![Vec::with_capacity(times.len()); count];
    for t in times {
        let s = (t / GROWTH).min(1.0);
        let grown = s * s * (3.0 - 2.0 * s);
        let targets: Vec<f64> =
            servos.iter().map(|(a, phase)| grown * a * (TAU * t + phase).sin()).collect();
        let rest = stepper.solve_static(&[], &targets).map_err(|e| e.to_string())?;
        stepper.set(&mut state, &rest.coordinates, &still).map_err(|e| e.to_string())?;
        stepper.effectors(&state, &work, &still, &mut at);
        for ((keys, at), effector) in way.iter_mut().zip(&at).zip(&data.effectors) {
            let moved = at.pose.translation - effector.rest.translation;
            keys.push(moved.to_array().to_vec());
        }
    }
    Ok(way)
}

/// The rms error of the scene's tips; along other ways if there are some.
fn rms(path: &Path, kind: MpcKind, ways: Option<(&[f64], &Places)>) -> Result<f64, String> {
    let (mut spec, scene) = Direct::read(path).map_err(|e| e.to_string())?;
    for m in &mut spec.mpc {
        m.kind = kind;
        if let Some((times, ways)) = ways {
            for (goal, keys) in m.goals.iter_mut().zip(ways) {
                goal.way = Way {
                    times: times.to_vec(),
                    keys: keys.clone(),
                    relative: true,
                    ..Default::default()
                };
            }
        }
    }
    run(path, &spec, scene)
}

/// Runs to the end, m.
fn run(path: &Path, spec: &DirectSpec, scene: SceneSpec) -> Result<f64, String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut direct =
        Direct::build(spec, scene, folder, Fidelity::Full).map_err(|e| e.to_string())?;
    for _ in 0..direct.scene.step_count() {
        let _ = direct.step().map_err(|e| e.to_string())?;
    }
    let errors: Vec<f64> =
        direct.watched().filter(|(_, w)| w.unit == "m").map(|(_, w)| w.rms()).collect();
    let mean = errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64;
    Ok(mean.sqrt())
}
