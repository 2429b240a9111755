//! Many instances of any reduced model.

use forks_mechanism::lie::Pose;
use forks_rom::{
    EffectorLoad, LoadFrame, ModelError, State, StepStatus, Stepper, System,
    batch::{Batch, BatchPoses, BatchStatus, Instances},
    data::ModelData,
};

/// What is asked of many instances, whatever their model is made of.
pub(crate) trait Many: Send + std::fmt::Debug {
    /// A step of all under one wrench on every effector of every instance; none: without loads.
    fn step(&mut self, wrenches: Option<&[[f64; 6]]>, frame: LoadFrame) -> BatchStatus;
    /// Instances times steps that take some tenths of a millisecond at most.
    fn moment(&self) -> usize;
    fn count(&self) -> usize;
    fn data(&self) -> &ModelData;
    /// Numbers of coordinates and velocities.
    fn sizes(&self) -> [usize; 2];
    fn coordinates(&self, i: usize, out: &mut [f64]);
    fn velocity(&self, i: usize, out: &mut [f64]);
    fn servo_targets(&self, i: usize, out: &mut [f64]);
    fn set(&mut self, i: usize, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError>;
    fn set_servo_targets(&mut self, i: usize, targets: &[f64]) -> Result<(), ModelError>;
    fn reset(&mut self, i: usize);
    fn effector_poses(&self, i: usize, out: &mut [Pose]);
    /// Brings link poses to the present states.
    fn update_poses(&mut self);
    /// Links whose poses are known.
    fn links(&self) -> Vec<usize>;
    /// Pose of the `l`-th of these links as of the last update.
    fn link_pose(&self, i: usize, l: usize) -> Pose;
    fn statuses(&self, out: &mut dyn FnMut(StepStatus));
}

/// One linearisation on a fixed base: four instances at once.
#[derive(Debug)]
pub(crate) struct Fast {
    batch: Batch,
    poses: Option<BatchPoses>,
    none: Vec<&'static [EffectorLoad]>,
    start: State,
}

impl Fast {
    pub(crate) fn new(stepper: Stepper, count: usize) -> Self {
        let start = State::new(stepper.model());
        let none = vec![&[][..]; count];
        Self { batch: Batch::new(stepper, count), poses: None, none, start }
    }
}

impl Many for Fast {
    fn step(&mut self, wrenches: Option<&[[f64; 6]]>, frame: LoadFrame) -> BatchStatus {
        match wrenches {
            Some(w) => self.batch.step_with_wrenches(w, frame),
            None => self.batch.step(&self.none),
        }
    }

    fn moment(&self) -> usize {
        2048
    }

    fn count(&self) -> usize {
        self.batch.len()
    }

    fn data(&self) -> &ModelData {
        self.batch.stepper().model().data()
    }

    fn sizes(&self) -> [usize; 2] {
        [self.batch.stepper().model().dof(); 2]
    }

    fn coordinates(&self, i: usize, out: &mut [f64]) {
        out.iter_mut().zip(self.batch.coordinates(i)).for_each(|(o, x)| *o = x);
    }

    fn velocity(&self, i: usize, out: &mut [f64]) {
        out.iter_mut().zip(self.batch.velocity(i)).for_each(|(o, x)| *o = x);
    }

    fn servo_targets(&self, i: usize, out: &mut [f64]) {
        out.copy_from_slice(self.batch.servo_targets(i));
    }

    fn set(&mut self, i: usize, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        let mut state = self.batch.state(i);
        state.set(coordinates, velocity)?;
        self.batch.set_state(i, &state)
    }

    fn set_servo_targets(&mut self, i: usize, targets: &[f64]) -> Result<(), ModelError> {
        let mut state = self.batch.state(i);
        state.set_servo_targets(self.batch.stepper().model(), targets)?;
        self.batch.set_state(i, &state)
    }

    fn reset(&mut self, i: usize) {
        // The state is one of this model.
        let _ = self.batch.set_state(i, &self.start);
    }

