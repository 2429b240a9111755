//! `forks view`: a mechanism in the browser.

use std::{
    fs::File,
    io::Read as _,
    path::Path,
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use forks_sim::scene::Fidelity;
use forks_view::{MechanismSource, Server, Source, ViewOptions};

use crate::{
    error::CliError, model::Model, mujoco::FreeJoints, output, scene, soft, view_args::ViewArgs,
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
    let server = Server::start(source(args)?, &options).map_err(shown)?;
    let url = server.url();
    output::say(&format!("{url}\nThe page is there until this program ends (Ctrl-C)."))?;
    if args.open && !open(&url) {
        output::warn("no browser could be started; open the address above");
    }
    server.wait();
    Ok(ExitCode::SUCCESS)
}

fn source(args: &ViewArgs) -> Result<Source, CliError> {
    let path = &args.path;
    if scene::is_scene(path) {
        let fidelity = if args.full { Fidelity::Full } else { Fidelity::Reduced };
        let loaded = scene::load(path, fidelity, |_| {})?;
        let driven = loaded.is_driven();
        let mut scene = loaded.scene;
        if driven {
            let text = "tasks, keyframes and prediction of the file do not act in this view";
            output::warn(text);
            scene.notes.push(text.into());
        }
        return Ok(Source::Scene(Box::new(scene)));
    }
    if is_binary(path) {
        let model = soft::load(path)?.model;
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
