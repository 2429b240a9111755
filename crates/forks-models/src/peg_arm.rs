//! A compliant arm that holds a peg over a hole.

use forks_mechanism::{
    Geometry, LinkId,
    kinematics::link_jacobian,
    lie::{Pose, glam::DVec3},
    linalg::dense,
};

use crate::{
    Parametric,
    driven::{Axis, solid_cylinder, solid_rod},
    sketch::{Compliance, Sketch},
};

/// Height of the shoulder and of the wrist, m.
const HEIGHT: f64 = 0.32;
/// Distance of the wrist from the first axis, m.
const REACH: f64 = 0.40;
/// Upper arm and forearm, m.
const UPPER: f64 = 0.30;
const FOREARM: f64 = 0.30;
/// Wrist to the peg's upper end, m.
const GRIPPER: f64 = 0.06;
/// Radius and length of the peg, m.
const RADIUS: f64 = 0.010;
const LENGTH: f64 = 0.080;

const ARM_GAINS: Compliance = Compliance::new(1200.0, 40.0);
const WRIST_GAINS: Compliance = Compliance::new(100.0, 2.0);

/// An arm of six driven hinges that holds a peg straight down; the middle of the peg's lower face
/// is at (0.40, 0, 0.18) in the start pose.
///
/// Joints and servos: `turn` (about z at the origin), `shoulder` (y, at (0, 0, 0.32)), `elbow` (y,
/// above and half-way to the wrist), 1200 N·m/rad and 40 N·m·s/rad; `roll` (along the forearm),
/// `pitch` (y) and `spin` (z), which meet in the wrist at (0.40, 0, 0.32), 100 N·m/rad and 2
/// N·m·s/rad. Links: `column` (4 kg), `upper` (0.30 m, 2.5 kg), `forearm` (0.30 m, 1.5 kg), `wrist`
/// and `gripper` (0.3 kg each), `peg` (0.4 kg with what holds it). The damping stands in the
/// joints.
///
/// The peg's frame is in the middle of its lower face, z up; its shape is a cylinder of radius 10
/// mm from there to 80 mm above. Gravity acts and the servos hold it: all weight is cancelled, so
/// that the start pose is an equilibrium. A force of 10 N across the peg's end moves it by 3.2 mm
/// along x, by 2.2 mm along y. Effector: `peg`, of rank 6.
pub fn peg_arm() -> Parametric {
    let mut s = Sketch::new("peg-arm");
    let half = 0.5 * REACH;
    let shoulder = DVec3::Z * HEIGHT;
    let elbow = shoulder + DVec3::new(half, 0.0, (UPPER * UPPER - half * half).sqrt());
    let wrist = shoulder + DVec3::X * REACH;
    let forearm = (wrist - elbow) / FOREARM;
    let tip = wrist - DVec3::Z * (GRIPPER + LENGTH);

    let mut at = LinkId::WORLD;
    let mut link =
        |name: &str, joint: (&str, DVec3, Compliance), [hinge, frame]: [DVec3; 2], inertia| {
            let axis = Axis::servo(joint.0, joint.1, joint.2);
            let poses = [Pose::from_translation(frame), Pose::from_translation(hinge)];
            at = s.link_on(name, at, poses, inertia, vec![axis]);
            at
        };
    let column = solid_rod(4.0, shoulder, 0.06);
    link("column", ("turn", DVec3::Z, ARM_GAINS), [DVec3::ZERO; 2], column);
    let upper = solid_rod(2.5, elbow - shoulder, 0.04);
    link("upper", ("shoulder", DVec3::Y, ARM_GAINS), [shoulder; 2], upper);
    let lower = solid_rod(1.5, wrist - elbow, 0.035);
    link("forearm", ("elbow", DVec3::Y, ARM_GAINS), [elbow; 2], lower);
    let cross = solid_rod(0.3, DVec3::Z * -0.03, 0.03);
    link("wrist", ("roll", forearm, WRIST_GAINS), [wrist; 2], cross);
    link("gripper", ("pitch", DVec3::Y, WRIST_GAINS), [wrist; 2], cross);
    let mut held = solid_cylinder(0.4, 0.02, 0.5 * LENGTH);
    held.center_of_mass = DVec3::Z * (0.5 * LENGTH);
    let peg = link("peg", ("spin", DVec3::Z, WRIST_GAINS), [wrist, tip], held);
    let geometry = Geometry::Cylinder { radius: RADIUS, half_length: 0.5 * LENGTH };
    s.shape(peg, Pose::from_translation(DVec3::Z * (0.5 * LENGTH)), geometry);
    Parametric { mechanism: s.build_heavy(1.0), effectors: vec![peg] }
}

/// Newton steps of [`peg_arm_targets`].
const MOST_STEPS: usize = 30;
/// Remaining distance (m) and angle (rad) at which they end.
const REACHED: f64 = 1e-13;

/// Joint values, in the order of the servos, at which the unloaded peg of [`peg_arm`] is moved by
/// `shift` (m, world axes) without being turned: targets for its servos.
///
/// Newton's method on the joint angles from the start pose. `None` where it does not reach the
/// place, as for shifts by more than the arm is long.
///
/// A peg that is lowered by 60 mm turns shoulder and pitch by 0.15 rad. For a straight way ask for
/// places a few millimetres apart. A model linearised in the start pose takes targets linearly:
/// there it goes 4.5 mm aside. Where that is too much, a [carriage](forks_mechanism::Mount) that
/// slides along z lowers the arm as it is, exactly in either.
pub fn peg_arm_targets(arm: &Parametric, shift: DVec3) -> Option<Vec<f64>> {
    let m = &arm.mechanism;
    let peg = *arm.effectors.first()?;
    let mut q = m.start_positions();
    let mut poses = m.link_poses(&q);
    let target = Pose { translation: poses[peg.index()].translation + shift, ..poses[peg.index()] };
    for _ in 0..MOST_STEPS {
        let gap = poses[peg.index()].twist_to(&target).to_array();
        if gap.iter().all(|x| x.abs() <= REACHED) {
            return Some(q);
        }
        let jacobian = link_jacobian(m, &q, &poses, peg);
        let step = dense::min_norm_solve(&jacobian, &gap, f64::EPSILON);
        m.integrate(&mut q, &step);
        poses = m.link_poses(&q);
    }
    None
}
