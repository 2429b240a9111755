//! Recursive hybrid dynamics (\[K08\] Table 3): any mix of given forces and prescribed
//! accelerations, also within one joint. Nothing prescribed is forward dynamics, everything
//! prescribed inverse dynamics.

use super::{
    articulated::{AbaWorkspace, Given, inward, joint_forces, outward},
    compile::Tree,
    error::DynamicsError,
    kinematics::ground_acceleration,
    loads::LinkLoads,
};

/// Accelerations of the free coordinates and forces of the prescribed ones, in O(n).
///
/// `given` holds the acceleration of every coordinate with `prescribed` true, the generalised force
/// of every other. On return `acceleration` and `tau` are complete: they satisfy M θ̈ + bias = τ.
///
/// # Errors
/// Where a free coordinate moves no inertia (a prescribed one may), or an input is not finite.
///
/// # Panics
/// If a length does not fit the tree.
#[allow(clippy::too_many_arguments)]
pub fn hybrid(
    tree: &Tree,
    ws: &mut AbaWorkspace,
    q: &[f64],
    v: &[f64],
    prescribed: &[bool],
    given: &[f64],
    loads: &LinkLoads<'_>,
    acceleration: &mut [f64],
    tau: &mut [f64],
) -> Result<(), DynamicsError> {
    let n = tree.velocity_count();
    assert_eq!(prescribed.len(), n, "number of prescribed flags");
    assert_eq!(given.len(), n, "number of given values");
    assert_eq!(acceleration.len(), n, "length of the acceleration");
    assert_eq!(tau.len(), n, "length of tau");
    let given = Given { prescribed, values: given };
    ws.kinematics.update(tree, q, v);
    ws.kinematics.load(tree, loads);
    inward::<true>(tree, ws, given)?;
    outward(tree, ws, ground_acceleration(tree, loads), given, acceleration);
    joint_forces(tree, ws, given, acceleration, tau);
    Ok(())
}
