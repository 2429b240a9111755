//! The `forks` program: inspects, reduces and solves compliant mechanisms from model files.
//!
//! Results go to stdout, as text for people or as one line of JSON; an error is one sentence on stderr
//! with exit code 1. Exit code 2 means that the arguments were wrong.

mod args;
mod blend;
mod blend_args;
mod dynamics;
mod error;
mod inspect;
mod inspect_springs;
mod inspect_text;
mod instance;
mod model;
mod mujoco;
mod output;
mod read_args;
mod reduce;
mod simulate;
mod simulate_reduced;
mod statics;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Blend(a) => blend::run(&a),
        Command::Dynamics(a) => dynamics::run(&a),
        Command::Inspect(a) => inspect::run(&a),
        Command::Reduce(a) => reduce::run(&a),
        Command::Simulate(a) => simulate::run(&a),
        Command::Statics(a) => statics::run(&a),
    };
    result.unwrap_or_else(|e| output::fail(&e))
}
