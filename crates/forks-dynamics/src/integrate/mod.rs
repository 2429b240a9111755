//! Time integration on the manifold of closed loops.

mod adaptive;
mod columns;
mod coordinates;
mod explicit;
mod implicit;
mod linearised;
mod simulation;
mod state;
mod stiff_rows;

pub(crate) use coordinates::advance;
pub use simulation::{Integrator, Simulation, SimulationOptions, SimulationStatistics};
pub use state::{State, StepStatus};
