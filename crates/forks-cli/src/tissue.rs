//! `forks tissue SCENE.toml`: what the tissue of a scene is worth. `forks simulate SCENE.toml` of
//! scenes with tissue: steps, a recording, a report.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use clap::Args;
use forks_io::{IoError, animation::Animation, gltf, html, json};
use forks_tissue::{Quality, Recording, Report, TissueError, TissueScene, spec::TissueSpec};

use crate::{
    error::CliError,
    output,
    progress::{Progress, seconds},
    scene::{Format, csv},
    simulate_args::SimulateArgs,
};

/// Arguments of `forks tissue`.
#[derive(Debug, Args)]
pub(crate) struct TissueArgs {
    /// A scene with tissue, a TOML file
    #[arg(value_name = "SCENE.toml")]
    path: PathBuf,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Write the mesh, without stress: Gmsh if the name ends in .msh, VTK otherwise
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// True for a scene file that has tissue.
pub(crate) fn is_tissue(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| TissueSpec::is_meant(&text))
}

fn of(path: &Path) -> impl Fn(TissueError) -> CliError {
    let path = PathBuf::from(path);
    move |source| match source {
        e @ (TissueError::Read { .. } | TissueError::Syntax { .. }) => {
            CliError::TissueFile(Box::new(e))
        }
        e => CliError::Tissue { path: path.clone(), source: Box::new(e) },
    }
}

/// Loads a scene with tissue.
pub(crate) fn load(path: &Path) -> Result<TissueScene, CliError> {
    TissueScene::load(path).map_err(of(path))
}

/// Runs `forks tissue`.
pub(crate) fn run(args: &TissueArgs) -> Result<ExitCode, CliError> {
    let mut scene = load(&args.path)?;
    if let Some(path) = &args.output {
        let mesh = scene.simulation.body().mesh();
        let gmsh = path.extension().is_some_and(|e| e == "msh");
        let text = if gmsh {
            forks_tissue::deform::files::gmsh_text(mesh)
        } else {
            forks_tissue::deform::files::vtk_text(mesh, mesh.nodes())
        };
        forks_io::write_atomically(path, text.as_bytes())?;
    }
    output::print(&Quality::new(&mut scene), args.json, Quality::text)
}

/// Runs a scene with tissue.
pub(crate) fn simulate(args: &SimulateArgs, path: &Path) -> Result<ExitCode, CliError> {
    if args.scene.full || args.scene.mjcf.is_some() {
        let problem = "has tissue, which --mjcf and, without --pads, --full do not know".to_owned();
        return Err(of(path)(TissueError::Invalid { element: "the scene".into(), problem }));
    }
    let format = |path: &PathBuf| match Format::of(path) {
        Some(format) => Ok((format, path.clone())),
        None => Err(CliError::OutputName { path: path.clone() }),
    };
    let outputs = args.output.iter().map(format).collect::<Result<Vec<_>, _>>()?;
    let mut spec = TissueSpec::read(path).map_err(of(path))?;
    spec.world.duration = args.time.unwrap_or(spec.world.duration);
    spec.world.step = args.step.or(spec.world.step);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut scene = TissueScene::build(spec, folder).map_err(of(path))?;
    let start = scene.energy();
    let momentum = scene.simulation.momentum();
    let mut recording = (!outputs.is_empty()).then(|| Recording::new(&mut scene));
    let mut progress = Progress::new();
    let (steps, mut stopped, mut elapsed) = (scene.step_count(), None, 0.0);
    for k in 0..steps {
        let begin = Instant::now();
        if let Err(e) = scene.step() {
            stopped = Some(e.to_string());
            break;
        }
        elapsed += begin.elapsed().as_secs_f64();
        if let Some(recording) = &mut recording {
            recording.after(&mut scene, k + 1 == steps);
        }
        progress.show(|| seconds(scene.time(), scene.spec.world.duration));
    }
    if let Some(recording) = &recording {
        for (format, file) in &outputs {
            save(recording.animation(), *format, file)?;
        }
    }
    let frames = recording.map_or(0, |r| r.animation().frames.len());
    let report = Report::new(&mut scene, (start, momentum), frames, elapsed, stopped);
    report.message.iter().for_each(|m| output::warn(m));
    let code = output::print(&report, args.json, Report::text)?;
    Ok(if report.message.is_none() { code } else { ExitCode::FAILURE })
}

pub(crate) fn save(animation: &Animation, format: Format, path: &Path) -> Result<(), IoError> {
    match format {
        Format::Csv => csv(animation)?.save(path),
        Format::Json => json::save(path, animation),
        Format::Html => html::save(path, animation),
        Format::Glb => gltf::save(path, animation),
    }
}
