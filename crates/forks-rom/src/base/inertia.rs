//! Inertia of base and mechanism about their common centre of mass at a state, in the base's axes.
//!
//! A field, a vector per coordinate, is three lane groups (its components) per four coordinates.
//! Fields that depend on the state are sums of rows: F(η) = F₀ + Σ η_k F_k. Coordinates are padded
//! with zeros to whole lane groups.

use forks_lie::glam::{DMat3, DVec3};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, LANES, Lanes, Rows, Wide, WideVectors},
};

use super::derivatives::Derivatives;
use crate::{BaseCoupling, ModelError, data::BaseRest};

/// Part of the mass matrix up to which its first-order change is trusted: below 1 it stays positive
/// definite.
const TRUSTED: f64 = 0.9;

/// m, c(η), J(η), Σ(η), M̃; n coordinates.
#[derive(Clone, Debug)]
pub struct BaseInertia {
    /// Number of coordinates.
    pub n: usize,
    /// Mass, kg.
    pub mass: f64,
    /// c at η = 0.
    pub(super) center: DVec3,
    /// G at η = 0: one field.
    pub(super) slope: Rows,
    /// ∂G/∂η_k, a field per coordinate k.
    pub(super) curvature: Rows,
    /// J at η = 0.
    pub rotation: DMat3,
    /// J_k: xx, xy, xz, yy, yz, zz by rows, coordinates by columns.
    pub(super) rotation_slopes: Rows,
    /// Σ at η = 0: one field.
    pub(super) coupling: Rows,
    /// Σ_k, a field per coordinate k.
    pub(super) coupling_slopes: Rows,
    /// The same by the other index: field j has (Σ_k)_j as the vector of coordinate k.
    pub(super) coupling_by_rate: Rows,
    /// M̃ = M − m GᵀG.
    pub(super) shape_mass: Matrix,
    /// The same.
    pub shape_mass_rows: Rows,
    /// ηᵀ(change)η bounds the square of the mass matrix' relative change.
    pub(super) change: Rows,
}

/// How base and centre of mass move at a state, base axes.
pub(super) struct BaseMotion {
    /// c(η).
    pub(super) center: DVec3,
    /// G η̇.
    pub(super) center_rate: DVec3,
    /// J.
    pub(super) rotation: DMat3,
    /// Σ η̇.
    pub(super) coupled: DVec3,
}

impl BaseInertia {
    /// From the inertia at the base link's origin.
    pub fn new(b: &BaseRest, mass_matrix: &Matrix, form: BaseCoupling) -> Result<Self, ModelError> {
        let d = Derivatives::new(b, mass_matrix, form)?;
        let n = d.n;
        let [xx, xy, xz, yy, yz, zz] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
        let entries = [xx, xy, xz, yy, yz, zz];
        let slope = |(i, j): (usize, usize), s: &DMat3| 0.5 * (s.col(j)[i] + s.col(i)[j]);
        Ok(Self {
            n,
            mass: d.mass,
            center: d.center,
            slope: fields(1, n, |_, j| d.slope[j]),
            curvature: fields(n, n, |k, j| d.curvature[k * n + j]),
            rotation: (d.rotation + d.rotation.transpose()) * 0.5,
            rotation_slopes: Rows::from_fn(6, n, |i, k| slope(entries[i], &d.rotation_slopes[k])),
            coupling: fields(1, n, |_, j| d.coupling[j]),
            coupling_slopes: fields(n, n, |k, j| d.coupling_slopes[k * n + j]),
            coupling_by_rate: fields(n, n, |j, k| d.coupling_slopes[k * n + j]),
            shape_mass_rows: symmetric_rows(&d.shape_mass),
            shape_mass: d.shape_mass,
            change: symmetric_rows(&d.change),
        })
    }

    /// Factor on the changes of J and Σ: 1 within range, less where they would take away the mass.
    #[inline(always)]
    pub fn hold_back<L: Arithmetic>(&self, l: L, eta: &[f64]) -> f64 {
        let mut square = l.splat(0.0);
        for (group, x) in eta.as_chunks::<LANES>().0.iter().enumerate() {
            let mut sum = l.splat(0.0);
            for (k, y) in eta[..self.n].iter().enumerate() {
                sum += l.splat(*y) * l.load(&self.change.row(k)[group]);
            }
            square += l.read(x) * sum;
        }
        let (square, limit) = (square.total(), TRUSTED * TRUSTED);
        if square <= limit { 1.0 } else { forks_linalg::sqrt(limit / square) }
    }

