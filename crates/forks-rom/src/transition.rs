//! A step as one matrix: what multiplies (η̇, η − η_s, g − b_η).

use alloc::{vec, vec::Vec};

use forks_lie::Matrix;

use crate::{
    ModelError,
    kernel::{LANES, Lane4, Lanes},
    linear::{solve_matrix, sum},
    model::ModelData,
};

/// The matrices of a step: what is multiplied by the state (η̇, η − η_s), and by the force g − b_η.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transition {
    pub(crate) state: Packed,
    pub(crate) force: Packed,
}

/// A matrix in lane groups of rows: group after group, columns within.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packed {
    data: Vec<Lane4>,
    columns: usize,
}

impl Transition {
    /// Rates after the step, from velocity, stretch and force.
    pub(crate) fn new(velocity: &Matrix, stretch: &Matrix, force: &Matrix) -> Self {
        Self { state: Packed::new(&[velocity, stretch]), force: Packed::new(&[force]) }
    }

    /// This one's results, then those of another.
    pub(crate) fn followed_by(mut self, other: Self) -> Self {
        self.state.data.extend(other.state.data);
        self.force.data.extend(other.force.data);
        self
    }
}

impl Packed {
    /// Packs matrices side by side.
    fn new(parts: &[&Matrix]) -> Self {
        let rows = parts[0].rows();
        let columns: usize = parts.iter().map(|p| p.columns()).sum();
        let mut data = vec![Lane4::default(); rows.div_ceil(LANES) * columns];
        for i in 0..rows {
            let entries = parts.iter().flat_map(|p| p.row(i).iter());
            for (j, x) in entries.enumerate() {
                data[i / LANES * columns + j].0[i % LANES] = *x;
            }
        }
        Self { data, columns }
    }

    /// out += matrix times vector, even and odd columns summed apart; `out` is padded, the odd columns' sum is
    /// added last.
    #[inline(always)]
    pub(crate) fn add_product<L: Lanes>(&self, l: L, x: &[f64], out: &mut [f64]) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        let (pairs, last) = x[..self.columns].as_chunks::<2>();
        for (row, out) in self.data.chunks_exact(self.columns).zip(out) {
            let mut even = l.from_array(out);
            let mut odd = l.splat(0.0);
            for (a, x) in row.chunks_exact(2).zip(pairs) {
                even = l.mul_add(l.load(&a[0]), l.splat(x[0]), even);
                odd = l.mul_add(l.load(&a[1]), l.splat(x[1]), odd);
            }
            if let (Some(a), [x]) = (row.last(), last) {
                even = l.mul_add(l.load(a), l.splat(*x), even);
            }
            *out = l.store(l.add(even, odd)).0;
        }
    }
}

/// Implicit Euler: (M + hD + h²𝓗) η̇⁺ = M η̇ + h(g − b_η − 𝓗(η − η_s)); dissipative at any h. `stiffness` is 𝓗, or
/// \[A16\]'s K.
pub(crate) fn implicit_euler(
    data: &ModelData,
    stiffness: &Matrix,
    h: f64,
) -> Result<Transition, ModelError> {
    let n = stiffness.rows();
    let system = sum(&sum(&data.mass, h, &data.damping), h * h, stiffness);
    let solved = |m: &Matrix| solve_matrix(&system, m).ok_or(ModelError::SingularStep);
    let from_velocity = solved(&data.mass)?;
    let from_position = solved(&sum(&Matrix::zeros(n, n), -h, stiffness))?;
    let from_force = solved(&sum(&Matrix::zeros(n, n), h, &Matrix::identity(n)))?;
    Ok(Transition::new(&from_velocity, &from_position, &from_force))
}
