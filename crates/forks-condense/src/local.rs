//! What effectors cannot see: compliance of nodes with the patches held.
//!
//! Nodes v follow the patches' twists by F = C_ve C_ee⁻¹ and yield beside that by the conditional
//! covariance R = C_vv − C_ve C_ee⁻¹ C_ev ⪰ 0, all neighbours together. With R as compliance that
//! contacts share (`forks_contact::ContactProblem::add_shared_compliance`) static contact on a soft
//! patch is that of the whole, with six coordinates.

use forks_deform::{
    SoftBody,
    dynamics::mechanism::{
        LinkId, Mechanism,
        lie::glam::DVec3,
        linalg::{Matrix, dense},
    },
};
use forks_reduce::{Problem, ProblemOptions};

use crate::{
    CondenseError, Patch, TissuePose,
    condense::{condense, unit_responses},
};

/// Compliance of nodes beside the motion of patches.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalCompliance {
    /// The nodes, V of them.
    pub nodes: Vec<usize>,
    /// F, 3V × 6 per patch: displacement of the nodes (world axes) per twist of the patches.
    pub follow: Matrix,
    /// R, 3V × 3V, m/N: what is left with the patches held.
    pub residual: Matrix,
    /// C_vv, 3V × 3V, m/N: all of it.
    pub whole: Matrix,
}

/// Compliance of nodes of tissue at rest, the patches of a reduced model being its effectors.
///
/// # Errors
/// As [`condense`] and [`Problem::response`].
pub fn local_compliance(
    body: &SoftBody,
    m: &Mechanism,
    patches: &[Patch],
    nodes: &[usize],
    options: &ProblemOptions,
) -> Result<LocalCompliance, CondenseError> {
    let q = m.start_positions();
    let at = TissuePose { q: &q, x: body.mesh().nodes(), patch_wrenches: &[] };
    let condensed = condense("tissue", body, m, &at, patches, 0)?;
    let e = &condensed.element;
    let (k, p) = (6 * e.frames.len(), 6 * e.outputs.len());
    if let Some(&node) = nodes.iter().find(|n| **n >= at.x.len()) {
        let count = at.x.len();
        return Err(CondenseError::NoSuchNode { patch: "nodes".into(), node, count });
    }
    // C of the bones with the tissue between them; the ground's is zero.
    let moving: Vec<usize> =
        (0..e.frames.len()).filter(|i| e.frames[*i].link != LinkId::WORLD).collect();
    let names: Vec<String> =
        moving.iter().map(|i| m.link(e.frames[*i].link).name.clone()).collect();
    let mut of_bones = Matrix::zeros(k, k);
    if !moving.is_empty() {
        let mut alone = e.clone();
        alone.outputs.clear();
        alone.forces.truncate(alone.frames.len());
        (alone.output_map, alone.output_compliance) = (Matrix::default(), Matrix::default());
        alone.mass = Matrix::zeros(k, k);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let problem = Problem::with_superelements(m, vec![alone], &names, options)?;
        let found = problem.response(problem.at_rest())?.compliance;
        for (a, i) in moving.iter().enumerate() {
            for (b, j) in moving.iter().enumerate() {
                for r in 0..36 {
                    of_bones[(6 * i + r / 6, 6 * j + r % 6)] =
                        found[(6 * a + r / 6, 6 * b + r % 6)];
                }
            }
        }
    }
    let rows = |u: &[Vec<DVec3>]| {
        Matrix::from_fn(3 * nodes.len(), u.len(), |i, j| u[j][nodes[i / 3]][i % 3])
    };
    // S = (S − Y C₀⁻¹ A) + (Y C₀⁻¹) A.
    let carried = rows(&condensed.shapes[k..k + p]);
    let by_bones = rows(&condensed.shapes[..k]).plus_scaled(1.0, &carried.mul(&e.output_map));
    let per_wrench = carried.mul(&e.output_compliance);
    let own = rows(&unit_responses(body, m, &at, nodes)?);
    let spread = of_bones.mul(&by_bones.transpose());
    let whole = by_bones.mul(&spread).plus_scaled(1.0, &own).symmetric_part();
    // C_ev = A C_BB S_vᵀ + (E_v Y)ᵀ.
    let cross = e.output_map.mul(&spread).plus_scaled(1.0, &per_wrench.transpose());
    let of_patches = e
        .output_map
        .mul(&of_bones.mul(&e.output_map.transpose()))
        .plus_scaled(1.0, &e.output_compliance)
        .symmetric_part();
    let per_patch = dense::cholesky_solve(&of_patches, &cross).ok_or(CondenseError::RigidPatch)?;
    let residual = whole.sub(&cross.transpose_mul(&per_patch)).symmetric_part();
    Ok(LocalCompliance { nodes: nodes.to_vec(), follow: per_patch.transpose(), residual, whole })
}
