//! Arguments of `forks view`.

use std::{net::IpAddr, path::PathBuf};

use clap::Args;

use crate::{
    args::{ModelOptions, StateSource},
    parse::duration,
    read_args::ReadOptions,
};

/// Arguments of `forks view`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ViewArgs {
    /// An MJCF or URDF file, a scene (TOML), or a file of `forks reduce -o` or `forks blend -o`
    #[arg(value_name = "MODEL|SCENE.toml|REDUCED")]
    pub(crate) path: PathBuf,

    /// Start state of a model: a JSON file {"qpos": [...], "qvel": [...]}, or key:NAME
    #[arg(long, value_name = "FILE.json|key:NAME")]
    pub(crate) state: Option<StateSource>,

    /// Length of a step of models, s; scenes have their own
    #[arg(long, value_name = "H", value_parser = duration, default_value = "0.002")]
    pub(crate) step: f64,

    /// Let a model fall that nothing holds; otherwise its root stays where it is
    #[arg(long)]
    pub(crate) fall: bool,

    /// Step scenes with all joints by the full solver
    #[arg(long)]
    pub(crate) full: bool,

    /// Port of the server; 0 for any that is free
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) port: u16,

    /// Interface of the server. Others than the loopback let everybody who knows the token in
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) interface: IpAddr,

    /// Open the address in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// Begin in motion
    #[arg(long)]
    pub(crate) play: bool,

    #[command(flatten)]
    pub(crate) read: ReadOptions,
}

impl ViewArgs {
    /// What is needed to load a full model.
    pub(crate) fn model(&self) -> ModelOptions {
        let (path, state) = (self.path.clone(), self.state.clone());
        ModelOptions { path, state, json: false, read: self.read.clone() }
    }
}
