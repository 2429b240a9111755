//! A mechanism with tissue as an affine map from forces to rates at the end of a step.

use forks_control::{
    plant::{Kinematics, Plant, PlantError, Response, TreeFrames, check, check_commands},
    task::Frame,
};
use forks_deform::{
    Commands, SoftError, SoftSimulation, StepReport,
    dynamics::{
        mass_matrix,
        mechanism::{JointId, Mechanism, lie::Pose, linalg::Matrix},
    },
};

/// Skeleton and tissue in motion by linearly implicit steps, with forces on coordinates of the
/// skeleton as commands. Its rates are the skeleton's velocities.
///
/// The map is that of the step's own matrix, from which the tissue is eliminated: exact to rounding
/// for a step that is not divided, and before momentum of a free root is corrected. The step that
/// follows a response uses its matrix again.
#[derive(Clone, Debug)]
pub struct TissuePlant {
    simulation: SoftSimulation,
    h: f64,
    commanded: Vec<usize>,
    frames: TreeFrames,
    /// Velocities per force of the last response.
    gain: Matrix,
    forces: Vec<f64>,
    report: Option<StepReport>,
}

impl TissuePlant {
    /// As a simulation is, with steps of `h` (s) and forces (N or N·m) of these velocity
    /// coordinates as commands, beside springs and dampers.
    ///
    /// # Errors
    /// Coordinates that are not there or commanded twice, a step that is not positive.
    pub fn new(
        simulation: SoftSimulation,
        commanded: &[usize],
        h: f64,
    ) -> Result<Self, PlantError> {
        let n = simulation.state().v.len();
        check_commands(h, commanded.iter().copied(), n)?;
        let (gain, forces) = (Matrix::zeros(n, n), vec![0.0; n]);
        let commanded = commanded.to_vec();
        let frames = TreeFrames::new(n);
        let mut out = Self { simulation, h, commanded, frames, gain, forces, report: None };
        out.look();
        Ok(out)
    }

    /// The state.
    pub fn simulation(&self) -> &SoftSimulation {
        &self.simulation
    }

    /// What the last step took; one that was divided is not the one that was mapped.
    pub fn report(&self) -> Option<StepReport> {
        self.report
    }

    /// Frames in the state.
    fn look(&mut self) {
        let s = &self.simulation;
        self.frames.place(s.mechanism(), &s.state().q, s.link_poses());
    }
}

fn said(e: &SoftError) -> PlantError {
    PlantError::Other(e.to_string())
}

impl Plant for TissuePlant {
    fn command_count(&self) -> usize {
        self.commanded.len()
    }

    fn respond(&mut self, out: &mut Response) -> Result<(), PlantError> {
        let found = self.simulation.response(self.h, &Commands::default()).map_err(|e| said(&e))?;
        let commanded = &self.commanded;
        out.gain = Matrix::from_fn(found.free.len(), commanded.len(), |i, j| {
            found.gain[(i, commanded[j])]
        });
        (out.free, self.gain) = (found.free, found.gain);
        Ok(())
    }

    fn step(&mut self, commands: &[f64]) -> Result<(), PlantError> {
        check(["command", "commands"], commands, self.commanded.len())?;
        self.forces.fill(0.0);
        self.commanded.iter().zip(commands).for_each(|(c, z)| self.forces[*c] = *z);
        let commands = Commands { forces: &self.forces, ..Commands::default() };
        self.report = Some(self.simulation.step(self.h, &commands).map_err(|e| said(&e))?);
        self.look();
        Ok(())
    }
}

impl Kinematics for TissuePlant {
    fn step_length(&self) -> f64 {
        self.h
    }

    fn rates(&self) -> &[f64] {
        &self.simulation.state().v
    }

    fn link_count(&self) -> usize {
        self.simulation.link_poses().len()
    }

    fn frame(&self, frame: &Frame, rows: &mut Matrix) -> Pose {
        let s = &self.simulation;
        self.frames.frame(s.mechanism(), s.link_poses(), frame, rows)
    }

    fn mechanism(&self) -> Option<&Mechanism> {
        Some(self.simulation.mechanism())
    }

    fn joint(&self, joint: JointId, row: &mut [f64]) -> f64 {
        let m = self.simulation.mechanism();
        row.fill(0.0);
        row[m.velocity_range(joint).start] = 1.0;
        self.simulation.state().q[m.position_range(joint).start]
    }

    fn coordinate_count(&self) -> usize {
        self.rates().len()
    }

    fn coordinate(&self, coordinate: usize, row: &mut [f64]) {
        row.fill(0.0);
        row[coordinate] = 1.0;
    }

    fn answer(&mut self, forces: &Matrix, out: &mut Matrix) -> Result<(), PlantError> {
        // Symmetric.
        *out = forces.mul(&self.gain);
        Ok(())
    }

    /// That of the links and of the nodes in them; free nodes are no rates.
    fn mass(&self) -> Matrix {
        mass_matrix(self.simulation.mechanism(), &self.simulation.state().q)
    }
}
