//! Springs that files have in attributes of `<dynamics>` or in `<gazebo>`. URDF has none, so they
//! are left out; the note says how to give them back.

use std::collections::HashMap;

use forks_mechanism::lie::Digits;

use super::Reader;
use crate::{
    note::{Effect, NAMES, Note},
    xml::{Element, Tree},
};

/// Attributes of `<dynamics>` that say how stiff a spring is, the most definite one first.
const STIFFNESS: [&str; 3] = ["spring_stiffness", "stiffness", "spring_constant"];
/// And where it rests.
const REST: [&str; 3] = ["spring_reference", "spring_rest", "spring_equilibrium"];
/// All of them.
pub(super) const ATTRIBUTES: [&str; 6] =
    [STIFFNESS[0], STIFFNESS[1], STIFFNESS[2], REST[0], REST[1], REST[2]];

/// A spring that is left out.
#[derive(Clone, Debug)]
pub(super) struct Spring {
    joint: String,
    stiffness: f64,
    rest: f64,
    line: u32,
    file: Option<String>,
}

fn number(text: Option<&str>) -> Option<f64> {
    text?.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Stiffness and rest position by the joint that a `<gazebo reference="…">` is about.
pub(super) fn of_gazebo<'t>(
    tree: &'t Tree,
    root: &'t Element,
) -> HashMap<&'t str, (f64, f64, &'t Element)> {
    let mut out = HashMap::new();
    for e in tree.children(root).filter(|e| e.tag == "gazebo") {
        let inside = |tag: &str| {
            let found = tree.children(e).find(|c| c.tag == tag);
            number(found.and_then(|c| c.text.as_deref()))
        };
        let Some(stiffness) = inside("springStiffness") else { continue };
        if let Some(joint) = e.attribute("reference") {
            out.insert(joint, (stiffness, inside("springReference").unwrap_or(0.0), e));
        }
    }
    out
}

/// The spring of a joint: what `<dynamics>` says, or else `<gazebo>`.
pub(super) fn of_joint(
    tree: &Tree,
    joint: &Element,
    gazebo: &HashMap<&str, (f64, f64, &Element)>,
) -> Option<Spring> {
    let name = joint.attribute("name")?;
    let first = |e: &Element, names: [&str; 3]| {
        names.iter().filter_map(|n| number(e.attribute(n))).find(|x| *x != 0.0)
    };
    let dynamics = tree.children(joint).filter(|c| c.tag == "dynamics");
    let of_dynamics = dynamics
        .filter_map(|d| Some((first(d, STIFFNESS)?, first(d, REST).unwrap_or(0.0), d)))
        .next();
    let of_gazebo = || gazebo.get(name).copied().filter(|(k, _, _)| *k != 0.0);
    let (stiffness, rest, e) = of_dynamics.or_else(of_gazebo)?;
    let at = tree.location(e);
    Some(Spring { joint: name.into(), stiffness, rest, line: at.line, file: at.file })
}

impl Reader<'_> {
    /// One note for all of them.
    pub(super) fn note_springs(&mut self) {
        let springs = std::mem::take(&mut self.springs);
        let Some(first) = springs.first() else { return };
        let flags: Vec<String> = springs
            .iter()
            .map(|s| format!("--stiffness {}={}", s.joint, Digits(s.stiffness)))
            .collect();
        let mut reason = match &springs[..] {
            [s] => {
                let k = Digits(s.stiffness);
                format!("a spring of joint '{}' ({k}) is left out; {}", s.joint, flags[0])
            }
            all => format!("springs of {} joints are left out; {}", all.len(), flags.join(" ")),
        };
        if let Some(s) = springs.iter().find(|s| s.rest != 0.0) {
            reason += &format!(
                "; that of '{}' rests at {}, which a side file can say",
                s.joint,
                Digits(s.rest)
            );
        }
        let mut note =
            Note::new(format!("joint '{}'", first.joint), "spring", Effect::Ignored, reason);
        note.file.clone_from(&first.file);
        note.line = (first.line > 0).then_some(first.line);
        note.count = springs.len();
        if springs.len() > 1 {
            note.names = springs.iter().take(NAMES).map(|s| s.joint.clone()).collect();
        }
        self.notes.list.push(note);
    }
}