    /// c(η), and G(η) into `slope`.
    #[inline(always)]
    pub(super) fn center_and_slope<L: Arithmetic>(
        &self,
        l: L,
        eta: &[f64],
        slope: &mut [Lanes],
    ) -> DVec3 {
        slope.copy_from_slice(self.slope.row(0));
        self.curvature.add_to(l, &eta[..self.n], slope);
        self.center + self.moved(l, eta, slope)
    }

    /// What the centre of mass has moved by: Σ η (G₀ + G)/2, G at η.
    #[inline(always)]
    fn moved<L: Arithmetic>(&self, l: L, eta: &[f64], slope: &[Lanes]) -> DVec3 {
        (contract(l, self.slope.row(0), eta) + contract(l, slope, eta)) * 0.5
    }

    /// J(η) for η times what holds its change back.
    #[inline(always)]
    pub(super) fn rotation_at<L: Arithmetic>(&self, l: L, held_eta: &[f64]) -> DMat3 {
        let mut sums = [l.splat(0.0); 6];
        for (group, x) in held_eta.as_chunks::<LANES>().0.iter().enumerate() {
            let x = l.read(x);
            for (sum, j) in sums.iter_mut().zip(self.rotation_slopes_of(l, group)) {
                *sum += j * x;
            }
        }
        let [xx, xy, xz, yy, yz, zz] = sums;
        let [xx, xy, xz, yy] = l.sums([xx, xy, xz, yy]).store().0;
        let [yz, zz, ..] = l.sums([yz, zz, yz, zz]).store().0;
        self.rotation + DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
    }

    #[inline(always)]
    fn rotation_slopes_of<L: Arithmetic>(&self, l: L, group: usize) -> [Wide<L>; 6] {
        core::array::from_fn(|i| l.load(&self.rotation_slopes.row(i)[group]))
    }

    /// J_k ω of four coordinates.
    #[inline(always)]
    pub(super) fn turned<L: Arithmetic>(
        &self,
        l: L,
        group: usize,
        w: WideVectors<L>,
    ) -> WideVectors<L> {
        let [xx, xy, xz, yy, yz, zz] = self.rotation_slopes_of(l, group);
        let row = |a, b, c| WideVectors([a, b, c]).dot(w);
        WideVectors([row(xx, xy, xz), row(xy, yy, yz), row(xz, yz, zz)])
    }

    /// Σ for η times what holds its change back.
    #[inline(always)]
    pub(super) fn coupling_at<L: Arithmetic>(&self, l: L, held_eta: &[f64], out: &mut [Lanes]) {
        out.copy_from_slice(self.coupling.row(0));
        self.coupling_slopes.add_to(l, &held_eta[..self.n], out);
    }

    /// Σ at η = 0.
    pub fn coupling_at_rest(&self) -> &[Lanes] {
        self.coupling.row(0)
    }

    /// Σ_k η̇ for all k.
    #[inline(always)]
    pub(super) fn coupled_slopes<L: Arithmetic>(&self, l: L, rate: &[f64], out: &mut [Lanes]) {
        out.fill(Lanes::default());
        self.coupling_by_rate.add_to(l, &rate[..self.n], out);
    }

    /// (Σ_j)_k − (Σ_k)_j for four j.
    #[inline(always)]
    pub(super) fn curl<L: Arithmetic>(&self, l: L, k: usize, group: usize) -> WideVectors<L> {
        let (other, own) = (self.coupling_by_rate.row(k), self.coupling_slopes.row(k));
        vectors(l, other, group) - vectors(l, own, group)
    }

