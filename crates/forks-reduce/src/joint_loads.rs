//! Loads that joints carry: the wrench that a joint's outer link passes on to it, outer link's
//! frame.
//!
//! On every link the applied wrenches and the loads of the joints outward of it, minus those of the
//! joints inward of it, sum to zero. At loaded poses the response is in exponential coordinates, p
//! = J_r(ξ)ᵀ μ for the load μ in the displaced link's frame: δμ = δp + ½ ad_ξᵀ μ; a closing joint's
//! rows are turned by its own displacement a = J δθ only: δμ = δp + ½ ad_aᵀ μ.

use forks_mechanism::{
    LinkId, Mechanism, TreeEdge,
    kinematics::tree_joint_motion,
    lie::{Twist, Wrench},
    linalg::Matrix,
};

use crate::{
    error::ReduceError,
    linearisation::Linearisation,
    linearised::Linearised,
    motion::tree_motions,
    prestress::{Prestress, prestress},
};

/// Loads that all joints carry at the linearisation pose: of the tree, then closing ones; zero at
/// rest.
pub(crate) fn static_loads(linear: &Linearised<'_>) -> Result<Vec<Wrench>, ReduceError> {
    let m = linear.mechanism();
    let count = m.forest().edges().len() + m.forest().closures().len();
    let Linearisation::Loaded { q, loads, multipliers } = linear.at else {
        return Ok(vec![Wrench::ZERO; count]);
    };
    let (motions, world_from_link) = tree_motions(m, q);
    let links: Vec<LinkId> = linear.effectors().iter().map(|e| e.link).collect();
    let acting = (loads, multipliers, linear.attached());
    let Prestress { carried, closure_wrench, .. } =
        prestress(m, &motions, (&world_from_link, 1.0), acting, &links)?;
    // A multiplier is the wrench on the child, which the child passes back.
    Ok(carried.into_iter().chain(closure_wrench.into_iter().map(|w| -w)).collect())
}

/// Adds ½ ad_tᵀ μ per column t of `twists` (6 × n) to a load map.
pub(crate) fn turn(map: &mut Matrix, twists: &Matrix, load: Wrench) {
    if load == Wrench::ZERO || map.rows() == 0 {
        return;
    }
    for k in 0..twists.columns() {
        let t = Twist::from_array(core::array::from_fn(|i| twists[(i, k)]));
        let change = t.ad_transpose(load).to_array();
        (0..6).for_each(|i| map[(i, k)] += 0.5 * change[i]);
    }
}

/// J δθ of a joint, 6 × n, for its displacements `map` (d × n).
pub(crate) fn own_twists(m: &Mechanism, e: &TreeEdge, q: &[f64], map: &Matrix) -> Matrix {
    let columns = tree_joint_motion(m, e, q).columns;
    let columns: Vec<[f64; 6]> = columns.as_slice().iter().map(|c| c.to_array()).collect();
    Matrix::from_fn(6, columns.len(), |i, j| columns[j][i]).mul(map)
}
