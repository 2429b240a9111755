//! Steps of reduced models of any kind: one linearisation or a blend, on a fixed base or a floating
//! one.

use forks_dynamics::mechanism::{
    JointId, Mechanism,
    lie::{Adjoint, Pose, Twist, glam::DVec3},
    linalg::{Matrix, dot},
};
use forks_rom::{EffectorState, StepStatus, System};

use super::{
    error::{PlantError, check},
    response::{Kinematics, Plant, Response},
};
use crate::frame::Frame;

/// What a command of a reduced model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReducedCommand {
    /// A component of the wrench on an effector, force first, in the effector's axes at its origin
    /// before the step, N or N·m.
    Wrench {
        /// Which effector, from zero.
        effector: usize,
        /// Which component, 0 to 5.
        component: usize,
    },
    /// The target of a servo relative to that of the linearisation, in its own unit.
    Servo(usize),
}

/// A reduced model in motion. Its rates are the velocities of its [`System`]; frames are in
/// effectors, whose numbers stand for links.
///
/// The map is exact to rounding for one linearisation on a fixed base. Steps of blends and floating
/// bases are not linear in the commands: there it is the response to impulses that worlds with
/// contact use too, and the step differs from it in second order.
#[derive(Clone, Debug)]
pub struct ReducedPlant<S: System> {
    system: S,
    state: S::State,
    work: S::Workspace,
    gravity: DVec3,
    commands: Vec<ReducedCommand>,
    velocity: Vec<f64>,
    effectors: Vec<EffectorState>,
    targets: Vec<f64>,
    impulse: Vec<f64>,
    change: Vec<f64>,
    place: Vec<f64>,
    extra: Vec<f64>,
    trial: S::State,
    status: StepStatus,
}

impl<S: System> ReducedPlant<S> {
    /// In a state; `gravity` (m/s², world) acts where the base floats, else it is part of the
    /// model.
    ///
    /// # Errors
    /// Commands of effectors, components or servos that are not there, or given twice.
    ///
    /// # Panics
    /// If the state belongs to a model of another size.
    pub fn new(
        system: S,
        state: S::State,
        commands: &[ReducedCommand],
        gravity: DVec3,
    ) -> Result<Self, PlantError> {
        let data = system.data();
        let (effectors, servos) = (data.effectors.len(), data.servos.len());
        for (i, c) in commands.iter().enumerate() {
            let (coordinate, count) = match *c {
                ReducedCommand::Wrench { effector, component } if component < 6 => {
                    (effector, effectors)
                }
                ReducedCommand::Wrench { component, .. } => (component, 6),
                ReducedCommand::Servo(servo) => (servo, servos),
            };
            if coordinate >= count {
                return Err(PlantError::Coordinate { coordinate, count });
            }
            if commands[..i].contains(c) {
                return Err(PlantError::Twice { coordinate });
            }
        }
        let n = system.dof();
        let mut out = Self {
            work: system.workspace(),
            gravity,
            commands: commands.to_vec(),
            velocity: vec![0.0; n],
            effectors: vec![EffectorState::new(n); effectors],
            targets: system.servo_targets(&state).to_vec(),
            impulse: vec![0.0; n],
            change: vec![0.0; n],
            place: vec![0.0; system.coordinate_count()],
            extra: Vec::new(),
            trial: state.clone(),
            status: StepStatus::Completed,
            state,
            system,
        };
        out.look();
        Ok(out)
    }

    /// The model with its step.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The state.
    pub fn state(&self) -> &S::State {
        &self.state
    }

    /// How the last step ended.
    pub fn status(&self) -> StepStatus {
        self.status
    }

    /// Velocities and effectors of the state.
    fn look(&mut self) {
        self.system.velocity(&self.state, &mut self.velocity);
        self.system.effectors(&self.state, &self.work, &self.velocity, &mut self.effectors);
    }

    /// Begins a step of `trial` with the commanded targets as `target` says.
    fn begin(&mut self, target: impl Fn(usize) -> f64) -> Result<StepStatus, PlantError> {
        for (i, c) in self.commands.iter().enumerate() {
            if let ReducedCommand::Servo(servo) = c {
                self.targets[*servo] = target(i);
            }
        }
        // The state in memory that is there.
        self.system.coordinates(&self.state, &mut self.place);
        self.system.extra_state(&self.state, &mut self.extra);
        self.system.set(&mut self.trial, &self.place, &self.velocity)?;
        self.system.set_extra_state(&mut self.trial, &self.extra)?;
        if !self.targets.is_empty() {
            self.system.set_servo_targets(&mut self.trial, &self.targets)?;
        }
        match self.system.respond(&mut self.trial, &mut self.work, &[], self.gravity) {
            StepStatus::NotFinite => Err(PlantError::Reduced(StepStatus::NotFinite)),
            status => Ok(status),
        }
    }

    /// Impulses of a command's unit over a step, Jᵀ h; zero for servos.
    fn impulse_of(&self, command: usize, scale: f64, sum: &mut [f64]) {
        if let ReducedCommand::Wrench { effector, component } = self.commands[command] {
            let row = self.effectors[effector].jacobian.row(component);
            let h = self.system.step_size();
            sum.iter_mut().zip(row).for_each(|(s, j)| *s += scale * h * j);
        }
    }

