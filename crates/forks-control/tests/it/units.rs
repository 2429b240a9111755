//! The same arm in millimetres and in metres, in degrees and in radians: the same commands.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Solution},
    objective::{Metric, Objective, Quantity, Term},
    plant::{Command, Plant, TreePlant},
    task::{Frame, Goal, Task},
};
use forks_dynamics::mechanism::{
    Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DQuat, DVec3},
    },
};

/// Four links on hinges about changing axes; a unit of length is 1/`s` m.
fn arm(s: f64) -> Arc<Mechanism> {
    let mut b = MechanismBuilder::new("arm");
    b.set_gravity(DVec3::new(0.0, 0.0, -9.81) * s);
    let mut parent = LinkId::WORLD;
    for (i, axis) in [DVec3::Z, DVec3::Y, DVec3::Y, DVec3::X].into_iter().enumerate() {
        let inertia = SpatialInertia::new(
            1.5 - 0.2 * i as f64,
            DVec3::new(0.12, 0.01, -0.02) * s,
            DMat3::from_diagonal(DVec3::new(0.002, 0.01, 0.011)) * (s * s),
        );
        let link = b.add_link(Link::new(format!("l{i}")).with_inertia(inertia));
        let at = Pose::new(DQuat::from_rotation_x(0.3), DVec3::new(0.25, 0.03, 0.02) * s);
        let joint = Joint::new(format!("j{i}"), JointKind::Revolute { axis }, parent, link);
        b.add_joint(joint.at(at).with_stiffness(2.0 * s * s).with_damping(0.1 * s * s));
        parent = link;
    }
    Arc::new(b.build().unwrap())
}

/// A pose task, a joint and the least weighted commands, all in units of the arm.
fn commands(s: f64, degrees: f64) -> Solution {
    let m = arm(s);
    let (q, v) = (vec![0.2, -0.5, 0.7, 0.1], vec![0.3, -0.2, 0.5, 0.4]);
    let all: Vec<Command> = (0..4).map(Command::Force).collect();
    let mut plant = TreePlant::new(Arc::clone(&m), &q, &v, &all, 1e-3).unwrap();
    let tip = m.link_poses(&q)[4];
    let frame = Frame::of(LinkId::new(4));
    let target = tip.translation + DVec3::new(0.02, 0.01, -0.03) * s;
    let turned = tip.rotation * DQuat::from_rotation_y(0.2);
    let tasks = [
        // Both on one level and more than four joints can do: weights decide.
        Task::new("place", Goal::Position(frame, target)).weighing(3.0 / s),
        Task::new("turn", Goal::Orientation(frame, turned)).weighing(0.5),
        Task::new("joint", Goal::Joint(JointId::new(1), -0.4)).on_level(1),
    ];
    let weights = (0..4).map(|i| (1.0 + f64::from(i)) / (s * s).powi(2)).collect();
    let term = Term { quantity: Quantity::Command, metric: Metric::Diagonal(weights), weight: 1.0 };
    // Velocities in degrees weigh less as their numbers are larger.
    let objective = Objective { terms: vec![term] };
    let angles = Metric::Diagonal(vec![degrees.powi(2); 4]);
    let objective = objective.and(Quantity::Velocity, angles, 0.1 / degrees.powi(2));
    let mut c = Controller::new(vec![(-30.0 * s * s, 30.0 * s * s); 4]).minimise(objective);
    let out = c.solve(&mut plant, &tasks).unwrap().clone();
    plant.step(&out.commands).unwrap();
    out
}

#[test]
fn units_do_not_matter_where_weights_change_alike() {
    let metres = commands(1.0, 1.0);
    assert!(metres.commands.iter().any(|z| z.abs() > 0.1), "{:?}", metres.commands);
    for (s, degrees) in [(1000.0, 1.0), (1.0, 180.0 / core::f64::consts::PI), (1e-2, 57.3)] {
        let other = commands(s, degrees);
        for (a, b) in metres.commands.iter().zip(&other.commands) {
            let b = b / (s * s);
            assert!((a - b).abs() < 1e-12 * a.abs().max(1.0), "{s} {degrees}: {a} and {b}");
        }
        let named = |s: &Solution| s.relaxed.iter().map(|r| r.origin).collect::<Vec<_>>();
        assert_eq!(named(&metres), named(&other));
    }
}
