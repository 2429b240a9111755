//! Effectors at run time: twists from reduced coordinates and generalised forces from wrenches.
//!
//! Everything is in world axes: with ω' = R ω, v' = R v an effector is at (exp(ω̂') R, p + V(ω')
//! v'), so that a wrench (f, τ) at its origin in world axes has the generalised force B'_vᵀ V ᵀf +
//! B'_ωᵀ ((∂Vv/∂ω)ᵀ f + V ᵀτ), which is Bᵀ J_r(ξ)ᵀ w of the body wrench.

use alloc::{vec, vec::Vec};

use forks_lie::{
    Wrench,
    glam::{DQuat, DVec3},
};
use forks_linalg::{
    Matrix,
    simd::{Arithmetic, LANES, Lanes, Wide},
    sqrt,
};

use crate::{
    EffectorLoad, LoadFrame,
    data::ModelData,
    kernel::{MAX_QUARTER_ANGLE_SQUARED, cosine_and_sinc, half_angle_series},
};

/// Basis and rest orientations, laid out for the step.
#[derive(Clone, Debug)]
pub struct EffectorBlocks {
    /// Per effector and coordinate: linear part, angular part of B' (each padded to four).
    columns: Vec<Lanes>,
    /// Per effector and lane group of coordinates: the six rows of B'.
    rows: Vec<Lanes>,
    fours: FourMaps,
    rotations: Vec<DQuat>,
    dof: usize,
    /// Lane groups per row.
    width: usize,
    inverse_radius: f64,
    range_squared: f64,
    /// The same, but less by what rounding may add, and so that an effector turns by less than π
    /// too.
    sure_squared: f64,
    /// ‖η‖² up to which every effector is in range, whatever the direction of η.
    near_squared: f64,
}

/// A twist in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldTwist {
    /// v'.
    pub linear: DVec3,
    /// ω'.
    pub angular: DVec3,
}

/// A wrench in world axes at an effector's displaced origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorldWrench {
    /// f.
    pub force: DVec3,
    /// τ.
    pub torque: DVec3,
}

impl EffectorBlocks {
    /// Of a reduced model.
    pub fn new(data: &ModelData) -> Self {
        let rotations = data.effectors.iter().map(|e| e.rest.rotation).collect();
        Self::from_parts(rotations, &data.basis, data.radius, data.range)
    }

    /// From the rest orientations, B (6E × n), the size r and the largest relative displacement.
    pub fn from_parts(rotations: Vec<DQuat>, basis: &Matrix, radius: f64, range: f64) -> Self {
        let (dof, width) = (basis.columns(), basis.columns().div_ceil(LANES));
        let count = rotations.len();
        let mut columns = vec![Lanes::default(); 2 * dof * count];
        let mut rows = vec![Lanes::default(); 6 * width * count];
        let fours = FourMaps::new(&rotations, basis);
        // The angle over π is part of a relative displacement.
        let sure_squared = (range * range).min(1.0) * (1.0 - 1e-9);
        for (e, rotation) in rotations.iter().enumerate() {
            for j in 0..dof {
                let b = |i: usize| basis[(6 * e + i, j)];
                let turned = [
                    *rotation * DVec3::new(b(0), b(1), b(2)),
                    *rotation * DVec3::new(b(3), b(4), b(5)),
                ];
                for (part, v) in turned.into_iter().enumerate() {
                    for (i, x) in v.to_array().into_iter().enumerate() {
                        columns[2 * (e * dof + j) + part].0[i] = x;
                        rows[6 * (e * width + j / LANES) + 3 * part + i].0[j % LANES] = x;
                    }
                }
            }
        }
        Self {
            columns,
            rows,
            fours,
            rotations,
            dof,
            width,
            inverse_radius: 1.0 / radius,
            range_squared: range * range,
            sure_squared,
            near_squared: near_squared(basis, radius, sure_squared),
        }
    }

