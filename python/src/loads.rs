//! Wrenches on effectors.

use forks_mechanism::lie::Wrench;
use forks_rom::{EffectorLoad, LoadFrame};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::arrays::Input;

/// The axes of wrenches, by their name.
pub(crate) fn frame(name: &str) -> PyResult<LoadFrame> {
    match name {
        "world" => Ok(LoadFrame::World),
        "body" => Ok(LoadFrame::Body),
        _ => Err(PyValueError::new_err(format!("frame is '{name}', expected 'world' or 'body'"))),
    }
}

/// Loads from rows (fx, fy, fz, tx, ty, tz), one row an effector, in place of what `out` held.
pub(crate) fn fill(
    out: &mut Vec<EffectorLoad>,
    wrenches: Option<&Bound<'_, PyAny>>,
    effectors: usize,
    frame: LoadFrame,
) -> PyResult<()> {
    out.clear();
    let Some(x) = wrenches else { return Ok(()) };
    let input = Input::new("wrenches", x, &[effectors, 6])?;
    let (wrenches, _) = input.as_slice().as_chunks::<6>();
    out.extend(wrenches.iter().enumerate().map(|(effector, w)| EffectorLoad {
        effector,
        wrench: Wrench::from_array(*w),
        frame,
    }));
    Ok(())
}
