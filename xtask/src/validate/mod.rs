//! `cargo xtask validate`: everything reduced against everything full, on the scenarios of
//! `fixtures/scenarios`.

mod adaptive;
mod blend;
mod case;
mod closed_forms;
mod cones;
mod control;
mod curves;
mod cycles;
mod deform;
mod differences;
mod families;
mod floating;
mod floating_blend;
mod frequencies;
mod golden;
mod k08;
mod keyframes;
mod random;
mod record;
mod release;
mod rival;
mod scenario;
mod scenes;
mod slope;
mod stable;
mod tissue_reduction;
mod upright;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use record::{Check, Recorder, Verdict};
use scenario::Scenario;

/// Arguments of `cargo xtask validate`.
#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// Scenarios to run (files in fixtures/scenarios, NAME or NAME/PART); all of them if none is
    /// given
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,

    /// Write all checks to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write curves (CSV) and plots (SVG) to this directory
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    /// All blends too: minutes; part of CI
    #[arg(long)]
    long: bool,

    /// The same, and ten times as many steps in long runs, linkages of 50,000 links, ten minutes of
    /// scenes: tens of minutes
    #[arg(long)]
    nightly: bool,
}

#[derive(Serialize)]
struct Output<'a> {
    checks: &'a [Check],
}

/// Runs the scenarios; exit code 1 if any check misses.
pub(crate) fn run(root: &Path, args: &ValidateArgs) -> ExitCode {
    match validate(root, args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn validate(root: &Path, args: &ValidateArgs) -> Result<bool, String> {
    let fixtures = root.join("fixtures");
    let mut scenarios = scenario::load(&fixtures, &args.scenarios)?;
    if args.nightly {
        scenarios.iter_mut().filter_map(|s| s.stable.as_mut()).for_each(|s| s.steps *= 10);
        scenarios.iter_mut().filter_map(|s| s.adaptive.as_mut()).for_each(|a| a.lengthen());
        scenarios.iter_mut().filter_map(|s| s.scenes.as_mut()).for_each(|s| s.lengthen());
    }
    let named = !args.scenarios.is_empty();
    for s in &mut scenarios {
        if let Some(f) = &mut s.families {
            f.choose(&s.parts, named, args.nightly);
        }
    }
    let takes_long = |s: &Scenario| s.blend.as_ref().is_some_and(|b| b.long);
    if !(args.long || args.nightly || named) {
        scenarios.retain(|s| !takes_long(s));
    }
    if let Some(dir) = &args.report {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let begin = Instant::now();
    let bar = progress_bar(scenarios.len());
    let mut recorder = Recorder::new(bar.clone(), args.report.clone());
    for s in &scenarios {
        bar.set_message(s.name.clone());
        recorder.begin(&s.name);
        run_scenario(&fixtures, s, &mut recorder)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let checks = recorder.checks();
    let count = |verdict| checks.iter().filter(|c| c.verdict == verdict).count();
    let missed = count(Verdict::Miss);
    if let Some(path) = &args.json {
        forks_io::json::save(path, &Output { checks }).map_err(|e| e.to_string())?;
    }
    println!(
        "{} ok, {missed} missed, {} for information ({} scenarios, {:.1} s)",
        count(Verdict::Ok),
        count(Verdict::Info),
        scenarios.len(),
        begin.elapsed().as_secs_f64()
    );
    Ok(missed == 0)
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

fn run_scenario(fixtures: &Path, s: &Scenario, out: &mut Recorder) -> Result<(), String> {
    if let Some(r) = &s.random {
        random::check(r, out);
        return Ok(());
    }
    if let Some(c) = &s.control {
        return control::check(c, fixtures, out);
    }
    if let Some(a) = &s.adaptive {
        return adaptive::check(a, out);
    }
    if let Some(k) = &s.k08 {
        return k08::check(k, out);
    }
    if let Some(t) = &s.tissue_reduction {
        return tissue_reduction::check(t, fixtures, out);
    }
    if let Some(d) = &s.deform {
        return deform::check(d, out);
    }
    if let Some(k) = &s.keyframes {
        return keyframes::check(k, out);
    }
    if let Some(scenes) = &s.scenes {
        return scenes::check(scenes, fixtures, out);
    }
    if let Some(f) = &s.families {
        return families::check(f, fixtures, out);
    }
    let case = case::Case::load(fixtures, s)?;
    if let Some(b) = &s.blend {
        return blend::check(b, &case, out);
    }
    if let Some(f) = &s.floating_blend {
        return floating_blend::check(f, &case, out);
    }
    rival::check(&case, out);
    differences::check_rest(&case, out);
    differences::check_loaded(&case, out);
    for file in &s.golden {
        golden::check(fixtures, s, &case, file, out)?;
    }
    if let Some(form) = s.closed_form {
        closed_forms::check(form, &case, out)?;
    }
    if let Some(c) = &s.curves {
        curves::check(c, &case, out)?;
    }
    run_time(s, &case, out)
}

/// Checks of the reduced model at run time.
fn run_time(s: &Scenario, case: &case::Case, out: &mut Recorder) -> Result<(), String> {
    if let Some(c) = &s.cones {
        cones::check(c, case, out)?;
    }
    if let Some(c) = &s.cycles {
        cycles::check(c, case, out)?;
    }
    if let Some(f) = &s.frequencies {
        frequencies::check(f, case, out)?;
    }
    for r in &s.release {
        release::check(r, case, out)?;
    }
    if let Some(f) = &s.floating {
        floating::check(f, case, out)?;
    }
    if let Some(s) = &s.stable {
        stable::check(s, case, out)?;
    }
    Ok(())
}
