//! A step as one matrix: what multiplies (η̇, η − η_s, g − b_η).

use alloc::{vec, vec::Vec};

use forks_lie::Matrix;

use crate::{
    ModelError,
    kernel::{LANES, Lane4, Lanes},
    linear::{solve_matrix, sum},
    model::ModelData,
};

/// Rows of a matrix in lane groups: group after group, columns within.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transition {
    data: Vec<Lane4>,
    columns: usize,
}

impl Transition {
    /// Packs matrices side by side.
    pub(crate) fn new(parts: [&Matrix; 3]) -> Self {
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

    /// Two results one after the other, each padded to whole lane groups.
    pub(crate) fn stacked(top: [&Matrix; 3], bottom: [&Matrix; 3]) -> Self {
        let mut out = Self::new(top);
        out.data.extend(Self::new(bottom).data);
        out
    }

    /// Matrix times vector, even and odd columns summed apart.
    #[inline(always)]
    pub(crate) fn apply<L: Lanes>(&self, l: L, x: &[f64], out: &mut [Lane4]) {
        for (row, out) in self.data.chunks_exact(self.columns).zip(out) {
            let mut sums = [l.splat(0.0); 2];
            let pairs = row.chunks_exact(2).zip(x.chunks_exact(2));
            for (a, x) in pairs {
                sums[0] = l.mul_add(l.load(&a[0]), l.splat(x[0]), sums[0]);
                sums[1] = l.mul_add(l.load(&a[1]), l.splat(x[1]), sums[1]);
            }
            if self.columns % 2 == 1 {
                let last = self.columns - 1;
                sums[0] = l.mul_add(l.load(&row[last]), l.splat(x[last]), sums[0]);
            }
            *out = l.store(l.add(sums[0], sums[1]));
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
    Ok(Transition::new([&from_velocity, &from_position, &from_force]))
}
