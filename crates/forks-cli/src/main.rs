//! The `forks` program: inspects, reduces and solves compliant mechanisms from model files.
//!
//! Results go to stdout, as text for people or as one line of JSON; an error is one sentence on
//! stderr with exit code 1. Exit code 2 means that the arguments were wrong.

mod args;
mod at_rest;
mod blend;
mod blend_args;
mod command;
mod compare;
mod compare_args;
mod control;
mod dynamics;
mod error;
mod inspect;
mod inspect_springs;
mod inspect_text;
mod joint_names;
mod link_load;
mod model;
mod mujoco;
mod output;
mod parse;
mod path_notes;
mod play;
mod play_args;
mod pose;
mod pose_args;
mod progress;
mod quasistatic;
mod quasistatic_args;
mod quasistatic_tally;
mod read_args;
mod reduce;
mod released;
mod scene;
mod simulate;
mod simulate_args;
mod simulate_bound;
mod simulate_reduced;
mod soft;
mod statics;
mod tissue;
mod view;
mod view_args;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use command::{Cli, Command};

fn main() -> ExitCode {
    let result = match arguments().command {
        Command::Blend(a) if scene::is_scene(&a.model.path) => soft::blend(&a),
        Command::Blend(a) => blend::run(&a),
        Command::Compare(a) => compare::run(&a),
        Command::Control(a) => control::run(&a),
        Command::Dynamics(a) => dynamics::run(&a),
        Command::Inspect(a) => inspect::run(&a),
        Command::Play(a) => play::run(&a),
        Command::Pose(a) => pose::run(&a),
        Command::Quasistatic(a) => quasistatic::run(&a),
        Command::Reduce(a) if scene::is_scene(&a.model.path) => soft::reduce(&a),
        Command::Reduce(a) => reduce::run(&a),
        Command::Simulate(a) => simulate::run(&a),
        Command::Tissue(a) => tissue::run(&a),
        Command::View(a) => view::run(&a),
        Command::Statics(a) => statics::run(&a),
    };
    result.unwrap_or_else(|e| output::fail(&e))
}

/// The arguments, checked; ends the program where they are wrong.
fn arguments() -> Cli {
    let mut command = Cli::command();
    let matches = command.get_matches_mut();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.format(&mut command).exit());
    if let Some((name, of)) = matches.subcommand()
        && let Some(command) = command.find_subcommand_mut(name)
    {
        let checked = match &cli.command {
            Command::Simulate(a) => simulate_args::check(a, of, command),
            Command::Reduce(a) if scene::is_scene(&a.model.path) => {
                simulate_args::only(soft::KNOWN, of, command)
            }
            Command::Blend(a) if scene::is_scene(&a.model.path) => {
                simulate_args::only(soft::KNOWN_TO_BLEND, of, command)
            }
            Command::Inspect(a) if scene::is_scene(&a.model.path) => {
                simulate_args::only(&["path", "json"], of, command)
            }
            _ => Ok(()),
        };
        checked.unwrap_or_else(|e| e.exit());
    }
    cli
}
