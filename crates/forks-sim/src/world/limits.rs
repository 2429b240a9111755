//! Joint limits of a world's mechanisms.

use super::World;
use crate::{
    SimError,
    handles::{LimitHandle, MechanismHandle},
    limit::Limit,
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
        let motion = &self.mechanisms[mechanism.0].motion;
        let mut row = vec![0.0; motion.dof()];
        motion.joint_coordinate(index, coordinate, &mut row);
        if row.iter().all(|z| z.abs() <= NOTHING) {
            let mechanism = self.mechanisms[mechanism.0].name.clone();
            return Err(SimError::LimitOutOfReach { mechanism, joint: joint.into() });
        }
        let range = [lower, upper];
        self.limits.push(Limit {
            mechanism,
            joint: index,
            coordinate,
            range,
            relaxation: RELAXATION,
        });
        self.cache.limits.push([0.0; 2]);
        Ok(LimitHandle(self.limits.len() - 1))
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
        let (index, count) = (limit.0, self.limits.len());
        let found = self.cache.limits.get(index);
        let [lower, upper] = found.ok_or(SimError::Missing { kind: "limit", index, count })?;
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
