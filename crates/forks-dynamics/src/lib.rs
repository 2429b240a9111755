//! Statics and linearised dynamics of articulated mechanisms with loops: the full reference solver.
//!
//! # Conventions
//! - SI units, radians, `f64`; twists and wrenches have their linear part first, in the body's own
//!   frame.
//! - Positions `q`, velocities `v` and loop equations are laid out as in [`forks_mechanism`]: tree
//!   joints first, then loop-closing joints; six rows per closing joint in its child's frame, then
//!   couplings.
//! - Generalised forces f do the work f · v. Multipliers have the sign f + Gᵀλ = 0.
//! - Functions that need link poses take `world_from_link` from `Mechanism::link_poses(q)`.
//! - Servos are ignored; [`forks_mechanism::Preparation`] turns them into springs.
#![doc = include_str!("../README.md")]

mod adaptive;
mod algebra;
mod branches;
mod branching;
mod constrained;
mod constraint_space;
mod dca;
mod energy;
mod equilibrium;
mod explanation;
mod frontal;
mod integrate;
mod loads;
mod logarithm;
mod mass;
mod modes;
mod newton;
mod passive;
mod phases;
mod scaling;
mod search;
mod springs;
mod stability;
mod stage;
mod tangent;
mod tree;
pub use adaptive::{
    AdaptiveCounters, AdaptiveError, AdaptiveOptions, AdaptivePlan, AdaptiveResult, AdaptiveState,
    AdaptiveStatus, AdaptiveStep, ErrorMeasure, Springs, Target,
};
pub use constrained::{
    ConstrainedDynamics, ConstrainedWorkspace, DynamicsStatus, Energy, Projection,
    ProjectionStatus, Solution,
};
pub use dca::{
    ClosingOrder, DcaError, DcaInput, DcaPlan, DcaSettings, DcaStatus, DcaWorkspace, dca, dca_with,
};
pub use energy::{elastic_energy, generalized_forces, gravitational_energy, potential_energy};
pub use equilibrium::{
    Algebra, Equilibrium, EquilibriumOptions, EquilibriumStatus, LoadPath, PathEvent,
    PathEventKind, continue_equilibrium, solve_equilibrium,
};
pub use forks_mechanism as mechanism;
pub use integrate::{
    ImpulseStepper, Integrator, Simulation, SimulationOptions, SimulationStatistics, State,
    StepStatus,
};
pub use loads::{AppliedWrench, Loads, WrenchFrame};
pub use mass::mass_matrix;
pub use modes::{
    Modes, admissible_motions, effective_inverse_mass, lowest_frequencies, modes, unloaded_modes,
};
pub use passive::{PassiveWorkspace, passive_forces};
pub use springs::{
    bushing_energy, bushing_gradient_and_hessian, joint_energy, joint_gradient, joint_hessian,
};
pub use tangent::{body_axes_derivative, tangent_stiffness};
pub use tree::{
    AbaWorkspace, AccelerationDerivatives, CrbaWorkspace, DerivativeWorkspace, DynamicsError,
    LinkLoads, RneaWorkspace, Tree, aba, acceleration_derivatives, bias, crba, hybrid, rnea,
};
