//! What all reduced models can do, whatever they are made of: one linearisation or several, on a
//! fixed base or a floating one.

use alloc::vec::Vec;
use core::fmt::Debug;

use forks_lie::{Pose, Twist, glam::DVec3};
use forks_linalg::Matrix;

use crate::{
    ConstraintError, EffectorLoad, EffectorMotions, ModelError, Momentum, Openings, PoseBuffer,
    Reconstruction, ServoTerms, StaticSolution, StepStatus, data::ModelData,
};

/// An effector at a state.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectorState {
    /// World from effector.
    pub pose: Pose,
    /// Body twist, effector frame.
    pub twist: Twist,
    /// 6 × n: body twist per velocity.
    pub jacobian: Matrix,
}

impl EffectorState {
    /// Room for an effector of a system with `n` velocities.
    pub fn new(n: usize) -> Self {
        Self { pose: Pose::IDENTITY, twist: Twist::ZERO, jacobian: Matrix::zeros(6, n) }
    }

    /// The twist that a velocity gives through the Jacobian.
    pub fn move_by(&mut self, velocity: &[f64]) {
        let row = |i: usize| -> f64 {
            self.jacobian.row(i).iter().zip(velocity).map(|(j, v)| j * v).sum()
        };
        self.twist = Twist::from_array(core::array::from_fn(row));
    }
}

/// A reduced model with a step size: makes states, moves them, and answers what is asked of them.
///
/// Coordinates are η, or the chart coordinates of a blend; where the base floats its pose (x, y, z,
/// qw, qx, qy, qz) comes first. Velocities, n of them, are their rates; where the base floats its
/// body twist comes first. Memory belongs to the caller: a [workspace](System::Workspace) serves
/// all states of a system, one after the other.
///
/// All methods panic if state or memory belong to a model of another size, or if an index is out of
/// range.
pub trait System: Clone + Debug + Send + Sync {
    /// The state of one instance; equal states go on with the same bits.
    type State: Clone + Debug + PartialEq + Send + Sync;
    /// Memory that steps and poses need.
    type Workspace: Clone + Debug + Send + Sync;

    /// The linearisation pose, or the reference poses of a blend, at rest.
    fn state(&self) -> Self::State;

    /// Memory for this system's states.
    fn workspace(&self) -> Self::Workspace;

    /// Names of effectors, links, joints and servos, and how they belong together: of a blend those
    /// of its first sample.
    fn data(&self) -> &ModelData;

    /// Largest relative displacement of an effector for which the model is meant.
    fn range(&self) -> f64 {
        self.data().range
    }

    /// The step, s.
    fn step_size(&self) -> f64;

    /// n, the number of velocities.
    fn dof(&self) -> usize;

    /// Number of coordinates.
    fn coordinate_count(&self) -> usize {
        self.dof()
    }

    /// Coordinates of a state.
    fn coordinates(&self, state: &Self::State, out: &mut [f64]);

    /// Velocities of a state.
    fn velocity(&self, state: &Self::State, out: &mut [f64]);

    /// Sets coordinates and velocities.
    ///
    /// # Errors
    /// Wrong lengths, numbers that are not finite; the state is then unchanged.
    fn set(
        &self,
        state: &mut Self::State,
        coordinates: &[f64],
        velocity: &[f64],
    ) -> Result<(), ModelError>;

    /// The part of a state beyond coordinates and velocities, which it needs to go on with the same
    /// bits, in place of what `out` held: nothing of most.
    fn extra_state(&self, _state: &Self::State, out: &mut Vec<f64>) {
        out.clear();
    }

    /// Restores [`System::extra_state`] bit by bit; call it after [`System::set`].
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite.
    fn set_extra_state(
        &self,
        _state: &mut Self::State,
        _numbers: &[f64],
    ) -> Result<(), ModelError> {
        Ok(())
    }

