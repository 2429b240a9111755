//! The attributes of one element, over those of its default class, and their values.

use std::borrow::Cow;

use forks_mechanism::lie::glam::DVec3;

use crate::{
    ImportError, Location,
    xml::{Element, Tree},
};

/// Attributes that say the same thing in different ways: giving one replaces an inherited other.
const ORIENTATIONS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// Lists of which an element may give the first numbers only; the others stay as inherited.
const LISTS: [&str; 7] = ["size", "friction", "stiffness", "damping", "gear", "gainprm", "biasprm"];

/// Names and texts of attributes.
pub(crate) type Values<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// Attributes of an element.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    /// Name in the feature table.
    pub(crate) kind: &'static str,
    tag: &'a str,
    /// Where the element is.
    pub(crate) at: Location,
    values: Values<'a>,
}

/// An element as messages call it: `joint 'knee'`, or `joint` without a name.
pub(crate) fn label(tag: &str, name: Option<&str>) -> String {
    match name {
        Some(n) if !n.is_empty() => format!("{tag} '{n}'"),
        _ => tag.to_owned(),
    }
}

/// The attributes of an element alone.
pub(crate) fn own(e: &Element) -> Values<'_> {
    e.attributes.iter().map(|(n, v)| (n.as_str(), Cow::Borrowed(v.as_str()))).collect()
}

/// `own` over `inherited`. An attribute without text says nothing where the class says something,
/// as in MuJoCo.
pub(crate) fn merge<'a>(inherited: &[(&'a str, Cow<'a, str>)], own: Values<'a>) -> Values<'a> {
    let says = |(n, v): &(&str, Cow<'_, str>)| {
        !v.trim().is_empty() || !inherited.iter().any(|(i, _)| i == n)
    };
    let own: Values<'a> = own.into_iter().filter(says).collect();
    let turns = own.iter().any(|(n, v)| ORIENTATIONS.contains(n) && !v.trim().is_empty());
    let own: Values<'a> = own.into_iter().map(|(n, v)| (n, completed(n, v, inherited))).collect();
    let mut out = inherited.to_vec();
    out.retain(|(n, _)| {
        let replaced = own.iter().any(|(o, _)| o == n) || turns && ORIENTATIONS.contains(n);
        !replaced
    });
    out.extend(own);
    out
}

/// A list with the rest of the inherited one where it is shorter.
fn completed<'a>(
    name: &str,
    value: Cow<'a, str>,
    inherited: &[(&'a str, Cow<'a, str>)],
) -> Cow<'a, str> {
    let Some((_, longer)) = inherited.iter().find(|(n, _)| *n == name && LISTS.contains(n)) else {
        return value;
    };
    let given = value.split_whitespace().count();
    let rest: Vec<&str> = longer.split_whitespace().skip(given).collect();
    if given == 0 || rest.is_empty() {
        return value;
    }
    Cow::Owned(format!("{value} {}", rest.join(" ")))
}

impl<'a> Attributes<'a> {
    /// The attributes of `e` over inherited ones.
    pub(crate) fn new(
        kind: &'static str,
        tree: &'a Tree,
        e: &'a Element,
        inherited: &[(&'a str, Cow<'a, str>)],
    ) -> Self {
        Self { kind, tag: &e.tag, at: tree.location(e), values: merge(inherited, own(e)) }
    }

    /// Other values of the same element.
    pub(crate) fn from_values(element: &Self, values: Values<'a>) -> Self {
        Self { values, ..element.clone() }
    }

