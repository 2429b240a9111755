//! Checks of single numbers, axes, matrices and inertias while a mechanism is built.

use forks_lie::{Digits, Pose, glam::DVec3};

use crate::{BuildError, Joint, JointKind, Link};
use forks_linalg::dense;

/// Relative slack of symmetry and definiteness checks of stiffness and damping matrices.
const MATRIX_TOLERANCE: f64 = 1e-10;

pub(crate) fn label(kind: &str, name: &str, i: usize) -> String {
    if name.is_empty() { format!("{kind} #{i}") } else { format!("{kind} '{name}'") }
}

pub(crate) fn finite(element: &str, quantity: &'static str, value: f64) -> Result<(), BuildError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(BuildError::NotFinite { element: element.into(), quantity, value })
}

pub(crate) fn finite_vector(
    element: &str,
    quantity: &'static str,
    v: DVec3,
) -> Result<(), BuildError> {
    v.to_array().into_iter().try_for_each(|x| finite(element, quantity, x))
}

pub(crate) fn not_negative(
    element: &str,
    quantity: &'static str,
    value: f64,
) -> Result<(), BuildError> {
    finite(element, quantity, value)?;
    if value < 0.0 {
        return Err(BuildError::Negative { element: element.into(), quantity, value });
    }
    Ok(())
}

pub(crate) fn length(
    element: &str,
    quantity: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), BuildError> {
    if found == expected {
        return Ok(());
    }
    Err(BuildError::WrongLength { element: element.into(), quantity, found, expected })
}

pub(crate) fn unique_names<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), BuildError> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::DuplicateName { kind, name: name.into() });
        }
    }
    Ok(())
}

/// The numbers of an inertia one by one; whether a body can have them depends on what it is welded
/// to ([`crate::possible`]).
pub(crate) fn check_inertia(element: &str, link: &Link) -> Result<(), BuildError> {
    let i = &link.inertia;
    finite(element, "mass", i.mass)?;
    finite_vector(element, "centre of mass", i.center_of_mass)?;
    for x in i.inertia.to_cols_array() {
        finite(element, "inertia", x)?;
    }
    not_negative(element, "mass", i.mass)
}

pub(crate) fn check_joint_numbers(element: &str, j: &Joint) -> Result<(), BuildError> {
    let (n, d) = (j.kind.position_count(), j.kind.dof());
    if let JointKind::General { subspace } = &j.kind
        && subspace.len() > 6
    {
        return length(element, "subspace", subspace.len(), 6);
    }
    length(element, "start", j.start.len(), n)?;
    let scalar = if j.kind.has_scalar_coordinates() { n } else { 0 };
    length(element, "reference", j.reference.len(), scalar)?;
    length(element, "armature", j.armature.len(), d)?;
    length(element, "friction", j.friction.len(), d)?;
    length(element, "limits", j.limits.len(), n)?;
    length(element, "damping", j.damping.dof(), d)?;
    for &x in &j.start {
        finite(element, "start", x)?;
    }
    for &x in &j.reference {
        finite(element, "reference", x)?;
    }
    for &x in &j.armature {
        not_negative(element, "armature", x)?;
    }
    for &x in &j.friction {
        not_negative(element, "friction", x)?;
    }
    positive_semi_definite(element, "damping", d, j.damping.as_slice())?;
    not_negative(element, "limit stiffness", j.limit_stiffness)?;
    for l in j.limits.iter().flatten() {
        if !l.lower.is_nan() && !l.upper.is_nan() && l.lower <= l.upper {
            continue;
        }
        return Err(BuildError::EmptyRange {
            element: element.into(),
            lower: l.lower,
            upper: l.upper,
        });
    }
    if let Some(s) = &j.spring {
        length(element, "stiffness", s.stiffness.dof(), d)?;
        length(element, "spring rest", s.rest.len(), n)?;
        for &x in &s.rest {
            finite(element, "spring rest", x)?;
        }
        positive_semi_definite(element, "stiffness", d, s.stiffness.as_slice())?;
    }
    Ok(())
}

