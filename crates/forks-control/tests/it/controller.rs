//! Tasks brought about by commands, judged by the steps that are made with them.

use std::sync::Arc;

use forks_control::{
    controller::{ControlError, Controller, Origin},
    plant::{ImplicitPlant, Plant},
    task::{Frame, Goal, Task},
};
use forks_dynamics::mechanism::{
    JointId, LinkId, Mechanism,
    lie::{
        Pose,
        glam::{DQuat, DVec3},
    },
};
use forks_testkit::{JointChoice, RandomMechanismOptions, random_mechanism};

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn arm(seed: u64, loops: usize) -> Arc<Mechanism> {
    let options = RandomMechanismOptions {
        links: 8,
        extra_loops: loops,
        joint_kinds: vec![JointChoice::Revolute],
        chain_fraction: 1.0,
        stiffness: 1.0,
        ..Default::default()
    };
    Arc::new(random_mechanism(seed, &options))
}

fn plant(m: &Arc<Mechanism>, h: f64) -> ImplicitPlant {
    let q = &m.start_positions()[..m.tree_position_count()];
    let v = vec![0.0; m.tree_velocity_count()];
    let all: Vec<usize> = (0..m.tree_velocity_count()).collect();
    ImplicitPlant::new(Arc::clone(m), q, &v, &all, h).unwrap()
}

/// The link with the longest path to the ground.
fn tip(m: &Mechanism) -> Frame {
    let depth = |l: &LinkId| {
        let (mut at, mut n) = (m.forest().edge_of_link(*l), 0);
        while let Some(k) = at {
            n += 1;
            at = m.forest().edge_of_link(m.forest().edges()[k].inner);
        }
        n
    };
    let link = (1..m.links().len()).map(LinkId::new).max_by_key(depth).unwrap();
    Frame { link, link_from_frame: Pose::IDENTITY }
}

fn task(name: &str, goal: Goal, level: usize) -> Task {
    Task::new(name, goal).on_level(level)
}

#[test]
fn feasible_tasks_are_met_at_the_end_of_the_step_whatever_its_length() {
    let mut met = 0;
    for seed in 0..60 {
        let m = arm(seed, 0);
        let frame = tip(&m);
        for h in [1e-4, 1e-3, 1.0 / 60.0] {
            let mut plant = plant(&m, h);
            let start = plant.stepper().link_poses()[frame.link.index()];
            let target = start.translation + DVec3::new(0.01, -0.02, 0.015);
            let tasks = [task("tip", Goal::Position(frame, target), 0)];
            let mut controller = Controller::new(vec![FREE; plant.command_count()]);
            let rows = plant.frame_rows(frame.link, &frame.link_from_frame);
            let out = controller.solve(&mut plant, &tasks).unwrap();
            if !out.relaxed.is_empty() {
                continue;
            }
            met += 1;
            plant.step(&out.commands).unwrap();
            // The twist of the tip from the state that the step has led to.
            let u = plant.stepper().velocities();
            let e = start.inverse().transform_point(target).to_array();
            for i in 0..3 {
                let reached: f64 = rows.row(i).iter().zip(u).map(|(a, b)| a * b).sum();
                let asked = h * 100.0 * e[i];
                assert!((reached - asked).abs() < 1e-10, "{seed}, {h}: {reached} and {asked}");
            }
        }
    }
    assert!(met > 100, "{met}");
}

#[test]
fn a_dragged_tip_arrives_and_a_closed_loop_stays_closed() {
    for (seed, loops) in [(3, 0), (5, 0), (3, 1), (5, 1)] {
        let m = arm(seed, loops);
        let frame = tip(&m);
        let mut plant = plant(&m, 5e-3);
        let start = plant.stepper().link_poses()[frame.link.index()];
        // A place that the mechanism reaches: where it goes with its first motion.
        let mut trial = plant.stepper().clone();
        let u: Vec<f64> = (0..trial.motion_count()).map(|i| f64::from(u8::from(i == 0))).collect();
        for _ in 0..20 {
            trial.finish(&u).unwrap();
        }
        let target = trial.link_poses()[frame.link.index()].translation;
        let mut tasks = vec![task("tip", Goal::Position(frame, target), 0)];
        // The rest holds its place below, or it would fall.
        for e in m.forest().edges().iter().filter(|e| m.velocity_range(e.joint).len() == 1) {
            let here = plant.stepper().positions()[m.position_range(e.joint).start];
            tasks.push(task("rest", Goal::Joint(e.joint, here), 1));
        }
        let mut controller = Controller::new(vec![FREE; plant.command_count()]);
        for _ in 0..600 {
            let out = controller.solve(&mut plant, &tasks).unwrap();
            plant.step(&out.commands).unwrap();
        }
        let end = plant.stepper().link_poses()[frame.link.index()].translation;
        let (left, way) = ((end - target).length(), (start.translation - target).length());
        println!("seed {seed}, {loops} loops: {left:e} of {way:e} m left");
        assert!(left < 1e-6 * way.max(0.01), "seed {seed}, {loops} loops: {left:e} of {way:e}");
        assert!(plant.stepper().loop_gap() < 1e-10);
    }
}

