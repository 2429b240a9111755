//! `<mimic>`: joints that follow others stay coordinates, tied by a coupling.
//!
//! A fixed joint has no coordinate: it follows nothing, and one that follows it is held at its
//! offset, since the position of a fixed joint is 0.

use forks_mechanism::{Coordinate, Coupling, JointId};

use super::{
    Reader, Robot,
    joint::{JointType, RawJoint},
};
use crate::{ImportError, note::Effect};

/// What a joint follows.
#[derive(Clone, Copy)]
enum Leader {
    /// The joint with this index.
    Joint(usize),
    /// A joint that stands still.
    Still,
}

impl Reader<'_> {
    /// The couplings of all mimicking joints, in the order of the mechanism's joints.
    pub(super) fn couplings(
        &mut self,
        robot: &Robot<'_>,
        order: &[usize],
        ids: &[JointId],
    ) -> Result<Vec<Coupling>, ImportError> {
        let mut leaders = Vec::with_capacity(robot.joints.len());
        for joint in &robot.joints {
            leaders.push(self.leader(robot, joint)?);
        }
        check_circles(robot, &leaders)?;
        let mut out = Vec::new();
        for &i in order {
            let joint = &robot.joints[i];
            let (Some(mimic), Some(leader)) = (&joint.mimic, leaders[i]) else { continue };
            let mut terms = vec![(Coordinate::of(ids[i]), 1.0)];
            match leader {
                // A multiplier of 0 holds the joint, whatever the other one does.
                Leader::Joint(leader) if mimic.multiplier != 0.0 => {
                    terms.push((Coordinate::of(ids[leader]), -mimic.multiplier));
                }
                Leader::Joint(_) | Leader::Still => {}
            }
            out.push(Coupling::linear(joint.name(), terms, -mimic.offset));
        }
        Ok(out)
    }

    /// What a joint follows; `None` if nothing. What cannot be is refused; a lenient reader leaves
    /// it out with a note.
    fn leader(
        &mut self,
        robot: &Robot<'_>,
        joint: &RawJoint<'_>,
    ) -> Result<Option<Leader>, ImportError> {
        let Some(mimic) = &joint.mimic else { return Ok(None) };
        if joint.kind == JointType::Fixed {
            let reason = "the joint is fixed; it follows nothing";
            self.notes.add(
                joint.attributes.label(),
                "mimic",
                Effect::Ignored,
                reason,
                &mimic.attributes.at,
            );
            return Ok(None);
        }
        let followed = robot.joint_names.required(&mimic.attributes, "joint")?;
        let other = &robot.joints[followed];
        let problem = if !joint.kind.is_scalar() {
            String::from("only revolute, continuous and prismatic joints can mimic others")
        } else if other.kind == JointType::Fixed {
            let reason = format!(
                "mimics joint '{}', which is fixed; held at its offset {}",
                other.name(),
                forks_mechanism::lie::Digits(mimic.offset)
            );
            let at = &mimic.attributes.at;
            self.notes.add(joint.attributes.label(), "mimic", Effect::Approximated, reason, at);
            return Ok(Some(Leader::Still));
        } else if other.kind.is_scalar() {
            return Ok(Some(Leader::Joint(followed)));
        } else {
            format!("mimics joint '{}', which has no single coordinate", other.name())
        };
        if !self.options.lenient {
            return Err(joint.attributes.error(problem));
        }
        let at = &mimic.attributes.at;
        self.notes.add(joint.attributes.label(), "mimic", Effect::Ignored, problem, at);
        Ok(None)
    }
}

/// No joint follows itself, directly or through others.
fn check_circles(robot: &Robot<'_>, leaders: &[Option<Leader>]) -> Result<(), ImportError> {
    let next = |i: usize| match leaders[i] {
        Some(Leader::Joint(l)) => Some(l),
        Some(Leader::Still) | None => None,
    };
    // A walk that is longer than there are joints never ends.
    let mut free = vec![false; leaders.len()];
    for i in 0..leaders.len() {
        let mut walk = vec![i];
        while let Some(next) = next(walk[walk.len() - 1]).filter(|&n| !free[n]) {
            if walk.len() > leaders.len() {
                let a = &robot.joints[next].attributes;
                return Err(a.error("mimics itself, directly or through others"));
            }
            walk.push(next);
        }
        walk.into_iter().for_each(|j| free[j] = true);
    }
    Ok(())
}
