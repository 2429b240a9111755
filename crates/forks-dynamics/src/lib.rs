//! Statics
mod branches;
mod constraint_space;
mod energy;
mod equilibrium;
mod loads;
mod logarithm;
mod mass;
mod modes;
mod newton;
mod scaling;
mod springs;
mod stability;
mod stage;
mod tangent;
pub use energy::{elastic_energy, generalized_forces, gravitational_energy, potential_energy};
pub use equilibrium::{
    Equilibrium, EquilibriumOptions, EquilibriumStatus, LoadPath, continue_equilibrium,
    solve_equilibrium,
};
pub use forks_mechanism as mechanism;
pub use loads::{AppliedWrench, Loads, WrenchFrame};
pub use mass::mass_matrix;
pub use modes::{Modes, admissible_motions, effective_inverse_mass, modes, unloaded_modes};
pub use springs::{
    bushing_energy, bushing_gradient_and_hessian, joint_energy, joint_gradient, joint_hessian,
};
pub use tangent::{body_axes_derivative, tangent_stiffness};
