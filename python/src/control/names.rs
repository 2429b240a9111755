//! Links, sites and joints by name.

use forks_control::task::Frame;
use forks_mechanism::{JointId, LinkId, Mechanism};
use pyo3::{exceptions::PyValueError, prelude::*};

/// What is not there, and what is.
pub(super) fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> PyErr {
    let known: Vec<&str> = known.filter(|n| !n.is_empty()).collect();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    PyValueError::new_err(format!("no {kind} '{name}'; there are: {known}"))
}

/// A frame by the name of a link, or `site:NAME`.
pub(super) fn frame(m: &Mechanism, name: &str) -> PyResult<Frame> {
    if let Some(site) = name.strip_prefix("site:") {
        let names = m.frames().iter().map(|f| &*f.name);
        let id = m.find_frame(site).ok_or_else(|| unknown("site", site, names))?;
        let f = &m.frames()[id.index()];
        return Ok(Frame { link: f.link, link_from_frame: f.link_from_frame });
    }
    let names = m.moving_links().filter(|(_, l)| !l.auxiliary).map(|(_, l)| &*l.name);
    let link = m.find_link(name).filter(|l| *l != LinkId::WORLD);
    Ok(Frame::of(link.ok_or_else(|| unknown("link", name, names))?))
}

/// A joint.
pub(super) fn joint(m: &Mechanism, name: &str) -> PyResult<JointId> {
    let found = (!name.is_empty()).then(|| m.find_joint(name)).flatten();
    found.ok_or_else(|| unknown("joint", name, m.joints().iter().map(|j| &*j.name)))
}

/// Joints by their names.
pub(super) fn joints(m: &Mechanism, names: &[String]) -> PyResult<Vec<JointId>> {
    names.iter().map(|n| joint(m, n)).collect()
}

/// Tree joints with one coordinate that is a plain number.
pub(super) fn single_joints(m: &Mechanism) -> impl Iterator<Item = JointId> + '_ {
    let all = m.forest().edges().iter().map(|e| e.joint);
    all.filter(|j| m.velocity_range(*j).len() == 1 && m.position_range(*j).len() == 1)
}

/// True for joints whose first coordinate is an angle.
pub(super) fn turns(m: &Mechanism, joint: JointId) -> bool {
    let j = m.joint(joint);
    j.columns(&j.start).as_slice().first().is_some_and(|c| c.angular.length() > 0.0)
}

/// The coordinates of a joint: its name, with the number where there are several.
pub(super) fn coordinates(m: &Mechanism, joint: JointId) -> Vec<String> {
    let label = m.joint_label(joint);
    match m.joint(joint).dof() {
        1 => vec![label],
        n => (0..n).map(|i| format!("{label}.{i}")).collect(),
    }
}

/// What a map of coordinates' names is refused for.
pub(super) fn finite(what: &str, x: f64) -> PyResult<f64> {
    match x.is_finite() {
        true => Ok(x),
        false => Err(PyValueError::new_err(format!("{what} is {x}; numbers must be finite"))),
    }
}
