//! A reduced model of any kind in a world.

use forks_lie::{Pose, glam::DVec3};
use forks_linalg::Matrix;
use forks_rom::{
    EffectorLoad, EffectorMotions, EffectorState, ModelError, Momentum, Openings, PoseBuffer,
    ServoTerms, StepStatus, System,
};

use super::Motion;

/// A system with one state of it.
#[derive(Clone, Debug)]
pub(crate) struct Reduced<S: System> {
    system: S,
    state: S::State,
    work: S::Workspace,
    coordinates: Vec<f64>,
    velocity: Vec<f64>,
    /// See [`System::extra_state`].
    extra_state: Vec<f64>,
    /// Room for the poses of the links that are shown.
    shown: PoseBuffer,
    terms: ServoTerms,
}

impl<S: System> Reduced<S> {
    /// At a state.
    pub(crate) fn new(system: S, state: S::State) -> Self {
        let mut out = Self {
            work: system.workspace(),
            coordinates: vec![0.0; system.coordinate_count()],
            velocity: vec![0.0; system.dof()],
            extra_state: Vec::new(),
            shown: system.pose_buffer(),
            terms: ServoTerms::default(),
            system,
            state,
        };
        // The first A⁻¹; a system that is not linear has one before the first step only so.
        if out.system.varies() {
            let _ = out.system.respond(&mut out.state, &mut out.work, &[], DVec3::ZERO);
        }
        out.read();
        out
    }

    /// Numbers of the state.
    fn read(&mut self) {
        self.system.coordinates(&self.state, &mut self.coordinates);
        self.system.velocity(&self.state, &mut self.velocity);
        self.system.extra_state(&self.state, &mut self.extra_state);
    }
}

impl<S: System + 'static> Motion for Reduced<S> {
    fn boxed(&self) -> Box<dyn Motion> {
        Box::new(self.clone())
    }

    fn dof(&self) -> usize {
        self.velocity.len()
    }

    fn effector_count(&self) -> usize {
        self.system.data().effectors.len()
    }

    fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    fn extra_state(&self) -> &[f64] {
        &self.extra_state
    }

    fn servo_targets(&self) -> &[f64] {
        self.system.servo_targets(&self.state)
    }

    fn set(&mut self, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        self.system.set(&mut self.state, coordinates, velocity)?;
        self.read();
        Ok(())
    }

    fn set_extra_state(&mut self, extra: &[f64]) -> Result<(), ModelError> {
        self.system.set_extra_state(&mut self.state, extra)?;
        self.read();
        Ok(())
    }

    fn set_servo_targets(&mut self, targets: &[f64]) -> Result<(), ModelError> {
        self.system.set_servo_targets(&mut self.state, targets)
    }

    fn effector_motions(&self, world_from_model: &Pose) -> Option<EffectorMotions> {
        self.system.effector_motions(world_from_model)
    }

    fn update_motions(&self, motions: &mut EffectorMotions) {
        self.system.update_motions(&self.state, motions);
    }

    fn update(&self, effectors: &mut [EffectorState]) {
        self.system.effectors(&self.state, &self.work, &self.velocity, effectors);
    }

    fn inverse_system(&mut self) -> Option<&Matrix> {
        self.system.inverse_system(&self.work)
    }

    fn varies(&self) -> bool {
        self.system.varies()
    }

    fn step_freely(&mut self, loads: &[EffectorLoad], gravity: DVec3) -> StepStatus {
        self.system.respond(&mut self.state, &mut self.work, loads, gravity)
    }

    fn free_velocity(&self) -> &[f64] {
        self.system.free_velocity(&self.state, &self.work)
    }

    fn end_with(&mut self, velocity: &[f64], change: &mut [f64]) -> Result<StepStatus, ModelError> {
        let end = self.system.end_with(&mut self.state, &mut self.work, velocity, change)?;
        self.read();
        Ok(end)
    }

    fn kinetic_energy(&self) -> f64 {
        self.system.kinetic_energy(&self.state, &self.work)
    }

    fn elastic_energy(&self) -> f64 {
        let moved = self.system.target_energy(&self.terms, &self.state);
        self.system.elastic_energy(&self.state, &self.work) + moved
    }

    fn set_servo_terms(&mut self, terms: &ServoTerms) {
        self.terms.clone_from(terms);
    }

    fn gravitational_energy(&self, gravity: DVec3) -> f64 {
        self.system.gravitational_energy(&self.state, gravity)
    }

    fn momentum(&self) -> Option<(DVec3, DVec3)> {
        let Momentum { linear, angular } = self.system.momentum(&self.state)?;
        Some((linear, angular))
    }

    fn joint_count(&self) -> usize {
        self.system.data().joints.len()
    }

    fn find_joint(&self, name: &str) -> Option<(usize, usize)> {
        self.system.find_joint(name)
    }

    fn joint_coordinate(&self, joint: usize, coordinate: usize, row: &mut [f64]) -> f64 {
        self.system.joint_coordinate(joint, coordinate, &self.state, row)
    }

    fn openings(&self) -> Option<[Openings; 2]> {
        // Links are found in memory of the workspace.
        Some(self.system.openings(&self.state, &mut self.work.clone()))
    }

    fn link_count(&self) -> usize {
        self.shown.len()
    }

    fn link_name(&self, link: usize) -> &str {
        &self.system.data().links[self.shown.links()[link]].name
    }

    fn link_poses(&self, out: &mut Vec<Pose>) {
        let (mut work, mut buffer) = (self.work.clone(), self.shown.clone());
        self.system.poses(&self.state, &mut work, &mut buffer);
        out.extend(buffer.iter().map(|(_, pose)| pose));
    }
}
