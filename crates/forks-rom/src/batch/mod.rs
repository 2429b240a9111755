//! Many instances of one model: states as structures of arrays, stepped four at a time and on
//! several threads; systems of any kind, a state each.

mod instances;
mod loads;
mod poses;
mod pull_back;
mod step;
mod transition;

use forks_linalg::simd::{Arithmetic, Kernel, LANES, Lanes};

use alloc::{vec, vec::Vec};

use crate::{
    EffectorLoad, LoadFrame, ModelError, State, StepStatus, Stepper, kernel::Isa, parallel,
};
use loads::{Lists, Loads, Wrenches};
use step::{Group, step_group};

pub use instances::Instances;
pub use poses::BatchPoses;

/// Instances that one thread steps together; their numbers stay in its first-level cache.
const CHUNK: usize = 64;

/// Instances from which several threads are used: an estimate from 50 ns a step and 10 µs to wake
/// threads.
const PARALLEL_INSTANCES: usize = 1024;

/// Instances of one model with a common step.
///
/// Numbers, also their last bits, are those of [`Stepper::step`] and
/// [`ReducedModel::poses`](crate::ReducedModel::poses) for every instance, for any number of
/// instances and threads.
#[derive(Clone, Debug)]
pub struct Batch {
    stepper: Stepper,
    instances: usize,
    chunks: Vec<Chunk>,
}

/// Some instances. Every array holds groups of four instances one after the other, a group a lane
/// group per coordinate; lanes beyond the last instance hold an instance without loads.
#[derive(Clone, Debug)]
struct Chunk {
    dof: usize,
    eta: Vec<Lanes>,
    velocity: Vec<Lanes>,
    /// η_s.
    rest: Vec<Lanes>,
    /// Per instance one after the other; empty rows where all are 0 are marked in `driven`.
    servo_targets: Vec<f64>,
    driven: Vec<bool>,
    status: Vec<StepStatus>,
    /// Scratch memory of one group.
    work: Vec<Lanes>,
}

/// How many instances did not complete a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct BatchStatus {
    /// Instances with [`StepStatus::OutOfRange`].
    pub out_of_range: usize,
    /// Instances with [`StepStatus::NotFinite`].
    pub not_finite: usize,
    /// Instances on floating bases with [`StepStatus::InertiaHeldBack`] or
    /// [`StepStatus::NotSettled`].
    pub uncontrolled: usize,
}

impl BatchStatus {
    /// The larger numbers of two steps.
    pub fn or_worse(self, other: Self) -> Self {
        Self {
            out_of_range: self.out_of_range.max(other.out_of_range),
            not_finite: self.not_finite.max(other.not_finite),
            uncontrolled: self.uncontrolled.max(other.uncontrolled),
        }
    }

    fn of(statuses: impl Iterator<Item = StepStatus>) -> Self {
        let mut all = Self::default();
        for status in statuses {
            match status {
                StepStatus::Completed => {}
                StepStatus::OutOfRange { .. } => all.out_of_range += 1,
                StepStatus::NotFinite => all.not_finite += 1,
                StepStatus::InertiaHeldBack | StepStatus::NotSettled => all.uncontrolled += 1,
            }
        }
        all
    }
}

impl Batch {
    /// Instances at the linearisation pose, at rest.
    pub fn new(stepper: Stepper, instances: usize) -> Self {
        let (n, servos) = (stepper.model().dof(), stepper.model().data().servos.len());
        let chunk = |first: usize| {
            let padded = (instances - first).min(CHUNK).next_multiple_of(LANES);
            let zeros = || vec![Lanes::default(); padded / LANES * n];
            Chunk {
                dof: n,
                eta: zeros(),
                velocity: zeros(),
                rest: zeros(),
                servo_targets: vec![0.0; padded * servos],
                driven: vec![false; padded],
                status: vec![StepStatus::Completed; padded],
                work: vec![Lanes::default(); 4 * n],
            }
        };
        let chunks = (0..instances).step_by(CHUNK).map(chunk).collect();
        Self { stepper, instances, chunks }
    }

    /// What steps the instances.
    pub fn stepper(&self) -> &Stepper {
        &self.stepper
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.instances
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.instances == 0
    }

    /// Moves all instances by one step under loads on effectors, a list per instance. Allocates
    /// nothing.
    ///
    /// With the feature `rayon`, on the threads of the current pool where the batch is large enough
    /// to pay.
    ///
    /// # Panics
    /// If there is not one list per instance, or a load on an effector that does not exist.
    pub fn step<A: AsRef<[EffectorLoad]> + Sync>(&mut self, loads: &[A]) -> BatchStatus {
        assert_eq!(loads.len(), self.instances, "lists of loads");
        self.step_under(Lists::new(loads, self.stepper.model().effector_count()))
    }

