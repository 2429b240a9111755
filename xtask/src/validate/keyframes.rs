//! Curves through keys, and what their playback does with the rest of a mechanism.

use std::sync::Arc;

use forks_control::{
    keyframe::{
        BSpline, End, Ends, JointKeys, Motion, RotationEnd, RotationSpline, Warp, WarpError,
    },
    playback::{At, Group, Player, Scheme, Timeline, TimelineError},
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    kinematics::link_twists,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
        so3::{exp_rotation, log_rotation},
    },
};
use forks_testkit::Rng;
use serde::Deserialize;

use super::record::{Recorder, larger};
use crate::words::said;

/// How much of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keyframes {
    /// Random curves of each kind.
    curves: u64,
    /// Length of playbacks, s.
    seconds: f64,
    /// Random ways back on a timeline.
    rewinds: usize,
}

/// All lines.
pub(crate) fn check(k: &Keyframes, out: &mut Recorder) -> Result<(), String> {
    numbers(k, out)?;
    rotations(k, out)?;
    warps(out);
    playback(k, out)?;
    servos(out)?;
    switch(out)?;
    rewinds(k, out)
}

/// Eight keys 0.2 to 0.5 s apart.
fn times(rng: &mut Rng) -> Vec<f64> {
    let mut out = vec![0.0];
    while out.len() < 8 {
        out.push(out[out.len() - 1] + rng.range(0.2, 0.5));
    }
    out
}

fn numbers(k: &Keyframes, out: &mut Recorder) -> Result<(), String> {
    for degree in [3, 5] {
        let mut rng = Rng::new(degree as u64);
        let [mut hit, mut slope, mut jump, mut ends] = [0.0f64; 4];
        for _ in 0..k.curves {
            let times = times(&mut rng);
            let keys: Vec<Vec<f64>> = times.iter().map(|_| vec![rng.symmetric()]).collect();
            let mut end = || End {
                velocity: Some(vec![rng.symmetric()]),
                acceleration: (degree == 5).then(|| vec![rng.symmetric()]),
            };
            let given = [end(), end()];
            let curve = BSpline::interpolating(degree, &times, &keys, [&given[0], &given[1]])
                .map_err(said)?;
            let at = |t: f64, d: usize| {
                let mut x = [0.0];
                curve.evaluate(t, d, &mut x);
                x[0]
            };
            for (t, key) in times.iter().zip(&keys) {
                hit = larger(hit, (at(*t, 0) - key[0]).abs());
            }
            for t in &times[1..7] {
                let size = 1.0 + at(*t, 2).abs();
                jump = larger(jump, (at(t.next_down(), 2) - at(*t, 2)).abs() / size);
            }
            for (t, end) in [times[0], times[7]].iter().zip(&given) {
                let v = end.velocity.as_ref().map_or(0.0, |v| (at(*t, 1) - v[0]).abs());
                let a = end.acceleration.as_ref().map_or(0.0, |a| (at(*t, 2) - a[0]).abs());
                ends = larger(ends, v.max(a));
            }
            for pair in times.windows(2) {
                let (t, h) = (0.5 * (pair[0] + pair[1]), 1e-3);
                for d in 1..=2 {
                    // Richardson's extrapolation.
                    let central = |h: f64| (at(t + h, d - 1) - at(t - h, d - 1)) / (2.0 * h);
                    let expected = (4.0 * central(0.5 * h) - central(h)) / 3.0;
                    let size = 1.0 + at(t, d).abs();
                    slope = larger(slope, (expected - at(t, d)).abs() / size);
                }
            }
        }
        out.at_most(&format!("degree {degree}: keys are hit"), hit, 1e-14);
        out.at_most(&format!("degree {degree}: derivatives against differences"), slope, 1e-8);
        out.at_most(&format!("degree {degree}: jump of the second derivative"), jump, 1e-12);
        out.at_most(&format!("degree {degree}: rates at the ends"), ends, 1e-12);
    }
    Ok(())
}

