//! The mechanisms to judge: those of the list, and generated ones.

use std::{collections::BTreeMap, fs, path::Path};

use forks_import::{ImportOptions, load_mjcf, parse_mjcf};
use forks_mechanism::lie::glam::DVec3;
use forks_reduce::{Problem, ProblemOptions};
use serde::Deserialize;

use super::{
    generate::{Generated, generate},
    settings::{Families, RANDOM, VARIANTS},
    variants::{self, Variant},
};

/// A mechanism with what its blend is for.
pub(super) struct Subject {
    pub(super) problem: Problem,
    /// Axis of the cone of forces.
    pub(super) axis: DVec3,
    pub(super) gravity: bool,
}

/// A mechanism by name; where it could not be read, why.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) subject: Result<Subject, String>,
    /// The file of a generated mechanism.
    pub(super) text: Option<String>,
}

/// An entry of the list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    effectors: Vec<String>,
    cone: [f64; 3],
    gravity: bool,
    /// Everything moves in a plane; nobody is told.
    #[serde(default)]
    planar: bool,
}

/// The mechanisms that were chosen.
pub(super) fn chosen(f: &Families, fixtures: &Path) -> Result<Vec<Named>, String> {
    let list = fixtures.join(&f.list);
    let said = |e: &dyn std::fmt::Display| format!("{}: {e}", list.display());
    let text = fs::read_to_string(&list).map_err(|e| said(&e))?;
    let listed: BTreeMap<String, Entry> = serde_json::from_str(&text).map_err(|e| said(&e))?;
    let generated: Vec<String> = (0..f.random.seeds).map(generated_name).collect();
    let varied: Vec<(String, &str, Variant)> = listed
        .keys()
        .flat_map(|n| variants::ALL.map(|(letter, v)| (format!("{n}-{letter}"), n.as_str(), v)))
        .collect();
    let wanted = f.choice.listed.as_deref();
    let known = |n: &String| {
        [RANDOM, VARIANTS].contains(&n.as_str())
            || listed.contains_key(n)
            || generated.contains(n)
            || varied.iter().any(|v| v.0 == *n)
    };
    if let Some(unknown) = wanted.unwrap_or_default().iter().find(|n| !known(n)) {
        let names: Vec<&str> = listed.keys().map(String::as_str).collect();
        let names = names.join(", ");
        return Err(format!("no mechanism '{unknown}'; there are {names}, {VARIANTS}, {RANDOM}"));
    }
    let runs = |name: &String| wanted.is_none_or(|w| w.contains(name));
    let file = |name: &str| list.with_file_name(format!("{name}.xml"));
    let mut out = Vec::new();
    for (name, entry) in listed.iter().filter(|l| runs(l.0)) {
        let subject = of_list(&file(name), name, entry, None);
        out.push(Named { name: name.clone(), subject, text: None });
    }
    let asked = |name: &String| wanted.is_some_and(|w| w.contains(name));
    for (name, of, v) in varied.iter().filter(|v| f.choice.variants || asked(&v.0)) {
        let subject = of_list(&file(of), of, &listed[*of], Some(*v));
        out.push(Named { name: name.clone(), subject, text: None });
    }
    for (seed, name) in (0..).zip(&generated) {
        if f.choice.random || asked(name) {
            let made = generate(seed);
            let (subject, text) = (of_generated(&made), Some(made.text));
            out.push(Named { name: name.clone(), subject, text });
        }
    }
    Ok(out)
}

fn generated_name(seed: u64) -> String {
    format!("{RANDOM}-{seed:02}")
}

fn of_list(
    path: &Path,
    name: &str,
    entry: &Entry,
    variant: Option<Variant>,
) -> Result<Subject, String> {
    let import = load_mjcf(path, &ImportOptions::default()).map_err(|e| e.to_string())?;
    let listed = (&entry.effectors[..], DVec3::from_array(entry.cone), entry.planar);
    let (effectors, axis) = match variant {
        Some(v) => v.of(name, &import.mechanism, listed),
        None => (entry.effectors.clone(), listed.1),
    };
    let names: Vec<&str> = effectors.iter().map(String::as_str).collect();
    let problem = Problem::new(&import.mechanism, &names, &ProblemOptions::default());
    let problem = problem.map_err(|e| e.to_string())?;
    Ok(Subject { problem, axis, gravity: entry.gravity })
}

fn of_generated(g: &Generated) -> Result<Subject, String> {
    let import = parse_mjcf(&g.text, &ImportOptions::default()).map_err(|e| e.to_string())?;
    let problem = Problem::new(&import.mechanism, &["tip"], &ProblemOptions::default());
    let problem = problem.map_err(|e| e.to_string())?;
    Ok(Subject { problem, axis: g.axis, gravity: g.gravity })
}
