//! Wrenches that keep their components in the world.

use forks_dynamics::{AppliedWrench, WrenchFrame};
use forks_mechanism::lie::{Pose, Wrench};
use forks_reduce::Problem;
use forks_rom::data::ModelData;

/// Wrenches at the effectors of a linearisation pose, six numbers each, as loads with constant
/// world components.
pub(crate) fn dead_at_rest(
    problem: &Problem,
    d: &ModelData,
    wrenches: &[f64],
) -> impl Iterator<Item = AppliedWrench> {
    d.effectors.iter().enumerate().map(|(e, f)| {
        let w = Wrench::from_array(std::array::from_fn(|i| wrenches[6 * e + i]));
        dead(problem, e, &f.rest, w)
    })
}

/// A wrench in an effector's frame as a load with constant world components.
pub(crate) fn dead(problem: &Problem, e: usize, pose: &Pose, w: Wrench) -> AppliedWrench {
    AppliedWrench {
        link: problem.effectors[e].link,
        link_from_point: problem.effectors[e].link_from_effector,
        wrench: Wrench::new(pose.rotation * w.force, pose.rotation * w.torque),
        frame: WrenchFrame::World,
    }
}
