//! The verdict on one file.

use std::{
    any::Any,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use forks_import::{Import, ImportOptions, SideSource, load_model};

use super::{
    compare::{Comparison, Depth, Matching, Rounding},
    facts::{Answer, Facts, RivalAnswer},
    find::{Format, Found},
    ours,
    record::Entry,
    verdict::Verdict,
};

/// How many differences a reason names.
const SHOWN: usize = 4;

/// Said where [`Rounding::COARSE`] was needed.
const COARSE: &str = "inertia agrees to 1e-6 or 1e-12 kg m² only, as MuJoCo rounds that of meshes \
    and of small bodies";

/// Our reading of a file.
enum Reading {
    /// Read as users read it.
    Strict(Import),
    /// Refused; what a lenient reading gives where that is possible.
    Refused(String, Option<Import>),
}

/// Reads the file, compares it with what the rivals say, and judges.
pub(super) fn judge(
    found: &Found,
    format: Format,
    is_included: bool,
    answer: Result<Answer, String>,
) -> Entry {
    let judged = catch_unwind(AssertUnwindSafe(|| compare(found, format, is_included, answer)));
    judged.unwrap_or_else(|panic| {
        Entry::new(found, Verdict::Differs, format!("panic: {}", text_of(&*panic)))
    })
}

fn text_of(panic: &dyn Any) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

fn read(found: &Found) -> Reading {
    let strict = ImportOptions { side: SideSource::None, ..ImportOptions::default() };
    match load_model(&found.path, &strict) {
        Ok(import) => Reading::Strict(import),
        Err(e) => {
            let reason = e.to_string();
            let lenient = ImportOptions { lenient: true, ..strict };
            Reading::Refused(reason, load_model(&found.path, &lenient).ok())
        }
    }
}

fn compare(
    found: &Found,
    format: Format,
    is_included: bool,
    answer: Result<Answer, String>,
) -> Entry {
    let reading = read(found);
    let rivals = match answer {
        Ok(answer) => answer.rivals,
        Err(e) => return Entry::new(found, Verdict::Differs, e),
    };
    let errors: Vec<String> = rivals
        .iter()
        .filter_map(|(name, a)| match a {
            RivalAnswer::Refused { error } => Some(format!("{name}: {error}")),
            RivalAnswer::Facts(_) => None,
        })
        .collect();
    let nobody = errors.len() == rivals.len();
    let (import, refusal) = match &reading {
        Reading::Strict(import) => (import, None),
        Reading::Refused(_, _) if nobody && is_included => {
            return Entry::new(found, Verdict::Skipped, "a part of other files".into());
        }
        Reading::Refused(why, _) if nobody => {
            let reason = format!("{why}; {}", errors.join("; "));
            return Entry::new(found, Verdict::Refused, reason);
        }
        Reading::Refused(why, None) => {
            return Entry::new(found, Verdict::Refused, why.clone());
        }
        Reading::Refused(why, Some(import)) => (import, Some(why)),
    };
    if nobody {
        let reason = errors.join("; ");
        return Entry::new(found, Verdict::Alone, reason);
    }
    let comparison = Comparison {
        by_name: format == Format::Urdf,
        depth: if refusal.is_some() { Depth::Inertia } else { Depth::All },
        inertia: Rounding::FINE,
    };
    let facts = ours::facts(&import.mechanism);
    let (mut differences, mut notes, mut compared) = (vec![], vec![], vec![]);
    for (name, a) in &rivals {
        let RivalAnswer::Facts(theirs) = a else { continue };
        compared.push(name.clone());
        let mut heard = vec![];
        let mut found = differences_to(&comparison, import, &facts, theirs, &mut heard);
        if !found.is_empty() {
            let coarse = Comparison { inertia: Rounding::COARSE, ..comparison };
            let mut heard_again = vec![];
            if differences_to(&coarse, import, &facts, theirs, &mut heard_again).is_empty() {
                heard = heard_again;
                heard.push(format!("{COARSE}: {}", found.swap_remove(0)));
                found.clear();
            }
        }
        notes.extend(heard);
        differences.extend(found.into_iter().map(|d| format!("{name}: {d}")));
    }
    let mut entry = match (differences.is_empty(), refusal) {
        (false, refusal) => {
            let more = differences.len().saturating_sub(SHOWN);
            differences.truncate(SHOWN);
            let mut reason = differences.join("; ");
            if more > 0 {
                reason += &format!("; and {more} more");
            }
            if let Some(why) = refusal {
                reason = format!("refused ({why}), and read leniently: {reason}");
            }
            Entry::new(found, Verdict::Differs, reason)
        }
        (true, Some(why)) => Entry::new(found, Verdict::Refused, why.clone()),
        (true, None) => {
            notes.extend(note_kinds(import));
            notes.extend(adapted(&rivals));
            let verdict = if notes.is_empty() { Verdict::Agrees } else { Verdict::Noted };
            Entry::new(found, verdict, notes.join("; "))
        }
    };
    entry.rivals = compared;
    entry
}

/// What the rivals could only read without.
fn adapted(rivals: &BTreeMap<String, RivalAnswer>) -> Option<String> {
    let lists = rivals.values().filter_map(|a| match a {
        RivalAnswer::Facts(f) if f.adapted != ["geometry"] => Some(&f.adapted),
        _ => None,
    });
    let all: Vec<&str> = lists.flatten().map(String::as_str).collect();
    let first = all.first()?;
    Some(format!("compared without {} missing files ({first}, …)", all.len()))
}

/// The kinds of notes, each with a count.
fn note_kinds(import: &Import) -> Vec<String> {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for n in &import.notes {
        let element = n.element.split(' ').next().unwrap_or("");
        let kind = if n.attribute.is_empty() {
            element.to_owned()
        } else {
            format!("{element} {}", n.attribute)
        };
        match kinds.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let text = |(kind, count): (String, usize)| match count {
        1 => kind,
        _ => format!("{kind} ({count})"),
    };
    kinds.into_iter().map(text).collect()
}

fn differences_to(
    comparison: &Comparison,
    import: &Import,
    ours: &Facts,
    theirs: &Facts,
    notes: &mut Vec<String>,
) -> Vec<String> {
    let mut out = comparison.facts(ours, theirs);
    let matching = match comparison.joints(&ours.joints, &theirs.joints) {
        Ok(matching) => matching,
        Err(difference) => {
            out.insert(0, difference);
            return out;
        }
    };
    let m = &import.mechanism;
    for state in &theirs.states {
        if state.positions.len() != m.tree_position_count()
            || state.velocities.len() != m.tree_velocity_count()
        {
            let (ours, theirs) = (m.tree_position_count(), state.positions.len());
            out.push(format!("{ours} positions, theirs {theirs}"));
            break;
        }
        let q = Matching::to_ours(&matching.positions, &state.positions);
        let u = Matching::to_ours(&matching.velocities, &state.velocities);
        let our = ours::state(m, &state.label, &q, &u);
        out.extend(comparison.state(&matching, (ours, theirs), &our, state, notes));
    }
    out
}
