//! Arguments of `forks quasistatic`.

use std::path::PathBuf;

use clap::Args;

use crate::{
    args::{FrameChoice, ModelOptions},
    link_load::LinkLoad,
    parse::{coefficient, count, duration, stiffness},
};

/// Arguments of `forks quasistatic`.
#[derive(Clone, Debug, Args)]
pub(crate) struct QuasistaticArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// A load: force (N) and torque (N·m) at the origin of a link, or of the frame of a site
    /// (site:NAME); repeat it for further links. The first link's tree is held at its root where
    /// nothing else holds it
    #[arg(
        long = "force",
        required = true,
        value_name = "LINK=fx,fy,fz[,tx,ty,tz]",
        allow_hyphen_values = true
    )]
    pub(crate) loads: Vec<LinkLoad>,

    /// Axes in which loads keep their components while the links move; in world axes a force acts
    /// at the origin of its link
    #[arg(long, value_enum, default_value_t = FrameChoice::World)]
    pub(crate) frame: FrameChoice,

    /// Largest certified error of a step: the largest acceleration of a joint that is left out,
    /// over the largest of all; 0 computes every joint
    #[arg(long, value_name = "E", value_parser = coefficient, default_value = "0.01")]
    pub(crate) tolerance: f64,

    /// Number of equal steps in which the loads are brought up, after gravity and spring preloads
    #[arg(long, value_name = "N", value_parser = count, default_value = "10")]
    pub(crate) load_steps: usize,

    /// Length of a step towards the equilibrium, s; halved where the mechanism swings away from it
    #[arg(long, value_name = "H", value_parser = duration, default_value = "1")]
    pub(crate) step: f64,

    /// Largest number of steps towards the equilibrium of one load step
    #[arg(long, value_name = "N", value_parser = count, default_value = "2000")]
    pub(crate) iterations: usize,

    /// An equilibrium is reached where the steps to come would move all joints together by less
    /// than this, rad and m
    #[arg(long, value_name = "D", value_parser = duration, default_value = "1e-8")]
    pub(crate) settled: f64,

    /// Leave out gravity
    #[arg(long)]
    pub(crate) no_gravity: bool,

    /// Give this stiffness to every coordinate of a non-free joint that has neither spring nor
    /// servo (N/m or N·m/rad)
    #[arg(long, value_name = "K", value_parser = stiffness, allow_hyphen_values = true)]
    pub(crate) default_stiffness: Option<f64>,

    /// Leave out servos; otherwise they are springs that rest at the start state
    #[arg(long)]
    pub(crate) no_servos: bool,

    /// Write the path as CSV: one row per load step, with the poses of the loaded links
    #[arg(short, long, value_name = "FILE.csv")]
    pub(crate) output: Option<PathBuf>,

    /// Write the poses of all links
    #[arg(long, requires = "output")]
    pub(crate) all_links: bool,
}
