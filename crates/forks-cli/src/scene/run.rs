//! The command.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use forks_direct::Direct;
use forks_io::IoError;
use forks_record::Recording;
use forks_sim::scene::Fidelity;

use super::{
    exported, load,
    output::Format,
    report::{Report, energy},
    tally::Tally,
};
use crate::{
    error::CliError,
    output,
    progress::{Progress, seconds},
    simulate_args::SimulateArgs,
};

/// Runs a scene.
pub(crate) fn run(args: &SimulateArgs, path: &Path) -> Result<ExitCode, CliError> {
    let outputs = outputs(&args.output)?;
    let (fidelity, name) = fidelity(args);
    let mut direct = load(path, fidelity, |spec| {
        spec.world.duration = args.time.unwrap_or(spec.world.duration);
        spec.world.step = args.step.unwrap_or(spec.world.step);
    })?;
    if let Some(file) = &args.scene.mjcf {
        exported::save(&direct.scene, path, file)?;
    }
    let start = energy(&direct.scene);
    let mut recording = (!outputs.is_empty()).then(|| direct.recording());
    let tally = all_steps(&mut direct, &mut recording);
    if let Some(recording) = &recording {
        save(recording, &outputs)?;
    }
    let samples = recording.map_or(0, |r| r.animation.frames.len());
    let report = Report::new(&direct, tally, start, name, samples);
    report.message.iter().for_each(|m| output::warn(m));
    let code = output::print(&report, args.json, Report::text)?;
    Ok(if report.is_completed() { code } else { ExitCode::FAILURE })
}

/// Files to write, each in a form that its name tells.
fn outputs(files: &[PathBuf]) -> Result<Vec<(Format, PathBuf)>, CliError> {
    let format = |path: &PathBuf| match Format::of(path) {
        Some(format) => Ok((format, path.clone())),
        None => Err(CliError::OutputName { path: path.clone() }),
    };
    files.iter().map(format).collect()
}

fn fidelity(args: &SimulateArgs) -> (Fidelity, &'static str) {
    if args.scene.full { (Fidelity::Full, "full") } else { (Fidelity::Reduced, "reduced") }
}

fn all_steps(direct: &mut Direct, recording: &mut Option<Recording>) -> Tally {
    let scene = &direct.scene;
    let steps = scene.step_count();
    let mut progress = Progress::new();
    let mut tally = Tally::default();
    let frame = 1.0 / (scene.spec.world.frames * scene.spec.world.step);
    let every = if frame >= 1.0 { frame as u64 } else { 1 };
    for k in 0..steps {
        let begin = Instant::now();
        let report = match direct.step() {
            Ok(report) => report,
            Err(e) => {
                tally.stopped = Some((direct.scene.world.time(), e.to_string()));
                break;
            }
        };
        let scene = &direct.scene;
        if !tally.count(scene, &report, begin.elapsed()) {
            break;
        }
        if (k + 1) % every == 0 || k + 1 == steps {
            tally.look_at_openings(scene);
        }
        if let Some(recording) = recording {
            direct.record(recording, &report, k + 1 == steps);
        }
        progress.show(|| seconds(scene.world.time(), scene.spec.world.duration));
    }
    tally
}

fn save(recording: &Recording, outputs: &[(Format, PathBuf)]) -> Result<(), IoError> {
    outputs.iter().try_for_each(|(format, path)| format.save(path, &recording.animation))
}
