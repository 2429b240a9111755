//! Inertia near a place as a weighted sum of others', the weights changing with the place: what a
//! step of a blend starts from.

use forks_lie::glam::{DMat3, DVec3};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, LANES, Lanes, Rows},
};

use super::{inertia::BaseInertia, newton::FloatingWork};

impl BaseInertia {
    /// No inertia but `mass`, of n coordinates: [`BaseInertia::add`] makes it one.
    pub fn near(n: usize, mass: f64) -> Self {
        let field = |rows| Rows::zeros(rows, 3 * n.next_multiple_of(LANES));
        Self {
            n,
            mass,
            center: DVec3::ZERO,
            slope: field(1),
            curvature: field(n),
            rotation: DMat3::ZERO,
            rotation_slopes: Rows::zeros(6, n),
            coupling: field(1),
            coupling_slopes: field(n),
            coupling_by_rate: field(n),
            shape_mass: Matrix::zeros(0, 0),
            shape_mass_rows: Rows::zeros(n, n),
            change: Rows::zeros(n, n),
        }
    }

    /// No inertia but the mass.
    pub fn clear(&mut self) {
        (self.center, self.rotation) = (DVec3::ZERO, DMat3::ZERO);
        for rows in [
            &mut self.slope,
            &mut self.rotation_slopes,
            &mut self.coupling,
            &mut self.coupling_slopes,
            &mut self.coupling_by_rate,
            &mut self.shape_mass_rows,
        ] {
            rows.as_mut_slice().fill(Lanes::default());
        }
    }

    /// Adds α times another inertia at `eta` (padded), α growing with the coordinates by `growth`
    /// (padded): c = Σ α_i c_i, its derivative G = Σ α_i G_i + c_i ∂α_i, and J, Σ with theirs in
    /// the same way; M̃ = Σ α_i M̃_i. Coordinates count from this place on. Returns what holds the
    /// changes of the other's inertia back.
    #[inline(always)]
    pub fn add<L: Arithmetic>(
        &mut self,
        l: L,
        other: &Self,
        eta: &[f64],
        (alpha, growth): (f64, &[f64]),
        work: &mut FloatingWork,
    ) -> f64 {
        let held = other.hold_back(l, eta);
        work.held_eta.iter_mut().zip(eta).for_each(|(out, x)| *out = held * x);
        let center = other.center_and_slope(l, eta, &mut work.slope);
        other.coupling_at(l, &work.held_eta, &mut work.coupling);
        let rotation = other.rotation_at(l, &work.held_eta);
        self.center += center * alpha;
        self.rotation += rotation * alpha;
        let moved = center.to_array();
        let [x, y, z] = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
        let entries = [x.x, x.y, x.z, y.y, y.z, z.z];
        let (part, changed) = (l.splat(alpha), l.splat(alpha * held));
        for (group, growth) in growth.as_chunks::<LANES>().0.iter().enumerate() {
            let growth = l.read(growth);
            for i in 0..3 {
                let at = 3 * group + i;
                let slope = &mut self.slope.row_mut(0)[at];
                *slope =
                    (part * l.load(&work.slope[at]) + growth * moved[i] + l.load(slope)).store();
                let coupling = &mut self.coupling.row_mut(0)[at];
                *coupling = (part * l.load(&work.coupling[at]) + l.load(coupling)).store();
            }
            for (i, x) in entries.iter().enumerate() {
                let own = l.load(&other.rotation_slopes.row(i)[group]);
                let out = &mut self.rotation_slopes.row_mut(i)[group];
                *out = (changed * own + growth * *x + l.load(out)).store();
            }
        }
        for k in 0..self.n {
            let own = growth[k];
            let by_place = self.coupling_slopes.row_mut(k).iter_mut();
            let pairs = other.coupling_slopes.row(k).iter().zip(&work.coupling);
            for (out, (slope, coupling)) in by_place.zip(pairs) {
                let grown = l.load(coupling) * own;
                *out = (changed * l.load(slope) + grown + l.load(out)).store();
            }
            let by_rate = self.coupling_by_rate.row_mut(k).iter_mut();
            for (at, (out, slope)) in by_rate.zip(other.coupling_by_rate.row(k)).enumerate() {
                let coupling = work.coupling[3 * (k / LANES) + at % 3][k % LANES];
                let grown = l.read(&growth.as_chunks::<LANES>().0[at / 3]) * coupling;
                *out = (changed * l.load(slope) + grown + l.load(out)).store();
            }
            let mass = self.shape_mass_rows.row_mut(k).iter_mut();
            for (out, m) in mass.zip(other.shape_mass_rows.row(k)) {
                *out = (part * l.load(m) + l.load(out)).store();
            }
        }
        held
    }

    /// Slopes where all of this is taken at another place than x: ∂/∂x_k = a ∂_k + b (x·∂) u_k.
    pub fn pass_on(&mut self, a: f64, b: f64, x: &[f64], u: &[f64]) {
        let n = self.n;
        let mut pass = |get: &dyn Fn(&Self, usize) -> f64, set: &dyn Fn(&mut Self, usize, f64)| {
            let along: f64 = x.iter().enumerate().map(|(k, x)| x * get(self, k)).sum();
            for k in 0..n {
                let own = get(self, k);
                set(self, k, a * own + b * along * u[k]);
            }
        };
        let place = |k: usize, i: usize| (3 * (k / LANES) + i, k % LANES);
        for i in 0..3 {
            let at = |k| place(k, i);
            pass(&|s, k| s.slope.row(0)[at(k).0][at(k).1], &|s, k, x| {
                s.slope.row_mut(0)[at(k).0][at(k).1] = x;
            });
        }
        for i in 0..6 {
            pass(&|s, k| s.rotation_slopes.get(i, k), &|s, k, x| s.rotation_slopes.set(i, k, x));
        }
        for (j, i) in (0..n).flat_map(|j| (0..3).map(move |i| (j, i))) {
            let (by_place, at) = (place(j, i), |k| place(k, i));
            pass(&|s, k| s.coupling_slopes.row(k)[by_place.0][by_place.1], &|s, k, x| {
                s.coupling_slopes.row_mut(k)[by_place.0][by_place.1] = x;
                s.coupling_by_rate.row_mut(j)[at(k).0][at(k).1] = x;
            });
        }
    }

    /// c.
    pub fn center(&self) -> DVec3 {
        self.center
    }

    /// G, a field.
    pub fn center_slope(&self) -> &[Lanes] {
        self.slope.row(0)
    }
}
