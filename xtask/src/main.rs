//! `cargo xtask`: the commands of this repository, the same for people and for CI.

mod bench;
mod ci;
mod features;
mod finger;
mod linkages;
mod svg;
mod sweep;
mod tidy;
mod validate;
mod words;

use std::{path::Path, process::ExitCode};

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The commands of this repository")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the rules that no compiler knows: layers, licences, docs, sizes, provenance
    Tidy(tidy::TidyArgs),
    /// Check everything reduced against everything full, on the scenarios in fixtures/scenarios
    Validate(validate::ValidateArgs),
    /// Measure times, next to those of other programs with --peers; runs itself in release mode
    Bench(bench::BenchArgs),
    /// Compare every MJCF and URDF file below some folders with MuJoCo and Pinocchio (needs Python)
    Sweep(sweep::SweepArgs),
    /// Check every published crate alone, with and without each of its features
    Features,
    /// Run everything that CI runs, in the same order (.ci/run)
    Ci,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Tidy(args) => tidy::run(root(), &args),
        Command::Validate(args) => validate::run(root(), &args),
        Command::Bench(args) => bench::run(root(), &args),
        Command::Sweep(args) => sweep::run(root(), &args),
        Command::Features => features::run(root()),
        Command::Ci => ci::run(root()),
    }
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository's root")
}
