//! The command.

use std::{process::ExitCode, sync::Arc};

use super::{args::ControlArgs, recording::Recording, reduced, report::Report, state::Run};
use crate::{error::CliError, model::Model, output, scene::Format};

/// Runs the command.
pub(crate) fn run(args: &ControlArgs) -> Result<ExitCode, CliError> {
    if let Some(model) = reduced::load(&args.model.path)? {
        return reduced::run(args, model);
    }
    if args.horizon.is_some() || args.budget.is_some() {
        let problem = "--horizon, --budget: predictions are for reduced models (`forks reduce`)";
        return Err(CliError::Control { path: args.model.path.clone(), problem: problem.into() });
    }
    let outputs = args.output.iter().map(|path| match Format::of(path) {
        Some(format) => Ok((format, path)),
        None => Err(CliError::OutputName { path: path.clone() }),
    });
    let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
    let said = |problem| CliError::Control { path: args.model.path.clone(), problem };
    let model = Model::load(&args.model)?;
    let m = Arc::new(model.moving(&args.model, args.servos, None)?);
    let mut run = Run::new(args, m, &model).map_err(said)?;
    let mut recording = (!outputs.is_empty()).then(|| Recording::new(&run));
    let after = |run: &Run, time: f64| {
        recording.iter_mut().for_each(|r| r.push(run, time));
    };
    let problem = run.all_steps(args, after).map_err(said)?;
    if let Some(recording) = &recording {
        outputs.iter().try_for_each(|(format, path)| recording.save(*format, path))?;
    }
    let report = Report::new(&run, args, problem);
    report.warnings.iter().for_each(|w| output::warn(w));
    let code = output::print(&report, args.model.json, Report::text)?;
    match report.problem {
        None => Ok(code),
        Some(problem) => Err(CliError::Stopped { path: args.model.path.clone(), problem }),
    }
}