#[test]
fn lower_levels_do_not_disturb_higher_ones() {
    for seed in 0..60 {
        let m = arm(seed, (seed % 2) as usize);
        let frame = tip(&m);
        let mut plant = plant(&m, 1e-3);
        let start = plant.stepper().link_poses()[frame.link.index()];
        let there = start.displaced(Pose::from_array([0.02, 0.01, 0.0, 1.0, 0.1, 0.0, 0.0]).log());
        let goal = Goal::Orientation(frame, there.rotation);
        let high = task("turn", goal.clone(), 0);
        let low = task("all", Goal::Pose(frame, Pose::IDENTITY), 1);
        let mut controller = Controller::new(vec![FREE; plant.command_count()]);
        let alone = controller.solve(&mut plant, std::slice::from_ref(&high)).unwrap().clone();
        let both = controller.solve(&mut plant, &[high, low]).unwrap();
        assert_eq!(both.residuals.len(), 9);
        for (a, b) in alone.residuals.iter().zip(&both.residuals) {
            assert!((a.by - b.by).abs() < 1e-12, "seed {seed}: {} and {}", a.by, b.by);
        }
    }
}

#[test]
fn limits_of_commands_hold_and_the_task_that_gives_way_is_named() {
    let mut relaxed = 0;
    for seed in 0..40 {
        let m = arm(seed, 0);
        let mut plant = plant(&m, 1e-3);
        let j = JointId::new(0);
        let here = plant.stepper().positions()[m.position_range(j).start];
        let tasks = [task("first joint", Goal::Joint(j, here + 3.0), 0)];
        let mut controller = Controller::new(vec![(-1e-3, 1e-3); plant.command_count()]);
        let out = controller.solve(&mut plant, &tasks).unwrap();
        assert!(out.commands.iter().all(|z| z.abs() <= 1e-3 * (1.0 + 1e-12)), "{out:?}");
        if let Some(r) = out.relaxed.first() {
            assert_eq!((r.level, r.origin), (1, Origin::Task { task: 0, row: 0 }));
            assert_eq!(r.by, out.residuals[0].by);
            assert!(r.by != 0.0);
            relaxed += 1;
        }
    }
    assert!(relaxed > 30, "{relaxed}");
}

#[test]
fn wrong_tasks_are_refused_with_their_values() {
    let m = arm(1, 0);
    let frame = tip(&m);
    let mut plant = plant(&m, 1e-3);
    let n = plant.command_count();
    let mut said = |limits: Vec<(f64, f64)>, t: Task| {
        let mut controller = Controller::new(limits);
        let refused: ControlError = controller.solve(&mut plant, &[t]).unwrap_err();
        refused.to_string()
    };
    let nan = Goal::Position(frame, DVec3::new(0.0, f64::NAN, 0.0));
    assert_eq!(said(vec![FREE; n], task("tip", nan, 0)), "task tip: a number of the goal is NaN");
    let goal = Goal::Orientation(frame, DQuat::IDENTITY);
    let weightless = Task { weight: 0.0, ..task("turn", goal.clone(), 0) };
    assert_eq!(said(vec![FREE; n], weightless), "task turn: the weight is 0");
    let undamped = Task { damping: -1.0, ..task("turn", goal.clone(), 0) };
    assert_eq!(said(vec![FREE; n], undamped), "task turn: the damping is -1");
    assert_eq!(
        said(vec![FREE], task("turn", goal.clone(), 0)),
        format!("1 limits of commands, expected {n}")
    );
    assert_eq!(
        said(vec![(1.0, -1.0); n], task("turn", goal.clone(), 0)),
        "level 0: row 0: the lower bound 1 is above the upper bound -1"
    );
    let zero = Goal::Orientation(frame, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    assert_eq!(
        said(vec![FREE; n], task("turn", zero, 0)),
        "task turn: the length of the quaternion is 0"
    );
}
