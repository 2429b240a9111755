//! The ways in which a controller keeps priorities, on the same drags through singular poses: one
//! table.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Priorities},
    plant::{Command, Kinematics as _, Plant as _, TreePlant},
    task::{Axes, Frame, Goal, Task},
};
use forks_mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
    linalg::{Matrix, norm},
};
use forks_testkit::Rng;

use crate::validate::record::{Recorder, larger};

const H: f64 = 2e-3;
/// The most command per unit of acceleration, N·m per m/s².
const MOST: f64 = 5.0;
/// α of the published scheme, (m/s² per N·m)².
const ALPHA: f64 = 1e-2;

/// What a way of keeping priorities comes to over a drag.
#[derive(Default)]
struct Row {
    /// The largest commands, and the largest change from step to step.
    command: f64,
    change: f64,
    /// Root mean square of the first level's residual where the arm is bent, m/s².
    residual: f64,
    /// Steps where the arm is bent.
    steps: usize,
    /// Drags that end before their time: the arm is torn.
    lost: usize,
}

pub(super) fn check(drags: usize, out: &mut Recorder) -> Result<(), String> {
    let ways = [
        ("strict", Priorities::Strict),
        ("smooth", Priorities::Smooth { most: Some(MOST) }),
        ("smooth, by default", Priorities::Smooth { most: None }),
        ("published", Priorities::Published { alpha: ALPHA }),
    ];
    let mut rows: Vec<Row> = ways.iter().map(|_| Row::default()).collect();
    let mut asked = 0.0f64;
    for drag in 0..drags {
        for ((_, way), row) in ways.iter().zip(&mut rows) {
            asked = larger(asked, follow(drag as u64, *way, row)?);
        }
    }
    for ((name, _), r) in ways.iter().zip(&rows) {
        out.info(&format!("{name}: largest commands over {drags} drags, N·m"), r.command);
        out.info(&format!("{name}: largest change of commands in a step, N·m"), r.change);
        let rms = (r.residual / r.steps.max(1) as f64).sqrt();
        out.info(&format!("{name}: residual of the first level at bent poses, m/s²"), rms);
        // Strict commands may tear the arm.
        let lost = format!("{name}: drags that end early");
        match *name {
            "strict" => out.info(&lost, r.lost as f64),
            _ => out.equal(&lost, r.lost, 0),
        }
    }
    let [strict, smooth, _, published] = &rows[..] else { return Ok(()) };
    let mean = |r: &Row| (r.residual / r.steps.max(1) as f64).sqrt();
    let bound = MOST * asked;
    out.at_most(
        "smooth: largest commands over most times what is asked for",
        smooth.command / bound,
        1.0 + 1e-9,
    );
    out.at_most("smooth: largest commands over strict ones", smooth.command / strict.command, 0.1);
    out.at_most(
        "smooth: residual at bent poses over the published one",
        mean(smooth) / mean(published),
        1e-6,
    );
    Ok(())
}

/// Drags the tip of an arm outwards until it is stretched, sideways and back, with its posture on a
/// lower level; the largest acceleration that the first level asked for.
fn follow(seed: u64, way: Priorities, row: &mut Row) -> Result<f64, String> {
    let mut rng = Rng::new(40 + seed);
    let m = arm([rng.range(0.4, 0.6), rng.range(0.3, 0.5), rng.range(0.2, 0.3)])?;
    let q = [rng.range(-0.5, 0.5), rng.range(0.5, 0.9), rng.range(0.3, 0.6)];
    let all: Vec<Command> = (0..3).map(Command::Force).collect();
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    let plant = TreePlant::new(Arc::clone(&m), &q, &[0.0; 3], &all, H);
    let mut plant = plant.map_err(|e| e.to_string())?;
    let tip =
        Frame { link: LinkId::new(3), link_from_frame: Pose::from_translation(DVec3::X * 0.25) };
    let mut twists = Matrix::zeros(6, 3);
    let start = plant.frame(&tip, &mut twists).translation;
    let out = start.normalize();
    let across = DVec3::new(-out.y, out.x, 0.0);
    let mut c = Controller::new(vec![free; 3]).prioritise(way);
    let mut before: Option<Vec<f64>> = None;
    let mut asked = 0.0f64;
    for k in 0..1000 {
        let s = (core::f64::consts::PI * k as f64 / 1000.0).sin();
        let target = start + out * (0.6 * s) + across * (0.2 * s * s);
        let place = Task::new("tip", Goal::Position(tip, target))
            .in_axes(Axes::World)
            .masked([true, true, false, false, false, false]);
        let elbow = forks_mechanism::JointId::new(1);
        let posture = Task::new("elbow", Goal::Joint(elbow, q[1])).on_level(1);
        let found = c.solve(&mut plant, &[place, posture]).map_err(|e| e.to_string())?;
        let z = found.commands.clone();
        let by: Vec<f64> = found.residuals[..2].iter().map(|r| r.by / H).collect();
        let error = norm(&[found.residuals[0].error, found.residuals[1].error]);
        // What is asked for less what comes by itself: at most the spring, the damper and what
        // turns.
        let speed = norm(plant.velocities());
        asked = larger(asked, 100.0 * error + 20.0 * speed + 2.0 * speed * speed);
        let bent = norm(&[plant.positions()[1].sin(), plant.positions()[2].sin()]);
        if bent > 0.5 {
            row.residual += by[0] * by[0] + by[1] * by[1];
            row.steps += 1;
        }
        row.command = larger(row.command, norm(&z));
        if let Some(b) = &before {
            let d: Vec<f64> = z.iter().zip(b).map(|(a, b)| a - b).collect();
            row.change = larger(row.change, norm(&d));
        }
        if plant.step(&z).is_err() || !plant.velocities().iter().all(|v| v.abs() < 1e6) {
            row.lost += 1;
            break;
        }
        before = Some(z);
    }
    Ok(asked)
}

/// Three hinges about z without gravity.
fn arm(lengths: [f64; 3]) -> Result<Arc<Mechanism>, String> {
    let mut b = MechanismBuilder::new("arm");
    b.set_gravity(DVec3::ZERO);
    let (mut at, mut place) = (LinkId::WORLD, DVec3::ZERO);
    for (k, length) in lengths.into_iter().enumerate() {
        let inertia = SpatialInertia::new(1.0, DVec3::X * 0.5 * length, DMat3::IDENTITY * 0.02);
        let link = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let kind = JointKind::Revolute { axis: DVec3::Z };
        let joint = Joint::new(format!("j{k}"), kind, at, link);
        b.add_joint(joint.at(Pose::from_translation(place)).with_damping(0.1));
        (at, place) = (link, DVec3::X * length);
    }
    b.build().map(Arc::new).map_err(|e| e.to_string())
}
