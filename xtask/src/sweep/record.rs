//! Verdicts, and how they are written.

use std::path::Path;

use forks_io::CsvTable;
use serde::Serialize;

use super::find::Found;

/// How a file fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Agrees,
    Noted,
    Refused,
    Differs,
    Skipped,
}

impl Verdict {
    const ALL: [Self; 5] = [Self::Agrees, Self::Noted, Self::Refused, Self::Differs, Self::Skipped];

    fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Noted => "noted",
            Self::Refused => "refused",
            Self::Differs => "differs",
            Self::Skipped => "skipped",
        }
    }
}

/// One file; field names are part of the program's interface.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    /// The programs that it was compared with.
    pub(super) rivals: Vec<String>,
}

impl Entry {
    pub(super) fn new(found: &Found, verdict: Verdict, reason: String) -> Self {
        Self { path: short(&found.path), verdict, reason, rivals: vec![] }
    }

    /// For people.
    pub(super) fn line(&self) -> String {
        let Self { path, verdict, reason, .. } = self;
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        format!("{:<8} {path}{reason}", verdict.name())
    }
}

/// A path, relative to the working directory where it lies below it.
pub(super) fn short(path: &Path) -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
    let below = here.as_ref().and_then(|h| path.strip_prefix(h).ok());
    below.unwrap_or(path).display().to_string()
}

/// All files.
#[derive(Debug, Default, Serialize)]
pub(super) struct Record {
    files: Vec<Entry>,
}

impl Record {
    pub(super) fn push(&mut self, entry: Entry) {
        self.files.push(entry);
    }

    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.files.iter().filter(|e| e.verdict == verdict).count()
    }

    /// How many of each.
    pub(super) fn summary(&self) -> String {
        let counts = Verdict::ALL.map(|v| format!("{} {}", self.count(v), v.name()));
        counts.join(", ")
    }

    pub(super) fn save(&self, json: Option<&Path>, csv: Option<&Path>) -> Result<(), String> {
        if let Some(path) = json {
            forks_io::json::save(path, self).map_err(|e| e.to_string())?;
        }
        if let Some(path) = csv {
            let mut table = CsvTable::new(["path", "verdict", "reason", "compared with"]);
            for e in &self.files {
                let (verdict, rivals) = (e.verdict.name(), e.rivals.join(" "));
                table
                    .push([e.path.as_str(), verdict, &e.reason, &rivals])
                    .map_err(|e| e.to_string())?;
            }
            table.save(path).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}
