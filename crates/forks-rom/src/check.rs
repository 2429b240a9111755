//! Checks of a model's numbers before it is used.

use forks_linalg::Matrix;

use crate::{
    ModelError,
    data::{BaseRest, JointPath, ModelData},
};

/// Asymmetry of a symmetric matrix that rounding explains, over its largest entry.
const SYMMETRY_TOLERANCE: f64 = 1e-12;

fn size(quantity: &'static str, found: usize, expected: usize) -> Result<(), ModelError> {
    if found == expected {
        return Ok(());
    }
    Err(ModelError::WrongSize { quantity, found, expected })
}

fn matrix(
    quantity: &'static str,
    m: &Matrix,
    rows: usize,
    columns: usize,
) -> Result<(), ModelError> {
    size(quantity, m.rows(), rows)?;
    size(quantity, m.columns(), columns)?;
    if m.is_finite() { Ok(()) } else { Err(ModelError::NotFinite { quantity }) }
}

/// Checks sizes, indices and numbers of a model.
pub(crate) fn check(d: &ModelData) -> Result<(), ModelError> {
    let (n, s) = (d.basis.columns(), d.servos.len());
    if !(d.radius > 0.0 && d.radius.is_finite()) {
        return Err(ModelError::NotFinite { quantity: "radius" });
    }
    matrix("basis", &d.basis, 6 * d.effectors.len(), n)?;
    if d.range.is_nan() || d.range <= 0.0 {
        return Err(ModelError::NotFinite { quantity: "range" });
    }
    symmetric("hessian", &d.hessian, n)?;
    symmetric("mass", &d.mass, n)?;
    symmetric("damping", &d.damping, n)?;
    matrix("servo rest", &d.servo_rest, n, s)?;
    for l in &d.links {
        matrix("link map", &l.map, 6, n)?;
        matrix("link servo map", &l.servo_map, 6, s)?;
        finite("link pose", l.rest.is_finite())?;
    }
    for f in &d.effectors {
        index("effector link", f.link, d.links.len())?;
        let poses = f.rest.is_finite() && f.link_from_effector.is_finite();
        finite("effector", poses && f.static_wrench.is_finite())?;
    }
    for j in &d.joints {
        let dof = j.map.rows();
        matrix("joint map", &j.map, dof, n)?;
        matrix("joint servo map", &j.servo_map, dof, s)?;
        index("joint link", j.inner.max(j.outer), d.links.len())?;
        check_path(&j.path, dof)?;
        finite("joint path", is_path_finite(&j.path))?;
        size(
            "joint load map columns",
            j.load_map.columns(),
            if j.load_map.rows() == 0 { 0 } else { n },
        )?;
        matrix(
            "joint load map",
            &j.load_map,
            if j.load_map.rows() == 0 { 0 } else { 6 },
            j.load_map.columns(),
        )?;
        let frames = [&j.inner_from_outer, &j.parent_from_joint, &j.child_from_joint];
        finite("joint pose", frames.iter().all(|p| p.is_finite()) && j.static_load.is_finite())?;
    }
    if let Some(base) = &d.base {
        check_base(base, n, d.links.len())?;
    }
    Ok(())
}

fn check_base(b: &BaseRest, n: usize, links: usize) -> Result<(), ModelError> {
    index("base link", b.link, links)?;
    symmetric("base inertia", &b.inertia, 6)?;
    symmetric("own inertia of the base", &b.own_inertia, 6)?;
    matrix("base coupling", &b.coupling, 6, n)?;
    size("base inertia slopes", b.inertia_slopes.len(), n)?;
    b.inertia_slopes.iter().try_for_each(|s| symmetric("base inertia slope", s, 6))?;
    size("base coupling slopes", b.coupling_slopes.len(), n)?;
    b.coupling_slopes.iter().try_for_each(|s| matrix("base coupling slope", s, 6, n))?;
    finite("gravity", b.gravity.is_finite())
}

/// Square, finite and symmetric to rounding.
fn symmetric(quantity: &'static str, m: &Matrix, n: usize) -> Result<(), ModelError> {
    matrix(quantity, m, n, n)?;
    if m.sub(&m.transpose()).max_abs() <= SYMMETRY_TOLERANCE * m.max_abs() {
        return Ok(());
    }
    Err(ModelError::NotSymmetric { quantity })
}

/// A path must have a column for every coordinate, and no other.
fn check_path(path: &JointPath, dof: usize) -> Result<(), ModelError> {
    match path {
        JointPath::Exponential { columns } => size("joint columns", columns.len(), dof),
        JointPath::Product { factors } => {
            size("joint factors", factors.len(), dof)?;
            factors.iter().try_for_each(|(i, _)| index("joint factor", *i, dof))
        }
        JointPath::Subspace { subspace, start, .. } => {
            size("joint subspace", subspace.len(), dof)?;
            size("joint start", start.len(), dof)
        }
    }
}

fn is_path_finite(path: &JointPath) -> bool {
    match path {
        JointPath::Exponential { columns } => columns.iter().all(|c| c.is_finite()),
        JointPath::Product { factors } => factors.iter().all(|(_, c)| c.is_finite()),
        JointPath::Subspace { before, subspace, start, after, .. } => {
            before.is_finite()
                && after.is_finite()
                && subspace.iter().all(|c| c.is_finite())
                && start.iter().all(|x| x.is_finite())
        }
    }
}

fn index(quantity: &'static str, found: usize, count: usize) -> Result<(), ModelError> {
    if found < count {
        return Ok(());
    }
    Err(ModelError::WrongSize { quantity, found, expected: count })
}

fn finite(quantity: &'static str, is_finite: bool) -> Result<(), ModelError> {
    if is_finite { Ok(()) } else { Err(ModelError::NotFinite { quantity }) }
}
