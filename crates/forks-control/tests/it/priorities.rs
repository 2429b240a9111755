//! Filtered priorities of the controller: bounded and continuous through singular poses, exact
//! elsewhere, within limits; the published scheme against its formula.

use std::sync::Arc;

use forks_control::{
    controller::{ControlError, Controller, Priorities, Solution},
    plant::{Command, Kinematics, Plant, TreePlant},
    task::{Axes, Frame, Goal, Task},
};
use forks_dynamics::mechanism::{
    Joint, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
    linalg::{Matrix, Pivots, norm},
};

const H: f64 = 1e-3;
const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Three hinges about z, links of 0.5 m, no gravity; the last link's frame is at its end.
fn arm() -> Arc<Mechanism> {
    let mut b = MechanismBuilder::new("arm");
    b.set_gravity(DVec3::ZERO);
    let mut at = LinkId::WORLD;
    for k in 0..3 {
        let inertia = SpatialInertia::new(1.0, DVec3::X * 0.25, DMat3::IDENTITY * 0.02);
        let link = b.add_link(Link::new(format!("link{k}")).with_inertia(inertia));
        let place = if k == 0 { DVec3::ZERO } else { DVec3::X * 0.5 };
        let joint = Joint::new(format!("j{k}"), JointKind::Revolute { axis: DVec3::Z }, at, link);
        b.add_joint(joint.at(Pose::from_translation(place)));
        at = link;
    }
    Arc::new(b.build().unwrap())
}

fn tip() -> Frame {
    let link_from_frame = Pose::from_translation(DVec3::X * 0.5);
    Frame { link: LinkId::new(3), link_from_frame }
}

fn plant(m: &Arc<Mechanism>, q: [f64; 3]) -> TreePlant {
    let all: Vec<Command> = (0..3).map(Command::Force).collect();
    TreePlant::new(Arc::clone(m), &q, &[0.0; 3], &all, H).unwrap()
}

/// The tip, in the plane, a decimetre further out along x and up along y.
fn task(p: &TreePlant) -> Task {
    let here = p.frame(&tip(), &mut Matrix::zeros(6, 3)).translation;
    Task::new("tip", Goal::Position(tip(), here + DVec3::new(0.1, 0.02, 0.0)))
        .in_axes(Axes::World)
        .masked([true, true, false, false, false, false])
}

fn solve(m: &Arc<Mechanism>, q: [f64; 3], p: Priorities, limit: (f64, f64)) -> Solution {
    let mut plant = plant(m, q);
    let tasks = [task(&plant)];
    let mut c = Controller::new(vec![limit; 3]).prioritise(p);
    c.solve(&mut plant, &tasks).unwrap().clone()
}

/// What the tip's acceleration is asked to be.
const ASKED: f64 = 10.0 * 1.02;

#[test]
fn smooth_commands_are_bounded_at_singular_poses_and_strict_ones_are_not() {
    let m = arm();
    for bent in [1e-3, 1e-5, 1e-7] {
        let q = [0.0, bent, -bent];
        let most = 20.0;
        let smooth = solve(&m, q, Priorities::Smooth { most: Some(most) }, FREE);
        let size = norm(&smooth.commands);
        assert!(size <= most * ASKED * (1.0 + 1e-9), "{size}");
        // Across the arm nothing is weak.
        assert!(smooth.residuals[1].by.abs() < 0.02 * H, "{:?}", smooth.residuals);
        let strict = solve(&m, q, Priorities::Strict, FREE);
        assert!(norm(&strict.commands) > 1e-3 / bent * size, "{bent}");
        let plain = solve(&m, q, Priorities::Smooth { most: None }, FREE);
        assert!(norm(&plain.commands) < 1e4, "{:?}", plain.commands);
    }
}

#[test]
fn priorities_are_the_same_where_nothing_is_weak() {
    let m = arm();
    let q = [0.3, 1.1, -0.7];
    let strict = solve(&m, q, Priorities::Strict, FREE);
    for p in [Priorities::Smooth { most: Some(1e3) }, Priorities::Smooth { most: None }] {
        let smooth = solve(&m, q, p, FREE);
        for (a, b) in strict.commands.iter().zip(&smooth.commands) {
            assert!((a - b).abs() < 1e-9 * norm(&strict.commands), "{p:?}");
        }
        assert!(smooth.relaxed.is_empty() && smooth.finished);
    }
}

