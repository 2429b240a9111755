//! Notes: what the mechanism does not hold exactly.

use std::collections::hash_map::Entry;

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

/// Something in a file that the mechanism does not hold exactly (reading), or something in a
/// mechanism that the file does not (writing).
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
    /// How many elements of the file it is about, this one included.
    pub count: usize,
    /// Names of the first of them, at most [`NAMES`]; empty where they have none or there is only
    /// the one that `element` names.
    pub names: Vec<String>,
}

/// Why a collision mesh is not exact.
pub(crate) const HULLS: &str = "a collision mesh is the convex hull of its points";

/// How many names a note about several elements has.
pub const NAMES: usize = 3;

impl Note {
    /// A note about one element.
    pub fn new(
        element: impl Into<String>,
        attribute: impl Into<String>,
        effect: Effect,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            element: element.into(),
            attribute: attribute.into(),
            effect,
            reason: reason.into(),
            file: None,
            line: None,
            count: 1,
            names: Vec::new(),
        }
    }

    /// The same note with the place that it is about.
    pub(crate) fn at(mut self, at: Location) -> Self {
        self.line = (at.line > 0).then_some(at.line);
        self.file = at.file;
        self
    }

    /// What notes of one kind have in common: the kind of element, the attribute, the effect, and
    /// the reason without names and numbers. One that is about several elements already is a kind
    /// of its own.
    fn kind(&self) -> (&str, &str, Effect, String) {
        let several = self.element.matches('\'').count() > 2;
        let tag = match several {
            true => &self.element,
            false => self.element.split(' ').next().unwrap_or(""),
        };
        (tag, &self.attribute, self.effect, without_names_and_numbers(&self.reason))
    }

    /// The name that tells it from others of its kind: that of the element, or else the first one
    /// in the reason.
    fn own_name(&self) -> Option<&str> {
        let quoted = |s: &'_ str| {
            let start = s.find('\'')? + 1;
            Some((start, start + s[start..].find('\'')?))
        };
        let range = |text| quoted(text).filter(|(a, b)| a < b);
        match range(&self.element) {
            Some((a, b)) => Some(&self.element[a..b]),
            None => range(&self.reason).map(|(a, b)| &self.reason[a..b]),
        }
    }
}

/// One note per kind, in the order of their first ones: with how many there are and the first
/// names. Place and reason are those of the first.
pub fn group_notes(notes: &[Note]) -> Vec<Note> {
    let mut out: Vec<Note> = Vec::new();
    let mut place: std::collections::HashMap<_, usize> = std::collections::HashMap::new();
    for n in notes {
        let at = *place.entry(n.kind()).or_insert(out.len());
        let Some(group) = out.get_mut(at) else {
            out.push(n.clone());
            continue;
        };
        if group.names.is_empty() {
            group.names.extend(group.own_name().map(String::from));
        }
        group.count += n.count;
        let own: Vec<&str> = match &n.names[..] {
            [] => n.own_name().into_iter().collect(),
            names => names.iter().map(String::as_str).collect(),
        };
        for name in own {
            if group.names.len() < NAMES && !group.names.iter().any(|x| x == name) {
                group.names.push(name.into());
            }
        }
    }
    out
}

/// Text with every quoted name as '' and every number as #.
fn without_names_and_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    let mut last = ' ';
    for c in text.chars() {
        let number = c.is_ascii_digit() || (last == '#' && matches!(c, '.' | 'e' | '-' | '+'));
        match c {
            '\'' => {
                quoted = !quoted;
                out.push(c);
                last = c;
            }
            _ if quoted => {}
            _ if number && last == '#' => {}
            _ if number => {
                // The sign belongs to the number.
                if out.ends_with('-') {
                    out.pop();
                }
                out.push('#');
                last = '#';
            }
            _ => {
                out.push(c);
                last = c;
            }
        }
    }
    out
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        if let Some(line) = self.line {
            write!(f, "{line}: ")?;
        }
        match &self.names[..] {
            [] if self.count > 1 => write!(f, "{} ({} of them)", self.element, self.count)?,
            [] => write!(f, "{}", self.element)?,
            names => {
                let tag = self.element.split(' ').next().unwrap_or("");
                write!(f, "{} {tag}: '{}'", self.count, names.join("', '"))?;
                if self.count > names.len() {
                    f.write_str(", ...")?;
                }
            }
        }
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
    once: std::collections::HashMap<(String, String), usize>,
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
        self.list.push(Note::new(element, attribute, effect, reason).at(at.clone()));
    }

    /// A note about all elements of a kind, made at the first one; it counts the others.
    pub(crate) fn once(
        &mut self,
        kind: &str,
        attribute: &str,
        effect: Effect,
        reason: &str,
        at: &Location,
    ) {
        match self.once.entry((kind.into(), attribute.into())) {
            Entry::Occupied(index) => self.list[*index.get()].count += 1,
            Entry::Vacant(place) => {
                place.insert(self.list.len());
                self.add(kind, attribute, effect, reason, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_do_not_tell_kinds_apart() {
        let same = |a: &str, b: &str| {
            assert_eq!(without_names_and_numbers(a), without_names_and_numbers(b));
        };
        same("from 0 to 1.5e-7 of 'a b'", "from -2.25 to 30 of 'c'");
        assert_eq!(without_names_and_numbers("a-b 'c' x2"), "a-b '' x#");
    }
}
