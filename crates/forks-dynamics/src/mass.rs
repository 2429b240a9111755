//! The mass matrix of all coordinates, those of loop-closing joints included.

use forks_mechanism::{Mechanism, linalg::Matrix};

use crate::tree::{CrbaWorkspace, Tree, crba};

/// The mass matrix M(q) (nv×nv) with armature: kinetic energy ½ vᵀ M v.
///
/// The coordinates of loop-closing joints carry no mass but their armature; loops are not in M.
/// Callers that need it often keep a [`Tree`] and call [`crba`].
///
/// # Panics
/// If `q` is shorter than the tree's positions.
pub fn mass_matrix(m: &Mechanism, q: &[f64]) -> Matrix {
    let n = m.velocity_count();
    let mut out = Matrix::zeros(n, n);
    let tree = Tree::new(m);
    crba(&tree, &mut CrbaWorkspace::new(&tree), &q[..tree.position_count()], &mut out);
    for &id in m.forest().closures() {
        for (k, armature) in m.velocity_range(id).zip(&m.joint(id).armature) {
            out[(k, k)] += armature;
        }
    }
    out
}
