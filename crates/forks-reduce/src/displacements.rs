//! What one way back over a sweep's tape finds, and its step over a tree joint.

use forks_mechanism::{LinkId, TreeEdge, linalg::Matrix};

use crate::{
    motion::ScaledMotion,
    sweep::{Sweep, link_variables},
    table::Table,
};

/// What the way back finds.
pub(crate) struct Displacements {
    /// nv × (loads, outputs).
    pub(crate) joints: Matrix,
    /// Load that each tree joint carries, in its outer link's frame: 6 × loads per tree edge;
    /// empty where the sweep did not go.
    pub(crate) carried: Vec<Matrix>,
    /// Multipliers of the exact updates, by their place on the tape.
    pub(crate) reactions: Vec<Option<Matrix>>,
}

/// w_p += Adᵀ w_c, w_θ += Jᵀ w_c; `outer` is w_c.
pub(crate) fn append_back(
    sweep: &Sweep<'_>,
    e: &TreeEdge,
    motion: &ScaledMotion,
    w: &mut Table,
    outer: &[f64],
) {
    let width = w.width;
    for (column, v) in motion.columns.as_slice().iter().zip(motion.velocities.clone()) {
        let variable = sweep.coordinate_variable(v);
        for (s, wc) in column.to_array().into_iter().zip(outer.chunks_exact(width)) {
            w.add(variable, s, wc);
        }
    }
    if e.inner != LinkId::WORLD {
        let ad = motion.ad.matrix();
        let inner = link_variables(e.inner);
        for (row, wc) in ad.rows.iter().zip(outer.chunks_exact(width)) {
            for (&v, &s) in inner.iter().zip(row) {
                w.add(v, s, wc);
            }
        }
    }
}

/// Columns of a 6-row block, its first three rows (lengths) times `scale`.
pub(crate) fn scaled_rows(
    block: &[f64],
    width: usize,
    from: usize,
    columns: usize,
    scale: f64,
) -> Matrix {
    let mut out = Matrix::zeros(6, columns);
    for i in 0..6 {
        let s = if i < 3 { scale } else { 1.0 };
        let row = &block[i * width + from..i * width + from + columns];
        out.row_mut(i).iter_mut().zip(row).for_each(|(o, x)| *o = s * x);
    }
    out
}