/// Checks a symmetric matrix given by rows; a negative diagonal entry is reported as such.
pub(crate) fn positive_semi_definite(
    element: &str,
    quantity: &'static str,
    n: usize,
    rows: &[f64],
) -> Result<(), BuildError> {
    for &x in rows {
        finite(element, quantity, x)?;
    }
    for i in 0..n {
        not_negative(element, quantity, rows[i * n + i])?;
    }
    let diagonal = (0..n).all(|i| (0..n).all(|j| i == j || rows[i * n + j] == 0.0));
    if diagonal {
        return Ok(());
    }
    let m = forks_linalg::Matrix::from_fn(n, n, |i, j| rows[i * n + j]);
    let asymmetry = m.sub(&m.transpose()).max_abs();
    let smallest = dense::symmetric_eigen(&m).and_then(|(e, _)| e.first().copied()).unwrap_or(0.0);
    let slack = MATRIX_TOLERANCE * m.max_abs();
    let value = if asymmetry > slack { asymmetry } else { smallest };
    if asymmetry > slack || smallest < -slack {
        return Err(BuildError::NotPositiveSemiDefinite {
            element: element.into(),
            quantity,
            value,
        });
    }
    Ok(())
}

pub(crate) fn unit_axis(
    element: &str,
    quantity: &'static str,
    axis: DVec3,
) -> Result<DVec3, BuildError> {
    finite_vector(element, quantity, axis)?;
    let n = axis.length();
    if n > 0.0 && n.is_finite() {
        // Already of unit length to rounding: keep the user's digits.
        return Ok(if (n - 1.0).abs() < 4.0 * f64::EPSILON { axis } else { axis / n });
    }
    Err(BuildError::DegenerateAxis {
        element: element.into(),
        quantity,
        value: format!(
            "({} {} {}), which has no direction",
            Digits(axis.x),
            Digits(axis.y),
            Digits(axis.z)
        ),
    })
}

pub(crate) fn normalized_kind(element: &str, kind: &JointKind) -> Result<JointKind, BuildError> {
    Ok(match kind {
        JointKind::Revolute { axis } => {
            JointKind::Revolute { axis: unit_axis(element, "axis", *axis)? }
        }
        JointKind::Prismatic { axis } => {
            JointKind::Prismatic { axis: unit_axis(element, "axis", *axis)? }
        }
        JointKind::Cylindrical { axis } => {
            JointKind::Cylindrical { axis: unit_axis(element, "axis", *axis)? }
        }
        JointKind::Universal { first, second } => {
            let first = unit_axis(element, "first axis", *first)?;
            let second = unit_axis(element, "second axis", *second)?;
            if first.cross(second).length() < 1e-9 {
                return Err(BuildError::DegenerateAxis {
                    element: element.into(),
                    quantity: "second axis",
                    value: "parallel to the first".into(),
                });
            }
            JointKind::Universal { first, second }
        }
        JointKind::General { subspace } => {
            let m =
                forks_linalg::Matrix::from_fn(6, subspace.len(), |i, j| subspace[j].to_array()[i]);
            for &x in m.as_slice() {
                finite(element, "subspace", x)?;
            }
            let rank = dense::svd(&m).map_or(0, |d| dense::numerical_rank(&d.s, 1e-12));
            if rank < subspace.len() {
                return Err(BuildError::DegenerateAxis {
                    element: element.into(),
                    quantity: "subspace",
                    value: format!("of rank {rank} with {} columns", subspace.len()),
                });
            }
            kind.clone()
        }
        JointKind::Fixed | JointKind::Spherical | JointKind::Planar | JointKind::Free => {
            kind.clone()
        }
    })
}

pub(crate) fn normalized_pose(element: &str, pose: &Pose) -> Result<Pose, BuildError> {
    finite_vector(element, "position", pose.translation)?;
    for x in pose.rotation.to_array() {
        finite(element, "quaternion", x)?;
    }
    let n = pose.rotation.length();
    if n == 0.0 || !n.is_finite() {
        return Err(BuildError::DegenerateAxis {
            element: element.into(),
            quantity: "quaternion",
            value: format!("of length {}", Digits(n)),
        });
    }
    // Already of unit length to rounding: keep the user's digits.
    Ok(if (n - 1.0).abs() < 4.0 * f64::EPSILON { *pose } else { pose.normalized() })
}

pub(crate) fn normalize_quaternion(
    element: &str,
    quantity: &'static str,
    kind: &JointKind,
    q: &mut [f64],
) -> Result<(), BuildError> {
    let q = match kind {
        JointKind::Spherical => q,
        JointKind::Free => &mut q[3..],
        _ => return Ok(()),
    };
    let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if n == 0.0 || !n.is_finite() {
        return Err(BuildError::DegenerateAxis {
            element: element.into(),
            quantity,
            value: format!("a quaternion of length {}", Digits(n)),
        });
    }
    if (n - 1.0).abs() > 4.0 * f64::EPSILON {
        q.iter_mut().for_each(|x| *x /= n);
    }
    Ok(())
}
