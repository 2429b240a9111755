//! A walking machine with six legs and a floating base.

use core::f64::consts::TAU;

use forks_mechanism::{
    Geometry, LinkId,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};

use crate::{
    Parametric,
    driven::{Axis, solid_box, solid_rod},
    sketch::{Compliance, Sketch},
};

/// Distance of the hips from the body's centre, m.
const HIP: f64 = 0.12;
/// Lengths of coxa, femur and tibia, m.
const COXA: f64 = 0.05;
const FEMUR: f64 = 0.12;
const TIBIA: f64 = 0.18;
/// Elevation of the femur over the horizontal, and of the tibia over straight down, rad.
const FEMUR_UP: f64 = 0.5;
const TIBIA_OUT: f64 = 0.15;
/// Radius of a foot, m.
const FOOT: f64 = 0.02;
const GAINS: Compliance = Compliance::new(30.0, 1.0);

/// Six legs around a floating body, standing on the plane z = 0.
///
/// `body` (2 kg, a box of 0.30 × 0.24 × 0.06 m) floats on the free joint `base`. Leg `leg0` …
/// `leg5` leaves it at the angle 30° + 60° k about z, 0.12 m from its centre: `.coxa` (0.05 m, 0.08
/// kg) on a servo about z, `.femur` (0.12 m, 0.15 kg, 0.5 rad above the horizontal) and `.foot`
/// (the tibia of 0.18 m and the foot, 0.12 kg, 0.15 rad outwards from straight down), both on
/// servos about the leg's y. Joints and servos `.coxa`, `.femur`, `.tibia`; kp = 30 N·m/rad, 1
/// N·m·s/rad in the joint. 4.1 kg in all.
///
/// The axes of a leg's links are x outwards and z up; coxa and femur have their frames at their
/// inner joints, a foot has its frame in the middle of its shape, a sphere of radius 0.02 m that
/// touches the ground in the start pose. Gravity acts, servos are unstressed: the machine sags by
/// 1.5 mm on feet that stick, by 3.1 mm on ones that slide. Effectors: the six feet, of rank 18
/// against a held body.
pub fn hexapod() -> Parametric {
    let mut s = Sketch::new("hexapod");
    let height = FOOT + TIBIA * TIBIA_OUT.cos() - FEMUR * FEMUR_UP.sin();
    let center = Pose::from_translation(DVec3::Z * height);
    let half = DVec3::new(0.15, 0.12, 0.03);
    let body = s.link_at("body", center, solid_box(2.0, half));
    s.floating("base", body);
    s.shape(body, Pose::IDENTITY, Geometry::Box { half_extents: half });
    let effectors = (0..6).map(|k| leg(&mut s, k, body, center)).collect();
    Parametric { mechanism: s.build_heavy(0.0), effectors }
}

/// A leg; gives its foot.
fn leg(s: &mut Sketch, k: usize, body: LinkId, center: Pose) -> LinkId {
    let out = DQuat::from_rotation_z(TAU * (k as f64 + 0.5) / 6.0);
    let leg = center * Pose::from_rotation(out);
    let at = |p: DVec3| leg * Pose::from_translation(p);
    let hip = DVec3::X * HIP;
    let shoulder = hip + DVec3::X * COXA;
    let thigh = DVec3::new(FEMUR_UP.cos(), 0.0, FEMUR_UP.sin()) * FEMUR;
    let knee = shoulder + thigh;
    let shin = DVec3::new(TIBIA_OUT.sin(), 0.0, -TIBIA_OUT.cos()) * TIBIA;
    let name = |part: &str| format!("leg{k}.{part}");
    let axis = |part: &str, axis| vec![Axis::servo(name(part), axis, GAINS)];
    let rod = solid_rod(0.08, DVec3::X * COXA, 0.015);
    let coxa = s.link_on(&name("coxa"), body, [at(hip); 2], rod, axis("coxa", DVec3::Z));
    let rod = solid_rod(0.15, thigh, 0.015);
    let femur = s.link_on(&name("femur"), coxa, [at(shoulder); 2], rod, axis("femur", DVec3::Y));
    // From the foot up to the knee.
    let rod = solid_rod(0.12, -shin, 0.01);
    let poses = [at(knee + shin), at(knee)];
    let foot = s.link_on(&name("foot"), femur, poses, rod, axis("tibia", DVec3::Y));
    s.shape(foot, Pose::IDENTITY, Geometry::Sphere { radius: FOOT });
    foot
}
