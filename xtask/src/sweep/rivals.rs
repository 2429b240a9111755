//! The process that asks MuJoCo and Pinocchio: one for many files, made anew where a file ends it.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use serde::Serialize;

use super::{facts::Answer, find::Format};
use crate::bench::peers::Peers;

/// How long a rival may think about one file.
const PATIENCE: Duration = Duration::from_secs(300);

/// A file to be asked about.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Task {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) seed: u64,
}

/// The rivals, working ahead on a list of files.
pub(super) struct Rivals {
    peers: Peers,
    ahead: VecDeque<Task>,
    process: Option<Process>,
}

struct Process {
    child: Child,
    answers: Receiver<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that has ended cannot be ended; either way there is nothing left to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Rivals {
    /// Makes the Python environment where it is not there.
    pub(super) fn new(root: &Path, tasks: impl IntoIterator<Item = Task>) -> Result<Self, String> {
        let peers = Peers::ensure(root)?;
        Ok(Self { peers, ahead: tasks.into_iter().collect(), process: None })
    }

    /// What the rivals say about the next file; a sentence if they do not live to say it.
    pub(super) fn next(&mut self) -> Result<Answer, String> {
        if self.process.is_none() {
            self.process = Some(self.start()?);
        }
        let answers = &self.process.as_ref().expect("made above").answers;
        let line = answers.recv_timeout(PATIENCE);
        self.ahead.pop_front();
        match line {
            Ok(line) => serde_json::from_str(&line).map_err(|e| format!("the answer: {e}")),
            Err(problem) => {
                // The file is at fault: those after it get a new process.
                self.process = None;
                Err(match problem {
                    RecvTimeoutError::Timeout => {
                        format!("the rivals took longer than {} s", PATIENCE.as_secs())
                    }
                    RecvTimeoutError::Disconnected => "the rivals' process ended".into(),
                })
            }
        }
    }

    fn start(&self) -> Result<Process, String> {
        let failed = |e: std::io::Error| format!("sweep.py: {e}");
        let mut child = self
            .peers
            .script("sweep.py")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let lines: Vec<String> = self
            .ahead
            .iter()
            .map(forks_io::json::to_string)
            .collect::<Result<_, _>>()
            .map_err(|e| e.to_string())?;
        // Both ends get a thread: a full pipe on one side must not stop the other. A process that
        // dies closes them.
        thread::spawn(move || lines.iter().all(|l| writeln!(input, "{l}").is_ok()));
        let (send, answers) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).all(|l| send.send(l).is_ok()));
        Ok(Process { child, answers })
    }
}