    /// Number of effectors.
    pub fn count(&self) -> usize {
        self.rotations.len()
    }

    /// Lane groups of a padded vector of reduced coordinates.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Orientation at the linearisation pose.
    pub fn rest_rotation(&self, e: usize) -> DQuat {
        self.rotations[e]
    }

    /// B' of an effector: per coordinate the linear part and the angular part.
    pub fn columns(&self, e: usize) -> &[Lanes] {
        &self.columns[2 * e * self.dof..2 * (e + 1) * self.dof]
    }

    /// Largest relative displacement, squared, and the inverse of the length that it refers to.
    pub fn range(&self) -> (f64, f64) {
        (self.range_squared, self.inverse_radius)
    }

    /// True if every effector is in range; false says nothing. Of a padded η.
    #[inline(always)]
    pub fn all_in_range<L: Arithmetic>(&self, l: L, eta: &[f64]) -> bool {
        let mut sum = l.splat(0.0);
        for x in eta.as_chunks::<LANES>().0 {
            let x = l.read(x);
            sum += x * x;
        }
        sum.total() <= self.near_squared || self.all_twists_in_range(l, eta)
    }

    /// By the twists, four at once.
    #[inline(always)]
    fn all_twists_in_range<L: Arithmetic>(&self, l: L, eta: &[f64]) -> bool {
        let [linear, angular] = [self.inverse_radius, core::f64::consts::FRAC_1_PI];
        let (linear, angular) = (l.splat(linear * linear), l.splat(angular * angular));
        for group in 0..self.fours.groups() {
            let [x, y, z, p, q, r] = self.fours.twists(l, group, eta);
            let moved = x * x + y * y + z * z;
            let turned = p * p + q * q + r * r;
            let relative = linear * moved + angular * turned;
            if relative.any_above(self.sure_squared) || !relative.all_ordered() {
                return false;
            }
        }
        true
    }

    /// ξ' = B' η.
    #[inline(always)]
    pub fn twist<L: Arithmetic>(&self, l: L, e: usize, eta: &[f64]) -> WorldTwist {
        let (mut v, mut w) = (l.splat(0.0), l.splat(0.0));
        let columns = &self.columns[2 * e * self.dof..2 * (e + 1) * self.dof];
        for (x, c) in eta.iter().zip(columns.chunks_exact(2)) {
            let x = l.splat(*x);
            v += l.load(&c[0]) * x;
            w += l.load(&c[1]) * x;
        }
        let (Lanes([vx, vy, vz, _]), Lanes([wx, wy, wz, _])) = (v.store(), w.store());
        WorldTwist { linear: DVec3::new(vx, vy, vz), angular: DVec3::new(wx, wy, wz) }
    }

    /// out = B'ᵀ g for a generalised force on the effector's twist, in world axes, or out += that;
    /// `out` is padded.
    #[inline(always)]
    pub fn add_force<L: Arithmetic>(
        &self,
        l: L,
        e: usize,
        g: &WorldWrench,
        add: bool,
        out: &mut [f64],
    ) {
        let rows = &self.rows[6 * e * self.width..6 * (e + 1) * self.width];
        let [f, t] = [g.force, g.torque];
        let g = [f.x, f.y, f.z, t.x, t.y, t.z].map(|x| l.splat(x));
        let (out, _) = out.as_chunks_mut::<LANES>();
        for (o, rows) in out.iter_mut().zip(rows.chunks_exact(6)) {
            let mut sum = if add { l.read(o) } else { l.splat(0.0) };
            for (row, g) in rows.iter().zip(g) {
                sum += l.load(row) * g;
            }
            *o = sum.store().0;
        }
    }

    /// True if an effector is within the stated range and has turned by less than π.
    #[inline(always)]
    pub fn in_range(&self, t: &WorldTwist) -> bool {
        let turned = t.angular.length_squared();
        let moved = (t.linear * self.inverse_radius).length_squared();
        let relative =
            moved + turned * (core::f64::consts::FRAC_1_PI * core::f64::consts::FRAC_1_PI);
        // Written so that NaN is outside.
        turned < core::f64::consts::PI * core::f64::consts::PI && relative <= self.range_squared
    }
}

