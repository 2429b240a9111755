//! `forks.view`: a mechanism in the browser, in motion.

use std::time::Duration;

use forks_blend::Model as Read;
use forks_view::{MechanismSource, Server, Source, ViewOptions};
use pyo3::{exceptions::PyTypeError, prelude::*};

use crate::{
    drawing,
    error::refused,
    handle::Handle,
    mechanism::Mechanism,
    model::{Kind, Model},
    scene::Scene,
};

/// Time between two looks at Ctrl-C, s.
const PAUSE: Duration = Duration::from_millis(100);

/// A mechanism that is shown at an address of this machine until this is closed; made by
/// `forks.view`. A `with` statement closes it.
#[pyclass(frozen, module = "forks")]
#[derive(Debug)]
pub(crate) struct View {
    server: Handle<Server>,
    url: String,
}

/// Shows a mechanism, a model or a scene in the browser, in motion: bodies are pulled by the mouse,
/// pinned, driven by sliders of their servos; the page plays, pauses, rewinds and reduces.
///
/// shown: a `Mechanism`, a `Model`, or a `Scene`, which the view takes over: it is closed then.
/// step: s; scenes have their own. falls: a mechanism that nothing holds falls, otherwise its root
/// stays. play: begin in motion. start: of a mechanism, positions, a keyframe's name or a dict.
/// port: 0 for any that is free. The server listens on the loopback interface alone; the address
/// holds a secret, and steps are made in a thread of the library whatever Python does.
#[pyfunction]
#[pyo3(signature = (shown, *, step=0.002, falls=false, play=false, start=None, port=0))]
pub(crate) fn view(
    py: Python<'_>,
    shown: &Bound<'_, PyAny>,
    step: f64,
    falls: bool,
    play: bool,
    start: Option<&Bound<'_, PyAny>>,
    port: u16,
) -> PyResult<View> {
    let source = source(shown, falls, start)?;
    let options = ViewOptions { step, port, playing: play, ..ViewOptions::default() };
    let server = py.detach(|| Server::start(source, &options)).map_err(refused)?;
    let url = server.url();
    Ok(View { server: Handle::new("view", server), url })
}

fn source(
    shown: &Bound<'_, PyAny>,
    falls: bool,
    start: Option<&Bound<'_, PyAny>>,
) -> PyResult<Source> {
    if let Ok(m) = shown.cast::<Mechanism>() {
        let m = m.get();
        let data = m.data();
        let given = crate::options::start(data, start)?;
        return Ok(Source::Mechanism(Box::new(MechanismSource {
            positions: given.unwrap_or_else(|| data.start_positions()),
            velocities: vec![0.0; data.tree_velocity_count()],
            mechanism: data.clone(),
            falls,
            notes: m.note_texts(),
        })));
    }
    if start.is_some() {
        return Err(PyTypeError::new_err("start is for a Mechanism alone"));
    }
    if let Ok(model) = shown.cast::<Model>() {
        let model = model.get();
        let read = match model.inner() {
            Kind::Reduced(m) | Kind::Floating(_, m) => Read::Reduced((**m).clone()),
            Kind::Blended(m) => Read::Blended((**m).clone()),
            Kind::FloatingBlend(m) => Read::Blended((**m.blend()).clone()),
        };
        let title = model.data().effectors.iter().map(|e| &*e.name).collect::<Vec<_>>().join(", ");
        return Ok(Source::Reduced { title, model: Box::new(read.into()) });
    }
    if let Ok(scene) = shown.cast::<Scene>() {
        return Ok(Source::Scene(Box::new(scene.get().take()?.into())));
    }
    let kind = shown.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "shown is of type {kind}, expected a Mechanism, a Model or a Scene"
    )))
}

#[pymethods]
impl View {
    /// The address to open in a browser of this machine.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// True after `close`.
    #[getter]
    fn closed(&self) -> bool {
        self.server.is_closed()
    }

    /// Serves until Ctrl-C, which raises KeyboardInterrupt, or until another thread closes the view.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        while !self.server.is_closed() {
            py.detach(|| std::thread::sleep(PAUSE));
            py.check_signals()?;
        }
        Ok(())
    }

    /// Ends the server and what it steps.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.server.close())
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_details))]
    fn __exit__(&self, py: Python<'_>, _details: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        let state = if self.server.is_closed() { ", closed" } else { "" };
        format!("<forks.View at {}{state}>", self.url)
    }

    fn _repr_html_(&self) -> String {
        let url = drawing::escaped(&self.url);
        format!("<p><a href=\"{url}\" target=\"_blank\">open the view</a></p>")
    }
}
