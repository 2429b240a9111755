//! Two firefighters who hold one trampoline: three loops through four arms.

use forks_mechanism::{
    Geometry, JointKind, LinkId,
    lie::{Pose, glam::DVec3},
};

use crate::{
    Parametric,
    driven::{Axis, Resistance, solid_box, solid_cylinder, solid_rod},
    sketch::{Compliance, Sketch},
};

/// A shoulder and a grip, first quadrant, m.
const SHOULDER: DVec3 = DVec3::new(0.80, 0.20, 1.32);
const GRIP: DVec3 = DVec3::new(0.50, 0.28, 1.00);
/// Shoulder to elbow, elbow to wrist, wrist to grip, m.
const UPPER: f64 = 0.30;
const FOREARM: f64 = 0.25;
const HAND: f64 = 0.08;

const SHOULDER_GAINS: Compliance = Compliance::new(700.0, 60.0);
const ELBOW_GAINS: Compliance = Compliance::new(450.0, 35.0);
const WRIST_GAINS: Compliance = Compliance::new(200.0, 8.0);
const FABRIC: Compliance = Compliance::new(3600.0, 400.0);
const TILT: Compliance = Compliance::new(500.0, 20.0);

/// Two people face each other across a trampoline 1 m above the ground and hold it with four hands.
///
/// Torsos `west` and `east` (50 kg) stand at (∓0.9, 0, 1.1) m, welded to the ground. Each has the
/// arms `left` and `right`, called `west.left` and so on: `.upper` (0.30 m, 1.7 kg) on a shoulder
/// of three hinges about x, y and z (joints `.shoulder.x` …, kp = 700 N·m/rad, 60 N·m·s/rad) at
/// (∓0.80, ±0.20, 1.32); `.forearm` (0.25 m, 1.0 kg) on an elbow (450, 35) that bends the arm
/// downwards in its vertical plane; `.hand` (0.08 m, 0.4 kg) on a wrist of two hinges across the
/// forearm (`.wrist.bend`, `.wrist.side`; 200, 8). Servos have their joints' names; the damping
/// stands in the joints.
///
/// The rim `rim` (6 kg, inertia of a box of 1.0 × 0.56 × 0.04 m) hangs at (0, 0, 1) on the grips at
/// (∓0.50, ±0.28, 1.00), springless balls `.grip`: `west.left.grip` carries it, the other three
/// close loops. In it hangs the fabric `bed` (2 kg, cylinder of radius 0.4 m and 0.04 m thick,
/// which is its shape) on a sprung slide along z (`bed.z`, 3600 N/m, 400 N·s/m) and two hinges
/// (`bed.x`, `bed.y`; 500 N·m/rad, 20 N·m·s/rad). Mobility 21: 30 coordinates, 9 equations.
///
/// Gravity acts and everybody holds up the equipment: all weight is cancelled, so that the start
/// pose is an equilibrium. Effector: `bed`, of rank 6. It gives way by 0.033 m under 10 kg, 0.193 m
/// under 60 kg and 0.240 m under 75 kg at rest, most of it in the fabric; by 0.60 m at most where
/// 60 kg fall on it from 1.5 m, by 0.81 m where 75 kg fall from 2 m.
pub fn firefighters() -> Parametric {
    let mut s = Sketch::new("firefighters");
    let mut trampoline = Vec::new();
    let mut others = Vec::new();
    for (person, x) in [("west", -1.0), ("east", 1.0)] {
        let at = Pose::from_translation(DVec3::new(0.9 * x, 0.0, 1.1));
        let torso = s.link_at(person, at, solid_box(50.0, DVec3::new(0.1, 0.18, 0.35)));
        s.joint_at("", JointKind::Fixed, [LinkId::WORLD, torso], at, None);
        // Who looks along +x has the left hand at +y.
        for (side, y) in [("left", -x), ("right", x)] {
            let name = format!("{person}.{side}");
            let quadrant = DVec3::new(x, y, 1.0);
            let hand = arm(&mut s, &name, torso, SHOULDER * quadrant, GRIP * quadrant);
            if trampoline.is_empty() {
                trampoline.extend(hang(&mut s, &name, hand, GRIP * quadrant));
            } else {
                others.push((name, hand, GRIP * quadrant));
            }
        }
    }
    for (name, hand, point) in others {
        s.ball(format!("{name}.grip"), [hand, trampoline[0]], point);
    }
    Parametric { mechanism: s.build_heavy(1.0), effectors: vec![trampoline[1]] }
}