/// Maps of effectors, four side by side.
#[derive(Clone, Debug)]
pub(crate) struct FourMaps {
    /// B': per four effectors and coordinate (an even number of them), row after row.
    columns: Vec<[Lanes; 6]>,
    /// Columns of four effectors.
    stride: usize,
}

impl FourMaps {
    /// From the rest orientations and B (6E × n).
    pub(crate) fn new(rotations: &[DQuat], basis: &Matrix) -> Self {
        let stride = basis.columns().next_multiple_of(2);
        let mut columns = vec![[Lanes::default(); 6]; rotations.len().div_ceil(LANES) * stride];
        for (e, rotation) in rotations.iter().enumerate() {
            for j in 0..basis.columns() {
                let b = |i: usize| DVec3::from_array([0, 1, 2].map(|k| basis[(6 * e + i + k, j)]));
                let turned = [b(0), b(3)].map(|b| (*rotation * b).to_array());
                let column = &mut columns[e / LANES * stride + j];
                for (entry, x) in column.iter_mut().zip(turned.as_flattened()) {
                    entry.0[e % LANES] = *x;
                }
            }
        }
        Self { columns, stride }
    }

    fn groups(&self) -> usize {
        self.columns.len().checked_div(self.stride).unwrap_or(0)
    }

    /// Entry of B', effector `e`.
    pub(crate) fn entry(&self, e: usize, row: usize, column: usize) -> f64 {
        self.columns[e / LANES * self.stride + column][row].0[e % LANES]
    }

    /// B' x of four effectors, x padded.
    #[inline(always)]
    pub(crate) fn twists<L: Arithmetic>(&self, l: L, group: usize, x: &[f64]) -> [Wide<L>; 6] {
        let mut sum = [l.splat(0.0); 6];
        let columns = &self.columns[group * self.stride..][..self.stride];
        for (columns, x) in columns.as_chunks::<2>().0.iter().zip(x.as_chunks::<2>().0) {
            for (column, x) in columns.iter().zip(x) {
                let x = l.splat(*x);
                for (sum, entry) in sum.iter_mut().zip(column) {
                    *sum += l.load(entry) * x;
                }
            }
        }
        sum
    }
}

/// A bound for [`EffectorBlocks::all_in_range`]. With lengths over r and angles over π an
/// effector's displacement is S B_e η, no longer than σ‖η‖, σ² the largest eigenvalue of G = S B_e
/// B_eᵀ S.
fn near_squared(basis: &Matrix, radius: f64, sure_squared: f64) -> f64 {
    let n = basis.columns();
    let scale = |i: usize| if i < 3 { 1.0 / radius } else { core::f64::consts::FRAC_1_PI };
    let square = |e: usize| {
        let rows = basis.block(6 * e, 0, 6, n);
        let scaled = Matrix::from_fn(6, n, |i, j| scale(i) * rows[(i, j)]);
        largest_eigenvalue(scaled.mul(&scaled.transpose()))
    };
    let largest = (0..basis.rows() / 6).map(square).fold(0.0, f64::max);
    // A bound that overflows leaves everything to the exact check.
    sure_squared / largest
}

/// An upper bound of the eigenvalues of a symmetric matrix that has none below 0, less than 3 %
/// above the largest of a 6 × 6 one: the 32nd root of a norm of its 32nd power.
fn largest_eigenvalue(mut g: Matrix) -> f64 {
    let scale = g.norm();
    if !scale.is_finite() {
        return f64::INFINITY;
    }
    if scale == 0.0 {
        return 0.0;
    }
    g = Matrix::from_fn(g.rows(), g.columns(), |i, j| g[(i, j)] / scale);
    (0..5).for_each(|_| g = g.mul(&g));
    scale * (0..5).fold(g.norm(), |x, _| sqrt(x))
}

