//! `cargo xtask sweep`: every MJCF and URDF file below some folders, read by us and by MuJoCo and
//! Pinocchio.
//!
//! A file's verdict: `agrees`; `noted`, everything that is compared agrees and the reader has notes
//! on what it does not hold exactly; `alone`, nobody else reads it, so that nothing is compared;
//! `refused`, we do not read it; `differs`; `skipped`, it is no model by itself.

mod compare;
#[path = "../../../crates/forks-cli/src/mujoco.rs"]
#[allow(dead_code, reason = "the program's own module, of which one part is used here")]
mod coordinates;
mod drives;
mod facts;
mod find;
mod generate;
mod judge;
mod near;
mod ours;
mod packages;
mod places;
mod record;
mod rivals;
// A number that is not one is within no bound.
#[allow(clippy::neg_cmp_op_on_partial_ord)]
mod states;
#[cfg(test)]
mod tests;
mod verdict;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use find::{Found, FoundKind};
use record::{Entry, Record};
use rivals::{Rivals, Task};
use verdict::Verdict;

/// Arguments of `cargo xtask sweep`.
#[derive(Args)]
pub(crate) struct SweepArgs {
    /// Folders with models, or model files
    #[arg(value_name = "DIR", required_unless_present_any = ["packages", "generate"])]
    places: Vec<PathBuf>,

    /// Sweep Python packages with models: a file with lines NAME==VERSION; they are installed below
    /// target/sweep
    #[arg(long, value_name = "FILE")]
    packages: Option<PathBuf>,

    /// Compare this many generated MJCF files with one or two features each, instead of files below
    /// folders
    #[arg(long, value_name = "N", conflicts_with_all = ["places", "packages"])]
    generate: Option<usize>,

    /// Seed of the random poses and velocities, and of generated files
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
    if let Some(count) = args.generate {
        return sweep_generated(root, args, count);
    }
    let mut found = Vec::new();
    for place in &args.places {
        found.extend(find::models(place, None)?);
    }
    if let Some(list) = &args.packages {
        for (package, folder) in packages::install(root, list)? {
            found.extend(find::models(&folder, Some(&package))?);
        }
    }
    let mut record = Record::default();
    compare_files(root, &found, args.seed, |_, entry| {
        let line = entry.line();
        record.push(entry);
        Some(line)
    })?;
    record.save(args.json.as_deref(), args.csv.as_deref())?;
    println!("\n{}", record.summary());
    Ok(record.count(Verdict::Differs) == 0)
}

/// As [`sweep`], on generated files.
fn sweep_generated(root: &Path, args: &SweepArgs, count: usize) -> Result<bool, String> {
    let generated = generate::generate(root, count, args.seed)?;
    let (mut record, mut verdicts) = (Record::default(), Vec::new());
    compare_files(root, &generated.found, args.seed, |number, entry| {
        let entry = generated.expect(number, entry);
        verdicts.push(entry.verdict);
        // What agrees is in the counts.
        let told = matches!(entry.verdict, Verdict::Differs | Verdict::Refused);
        let line = told.then(|| entry.line());
        if told {
            record.push(entry);
        }
        line
    })?;
    let coverage = generated.coverage(&verdicts);
    let count = |v: Verdict| verdicts.iter().filter(|x| **x == v).count();
    let run = record::GeneratedRun {
        seed: args.seed,
        files: verdicts.len(),
        agrees: count(Verdict::Agrees),
        noted: count(Verdict::Noted),
        refused: count(Verdict::Refused),
        differs: count(Verdict::Differs),
        coverage: &coverage,
        record: &record,
    };
    if let Some(path) = &args.json {
        forks_io::json::save(path, &run).map_err(|e| e.to_string())?;
    }
    if let Some(path) = &args.csv {
        coverage.pairs()?.save(path).map_err(|e| e.to_string())?;
    }
    println!("\n{}\n{}", coverage.summary(), run.summary());
    Ok(run.differs == 0)
}

/// Compares the files one by one; `finish` takes the number and the verdict of each and gives the
/// line to print.
fn compare_files(
    root: &Path,
    found: &[Found],
    seed: u64,
    mut finish: impl FnMut(usize, Entry) -> Option<String>,
) -> Result<(), String> {
    let tasks = found.iter().filter_map(|f| match f.kind {
        FoundKind::Model(format) => Some(Task { path: f.path.clone(), format, seed }),
        FoundKind::Fragment(_) => None,
    });
    let mut rivals = Rivals::new(root, tasks)?;
    let included = find::included(found);
    let bar = progress_bar(found.len());
    // A panic is a verdict; its text goes there.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for (number, f) in found.iter().enumerate() {
        bar.set_message(record::short(&f.path));
        let entry = match &f.kind {
            FoundKind::Fragment(reason) => Entry::new(f, Verdict::Skipped, reason.clone()),
            FoundKind::Model(format) => {
                judge::judge(f, *format, included.contains(&f.path), rivals.next())
            }
        };
        if let Some(line) = finish(number, entry) {
            bar.suspend(|| println!("{line}"));
        }
        bar.inc(1);
    }
    std::panic::set_hook(hook);
    bar.finish_and_clear();
    Ok(())
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
