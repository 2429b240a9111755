//! A step as one matrix: what multiplies (η̇, η − η_s, g − b_η).

use alloc::{vec, vec::Vec};

use forks_lie::Matrix;

use crate::{
    ModelError,
    kernel::{LANES, Lane4, Lanes},
    linear::{solve_matrix, sum},
    model::ModelData,
};

/// A step as matrices: constant + velocity η̇ + stretch (η − η_s) + force g.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transition {
    /// What the static wrenches give, −force · b_η.
    pub(crate) constant: Vec<Lane4>,
    pub(crate) velocity: Packed,
    pub(crate) stretch: Packed,
    pub(crate) force: Packed,
}

/// A matrix in lane groups of rows: group after group, columns within.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packed {
    data: Vec<Lane4>,
    columns: usize,
}

impl Transition {
    /// From what multiplies velocity, stretch and force, and b_η.
    pub(crate) fn new(
        velocity: &Matrix,
        stretch: &Matrix,
        force: &Matrix,
        static_force: &[f64],
    ) -> Self {
        let mut constant = vec![Lane4::default(); force.rows().div_ceil(LANES)];
        for (i, x) in force.mul_vec(static_force).into_iter().enumerate() {
            constant[i / LANES].0[i % LANES] = -x;
        }
        let [velocity, stretch, force] = [velocity, stretch, force].map(Packed::new);
        Self { constant, velocity, stretch, force }
    }

    /// This one's results, then those of another.
    pub(crate) fn followed_by(mut self, other: Self) -> Self {
        self.constant.extend(other.constant);
        self.velocity.data.extend(other.velocity.data);
        self.stretch.data.extend(other.stretch.data);
        self.force.data.extend(other.force.data);
        self
    }

    /// What the state and the static wrenches give; `out` is padded.
    #[inline(always)]
    pub(crate) fn of_state<L: Lanes>(
        &self,
        l: L,
        velocity: &[f64],
        stretch: &[f64],
        out: &mut [f64],
    ) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        for (i, (out, constant)) in out.iter_mut().zip(&self.constant).enumerate() {
            let from_velocity = self.velocity.row_group(l, i, velocity, l.load(constant));
            let from_stretch = self.stretch.row_group(l, i, stretch, l.splat(0.0));
            *out = l.store(l.add(from_velocity, from_stretch)).0;
        }
    }

    /// Adds what a force gives.
    #[inline(always)]
    pub(crate) fn add_force<L: Lanes>(&self, l: L, force: &[f64], out: &mut [f64]) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        for (i, out) in out.iter_mut().take(self.constant.len()).enumerate() {
            *out = l.store(self.force.row_group(l, i, force, l.read(out))).0;
        }
    }
}

impl Packed {
    /// Packs a matrix.
    pub(crate) fn new(m: &Matrix) -> Self {
        let columns = m.columns();
        let mut data = vec![Lane4::default(); m.rows().div_ceil(LANES) * columns];
        for i in 0..m.rows() {
            for (j, x) in m.row(i).iter().enumerate() {
                data[i / LANES * columns + j].0[i % LANES] = *x;
            }
        }
        Self { data, columns }
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The first rows as a matrix.
    pub(crate) fn unpacked(&self, rows: usize) -> Matrix {
        let entry = |i: usize, j: usize| self.data[i / LANES * self.columns + j].0[i % LANES];
        Matrix::from_fn(rows, self.columns, entry)
    }

    /// Four rows, column after column.
    #[inline(always)]
    pub(crate) fn group(&self, group: usize) -> &[Lane4] {
        &self.data[group * self.columns..(group + 1) * self.columns]
    }

    /// Matrix times vector; `out` is padded to whole lane groups.
    #[inline(always)]
    pub(crate) fn product<L: Lanes>(&self, l: L, x: &[f64], out: &mut [f64]) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        for (i, out) in out.iter_mut().enumerate() {
            *out = l.store(self.row_group(l, i, x, l.splat(0.0))).0;
        }
    }

    /// start + a group of rows times a vector; even and odd columns are summed apart, and the sum of the odd ones
    /// is added last.
    #[inline(always)]
    fn row_group<L: Lanes>(&self, l: L, group: usize, x: &[f64], start: L::V) -> L::V {
        let (row, last_entry) = self.group(group).as_chunks::<2>();
        let (pairs, last) = x[..self.columns].as_chunks::<2>();
        let (mut even, mut odd) = (start, l.splat(0.0));
        for (a, x) in row.iter().zip(pairs) {
            even = l.mul_add(l.load(&a[0]), l.splat(x[0]), even);
            odd = l.mul_add(l.load(&a[1]), l.splat(x[1]), odd);
        }
        if let ([a], [x]) = (last_entry, last) {
            even = l.mul_add(l.load(a), l.splat(*x), even);
        }
        l.add(even, odd)
    }
}

/// Implicit Euler: (M + hD + h²𝓗) η̇⁺ = M η̇ + h(g − b_η − 𝓗(η − η_s)); dissipative at any h. `stiffness` is 𝓗, or
/// \[A16\]'s K.
pub(crate) fn implicit_euler(
    data: &ModelData,
    static_force: &[f64],
    stiffness: &Matrix,
    h: f64,
) -> Result<Transition, ModelError> {
    let n = stiffness.rows();
    let system = sum(&sum(&data.mass, h, &data.damping), h * h, stiffness);
    let solved = |m: &Matrix| solve_matrix(&system, m).ok_or(ModelError::SingularStep);
    let from_velocity = solved(&data.mass)?;
    let from_position = solved(&sum(&Matrix::zeros(n, n), -h, stiffness))?;
    let from_force = solved(&sum(&Matrix::zeros(n, n), h, &Matrix::identity(n)))?;
    Ok(Transition::new(&from_velocity, &from_position, &from_force, static_force))
}
