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
    out.extend(rows(input.as_slice(), effectors, frame));
    Ok(())
}

/// Loads from rows of finite numbers, `effectors` rows an instance.
pub(crate) fn rows(
    numbers: &[f64],
    effectors: usize,
    frame: LoadFrame,
) -> impl Iterator<Item = EffectorLoad> + '_ {
    let (wrenches, _) = numbers.as_chunks::<6>();
    let load = move |(i, w): (usize, &[f64; 6])| EffectorLoad {
        effector: i % effectors,
        wrench: Wrench::from_array(*w),
        frame,
    };
    wrenches.iter().enumerate().map(load)
}

/// [`rows`] in place of what `out` held; writes only wrenches and frames where it held as many.
pub(crate) fn refill(
    out: &mut Vec<EffectorLoad>,
    numbers: &[f64],
    effectors: usize,
    frame: LoadFrame,
) {
    let (wrenches, _) = numbers.as_chunks::<6>();
    if out.len() != wrenches.len() {
        out.clear();
        out.extend(rows(numbers, effectors, frame));
        return;
    }
    for (load, w) in out.iter_mut().zip(wrenches) {
        load.wrench = Wrench::from_array(*w);
        load.frame = frame;
    }
}