    fn effector_poses(&self, i: usize, out: &mut [Pose]) {
        let eta: Vec<f64> = self.batch.coordinates(i).collect();
        let model = self.batch.stepper().model();
        out.iter_mut().enumerate().for_each(|(e, p)| *p = model.effector_pose(e, &eta));
    }

    fn update_poses(&mut self) {
        let new = || BatchPoses::new(self.batch.stepper().model(), self.batch.len());
        self.batch.poses(self.poses.get_or_insert_with(new));
    }

    fn links(&self) -> Vec<usize> {
        BatchPoses::new(self.batch.stepper().model(), 0).links().to_vec()
    }

    fn link_pose(&self, i: usize, l: usize) -> Pose {
        self.poses.as_ref().map_or(Pose::IDENTITY, |p| p.get(i, l))
    }

    fn statuses(&self, out: &mut dyn FnMut(StepStatus)) {
        self.batch.statuses().for_each(out);
    }
}

/// Any other system: a state each.
#[derive(Debug)]
pub(crate) struct Each<S: System> {
    instances: Instances<S>,
    none: Vec<&'static [EffectorLoad]>,
}

impl<S: System> Each<S> {
    pub(crate) fn new(system: S, count: usize) -> Self {
        Self { instances: Instances::new(system, count), none: vec![&[]; count] }
    }
}

impl<S: System> Many for Each<S> {
    fn step(&mut self, wrenches: Option<&[[f64; 6]]>, frame: LoadFrame) -> BatchStatus {
        match wrenches {
            Some(w) => self.instances.step_with_wrenches(w, frame),
            None => self.instances.step(&self.none),
        }
    }

    fn moment(&self) -> usize {
        64
    }

    fn count(&self) -> usize {
        self.instances.len()
    }

    fn data(&self) -> &ModelData {
        self.instances.system().data()
    }

    fn sizes(&self) -> [usize; 2] {
        let system = self.instances.system();
        [system.coordinate_count(), system.dof()]
    }

    fn coordinates(&self, i: usize, out: &mut [f64]) {
        self.instances.system().coordinates(self.instances.state(i), out);
    }

    fn velocity(&self, i: usize, out: &mut [f64]) {
        self.instances.system().velocity(self.instances.state(i), out);
    }

    fn servo_targets(&self, i: usize, out: &mut [f64]) {
        let targets = self.instances.system().servo_targets(self.instances.state(i));
        out.copy_from_slice(targets);
    }

    fn set(&mut self, i: usize, coordinates: &[f64], velocity: &[f64]) -> Result<(), ModelError> {
        let mut state = self.instances.state(i).clone();
        self.instances.system().set(&mut state, coordinates, velocity)?;
        *self.instances.state_mut(i) = state;
        Ok(())
    }

    fn set_servo_targets(&mut self, i: usize, targets: &[f64]) -> Result<(), ModelError> {
        let mut state = self.instances.state(i).clone();
        self.instances.system().set_servo_targets(&mut state, targets)?;
        *self.instances.state_mut(i) = state;
        Ok(())
    }

    fn reset(&mut self, i: usize) {
        let start = self.instances.system().state();
        *self.instances.state_mut(i) = start;
    }

    fn effector_poses(&self, i: usize, out: &mut [Pose]) {
        let system = self.instances.system();
        for (e, p) in out.iter_mut().enumerate() {
            *p = system.effector_pose(e, self.instances.state(i));
        }
    }

    fn update_poses(&mut self) {
        self.instances.update_poses();
    }

    fn links(&self) -> Vec<usize> {
        self.instances.system().pose_buffer().links().to_vec()
    }

    fn link_pose(&self, i: usize, l: usize) -> Pose {
        self.instances.poses(i).map_or(Pose::IDENTITY, |p| p.get(l))
    }

    fn statuses(&self, out: &mut dyn FnMut(StepStatus)) {
        self.instances.statuses().for_each(out);
    }
}
