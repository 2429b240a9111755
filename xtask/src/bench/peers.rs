//! Rivals that run in Python: a virtual environment of their own under `target/peers`, made when it is asked for.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::{Serialize, de::DeserializeOwned};

const PACKAGES: [&str; 3] = ["mujoco==4.0.0", "pin==4.1.0", "numpy"];
/// Fails unless the right versions are there.
const PROBE: &str = "import mujoco, pinocchio, numpy; \
    assert (mujoco.__version__, pinocchio.__version__) == ('4.0.0', '4.1.0')";

/// The interpreter with the rivals, and where the scripts are.
pub(crate) struct Peers {
    python: PathBuf,
    scripts: PathBuf,
    exchange: PathBuf,
}

impl Peers {
    /// Finds the environment or makes it.
    pub(crate) fn ensure(root: &Path) -> Result<Self, String> {
        let home = root.join("target/peers");
        let python = home.join("bin/python");
        let peers = Self {
            python: python.clone(),
            scripts: root.join("benches/peers"),
            exchange: root.join("target/bench"),
        };
        if !run(Command::new(&python).args(["-c", PROBE]).stderr(Stdio::null())) {
            eprintln!("making a Python environment in {}", home.display());
            let made = run(Command::new("python3").args(["-m", "venv"]).arg(&home))
                && run(Command::new(&python)
                    .args(["-m", "pip", "install", "--quiet"])
                    .args(PACKAGES))
                && run(Command::new(&python).args(["-c", PROBE]));
            if !made {
                return Err(format!(
                    "no Python environment with {}: python3 -m venv or pip failed",
                    PACKAGES.join(", ")
                ));
            }
        }
        let exchange = &peers.exchange;
        std::fs::create_dir_all(exchange).map_err(|e| format!("{}: {e}", exchange.display()))?;
        Ok(peers)
    }

    /// Where files for the rivals go.
    pub(crate) fn exchange(&self) -> &Path {
        &self.exchange
    }

    /// A script, not started yet; one thread, in the directory where files for the rivals go.
    pub(crate) fn script(&self, script: &str) -> Command {
        let mut command = Command::new(&self.python);
        command
            .arg(self.scripts.join(script))
            .current_dir(&self.exchange)
            .envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")]);
        command
    }

    /// Runs a script on a task (a file of JSON) and reads the JSON that it prints; one thread.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        script: &str,
        case: &str,
        task: &impl Serialize,
    ) -> Result<T, String> {
        let path = self.exchange.join(format!("{}.json", case.replace('/', "-")));
        forks_io::json::save(&path, task).map_err(|e| e.to_string())?;
        let output = Command::new(&self.python)
            .arg(self.scripts.join(script))
            .arg(&path)
            .envs([("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")])
            .output()
            .map_err(|e| format!("{}: {e}", self.python.display()))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.trim().lines().last().unwrap_or("no message").to_owned();
            return Err(format!("{script}: {last}"));
        }
        serde_json::from_slice(&output.stdout).map_err(|e| format!("{script}: its answer: {e}"))
    }
}

/// True if the command ends well.
fn run(command: &mut Command) -> bool {
    command.status().is_ok_and(|s| s.success())
}
