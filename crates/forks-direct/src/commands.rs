//! What a control's table commands.

use forks_control::{controller::Priorities, objective::Objective};
use forks_mechanism::{JointId, JointKind};
use forks_sim::{
    MechanismHandle,
    scene::{Scene, SceneMechanism, meant},
};

use crate::{
    actuators::{Actuator, actuators},
    error::{DirectError, invalid},
    near::unknown,
    plant::Drive,
    spec::{CommandKind, ControlSpec, Least, PrioritiesSpec},
};

pub(crate) fn objective(least: Least) -> Objective {
    match least {
        Least::Torque => Objective::torque(),
        Least::Acceleration => Objective::acceleration(),
        Least::Velocity => Objective::velocity(),
        Least::Energy => Objective::kinetic_energy(),
        Least::Jerk => Objective::jerk(),
    }
}

pub(crate) fn priorities(spec: PrioritiesSpec) -> Priorities {
    match spec {
        PrioritiesSpec::Strict => Priorities::Strict,
        PrioritiesSpec::Smooth { most } => Priorities::Smooth { most },
        PrioritiesSpec::Published { alpha } => Priorities::Published { alpha },
    }
}

/// What is commanded, its names, and the largest commands.
type Commanded = (Vec<Drive>, Vec<String>, Vec<f64>);

/// Looks up what is commanded.
pub(crate) fn commands(
    spec: &ControlSpec,
    m: &SceneMechanism,
    scene: &mut Scene,
    handle: MechanismHandle,
    element: &str,
) -> Result<Commanded, DirectError> {
    let servos: Vec<String> = m.mechanism.servos().iter().map(|s| s.name.clone()).collect();
    let solver = scene.world.full_solver(handle)?.map(|s| s.mechanism().clone());
    let kind = spec.commands.unwrap_or(match servos.is_empty() {
        true => CommandKind::Torque,
        false => CommandKind::Servos,
    });
    let all: Vec<(Drive, String)> = match (kind, solver) {
        (CommandKind::Servos, _) => {
            servos.iter().enumerate().map(|(k, n)| (Drive::Servo(k), n.clone())).collect()
        }
        (CommandKind::Torque, Some(solver)) => {
            let of_tree = |j: &JointId| {
                let range = solver.velocity_range(*j);
                let free = solver.joint(*j).kind == JointKind::Free;
                !range.is_empty() && range.end <= solver.tree_velocity_count() && !free
            };
            let mut joints: Vec<JointId> =
                solver.forest().edges().iter().map(|e| e.joint).filter(of_tree).collect();
            joints.sort_by_key(|j| solver.velocity_range(*j).start);
            let force = |a: Actuator| (Drive::Force(a.coordinate), a.name);
            actuators(&solver, &joints).into_iter().map(force).collect()
        }
        (CommandKind::Torque, None) => {
            let problem = "commands torque, but the joints of a reduced model take none: simulate \
                           --full, or command servos";
            return Err(invalid(element, problem));
        }
    };
    let mut chosen: Vec<(Drive, String)> = Vec::new();
    if spec.of.is_empty() {
        chosen.clone_from(&all);
    }
    for pattern in &spec.of {
        let before = chosen.len();
        for c in &all {
            if meant(pattern, &c.1) && !chosen.contains(c) {
                chosen.push(c.clone());
            }
        }
        if chosen.len() == before {
            let known = all.iter().map(|c| c.1.as_str());
            return Err(invalid(element, unknown("joint or servo", pattern, known)));
        }
    }
    if chosen.is_empty() {
        return Err(invalid(element, "has nothing to command"));
    }
    let wide = spec.largest.unwrap_or(f64::INFINITY);
    let mut largest = vec![wide; chosen.len()];
    for (name, limit) in &spec.limits {
        let at = chosen.iter().position(|c| c.1 == *name).ok_or_else(|| {
            let known = chosen.iter().map(|c| c.1.as_str());
            invalid(element, format!("limits {name:?}: {}", unknown("command", name, known)))
        })?;
        largest[at] = *limit;
    }
    if let Some(x) = largest.iter().find(|x| x.is_nan() || **x < 0.0) {
        return Err(invalid(element, format!("has the largest command {x}")));
    }
    let (drives, names) = chosen.into_iter().unzip();
    Ok((drives, names, largest))
}
