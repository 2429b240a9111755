//! Skeleton and tissue in motion, and at rest.

mod backward_euler;
mod border;
mod bounded;
mod commands;
mod energy;
mod linearly_implicit;
mod mixed_euler;
mod momentum;
mod prepared;
mod root;
mod state;
mod statics;
mod stepper;
mod tempered;
mod touch;

pub use border::Border;
pub use commands::Commands;
pub use energy::SoftEnergy;
pub use prepared::StepResponse;
pub use state::SoftState;
pub use statics::{StaticsOptions, StaticsReport, StaticsStatus};
pub use stepper::{
    Coordinates, Momentum, SoftOptions, SoftSimulation, StepReport, StepStatus, Stepper,
};
pub use touch::{FreeStep, Obstacles, Place};
