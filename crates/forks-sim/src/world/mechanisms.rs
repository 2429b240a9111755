//! Mechanisms of a world.

use std::sync::Arc;

use forks_blend::{BlendedModel, BlendedStepper, FloatingBlend, FloatingBlendStepper};
use forks_lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_rom::{
    FloatingModel, FloatingStepper, LoadFrame, ModelError, Openings, ReducedModel, ServoTerms,
    Stepper, System,
};

use super::World;
use crate::{
    SimError,
    error::check_finite,
    handles::MechanismHandle,
    mechanism::{Instance, Motion, Reduced},
};

impl World {
    /// Adds a reduced mechanism at rest in its linearisation pose; `world_from_model` places the
    /// frame that the model calls world.
    ///
    /// # Errors
    /// A model that cannot be stepped, a placement that is not finite.
    pub fn add_mechanism(
        &mut self,
        name: &str,
        model: Arc<ReducedModel>,
        world_from_model: Pose,
    ) -> Result<MechanismHandle, SimError> {
        let system = Stepper::new(model, self.h);
        self.add_system(name, system, world_from_model)
    }

    /// Adds a blended mechanism at rest at the reference poses of its chart; `world_from_model`
    /// places the frame that the samples call world. Gravity is that of the equilibria that the
    /// samples are at.
    ///
    /// # Errors
    /// A model that cannot be stepped, a placement that is not finite.
    pub fn add_blended(
        &mut self,
        name: &str,
        model: Arc<BlendedModel>,
        world_from_model: Pose,
    ) -> Result<MechanismHandle, SimError> {
        let system = BlendedStepper::new(model, self.h);
        self.add_system(name, system, world_from_model)
    }

    /// Adds a mechanism whose base floats, at rest in its linearisation pose with the base link at
    /// `world_from_base`. The world's gravity acts on it, not the model's.
    ///
    /// Where a step does not settle, or takes the inertia beyond what its first order allows, the
    /// world reports the first effector as out of range.
    ///
    /// # Errors
    /// A model that cannot be stepped, a pose that is not finite.
    pub fn add_floating(
        &mut self,
        name: &str,
        model: Arc<FloatingModel>,
        world_from_base: Pose,
    ) -> Result<MechanismHandle, SimError> {
        let system = FloatingStepper::new(model, self.h);
        self.add_base(name, system, world_from_base)
    }

    /// Adds a blended mechanism whose base floats, at rest at the reference poses of its chart with
    /// the base link at `world_from_base`; otherwise as [`World::add_floating`].
    ///
    /// # Errors
    /// A model that cannot be stepped, a pose that is not finite.
    pub fn add_floating_blend(
        &mut self,
        name: &str,
        model: Arc<FloatingBlend>,
        world_from_base: Pose,
    ) -> Result<MechanismHandle, SimError> {
        let system = FloatingBlendStepper::new(model, self.h);
        self.add_base(name, system, world_from_base)
    }

