//! A mechanism of a world as a plant: its next step as a map of commands, without contact.

use forks_control::{
    plant::{ImplicitPlant, Kinematics, Plant, PlantError, Response},
    task::Frame,
};
use forks_dynamics::{AppliedWrench, WrenchFrame};
use forks_mechanism::{
    JointId, Mechanism,
    lie::{Adjoint, Pose, Twist, Wrench},
    linalg::{Matrix, Pivots, dot},
};
use forks_reduce::Effector;
use forks_rom::{EffectorLoad, EffectorState, LoadFrame};
use forks_sim::{MechanismHandle, SimError, Trial, World};

/// A change of a servo's target, rad or m: steps of blends and floating bases are not linear in it,
/// and rounding of others stays small.
const DIFFERENCE: f64 = 1e-3;

/// What a command of a mechanism in a world is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// The force of a velocity coordinate of a full mechanism.
    Force(usize),
    /// The target of a servo.
    Servo(usize),
}

/// A mechanism of a world whose frames are those of the scene.
pub(crate) struct WorldPlant {
    kind: Kind,
    placement: Pose,
    /// Targets of all servos, without those that are commanded.
    pub(crate) targets: Vec<f64>,
}

enum Kind {
    Full(Box<ImplicitPlant>),
    Reduced(Box<Reduced>),
}

/// A reduced model, of effectors alone.
struct Reduced {
    trial: Trial,
    h: f64,
    servos: Vec<usize>,
    effectors: Vec<EffectorState>,
    velocity: Vec<f64>,
    /// Targets without those that are commanded.
    targets: Vec<f64>,
    inverse: Matrix,
}

impl WorldPlant {
    /// As a mechanism is now, under loads (world axes, at the effectors' origins) beside those that
    /// it has.
    pub(crate) fn new(
        world: &mut World,
        m: MechanismHandle,
        drives: &[Drive],
        loads: &[EffectorLoad],
    ) -> Result<Self, Fault> {
        let settings = *world.settings();
        let h = settings.step / settings.substeps as f64;
        let placement = world.placement(m)?;
        let trial = world.trial(m)?;
        let mut targets = trial.servo_targets().to_vec();
        for d in drives {
            if let Drive::Servo(k) = d {
                targets[*k] = 0.0;
            }
        }
        if let Some(full) = world.full(m)? {
            let mechanism = full.stepper.mechanism();
            let mut steady = vec![0.0; mechanism.velocity_count()];
            for (row, s) in full.servos.iter().zip(&targets) {
                row.iter().for_each(|(c, k)| steady[*c] += k * s);
            }
            let commands = drives.iter().map(|d| match d {
                Drive::Force(c) => vec![(*c, 1.0)],
                Drive::Servo(k) => full.servos[*k].clone(),
            });
            let back = placement.rotation.conjugate();
            let applied = |l: &EffectorLoad| {
                let e = &full.effectors[l.effector];
                let (wrench, frame) = match l.frame {
                    LoadFrame::World => {
                        let w = l.wrench;
                        let turned = Wrench::new(back * w.force, back * w.torque);
                        (turned, WrenchFrame::World)
                    }
                    LoadFrame::Body => (l.wrench, WrenchFrame::Body),
                };
                AppliedWrench { link: e.link, link_from_point: e.link_from_effector, wrench, frame }
            };
            let loads = trial.loads().iter().map(|l| in_world(l, &placement)).chain(loads.to_vec());
            let loads: Vec<AppliedWrench> = loads.map(|l| applied(&l)).collect();
            let commands = commands.collect();
            let plant = ImplicitPlant::of(full.stepper.clone(), h, commands, &steady, loads)?;
            return Ok(Self { kind: Kind::Full(Box::new(plant)), placement, targets });
        }
        let mut trial = trial;
        loads.iter().for_each(|l| trial.add_load(*l));
        let servos = drives.iter().filter_map(|d| match d {
            Drive::Servo(k) => Some(*k),
            Drive::Force(_) => None,
        });
        let reduced = Reduced {
            h,
            servos: servos.collect(),
            effectors: trial.effectors(),
            velocity: trial.velocity().to_vec(),
            targets: targets.clone(),
            inverse: Matrix::zeros(0, 0),
            trial,
        };
        let kind = Kind::Reduced(Box::new(reduced));
        Ok(Self { kind, placement: Pose::IDENTITY, targets })
    }

    /// The link, and the frame in it, that carries an effector of a full mechanism.
    pub(crate) fn frame_of(e: &Effector) -> Frame {
        Frame { link: e.link, link_from_frame: e.link_from_effector }
    }
}

/// A load in a model's axes as one in the world's.
fn in_world(load: &EffectorLoad, placement: &Pose) -> EffectorLoad {
    let mut out = *load;
    if out.frame == LoadFrame::World {
        out.wrench.force = placement.rotation * out.wrench.force;
        out.wrench.torque = placement.rotation * out.wrench.torque;
    }
    out
}

/// Why there is no plant.
#[derive(Debug)]
pub(crate) enum Fault {
    World(SimError),
    Plant(PlantError),
}