fn rotations(k: &Keyframes, out: &mut Recorder) -> Result<(), String> {
    for degree in [3, 5] {
        let mut rng = Rng::new(10 + degree as u64);
        let [mut hit, mut slope, mut jump, mut ends] = [0.0f64; 4];
        let mut iterations = 0;
        for _ in 0..k.curves {
            let times = times(&mut rng);
            let mut turn = DQuat::IDENTITY;
            let mut vector = |size: f64| DVec3::from_array(rng.direction()) * size;
            let mut keys = vec![turn];
            for _ in 1..8 {
                turn *= exp_rotation(vector(0.5));
                keys.push(turn);
            }
            let mut end = || RotationEnd {
                velocity: vector(1.0),
                acceleration: (degree == 5).then(|| vector(1.0)),
            };
            let given = [end(), end()];
            let curve =
                RotationSpline::interpolating(degree, &times, &keys, [&given[0], &given[1]])
                    .map_err(said)?;
            iterations = iterations.max(curve.iterations());
            let at = |t: f64| curve.evaluate(t);
            for (t, key) in times.iter().zip(&keys) {
                hit = larger(hit, log_rotation(at(*t).rotation.inverse() * *key).length());
            }
            for t in &times[1..7] {
                let (a, b) = (at(t.next_down()).acceleration, at(*t).acceleration);
                jump = larger(jump, (a - b).length() / (1.0 + b.length()));
            }
            for (t, end) in [times[0], times[7]].iter().zip(&given) {
                let x = at(*t);
                let a = end.acceleration.map_or(0.0, |a| (x.acceleration - a).length());
                ends = larger(ends, (x.velocity - end.velocity).length().max(a));
            }
            for pair in times.windows(2) {
                let t = 0.5 * (pair[0] + pair[1]);
                let x = at(t);
                let turned = |h: f64| log_rotation(x.rotation.inverse() * at(t + h).rotation);
                let by = |f: &dyn Fn(f64) -> DVec3| {
                    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
                    (central(5e-4) * 4.0 - central(1e-3)) / 3.0
                };
                let v = (by(&turned) - x.velocity).length() / (1.0 + x.velocity.length());
                let a = (by(&|h| at(t + h).velocity) - x.acceleration).length()
                    / (1.0 + x.acceleration.length());
                slope = larger(slope, v.max(a));
            }
        }
        out.at_most(&format!("rotations, degree {degree}: keys are hit (rad)"), hit, 1e-14);
        let name = format!("rotations, degree {degree}: rates against differences");
        out.at_most(&name, slope, 1e-8);
        let name = format!("rotations, degree {degree}: jump of the acceleration");
        out.at_most(&name, jump, 1e-12);
        out.at_most(&format!("rotations, degree {degree}: rates at the ends"), ends, 1e-12);
        let name = format!("rotations, degree {degree}: most steps of Newton's method");
        out.info(&name, iterations as f64);
    }
    Ok(())
}

/// \[K08\] Fig. 1's warp, too short: refused, with the time where it turns back.
fn warps(out: &mut Recorder) {
    let name = "warp of 0.5 s: refused where time turns back (s)";
    match Warp::sine(0.05, 0.5) {
        Err(WarpError::TurnsBack { time }) => {
            let turn = 2.0 * core::f64::consts::PI;
            let expected = 0.5 / turn * (-0.25f64 / (turn * 0.05)).acos();
            out.at_most(name, (time - expected).abs(), 1e-14);
        }
        other => out.fail(name, 1e-14, format!("{other:?}")),
    }
    let shortest = (0.1 * core::f64::consts::PI).sqrt();
    let allowed = Warp::sine(0.05, shortest * (1.0 + 1e-12)).is_ok();
    let refused = Warp::sine(0.05, shortest * (1.0 - 1e-12)).is_err();
    out.equal(
        "warp: allowed above and refused below √(0.1 π) s",
        usize::from(allowed && refused),
        1,
    );
}

/// A chain of a hinge, a ball and two more hinges; masses are multiplied by `mass`.
fn chain(floats: bool, mass: f64) -> Result<Arc<Mechanism>, String> {
    let mut b = MechanismBuilder::new("chain");
    b.set_gravity(if floats { DVec3::ZERO } else { DVec3::new(0.0, 0.0, -9.81) });
    let hinge = |axis| JointKind::Revolute { axis };
    let mut kinds = vec![
        ("drive", hinge(DVec3::Y)),
        ("ball", JointKind::Spherical),
        ("elbow", hinge(DVec3::X)),
        ("loose", hinge(DVec3::Y)),
    ];
    if floats {
        kinds.insert(0, ("float", JointKind::Free));
    }
    let mut at = LinkId::WORLD;
    for (k, (name, kind)) in kinds.into_iter().enumerate() {
        let inertia = SpatialInertia::new(mass, DVec3::X * 0.2, DMat3::IDENTITY * (0.02 * mass));
        let link = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let place = if k == 0 { DVec3::ZERO } else { DVec3::X * 0.4 };
        let damping = if name == "float" { 0.0 } else { 0.05 * mass };
        let joint = Joint::new(name, kind, at, link).at(Pose::from_translation(place));
        b.add_joint(joint.with_damping(damping));
        at = link;
    }
    b.build().map(Arc::new).map_err(said)
}

