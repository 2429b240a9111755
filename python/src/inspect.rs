//! What a mechanism is made of and how it can move, under the names of `forks inspect --json`.

use forks_import::{Note, group_notes};
use forks_mechanism::{
    Mechanism,
    kinematics::{RANK_TOLERANCE, loops, mobility},
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

/// Notes of a reader, those of one kind together.
pub(crate) fn notes<'py>(py: Python<'py>, notes: &[Note]) -> PyResult<Bound<'py, PyList>> {
    let out = PyList::empty(py);
    for n in group_notes(notes) {
        let d = PyDict::new(py);
        d.set_item("element", &n.element)?;
        d.set_item("attribute", &n.attribute)?;
        d.set_item("effect", n.effect.name())?;
        d.set_item("reason", &n.reason)?;
        d.set_item("file", &n.file)?;
        d.set_item("line", n.line)?;
        d.set_item("count", n.count)?;
        out.append(d)?;
    }
    Ok(out)
}

/// Links, joints, loops, mobility, masses.
pub(crate) fn report<'py>(py: Python<'py>, m: &Mechanism) -> PyResult<Bound<'py, PyDict>> {
    let q = m.start_positions();
    let poses = m.link_poses(&q);
    let (counts, gaps) = py.detach(|| {
        let counts = mobility(m, &q, &poses, RANK_TOLERANCE);
        (counts, loops::closure_gaps(m, &q, &poses))
    });
    let out = PyDict::new(py);
    out.set_item("name", m.name())?;
    let links = PyList::empty(py);
    for (_, l) in m.moving_links().filter(|(_, l)| !l.auxiliary) {
        let d = PyDict::new(py);
        d.set_item("name", &l.name)?;
        d.set_item("mass", l.inertia.mass)?;
        links.append(d)?;
    }
    out.set_item("links", links)?;
    let [joints, closures] = [PyList::empty(py), PyList::empty(py)];
    let closing = m.forest().closures();
    for (i, j) in m.joints().iter().enumerate() {
        let id = forks_mechanism::JointId::new(i);
        let d = PyDict::new(py);
        d.set_item("name", m.joint_label(id))?;
        d.set_item("type", j.kind.name())?;
        d.set_item("parent", &m.link(j.parent).name)?;
        d.set_item("child", &m.link(j.child).name)?;
        d.set_item("dof", j.dof())?;
        match closing.binary_search(&id) {
            Err(_) if j.implicit => {}
            Err(_) => joints.append(d)?,
            Ok(k) => {
                d.set_item("gap", (gaps[k].position, gaps[k].angle))?;
                closures.append(d)?;
            }
        }
    }
    out.set_item("joints", joints)?;
    out.set_item("loop_closures", closures)?;
    out.set_item("dof", counts.dof)?;
    out.set_item("constraint_rows", counts.rows)?;
    out.set_item("constraint_rank", counts.rank)?;
    out.set_item("redundant_rows", counts.redundant_rows)?;
    out.set_item("mobility", counts.mobility)?;
    out.set_item("total_mass", m.total_mass())?;
    out.set_item("moving_mass", m.moving_mass())?;
    out.set_item("bounding_radius", m.bounding_radius(&poses))?;
    Ok(out)
}