    /// A⁻¹ times the impulse, into `change`.
    fn answer_impulse(&mut self) -> Result<(), PlantError> {
        let inverse = self.system.inverse_system(&self.work).ok_or(PlantError::NoResponse)?;
        for (i, c) in self.change.iter_mut().enumerate() {
            *c = dot(inverse.row(i), &self.impulse);
        }
        Ok(())
    }
}

impl<S: System> Plant for ReducedPlant<S> {
    fn command_count(&self) -> usize {
        self.commands.len()
    }

    fn respond(&mut self, out: &mut Response) -> Result<(), PlantError> {
        let (n, count) = (self.velocity.len(), self.commands.len());
        out.resize(n, count);
        for j in 0..count {
            if let ReducedCommand::Servo(_) = self.commands[j] {
                let _ = self.begin(|i| f64::from(u8::from(i == j)))?;
                let moved = self.system.free_velocity(&self.trial, &self.work);
                (0..n).for_each(|i| out.gain[(i, j)] = moved[i]);
            }
        }
        let _ = self.begin(|_| 0.0)?;
        out.free.copy_from_slice(self.system.free_velocity(&self.trial, &self.work));
        for j in 0..count {
            if let ReducedCommand::Servo(_) = self.commands[j] {
                (0..n).for_each(|i| out.gain[(i, j)] -= out.free[i]);
                continue;
            }
            let mut impulse = std::mem::take(&mut self.impulse);
            impulse.fill(0.0);
            self.impulse_of(j, 1.0, &mut impulse);
            self.impulse = impulse;
            self.answer_impulse()?;
            (0..n).for_each(|i| out.gain[(i, j)] = self.change[i]);
        }
        Ok(())
    }

    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError> {
        check(["command", "commands"], commands, self.commands.len())?;
        let begun = self.begin(|i| commands[i])?;
        let mut impulse = std::mem::take(&mut self.impulse);
        impulse.fill(0.0);
        for (i, z) in commands.iter().enumerate() {
            self.impulse_of(i, *z, &mut impulse);
        }
        self.impulse = impulse;
        self.answer_impulse()?;
        let ended = self.system.change_velocity(&mut self.trial, &mut self.work, &self.change)?;
        self.status = if begun == StepStatus::Completed { ended } else { begun };
        std::mem::swap(&mut self.state, &mut self.trial);
        self.look();
        Ok(())
    }
}

impl<S: System> Kinematics for ReducedPlant<S> {
    fn step_length(&self) -> f64 {
        self.system.step_size()
    }

    fn rates(&self) -> &[f64] {
        &self.velocity
    }

    /// Effectors.
    fn link_count(&self) -> usize {
        self.effectors.len()
    }

    fn frame(&self, frame: &Frame, rows: &mut Matrix) -> Pose {
        let e = &self.effectors[frame.link.index()];
        let ad: Adjoint = frame.link_from_frame.inverse().adjoint();
        for k in 0..self.velocity.len() {
            let column = core::array::from_fn(|i| e.jacobian[(i, k)]);
            let t = ad.apply(Twist::from_array(column)).to_array();
            (0..6).for_each(|i| rows[(i, k)] = t[i]);
        }
        e.pose * frame.link_from_frame
    }

    fn mechanism(&self) -> Option<&Mechanism> {
        None
    }

    fn joint(&self, _joint: JointId, row: &mut [f64]) -> f64 {
        row.fill(0.0);
        0.0
    }

    fn coordinate_count(&self) -> usize {
        self.velocity.len()
    }

    fn coordinate(&self, coordinate: usize, row: &mut [f64]) {
        row.fill(0.0);
        row[coordinate] = 1.0;
    }

    fn answer(&mut self, forces: &Matrix, out: &mut Matrix) -> Result<(), PlantError> {
        let h = self.system.step_size();
        for k in 0..forces.rows() {
            self.impulse.iter_mut().zip(forces.row(k)).for_each(|(p, f)| *p = h * f);
            self.answer_impulse()?;
            out.row_mut(k).copy_from_slice(&self.change);
        }
        Ok(())
    }

    /// From kinetic energies of velocities and their sums.
    fn mass(&self) -> Matrix {
        let n = self.velocity.len();
        let mut place = vec![0.0; self.system.coordinate_count()];
        self.system.coordinates(&self.state, &mut place);
        let mut trial = self.state.clone();
        let mut energy = |v: &[f64]| {
            // Coordinates are those of a state; a velocity of ones and zeros is finite.
            match self.system.set(&mut trial, &place, v) {
                Ok(()) => self.system.kinetic_energy(&trial, &self.work),
                Err(_) => f64::NAN,
            }
        };
        let mut v = vec![0.0; n];
        let mut out = Matrix::zeros(n, n);
        for i in 0..n {
            v[i] = 1.0;
            out[(i, i)] = 2.0 * energy(&v);
            v[i] = 0.0;
        }
        for i in 0..n {
            for j in 0..i {
                (v[i], v[j]) = (1.0, 1.0);
                let both = energy(&v) - 0.5 * (out[(i, i)] + out[(j, j)]);
                (v[i], v[j]) = (0.0, 0.0);
                (out[(i, j)], out[(j, i)]) = (both, both);
            }
        }
        out
    }
}
