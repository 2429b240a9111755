//! `<mimic>`: joints that follow others stay coordinates, tied by a coupling.

use forks_mechanism::{Coordinate, Coupling, JointId};

use super::Robot;
use crate::ImportError;

/// The couplings of all mimicking joints, in the order of the mechanism's joints.
pub(crate) fn couplings(
    robot: &Robot<'_>,
    order: &[usize],
    ids: &[JointId],
) -> Result<Vec<Coupling>, ImportError> {
    let leaders = leaders(robot)?;
    let mut out = Vec::new();
    for &i in order {
        let joint = &robot.joints[i];
        let (Some(mimic), Some(leader)) = (&joint.mimic, leaders[i]) else { continue };
        let terms =
            vec![(Coordinate::of(ids[i]), 1.0), (Coordinate::of(ids[leader]), -mimic.multiplier)];
        out.push(Coupling::linear(joint.name(), terms, -mimic.offset));
    }
    Ok(out)
}

/// The joint that each joint follows.
fn leaders(robot: &Robot<'_>) -> Result<Vec<Option<usize>>, ImportError> {
    let mut leaders = vec![None; robot.joints.len()];
    for (joint, leader) in robot.joints.iter().zip(&mut leaders) {
        let Some(mimic) = &joint.mimic else { continue };
        let followed = robot.joint_names.required(&mimic.attributes, "joint")?;
        if !robot.joints[followed].kind.is_scalar() {
            return Err(joint.attributes.error(format!(
                "mimics joint '{}', which has no single coordinate",
                robot.joints[followed].name()
            )));
        }
        *leader = Some(followed);
    }
    // A walk that is longer than there are joints never ends.
    let mut free = vec![false; leaders.len()];
    for i in 0..leaders.len() {
        let mut walk = vec![i];
        while let Some(next) = leaders[walk[walk.len() - 1]].filter(|&n| !free[n]) {
            if walk.len() > leaders.len() {
                return Err(robot.joints[next]
                    .attributes
                    .error("mimics itself, directly or through others"));
            }
            walk.push(next);
        }
        walk.into_iter().for_each(|j| free[j] = true);
    }
    Ok(leaders)
}
