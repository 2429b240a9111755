//! The extension module `forks._forks` of the Python package `forks`.
//!
//! ```text
//! error        exceptions
//! arrays       numbers that come in and go out
//! handle       one user at a time; closed handles
//! reading      mechanisms from files
//! elements     numbers of a mechanism by name
//! signals      Ctrl-C during work without the GIL
//! mechanism    inspection, reduction, statics; equilibrium; full_motion: the full solver
//! inspect      what a mechanism is made of
//! options      what is asked of reductions and blends
//! place        blends
//! model        reduced and blended models; statics: where they rest
//! loads        wrenches on effectors
//! run          one instance of any model; simulation: as Python sees it
//! many         many instances of any model; batch: as Python sees them
//! scene        worlds in contact
//! control      commands, poses, motions
//! drawing      what models and mechanisms look like
//! recording    poses and numbers over time
//! builder      mechanisms from Python; builder_words: what it is told
//! tissue       soft bodies on mechanisms
//! viewer       mechanisms in the browser
//! ```

mod arrays;
mod batch;
mod builder;
mod builder_words;
mod control;
mod drawing;
mod elements;
mod equilibrium;
mod error;
mod full_motion;
mod handle;
mod inspect;
mod loads;
mod many;
mod mechanism;
mod model;
mod options;
mod place;
mod reading;
mod recording;
mod run;
mod scene;
mod signals;
mod simulation;
mod statics;
mod tissue;
mod viewer;

use pyo3::prelude::*;

/// Everything that `forks/__init__.py` takes over.
#[pymodule]
fn _forks(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(m)?;
    m.add_class::<mechanism::Mechanism>()?;
    m.add_class::<equilibrium::Equilibrium>()?;
    m.add_class::<model::Model>()?;
    m.add_class::<statics::Statics>()?;
    m.add_class::<simulation::Simulation>()?;
    m.add_class::<batch::Batch>()?;
    m.add_class::<scene::Scene>()?;
    m.add_class::<recording::Recording>()?;
    m.add_class::<builder::Builder>()?;
    m.add_class::<place::Placed>()?;
    m.add_class::<viewer::View>()?;
    control::register(m)?;
    tissue::register(m)?;
    m.add_function(wrap_pyfunction!(viewer::view, m)?)?;
    m.add_function(wrap_pyfunction!(reading::load, m)?)?;
    m.add_function(wrap_pyfunction!(reading::parse, m)?)?;
    m.add_function(wrap_pyfunction!(model::load_model, m)?)?;
    m.add_function(wrap_pyfunction!(scene::load_scene, m)?)?;
    m.add_function(wrap_pyfunction!(scene::parse_scene, m)?)
}
