//! Commands, poses and motions of mechanisms: `forks.control`.
//!
//! ```text
//! names       links, sites and joints by name
//! task        what shall be done
//! controller  a mechanism that is driven by tasks
//! posing      links that are dragged and pinned
//! motion      curves of joints through keys
//! player      joints that follow them
//! predict     commands of a horizon, set points
//! ```

mod controller;
mod motion;
mod names;
mod player;
mod posing;
mod predict;
mod task;

use pyo3::prelude::*;

/// What `forks/control.py` takes over.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<task::Task>()?;
    m.add_class::<controller::Controller>()?;
    m.add_class::<controller::Decision>()?;
    m.add_class::<posing::InverseKinematics>()?;
    m.add_class::<posing::Posed>()?;
    m.add_class::<motion::Motion>()?;
    m.add_class::<player::Group>()?;
    m.add_class::<player::Player>()?;
    m.add_class::<predict::Mpc>()?;
    m.add_function(wrap_pyfunction!(predict::set_point, m)?)
}
