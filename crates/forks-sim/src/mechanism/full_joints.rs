//! Coordinates of a full mechanism's joints as its reduced model counts them.

use forks_dynamics::integrate::ImpulseStepper;
use forks_lie::{Twist, se3::right_jacobian_inverse};
use forks_mechanism::{JointId, JointKind};

/// A coordinate of a joint and its derivative by the independent motions, into `row`. Joints of one
/// coordinate and of general subspaces count from where their frames coincide, all others from the
/// positions `origin`.
pub(super) fn joint_coordinate(
    stepper: &ImpulseStepper,
    origin: &[f64],
    joint: usize,
    coordinate: usize,
    row: &mut [f64],
) -> f64 {
    let (m, id) = (stepper.mechanism(), JointId::new(joint));
    let (j, positions) = (m.joint(id), m.position_range(id));
    let (q, first) = (&stepper.positions()[positions.clone()], m.velocity_range(id).start);
    if j.kind.has_scalar_coordinates() {
        stepper.rate_row(first + coordinate, row);
        let counted = j.dof() == 1 || matches!(j.kind, JointKind::General { .. });
        let from = if counted { &j.reference } else { &origin[positions] };
        return q[coordinate] - from[coordinate];
    }
    // θ = log of the displacement, θ̇ = J_r⁻¹(θ) φ.
    let theta = j.kind.difference(&origin[positions], q);
    let at = directions(&j.kind);
    let mut displacement = [0.0; 6];
    at.iter().zip(&theta).for_each(|(&i, x)| displacement[i] = *x);
    let inverse = right_jacobian_inverse(Twist::from_array(displacement));
    let mut part = vec![0.0; row.len()];
    row.fill(0.0);
    for (k, &i) in at.iter().enumerate() {
        stepper.rate_row(first + k, &mut part);
        let slope = inverse.rows[at[coordinate]][i];
        row.iter_mut().zip(&part).for_each(|(r, p)| *r += slope * p);
    }
    theta[coordinate]
}

/// Which twist coordinates a spherical, planar or free joint has.
fn directions(kind: &JointKind) -> &'static [usize] {
    match kind {
        JointKind::Spherical => &[3, 4, 5],
        JointKind::Planar => &[0, 1, 5],
        _ => &[0, 1, 2, 3, 4, 5],
    }
}
