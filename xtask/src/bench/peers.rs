//! Rivals that run in Python: a virtual environment of their own under `target/peers`, made when it
//! is asked for.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde::{Serialize, de::DeserializeOwned};

const PACKAGES: [&str; 3] = ["mujoco==4.0.0", "pin==4.1.0", "numpy"];
/// A script that takes longer is stopped, and its rival left out of the case.
const TIME_LIMIT: Duration = Duration::from_secs(300);

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
        Self::with(root, "peers", &PACKAGES, PROBE)
    }

    /// The same of packages that do not go together with the others; `probe` is Python that fails
    /// unless they are there.
    pub(crate) fn with(
        root: &Path,
        name: &str,
        packages: &[&str],
        probe: &str,
    ) -> Result<Self, String> {
        let home = root.join("target").join(name);
        let python = home.join("bin/python");
        let peers = Self {
            python: python.clone(),
            scripts: root.join("benches/peers"),
            exchange: root.join("target/bench"),
        };
        if !run(Command::new(&python).args(["-c", probe]).stderr(Stdio::null())) {
            eprintln!("making a Python environment in {}", home.display());
            let made = run(Command::new("python3").args(["-m", "venv"]).arg(&home))
                && run(Command::new(&python)
                    .args(["-m", "pip", "install", "--quiet"])
                    .args(packages))
                && run(Command::new(&python).args(["-c", probe]));
            if !made {
                return Err(format!(
                    "no Python environment with {}: python3 -m venv or pip failed",
                    packages.join(", ")
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

    /// Installs one package, without what it depends on, into a folder. True if that went well.
    pub(crate) fn install(&self, package: &str, folder: &Path) -> bool {
        run(Command::new(&self.python)
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"])
            .args(["--only-binary", ":all:", "--target"])
            .arg(folder)
            .arg(package))
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
        // Into files: a full pipe would stop the script while nobody reads it.
        let (answer, complaint) = (path.with_extension("out"), path.with_extension("err"));
        let file = |p: &Path| File::create(p).map_err(|e| format!("{}: {e}", p.display()));
        let child = self
            .script(script)
            .arg(&path)
            .stdout(file(&answer)?)
            .stderr(file(&complaint)?)
            .spawn()
            .map_err(|e| format!("{}: {e}", self.python.display()))?;
        if !ended_well(child, TIME_LIMIT).map_err(|e| format!("{script}: {e}"))? {
            let text = std::fs::read_to_string(&complaint).unwrap_or_default();
            let last = text.trim().lines().last().unwrap_or("no message").to_owned();
            return Err(format!("{script}: {last}"));
        }
        let answer = std::fs::read(&answer).map_err(|e| format!("{}: {e}", answer.display()))?;
        serde_json::from_slice(&answer).map_err(|e| format!("{script}: its answer: {e}"))
    }
}

/// Waits for a script and says if it ended well; one that takes longer than the limit is stopped.
fn ended_well(mut child: Child, limit: Duration) -> Result<bool, String> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if begin.elapsed() < limit => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                // It may have ended just now, which is as good.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("stopped, it took more than {} s", limit.as_secs()));
            }
            Err(e) => return Err(e.to_string()),
        }
    }
}

/// True if the command ends well.
fn run(command: &mut Command) -> bool {
    command.status().is_ok_and(|s| s.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_hang_are_stopped() {
        let start = |seconds: &str| Command::new("sleep").arg(seconds).spawn().unwrap();
        assert_eq!(ended_well(start("0"), Duration::from_secs(60)), Ok(true));
        let stopped = ended_well(start("600"), Duration::from_millis(50));
        assert_eq!(stopped, Err("stopped, it took more than 0 s".into()));
    }
}
