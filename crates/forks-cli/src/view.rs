//! `forks view`: a mechanism in the browser.

use std::{
    fs::File,
    io::Read as _,
    path::Path,
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use forks_sim::scene::Fidelity;
use forks_view::{Awaited, MechanismSource, Server, Source, ViewError, ViewOptions};

use crate::{
    error::CliError, model::Model, mujoco::FreeJoints, output, scene, soft, tissue,
    view_args::ViewArgs,
};

/// Runs the command: until it is interrupted.
pub(crate) fn run(args: &ViewArgs) -> Result<ExitCode, CliError> {
    let options = ViewOptions {
        interface: args.interface,
        port: args.port,
        step: args.step,
        playing: args.play,
    };
    let shown = |source| CliError::View { path: args.path.clone(), source };
    let started = source(args).and_then(|s| Server::start(s, &options).map_err(shown));
    let server = match started {
        Ok(server) => server,
        Err(e) if is_about_the_file(&e) && args.path.is_file() => {
            output::fail(&e);
            Server::start(Source::Awaited(awaited(args, &e)), &options).map_err(shown)?
        }
        Err(e) => return Err(e),
    };
    let url = server.url();
    output::say(&format!("{url}\nThe page is there until this program ends (Ctrl-C)."))?;
    if args.open && !open(&url) {
        output::warn("no browser could be started; open the address above");
    }
    server.wait();
    Ok(ExitCode::SUCCESS)
}

/// False where the arguments are wrong, or the machine refuses.
fn is_about_the_file(e: &CliError) -> bool {
    matches!(
        e,
        CliError::View { source: ViewError::Model(_) | ViewError::Picture(_), .. }
            | CliError::Import(_)
            | CliError::SceneFile(_)
            | CliError::Scene { .. }
            | CliError::TissueFile(_)
            | CliError::Tissue { .. }
            | CliError::Direct { .. }
            | CliError::ReducedFile { .. }
            | CliError::Soft { .. }
    )
}

/// The file once it is mended: it is read again whenever it has changed.
fn awaited(args: &ViewArgs, e: &CliError) -> Awaited {
    let args = args.clone();
    let title = args.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stamp = |path: &Path| path.metadata().and_then(|m| Ok((m.modified()?, m.len()))).ok();
    let mut seen = stamp(&args.path);
    let again = move || {
        let now = stamp(&args.path);
        if now == seen {
            return None;
        }
        seen = now;
        Some(source(&args).map_err(|e| {
            output::fail(&e);
            output::sentence(&e)
        }))
    };
    Awaited { title, problem: output::sentence(e), again: Box::new(again) }
}

fn source(args: &ViewArgs) -> Result<Source, CliError> {
    let path = &args.path;
    if scene::is_scene(path) && tissue::is_tissue(path) {
        return Ok(Source::Tissue(Box::new(tissue::load(path)?)));
    }
    if scene::is_scene(path) {
        let fidelity = if args.full { Fidelity::Full } else { Fidelity::Reduced };
        return Ok(Source::Scene(Box::new(scene::load(path, fidelity, |_| {})?)));
    }
    if is_binary(path) {
        let model = soft::load(path)?;
        let title = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        return Ok(Source::Reduced { title, model: Box::new(model) });
    }
    let model = Model::load(&args.model())?;
    let m = model.mechanism;
    let mut velocities = model.velocities;
    FreeJoints::new(&m, &model.positions).to_body(&mut velocities);
    Ok(Source::Mechanism(Box::new(MechanismSource {
        mechanism: Arc::new(m),
        positions: model.positions,
        velocities,
        falls: args.fall,
        notes: model.notes.iter().map(ToString::to_string).collect(),
    })))
}

/// True for files of reduced models and blends: nothing that is text.
fn is_binary(path: &Path) -> bool {
    let mut head = [0; 512];
    let read = File::open(path).and_then(|mut f| f.read(&mut head)).unwrap_or(0);
    head[..read].contains(&0)
}

/// True if a browser was started.
fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = match cfg!(target_os = "windows") {
        true => {
            let mut c = Command::new("cmd");
            c.args(["/C", "start", ""]);
            c
        }
        false => Command::new(program),
    };
    command.arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}
