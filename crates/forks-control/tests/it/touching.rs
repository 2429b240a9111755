//! Points that stay, and the forces that hold them: against the plant under these forces as loads,
//! cones, and what gives way.

use std::sync::Arc;

use forks_control::{
    controller::{ControlError, Controller, Origin, Solution, Touch},
    plant::{ImplicitPlant, Kinematics, Plant, Response},
    task::{Axes, Frame, Goal, Task},
};
use forks_dynamics::{
    integrate::ImpulseStepper,
    mechanism::{
        LinkId,
        lie::{
            Pose,
            glam::{DQuat, DVec3},
        },
        linalg::{Matrix, axpy, dot},
    },
};
use forks_models::hexapod;

const H: f64 = 2e-3;
const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

struct Machine {
    plant: ImplicitPlant,
    touches: Vec<Touch>,
    body: Frame,
}

/// A hexapod on six feet, each of which touches the ground below its sphere.
fn machine(friction: f64) -> Machine {
    let p = hexapod();
    let m = Arc::new(p.mechanism);
    let q = m.start_positions();
    let poses = m.link_poses(&q);
    let touch = |foot: &LinkId| {
        let pose = poses[foot.index()];
        let point = Pose::from_translation(pose.translation - 0.02 * DVec3::Z);
        let link_from_frame = pose.inverse() * point;
        Touch { frame: Frame { link: *foot, link_from_frame }, friction, gap: 0.0 }
    };
    let touches = p.effectors.iter().map(touch).collect();
    let hinges: Vec<usize> = (6..m.tree_velocity_count()).collect();
    let still = vec![0.0; m.tree_velocity_count()];
    let body = Frame::of(m.find_link("body").unwrap());
    let plant = ImplicitPlant::new(Arc::clone(&m), &q, &still, &hinges, H).unwrap();
    Machine { plant, touches, body }
}

fn pushed(m: &Machine, by: DVec3, stiffness: f64) -> Task {
    let here = m.plant.frame(&m.body, &mut Matrix::zeros(6, m.plant.rates().len()));
    let to = Pose { translation: here.translation + by, ..here };
    Task { stiffness, ..Task::new("body", Goal::Pose(m.body, to)).in_axes(Axes::World) }
}

