//! Exceptions: one family, each with the sentence of the library's error.

use std::{error::Error, fmt::Write as _};

use pyo3::{create_exception, exceptions::PyValueError, prelude::*};

create_exception!(forks, ForksError, PyValueError, "What the library refuses, in a sentence.");
create_exception!(forks, ReadError, ForksError, "A file or text that cannot be read.");
create_exception!(forks, ReductionError, ForksError, "A mechanism that cannot be reduced.");
create_exception!(forks, NotFiniteError, ForksError, "Numbers overflowed; the state is unchanged.");
create_exception!(forks, HandleError, ForksError, "A handle that is closed, or in use elsewhere.");

/// Adds the exceptions to the module.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("ForksError", py.get_type::<ForksError>())?;
    m.add("ReadError", py.get_type::<ReadError>())?;
    m.add("ReductionError", py.get_type::<ReductionError>())?;
    m.add("NotFiniteError", py.get_type::<NotFiniteError>())?;
    m.add("HandleError", py.get_type::<HandleError>())
}

/// The sentence of an error, with those of its causes that it does not repeat.
pub(crate) fn sentence(e: &(dyn Error + 'static)) -> String {
    let mut text = e.to_string();
    let mut cause = e.source();
    while let Some(c) = cause {
        let more = c.to_string();
        if !text.contains(&more) {
            let _ = write!(text, ": {more}");
        }
        cause = c.source();
    }
    text
}

/// An error of the library as `ForksError`.
pub(crate) fn refused(e: impl Error + 'static) -> PyErr {
    ForksError::new_err(sentence(&e))
}

/// An error of a reader as `ReadError`.
pub(crate) fn unreadable(e: impl Error + 'static) -> PyErr {
    ReadError::new_err(sentence(&e))
}