/// A crank that turns a rocker.
fn four_bar() -> Result<Arc<Mechanism>, String> {
    let mut b = MechanismBuilder::new("four-bar");
    let bar = |l: f64| SpatialInertia::new(l, DVec3::X * (0.5 * l), DMat3::IDENTITY * 0.05);
    let [crank, rod, rocker] = [("crank", 0.4), ("rod", 1.1), ("rocker", 0.8)]
        .map(|(n, l)| b.add_link(Link::new(n).with_inertia(bar(l))));
    let mut add = |name: &str, a, c, at: f64, on: f64, start: f64| {
        let kind = JointKind::Revolute { axis: DVec3::Z };
        let [at, on] = [at, on].map(|x| Pose::from_translation(DVec3::X * x));
        let mut joint = Joint::new(name, kind, a, c).at(at).child_at(on).with_damping(0.01);
        joint.start = vec![start];
        b.add_joint(joint);
    };
    add("drive", LinkId::WORLD, crank, 0.0, 0.0, 0.0);
    add("knee", crank, rod, 0.4, 0.0, 0.8);
    add("pivot", LinkId::WORLD, rocker, 1.0, 0.0, 1.6);
    add("close", rod, rocker, 1.1, 0.8, 0.0);
    b.build().map(Arc::new).map_err(said)
}

/// The drive swings, a ball turns where there is one, again and again.
fn motion(m: &Mechanism) -> Result<Motion, String> {
    let times = vec![0.0, 0.5, 1.1, 1.6, 2.0];
    let at = m.start_positions()[0];
    let swing = [0.0, 0.8, -0.5, 0.3, 0.0].map(|x| vec![at + x]).to_vec();
    let swing = JointKeys {
        ends: Ends::Periodic,
        degree: 5,
        ..JointKeys::new("drive", times.clone(), swing)
    };
    let mut keys = vec![swing];
    if m.find_joint("ball").is_some() {
        let turns =
            [[0.0, 0.0, 0.0], [0.4, 0.1, 0.0], [0.0, -0.3, 0.2], [-0.2, 0.1, 0.1], [0.0; 3]];
        let turns = turns.map(|[x, y, z]| vec![1.0, x, y, z]).to_vec();
        keys.push(JointKeys { ends: Ends::Periodic, ..JointKeys::new("ball", times, turns) });
    }
    Motion::new(m, &keys, None).map_err(said)
}

fn player(m: &Arc<Mechanism>, scheme: Scheme, h: f64) -> Result<Player, String> {
    let v = vec![0.0; m.tree_velocity_count()];
    let q = &m.start_positions()[..m.tree_position_count()];
    Player::new(Arc::clone(m), scheme, q, &v, 0.0, h).map_err(said)
}

/// Largest distance from the curve at the ends of all steps.
fn playback(k: &Keyframes, out: &mut Recorder) -> Result<(), String> {
    let (chain, bars) = (chain(false, 1.0)?, four_bar()?);
    for (name, m, scheme, h) in [
        ("chain, explicit", &chain, Scheme::Explicit, 1.0 / 480.0),
        ("chain, implicit", &chain, Scheme::Implicit, 1.0 / 60.0),
        ("four-bar, implicit", &bars, Scheme::Implicit, 1.0 / 240.0),
    ] {
        let mut p = player(m, scheme, h)?;
        let motion = motion(m)?;
        p.switch(vec![Group::keyframes(motion.clone())]).map_err(said)?;
        let (mut worst, mut loose) = (0.0, 0.0);
        while p.time() < k.seconds {
            p.step().map_err(said)?;
            let mut q = p.positions().to_vec();
            motion.positions(m, p.time(), &mut q);
            let apart = m.difference(p.positions(), &q);
            worst = apart.iter().fold(worst, |a, x| larger(a, x.abs()));
            loose = larger(loose, p.velocities().last().map_or(0.0, |v| v.abs()));
        }
        out.at_most(&format!("{name}: playback against curve, every step"), worst, 1e-14);
        out.info(&format!("{name}: fastest rate of the last joint (rad/s)"), loose);
    }
    Ok(())
}

