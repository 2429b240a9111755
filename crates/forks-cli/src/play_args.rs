//! Arguments of `forks play`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use forks_control::playback::Scheme;

use crate::{args::ModelOptions, parse::duration};

/// Arguments of `forks play`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(crate) model: ModelOptions,

    /// Keyframes of joints: a TOML file with a table [[joint]] for each: name, times (s; or once
    /// for all, before the tables) and keys; method, degree, ends, start, end and warp if wanted
    #[arg(value_name = "KEYS.toml")]
    pub(crate) keys: PathBuf,

    /// How long, s; by itself to the last key
    #[arg(long, value_name = "T", value_parser = duration)]
    pub(crate) time: Option<f64>,

    /// Length of a step, s
    #[arg(long, value_name = "H", value_parser = duration, default_value = "0.004")]
    pub(crate) step: f64,

    /// Scheme of integration of the joints that have no keys
    #[arg(long, value_enum, default_value_t = SchemeChoice::Implicit)]
    pub(crate) integrator: SchemeChoice,

    /// The curves begin at the start state and its velocities instead of the first keys
    #[arg(long)]
    pub(crate) from_state: bool,

    /// Servos of joints without keys act as springs and dampers that rest at the start state;
    /// otherwise they are left out
    #[arg(long)]
    pub(crate) servos: bool,

    /// Write poses of all links and the forces on the joints with keys: a 3D page (.html), glTF
    /// (.glb), JSON or CSV, by the name's ending; repeatable
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}

/// How steps are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeChoice {
    /// Linearly implicit: any mechanism
    Implicit,
    /// Semi-implicit Euler: trees
    SemiImplicitEuler,
}

impl SchemeChoice {
    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Implicit => "implicit",
            Self::SemiImplicitEuler => "semi-implicit-euler",
        }
    }
}

impl From<SchemeChoice> for Scheme {
    fn from(c: SchemeChoice) -> Self {
        match c {
            SchemeChoice::Implicit => Self::Implicit,
            SchemeChoice::SemiImplicitEuler => Self::Explicit,
        }
    }
}
