//! Arguments of `forks compare`.

use clap::Args;

use crate::{
    args::{ModelOptions, SpringOptions},
    parse::{count, duration},
};

/// Arguments of `forks compare`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    #[command(flatten)]
    pub(crate) springs: SpringOptions,

    /// End effectors: link names, or site:NAME for the frame of a site. Default: those of the side
    /// file
    #[arg(long, num_args = 1.., value_name = "LINK")]
    pub(crate) effector: Vec<String>,

    /// Relative displacement of an effector up to which forces in all directions move it: 1 is the
    /// mechanism's size, or half a turn
    #[arg(long, value_name = "D", value_parser = duration, default_value = "0.3")]
    pub(crate) range: f64,

    /// Largest constraint error that is good enough: gaps at joints and effectors over the
    /// mechanism's size
    #[arg(long, value_name = "E", value_parser = duration, default_value = "0.01")]
    pub(crate) tolerance: f64,

    /// Largest static error that is good enough: of an effector over its displacement
    #[arg(long, value_name = "E", value_parser = duration, default_value = "0.02")]
    pub(crate) static_tolerance: f64,

    /// Number of loads at which errors are measured
    #[arg(long, value_name = "N", value_parser = count, default_value = "32")]
    pub(crate) loads: usize,

    /// Largest number of linearisation points of the blend
    #[arg(long, value_name = "N", value_parser = count, default_value = "8")]
    pub(crate) samples: usize,

    /// Seconds after which the blend is the best that was found
    #[arg(long, value_name = "S", value_parser = duration, default_value = "60")]
    pub(crate) time_limit: f64,

    /// Modes of the Craig-Bampton model besides its static shapes
    #[arg(long, value_name = "N", value_parser = count, default_value = "6")]
    pub(crate) modes: usize,

    /// Instances of the batch
    #[arg(long, value_name = "N", value_parser = count, default_value = "1024")]
    pub(crate) instances: usize,

    /// Length of the steps that are timed, s
    #[arg(long, value_name = "H", value_parser = duration, default_value = "0.001")]
    pub(crate) step: f64,

    /// Let gravity act
    #[arg(long)]
    pub(crate) gravity: bool,
}