/// An arm from its shoulder to its grip, bent downwards; gives the hand.
fn arm(s: &mut Sketch, name: &str, torso: LinkId, shoulder: DVec3, grip: DVec3) -> LinkId {
    // A triangle with the wrist straight.
    let reach = grip - shoulder;
    let (d, lower) = (reach.length(), FOREARM + HAND);
    let along = (UPPER * UPPER - lower * lower + d * d) / (2.0 * d);
    let aside = (UPPER * UPPER - along * along).sqrt();
    let lateral = DVec3::Z.cross(reach).normalize();
    let down = reach.cross(lateral).normalize();
    let down = if down.z < 0.0 { down } else { -down };
    let elbow = shoulder + reach / d * along + down * aside;
    let forward = (grip - elbow) / lower;
    let wrist = elbow + forward * FOREARM;

    let ball = [("x", DVec3::X), ("y", DVec3::Y), ("z", DVec3::Z)];
    let axes = ball.map(|(suffix, axis)| {
        Axis::servo(format!("{name}.shoulder.{suffix}"), axis, SHOULDER_GAINS)
    });
    let part = |s: &mut Sketch, part: &str, on, [from, to]: [DVec3; 2], mass, radius, axes| {
        let rod = solid_rod(mass, to - from, radius);
        let at = Pose::from_translation(from);
        s.link_on(&format!("{name}.{part}"), on, [at, at], rod, axes)
    };
    let upper = part(s, "upper", torso, [shoulder, elbow], 1.7, 0.045, axes.into());
    let bend = Axis::servo(format!("{name}.elbow"), lateral, ELBOW_GAINS);
    let forearm = part(s, "forearm", upper, [elbow, wrist], 1.0, 0.035, vec![bend]);
    let across = [("bend", lateral), ("side", forward.cross(lateral).normalize())];
    let axes = across
        .map(|(suffix, axis)| Axis::servo(format!("{name}.wrist.{suffix}"), axis, WRIST_GAINS));
    part(s, "hand", forearm, [wrist, grip], 0.4, 0.03, axes.into())
}

/// The rim on a hand, and the fabric in the rim.
fn hang(s: &mut Sketch, name: &str, hand: LinkId, grip: DVec3) -> [LinkId; 2] {
    let middle = Pose::from_translation(DVec3::Z);
    let rim = s.link_at("rim", middle, solid_box(6.0, DVec3::new(0.50, 0.28, 0.02)));
    s.ball(format!("{name}.grip"), [hand, rim], grip);
    let axis = |suffix: &str, kind, c| Axis {
        name: format!("bed.{suffix}"),
        kind,
        resistance: Resistance::Spring(c),
    };
    let axes = vec![
        axis("z", JointKind::Prismatic { axis: DVec3::Z }, FABRIC),
        axis("x", JointKind::Revolute { axis: DVec3::X }, TILT),
        axis("y", JointKind::Revolute { axis: DVec3::Y }, TILT),
    ];
    let (radius, half_length) = (0.4, 0.02);
    let fabric = solid_cylinder(2.0, radius, half_length);
    let bed = s.link_on("bed", rim, [middle, middle], fabric, axes);
    s.shape(bed, Pose::IDENTITY, Geometry::Cylinder { radius, half_length });
    [rim, bed]
}