/// Forces of ever stiffer servos against those of playback: distance as 1/k.
fn servos(out: &mut Recorder) -> Result<(), String> {
    let m = chain(false, 0.01)?;
    let motion = motion(&m)?;
    let run = |group: Group| -> Result<Vec<f64>, String> {
        let mut p = player(&m, Scheme::Implicit, 1.0 / 30.0)?;
        p.switch(vec![group]).map_err(said)?;
        let mut last = vec![];
        for _ in 0..15 {
            last = p.step().map_err(said)?.forces;
        }
        Ok(last)
    };
    let exact = run(Group::keyframes(motion.clone()))?;
    let mut points = vec![];
    for decade in 3..=7 {
        let k = 10f64.powi(decade);
        let forces = run(Group::servo(motion.clone(), k, 0.0))?;
        let apart = forces.iter().zip(&exact).fold(0.0, |a, (x, y)| larger(a, (x - y).abs()));
        points.push((f64::from(decade), apart.log10()));
    }
    let n = points.len() as f64;
    let mean = points.iter().fold((0.0, 0.0), |a, p| (a.0 + p.0 / n, a.1 + p.1 / n));
    let (xy, xx) = points.iter().fold((0.0, 0.0), |a, p| {
        (a.0 + (p.0 - mean.0) * (p.1 - mean.1), a.1 + (p.0 - mean.0).powi(2))
    });
    out.at_most(
        "servos of 1e3 to 1e7: slope of the distance to playback, + 1",
        (xy / xx + 1.0).abs(),
        0.1,
    );
    Ok(())
}

/// Momentum over a switch to a curve that moves already, from rest.
fn switch(out: &mut Recorder) -> Result<(), String> {
    let m = chain(true, 1.0)?;
    let keys = [0.0, 0.7, 0.0].map(|x| vec![x]).to_vec();
    let keys =
        JointKeys { ends: Ends::Periodic, ..JointKeys::new("elbow", vec![-0.5, 0.5, 1.5], keys) };
    let motion = Motion::new(&m, &[keys], None).map_err(said)?;
    let mut q = m.start_positions();
    motion.positions(&m, 0.0, &mut q);
    let still = vec![0.0; m.velocity_count()];
    let h = 1e-3;
    let mut p = Player::new(Arc::clone(&m), Scheme::Explicit, &q, &still, 0.0, h).map_err(said)?;
    p.switch(vec![Group::keyframes(motion)]).map_err(said)?;
    let step = p.step().map_err(said)?;
    out.at_most("switch: momentum (N·s, N·m·s)", momentum(&m, &q, p.velocities()), 1e-13);
    let mut naive = still;
    naive[step.coordinates[0]] = p.velocities()[step.coordinates[0]];
    out.info("switch: momentum if only the joint gets its rate", momentum(&m, &q, &naive));
    out.info("switch: impulse on the joint (N·m·s)", h * step.forces[0]);
    Ok(())
}

/// Length of linear and angular momentum about the world's origin, the larger one.
fn momentum(m: &Mechanism, q: &[f64], v: &[f64]) -> f64 {
    let (poses, twists) = (m.link_poses(q), link_twists(m, q, v));
    let sum = m.moving_links().fold((DVec3::ZERO, DVec3::ZERO), |(p, l), (id, link)| {
        let (pose, w) = (poses[id.index()], link.inertia.apply(twists[id.index()]));
        let force = pose.transform_vector(w.force);
        (p + force, l + pose.transform_vector(w.torque) + pose.translation.cross(force))
    });
    larger(sum.0.length(), sum.1.length())
}

/// Random ways back on a timeline with switches: how many end in other bits.
fn rewinds(k: &Keyframes, out: &mut Recorder) -> Result<(), String> {
    let m = chain(false, 1.0)?;
    let elbow = m.find_joint("elbow").ok_or("no elbow")?;
    let mut p = player(&m, Scheme::Explicit, 1e-3)?;
    p.switch(vec![Group::keyframes(motion(&m)?)]).map_err(said)?;
    let step = |p: &mut Player, input: &Option<f64>| -> Result<(), Problem> {
        if let Some(k) = input {
            p.switch(vec![Group::compliant(vec![elbow], *k, 0.1)]).map_err(Problem::of)?;
        }
        p.step().map(drop).map_err(Problem::of)
    };
    let bits = |p: &Player| -> Vec<u64> {
        p.positions().iter().chain(p.velocities()).map(|x| x.to_bits()).collect()
    };
    let mut line = Timeline::new(p, 16, 32);
    let mut known = vec![bits(line.state())];
    for i in 0..500 {
        line.advance((i % 90 == 60).then_some(f64::from(i)), step).map_err(|e| e.0)?;
        known.push(bits(line.state()));
    }
    let mut rng = Rng::new(1);
    let mut other = 0;
    for _ in 0..k.rewinds {
        let to = At { branch: 0, step: rng.index(known.len()) };
        line.go(to, step).map_err(|e| e.0)?;
        other += usize::from(bits(line.state()) != known[to.step]);
    }
    out.equal(&format!("{} random ways back: other bits", k.rewinds), other, 0);
    Ok(())
}

/// What goes wrong on a timeline, in words.
struct Problem(String);

impl Problem {
    fn of(e: impl core::fmt::Display) -> Self {
        Self(e.to_string())
    }
}

impl From<TimelineError> for Problem {
    fn from(e: TimelineError) -> Self {
        Self::of(e)
    }
}
