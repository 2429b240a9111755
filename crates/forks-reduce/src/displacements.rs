//! What one way back over a sweep's tape finds, and its steps over tree joints and updates.

use forks_mechanism::{LinkId, TreeEdge, linalg::Matrix};

use crate::{
    frontier::{Record, Variable, add_scaled},
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

pub(crate) fn add(a: &mut Matrix, b: &Matrix) {
    for i in 0..a.rows() {
        add_scaled(a.row_mut(i), 1.0, b.row(i));
    }
}

/// w ← (update)ᵀ w; `found` gets the values that were asked for. Returns the multipliers y of an
/// update that took Uᵀ y off the adjoints; they are greater by `innovation`, where there is one.
pub(crate) fn undo(
    record: &Record,
    w: &mut Table,
    innovation: Option<&Matrix>,
    found: impl FnOnce(Variable, &[f64]),
) -> Option<Matrix> {
    let (rows, mut y) = match record {
        Record::Consume { live, rows, gain } | Record::Inform { live, rows, gain, .. } => {
            (rows, w.product(&gain.transpose(), live))
        }
        Record::Correct { live, rows, core, covariance } => {
            (rows, core.mul(&w.product(covariance, live)))
        }
        Record::Value { live, variable, covariance } => {
            let row = Matrix::from_fn(1, covariance.len(), |_, j| covariance[j]);
            found(*variable, w.product(&row, live).row(0));
            return None;
        }
    };
    if let Some(innovation) = innovation {
        add(&mut y, innovation);
    }
    w.subtract_transposed(&rows.variables, &rows.matrix, &y);
    Some(y)
}

#[cfg(test)]
mod tests {
    use forks_testkit::Rng;

    use super::*;
    use crate::frontier::{Frontier, Rows};

    /// C after = C before × (the tape backwards), for variables that no free motion moves before.
    #[test]
    fn the_tape_backwards_is_the_transpose_of_the_updates() {
        let (n, fixed) = (9, 6);
        let mut rng = Rng::new(7);
        let mut random = |r, c| Matrix::from_fn(r, c, |_, _| rng.symmetric());
        let (a, u, r, s) = (random(n, n), random(3, n), random(2, n), random(2, n));
        let before = a.mul(&a.transpose());
        let variables: Vec<Variable> = (0..n as Variable).collect();
        let rows = |m: &Matrix| Rows::zero(m.rows()).plus(1.0, m, &variables);
        let free = Matrix::from_fn(n, 2, |i, j| if i < fixed { 0.0 } else { (i * j) as f64 - 6.0 });
        let mut f = Frontier::new(n);
        f.add_independent(&variables, &before, &free);
        let mut tape = vec![];
        let lambda = Matrix::from_fn(2, 2, |i, j| if i == j { 0.3 } else { -0.1 });
        f.inform_free(rows(&s), &lambda, 0.0, &mut tape).unwrap();
        assert_eq!(f.free_count(), 0);
        f.condition(rows(&u), &mut tape).unwrap();
        f.inform(rows(&r), &lambda, &mut tape).unwrap();
        assert_eq!(tape.len(), 3);
        let mut w = Table::zeros(n, n);
        variables.iter().for_each(|&v| w.row_mut(v)[v as usize] = 1.0);
        for record in tape.iter().rev() {
            undo(record, &mut w, None, |_, _| unreachable!("no variable was dropped"));
        }
        let back = Matrix::from_fn(n, n, |i, j| w.row(i as Variable)[j]);
        let expected = before.mul(&back);
        for i in 0..fixed {
            for (j, e) in expected.row(i).iter().enumerate() {
                // Rounding of well conditioned 9×9 products.
                let error = e - f.covariance(i as Variable, j as Variable);
                assert!(error.abs() < 1e-11 * before.max_abs(), "{i}, {j}: {error:e}");
            }
        }
    }
}
