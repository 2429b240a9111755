//! M⁻¹ = WᵀW, by articulated bodies; where M is singular but loops determine what moves without
//! mass, of M + GᵀΣG.
//!
//! On motions with G v̇ = −γ the added term is a force of the loops, −GᵀΣγ: accelerations stay what
//! they are. M + GᵀΣG is positive definite exactly where no motion that the loops admit is without
//! mass. It is dense, so this is for mechanisms that need it: empty links that follow others by a
//! coupling or a loop.

use forks_mechanism::{
    lie::{SymMat6, Wrench},
    linalg::Matrix,
};

use super::{
    articulated::{Articulated, inverse_matrix},
    motion::TreeMotion,
};

/// A pivot below this part of its diagonal entry is lost to rounding.
const SMALLEST_PIVOT: f64 = 1e-13;

/// A diagonal entry of M below this part of the largest one says nothing of how stiff Σ should be.
const LIGHT: f64 = 1e-12;

/// The factorisation in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct MassFactor {
    tree: Articulated,
    augmented: Option<Augmented>,
}

impl MassFactor {
    /// Factorises M + diag(armature), or that with the loop equations `g` (rows × tree velocities);
    /// the position in the forest of a joint that nothing with mass resists if there is one.
    ///
    /// `inertia` holds the links' 6×6 inertias, the ground's first; `armature` one number per
    /// velocity.
    pub(crate) fn factorize(
        &mut self,
        motion: &TreeMotion,
        inertia: &[SymMat6],
        armature: &[f64],
        g: &Matrix,
    ) -> Result<(), usize> {
        self.augmented = None;
        match self.tree.factorize(motion, inertia, armature) {
            Err(_) if g.rows() > 0 => {
                let edge = |k| motion.joints.iter().position(|j| j.velocities.contains(&k));
                let mass = mass_matrix(motion, inertia, armature, g.columns());
                let augmented = Augmented::new(mass, g).map_err(|k| edge(k).unwrap_or(0))?;
                self.augmented = Some(augmented);
                Ok(())
            }
            other => other,
        }
    }

    /// Σ; `None` where M itself is factorised.
    pub(crate) fn loop_mass(&self) -> Option<&[f64]> {
        self.augmented.as_ref().map(|a| a.weights.as_slice())
    }

    /// z = W f.
    pub(crate) fn half_solve(&mut self, motion: &TreeMotion, f: &[f64], z: &mut [f64]) {
        match &self.augmented {
            Some(a) => a.half_solve(f, z),
            None => self.tree.half_solve(motion, f, z),
        }
    }

    /// x = Wᵀ z. `half_solve`, then this one, solves M x = f.
    pub(crate) fn transposed_half_solve(&mut self, motion: &TreeMotion, z: &[f64], x: &mut [f64]) {
        match &self.augmented {
            Some(a) => a.transposed_half_solve(z, x),
            None => self.tree.transposed_half_solve(motion, z, x),
        }
    }
}

/// M + GᵀΣG = U Uᵀ, U upper triangular: outward coordinates are eliminated first, as by articulated
/// bodies.
#[derive(Clone, Debug)]
struct Augmented {
    upper: Matrix,
    /// Σ, one number per row of G.
    weights: Vec<f64>,
}

impl Augmented {
    /// The coordinate whose pivot is lost if there is one.
    fn new(mut mass: Matrix, g: &Matrix) -> Result<Self, usize> {
        let n = mass.rows();
        let largest = (0..n).map(|i| mass[(i, i)]).fold(0.0f64, f64::max);
        let felt: Vec<f64> = (0..n)
            .map(|i| if mass[(i, i)] > LIGHT * largest { mass[(i, i)] } else { largest })
            .collect();
        // Every row weighs as much as the coordinates that it ties.
        let weight = |row: &[f64]| {
            let mobility: f64 = row.iter().zip(&felt).map(|(g, m)| g * g / m).sum();
            if mobility > 0.0 { mobility.recip() } else { 0.0 }
        };
        let weights: Vec<f64> = (0..g.rows()).map(|i| weight(g.row(i))).collect();
        for (i, weight) in weights.iter().enumerate() {
            let row = g.row(i);
            for (a, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                let line = mass.row_mut(a);
                line.iter_mut().zip(row).for_each(|(m, y)| *m += weight * x * y);
            }
        }
        for k in (0..n).rev() {
            let diagonal = mass[(k, k)];
            let known: f64 = mass.row(k)[k + 1..].iter().map(|u| u * u).sum();
            let pivot = diagonal - known;
            if pivot.is_nan() || pivot <= SMALLEST_PIVOT * diagonal || pivot <= 0.0 {
                return Err(k);
            }
            let root = pivot.sqrt();
            mass[(k, k)] = root;
            for i in 0..k {
                let known: f64 = mass.row(i)[k + 1..]
                    .iter()
                    .zip(&mass.row(k)[k + 1..])
                    .map(|(a, b)| a * b)
                    .sum();
                mass[(i, k)] = (mass[(i, k)] - known) / root;
            }
        }
        Ok(Self { upper: mass, weights })
    }

    /// z = U⁻¹ f.
    fn half_solve(&self, f: &[f64], z: &mut [f64]) {
        for k in (0..f.len()).rev() {
            let row = self.upper.row(k);
            let known: f64 = row[k + 1..].iter().zip(&z[k + 1..]).map(|(u, z)| u * z).sum();
            z[k] = (f[k] - known) / row[k];
        }
    }

    /// x = U⁻ᵀ z.
    fn transposed_half_solve(&self, z: &[f64], x: &mut [f64]) {
        for k in 0..z.len() {
            let known: f64 = (0..k).map(|i| self.upper[(i, k)] * x[i]).sum();
            x[k] = (z[k] - known) / self.upper[(k, k)];
        }
    }
}

/// M + diag(armature) over the n tree velocities, by composite bodies.
fn mass_matrix(motion: &TreeMotion, inertia: &[SymMat6], armature: &[f64], n: usize) -> Matrix {
    let mut out = Matrix::zeros(n, n);
    let mut composite = inertia.to_vec();
    let mut carrier = vec![None; inertia.len()];
    motion.joints.iter().enumerate().for_each(|(k, j)| carrier[j.outer] = Some(k));
    for j in motion.joints.iter().rev() {
        let c = composite[j.outer];
        let columns = j.columns.as_slice();
        for (column, row) in columns.iter().zip(j.velocities.clone()) {
            let mut felt = Wrench::from_array(c.mul_vec(&column.to_array()));
            for (other, k) in columns.iter().zip(j.velocities.clone()) {
                out[(row, k)] = other.dot(felt);
            }
            out[(row, row)] += armature[row];
            felt = j.inner_from_outer.apply_to_wrench(felt);
            let mut at = carrier[j.inner];
            while let Some(inner) = at.map(|k: usize| &motion.joints[k]) {
                for (other, k) in inner.columns.as_slice().iter().zip(inner.velocities.clone()) {
                    let x = other.dot(felt);
                    out[(row, k)] = x;
                    out[(k, row)] = x;
                }
                felt = inner.inner_from_outer.apply_to_wrench(felt);
                at = carrier[inner.inner];
            }
        }
        if j.inner != 0 {
            let outer_from_inner = inverse_matrix(&j.inner_from_outer);
            composite[j.inner] += c.congruence(&outer_from_inner.transpose());
        }
    }
    out
}
