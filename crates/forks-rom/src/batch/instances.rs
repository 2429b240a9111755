//! Many instances of any reduced model: one linearisation or a blend, on a fixed base or a floating
//! one.

use alloc::vec::Vec;

use super::BatchStatus;
use forks_lie::Wrench;

use crate::{EffectorLoad, LoadFrame, PoseBuffer, StepStatus, System, parallel};

/// Instances that share a workspace.
const CHUNK: usize = 64;

/// Instances from which several threads are used: an estimate from 200 ns a step (the fastest
/// system but a single linearisation, which has [`Batch`](super::Batch)) and 10 µs to wake threads.
const PARALLEL_INSTANCES: usize = 256;

/// Instances of one [`System`], a state each, on the threads of the current pool (feature `rayon`).
///
/// Numbers, also their last bits, are those of [`System::step`] and [`System::poses`] for every
/// instance, for any number of instances and threads. A single linearisation is several times
/// faster in a [`Batch`](super::Batch), which steps four instances at once.
#[derive(Clone, Debug)]
pub struct Instances<S: System> {
    system: S,
    count: usize,
    chunks: Vec<Chunk<S>>,
}

#[derive(Clone, Debug)]
struct Chunk<S: System> {
    states: Vec<S::State>,
    statuses: Vec<StepStatus>,
    /// None before [`Instances::update_poses`].
    poses: Vec<PoseBuffer>,
    work: S::Workspace,
    /// Of the instance that steps.
    loads: Vec<EffectorLoad>,
}

impl<S: System> Instances<S> {
    /// Instances at the linearisation pose, at rest.
    pub fn new(system: S, count: usize) -> Self {
        let chunk = |first: usize| {
            let size = (count - first).min(CHUNK);
            Chunk {
                states: (0..size).map(|_| system.state()).collect(),
                statuses: (0..size).map(|_| StepStatus::Completed).collect(),
                poses: Vec::new(),
                work: system.workspace(),
                loads: Vec::new(),
            }
        };
        let chunks = (0..count).step_by(CHUNK).map(chunk).collect();
        Self { system, count, chunks }
    }

    /// What steps the instances.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The state of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn state(&self, instance: usize) -> &S::State {
        let (chunk, i) = self.place(instance);
        &self.chunks[chunk].states[i]
    }

    /// The state of an instance, to be changed by [`System::set`] and the like.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn state_mut(&mut self, instance: usize) -> &mut S::State {
        let (chunk, i) = self.place(instance);
        &mut self.chunks[chunk].states[i]
    }

    /// Moves all instances by one step under loads on effectors, a list per instance. Allocates
    /// nothing.
    ///
    /// # Panics
    /// If there is not one list per instance, or a load on an effector that does not exist.
    pub fn step<A: AsRef<[EffectorLoad]> + Sync>(&mut self, loads: &[A]) -> BatchStatus {
        assert_eq!(loads.len(), self.count, "lists of loads");
        let effectors = self.system.data().effectors.len();
        loads.iter().for_each(|l| crate::load::assert_effectors(l.as_ref(), effectors));
        let system = &self.system;
        let pays = self.count >= PARALLEL_INSTANCES;
        parallel::for_each(&mut self.chunks, pays, |c, chunk| {
            let Chunk { states, statuses, work, .. } = chunk;
            let loads = &loads[c * CHUNK..];
            for ((state, status), loads) in states.iter_mut().zip(statuses).zip(loads) {
                *status = system.step(state, work, loads.as_ref());
            }
        });
        BatchStatus::of(self.statuses())
    }

    /// The same under one wrench on every effector of every instance, one instance after the other.
    /// Allocates in the first call only.
    ///
    /// # Panics
    /// If there is not one wrench per instance and effector.
    pub fn step_with_wrenches(&mut self, wrenches: &[[f64; 6]], frame: LoadFrame) -> BatchStatus {
        let effectors = self.system.data().effectors.len();
        assert_eq!(wrenches.len(), self.count * effectors, "wrenches");
        let (system, pays) = (&self.system, self.count >= PARALLEL_INSTANCES);
        parallel::for_each(&mut self.chunks, pays, |c, chunk| {
            let Chunk { states, statuses, work, loads, .. } = chunk;
            let rows = wrenches[c * CHUNK * effectors..].chunks_exact(effectors.max(1));
            for ((state, status), row) in states.iter_mut().zip(statuses).zip(rows) {
                loads.clear();
                loads.extend(row.iter().enumerate().map(|(effector, w)| EffectorLoad {
                    effector,
                    wrench: Wrench::from_array(*w),
                    frame,
                }));
                *status = system.step(state, work, loads);
            }
        });
        BatchStatus::of(self.statuses())
    }

    /// How the last step ended for each instance.
    pub fn statuses(&self) -> impl Iterator<Item = StepStatus> + '_ {
        self.chunks.iter().flat_map(|c| c.statuses.iter().copied())
    }

    /// Brings the link poses of every instance to its state. Allocates in the first call only.
    pub fn update_poses(&mut self) {
        let (system, pays) = (&self.system, self.count >= PARALLEL_INSTANCES);
        parallel::for_each(&mut self.chunks, pays, |_, chunk| {
            let Chunk { states, poses, work, .. } = chunk;
            poses.resize_with(states.len(), || system.pose_buffer());
            states.iter().zip(poses).for_each(|(state, out)| system.poses(state, work, out));
        });
    }

    /// World poses of an instance's links as of the last [`Instances::update_poses`]; `None` before
    /// the first.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn poses(&self, instance: usize) -> Option<&PoseBuffer> {
        let (chunk, i) = self.place(instance);
        self.chunks[chunk].poses.get(i)
    }

    fn place(&self, instance: usize) -> (usize, usize) {
        assert!(instance < self.count, "instance {instance} of {}", self.count);
        (instance / CHUNK, instance % CHUNK)
    }
}
