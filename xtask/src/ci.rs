//! `cargo xtask ci`: runs `.ci/run`, the one list of steps.

use std::{
    path::Path,
    process::{Command, ExitCode},
};

/// Runs the script; its exit code is ours.
pub(crate) fn run(root: &Path) -> ExitCode {
    match Command::new("bash").arg(".ci/run").current_dir(root).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: cannot start bash: {e}");
            ExitCode::FAILURE
        }
    }
}