    /// All that the motion of base and centre of mass depends on.
    #[inline(always)]
    pub(super) fn motion<L: Arithmetic>(&self, l: L, eta: &[f64], rate: &[f64]) -> BaseMotion {
        let held = self.hold_back(l, eta);
        let zero = [l.splat(0.0); 3];
        let (mut moved, mut center_rate, mut coupled) = (zero, zero, zero);
        let mut held_changes = [l.splat(0.0); 6];
        let half = l.splat(0.5);
        for (group, (x, y)) in
            eta.as_chunks::<LANES>().0.iter().zip(rate.as_chunks::<LANES>().0).enumerate()
        {
            let (x, y) = (l.read(x), l.read(y));
            let start = vectors(l, self.slope.row(0), group);
            let slope = self.sum_of(l, start, &self.curvature, &eta[..self.n], 1.0, group);
            let coupling = vectors(l, self.coupling.row(0), group);
            let coupling =
                self.sum_of(l, coupling, &self.coupling_slopes, &eta[..self.n], held, group);
            for i in 0..3 {
                let mean = (half * (start[i] + slope[i])).rounded();
                moved[i] += mean * x;
                center_rate[i] += slope[i] * y;
                coupled[i] += coupling[i] * y;
            }
            for (sum, j) in held_changes.iter_mut().zip(self.rotation_slopes_of(l, group)) {
                *sum += j * x;
            }
        }
        let [xx, xy, xz, yy, yz, zz] = held_changes.map(|x| held * x.total());
        BaseMotion {
            center: self.center + three_totals(l, moved),
            center_rate: three_totals(l, center_rate),
            rotation: self.rotation + DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]),
            coupled: three_totals(l, coupled),
        }
    }

    /// start + s Σ x_k F_k of four coordinates.
    #[inline(always)]
    fn sum_of<L: Arithmetic>(
        &self,
        l: L,
        start: WideVectors<L>,
        fields: &Rows,
        x: &[f64],
        s: f64,
        group: usize,
    ) -> WideVectors<L> {
        let WideVectors(mut out) = start;
        for (x, row) in x.iter().zip(fields.as_slice().chunks_exact(fields.width().max(1))) {
            let (x, row) = (l.splat(s * x), &row[3 * group..][..3]);
            for (out, f) in out.iter_mut().zip(row) {
                *out += l.load(f) * x;
            }
        }
        WideVectors(out)
    }
}

/// Fields as rows.
fn fields(rows: usize, n: usize, f: impl Fn(usize, usize) -> DVec3) -> Rows {
    let mut out = Rows::zeros(rows, 3 * n.next_multiple_of(LANES));
    for k in 0..rows {
        for j in 0..n {
            let (group, lane) = (j / LANES, j % LANES);
            let vector = f(k, j).to_array();
            (0..3).for_each(|i| out.row_mut(k)[3 * group + i][lane] = vector[i]);
        }
    }
    out
}

/// The symmetric part by rows.
pub(super) fn symmetric_rows(m: &Matrix) -> Rows {
    Rows::from_fn(m.rows(), m.columns(), |i, j| 0.5 * (m[(i, j)] + m[(j, i)]))
}

/// M̃ + hD + h²𝓗.
pub(super) fn step_matrix(mass: &Matrix, damping: &Matrix, stiffness: &Matrix, h: f64) -> Rows {
    symmetric_rows(&mass.plus_scaled(h, damping).plus_scaled(h * h, stiffness))
}

/// Four vectors of a field.
#[inline(always)]
pub fn vectors<L: Arithmetic>(l: L, field: &[Lanes], group: usize) -> WideVectors<L> {
    WideVectors::load(l, &field.as_chunks().0[group])
}

/// Σ f_j x_j.
#[inline(always)]
pub fn contract<L: Arithmetic>(l: L, field: &[Lanes], x: &[f64]) -> DVec3 {
    let mut sum = [l.splat(0.0); 3];
    for (f, x) in field.as_chunks::<3>().0.iter().zip(x.as_chunks::<LANES>().0) {
        let x = l.read(x);
        for (sum, f) in sum.iter_mut().zip(f) {
            *sum += l.load(f) * x;
        }
    }
    three_totals(l, sum)
}

#[inline(always)]
fn three_totals<L: Arithmetic>(l: L, [x, y, z]: [Wide<L>; 3]) -> DVec3 {
    let [x, y, z, _] = l.sums([x, y, z, z]).store().0;
    DVec3::new(x, y, z)
}

/// Entry (i, j) of a matrix stored by columns.
pub(super) fn entry(m: &DMat3, i: usize, j: usize) -> f64 {
    m.col(j)[i]
}