    /// All names and texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &str)> + '_ {
        self.values.iter().map(|(n, v)| (*n, v.as_ref()))
    }

    /// The text of an attribute.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_ref())
    }

    /// True if the attribute says something.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.text(name).is_some_and(|t| !t.trim().is_empty())
    }

    /// The element's name; `None` where it is empty.
    pub(crate) fn name(&self) -> Option<&str> {
        self.text("name").filter(|n| !n.is_empty())
    }

    /// The element as messages call it.
    pub(crate) fn label(&self) -> String {
        label(self.tag, self.name())
    }

    /// The tag of the element.
    pub(crate) fn tag(&self) -> &'a str {
        self.tag
    }

    /// An error about one attribute's value.
    pub(crate) fn invalid(&self, name: &str, problem: impl Into<String>) -> ImportError {
        ImportError::Value {
            at: Box::new(self.at.clone()),
            element: self.label(),
            attribute: name.into(),
            value: self.text(name).unwrap_or("").into(),
            problem: problem.into(),
        }
    }

    /// An error about the element.
    pub(crate) fn error(&self, problem: impl Into<String>) -> ImportError {
        ImportError::Element {
            at: Box::new(self.at.clone()),
            element: self.label(),
            problem: problem.into(),
        }
    }

    /// An attribute that names something that does not exist.
    pub(crate) fn unknown(&self, name: &str, kind: &'static str) -> ImportError {
        ImportError::UnknownReference {
            at: Box::new(self.at.clone()),
            element: self.label(),
            attribute: name.into(),
            value: self.text(name).unwrap_or("").into(),
            kind,
        }
    }

    /// The text of an attribute that must be given.
    pub(crate) fn required(&self, name: &str) -> Result<&str, ImportError> {
        let given = self.text(name).filter(|t| !t.trim().is_empty());
        given.ok_or_else(|| self.error(format!("attribute '{name}' is missing")))
    }

    /// Between `least` and `most` finite numbers.
    pub(crate) fn numbers(
        &self,
        name: &str,
        least: usize,
        most: usize,
    ) -> Result<Option<Vec<f64>>, ImportError> {
        // A list without numbers says nothing, as in MuJoCo.
        let Some(text) = self.text(name).filter(|t| !t.trim().is_empty()) else { return Ok(None) };
        let mut out = Vec::new();
        for word in text.split_whitespace() {
            let number = word.parse::<f64>().ok().filter(|x| x.is_finite());
            let Some(x) = number else {
                return Err(
                    self.invalid(name, format!("holds '{word}', which is not a finite number"))
                );
            };
            out.push(x);
        }
        if out.len() < least || out.len() > most {
            let expected = if least == most {
                format!("{least}")
            } else if most == usize::MAX {
                format!("at least {least}")
            } else {
                format!("{least} to {most}")
            };
            return Err(
                self.invalid(name, format!("has {} numbers, expected {expected}", out.len()))
            );
        }
        Ok(Some(out))
    }

    /// Exactly N numbers.
    pub(crate) fn array<const N: usize>(
        &self,
        name: &str,
    ) -> Result<Option<[f64; N]>, ImportError> {
        Ok(self.numbers(name, N, N)?.map(|v| <[f64; N]>::try_from(v).expect("length was checked")))
    }

    /// One number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.array::<1>(name)?.map(|[x]| x))
    }

    /// One number that must not be negative.
    pub(crate) fn not_negative(&self, name: &str) -> Result<Option<f64>, ImportError> {
        let x = self.number(name)?;
        if x.is_some_and(|x| x < 0.0) {
            return Err(self.invalid(name, "is negative"));
        }
        Ok(x)
    }

    /// Three numbers.
    pub(crate) fn vector(&self, name: &str) -> Result<Option<DVec3>, ImportError> {
        Ok(self.array::<3>(name)?.map(DVec3::from_array))
    }

    /// One of several words.
    pub(crate) fn keyword(
        &self,
        name: &str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, ImportError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match words.iter().find(|w| **w == text) {
            Some(w) => Ok(Some(w)),
            None => Err(self.invalid(name, format!("must be one of {}", words.join(", ")))),
        }
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, ImportError> {
        Ok(self.keyword(name, &["false", "true"])?.map(|w| w == "true"))
    }

    /// A polynomial of at most three coefficients whose linear part must not be negative: the
    /// linear part, and whether there is more.
    pub(crate) fn polynomial(&self, name: &str) -> Result<(f64, bool), ImportError> {
        let Some(p) = self.numbers(name, 1, 3)? else { return Ok((0.0, false)) };
        Ok((p[0], p[1..].iter().any(|&x| x != 0.0)))
    }
}
