//! All loop equations over the tree coordinates: G v = 0 and G v̇ + γ = 0.
//!
//! Rows: for every closing joint the 6 − d directions it forbids, then one row per coupling. A
//! closing joint's own coordinates are replaced by θ̇ = R v, θ̈ = R v̇ + θ̈₀ wherever a coupling,
//! spring, damper or rotor acts on them.

use forks_mechanism::{Combination, Mechanism, kinematics::loops, lie::Wrench, linalg::Matrix};

use super::{closing::Closing, motion::TreeMotion};

/// The loop equations at one configuration.
#[derive(Clone, Debug)]
pub(crate) struct LoopRows {
    /// G (rows × tree velocities); lengths over r.
    pub(crate) jacobian: Matrix,
    /// γ = Ġ v.
    pub(crate) bias: Vec<f64>,
    /// Residuals of the equations themselves, in the units of the rows.
    pub(crate) gaps: Vec<f64>,
    pub(crate) closings: Vec<Closing>,
    /// R: velocities of the closing joints (rows, in their order) from those of the tree.
    pub(crate) own: Matrix,
    /// θ̈₀ of the closing joints' coordinates.
    pub(crate) own_bias: Vec<f64>,
    /// Couplings of closing joints' coordinates: coupling, coordinate, ∂g/∂θ.
    pub(crate) coupled_own: Vec<(usize, usize, f64)>,
}

impl LoopRows {
    /// `q` and `v` of the whole mechanism; the entries of closing joints are found here.
    pub(crate) fn new(
        m: &Mechanism,
        motion: &TreeMotion,
        size: f64,
        q: &mut [f64],
        v: &mut [f64],
    ) -> Self {
        let n = m.tree_velocity_count();
        let closings: Vec<Closing> = m
            .forest()
            .closures()
            .iter()
            .map(|&id| Closing::new(m, id, motion, size, q, v))
            .collect();
        let forbidden: usize = closings.iter().map(|c| c.forbidden.len()).sum();
        let rows = forbidden + m.couplings().len();
        let mut out = Self {
            jacobian: Matrix::zeros(rows, n),
            bias: vec![0.0; rows],
            gaps: vec![0.0; rows],
            own: Matrix::zeros(m.velocity_count() - n, n),
            own_bias: vec![0.0; m.velocity_count() - n],
            closings,
            coupled_own: Vec::new(),
        };
        out.write_closings(m, size);
        for (i, row) in (forbidden..rows).enumerate() {
            out.write_coupling(m, i, row, q, v);
        }
        out
    }

    fn write_closings(&mut self, m: &Mechanism, size: f64) {
        let n = self.jacobian.columns();
        let mut row = 0;
        for c in &self.closings {
            for &w in &c.forbidden {
                c.write_row(w, size, self.jacobian.row_mut(row));
                self.bias[row] = c.bias.dot(w);
                self.gaps[row] = c.gap.dot(w);
                row += 1;
            }
            for (k, &w) in m.velocity_range(c.joint).zip(&c.own) {
                c.write_row(w, size, self.own.row_mut(k - n));
                self.own_bias[k - n] = c.bias.dot(w);
            }
        }
    }

    /// g = Σ p(ℓ): row Σ p′ a, bias Σ p″ ℓ̇² + p′ a·θ̈₀.
    fn write_coupling(&mut self, m: &Mechanism, i: usize, row: usize, q: &[f64], v: &[f64]) {
        for t in &m.couplings()[i].terms {
            let value = loops::combination_value(m, &t.combination, q);
            let (p, slope, curvature) = t.evaluate(value);
            let rate: f64 =
                t.combination.terms.iter().map(|(c, a)| a * v[m.velocity_index(*c)]).sum();
            self.gaps[row] += p;
            let mut bias = self.bias[row] + curvature * rate * rate;
            let mut line = self.jacobian.row(row).to_vec();
            self.add_combination(m, &t.combination, slope, &mut line, &mut bias);
            self.jacobian.row_mut(row).copy_from_slice(&line);
            self.bias[row] = bias;
            for (c, a) in &t.combination.terms {
                if let Some(k) = m.velocity_index(*c).checked_sub(line.len()) {
                    self.coupled_own.push((i, k, slope * a));
                }
            }
        }
    }

    /// Adds s·ℓ as a row over the tree velocities, and s times its acceleration at v̇ = 0.
    pub(crate) fn add_combination(
        &self,
        m: &Mechanism,
        l: &Combination,
        s: f64,
        row: &mut [f64],
        bias: &mut f64,
    ) {
        let n = row.len();
        for (c, a) in &l.terms {
            let k = m.velocity_index(*c);
            if k < n {
                row[k] += s * a;
            } else {
                row.iter_mut().zip(self.own.row(k - n)).for_each(|(x, r)| *x += s * a * r);
                *bias += s * a * self.own_bias[k - n];
            }
        }
    }

    /// Forces on all coordinates as forces on the tree: f_t + Rᵀ f_closing.
    pub(crate) fn fold(&self, f: &[f64]) -> Vec<f64> {
        let n = self.jacobian.columns();
        let mut out = self.own.transpose_mul_vec(&f[n..]);
        out.iter_mut().zip(f).for_each(|(o, f)| *o += f);
        out
    }

    /// Where the rows of each block start: closing joints, then couplings, then the end.
    pub(crate) fn blocks(&self) -> Vec<usize> {
        let mut out = vec![0];
        let mut at = 0;
        for c in &self.closings {
            at += c.forbidden.len();
            out.push(at);
        }
        while at < self.jacobian.rows() {
            at += 1;
            out.push(at);
        }
        out
    }

    /// Multipliers of [`loops::constraint_residual`]'s rows from those of these rows and the forces
    /// `own` that pass along the closing joints' coordinates (whole mechanism's tail).
    pub(crate) fn full_multipliers(&self, lambda: &[f64], own: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(6 * self.closings.len() + lambda.len());
        let (mut row, mut k) = (0, 0);
        for c in &self.closings {
            let mut w = Wrench::ZERO;
            for f in &c.forbidden {
                w += *f * lambda[row];
                row += 1;
            }
            for o in &c.own {
                w += *o * own[k];
                k += 1;
            }
            out.extend(w.to_array());
        }
        out.extend_from_slice(&lambda[row..]);
        out
    }
}
