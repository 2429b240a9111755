//! Forward dynamics: the articulated-body algorithm \[F83\].

use super::{
    articulated::{AbaWorkspace, Given, inward, outward},
    compile::Tree,
    error::DynamicsError,
    kinematics::ground_acceleration,
    loads::LinkLoads,
};

/// Accelerations of all tree coordinates under the generalised forces `tau`, in O(n).
///
/// `tau` contains everything that acts along the coordinates: drives, springs, dampers
/// ([`crate::passive::passive_forces`]). Velocities of spherical, planar and free joints are body
/// twists, their accelerations the component derivatives. Loop closures and couplings are not
/// looked at.
///
/// # Errors
/// Where a coordinate moves no inertia, or an input is not finite.
///
/// # Panics
/// If a length does not fit the tree.
pub fn aba(
    tree: &Tree,
    ws: &mut AbaWorkspace,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    loads: &LinkLoads<'_>,
    acceleration: &mut [f64],
) -> Result<(), DynamicsError> {
    assert_eq!(tau.len(), tree.velocity_count(), "length of tau");
    assert_eq!(acceleration.len(), tree.velocity_count(), "length of the acceleration");
    let given = Given { prescribed: &[], values: tau };
    ws.kinematics.update(tree, q, v);
    ws.kinematics.load(tree, loads);
    inward::<false>(tree, ws, given)?;
    outward(tree, ws, ground_acceleration(tree, loads), given, acceleration);
    Ok(())
}
