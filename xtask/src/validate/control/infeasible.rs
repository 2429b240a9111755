//! Tasks that are infeasible by design: the right row is named, and violated least.

use std::sync::Arc;

use forks_control::{
    controller::{Controller, Origin},
    plant::{Command, TreePlant},
    task::{Goal, Task},
};
use forks_mechanism::{
    Joint, JointId, JointKind, Link, LinkId, Mechanism, MechanismBuilder,
    lie::{
        Pose, SpatialInertia,
        glam::{DMat3, DVec3},
    },
};
use forks_testkit::Rng;

use crate::validate::record::{Recorder, larger};

const H: f64 = 1e-3;

pub(super) fn check(count: usize, out: &mut Recorder) -> Result<(), String> {
    let m = arm()?;
    let mut rng = Rng::new(20);
    let (mut misnamed, mut worst) = (0, 0.0f64);
    for case in 0..count {
        let joint = case % 4;
        let [a, b] = [rng.range(0.2, 0.9), -rng.range(0.2, 0.9)];
        let weights = [rng.range(0.3, 3.0), rng.range(0.3, 3.0)];
        let mut tasks: Vec<Task> = (0..4)
            .map(|j| Task::new(format!("hold {j}"), Goal::Joint(JointId::new(j), 0.1 * j as f64)))
            .collect();
        // Another wish for one joint: on the same level shared by weights, below it in vain.
        let below = case % 2;
        let goal = Goal::Joint(JointId::new(joint), b);
        tasks[joint].goal = Goal::Joint(JointId::new(joint), a);
        tasks[joint].weight = weights[0];
        tasks.push(Task::new("other", goal).on_level(below).weighing(weights[1]));
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let (q, v) = ([0.0, 0.1, 0.2, 0.3], [0.0; 4]);
        let all: Vec<Command> = (0..4).map(Command::Force).collect();
        let plant = TreePlant::new(Arc::clone(&m), &q, &v, &all, H);
        let mut plant = plant.map_err(|e| e.to_string())?;
        let mut controller = Controller::new(vec![free; 4]);
        let found = controller.solve(&mut plant, &tasks).map_err(|e| e.to_string())?;
        let named: Vec<Origin> = found.relaxed.iter().map(|r| r.origin).collect();
        let [first, other] = [joint, 4].map(|task| Origin::Task { task, row: 0 });
        let expected = if below == 0 { vec![first, other] } else { vec![other] };
        misnamed += usize::from(named != expected);
        // Rates asked for are h k e; equal weights would share the difference.
        let apart = H * 100.0 * (b - a);
        let share = weights.map(|w| w * w);
        let expected = match below {
            0 => [share[1], -share[0]].map(|s| apart * s / (share[0] + share[1])),
            _ => [0.0, -apart],
        };
        for (at, expected) in [joint, 4].into_iter().zip(expected) {
            worst = larger(worst, (found.residuals[at].by - expected).abs());
        }
    }
    out.equal(&format!("rows misnamed, {count} cases infeasible by design"), misnamed, 0);
    out.at_most("their violation less the least one, rad/s", worst, 1e-9);
    Ok(())
}

/// Four links of 0.3 m on hinges.
fn arm() -> Result<Arc<Mechanism>, String> {
    let mut b = MechanismBuilder::new("arm");
    let mut parent = LinkId::WORLD;
    for (i, axis) in [DVec3::Z, DVec3::Y, DVec3::Y, DVec3::X].into_iter().enumerate() {
        let tensor = DMat3::from_diagonal(DVec3::new(0.002, 0.01, 0.011));
        let inertia = SpatialInertia::new(1.0, DVec3::X * 0.15, tensor);
        let link = b.add_link(Link::new(format!("l{i}")).with_inertia(inertia));
        let joint = Joint::new(format!("j{i}"), JointKind::Revolute { axis }, parent, link);
        b.add_joint(joint.at(Pose::from_translation(DVec3::X * 0.3)));
        parent = link;
    }
    b.build().map(Arc::new).map_err(|e| e.to_string())
}
