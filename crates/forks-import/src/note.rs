//! Notes: what the mechanism does not hold exactly.

use crate::Location;

/// What happened to something in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Represented, but not exactly.
    Approximated,
    /// Left out.
    Ignored,
}

impl Effect {
    /// Lower-case name, as in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approximated => "approximated",
            Self::Ignored => "ignored",
        }
    }
}

/// Something in a file that the mechanism does not hold exactly (reading), or something in a mechanism that
/// the file does not (writing).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The element, with its name where it has one: `joint 'knee'`.
    pub element: String,
    /// The attribute; empty if the element as a whole is meant.
    pub attribute: String,
    /// What happened.
    pub effect: Effect,
    /// Why, in a few words.
    pub reason: String,
    /// File; `None` for text that came from no file.
    pub file: Option<String>,
    /// Line, counted from 1, where known.
    pub line: Option<u32>,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        if let Some(line) = self.line {
            write!(f, "{line}: ")?;
        }
        write!(f, "{}", self.element)?;
        if !self.attribute.is_empty() {
            write!(f, ", {}", self.attribute)?;
        }
        write!(f, ": {} ({})", self.effect.name(), self.reason)
    }
}

/// Collects notes; those about one kind of element are made once.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) list: Vec<Note>,
    once: std::collections::HashSet<(String, String)>,
}

impl Notes {
    /// A note about one element.
    pub(crate) fn add(
        &mut self,
        element: impl Into<String>,
        attribute: &str,
        effect: Effect,
        reason: impl Into<String>,
        at: &Location,
    ) {
        self.list.push(Note {
            element: element.into(),
            attribute: attribute.into(),
            effect,
            reason: reason.into(),
            file: at.file.clone(),
            line: (at.line > 0).then_some(at.line),
        });
    }

    /// A note about all elements of a kind, made at the first one.
    pub(crate) fn once(
        &mut self,
        kind: &str,
        attribute: &str,
        effect: Effect,
        reason: &str,
        at: &Location,
    ) {
        if self.once.insert((kind.into(), attribute.into())) {
            self.add(kind, attribute, effect, reason, at);
        }
    }
}