impl WorldTwist {
    /// The rotation exp(ω̂').
    #[inline(always)]
    pub fn rotation<L: Arithmetic>(&self, l: L) -> DQuat {
        let y = 0.25 * self.angular.length_squared();
        if y > MAX_QUARTER_ANGLE_SQUARED {
            return forks_lie::so3::exp_rotation(self.angular);
        }
        let (cosine, sinc) = cosine_and_sinc(l, y);
        let d = self.angular * (0.5 * sinc);
        DQuat::from_xyzw(d.x, d.y, d.z, cosine)
    }

    /// V(ω') v', how far the origin moves.
    #[inline(always)]
    pub fn displacement<L: Arithmetic>(&self, l: L) -> DVec3 {
        self.displacement_by(&Coefficients::at(l, self.angular.length_squared()))
    }

    /// The same with the angle's coefficients.
    #[inline(always)]
    pub fn displacement_by(&self, of: &Coefficients) -> DVec3 {
        let (v, o, Coefficients { b, c, .. }) = (self.linear, self.angular, *of);
        let once = o.cross(v);
        v + once * b + o.cross(once) * c
    }

    /// What a wrench in world axes at the displaced origin does on this twist's coordinates:
    /// J_r(ξ)ᵀ w, in the axes of the twist.
    #[inline(always)]
    pub fn pull_back<L: Arithmetic>(&self, l: L, w: &WorldWrench) -> WorldWrench {
        let (v, o, f) = (self.linear, self.angular, w.force);
        let Coefficients { b, c, db, dc } = Coefficients::at(l, o.length_squared());
        let u = o.cross(v);
        let bend = o.cross(u);
        // V ᵀ f = f − b ω×f + c ω×(ω×f)
        let transposed = |x: DVec3| {
            let once = o.cross(x);
            x - once * b + o.cross(once) * c
        };
        // (∂(V v)/∂ω)ᵀ f
        let turned = v.cross(f) * b
            + (u.cross(f) + v.cross(f.cross(o))) * c
            + o * (2.0 * (db * f.dot(u) + dc * f.dot(bend)));
        WorldWrench { force: transposed(f), torque: turned + transposed(w.torque) }
    }
}

/// A load in world axes, on an effector displaced by `twist` from a rest orientation.
#[inline(always)]
pub fn load_in_world<L: Arithmetic>(
    l: L,
    load: &EffectorLoad,
    rest: DQuat,
    twist: &WorldTwist,
) -> WorldWrench {
    let Wrench { force, torque } = load.wrench;
    match load.frame {
        LoadFrame::World => WorldWrench { force, torque },
        LoadFrame::Body => {
            let rotation = twist.rotation(l) * rest;
            WorldWrench { force: rotation * force, torque: rotation * torque }
        }
    }
}

/// b(t) = (1 − cos θ)/θ², c(t) = (θ − sin θ)/θ³ and their derivatives by t = θ².
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    pub b: f64,
    pub c: f64,
    pub db: f64,
    pub dc: f64,
}

impl Coefficients {
    #[inline(always)]
    pub fn at<L: Arithmetic>(l: L, t: f64) -> Self {
        let y = 0.25 * t;
        if y > MAX_QUARTER_ANGLE_SQUARED {
            return Self::far(t);
        }
        let [p, q, dp, dq] = half_angle_series(l, y);
        let sinc = 1.0 - y * q;
        Self {
            b: 0.5 * sinc * sinc,
            c: 0.25 * (p + q - y * p * q),
            db: -0.25 * sinc * (q + y * dq),
            dc: (dp + dq - p * q - y * (dp * q + p * dq)) * 0.0625,
        }
    }

