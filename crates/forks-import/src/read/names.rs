//! Names of one kind of element and what they stand for.

use std::collections::HashMap;

use crate::{ImportError, read::Attributes};

/// Names of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    kind: &'static str,
    index: HashMap<String, usize>,
}

impl Names {
    /// No names.
    pub(crate) fn new(kind: &'static str) -> Self {
        Self { kind, index: HashMap::new() }
    }

    /// Registers the name of an element, if it has one.
    pub(crate) fn insert(&mut self, a: &Attributes<'_>, index: usize) -> Result<(), ImportError> {
        let Some(name) = a.name() else { return Ok(()) };
        if self.index.insert(name.to_owned(), index).is_some() {
            return Err(ImportError::DuplicateName {
                at: Box::new(a.at.clone()),
                kind: self.kind,
                name: name.into(),
            });
        }
        Ok(())
    }

    /// Registers a name that the file does not give.
    pub(crate) fn insert_text(&mut self, name: &str, index: usize) {
        self.index.insert(name.to_owned(), index);
    }

    /// The index of a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// What an attribute refers to; `None` if it is not given.
    pub(crate) fn reference(
        &self,
        a: &Attributes<'_>,
        attribute: &str,
    ) -> Result<Option<usize>, ImportError> {
        let Some(name) = a.text(attribute) else { return Ok(None) };
        self.find(name).map(Some).ok_or_else(|| a.unknown(attribute, self.kind))
    }

    /// What an attribute that must be given refers to.
    pub(crate) fn required(
        &self,
        a: &Attributes<'_>,
        attribute: &str,
    ) -> Result<usize, ImportError> {
        a.required(attribute)?;
        Ok(self.reference(a, attribute)?.expect("attribute is given"))
    }
}
