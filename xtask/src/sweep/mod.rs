//! `cargo xtask sweep`: every MJCF and URDF file below some folders, read by us and by MuJoCo and Pinocchio.
//!
//! A file's verdict: `agrees`; `noted`, everything that is compared agrees and the reader has notes on what it does not hold
//! exactly; `alone`, nobody else reads it, so that nothing is compared; `refused`, we do not read it; `differs`; `skipped`, it is no
//! model by itself.

mod compare;
#[path = "../../../crates/forks-cli/src/mujoco.rs"]
#[allow(dead_code, reason = "the program's own module, of which one part is used here")]
mod coordinates;
mod facts;
mod find;
mod judge;
mod ours;
mod packages;
mod record;
mod rivals;
// A number that is not one is within no bound.
#[allow(clippy::neg_cmp_op_on_partial_ord)]
mod states;
#[cfg(test)]
mod tests;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use find::{Found, FoundKind};
use record::{Entry, Record, Verdict};
use rivals::{Rivals, Task};

/// Arguments of `cargo xtask sweep`.
#[derive(Args)]
pub(crate) struct SweepArgs {
    /// Folders with models, or model files
    #[arg(value_name = "DIR", required_unless_present = "packages")]
    places: Vec<PathBuf>,

    /// Sweep Python packages with models: a file with lines NAME==VERSION; they are installed below target/sweep
    #[arg(long, value_name = "FILE")]
    packages: Option<PathBuf>,

    /// Seed of the random poses and velocities
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Write the verdicts to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the verdicts to this file as a table
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Compares; exit code 1 if something differs.
pub(crate) fn run(root: &Path, args: &SweepArgs) -> ExitCode {
    match sweep(root, args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn sweep(root: &Path, args: &SweepArgs) -> Result<bool, String> {
    let mut found = Vec::new();
    for place in &args.places {
        found.extend(find::models(place, None)?);
    }
    if let Some(list) = &args.packages {
        for (package, folder) in packages::install(root, list)? {
            found.extend(find::models(&folder, Some(&package))?);
        }
    }
    let record = compare_files(root, &found, args.seed)?;
    record.save(args.json.as_deref(), args.csv.as_deref())?;
    println!("\n{}", record.summary());
    Ok(record.count(Verdict::Differs) == 0)
}

/// Compares the files one by one, prints a line for each, and returns all lines.
fn compare_files(root: &Path, found: &[Found], seed: u64) -> Result<Record, String> {
    let tasks = found.iter().filter_map(|f| match f.kind {
        FoundKind::Model(format) => Some(Task { path: f.path.clone(), format, seed }),
        FoundKind::Fragment(_) => None,
    });
    let mut rivals = Rivals::new(root, tasks)?;
    let included = find::included(found);
    let bar = progress_bar(found.len());
    let mut record = Record::default();
    // A panic is a verdict; its text goes there.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for f in found {
        bar.set_message(record::short(&f.path));
        let entry = match &f.kind {
            FoundKind::Fragment(reason) => Entry::new(f, Verdict::Skipped, reason.clone()),
            FoundKind::Model(format) => {
                judge::judge(f, *format, included.contains(&f.path), rivals.next())
            }
        };
        bar.suspend(|| println!("{}", entry.line()));
        record.push(entry);
        bar.inc(1);
    }
    std::panic::set_hook(hook);
    bar.finish_and_clear();
    Ok(record)
}

/// A progress bar on a terminal, nothing elsewhere.
fn progress_bar(count: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    bar.set_style(style.expect("a valid template"));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