    /// Adds a system whose coordinates begin with the pose of a base.
    fn add_base<S: System + 'static>(
        &mut self,
        name: &str,
        system: Result<S, ModelError>,
        world_from_base: Pose,
    ) -> Result<MechanismHandle, SimError> {
        check_finite(format_args!("mechanism {name:?}"), "the pose", &world_from_base.to_array())?;
        let refused = |source| SimError::Model { mechanism: name.into(), source };
        let system = system.map_err(refused)?;
        let mut state = System::state(&system);
        let (mut at, still) = (vec![0.0; system.coordinate_count()], vec![0.0; system.dof()]);
        system.coordinates(&state, &mut at);
        at[..7].copy_from_slice(&world_from_base.to_array());
        system.set(&mut state, &at, &still).map_err(refused)?;
        self.add_motion(name, Box::new(Reduced::new(system, state)), Pose::IDENTITY)
    }

    /// Adds a system at its start.
    fn add_system<S: System + 'static>(
        &mut self,
        name: &str,
        system: Result<S, ModelError>,
        world_from_model: Pose,
    ) -> Result<MechanismHandle, SimError> {
        let system = system.map_err(|source| SimError::Model { mechanism: name.into(), source })?;
        let state = system.state();
        self.add_motion(name, Box::new(Reduced::new(system, state)), world_from_model)
    }

    pub(crate) fn add_motion(
        &mut self,
        name: &str,
        motion: Box<dyn Motion>,
        world_from_model: Pose,
    ) -> Result<MechanismHandle, SimError> {
        let (problem, n) = (&mut self.problem, motion.dof());
        let instance = Instance::new(name, motion, world_from_model, |inverse, maps| {
            let invalid =
                |source| SimError::Contact { element: format!("mechanism {name:?}"), source };
            let body = problem.add_body(inverse, &vec![0.0; n]).map_err(invalid)?;
            let ports = maps.iter().map(|map| problem.add_port(body, map));
            Ok((body, ports.collect::<Result<_, _>>().map_err(invalid)?))
        })?;
        self.mechanisms.push(instance);
        Ok(MechanismHandle(self.mechanisms.len() - 1))
    }

    /// Name of a mechanism.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn mechanism_name(&self, mechanism: MechanismHandle) -> Result<&str, SimError> {
        Ok(&self.instance(mechanism)?.name)
    }

    /// Generalised coordinates of a mechanism: η of a single model, chart coordinates of a blend.
    /// Where the base floats its pose comes first: (x, y, z, qw, qx, qy, qz, η).
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn coordinates(&self, mechanism: MechanismHandle) -> Result<&[f64], SimError> {
        Ok(self.instance(mechanism)?.motion.coordinates())
    }

    /// Generalised velocities of a mechanism: η̇ of a single model, rates of the chart coordinates
    /// of a blend. Where the base floats its body twist comes first: (v, ω, η̇).
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn velocities(&self, mechanism: MechanismHandle) -> Result<&[f64], SimError> {
        Ok(self.instance(mechanism)?.motion.velocity())
    }

    /// Why a mechanism's last step that failed did, where its model knows.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn failure(&self, mechanism: MechanismHandle) -> Result<Option<&str>, SimError> {
        Ok(self.instance(mechanism)?.motion.failure())
    }

    /// How far a mechanism's linearisation is from what its loops and joints allow: at the present
    /// state, and where it rests for the present servo targets. Compare with
    /// [`Openings::OF_MOTION`] and [`Openings::OF_TARGETS`]. `None` for blends and full mechanisms.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn openings(&self, m: MechanismHandle) -> Result<Option<[Openings; 2]>, SimError> {
        Ok(self.instance(m)?.motion.openings())
    }

    /// Linear momentum (N·s) and angular momentum about the world's origin (N·m·s) of a mechanism
    /// that nothing holds, world axes; none where its base is fixed.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn mechanism_momentum(
        &self,
        mechanism: MechanismHandle,
    ) -> Result<Option<(DVec3, DVec3)>, SimError> {
        Ok(self.instance(mechanism)?.momentum())
    }

    /// Names of the links whose poses a mechanism's model knows.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn link_names(
        &self,
        mechanism: MechanismHandle,
    ) -> Result<impl ExactSizeIterator<Item = &str>, SimError> {
        let motion = &self.instance(mechanism)?.motion;
        Ok((0..motion.link_count()).map(|k| motion.link_name(k)))
    }

    /// World from link for all of [`World::link_names`], in place of what `out` held.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn link_poses(
        &self,
        mechanism: MechanismHandle,
        out: &mut Vec<Pose>,
    ) -> Result<(), SimError> {
        let m = self.instance(mechanism)?;
        out.clear();
        m.motion.link_poses(out);
        out.iter_mut().for_each(|pose| *pose = *m.placement() * *pose);
        Ok(())
    }

    /// World from the frame that a mechanism's model calls world.
    ///
    /// # Errors
    /// A mechanism that is not there.
    pub fn placement(&self, mechanism: MechanismHandle) -> Result<Pose, SimError> {
        Ok(*self.instance(mechanism)?.placement())
    }

    /// World from effector.
    ///
    /// # Errors
    /// A mechanism or effector that is not there.
    pub fn effector_pose(&self, m: MechanismHandle, effector: usize) -> Result<Pose, SimError> {
        self.check_effector(m, effector)?;
        Ok(self.mechanisms[m.0].effector_pose(effector))
    }

    /// Twist of an effector in its frame.
    ///
    /// # Errors
    /// A mechanism or effector that is not there.
    pub fn effector_twist(&self, m: MechanismHandle, effector: usize) -> Result<Twist, SimError> {
        self.check_effector(m, effector)?;
        Ok(self.mechanisms[m.0].effector_twist(effector))
    }

    /// Sets generalised coordinates and velocities of a mechanism.
    ///
    /// # Errors
    /// A mechanism that is not there, wrong lengths, numbers that are not finite.
    pub fn set_mechanism(
        &mut self,
        mechanism: MechanismHandle,
        coordinates: &[f64],
        velocity: &[f64],
    ) -> Result<(), SimError> {
        self.instance(mechanism)?;
        let m = &mut self.mechanisms[mechanism.0];
        let set = m.motion.set(coordinates, velocity);
        set.map_err(|source| SimError::Model { mechanism: m.name.clone(), source })?;
        m.update_effectors();
        Ok(())
    }

    /// Sets the servo targets of a mechanism, relative to those of its linearisation pose.
    ///
    /// # Errors
    /// A mechanism that is not there, a wrong length, numbers that are not finite.
    pub fn set_servo_targets(
        &mut self,
        mechanism: MechanismHandle,
        targets: &[f64],
    ) -> Result<(), SimError> {
        self.instance(mechanism)?;
        let m = &mut self.mechanisms[mechanism.0];
        let set = m.motion.set_servo_targets(targets);
        set.map_err(|source| SimError::Model { mechanism: m.name.clone(), source })
    }

    /// Says how a mechanism's energy depends on its servos' targets (`Problem::servo_terms` of
    /// `forks-reduce`). A single or floating model knows only the rest that the targets ask for:
    /// without this its elastic energy is that over the rest, less what the targets' springs hold
    /// there. Scenes do it; blends and full mechanisms know it themselves. Motion does not depend
    /// on it.
    ///
    /// # Errors
    /// A mechanism that is not there, another number of servos, numbers that are not finite.
    pub fn set_servo_terms(
        &mut self,
        mechanism: MechanismHandle,
        terms: &ServoTerms,
    ) -> Result<(), SimError> {
        let count = self.instance(mechanism)?.motion.servo_targets().len();
        let m = &mut self.mechanisms[mechanism.0];
        let square = [terms.stiffness.rows(), terms.stiffness.columns()];
        for found in [terms.force.len(), square[0], square[1]] {
            if found != count {
                let quantity = "servo terms";
                let source = ModelError::WrongSize { quantity, found, expected: count };
                return Err(SimError::Model { mechanism: m.name.clone(), source });
            }
        }
        let element = format!("mechanism {:?}", m.name);
        check_finite(&element, "a servo's force", &terms.force)?;
        check_finite(&element, "a servo's stiffness", terms.stiffness.as_slice())?;
        m.motion.set_servo_terms(terms);
        Ok(())
    }

    /// Wrench on an effector from now on, at its origin; a load in the other frame stays.
    ///
    /// # Errors
    /// A mechanism or effector that is not there, numbers that are not finite.
    pub fn set_effector_load(
        &mut self,
        mechanism: MechanismHandle,
        effector: usize,
        wrench: Wrench,
        frame: LoadFrame,
    ) -> Result<(), SimError> {
        self.check_effector(mechanism, effector)?;
        let m = &mut self.mechanisms[mechanism.0];
        check_finite(format_args!("mechanism {:?}", m.name), "the load", &wrench.to_array())?;
        m.set_load(effector, wrench, frame);
        Ok(())
    }

    pub(crate) fn instance(&self, m: MechanismHandle) -> Result<&Instance, SimError> {
        let (index, count) = (m.0, self.mechanisms.len());
        self.mechanisms.get(index).ok_or(SimError::Missing { kind: "mechanism", index, count })
    }

    pub(crate) fn check_effector(&self, m: MechanismHandle, index: usize) -> Result<(), SimError> {
        let count = self.instance(m)?.effector_count();
        if index < count {
            return Ok(());
        }
        Err(SimError::Missing { kind: "effector", index, count })
    }
}