    /// Beyond π, where nothing cancels.
    #[cold]
    fn far(t: f64) -> Self {
        let half = forks_lie::so3::exp_rotation(DVec3::new(sqrt(t), 0.0, 0.0));
        // The quaternion's half angle gives the angle's sine and cosine.
        let (s, c) = (half.x, half.w);
        let (sine, versine) = (2.0 * s * c, 2.0 * s * s);
        let theta = sqrt(t);
        let (b, third) = (versine / t, (theta - sine) / (t * theta));
        // d/dt = (1/2θ) d/dθ
        Self {
            b,
            c: third,
            db: 0.5 * (sine / theta - 2.0 * b) / t,
            dc: 0.5 * (b - 3.0 * third) / t,
        }
    }
}

#[cfg(test)]
mod tests {
    use forks_lie::{Pose, Twist, Wrench, se3::right_jacobian};

    use super::*;
    use forks_linalg::simd::Portable;

    /// J_r(ξ)ᵀ w of the body wrench, by the library of rigid motions.
    fn rival(t: &WorldTwist, w: &WorldWrench) -> [f64; 6] {
        let xi = Twist::new(t.linear, t.angular);
        let back = Pose::exp(xi).rotation.conjugate();
        let body = Wrench::new(back * w.force, back * w.torque);
        right_jacobian(xi).transpose_mul_vec(&body.to_array())
    }

    #[test]
    fn a_wrench_is_pulled_back_by_the_right_jacobian() {
        let w =
            WorldWrench { force: DVec3::new(3.0, -1.0, 2.0), torque: DVec3::new(0.5, 1.5, -0.8) };
        let axis = DVec3::new(0.48, -0.6, 0.64);
        for angle in [0.0, 1e-9, 1e-4, 0.1, 1.0, 2.5, 3.13, 3.15, 4.0, 6.0] {
            let t = WorldTwist { linear: DVec3::new(0.4, 0.9, -0.7), angular: axis * angle };
            let ours = t.pull_back(Portable, &w);
            let rival = rival(&t, &w);
            for i in 0..6 {
                let x = if i < 3 { ours.force[i] } else { ours.torque[i - 3] };
                // A dozen products of numbers of size 10.
                assert!((x - rival[i]).abs() < 64.0 * f64::EPSILON * 10.0, "{angle}, {i}");
            }
        }
    }

    #[test]
    fn effectors_said_to_be_in_range_are() {
        // Five effectors, seven coordinates; numbers without a pattern.
        let basis = Matrix::from_fn(30, 7, |i, j| f64::sin((i * 7 + j * j) as f64));
        let blocks = EffectorBlocks::from_parts(vec![DQuat::IDENTITY; 5], &basis, 1.5, 0.9);
        let mut said = [0; 2];
        for k in 0..400 {
            let mut eta = [0.0; 8];
            let size = 0.005 * f64::from(k);
            (0..7).for_each(|j| eta[j] = size * f64::cos(f64::from(k) * (j as f64 + 0.5)));
            let exact = (0..5).all(|e| blocks.in_range(&blocks.twist(Portable, e, &eta[..7])));
            let length = eta.iter().map(|x| x * x).sum::<f64>();
            assert!(exact || length > blocks.near_squared, "{k}");
            // Nothing here is within rounding of the border.
            assert_eq!(blocks.all_in_range(Portable, &eta), exact, "{k}");
            said[usize::from(exact)] += 1;
        }
        assert!(said.iter().all(|n| *n > 50), "{said:?}");
        assert!(!blocks.all_in_range(Portable, &[f64::MAX; 8]) && blocks.near_squared > 0.0);
    }

    #[test]
    fn rotations_agree_with_the_library_of_rigid_motions() {
        for angle in [0.0, 1e-8, 0.3, 3.1, 3.2, 5.0] {
            let angular = DVec3::new(0.36, 0.48, -0.8) * angle;
            let t = WorldTwist { linear: DVec3::ZERO, angular };
            let difference = t.rotation(Portable) - forks_lie::so3::exp_rotation(angular);
            assert!(difference.length() < 4.0 * f64::EPSILON, "{angle}");
        }
    }
}
