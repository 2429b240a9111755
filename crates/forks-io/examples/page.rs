//! Writes a page with a 3D view: a box thrown through the air, a ball that bounces, a rolling
//! capsule, and a chain of twenty links along a helix that swings.
//!
//! `cargo run -p forks-io --example page [FILE.html]`, then open the file in a browser. Beside it
//! the same as binary glTF, for other programs.

use std::{error::Error, f64::consts::TAU, path::PathBuf};

use forks_io::{
    Geometry,
    animation::{
        Animation, AnimationFrame, Body, Colour, ContactMarker, End, Segment, Series, VisualShape,
    },
    gltf, html,
    lie::{
        Pose,
        glam::{DQuat, DVec2, DVec3},
        so3::exp_rotation,
    },
};

const GRAVITY: f64 = 9.81;
const LINKS: usize = 20;
const BALL: f64 = 0.12;

/// Height and force of a ball that bounces on a spring: free flight, then half a period of an
/// oscillator.
fn ball(time: f64) -> (f64, f64) {
    let (speed, stiffness, mass) = (2.4, 4000.0_f64, 0.5);
    let (flight, touch) = (2.0 * speed / GRAVITY, TAU / 2.0 / (stiffness / mass).sqrt());
    let t = time.rem_euclid(flight + touch);
    if t < flight {
        (BALL + speed * t - 0.5 * GRAVITY * t * t, 0.0)
    } else {
        let depth = speed / (stiffness / mass).sqrt() * (TAU / 2.0 * (t - flight) / touch).sin();
        (BALL - depth, stiffness * depth)
    }
}

/// Frames of a helix with 20 links per turn, hanging from (0.9, 0.6, 1.5), that twists and swings.
fn helix(time: f64) -> Vec<Pose> {
    let swing = 0.06 * (4.0 * time).sin();
    let mut pose = Pose::from_translation(DVec3::new(0.9, 0.6, 1.5));
    let point = |k: usize| {
        let a = TAU * k as f64 / 20.0;
        DVec3::new(0.5 * a.cos(), 0.5 * a.sin(), -0.25 * k as f64 / 20.0)
    };
    let mut poses = Vec::new();
    for k in 0..LINKS {
        let bend = exp_rotation(DVec3::new(0.5 * swing, 0.0, 0.3 * swing));
        pose = pose * Pose::from_rotation(bend);
        poses.push(pose);
        pose = pose * Pose::from_translation(point(k + 1) - point(k));
    }
    poses
}

fn bodies() -> Vec<Body> {
    let step = DVec3::new(0.4, 0.2, 0.1);
    let mut bodies = vec![
        Body::new("box", [Geometry::Box { half_extents: DVec3::new(0.18, 0.1, 0.05) }]),
        Body::new("ball", [Geometry::Sphere { radius: BALL }]),
        Body::new("capsule", [Geometry::Capsule { radius: 0.08, half_length: 0.2 }]),
        Body::new("ellipsoid", [Geometry::Ellipsoid { radii: DVec3::new(0.16, 0.1, 0.07) }]),
        Body::new(
            "ghost",
            [VisualShape::new(Geometry::Cylinder { radius: 0.09, half_length: 0.12 })
                .coloured(Colour::palette(4).with_alpha(110))],
        ),
        Body::new(
            "hull",
            [Geometry::Hull {
                points: (0..8)
                    .map(|i| {
                        DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2))
                            * step
                    })
                    .chain([DVec3::new(0.2, 0.1, 0.25)])
                    .collect(),
            }],
        ),
    ];
    bodies.extend((0..LINKS).map(|k| Body { name: format!("link {k}"), shapes: vec![] }));
    bodies
}

fn hills() -> VisualShape {
    let columns = 40;
    let height = |i: usize| {
        let (x, y) = ((i % columns) as f64 / 39.0, (i / columns) as f64 / 39.0);
        0.12 * (1.0 - (TAU * x).cos())
            * (1.0 - (TAU * y).cos())
            * (1.0 + 0.4 * (9.0 * x + 5.0 * y).sin())
    };
    let heights = (0..columns * columns).map(height).collect();
    VisualShape::new(Geometry::HeightField { size: DVec2::new(1.2, 1.2), columns, heights })
        .at(Pose::from_translation(DVec3::new(-1.4, 1.0, 0.0)))
        .coloured(Colour::rgb(0x7d, 0x93, 0x6a))
}

fn frame(time: f64) -> AnimationFrame {
    let (height, force) = ball(time);
    let roll = -1.0 + 0.5 * time;
    let upright = exp_rotation(DVec3::X * (TAU / 4.0));
    let mut poses = vec![
        Pose::new(
            exp_rotation(DVec3::new(2.0, 0.4, 1.0) * time),
            DVec3::new(-0.2, -0.8, 0.7 + 1.2 * time - 0.4 * time * time),
        ),
        Pose::new(
            exp_rotation(DVec3::Y * (1.5 * time)),
            DVec3::new(-0.8 + 0.2 * time, -0.2, height),
        ),
        // Rolls without slipping along x: its axis along y.
        Pose::new(
            exp_rotation(DVec3::Y * (0.5 * time / 0.08)) * upright,
            DVec3::new(roll, 0.4, 0.08),
        ),
        Pose::new(exp_rotation(DVec3::Z * (3.0 * time)), DVec3::new(0.6, -0.7, 0.07)),
        Pose::new(DQuat::IDENTITY, DVec3::new(0.9 + 0.1 * (2.0 * time).sin(), -0.2, 0.12)),
        Pose::new(exp_rotation(DVec3::Z * 0.4), DVec3::new(-1.6, -0.7, 0.0)),
    ];
    let capsule = poses[2].translation;
    poses.extend(helix(time));
    let kinetic = 0.5 * (1.2 - 0.8 * time).powi(2);
    let mut contacts = vec![];
    for y in [-0.2, 0.2] {
        let position = DVec3::new(capsule.x, capsule.y + y, 0.0);
        contacts.push(ContactMarker { position, force: DVec3::new(2.0, 0.0, 20.0) });
    }
    if force > 0.0 {
        let position = DVec3::new(poses[1].translation.x, -0.2, 0.0);
        contacts.push(ContactMarker { position, force: DVec3::Z * force });
    }
    let tip = poses.last().map_or(0.0, |p| p.translation.z);
    AnimationFrame::new(time, poses)
        .values([kinetic, 0.5 * GRAVITY * height, force, tip])
        .contacts(contacts)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "forks.html".to_owned()));
    let mut animation = Animation::new("Bodies in flight & a swinging helix");
    animation.notes.push("Made up, not simulated: it shows what the viewer can show.".to_owned());
    animation.scenery = vec![Geometry::Plane.into(), hills()];
    animation.bodies = bodies();
    let first = animation.bodies.len() - LINKS;
    animation
        .segments
        .push(Segment::new(End::world(DVec3::new(0.9, 0.6, 1.5)), End::origin(first)));
    animation.segments.extend(
        (first + 1..first + LINKS)
            .map(|k| Segment::new(End::origin(k - 1), End::origin(k)).thick(0.02)),
    );
    animation.series = vec![
        Series::new("kinetic energy", "J"),
        Series::new("potential energy", "J"),
        Series::new("contact force of the ball", "N"),
        Series::new("height of the tip", "m"),
    ];
    animation.frames = (0..=3000).map(|i| frame(1e-3 * f64::from(i))).collect();
    animation.thin(120.0);
    html::save(&file, &animation)?;
    gltf::save(file.with_extension("glb"), &animation)?;
    Ok(())
}