impl From<SimError> for Fault {
    fn from(e: SimError) -> Self {
        Self::World(e)
    }
}

impl From<PlantError> for Fault {
    fn from(e: PlantError) -> Self {
        Self::Plant(e)
    }
}

impl Reduced {
    fn free(&mut self, targets: &[f64]) -> Result<Vec<f64>, PlantError> {
        let refused = |_: SimError| PlantError::Reduced(forks_rom::StepStatus::NotFinite);
        self.trial.free_velocity(targets).map(<[f64]>::to_vec).map_err(refused)
    }

    fn respond(&mut self, out: &mut Response) -> Result<(), PlantError> {
        let n = self.velocity.len();
        let mut targets = self.targets.clone();
        let free = self.free(&targets)?;
        out.free.clone_from(&free);
        out.gain = Matrix::zeros(n, self.servos.len());
        for (j, s) in self.servos.clone().into_iter().enumerate() {
            targets[s] = DIFFERENCE;
            let moved = self.free(&targets)?;
            (0..n).for_each(|i| out.gain[(i, j)] = (moved[i] - free[i]) / DIFFERENCE);
            targets[s] = 0.0;
        }
        self.free(&targets)?;
        let inverse = self.trial.inverse_system().ok_or(PlantError::NoResponse)?;
        self.inverse.clone_from(inverse);
        Ok(())
    }
}

impl Plant for WorldPlant {
    fn command_count(&self) -> usize {
        match &self.kind {
            Kind::Full(p) => p.command_count(),
            Kind::Reduced(r) => r.servos.len(),
        }
    }

    fn respond(&mut self, out: &mut Response) -> Result<(), PlantError> {
        match &mut self.kind {
            Kind::Full(p) => p.respond(out),
            Kind::Reduced(r) => r.respond(out),
        }
    }

    /// Worlds make steps; a reduced model alone does not.
    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError> {
        match &mut self.kind {
            Kind::Full(p) => p.step(commands),
            Kind::Reduced(_) => Err(PlantError::NoResponse),
        }
    }
}

impl Kinematics for WorldPlant {
    fn step_length(&self) -> f64 {
        match &self.kind {
            Kind::Full(p) => p.step_length(),
            Kind::Reduced(r) => r.h,
        }
    }

    fn rates(&self) -> &[f64] {
        match &self.kind {
            Kind::Full(p) => p.rates(),
            Kind::Reduced(r) => &r.velocity,
        }
    }

    fn link_count(&self) -> usize {
        match &self.kind {
            Kind::Full(p) => p.link_count(),
            Kind::Reduced(r) => r.effectors.len(),
        }
    }

    fn frame(&self, frame: &Frame, rows: &mut Matrix) -> Pose {
        match &self.kind {
            Kind::Full(p) => self.placement * p.frame(frame, rows),
            Kind::Reduced(r) => {
                let e = &r.effectors[frame.link.index()];
                let ad: Adjoint = frame.link_from_frame.inverse().adjoint();
                for k in 0..r.velocity.len() {
                    let column = core::array::from_fn(|i| e.jacobian[(i, k)]);
                    let t = ad.apply(Twist::from_array(column)).to_array();
                    (0..6).for_each(|i| rows[(i, k)] = t[i]);
                }
                e.pose * frame.link_from_frame
            }
        }
    }

    fn mechanism(&self) -> Option<&Mechanism> {
        match &self.kind {
            Kind::Full(p) => p.mechanism(),
            Kind::Reduced(_) => None,
        }
    }

    fn joint(&self, joint: JointId, row: &mut [f64]) -> f64 {
        match &self.kind {
            Kind::Full(p) => p.joint(joint, row),
            Kind::Reduced(_) => {
                row.fill(0.0);
                0.0
            }
        }
    }

    fn coordinate_count(&self) -> usize {
        match &self.kind {
            Kind::Full(p) => p.coordinate_count(),
            Kind::Reduced(r) => r.velocity.len(),
        }
    }

    fn coordinate(&self, coordinate: usize, row: &mut [f64]) {
        match &self.kind {
            Kind::Full(p) => p.coordinate(coordinate, row),
            Kind::Reduced(_) => {
                row.fill(0.0);
                row[coordinate] = 1.0;
            }
        }
    }

    fn answer(&mut self, forces: &Matrix, out: &mut Matrix) -> Result<(), PlantError> {
        match &mut self.kind {
            Kind::Full(p) => return p.answer(forces, out),
            Kind::Reduced(r) => {
                let by = |k: usize, i: usize| r.h * dot(r.inverse.row(i), forces.row(k));
                *out = Matrix::from_fn(forces.rows(), r.velocity.len(), by);
            }
        }
        Ok(())
    }

    fn mass(&self) -> Matrix {
        match &self.kind {
            Kind::Full(p) => p.mass(),
            // Half of uᵀ A u is the kinetic energy but for damping and stiffness over a step.
            Kind::Reduced(r) => {
                let n = r.velocity.len();
                let one = Matrix::identity(n);
                r.inverse.solve(&one, Pivots::AboveZero).unwrap_or_else(|| Matrix::zeros(n, n))
            }
        }
    }
}
