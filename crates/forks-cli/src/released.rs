//! One sentence about loop equations that were left out because they repeat others.

use forks_mechanism::Mechanism;

/// `None` where all equations hold.
pub(crate) fn released_note(m: &Mechanism) -> Option<String> {
    let closures = m.forest().closures().iter().filter(|id| !m.joint(**id).released.is_empty());
    let names: Vec<String> = closures.clone().map(|&id| m.joint_label(id)).collect();
    let count: usize = closures.map(|&id| m.joint(id).released.count()).sum();
    if count == 0 {
        return None;
    }
    let shown = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match names.len() {
        0..=3 => String::new(),
        n => format!(" and {} more", n - 3),
    };
    let (s, verb) = if count == 1 { ("", "repeats") } else { ("s", "repeat") };
    Some(format!(
        "{count} loop equation{s} of {shown}{more} {verb} others but for rounded numbers and {} \
         left out; `forks inspect` gives both readings",
        if count == 1 { "is" } else { "are" },
    ))
}
