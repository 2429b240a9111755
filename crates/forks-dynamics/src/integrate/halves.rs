//! What a step in two halves ([`super::impulses`]) asks of the mechanism: admissible motions,
//! system matrix and forces.

use forks_mechanism::{
    lie::{Mat6, Wrench},
    linalg::Matrix,
};

use super::{
    implicit::{LoadStiffness, joint_terms, link_matrices, loaded_blocks, momentum, rotor_forces},
    motions::admissible_basis,
    state::{SimulationState, SimulationStatus},
    symmetric::symmetric_system,
};
use crate::{
    AppliedWrench,
    constrained::{ConstrainedDynamics, ConstrainedWorkspace, WeightedRows},
};

/// Motions that a pose admits.
#[derive(Clone, Debug)]
pub(super) struct Admissible {
    /// N; `None` if it is 1.
    pub(super) basis: Option<Matrix>,
    /// Rates of loop-closing joints per tree velocity.
    pub(super) own: Matrix,
}

/// Takes off velocities that violate the loops at `q`; what those are that do not.
pub(super) fn motions(
    d: &ConstrainedDynamics<'_>,
    q: &[f64],
    v: &mut [f64],
    work: &mut ConstrainedWorkspace,
) -> Result<Admissible, SimulationStatus> {
    let rows = d.prepare(q, v, work);
    if rows.jacobian.rows() == 0 {
        return Ok(Admissible { basis: None, own: rows.own });
    }
    if let Err(at) = d.factorize(&rows, work) {
        return Err(SimulationStatus::Massless(d.mechanism().forest().edges()[at].joint));
    }
    let weighted = WeightedRows::without_rotors(d, &rows, work);
    let violation = rows.jacobian.mul_vec(v);
    let z = weighted.constrain(&vec![0.0; v.len()], &violation);
    let mut step = vec![0.0; v.len()];
    work.factor.transposed_half_solve(&work.motion, &z, &mut step);
    v.iter_mut().zip(step).for_each(|(v, s)| *v += s);
    let independent = weighted.space.independent_rows().iter().map(|&i| rows.jacobian.row(i));
    let basis = admissible_basis(&independent.collect::<Vec<_>>(), v.len());
    Ok(Admissible { basis: Some(basis), own: rows.own })
}

/// sym(Ã), without the stiffness of loads if so asked, and M v + h f over the tree velocities.
pub(super) fn system(
    d: &ConstrainedDynamics<'_>,
    work: &mut ConstrainedWorkspace,
    state: &SimulationState,
    forces: &[f64],
    loads: &[AppliedWrench],
    h: f64,
    stiffness: LoadStiffness,
) -> (Matrix, Vec<f64>) {
    let m = d.mechanism();
    let rows = d.prepare(&state.q, &state.v, work);
    let mut external = Vec::new();
    if !loads.is_empty() {
        external.resize(m.links().len(), Wrench::ZERO);
        for load in loads {
            let at = load.link.index();
            external[at] += load.in_link(&work.motion.world_from_link[at]);
        }
    }
    let bias = d.load(&external, work);
    let mut passive = d.elastic(work);
    passive.iter_mut().zip(forces).for_each(|(p, f)| *p += f);
    let (own, stiff) = joint_terms(m, &rows, work, h);
    stiffness.carry(work);
    let blocks = loaded_blocks(m, &own, work, h);
    let mut links: Vec<Mat6> = Vec::new();
    link_matrices(d, work, h, stiffness, &mut links);
    if stiffness == LoadStiffness::Linearised {
        for load in loads {
            let at = load.link.index();
            let slope = load.link_load(&work.motion.world_from_link[at]).slope;
            links[at] += slope.scale(-h * h);
        }
    }
    let mut a = symmetric_system(&work.motion, &links, &blocks, &work.carried, h);
    for (row, strength) in stiff.rows.iter().zip(&stiff.strengths) {
        for (i, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            a.row_mut(i).iter_mut().zip(row).for_each(|(a, y)| *a += strength * x * y);
        }
    }
    let mut f = rows.fold(&rotor_forces(d, work, &rows, &passive, h));
    for ((f, p), b) in f.iter_mut().zip(momentum(d, work)).zip(bias) {
        *f = p + h * (*f - b);
    }
    (a, f)
}
