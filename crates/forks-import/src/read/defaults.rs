//! Default classes. A class starts as a copy of its parent, so that its values are complete; nested
//! classes are read after the values of the class around them.

use std::collections::HashMap;

use super::{
    Attributes, Reader,
    actuator::ActuatorDefaults,
    attributes::{Values, merge, own},
};
use crate::{ImportError, schema, xml::Element};

/// Kinds with defaults that matter, and the table rows that know their attributes.
const KINDS: [(&str, &[&str]); 6] = [
    ("mesh", &["mesh"]),
    ("joint", &["joint"]),
    ("geom", &["geom"]),
    ("site", &["site"]),
    ("equality", &["connect", "weld", "equality/joint"]),
    ("tendon", &["tendon/fixed", "tendon/spatial"]),
];
/// Kinds whose defaults have no effect.
const WITHOUT_EFFECT: [&str; 5] = ["texture", "material", "camera", "light", "pair"];

/// One class with all values, inherited ones included; what it says about gain and bias of
/// actuators stands alone.
#[derive(Clone, Debug, Default)]
struct Class<'a> {
    parent: Option<usize>,
    values: HashMap<&'static str, Values<'a>>,
    shared_actuator: Values<'a>,
    actuator: Option<ActuatorDefaults<'a>>,
}

/// All classes; the root is number 0.
#[derive(Clone, Debug)]
pub(crate) struct Defaults<'a> {
    classes: Vec<Class<'a>>,
    names: HashMap<String, usize>,
}

impl Default for Defaults<'_> {
    fn default() -> Self {
        Self { classes: vec![Class::default()], names: HashMap::from([("main".into(), 0)]) }
    }
}

impl<'a> Defaults<'a> {
    /// The class of that name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The values that a class gives to elements of a kind.
    pub(crate) fn values(
        &self,
        class: usize,
        kind: &str,
    ) -> &[(&'a str, std::borrow::Cow<'a, str>)] {
        self.classes[class].values.get(kind).map_or(&[], Vec::as_slice)
    }

    /// What the nearest class that says something about actuators of a kind says.
    pub(crate) fn actuator(&self, class: usize, kind: &str) -> Option<&ActuatorDefaults<'a>> {
        std::iter::successors(Some(class), |&c| self.classes[c].parent)
            .filter_map(|c| self.classes[c].actuator.as_ref())
            .find(|d| d.concerns(kind))
    }

    /// Attributes that actuators of all kinds share.
    pub(crate) fn shared_actuator(&self, class: usize) -> &[(&'a str, std::borrow::Cow<'a, str>)] {
        &self.classes[class].shared_actuator
    }
}

impl<'a> Reader<'a> {
    /// Reads a top-level `<default>`, nested ones with an explicit stack.
    pub(crate) fn read_defaults(&mut self, e: &'a Element) -> Result<(), ImportError> {
        let mut stack = vec![(e, None)];
        while let Some((e, parent)) = stack.pop() {
            let class = self.open_class(e, parent)?;
            let mut nested = Vec::new();
            for child in self.tree.children(e) {
                if child.tag == "default" {
                    nested.push((child, Some(class)));
                } else {
                    self.read_default(child, class)?;
                }
            }
            stack.extend(nested.into_iter().rev());
        }
        Ok(())
    }

    fn open_class(&mut self, e: &'a Element, parent: Option<usize>) -> Result<usize, ImportError> {
        let a = self.attributes("default", e)?;
        let Some(parent) = parent else {
            if a.text("class").is_some_and(|c| !c.is_empty() && c != "main") {
                return Err(
                    a.invalid("class", "renames the outermost class, which is always 'main'")
                );
            }
            return Ok(0);
        };
        let name = a.required("class")?;
        if name.is_empty() {
            return Err(a.invalid("class", "is empty"));
        }
        let d = &mut self.defaults;
        let copy = d.classes[parent].clone();
        d.classes.push(Class { parent: Some(parent), actuator: None, ..copy });
        if d.names.insert(name.to_owned(), d.classes.len() - 1).is_some() {
            return Err(ImportError::DuplicateName {
                at: Box::new(a.at.clone()),
                kind: "default class",
                name: name.into(),
            });
        }
        Ok(d.classes.len() - 1)
    }

    fn read_default(&mut self, e: &'a Element, class: usize) -> Result<(), ImportError> {
        if WITHOUT_EFFECT.contains(&e.tag.as_str()) {
            return Ok(());
        }
        if super::actuator::is_actuator(&e.tag) {
            let inherited = self.defaults.actuator(class, &e.tag).cloned();
            let said = self.actuator_defaults(inherited, e)?;
            let class = &mut self.defaults.classes[class];
            class.shared_actuator = merge(&class.shared_actuator, super::actuator::split(e).1);
            class.actuator = Some(said);
            return Ok(());
        }
        let Some(&(kind, rows)) = KINDS.iter().find(|(k, _)| *k == e.tag) else {
            return self.unknown_element(e, "default");
        };
        for (name, value) in &e.attributes {
            let known =
                rows.iter().any(|r| schema::attribute(schema::mjcf_features(), r, name).is_some());
            if !known || name == "class" || name == "name" {
                let a = Attributes::new(rows[0], self.tree, e, &[]);
                self.unknown_attribute(&a, name, value)?;
            }
        }
        let inherited = self.defaults.classes[class].values.entry(kind).or_default();
        *inherited = merge(inherited, own(e));
        Ok(())
    }
}
