//! What every plant can do.

use forks_dynamics::mechanism::{
    JointId, Mechanism,
    lie::{Pose, glam::DVec3},
    linalg::{
        Matrix,
        simd::{Arithmetic, Isa, Kernel, LANES},
    },
};

use super::error::PlantError;
use crate::frame::Frame;

/// Rates at the end of the next step: `free` + `gain` z.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Rates without commands (accelerations that are commands at zero).
    pub free: Vec<f64>,
    /// Rates by commands.
    pub gain: Matrix,
}

impl Default for Response {
    fn default() -> Self {
        Self { free: Vec::new(), gain: Matrix::zeros(0, 0) }
    }
}

impl Response {
    /// Rates under commands.
    ///
    /// # Panics
    /// If the number of commands is wrong.
    pub fn rates(&self, commands: &[f64]) -> Vec<f64> {
        let mut out = self.gain.mul_vec(commands);
        out.iter_mut().zip(&self.free).for_each(|(y, x)| *y += x);
        out
    }

    /// A form over rates, of which numbers from the rate `first` on are given, as one over
    /// commands.
    pub(crate) fn over_commands(&self, over_rates: &[f64], first: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.gain.columns(), 0.0);
        Isa::detect().run(OverCommands { over_rates, gain: &self.gain, first, out });
    }

    /// Makes room for so many rates and commands; keeps the memory of the same sizes.
    pub(crate) fn resize(&mut self, rates: usize, commands: usize) {
        self.free.resize(rates, 0.0);
        if (self.gain.rows(), self.gain.columns()) != (rates, commands) {
            self.gain = Matrix::zeros(rates, commands);
        }
    }
}

/// Σ w_i row i of a gain.
struct OverCommands<'a> {
    over_rates: &'a [f64],
    gain: &'a Matrix,
    first: usize,
    out: &'a mut [f64],
}

impl Kernel for OverCommands<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let Self { over_rates, gain, first, out } = self;
        let (sums, rest) = out.as_chunks_mut::<LANES>();
        for (i, w) in over_rates.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            let (fours, more) = gain.row(first + i).as_chunks::<LANES>();
            let by = l.splat(*w);
            for (sum, x) in sums.iter_mut().zip(fours) {
                *sum = (by * l.read(x) + l.read(sum)).store().0;
            }
            rest.iter_mut().zip(more).for_each(|(sum, x)| *sum += w * x);
        }
    }
}

/// A mechanism that is stepped with commands.
pub trait Plant {
    /// Length of z.
    fn command_count(&self) -> usize;

    /// The map of the next step from the state as it is, into memory that is there.
    ///
    /// # Errors
    /// Where the step itself fails.
    fn respond(&mut self, out: &mut Response) -> Result<(), PlantError>;

    /// The map of the next step from the state as it is.
    ///
    /// # Errors
    /// Where the step itself fails.
    fn response(&mut self) -> Result<Response, PlantError> {
        let mut out = Response::default();
        self.respond(&mut out)?;
        Ok(out)
    }

    /// Moves on by one step.
    ///
    /// # Errors
    /// A wrong number of commands, commands that are not finite, a step that fails; the state
    /// stays.
    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError>;
}

/// What [`Kinematics::respond_to`] puts together.
#[derive(Clone, Debug, Default)]
pub struct ResponseMemory {
    own: Response,
    answers: Matrix,
}

impl ResponseMemory {
    /// Commands first, then forces.
    pub(super) fn one_after_the_other<P: Kinematics + ?Sized>(
        &mut self,
        plant: &mut P,
        forces: &Matrix,
        out: &mut Response,
    ) -> Result<(), PlantError> {
        let Self { own, answers } = self;
        plant.respond(own)?;
        let (n, m) = (own.free.len(), own.gain.columns());
        if (answers.rows(), answers.columns()) != (forces.rows(), n) {
            *answers = Matrix::zeros(forces.rows(), n);
        }
        plant.answer(forces, answers)?;
        out.resize(n, m + forces.rows());
        out.free.copy_from_slice(&own.free);
        for i in 0..n {
            let row = out.gain.row_mut(i);
            row[..m].copy_from_slice(own.gain.row(i));
            row[m..].iter_mut().enumerate().for_each(|(k, x)| *x = answers[(k, i)]);
        }
        Ok(())
    }
}