    /// The same under one wrench on every effector of every instance, one instance after the other:
    /// what [`Batch::step`] does with as many loads, to the last bit. Allocates nothing.
    ///
    /// # Panics
    /// If there is not one wrench per instance and effector.
    pub fn step_with_wrenches(&mut self, wrenches: &[[f64; 6]], frame: LoadFrame) -> BatchStatus {
        let effectors = self.stepper.model().effector_count();
        assert_eq!(wrenches.len(), self.instances * effectors, "wrenches");
        self.step_under(Wrenches { rows: wrenches, effectors, frame })
    }

    fn step_under(&mut self, loads: impl Loads) -> BatchStatus {
        let (stepper, isa) = (&self.stepper, self.stepper.model().isa());
        let pays = self.instances >= PARALLEL_INSTANCES;
        parallel::for_each(&mut self.chunks, pays, |i, chunk| {
            chunk.step(isa, stepper, loads.from(i * CHUNK));
        });
        BatchStatus::of(self.statuses())
    }

    /// How the last step ended for each instance.
    pub fn statuses(&self) -> impl Iterator<Item = StepStatus> + '_ {
        self.chunks.iter().flat_map(|c| c.status.iter().copied()).take(self.instances)
    }

    /// η of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn coordinates(&self, instance: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        let (chunk, i) = self.place(instance);
        chunk.lane(&chunk.eta, i)
    }

    /// η̇ of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn velocity(&self, instance: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        let (chunk, i) = self.place(instance);
        chunk.lane(&chunk.velocity, i)
    }

    /// Servo targets of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn servo_targets(&self, instance: usize) -> &[f64] {
        let (chunk, i) = self.place(instance);
        let servos = chunk.servo_targets.len() / chunk.driven.len();
        &chunk.servo_targets[i * servos..][..servos]
    }

    /// A copy of the state of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn state(&self, instance: usize) -> State {
        let mut state = State::new(self.stepper.model());
        let (chunk, i) = self.place(instance);
        state.eta.iter_mut().zip(self.coordinates(instance)).for_each(|(a, b)| *a = b);
        state.velocity.iter_mut().zip(self.velocity(instance)).for_each(|(a, b)| *a = b);
        state.rest.iter_mut().zip(chunk.lane(&chunk.rest, i)).for_each(|(a, b)| *a = b);
        state.servo_targets.copy_from_slice(self.servo_targets(instance));
        state.driven = chunk.driven[i];
        state
    }

    /// Gives an instance the coordinates, rates and servo targets of a state.
    ///
    /// # Errors
    /// A state of a model of another size.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn set_state(&mut self, instance: usize, state: &State) -> Result<(), ModelError> {
        let servos = self.stepper.model().data().servos.len();
        let sizes = [
            ("eta", state.coordinates().len(), self.stepper.model().dof()),
            ("servo targets", state.servo_targets.len(), servos),
        ];
        for (quantity, found, expected) in sizes {
            if found != expected {
                return Err(ModelError::WrongSize { quantity, found, expected });
            }
        }
        let (chunk, i) = self.place_mut(instance);
        let n = chunk.dof;
        for j in 0..n {
            let entry = i / LANES * n + j;
            chunk.eta[entry].0[i % LANES] = state.eta[j];
            chunk.velocity[entry].0[i % LANES] = state.velocity[j];
            chunk.rest[entry].0[i % LANES] = state.rest[j];
        }
        chunk.servo_targets[i * servos..][..servos].copy_from_slice(&state.servo_targets);
        chunk.driven[i] = state.driven;
        Ok(())
    }

    fn place(&self, instance: usize) -> (&Chunk, usize) {
        assert!(instance < self.instances, "instance {instance} of {}", self.instances);
        (&self.chunks[instance / CHUNK], instance % CHUNK)
    }

    fn place_mut(&mut self, instance: usize) -> (&mut Chunk, usize) {
        assert!(instance < self.instances, "instance {instance} of {}", self.instances);
        (&mut self.chunks[instance / CHUNK], instance % CHUNK)
    }
}

impl Chunk {
    /// An instance's numbers out of one of the arrays.
    fn lane<'a>(&self, of: &'a [Lanes], i: usize) -> impl ExactSizeIterator<Item = f64> + 'a {
        of[i / LANES * self.dof..][..self.dof].iter().map(move |x| x.0[i % LANES])
    }

    fn step(&mut self, isa: Isa, stepper: &Stepper, loads: impl Loads) {
        isa.run(StepChunk { chunk: self, stepper, loads });
    }
}

struct StepChunk<'a, A> {
    chunk: &'a mut Chunk,
    stepper: &'a Stepper,
    loads: A,
}

impl<A: Loads> Kernel for StepChunk<'_, A> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Chunk { dof: n, eta, velocity, rest, status, work, .. } = self.chunk;
        let n = *n;
        let (stretch, work) = work.split_at_mut(n);
        let (force, result) = work.split_at_mut(n);
        for (g, status) in status.chunks_exact_mut(LANES).enumerate() {
            let mut group = Group {
                eta: &mut eta[g * n..][..n],
                velocity: &mut velocity[g * n..][..n],
                rest: &rest[g * n..][..n],
                status,
                stretch,
                force,
                result,
            };
            step_group(l, self.stepper, &mut group, self.loads.from(g * LANES));
        }
    }
}
