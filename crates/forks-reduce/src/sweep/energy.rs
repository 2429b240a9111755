//! Constraints and energies on live variables; geometric energies may have to wait.

use forks_mechanism::{LinkId, lie::Mat6, linalg::Matrix};

use super::{Op, Sweep, link_variables};
use crate::frontier::{Rows, Singular, Variable};

/// Energy of geometric terms that waits until its variables are resisted.
pub(super) struct Pending {
    pub(super) rows: Rows,
    pub(super) lambda: Matrix,
}

/// Stiffness of a motion, over the greatest in the mechanism, that is rounding of geometric terms.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// All energies as one, on the variables of all.
fn sum(all: &[Pending]) -> (Rows, Matrix) {
    let mut variables: Vec<Variable> =
        all.iter().flat_map(|p| p.rows.variables.iter().copied()).collect();
    variables.sort_unstable();
    variables.dedup();
    let mut lambda = Matrix::zeros(variables.len(), variables.len());
    for p in all {
        let own = Matrix::transpose_mul(&p.rows.matrix, &p.lambda.mul(&p.rows.matrix));
        // Every variable is among them.
        let place: Vec<usize> =
            p.rows.variables.iter().map(|v| variables.partition_point(|x| x < v)).collect();
        for (i, &a) in place.iter().enumerate() {
            for (j, &b) in place.iter().enumerate() {
                lambda[(a, b)] += own[(i, j)];
            }
        }
    }
    (Rows::of(variables), lambda)
}

impl Sweep<'_> {
    pub(super) fn condition(&mut self, rows: Rows) -> Result<(), Singular> {
        if rows.variables.is_empty() {
            return Ok(());
        }
        let free = self.frontier.free_count();
        self.frontier.condition(rows, &mut self.records)?;
        self.flush(true);
        if self.frontier.free_count() < free {
            self.settle_pending()?;
        }
        Ok(())
    }

    /// Energy of a real spring: at once, whether its variables are resisted or not.
    pub(super) fn add_spring_energy(
        &mut self,
        rows: Rows,
        lambda: &Matrix,
    ) -> Result<(), Singular> {
        let free = self.frontier.free_count();
        self.stiffest = self.stiffest.max(lambda.max_abs());
        self.inform(rows, lambda.clone(), 0.0)?;
        if self.frontier.free_count() < free {
            self.settle_pending()?;
        }
        Ok(())
    }

    pub(super) fn add_energy(
        &mut self,
        variables: Vec<Variable>,
        lambda: Matrix,
    ) -> Result<(), Singular> {
        self.add_energy_rows(Rows::of(variables), lambda)
    }

    /// Geometric energy, which may be negative and small: waits until its variables are resisted,
    /// so that no division by a small stiffness is needed.
    pub(super) fn add_energy_rows(&mut self, rows: Rows, lambda: Matrix) -> Result<(), Singular> {
        if self.frontier.is_resisted(&rows) {
            self.inform(rows, lambda, 0.0)?;
        } else {
            rows.variables.iter().for_each(|&v| self.uses[v as usize] += 1);
            self.pending.push(Pending { rows, lambda });
        }
        Ok(())
    }

    /// ξ_aᵀ B ξ_b.
    pub(super) fn add_bilinear(
        &mut self,
        a: LinkId,
        b: LinkId,
        form: &Mat6,
    ) -> Result<(), Singular> {
        let lambda = Matrix::from_fn(12, 12, |i, j| match (i < 6, j < 6) {
            (true, false) => form.rows[i][j - 6],
            (false, true) => form.rows[j][i - 6],
            _ => 0.0,
        });
        self.add_energy([link_variables(a), link_variables(b)].concat(), lambda)
    }

    /// Applies waiting energies whose variables have become resisted.
    pub(super) fn settle_pending(&mut self) -> Result<(), Singular> {
        let (ready, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|p| self.frontier.is_resisted(&p.rows));
        self.pending = waiting;
        for p in ready {
            let variables = p.rows.variables.clone();
            self.inform(p.rows, p.lambda, 0.0)?;
            self.release(&variables);
        }
        // Coordinates that waited for their free motion to be used up.
        let coordinates: Vec<Variable> = self
            .frontier
            .live_variables()
            .iter()
            .copied()
            .filter(|&v| self.is_coordinate(v) && self.uses[v as usize] == 0)
            .collect();
        self.drop_if_unused(&coordinates);
        Ok(())
    }

    /// Applies the energies that waited to the end, where only they resist some motions: all at
    /// once, for one alone may resist a motion that together they do not, and the other way round.
    pub(super) fn settle_all_pending(&mut self) -> Result<(), Singular> {
        let waited = std::mem::take(&mut self.pending);
        if waited.is_empty() {
            return Ok(());
        }
        let (rows, lambda) = sum(&waited);
        // Forces that are rounding of others resist nothing.
        let least = ROUNDING * self.stiffest.max(lambda.max_abs());
        self.inform(rows, lambda, least)?;
        waited.iter().for_each(|p| self.release(&p.rows.variables));
        Ok(())
    }

    /// Applies an energy and records it; free motions that it resists by `least` or less stay free.
    fn inform(&mut self, rows: Rows, lambda: Matrix, least: f64) -> Result<(), Singular> {
        if self.frontier.is_resisted(&rows) {
            self.frontier.inform(rows.clone(), &lambda, &mut self.records)?;
        } else {
            self.frontier.inform_free(rows.clone(), &lambda, least, &mut self.records)?;
        }
        self.flush(false);
        self.tape.push(Op::Energy { rows: Box::new(rows), lambda });
        Ok(())
    }

    fn flush(&mut self, exact: bool) {
        let updates = self.records.drain(..);
        self.tape.extend(updates.map(|r| Op::Update { record: Box::new(r), exact }));
    }
}
