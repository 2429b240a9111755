//! The commands.

use clap::{Parser, Subcommand};

use crate::{
    args::{DynamicsArgs, InspectArgs, ReduceArgs, StaticsArgs},
    blend_args::BlendArgs,
    compare_args::CompareArgs,
    control::ControlArgs,
    play_args::PlayArgs,
    pose_args::PoseArgs,
    quasistatic_args::QuasistaticArgs,
    simulate_args::SimulateArgs,
    tissue::TissueArgs,
    view_args::ViewArgs,
};

/// Reduced models of compliant articulated mechanisms.
///
/// Quantities are in SI units and radians. Twists and wrenches have their linear part first.
#[derive(Debug, Parser)]
#[command(name = "forks", version, about, long_about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build a blend of reduced models that keeps to tolerances for forces in a cone
    Blend(BlendArgs),
    /// Set the full solver beside all that a model can be reduced to: time of a step, errors,
    /// frequencies, and which of them to take
    Compare(CompareArgs),
    /// Show links, joints, loops and mobility of a model, or what a scene is made of, and what of
    /// the file is not represented exactly
    Inspect(InspectArgs),
    /// Play keyframes of joints while physics moves the rest, and say what forces that takes
    Play(PlayArgs),
    /// Find a pose in which links are where they are dragged to, while others are pinned, loops
    /// stay closed and limits hold
    Pose(PoseArgs),
    /// Follow the equilibrium while loads on links grow; only joints that matter are computed, to a
    /// certified error. For mechanisms of very many links
    Quasistatic(QuasistaticArgs),
    /// Reduce a model to its end effectors: rank, compliance, mass, frequencies, maps to every link
    Reduce(ReduceArgs),
    /// Solve the static equilibrium under a wrench on a link, and compare the reduced model with it
    Statics(StaticsArgs),
    /// Accelerations in a state, with mass matrix, bias forces and energy, in MuJoCo's coordinates
    /// (URDF: in the order of --order)
    Dynamics(DynamicsArgs),
    /// Find the commands that bring tasks about, by priority and within limits: drag a link, hold
    /// another; then move on with them
    Control(ControlArgs),
    /// Let a model move under gravity, springs and dampers, or run a scene with contact; record it
    Simulate(SimulateArgs),
    /// Show what the tissue of a scene is worth: quality of its elements, masses, bones,
    /// frequencies, the longest explicit step, how much elements lock
    Tissue(TissueArgs),
    /// Show a model, a scene or a reduced model in the browser, in motion: pull it, pin it, drive
    /// it, rewind it, reduce it beside itself
    View(ViewArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