#[test]
fn smooth_commands_change_with_the_pose() {
    let m = arm();
    let largest = |count: usize| {
        let mut before: Option<Vec<f64>> = None;
        let mut most = 0.0f64;
        for i in 0..=count {
            let bent = 0.2 * (1.0 - 2.0 * i as f64 / count as f64);
            let p = Priorities::Smooth { most: Some(20.0) };
            let z = solve(&m, [0.1, bent, -0.5 * bent], p, FREE).commands;
            if let Some(b) = &before {
                most = most.max(norm(&z.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()));
            }
            before = Some(z);
        }
        most
    };
    let ratio = largest(1000) / largest(2000);
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

#[test]
fn filtered_commands_keep_to_limits_and_relax_by_name() {
    let m = arm();
    let p = Priorities::Smooth { most: Some(1e3) };
    let s = solve(&m, [0.3, 1.1, -0.7], p, (-0.5, 0.5));
    assert!(s.commands.iter().all(|z| z.abs() <= 0.5 * (1.0 + 1e-12)), "{:?}", s.commands);
    assert!(!s.relaxed.is_empty() && !s.certificates.is_empty());
    // As strict ones do: the same least violation.
    let strict = solve(&m, [0.3, 1.1, -0.7], Priorities::Strict, (-0.5, 0.5));
    for (a, b) in s.residuals.iter().zip(&strict.residuals) {
        assert!((a.by - b.by).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn the_published_scheme_is_its_formula() {
    let (m, alpha) = (arm(), 1e-2);
    let q = [0.3, 0.6, -0.2];
    let s = solve(&m, q, Priorities::Published { alpha }, FREE);
    let mut p = plant(&m, q);
    let mut rows = Matrix::zeros(6, 3);
    let pose = p.frame(&tip(), &mut rows);
    let response = p.response().unwrap();
    // C maps commands to accelerations of the tip, world axes.
    let turned = |i: usize, j: usize| {
        let v = pose.rotation * DVec3::new(rows[(0, j)], rows[(1, j)], rows[(2, j)]);
        v.to_array()[i]
    };
    let c = Matrix::from_fn(2, 3, turned).mul(&response.gain);
    let c = Matrix::from_fn(2, 3, |i, j| c[(i, j)] / H);
    let d = [10.0, 2.0];
    let mut square = c.mul(&c.transpose());
    (0..2).for_each(|i| square[(i, i)] += alpha);
    let y = square.solve_vec(&d, Pivots::AboveZero).unwrap();
    let x = c.transpose_mul_vec(&y);
    for (a, b) in s.commands.iter().zip(&x) {
        assert!((a - b).abs() < 1e-9 * norm(&x), "{:?} {x:?}", s.commands);
    }
    // It never is exact.
    assert!(s.residuals[0].by.abs() > 1e-6 * H, "{:?}", s.residuals);
}

#[test]
fn parameters_of_priorities_are_checked() {
    let m = arm();
    for p in [
        Priorities::Smooth { most: Some(0.0) },
        Priorities::Smooth { most: Some(f64::NAN) },
        Priorities::Published { alpha: -1.0 },
    ] {
        let mut plant = plant(&m, [0.1; 3]);
        let tasks = [task(&plant)];
        let mut c = Controller::new(vec![FREE; 3]).prioritise(p);
        let e = c.solve(&mut plant, &tasks).unwrap_err();
        assert!(matches!(e, ControlError::Filter(_)), "{e}");
        assert!(e.to_string().contains("finite and above 0"), "{e}");
    }
}

#[test]
fn targets_that_move_are_followed_by_their_rates() {
    use forks_control::task::Moving;
    let m = arm();
    let mut p = plant(&m, [0.3, 1.1, -0.7]);
    let start = p.frame(&tip(), &mut Matrix::zeros(6, 3)).translation;
    let at = |t: f64| {
        let (s, c) = (4.0 * t).sin_cos();
        let x = start + 0.05 * DVec3::new(1.0 - c, s - 4.0 * t.min(0.0), 0.0);
        let v = 0.2 * DVec3::new(s, c, 0.0);
        (x, v, 0.8 * DVec3::new(c, -s, 0.0))
    };
    let run = |p: &mut TreePlant, led: bool| {
        let mut c = Controller::new(vec![FREE; 3]);
        let mut worst = 0.0f64;
        for k in 0..1500 {
            let (x, v, a) = at(k as f64 * H);
            let mut t = Task::new("tip", Goal::Position(tip(), x))
                .in_axes(Axes::World)
                .masked([true, true, false, false, false, false]);
            if led {
                let six = |v: DVec3| [v.x, v.y, v.z, 0.0, 0.0, 0.0];
                t = t.moving(Moving { velocity: six(v), acceleration: six(a) });
            }
            let z = c.solve(p, &[t]).unwrap().commands.clone();
            p.step(&z).unwrap();
            let here = p.frame(&tip(), &mut Matrix::zeros(6, 3)).translation;
            if k > 700 {
                worst = worst.max(here.distance(at((k + 1) as f64 * H).0));
            }
        }
        worst
    };
    let led = run(&mut p.clone(), true);
    let lagging = run(&mut p, false);
    // What is left is how the rows turn within a step, some speed² over length and k; without the
    // target's rates it is d/k times its speed, 40 mm.
    assert!(led < 3e-3, "{led}");
    assert!(lagging > 10.0 * led, "{lagging} {led}");
}
