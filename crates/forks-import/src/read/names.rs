//! Names of one kind of element and what they stand for. Each kind has ids of its own type: a
//! number in the order of the text cannot be used in a list that has another order.

use std::collections::HashMap;

use crate::{ImportError, read::Attributes};

/// A body, numbered as MuJoCo does: depth first, the world is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyId(pub(crate) usize);

/// A joint: its body and its place among that body's joints. The text may give a body its joints
/// behind the bodies that it carries; in the tree they come before the joints of those, so that the
/// place in the text says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeJointId {
    pub(crate) body: BodyId,
    pub(crate) place: usize,
}

/// A named site, numbered as the text has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteId(pub(crate) usize);

/// A named geom, numbered as the text has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GeomId(pub(crate) usize);

/// A tendon, numbered as the text has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TendonId(pub(crate) usize);

/// A mesh, numbered as the text has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshId(pub(crate) usize);

/// Names of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Names<T> {
    kind: &'static str,
    id: HashMap<String, T>,
}

impl<T: Copy> Names<T> {
    /// No names.
    pub(crate) fn new(kind: &'static str) -> Self {
        Self { kind, id: HashMap::new() }
    }

    /// What these are names of.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// Registers the name of an element, if it has one.
    pub(crate) fn insert(&mut self, a: &Attributes<'_>, id: T) -> Result<(), ImportError> {
        let Some(name) = a.name() else { return Ok(()) };
        if self.id.insert(name.to_owned(), id).is_some() {
            return Err(ImportError::DuplicateName {
                at: Box::new(a.at.clone()),
                kind: self.kind,
                name: name.into(),
            });
        }
        Ok(())
    }

    /// Registers a name that the file does not give.
    pub(crate) fn insert_text(&mut self, name: &str, id: T) {
        self.id.insert(name.to_owned(), id);
    }

    /// What a name stands for.
    pub(crate) fn find(&self, name: &str) -> Option<T> {
        self.id.get(name).copied()
    }

    /// What an attribute refers to; `None` if it is not given.
    pub(crate) fn reference(
        &self,
        a: &Attributes<'_>,
        attribute: &str,
    ) -> Result<Option<T>, ImportError> {
        let Some(name) = a.text(attribute) else { return Ok(None) };
        self.find(name).map(Some).ok_or_else(|| a.unknown(attribute, self.kind))
    }

    /// What an attribute that must be given refers to.
    pub(crate) fn required(&self, a: &Attributes<'_>, attribute: &str) -> Result<T, ImportError> {
        a.required(attribute)?;
        Ok(self.reference(a, attribute)?.expect("attribute is given"))
    }
}
