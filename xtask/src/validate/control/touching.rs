//! Generated machines on their feet: forces that push and keep to their cones, feet that stay.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Origin, Touch},
    plant::{Command, Kinematics, TreePlant},
    task::{Axes, Frame, Goal, Task},
};
use forks_mechanism::{
    LinkId,
    lie::{Pose, glam::DVec3},
    linalg::{Matrix, dot},
};
use forks_testkit::Rng;

use super::machines::{walker, way};
use crate::validate::record::{Recorder, larger};

pub(super) fn check(count: usize, out: &mut Recorder) -> Result<(), String> {
    let mut rng = Rng::new(31);
    let [mut pulled, mut beyond, mut slipped] = [0.0f64; 3];
    let (mut at_cone, mut unfinished) = (0, 0);
    for _ in 0..count {
        let legs = 2 + rng.index(5);
        let m = walker(&mut rng, legs)?;
        let (mut q, n) = (m.mechanism.start_positions(), m.mechanism.tree_velocity_count());
        for j in &m.hinges {
            q[m.mechanism.position_range(*j).start] = 0.5 * rng.symmetric();
        }
        let v = vec![0.0; n];
        let driven: Vec<Command> = (6..n).map(Command::Force).collect();
        let plant = TreePlant::new(Arc::clone(&m.mechanism), &q, &v, &driven, 1e-3);
        let mut plant = plant.map_err(|e| e.to_string())?;
        let poses = m.mechanism.link_poses(&q);
        let friction = rng.range(0.0, 1.0);
        let touch = |tip: &LinkId| {
            // Axes of the world: all feet on level ground.
            let pose = poses[tip.index()];
            let link_from_frame = pose.inverse() * Pose::from_translation(pose.translation);
            Touch { frame: Frame { link: *tip, link_from_frame }, friction, gap: 0.0 }
        };
        let touches: Vec<Touch> = m.tips.iter().map(touch).collect();
        let body = Frame::of(LinkId::new(1));
        let to = poses[1].translation + 0.05 * way(&mut rng) + 0.02 * DVec3::Z;
        let task = Task::new("body", Goal::Position(body, to)).in_axes(Axes::World);
        let most = 10f64.powf(rng.range(1.0, 3.0));
        let mut c = Controller::new(vec![(-most, most); driven.len()]);
        let s = c.solve_touching(&mut plant, &[task], &touches).map_err(|e| e.to_string())?;
        unfinished += usize::from(!s.finished);
        let size = s.reactions.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        for f in s.reactions.chunks_exact(3) {
            let across = f[0].hypot(f[1]);
            pulled = larger(pulled, -f[2] / size);
            beyond = larger(beyond, (across - friction * f[2]) / size);
            at_cone += usize::from(across > 0.999 * friction * f[2] && across > 1e-3 * size);
        }
        let fastest = s.rates.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut rows = Matrix::zeros(6, n);
        for (touch, t) in touches.iter().enumerate() {
            plant.frame(&t.frame, &mut rows);
            for row in 0..3 {
                let origin = Origin::Touch { touch, row };
                if !s.relaxed.iter().any(|r| r.origin == origin) {
                    slipped = larger(slipped, dot(rows.row(row), &s.rates).abs() / fastest);
                }
            }
        }
    }
    let of = |what: &str| format!("{what}, {count} machines on 2 to 6 feet");
    out.at_most(&of("forces that pull over the largest"), pulled.max(0.0), 1e-12);
    out.at_most(&of("forces beyond their cones over the largest"), beyond.max(0.0), 1e-9);
    out.at_most(&of("feet that move and are not named, over the fastest rate"), slipped, 1e-8);
    out.equal(&of("decisions without an end"), unfinished, 0);
    out.info(&of("forces at their cones"), at_cone as f64);
    Ok(())
}
