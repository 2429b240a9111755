//! What is wrong with the moments of an inertial element.

use super::Attributes;
use crate::{ImportError, Location};

/// Moments that MuJoCo refuses.
#[derive(Clone, Debug)]
pub(crate) struct InertialFault {
    at: Location,
    element: String,
    attribute: &'static str,
    value: String,
    problem: String,
}

impl InertialFault {
    pub(crate) fn new(
        a: &Attributes<'_>,
        attribute: &'static str,
        problem: impl Into<String>,
    ) -> Self {
        Self {
            at: a.at.clone(),
            element: a.label(),
            attribute,
            value: a.text(attribute).unwrap_or("").into(),
            problem: problem.into(),
        }
    }

    pub(crate) fn error(&self) -> ImportError {
        ImportError::Value {
            at: Box::new(self.at.clone()),
            element: self.element.clone(),
            attribute: self.attribute.into(),
            value: self.value.clone(),
            problem: self.problem.clone(),
        }
    }
}