/// A plant whose frames and coordinates are known, so that tasks can ask for them.
///
/// Rows are linear forms over the plant's rates, at the pose before the step.
pub trait Kinematics: Plant {
    /// Length of a step, s.
    fn step_length(&self) -> f64;

    /// Rates of the state; as many as those of a response.
    fn rates(&self) -> &[f64];

    /// Links that frames may be in, the ground first.
    fn link_count(&self) -> usize;

    /// World pose of a frame; its body twist per rate (6 × rates) into `rows`.
    ///
    /// # Panics
    /// If there is no such link.
    fn frame(&self, frame: &Frame, rows: &mut Matrix) -> Pose;

    /// The mechanism whose joints and masses tasks may name; `None` where only frames are known.
    fn mechanism(&self) -> Option<&Mechanism>;

    /// Position of a joint with one tree coordinate (rad or m), its rate per rate into `row`; 0
    /// where there is no mechanism.
    fn joint(&self, joint: JointId, row: &mut [f64]) -> f64;

    /// Number of coordinates that objectives weigh.
    fn coordinate_count(&self) -> usize;

    /// The rate of a coordinate per rate.
    fn coordinate(&self, coordinate: usize, row: &mut [f64]);

    /// What generalised forces (rows over the rates, dual to them; N or N·m) that act all through
    /// the next step add to the rates at its end, row by row into `out`, of the same size. To be
    /// asked after [`Plant::respond`].
    ///
    /// # Errors
    /// Where the step itself fails.
    fn answer(&mut self, forces: &Matrix, out: &mut Matrix) -> Result<(), PlantError>;

    /// The response to commands, and to forces as those of [`Self::answer`] as its last columns.
    ///
    /// # Errors
    /// Where the step itself fails.
    fn respond_to(
        &mut self,
        forces: &Matrix,
        memory: &mut ResponseMemory,
        out: &mut Response,
    ) -> Result<(), PlantError> {
        memory.one_after_the_other(self, forces, out)
    }

    /// Mass over the rates: the kinetic energy is half of uᵀ M u.
    fn mass(&self) -> Matrix;

    /// Centre of mass of all moving links, world, m, and its velocity per rate in world axes
    /// (3 × rates); `None` without a mechanism or without mass.
    fn centre_of_mass(&self, rows: &mut Matrix) -> Option<DVec3> {
        let m = self.mechanism()?;
        let n = self.rates().len();
        let mut one = Matrix::zeros(6, n);
        let (mut mass, mut centre) = (0.0, DVec3::ZERO);
        rows.as_mut_slice().fill(0.0);
        for (link, l) in m.moving_links().filter(|(_, l)| l.inertia.mass > 0.0) {
            if m.forest().path_to_ground(link).all(|e| m.joint(e.joint).dof() == 0) {
                continue;
            }
            let body = &l.inertia;
            let link_from_frame = Pose::from_translation(body.center_of_mass);
            let pose = self.frame(&Frame { link, link_from_frame }, &mut one);
            mass += body.mass;
            centre += pose.translation * body.mass;
            for k in 0..n {
                let v = DVec3::new(one[(0, k)], one[(1, k)], one[(2, k)]);
                let v = (pose.rotation * v * body.mass).to_array();
                (0..3).for_each(|i| rows[(i, k)] += v[i]);
            }
        }
        if mass <= 0.0 {
            return None;
        }
        rows.as_mut_slice().iter_mut().for_each(|x| *x /= mass);
        Some(centre / mass)
    }
}
