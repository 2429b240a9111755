//! Limits and dry friction of joints of a world's mechanisms.

use forks_mechanism::Mechanism;

use super::World;
use crate::{
    SimError,
    error::check_range,
    handles::{JointFrictionHandle, LimitHandle, MechanismHandle},
    joint_force::{JointForce, JointForces, Law},
};

/// Time in which joints that are beyond a limit come back, s.
const RELAXATION: f64 = 0.01;

/// Motion of a joint per unit of a coordinate, rad or m, below which it is the rounding of none.
const NOTHING: f64 = 1e-12;

impl World {
    /// Keeps a coordinate of a joint between two limits, rad or m, infinite for none. Impacts on
    /// limits do not rebound.
    ///
    /// Coordinates are those of [`World::joint_coordinate`]. A coordinate beyond its limits comes
    /// back within about 10 ms.
    ///
    /// # Errors
    /// A mechanism that is not there, a joint or coordinate that its model does not know or cannot
    /// move, limits that are not numbers or the wrong way round.
    pub fn add_limit(
        &mut self,
        mechanism: MechanismHandle,
        joint: &str,
        coordinate: usize,
        lower: f64,
        upper: f64,
    ) -> Result<LimitHandle, SimError> {
        let index = self.find_coordinate(mechanism, joint, coordinate)?;
        let element = format!("mechanism {:?}, joint {joint:?}", self.instance(mechanism)?.name);
        for (quantity, value) in [("the lower limit", lower), ("the upper limit", upper)] {
            if value.is_nan() {
                return Err(SimError::OutOfRange { element, quantity, value, range: "a number" });
            }
        }
        if lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            let (quantity, range) =
                ("the upper limit", "at least the lower one, and one of them finite");
            return Err(SimError::OutOfRange { element, quantity, value: upper, range });
        }
        let law = Law::Limits { range: [lower, upper], relaxation: RELAXATION };
        Ok(LimitHandle(self.add_joint_force(mechanism, (joint, index, coordinate), law)?))
    }

    /// Dry friction in a coordinate of a joint: the joint holds until the force on it exceeds
    /// `most`, N or N·m, and brakes with that force while it moves, whatever its speed. Of balls,
    /// planar and free joints it acts on the rate about or along an axis of the child.
    ///
    /// # Errors
    /// A mechanism that is not there, a joint or coordinate that its model does not know or cannot
    /// move, a force that is negative or not finite.
    pub fn add_joint_friction(
        &mut self,
        mechanism: MechanismHandle,
        joint: &str,
        coordinate: usize,
        most: f64,
    ) -> Result<JointFrictionHandle, SimError> {
        let at = (joint, self.find_coordinate(mechanism, joint, coordinate)?, coordinate);
        let element = format!("mechanism {:?}, joint {joint:?}", self.instance(mechanism)?.name);
        check_range(&element, "the dry friction", most, (0.0, f64::MAX), "0 or more")?;
        Ok(JointFrictionHandle(self.add_joint_force(mechanism, at, Law::Friction(most))?))
    }

    /// What a mechanism's joints hold as data: limits and dry friction of `m`, which the model in
    /// the world was made from.
    ///
    /// # Errors
    /// A mechanism that is not there, a joint without a name, or one that the model does not know
    /// or cannot move.
    pub fn add_joint_forces(
        &mut self,
        mechanism: MechanismHandle,
        m: &Mechanism,
        forces: JointForces,
    ) -> Result<(), SimError> {
        for (index, j) in m.joints().iter().enumerate() {
            let limit = forces.limit(j);
            let friction = (0..j.dof()).filter_map(|k| Some((k, forces.friction(j, k)?)));
            if j.name.is_empty() && (limit.is_some() || friction.clone().next().is_some()) {
                let mechanism = self.instance(mechanism)?.name.clone();
                return Err(SimError::NamelessJoint { mechanism, index });
            }
            if let Some(limit) = limit {
                // Worlds count from where the joint's frames coincide.
                let zero = j.reference.first().copied().unwrap_or(0.0);
                let [lower, upper] = [limit.lower, limit.upper].map(|x| x - zero);
                self.add_limit(mechanism, &j.name, 0, lower, upper)?;
            }
            for (coordinate, most) in friction {
                self.add_joint_friction(mechanism, &j.name, coordinate, most)?;
            }
        }
        Ok(())
    }

    fn add_joint_force(
        &mut self,
        mechanism: MechanismHandle,
        (name, joint, coordinate): (&str, usize, usize),
        law: Law,
    ) -> Result<usize, SimError> {
        let motion = &self.mechanisms[mechanism.0].motion;
        let mut row = vec![0.0; motion.dof()];
        motion.joint_rate(joint, coordinate, &mut row);
        if row.iter().all(|z| z.abs() <= NOTHING) {
            let mechanism = self.mechanisms[mechanism.0].name.clone();
            return Err(SimError::JointOutOfReach { mechanism, joint: name.into() });
        }
        self.joint_forces.push(JointForce { mechanism, joint, coordinate, law });
        self.cache.joint_forces.push([0.0; 2]);
        Ok(self.joint_forces.len() - 1)
    }

    /// A coordinate of a joint as its mechanism's model has it, rad or m.
    ///
    /// Joints of one coordinate count from where their two frames coincide (MuJoCo's `ref` is not
    /// part of it); joints of general subspaces from their zero pose; others (ball, universal,
    /// planar joints) from the linearisation pose.
    ///
    /// # Errors
    /// A mechanism that is not there, a joint or coordinate that its model does not know.
    pub fn joint_coordinate(
        &self,
        mechanism: MechanismHandle,
        joint: &str,
        coordinate: usize,
    ) -> Result<f64, SimError> {
        let index = self.find_coordinate(mechanism, joint, coordinate)?;
        let motion = &self.mechanisms[mechanism.0].motion;
        Ok(motion.joint_coordinate(index, coordinate, &mut vec![0.0; motion.dof()]))
    }

    /// Force or torque of a limit on its coordinate in the last substep, N·m or N: positive at the
    /// lower limit, negative at the upper one, 0 in between.
    ///
    /// # Errors
    /// A limit that is not there.
    pub fn limit_force(&self, limit: LimitHandle) -> Result<f64, SimError> {
        self.joint_force(limit.0, "limit")
    }

    /// Force or torque of dry friction on its coordinate in the last substep, N·m or N.
    ///
    /// # Errors
    /// Friction that is not there.
    pub fn joint_friction_force(&self, friction: JointFrictionHandle) -> Result<f64, SimError> {
        self.joint_force(friction.0, "dry friction of a joint")
    }

    fn joint_force(&self, index: usize, kind: &'static str) -> Result<f64, SimError> {
        let (found, count) = (self.cache.joint_forces.get(index), self.joint_forces.len());
        let [lower, upper] = found.ok_or(SimError::Missing { kind, index, count })?;
        Ok((lower - upper) / self.h)
    }

    fn find_coordinate(
        &self,
        mechanism: MechanismHandle,
        joint: &str,
        coordinate: usize,
    ) -> Result<usize, SimError> {
        let m = self.instance(mechanism)?;
        let (index, dof) = m.motion.find_joint(joint).ok_or_else(|| SimError::NoJoint {
            mechanism: m.name.clone(),
            joint: joint.into(),
            count: m.motion.joint_count(),
        })?;
        if coordinate < dof {
            return Ok(index);
        }
        Err(SimError::Missing { kind: "coordinate", index: coordinate, count: dof })
    }
}
