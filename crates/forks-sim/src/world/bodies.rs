//! Rigid bodies of a world.

use forks_lie::{Pose, Twist, Wrench, glam::DVec3};

use super::World;
use crate::{
    SimError,
    error::check_finite,
    handles::BodyHandle,
    rigid::{Rigid, RigidBody, RigidState},
};

impl World {
    /// Adds a free rigid body.
    ///
    /// # Errors
    /// A mass or inertia that is not positive, numbers that are not finite.
    pub fn add_body(&mut self, body: &RigidBody) -> Result<BodyHandle, SimError> {
        let problem = &mut self.problem;
        let (rigid, state) = Rigid::new(body, |inverse| {
            problem.add_body(inverse, &[0.0; 6]).map_err(|source| SimError::Contact {
                element: format!("body {:?}", body.name),
                source,
            })
        })?;
        self.bodies.push(rigid);
        self.states.push(state);
        Ok(BodyHandle(self.bodies.len() - 1))
    }

    /// World from body.
    ///
    /// # Errors
    /// A body that is not there.
    pub fn body_pose(&self, body: BodyHandle) -> Result<Pose, SimError> {
        Ok(self.body(body)?.pose(&self.states[body.0]))
    }

    /// Twist of a body in its frame.
    ///
    /// # Errors
    /// A body that is not there.
    pub fn body_twist(&self, body: BodyHandle) -> Result<Twist, SimError> {
        Ok(self.body(body)?.twist(&self.states[body.0]))
    }

    /// Puts a body somewhere else.
    ///
    /// # Errors
    /// A body that is not there, numbers that are not finite.
    pub fn set_body(&mut self, body: BodyHandle, pose: Pose, twist: Twist) -> Result<(), SimError> {
        let rigid = self.body(body)?;
        let element = format!("body {:?}", rigid.name);
        check_finite(&element, "the pose", &pose.to_array())?;
        check_finite(&element, "the twist", &twist.to_array())?;
        self.states[body.0] = RigidState::new(&pose, twist, rigid.center());
        Ok(())
    }

    /// Force and torque on a body from now on, about its centre of mass, world axes.
    ///
    /// # Errors
    /// A body that is not there, numbers that are not finite.
    pub fn set_body_load(&mut self, body: BodyHandle, wrench: Wrench) -> Result<(), SimError> {
        let name = &self.body(body)?.name;
        check_finite(format_args!("body {name:?}"), "the load", &wrench.to_array())?;
        self.bodies[body.0].load = wrench;
        Ok(())
    }

    /// Linear momentum of a body (N·s) and its angular momentum about the world's origin (N·m·s),
    /// world axes.
    ///
    /// # Errors
    /// A body that is not there.
    pub fn body_momentum(&self, body: BodyHandle) -> Result<(DVec3, DVec3), SimError> {
        Ok(self.body(body)?.momentum(&self.states[body.0]))
    }

    pub(crate) fn body(&self, body: BodyHandle) -> Result<&Rigid, SimError> {
        let (index, count) = (body.0, self.bodies.len());
        self.bodies.get(index).ok_or(SimError::Missing { kind: "body", index, count })
    }
}
