//! Loop equations that repeat others up to the rounding of the file's numbers: released, with both
//! readings noted.

use forks_mechanism::{
    Mechanism,
    redundancy::{Release, release_redundant},
};

use crate::{Effect, Import, ImportError, Note};

/// Decides about the loops of a model at its start pose, unless that was done when a side file
/// closed them.
pub(crate) fn release(import: &mut Import, file: Option<&str>) -> Result<(), ImportError> {
    let m = &import.mechanism;
    if m.joints().iter().any(|j| !j.released.is_empty()) {
        return Ok(());
    }
    let failed = |source| ImportError::Mechanism { file: file.unwrap_or("model").into(), source };
    if let Some(release) = release_redundant(m, &m.start_positions()).map_err(failed)? {
        import.notes.extend(notes(&release, m, file));
        import.mechanism = release.mechanism;
    }
    Ok(())
}

/// Singular values below this part of the largest are rounding of the arithmetic.
const ROUNDING: f64 = 1e-12;

/// One note per set of loops that share joints.
pub(crate) fn notes(release: &Release, m: &Mechanism, file: Option<&str>) -> Vec<Note> {
    let note = |f: &forks_mechanism::redundancy::NearRedundancy| {
        let names: Vec<String> =
            f.closures.iter().map(|&id| format!("'{}'", m.joint_label(id))).collect();
        let shown = names.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        let more = match names.len() {
            0..=3 => String::new(),
            n => format!(" and {} more", n - 3),
        };
        let (s, verb) = if f.released == 1 { ("", "repeats") } else { ("s", "repeat") };
        // Rounding of the assembly is no gap.
        let gap = |x: f64, unit: &str| (x > 1e-15).then(|| format!("{x:.1e} {unit}"));
        let gaps = [gap(f.position_gap, "m"), gap(f.angle_gap, "rad")];
        let gaps: Vec<String> = gaps.into_iter().flatten().collect();
        let open = match gaps.is_empty() {
            true => String::new(),
            false => format!(", with gaps of {}", gaps.join(" and ")),
        };
        // Exactly parallel axes with misplaced points: redundant, and contradicting the others.
        let how = match f.left_out > ROUNDING {
            true => format!(
                "{verb} others up to {:.1e} of the largest, as rounded numbers leave it (the \
                 smallest other one is {:.1e})",
                f.left_out, f.kept
            ),
            false => format!("{verb} others, with which rounded numbers do not agree"),
        };
        let all = match release.mobility == release.mobility_with_all {
            true => String::new(),
            false => format!(", or {} with all equations", release.mobility_with_all),
        };
        let reason = format!(
            "{} equation{s} {how}: left out{open}; mobility {}{all}",
            f.released, release.mobility
        );
        let element = format!("loops {shown}{more}");
        let mut note = Note::new(element, "", Effect::Approximated, reason);
        note.file = file.map(str::to_string);
        note
    };
    release.found.iter().map(note).collect()
}