fn solve(m: &mut Machine, task: &Task) -> Solution {
    let n = m.plant.command_count();
    let mut c = Controller::new(vec![FREE; n]);
    let touches = m.touches.clone();
    c.solve_touching(&mut m.plant, std::slice::from_ref(task), &touches).unwrap().clone()
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// By how much forces are beyond their cones, and how near they come to them.
fn cones(s: &Solution, friction: f64) -> (f64, f64) {
    let size = largest(&s.reactions);
    let (mut beyond, mut used) = (0.0f64, 0.0f64);
    for f in s.reactions.chunks_exact(3) {
        assert!(f[2] >= -1e-12 * size, "{f:?}");
        let across = f[0].hypot(f[1]);
        beyond = beyond.max((across - friction * f[2]) / size);
        used = used.max(across / (friction * f[2]).max(1e-9 * size));
    }
    (beyond, used)
}

/// Rates of the points that touch.
fn slips(m: &Machine, rates: &[f64]) -> f64 {
    let mut rows = Matrix::zeros(6, rates.len());
    let mut most = 0.0f64;
    for t in &m.touches {
        m.plant.frame(&t.frame, &mut rows);
        most = (0..3).fold(most, |a, i| a.max(dot(rows.row(i), rates).abs()));
    }
    most
}

#[test]
fn feet_stay_while_the_body_goes_where_it_shall() {
    let mut m = machine(0.8);
    let task = pushed(&m, DVec3::new(0.01, 0.0, 0.005), 100.0);
    let s = solve(&mut m, &task);
    assert!(s.relaxed.is_empty() && s.finished, "{:?}", s.relaxed);
    assert!(s.residuals.iter().all(|r| r.by.abs() < 1e-10), "{:?}", s.residuals);
    assert!(slips(&m, &s.rates) < 1e-10);
    assert!(cones(&s, 0.8).0 < 1e-9);
    // The same forces, as those of joints, beside the commands: the step's rates are those said.
    let stepper: ImpulseStepper = m.plant.stepper().clone();
    let count = stepper.mechanism().velocity_count();
    let (mut rows, mut steady) = (Matrix::zeros(6, count), vec![0.0; count]);
    for (t, f) in m.touches.iter().zip(s.reactions.chunks_exact(3)) {
        m.plant.frame(&t.frame, &mut rows);
        (0..3).for_each(|i| axpy(f[i], rows.row(i), &mut steady));
    }
    let commands = (6..count).map(|c| vec![(c, 1.0)]).collect();
    let mut other = ImplicitPlant::of(stepper, H, commands, &steady, vec![]).unwrap();
    let mut response = Response::default();
    other.respond(&mut response).unwrap();
    let rates = response.rates(&s.commands);
    let apart: Vec<f64> = rates.iter().zip(&s.rates).map(|(a, b)| a - b).collect();
    assert!(largest(&apart) < 1e-10 * largest(&s.commands).max(1.0), "{apart:?}");
}

#[test]
fn smooth_ground_lets_the_task_give_way_and_no_force_leaves_its_cone() {
    let friction = 0.2;
    let mut m = machine(friction);
    // Half of the weight's acceleration sideways: more than the cones can give.
    let task = pushed(&m, DVec3::new(0.05, 0.02, 0.0), 100.0);
    let s = solve(&mut m, &task);
    let (beyond, used) = cones(&s, friction);
    assert!(beyond < 1e-9, "{beyond:e}");
    assert!(used > 0.999, "{used}");
    assert!(slips(&m, &s.rates) < 1e-9);
    assert!(s.relaxed.iter().any(|r| matches!(r.origin, Origin::Task { .. })), "{:?}", s.relaxed);
    assert!(s.rounds > 1 && s.rounds < 30, "{}", s.rounds);
}

#[test]
fn what_cannot_stay_slips_least_and_says_so() {
    // No friction, and legs that push sideways by a command that is held.
    let mut m = machine(0.0);
    let n = m.plant.command_count();
    let mut limits = vec![FREE; n];
    // All servos' forces are held at what bends the legs outwards.
    limits.iter_mut().enumerate().for_each(|(i, l)| {
        let z = if i % 3 == 1 { 3.0 } else { 0.0 };
        *l = (z, z);
    });
    let mut c = Controller::new(limits);
    let touches = m.touches.clone();
    let s = c.solve_touching(&mut m.plant, &[], &touches).unwrap();
    assert!(s.relaxed.iter().any(|r| matches!(r.origin, Origin::Touch { .. })), "{:?}", s.relaxed);
    let size = largest(&s.reactions);
    for f in s.reactions.chunks_exact(3) {
        assert!(f[2] >= -1e-12 * size && f[0].hypot(f[1]) < 1e-8 * size, "{f:?}");
    }
}

#[test]
fn a_gap_is_closed_within_the_step() {
    let mut m = machine(0.8);
    for t in &mut m.touches {
        t.gap = 1e-5;
        // Turned frames say the same.
        t.frame.link_from_frame.rotation *= DQuat::from_rotation_z(0.7);
    }
    let task = pushed(&m, DVec3::ZERO, 0.0);
    let s = solve(&mut m, &task);
    let mut rows = Matrix::zeros(6, s.rates.len());
    for t in &m.touches {
        m.plant.frame(&t.frame, &mut rows);
        assert!((dot(rows.row(2), &s.rates) + 1e-5 / H).abs() < 1e-10);
    }
}

#[test]
fn touches_are_checked() {
    let mut m = machine(0.8);
    let good = m.touches.clone();
    let n = m.plant.command_count();
    let mut said = |change: &dyn Fn(&mut Touch)| {
        let mut touches = good.clone();
        change(&mut touches[2]);
        let mut c = Controller::new(vec![FREE; n]);
        let e = c.solve_touching(&mut m.plant, &[], &touches).unwrap_err();
        assert!(matches!(e, ControlError::Touch { touch: 2, .. }), "{e}");
        e.to_string()
    };
    assert_eq!(said(&|t| t.friction = -1.0), "touch 2: the friction is -1");
    assert_eq!(said(&|t| t.gap = f64::NAN), "touch 2: the gap is NaN");
    assert_eq!(said(&|t| t.frame.link = LinkId::new(99)), "touch 2: the number of its link is 99");
    let nan = DVec3::splat(f64::NAN);
    assert_eq!(
        said(&|t| t.frame.link_from_frame.translation = nan),
        "touch 2: a number of its frame is NaN"
    );
}
