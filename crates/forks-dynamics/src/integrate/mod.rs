//! Time integration on the manifold of closed loops.

mod adaptive;
mod blocks;
mod columns;
mod coordinates;
mod explicit;
mod guarded;
mod halves;
mod implicit;
mod impulses;
mod linearised;
mod motions;
mod simulation;
mod state;
mod statistics;
mod stiff_rows;
mod sweep;
mod symmetric;
mod work;

pub(crate) use coordinates::advance;
pub use impulses::ImpulseStepper;
pub use simulation::{Integrator, Simulation, SimulationOptions};
pub use state::{SimulationState, SimulationStatus};
pub use statistics::SimulationStatistics;
