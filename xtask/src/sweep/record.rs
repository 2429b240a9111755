//! Verdicts, and how they are written.

use std::path::Path;

use forks_io::CsvTable;
use serde::Serialize;

use super::{find::Found, verdict::Verdict};

/// One file; field names are part of the program's interface.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Entry {
    /// `NAME==VERSION` of the package that the file is of, if it is of one.
    pub(super) package: Option<String>,
    /// Within the package, else relative to the working directory where it lies below it.
    pub(super) path: String,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    /// The programs that it was compared with.
    pub(super) rivals: Vec<String>,
}

impl Entry {
    pub(super) fn new(found: &Found, verdict: Verdict, reason: String) -> Self {
        // Messages of other programs hold whole paths.
        let reason = reason.replace(&format!("{}/", found.place.display()), "");
        let within = found.path.strip_prefix(&found.place).unwrap_or(&found.path);
        let path = match found.package {
            Some(_) => within.display().to_string(),
            None => short(&found.path),
        };
        Self { package: found.package.clone(), path, verdict, reason, rivals: vec![] }
    }

    /// For people.
    pub(super) fn line(&self) -> String {
        let Self { package, path, verdict, reason, .. } = self;
        let path = package.iter().fold(path.clone(), |path, p| format!("{p} {path}"));
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

/// A run over generated files; field names are part of the program's interface.
#[derive(Debug, Serialize)]
pub(super) struct GeneratedRun<'a> {
    pub(super) seed: u64,
    pub(super) files: usize,
    pub(super) agrees: usize,
    pub(super) noted: usize,
    pub(super) refused: usize,
    pub(super) differs: usize,
    pub(super) coverage: &'a super::generate::Coverage,
    /// Those that are refused or differ.
    pub(super) record: &'a Record,
}

impl GeneratedRun<'_> {
    /// For people.
    pub(super) fn summary(&self) -> String {
        let Self { seed, files, agrees, noted, refused, differs, .. } = self;
        format!(
            "seed {seed}: {files} files, {agrees} agree, {noted} noted, {refused} refused, \
            {differs} differ"
        )
    }
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
            let columns = ["package", "version", "path", "verdict", "reason", "compared with"];
            let mut table = CsvTable::new(columns);
            for e in &self.files {
                let (verdict, rivals) = (e.verdict.name(), e.rivals.join(" "));
                let package = e.package.as_deref().unwrap_or("");
                let (name, version) = package.split_once("==").unwrap_or((package, ""));
                table
                    .push([name, version, &e.path, verdict, &e.reason, &rivals])
                    .map_err(|e| e.to_string())?;
            }
            table.save(path).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}
