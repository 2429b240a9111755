//! What the readers do with every element and attribute: the tables of the README, against which
//! they check files.

use std::sync::LazyLock;

/// How an attribute (or a whole element) is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Means in the mechanism what it means in the model file.
    Exact,
    /// Represented, with a note where that is not exact.
    Approximated,
    /// Left out, with a note where the value is not neutral.
    Noted,
    /// Without effect on kinematics, inertia, springs or loops: not mentioned.
    NoEffect,
    /// Refused where the value is not neutral; a note with [`crate::ImportOptions::lenient`].
    Refused,
}

impl Treatment {
    const ALL: [Self; 5] =
        [Self::Exact, Self::Approximated, Self::Noted, Self::NoEffect, Self::Refused];

    /// Word in the tables of the README.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Approximated => "approximated",
            Self::Noted => "noted",
            Self::NoEffect => "no effect",
            Self::Refused => "refused",
        }
    }
}

/// A row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Element, with its surroundings where the name alone is ambiguous.
    pub element: &'static str,
    /// Attributes, separated by blanks; empty for the element as a whole.
    pub attributes: &'static str,
    /// Treatment.
    pub treatment: Treatment,
    /// What to know.
    pub remark: &'static str,
}

/// The rows of both tables: URDF's stands first in the README.
static TABLES: LazyLock<[Vec<Feature>; 2]> = LazyLock::new(|| {
    let mut tables = include_str!("../README.md").split("|---|---|---|---|\n").skip(1).map(|t| {
        let rows = t.lines().take_while(|line| line.starts_with('|'));
        rows.filter_map(row).collect()
    });
    [(); 2].map(|()| tables.next().unwrap_or_default())
});

/// A row; `None` where a line is none, which a test forbids.
fn row(line: &'static str) -> Option<Feature> {
    let [_, element, attributes, treatment, remark, _] =
        line.split('|').map(str::trim).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let treatment = Treatment::ALL.into_iter().find(|t| t.name() == treatment)?;
    let attributes = if attributes == "(all)" { "" } else { attributes };
    Some(Feature { element, attributes, treatment, remark })
}

/// Every element and attribute that the MJCF reader knows; everything else is refused by name.
pub fn mjcf_features() -> &'static [Feature] {
    &TABLES[1]
}

/// Every element and attribute of URDF that the reader knows; everything else is noted as unknown:
/// URDF is extended at will.
pub fn urdf_features() -> &'static [Feature] {
    &TABLES[0]
}

/// The treatment of an attribute of an element.
pub(crate) fn attribute(table: &[Feature], element: &str, attribute: &str) -> Option<Feature> {
    let mut of_element = table.iter().filter(|f| f.element == element);
    of_element.find(|f| f.attributes.split(' ').any(|a| a == attribute)).copied()
}

/// The treatment of an element that is treated as a whole.
pub(crate) fn element(table: &[Feature], element: &str) -> Option<Feature> {
    table.iter().find(|f| f.element == element && f.attributes.is_empty()).copied()
}