    /// Servo targets relative to those of the linearisation, in the order of [`ModelData::servos`].
    fn servo_targets<'a>(&self, state: &'a Self::State) -> &'a [f64];

    /// Sets the servo targets.
    ///
    /// # Errors
    /// A wrong length, numbers that are not finite, targets that the model does not know; the state
    /// is then unchanged.
    fn set_servo_targets(&self, state: &mut Self::State, targets: &[f64])
    -> Result<(), ModelError>;

    /// Moves a state by one step under loads on effectors. Allocates nothing.
    fn step(
        &self,
        state: &mut Self::State,
        work: &mut Self::Workspace,
        loads: &[EffectorLoad],
    ) -> StepStatus;

    /// Begins a step with impulses: finds A⁻¹ and the free velocity. `gravity` acts where the base
    /// floats; else gravity is part of the model. [`System::change_velocity`] ends the step.
    fn respond(
        &self,
        state: &mut Self::State,
        work: &mut Self::Workspace,
        loads: &[EffectorLoad],
        gravity: DVec3,
    ) -> StepStatus;

    /// A⁻¹, n × n, A = M + hD + h²𝓗: what impulses add to the velocities of the step that was
    /// begun. `None` where there is none.
    fn inverse_system<'a>(&'a self, work: &'a Self::Workspace) -> Option<&'a Matrix>;

    /// True if A depends on the state.
    fn varies(&self) -> bool {
        true
    }

    /// Velocities after the step that was begun, without impulses.
    fn free_velocity<'a>(&self, state: &'a Self::State, work: &'a Self::Workspace) -> &'a [f64];

    /// Ends the step that was begun; `change` is what impulses add to the free velocity. Allocates
    /// nothing.
    ///
    /// # Errors
    /// A change of the wrong size or one that is not finite, or a result that is not.
    fn change_velocity(
        &self,
        state: &mut Self::State,
        work: &mut Self::Workspace,
        change: &[f64],
    ) -> Result<StepStatus, ModelError>;

    /// Ends the step that was begun with a velocity; `change` is room for n numbers.
    ///
    /// # Errors
    /// As [`System::change_velocity`].
    fn end_with(
        &self,
        state: &mut Self::State,
        work: &mut Self::Workspace,
        velocity: &[f64],
        change: &mut [f64],
    ) -> Result<StepStatus, ModelError> {
        let free = self.free_velocity(state, work);
        for (d, (v, free)) in change.iter_mut().zip(velocity.iter().zip(free)) {
            *d = v - free;
        }
        self.change_velocity(state, work, change)
    }

    /// Coordinates at rest under loads and servo targets, where the base floats of what moves
    /// relative to it.
    ///
    /// # Errors
    /// A load on an effector that does not exist, numbers that are not finite.
    fn solve_static(
        &self,
        loads: &[EffectorLoad],
        servo_targets: &[f64],
    ) -> Result<StaticSolution, ModelError>;

    /// World pose of an effector.
    fn effector_pose(&self, e: usize, state: &Self::State) -> Pose;

    /// All effectors at a state; `velocity` is what [`System::velocity`] gives of it.
    fn effectors(
        &self,
        state: &Self::State,
        work: &Self::Workspace,
        velocity: &[f64],
        out: &mut [EffectorState],
    );

    /// Effectors in a world where the model is placed so, if their Jacobians are rows over P v, P
    /// constant maps.
    fn effector_motions(&self, _world_from_model: &Pose) -> Option<EffectorMotions> {
        None
    }

    /// Brings what [`System::effector_motions`] gave to a state.
    fn update_motions(&self, _state: &Self::State, _motions: &mut EffectorMotions) {}

    /// Kinetic energy, J.
    fn kinetic_energy(&self, state: &Self::State, work: &Self::Workspace) -> f64;

    /// Energy of the springs about their present targets, over the linearisation pose, the static
    /// loads' potential included, J. A model of one linearisation does not know what the targets
    /// add at rest; see [`System::target_energy`].
    fn elastic_energy(&self, state: &Self::State, work: &Self::Workspace) -> f64;

    /// What servo targets add to the elastic energy of a model that does not know it, J.
    fn target_energy(&self, _terms: &ServoTerms, _state: &Self::State) -> f64 {
        0.0
    }

    /// Energy in gravity (world axes), as far as it is not part of the elastic one, J.
    fn gravitational_energy(&self, _state: &Self::State, _gravity: DVec3) -> f64 {
        0.0
    }

    /// Momentum, where nothing holds the mechanism.
    fn momentum(&self, _state: &Self::State) -> Option<Momentum> {
        None
    }

    /// Room for the poses of all links but the ground and massless frames inside joints.
    fn pose_buffer(&self) -> PoseBuffer;

    /// World poses of these links, each on its own. Allocates nothing.
    fn poses(&self, state: &Self::State, work: &mut Self::Workspace, out: &mut PoseBuffer);

    /// Gaps at joints and effectors for the link poses of a reconstruction mode.
    fn constraint_error(
        &self,
        state: &Self::State,
        work: &mut Self::Workspace,
        mode: Reconstruction,
    ) -> ConstraintError;

    /// What opens at a state, and where the model rests for its servo targets; zero where the model
    /// does not know.
    fn openings(&self, state: &Self::State, work: &mut Self::Workspace) -> [Openings; 2];

    /// A joint of a name and how many coordinates of it are known.
    fn find_joint(&self, name: &str) -> Option<(usize, usize)>;

    /// A coordinate of a joint, rad or m, and its derivative by the velocities into `row`.
    fn joint_coordinate(
        &self,
        joint: usize,
        coordinate: usize,
        state: &Self::State,
        row: &mut [f64],
    ) -> f64;

    /// Weights of a blend's samples, into `out`; nothing of one linearisation.
    fn weights(&self, _state: &Self::State, _work: &Self::Workspace, out: &mut Vec<f64>) {
        out.clear();
    }
}
