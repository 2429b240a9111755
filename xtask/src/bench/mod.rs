//! `cargo xtask bench`: times of this repository's algorithms, next to those of other programs with
//! `--peers`.
//!
//! The measurements need the release profile; called in another one, the command runs itself again
//! in that.

mod adaptive;
mod blended;
mod case;
mod cases;
mod contact;
mod control;
mod craig_bampton;
mod divide;
mod equal_error;
mod export;
mod forward;
mod kernel;
mod matched;
pub(crate) mod measure;
mod million;
mod others;
pub(crate) mod peers;
mod pgs;
mod reduced;
mod reduction;
mod rivals;
mod scaling;
mod tissue;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::Args;
use forks_io::{Align, TextTable};

use case::{Case, Context};
use peers::Peers;

/// Arguments of `cargo xtask bench`.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Short runs: numbers to see that everything works, not to quote
    #[arg(long)]
    quick: bool,

    /// Measure other programs too: builds Rapier in, and makes target/peers with those that run in
    /// Python
    #[arg(long)]
    peers: bool,

    /// Only the cases whose name begins so
    #[arg(long, value_name = "PREFIX")]
    case: Option<String>,

    /// Write the results to this file, after each case
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write curves (CSV) and plots (SVG) of cases that have them to this directory
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// Everything measured so far; field names are part of the program's interface.
#[derive(serde::Serialize)]
struct Output {
    machine: String,
    quick: bool,
    cases: Vec<Case>,
    /// Cases that could not be measured, and why.
    failed: Vec<Failure>,
}

/// A case without numbers.
#[derive(serde::Serialize)]
struct Failure {
    case: String,
    reason: String,
}

/// Measures the cases; those that fail are named, the others are measured all the same. Exit code 1
/// if one fails.
pub(crate) fn run(root: &Path, args: &BenchArgs) -> ExitCode {
    if cfg!(debug_assertions) {
        return in_release(root, args);
    }
    match bench(root, args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

/// glibc hands freed memory back to the system and faults it in again in the next of many equal
/// runs; above some size that would be most of what a run of the reduction costs. Said in the
/// cases' settings.
const KEEP_FREED_MEMORY: [(&str, &str); 2] =
    [("MALLOC_TRIM_THRESHOLD_", "1000000000"), ("MALLOC_MMAP_THRESHOLD_", "1000000000")];

/// The same command with the same arguments, compiled as users compile; with Rapier if other
/// programs are asked for and it can be built.
fn in_release(root: &Path, args: &BenchArgs) -> ExitCode {
    let cargo = |command: &str, rapier: bool| {
        let mut c = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // The working directory stays: the arguments hold paths.
        c.args([command, "--release", "--quiet", "--package", "xtask", "--manifest-path"])
            .arg(root.join("Cargo.toml"));
        if rapier {
            c.args(["--features", "rapier"]);
        }
        c
    };
    let rapier = args.peers && cargo("build", true).status().is_ok_and(|s| s.success());
    let status = cargo("run", rapier)
        .arg("--")
        .args(std::env::args_os().skip(1))
        .envs(KEEP_FREED_MEMORY)
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: cannot start cargo: {e}");
            ExitCode::FAILURE
        }
    }
}

/// True if every selected case was measured.
fn bench(root: &Path, args: &BenchArgs) -> Result<bool, String> {
    let prefix = args.case.as_deref().unwrap_or("");
    // A longer prefix selects among the cases of one entry; the entry looks at it.
    let within = |name: &str| prefix.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    let is_selected = |name: &str| name.starts_with(prefix) || within(name);
    let selected: Vec<_> = cases::ALL.iter().filter(|(name, _)| is_selected(name)).collect();
    if selected.is_empty() {
        let names: Vec<&str> = cases::ALL.iter().map(|(name, _)| *name).collect();
        return Err(format!("no case begins with '{prefix}'; there are {}", names.join(", ")));
    }
    let peers = args.peers.then(|| Peers::ensure(root));
    let batch = if args.quick { 0.005 } else { 0.1 };
    if let Some(dir) = &args.report {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let report = args.report.as_deref();
    let context = Context { root, batch, quick: args.quick, prefix, peers, report };
    let mut output =
        Output { machine: measure::machine(), quick: args.quick, cases: vec![], failed: vec![] };
    println!("{}", output.machine);
    for (name, measure) in selected {
        match measured(|| measure(name, &context)) {
            Ok(cases) => {
                cases.iter().for_each(|case| println!("{}", case.text()));
                output.cases.extend(cases);
            }
            Err(reason) => {
                println!("\n{name}\n  failed: {reason}");
                output.failed.push(Failure { case: (*name).into(), reason });
            }
        }
        if let Some(path) = &args.json {
            forks_io::json::save(path, &output).map_err(|e| e.to_string())?;
        }
    }
    println!("\n{}", summary(&output.cases));
    for f in &output.failed {
        println!("{} failed: {}", f.case, f.reason);
    }
    Ok(output.failed.is_empty())
}

/// What a case gives; a panic in it is its failure, not that of the run.
fn measured(case: impl FnOnce() -> Result<Vec<Case>, String>) -> Result<Vec<Case>, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a message")))
    })
}

/// One row per rival, losses too.
fn summary(cases: &[Case]) -> String {
    let mut table = TextTable::new()
        .column("case", Align::Left)
        .columns(["threads", "ours (µs)"], Align::Right)
        .column("rival", Align::Left)
        .columns(["rival (µs)", "rival/ours", "computing time"], Align::Right);
    for c in cases {
        let ours = [c.case.clone(), c.threads.to_string(), format!("{:.2}", 1e-3 * c.ours_ns)];
        if c.rivals.is_empty() {
            table.push(ours.iter().map(String::as_str).chain(["", "", "", ""]));
        }
        for (rival, ns) in &c.rivals {
            let cpu = c.cpu_ratio.get(rival).map_or(String::new(), |r| format!("{r:.2}"));
            let ratio = format!("{:.2}", c.ratio[rival]);
            let theirs = [rival.clone(), format!("{:.2}", 1e-3 * ns), ratio, cpu];
            table.push(ours.iter().chain(&theirs).map(String::as_str));
        }
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_a_case_are_its_own() {
        assert_eq!(measured(|| Err("no".into())).err().as_deref(), Some("no"));
        let panicked = measured(|| panic!("index {} of {}", 3, 2)).err();
        assert_eq!(panicked.as_deref(), Some("panicked: index 3 of 2"));
        assert!(measured(|| Ok(vec![])).is_ok_and(|c| c.is_empty()));
    }
}
