//! Implicit steps of any mechanism, loops and couplings included.

use std::sync::Arc;

use forks_dynamics::{
    AppliedWrench,
    integrate::ImpulseStepper,
    mass_matrix,
    mechanism::{
        JointId, LinkId, Mechanism,
        lie::Pose,
        linalg::{Matrix, axpy},
    },
};

use super::{
    error::{PlantError, check, check_commands},
    response::{Kinematics, Plant, Response},
};
use crate::frame::Frame;

/// A mechanism in motion by linearly implicit steps, under gravity, springs and dampers, with
/// forces on some velocity coordinates as commands.
///
/// Its rates are the independent motions u of [`ImpulseStepper`]: A u⁺ = A u_free + h Nᵀ S z.
#[derive(Clone, Debug)]
pub struct ImplicitPlant {
    stepper: ImpulseStepper,
    h: f64,
    commands: Vec<ForceCommand>,
    /// That act beside the commands.
    steady: Vec<f64>,
    loads: Vec<AppliedWrench>,
    forces: Vec<f64>,
    /// A⁻¹ of the last response.
    inverse: Matrix,
}

/// Forces of velocity coordinates per unit of a command: coordinate, N or N·m.
pub type ForceCommand = Vec<(usize, f64)>;

impl ImplicitPlant {
    /// At tree positions `q` and velocities `v`, with steps of `h` (s); loops are closed first. A
    /// command is the force (N or N·m) of a velocity coordinate, also of a joint that closes a
    /// loop, beside its springs and dampers.
    ///
    /// # Errors
    /// Commands of coordinates that are not there or commanded twice, a step that is not positive,
    /// lengths that do not fit, numbers that are not finite, loops that cannot be closed.
    pub fn new(
        mechanism: Arc<Mechanism>,
        q: &[f64],
        v: &[f64],
        commanded: &[usize],
        h: f64,
    ) -> Result<Self, PlantError> {
        let count = mechanism.velocity_count();
        check_commands(h, commanded.iter().copied(), count)?;
        check(["position", "positions"], q, mechanism.tree_position_count())?;
        check(["velocity", "velocities"], v, mechanism.tree_velocity_count())?;
        let stepper = ImpulseStepper::new(mechanism, q, v, true, h).map_err(PlantError::Failed)?;
        let commands = commanded.iter().map(|c| vec![(*c, 1.0)]).collect();
        let (steady, loads, inverse) = (vec![0.0; count], vec![], Matrix::zeros(0, 0));
        Ok(Self { stepper, h, commands, forces: steady.clone(), steady, loads, inverse })
    }

    /// What a stepper of steps of `h` (s) does next, with forces `steady` on all velocity
    /// coordinates (may be empty) and wrenches beside the commands, each of which may act on
    /// several coordinates.
    ///
    /// # Errors
    /// Commands of coordinates that are not there, a step that is not positive, lengths that do not
    /// fit, numbers that are not finite.
    pub fn of(
        stepper: ImpulseStepper,
        h: f64,
        commands: Vec<ForceCommand>,
        steady: &[f64],
        loads: Vec<AppliedWrench>,
    ) -> Result<Self, PlantError> {
        let count = stepper.mechanism().velocity_count();
        check_commands(h, core::iter::empty(), count)?;
        for (coordinate, factor) in commands.iter().flatten().copied() {
            if coordinate >= count {
                return Err(PlantError::Coordinate { coordinate, count });
            }
            check(["factor of a command", "factors"], &[factor], 1)?;
        }
        let mut all = vec![0.0; count];
        if !steady.is_empty() {
            check(["force", "forces"], steady, count)?;
            all.copy_from_slice(steady);
        }
        let inverse = Matrix::zeros(0, 0);
        Ok(Self { stepper, h, commands, forces: all.clone(), steady: all, loads, inverse })
    }

    /// The state.
    pub fn stepper(&self) -> &ImpulseStepper {
        &self.stepper
    }

