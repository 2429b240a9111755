//! One case: what measuring it needs, and what is known about it afterwards.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use serde::Serialize;

use super::{
    measure,
    measure::{FLAGGED_SPREAD, Timing},
    peers::Peers,
};

/// What measuring a case needs.
pub(super) struct Context<'a> {
    /// Root of the repository.
    pub(super) root: &'a Path,
    /// Seconds that a run lasts at least.
    pub(super) batch: f64,
    /// True for runs that only show that everything works.
    pub(super) quick: bool,
    /// What the names of wanted cases begin with; longer than an entry's name where it selects
    /// within it.
    pub(super) prefix: &'a str,
    /// The rivals in Python, or why they cannot run; `None` if they were not asked for.
    pub(super) peers: Option<Result<Peers, String>>,
    /// Where curves and plots go, if they are wanted.
    pub(super) report: Option<&'a Path>,
}

impl Context<'_> {
    /// True if a case of an entry is wanted.
    pub(super) fn wants(&self, case: &str) -> bool {
        case.starts_with(self.prefix)
    }
}

/// A measured case; times in ns per call.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Case {
    pub(super) case: String,
    pub(super) n_links: usize,
    /// Time step, s; null where nothing is stepped.
    pub(super) dt: Option<f64>,
    pub(super) ours_ns: f64,
    pub(super) rivals: BTreeMap<String, f64>,
    /// Rival's time over ours: above 1 we are faster.
    pub(super) ratio: BTreeMap<String, f64>,
    /// Computing time per call without what other programs took, by name (`ours`); single-threaded
    /// ones only.
    pub(super) cpu_ns: BTreeMap<String, f64>,
    /// The same ratio of computing times: the one to look at on a loaded machine.
    pub(super) cpu_ratio: BTreeMap<String, f64>,
    /// (max − min)/median of our seven runs.
    pub(super) spread: f64,
    /// The same for the rivals.
    pub(super) rival_spread: BTreeMap<String, f64>,
    /// Whose spread is over 25 %: `ours` or the rival.
    pub(super) flagged: Vec<String>,
    pub(super) threads: usize,
    /// Mean load of the machine over the last minute; everything above `threads` is other work.
    pub(super) machine_load: Option<f64>,
    /// What was measured, ours and the rivals'.
    pub(super) settings: BTreeMap<String, String>,
    /// Further numbers: sizes, exponents, differences.
    pub(super) figures: BTreeMap<String, f64>,
    /// Rivals that could not run, and why.
    pub(super) notes: Vec<String>,
}

impl Case {
    /// Our time alone.
    pub(super) fn new(
        name: &str,
        n_links: usize,
        threads: usize,
        ours: Timing,
        settings: &str,
    ) -> Self {
        let cpu = ours.cpu_ns.filter(|_| threads == 1).map(|ns| ("ours".to_owned(), ns));
        let mut case = Self {
            case: name.into(),
            n_links,
            dt: None,
            ours_ns: ours.ns,
            rivals: BTreeMap::new(),
            ratio: BTreeMap::new(),
            cpu_ns: cpu.into_iter().collect(),
            cpu_ratio: BTreeMap::new(),
            spread: ours.spread,
            rival_spread: BTreeMap::new(),
            flagged: vec![],
            threads,
            machine_load: measure::load(),
            settings: BTreeMap::from([("ours".into(), settings.into())]),
            figures: BTreeMap::new(),
            notes: vec![],
        };
        case.flag("ours", ours.spread);
        case
    }

    /// A rival's time.
    pub(super) fn rival(&mut self, name: &str, theirs: Timing, settings: &str) {
        self.rivals.insert(name.into(), theirs.ns);
        self.ratio.insert(name.into(), theirs.ns / self.ours_ns);
        if let (Some(theirs), Some(ours)) = (theirs.cpu_ns, self.cpu_ns.get("ours")) {
            self.cpu_ratio.insert(name.into(), theirs / ours);
            self.cpu_ns.insert(name.into(), theirs);
        }
        self.rival_spread.insert(name.into(), theirs.spread);
        self.settings.insert(name.into(), settings.into());
        self.flag(name, theirs.spread);
    }

    /// A rival's time, or a note why it is left out.
    pub(super) fn rival_or_note(
        &mut self,
        name: &str,
        theirs: &Result<Timing, String>,
        settings: &str,
    ) {
        match theirs {
            Ok(timing) => self.rival(name, *timing, settings),
            Err(e) => self.notes.push(format!("{name} left out: {e}")),
        }
    }

    fn flag(&mut self, name: &str, spread: f64) {
        if spread > FLAGGED_SPREAD {
            self.flagged.push(name.into());
        }
    }

    /// A number beside the times.
    pub(super) fn figure(&mut self, name: &str, value: f64) {
        self.figures.insert(name.into(), value);
    }

    /// The case for people.
    pub(super) fn text(&self) -> String {
        let mut out =
            format!("\n{} ({} links, {} threads)\n", self.case, self.n_links, self.threads);
        let mut line = |name: &str, ns: f64, spread: f64| {
            let flag = if spread > FLAGGED_SPREAD { ", over 25 %: noisy" } else { "" };
            let settings = self.settings.get(name).map_or("", String::as_str);
            writeln!(
                out,
                "  {name:<16}{:>12.2} µs  spread {spread:.2}{flag}  {settings}",
                1e-3 * ns
            )
            .expect("writing to a string");
        };
        line("ours", self.ours_ns, self.spread);
        for (name, ns) in &self.rivals {
            line(name, *ns, self.rival_spread[name]);
        }
        for (name, ratio) in &self.ratio {
            let cpu = self.cpu_ratio.get(name);
            let cpu = cpu.map_or(String::new(), |r| format!(", in computing time {r:.3}"));
            writeln!(out, "  {name} / ours: {ratio:.3}{cpu}").expect("writing to a string");
        }
        for (name, ns) in &self.cpu_ns {
            writeln!(out, "  computing time, {name}: {:.2} µs", 1e-3 * ns)
                .expect("writing to a string");
        }
        for (name, value) in &self.figures {
            writeln!(out, "  {name}: {value:.4e}").expect("writing to a string");
        }
        for note in &self.notes {
            writeln!(out, "  note: {note}").expect("writing to a string");
        }
        out.trim_end().to_owned()
    }
}
