//! A step as one matrix: what multiplies (η̇, η − η_s, g − b_η).

use alloc::{vec, vec::Vec};

use forks_linalg::{
    Matrix, Pivots,
    simd::{Arithmetic, LANES, Lanes, Wide},
};

use crate::{ModelError, data::ModelData};

/// A step as matrices: constant + velocity η̇ + stretch (η − η_s) + force g.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transition {
    /// What the static wrenches give, −force · b_η.
    pub constant: Vec<Lanes>,
    pub velocity: Packed,
    pub stretch: Packed,
    pub force: Packed,
}

/// A matrix in lane groups of rows: group after group, columns within.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    data: Vec<Lanes>,
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
        let mut constant = vec![Lanes::default(); force.rows().div_ceil(LANES)];
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
    pub(crate) fn of_state<L: Arithmetic>(
        &self,
        l: L,
        velocity: &[f64],
        stretch: &[f64],
        out: &mut [f64],
    ) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        let out = &mut out[..self.constant.len()];
        let constant = |i: usize, _: &[f64; LANES]| l.load(&self.constant[i]);
        self.velocity.sums(l, velocity, out, constant, |_, sum| sum);
        let nothing = |_, _: &[f64; LANES]| l.splat(0.0);
        self.stretch.sums(l, stretch, out, nothing, |before, sum| l.read(before) + sum);
    }

    /// Adds what a force gives.
    #[inline(always)]
    pub(crate) fn add_force<L: Arithmetic>(&self, l: L, force: &[f64], out: &mut [f64]) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        let out = &mut out[..self.constant.len()];
        self.force.sums(l, force, out, |_, before| l.read(before), |_, sum| sum);
    }
}

impl Packed {
    /// Packs a matrix.
    pub fn new(m: &Matrix) -> Self {
        let columns = m.columns();
        let mut data = vec![Lanes::default(); m.rows().div_ceil(LANES) * columns];
        for i in 0..m.rows() {
            for (j, x) in m.row(i).iter().enumerate() {
                data[i / LANES * columns + j].0[i % LANES] = *x;
            }
        }
        Self { data, columns }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The first rows as a matrix.
    pub fn unpacked(&self, rows: usize) -> Matrix {
        let entry = |i: usize, j: usize| self.data[i / LANES * self.columns + j].0[i % LANES];
        Matrix::from_fn(rows, self.columns, entry)
    }

    /// Four rows, column after column.
    #[inline(always)]
    pub fn group(&self, group: usize) -> &[Lanes] {
        &self.data[group * self.columns..(group + 1) * self.columns]
    }

    /// Matrix times vector; `out` is padded to whole lane groups.
    #[inline(always)]
    pub fn product<L: Arithmetic>(&self, l: L, x: &[f64], out: &mut [f64]) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        self.sums(l, x, out, |_, _| l.splat(0.0), |_, sum| sum);
    }

    /// Puts `put(out, start(i, out) + group i of rows times x)` for each group of rows into `out`.
    /// Several groups share what is read of x, as many as there are registers for.
    #[inline(always)]
    fn sums<L: Arithmetic>(
        &self,
        l: L,
        x: &[f64],
        out: &mut [[f64; LANES]],
        start: impl Fn(usize, &[f64; LANES]) -> Wide<L> + Copy,
        put: impl Fn(&[f64; LANES], Wide<L>) -> Wide<L> + Copy,
    ) {
        let x = &x[..self.columns];
        let mut i = 0;
        while out.len() - i > 6 {
            self.sums_of::<L, 6>(l, i, x, &mut out[i..], start, put);
            i += 6;
        }
        // The rest is not part of the loop: most matrices have no more.
        let out = &mut out[i..];
        match out.len() {
            0 => {}
            1 => self.sums_of::<L, 1>(l, i, x, out, start, put),
            2 => self.sums_of::<L, 2>(l, i, x, out, start, put),
            3 => self.sums_of::<L, 3>(l, i, x, out, start, put),
            4 => self.sums_of::<L, 4>(l, i, x, out, start, put),
            5 => self.sums_of::<L, 5>(l, i, x, out, start, put),
            _ => self.sums_of::<L, 6>(l, i, x, out, start, put),
        }
    }

    /// [`Packed::sums`] of N groups from one on; even and odd columns are summed apart, and the sum
    /// of the odd ones is added last.
    #[inline(always)]
    fn sums_of<L: Arithmetic, const N: usize>(
        &self,
        l: L,
        first: usize,
        x: &[f64],
        out: &mut [[f64; LANES]],
        start: impl Fn(usize, &[f64; LANES]) -> Wide<L>,
        put: impl Fn(&[f64; LANES], Wide<L>) -> Wide<L>,
    ) {
        let out = &mut out[..N];
        let (pairs, last) = x.as_chunks::<2>();
        // Loops over N are loops: closures given to arrays are compiled without the instruction
        // set.
        let mut rows: [&[Lanes]; N] = [&[]; N];
        let mut rest = &self.data[first * x.len()..];
        for row in &mut rows {
            (*row, rest) = rest.split_at(x.len());
        }
        let mut even = [l.splat(0.0); N];
        let mut odd = even;
        for k in 0..N {
            even[k] = start(first + k, &out[k]);
        }
        for (j, x) in pairs.iter().enumerate() {
            let x = [l.splat(x[0]), l.splat(x[1])];
            for k in 0..N {
                even[k] += l.load(&rows[k][2 * j]) * x[0];
                odd[k] = l.load(&rows[k][2 * j + 1]) * x[1] + odd[k];
            }
        }
        if let [x] = last {
            let x = l.splat(*x);
            for k in 0..N {
                even[k] += l.load(&rows[k][2 * pairs.len()]) * x;
            }
        }
        for k in 0..N {
            out[k] = put(&out[k], even[k] + odd[k]).store().0;
        }
    }
}

/// Implicit Euler: (M + hD + h²𝓗) η̇⁺ = M η̇ + h(g − b_η − 𝓗(η − η_s)); dissipative at any h.
/// `stiffness` is 𝓗, or \[A16\]'s K.
pub(crate) fn implicit_euler(
    data: &ModelData,
    static_force: &[f64],
    stiffness: &Matrix,
    h: f64,
) -> Result<Transition, ModelError> {
    let n = stiffness.rows();
    let system = data.mass.plus_scaled(h, &data.damping).plus_scaled(h * h, stiffness);
    let solved = |m: &Matrix| {
        let x = system.solve(m, Pivots::AboveZero).filter(Matrix::is_finite);
        x.ok_or(ModelError::SingularStep)
    };
    let from_velocity = solved(&data.mass)?;
    let from_position = solved(&Matrix::zeros(n, n).plus_scaled(-h, stiffness))?;
    let from_force = solved(&Matrix::zeros(n, n).plus_scaled(h, &Matrix::identity(n)))?;
    Ok(Transition::new(&from_velocity, &from_position, &from_force, static_force))
}
