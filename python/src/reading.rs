//! Mechanisms from MJCF and URDF.

use std::path::PathBuf;

use forks_import::{ImportOptions, SideSource, UrdfOrder, load_model, parse_mjcf, parse_urdf};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{error::unreadable, mechanism::Mechanism};

fn reading(
    lenient: bool,
    balance_inertia: bool,
    side: SideSource,
    joint_order: &str,
) -> PyResult<ImportOptions> {
    let urdf_order = match joint_order {
        "default" => None,
        "name" => Some(UrdfOrder::Name),
        "mujoco" => Some(UrdfOrder::Mujoco),
        _ => {
            return Err(PyValueError::new_err(format!(
                "joint_order is '{joint_order}', expected 'default', 'name' or 'mujoco'"
            )));
        }
    };
    Ok(ImportOptions { lenient, balance_inertia, side, urdf_order, ..ImportOptions::default() })
}

/// Reads an MJCF or URDF file; its outermost element says which.
///
/// lenient: leave out what cannot be represented, with a note, instead of refusing the file.
/// balance_inertia: mend principal moments that no body can have, with a note.
/// side: a file with springs, loops and end effectors that the model cannot express; by default
///     MODEL.forks.toml beside it, if there is one. `side=False`: none.
/// joint_order: of URDF, 'name' (default) or 'mujoco'.
/// Raises ReadError with file, line, element, attribute and value.
#[pyfunction]
#[pyo3(signature = (path, *, lenient=false, balance_inertia=false, side=None,
    joint_order="default"))]
pub(crate) fn load(
    py: Python<'_>,
    path: PathBuf,
    lenient: bool,
    balance_inertia: bool,
    side: Option<&Bound<'_, PyAny>>,
    joint_order: &str,
) -> PyResult<Mechanism> {
    let side = match side {
        None => SideSource::Beside,
        Some(x) => match x.extract::<bool>() {
            Ok(false) => SideSource::None,
            Ok(true) => SideSource::Beside,
            Err(_) => SideSource::File(x.extract()?),
        },
    };
    let options = reading(lenient, balance_inertia, side, joint_order)?;
    py.detach(|| load_model(&path, &options)).map(Mechanism::of).map_err(unreadable)
}

/// Reads MJCF or URDF text; `format` is 'mjcf' or 'urdf'. See `load`.
#[pyfunction]
#[pyo3(signature = (text, format="mjcf", *, lenient=false, balance_inertia=false,
    joint_order="default"))]
pub(crate) fn parse(
    py: Python<'_>,
    text: &str,
    format: &str,
    lenient: bool,
    balance_inertia: bool,
    joint_order: &str,
) -> PyResult<Mechanism> {
    let options = reading(lenient, balance_inertia, SideSource::None, joint_order)?;
    let read = match format {
        "mjcf" => parse_mjcf,
        "urdf" => parse_urdf,
        _ => {
            return Err(PyValueError::new_err(format!(
                "format is '{format}', expected 'mjcf' or 'urdf'"
            )));
        }
    };
    py.detach(|| read(text, &options)).map(Mechanism::of).map_err(unreadable)
}