    /// 6 × rates: body twist of a frame in a link, in that frame, at the pose before the step.
    pub fn frame_rows(&self, link: LinkId, link_from_frame: &Pose) -> Matrix {
        self.stepper.frame_jacobian(link, link_from_frame)
    }
}

impl Plant for ImplicitPlant {
    fn command_count(&self) -> usize {
        self.commands.len()
    }

    fn respond(&mut self, out: &mut Response) -> Result<(), PlantError> {
        // A response asks, it does not move: u of the state stays what it is.
        let mut trial = self.stepper.clone();
        trial.free(&self.steady, &self.loads).map_err(PlantError::Failed)?;
        let n = trial.motion_count();
        out.resize(n, self.commands.len());
        let (mut row, mut sum) = (vec![0.0; n], vec![0.0; n]);
        for (j, command) in self.commands.iter().enumerate() {
            sum.fill(0.0);
            for (c, factor) in command {
                trial.rate_row(*c, &mut row);
                axpy(*factor, &row, &mut sum);
            }
            let column = trial.inverse_system().mul_vec(&sum);
            (0..n).for_each(|i| out.gain[(i, j)] = self.h * column[i]);
        }
        out.free.copy_from_slice(trial.velocities());
        self.inverse.clone_from(trial.inverse_system());
        Ok(())
    }

    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError> {
        check(["command", "commands"], commands, self.commands.len())?;
        self.forces.copy_from_slice(&self.steady);
        for (command, z) in self.commands.iter().zip(commands) {
            command.iter().for_each(|(c, factor)| self.forces[*c] += factor * z);
        }
        // A step that fails leaves the state as it was.
        let mut next = self.stepper.clone();
        next.free(&self.forces, &self.loads).map_err(PlantError::Failed)?;
        let u = next.velocities().to_vec();
        next.finish(&u).map_err(PlantError::Failed)?;
        self.stepper = next;
        Ok(())
    }
}

impl Kinematics for ImplicitPlant {
    fn step_length(&self) -> f64 {
        self.h
    }

    fn rates(&self) -> &[f64] {
        self.stepper.velocities()
    }

    fn link_count(&self) -> usize {
        self.stepper.link_poses().len()
    }

    fn frame(&self, frame: &Frame, rows: &mut Matrix) -> Pose {
        let all = self.stepper.frame_jacobian(frame.link, &frame.link_from_frame);
        rows.as_mut_slice().copy_from_slice(all.as_slice());
        self.stepper.link_poses()[frame.link.index()] * frame.link_from_frame
    }

    fn mechanism(&self) -> Option<&Mechanism> {
        Some(self.stepper.mechanism())
    }

    fn joint(&self, joint: JointId, row: &mut [f64]) -> f64 {
        let m = self.stepper.mechanism();
        self.stepper.rate_row(m.velocity_range(joint).start, row);
        self.stepper.positions()[m.position_range(joint).start]
    }

    /// Those of the tree.
    fn coordinate_count(&self) -> usize {
        self.stepper.tree_velocities().len()
    }

    fn coordinate(&self, coordinate: usize, row: &mut [f64]) {
        self.stepper.rate_row(coordinate, row);
    }

    fn answer(&mut self, forces: &Matrix, out: &mut Matrix) -> Result<(), PlantError> {
        // A⁻¹ is symmetric.
        *out = forces.mul(&self.inverse);
        out.as_mut_slice().iter_mut().for_each(|x| *x *= self.h);
        Ok(())
    }

    fn mass(&self) -> Matrix {
        let m = self.stepper.mechanism();
        let (n, all) = (self.stepper.motion_count(), m.velocity_count());
        let mut rates = Matrix::zeros(all, n);
        (0..all).for_each(|c| self.stepper.rate_row(c, rates.row_mut(c)));
        let mass = mass_matrix(m, self.stepper.positions());
        rates.transpose_mul(&mass.mul(&rates))
    }
}
