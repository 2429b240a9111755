//! The 6×6 matrices of the sweep: symmetric ones, and those of loads that turn with their links.
//!
//! Ã of a mechanism under weights alone is symmetric in coordinates that are plain numbers, but
//! with forces measured in the links' own turning axes the links' matrices are not. Half of what a
//! load turns by, given to rows and columns each, makes them symmetric as well: 21 numbers in place
//! of 36. Wrenches that turn with their link have no potential, and coordinates that are body axes
//! no symmetric derivative, so both need the general matrix.

use forks_mechanism::lie::{
    Twist, Wrench,
    glam::{DMat3, DVec3},
    skew,
};

use super::shift::Shift;
use crate::tree::block::{Inertia, RigidInertia, Sym3, turn_back};

/// What the sweep does to a link's matrix.
pub(super) trait Spatial: Copy {
    const ZERO: Self;
    const SYMMETRIC: bool;

    /// I − h² ∂w/∂ξ of a link whose weight is `fall` per mass, h² in it.
    fn of_link(i: &RigidInertia, fall: DVec3) -> Self;

    /// −h² ∂w/∂ξ of a wrench that keeps its direction, h² in it, at a point of the link.
    fn of_dead(w: Wrench, at: DVec3) -> Self;

    /// A t.
    fn column(&self, t: &Twist) -> Wrench;

    /// tᵀ A.
    fn row(&self, t: &Twist) -> Wrench;

    /// Column, row and diagonal entry of the rotation about an axis.
    fn about(&self, axis: DVec3) -> (Wrench, Wrench, f64);

    /// Column, row and diagonal entry of the translation along an axis.
    fn along(&self, axis: DVec3) -> (Wrench, Wrench, f64);

    /// Column and row with what the wrench through the joint turns by, `turned`, taken off.
    fn turn(column: Wrench, row: Wrench, turned: Wrench) -> (Wrench, Wrench);

    /// A − u vᵀ, one summand of a matrix of the same kind.
    fn minus_outer(&self, u: &Wrench, v: &Wrench) -> Self;

    /// Adds Ad⁻ᵀ A Ad⁻¹ to the matrix of the inner link: moved by p, with P = p×,
    /// B' = B − A P, C' = C + P A, D' = D − C P + P B'.
    fn add_inward(&self, x: &Shift, inner: &mut Self);

    /// A + B.
    fn plus(&self, other: &Self) -> Self;

    /// The blocks A, B, C, D.
    fn blocks(&self) -> [DMat3; 4];

    /// The matrix by rows.
    #[inline(always)]
    fn rows(&self) -> [[f64; 6]; 6] {
        let [a, b, c, d] = self.blocks();
        let row = |l: &DMat3, r: &DMat3, i: usize| {
            let (x, y) = (l.row(i), r.row(i));
            [x.x, x.y, x.z, y.x, y.y, y.z]
        };
        [
            row(&a, &b, 0),
            row(&a, &b, 1),
            row(&a, &b, 2),
            row(&c, &d, 0),
            row(&c, &d, 1),
            row(&c, &d, 2),
        ]
    }
}

/// A 6×6 matrix in blocks: f = A v + B ω, τ = C v + D ω.
#[derive(Clone, Copy, Debug)]
pub(super) struct Square {
    pub(super) a: DMat3,
    pub(super) b: DMat3,
    pub(super) c: DMat3,
    pub(super) d: DMat3,
}

impl Spatial for Square {
    const ZERO: Self = Self { a: DMat3::ZERO, b: DMat3::ZERO, c: DMat3::ZERO, d: DMat3::ZERO };
    const SYMMETRIC: bool = false;

    #[inline(always)]
    fn of_link(i: &RigidInertia, fall: DVec3) -> Self {
        // −h× f× = (h·f) 1 − f hᵀ.
        let (h, m) = (i.moment, i.mass);
        let mut d = minus_outer(&full(&i.tensor), fall, h);
        let along = h.dot(fall);
        d.x_axis.x += along;
        d.y_axis.y += along;
        d.z_axis.z += along;
        Self { a: DMat3::from_diagonal(DVec3::splat(m)), b: -skew(h + fall * m), c: skew(h), d }
    }

    fn of_dead(w: Wrench, at: DVec3) -> Self {
        let along = DMat3::from_diagonal(DVec3::splat(at.dot(w.force)));
        let d = minus_outer(&along, w.force, at) - skew(w.torque);
        Self { a: DMat3::ZERO, b: -skew(w.force), c: DMat3::ZERO, d }
    }

    #[inline(always)]
    fn column(&self, t: &Twist) -> Wrench {
        Wrench {
            force: self.a * t.linear + self.b * t.angular,
            torque: self.c * t.linear + self.d * t.angular,
        }
    }

    #[inline(always)]
    fn row(&self, t: &Twist) -> Wrench {
        Wrench {
            force: turn_back(&self.a, t.linear) + turn_back(&self.c, t.angular),
            torque: turn_back(&self.b, t.linear) + turn_back(&self.d, t.angular),
        }
    }

    #[inline(always)]
    fn about(&self, axis: DVec3) -> (Wrench, Wrench, f64) {
        let column = Wrench { force: self.b * axis, torque: self.d * axis };
        let row = Wrench { force: turn_back(&self.c, axis), torque: turn_back(&self.d, axis) };
        (column, row, axis.dot(column.torque))
    }

    #[inline(always)]
    fn along(&self, axis: DVec3) -> (Wrench, Wrench, f64) {
        let column = Wrench { force: self.a * axis, torque: self.c * axis };
        let row = Wrench { force: turn_back(&self.a, axis), torque: turn_back(&self.b, axis) };
        (column, row, axis.dot(column.force))
    }

    #[inline(always)]
    fn turn(column: Wrench, row: Wrench, turned: Wrench) -> (Wrench, Wrench) {
        let column =
            Wrench { force: column.force - turned.force, torque: column.torque - turned.torque };
        (column, row)
    }

    #[inline(always)]
    fn minus_outer(&self, u: &Wrench, v: &Wrench) -> Self {
        Self {
            a: minus_outer(&self.a, u.force, v.force),
            b: minus_outer(&self.b, u.force, v.torque),
            c: minus_outer(&self.c, u.torque, v.force),
            d: minus_outer(&self.d, u.torque, v.torque),
        }
    }

    #[inline(always)]
    fn add_inward(&self, x: &Shift, inner: &mut Self) {
        let p = x.0;
        let b = self.b - times_cross(&self.a, p);
        inner.d += self.d - times_cross(&self.c, p) + cross_times(p, &b);
        inner.c += self.c + cross_times(p, &self.a);
        inner.b += b;
        inner.a += self.a;
    }

    #[inline(always)]
    fn plus(&self, o: &Self) -> Self {
        Self { a: self.a + o.a, b: self.b + o.b, c: self.c + o.c, d: self.d + o.d }
    }

    #[inline(always)]
    fn blocks(&self) -> [DMat3; 4] {
        [self.a, self.b, self.c, self.d]
    }
}

impl Spatial for Inertia {
    const ZERO: Self = Inertia::ZERO;
    const SYMMETRIC: bool = true;

    #[inline(always)]
    fn of_link(i: &RigidInertia, fall: DVec3) -> Self {
        let mut own = i.blocks();
        own.b -= skew(fall * (0.5 * i.mass));
        // −sym(h× f×) = (h·f) 1 − sym(f hᵀ).
        let (h, f) = (i.moment, fall);
        let half = |x: f64, y: f64| -0.5 * (x + y);
        own.d = Sym3 {
            xx: own.d.xx + h.y * f.y + h.z * f.z,
            yy: own.d.yy + h.x * f.x + h.z * f.z,
            zz: own.d.zz + h.x * f.x + h.y * f.y,
            xy: own.d.xy + half(f.x * h.y, f.y * h.x),
            xz: own.d.xz + half(f.x * h.z, f.z * h.x),
            yz: own.d.yz + half(f.y * h.z, f.z * h.y),
        };
        own
    }

    /// Of a force: torques that keep their direction have no potential.
    fn of_dead(w: Wrench, at: DVec3) -> Self {
        let massless = RigidInertia { mass: 1.0, moment: at, tensor: Sym3::ZERO };
        let mut out = Self::of_link(&massless, w.force);
        (out.a, out.b) = (Sym3::ZERO, skew(w.force * -0.5));
        out
    }

    #[inline(always)]
    fn column(&self, t: &Twist) -> Wrench {
        self.apply(t)
    }

    #[inline(always)]
    fn row(&self, t: &Twist) -> Wrench {
        self.apply(t)
    }

    #[inline(always)]
    fn about(&self, axis: DVec3) -> (Wrench, Wrench, f64) {
        let u = Wrench { force: self.b * axis, torque: self.d.mul(axis) };
        (u, u, axis.dot(u.torque))
    }

    #[inline(always)]
    fn along(&self, axis: DVec3) -> (Wrench, Wrench, f64) {
        let u = Wrench { force: self.a.mul(axis), torque: turn_back(&self.b, axis) };
        (u, u, axis.dot(u.force))
    }

    #[inline(always)]
    fn turn(column: Wrench, _: Wrench, turned: Wrench) -> (Wrench, Wrench) {
        let u = Wrench {
            force: column.force - turned.force * 0.5,
            torque: column.torque - turned.torque * 0.5,
        };
        (u, u)
    }

    #[inline(always)]
    fn minus_outer(&self, u: &Wrench, v: &Wrench) -> Self {
        self.minus_outer(u, v)
    }

    #[inline(always)]
    fn add_inward(&self, x: &Shift, inner: &mut Self) {
        *inner = inner.plus(&self.moved(x.0));
    }

    #[inline(always)]
    fn plus(&self, o: &Self) -> Self {
        self.plus(o)
    }

    #[inline(always)]
    fn blocks(&self) -> [DMat3; 4] {
        [full(&self.a), self.b, self.b.transpose(), full(&self.d)]
    }
}

/// M p×.
#[inline(always)]
fn times_cross(m: &DMat3, p: DVec3) -> DMat3 {
    DMat3 {
        x_axis: m.y_axis * p.z - m.z_axis * p.y,
        y_axis: m.z_axis * p.x - m.x_axis * p.z,
        z_axis: m.x_axis * p.y - m.y_axis * p.x,
    }
}

/// p× M.
#[inline(always)]
fn cross_times(p: DVec3, m: &DMat3) -> DMat3 {
    DMat3 { x_axis: p.cross(m.x_axis), y_axis: p.cross(m.y_axis), z_axis: p.cross(m.z_axis) }
}

#[inline(always)]
fn minus_outer(m: &DMat3, u: DVec3, v: DVec3) -> DMat3 {
    DMat3 { x_axis: m.x_axis - u * v.x, y_axis: m.y_axis - u * v.y, z_axis: m.z_axis - u * v.z }
}

fn full(s: &Sym3) -> DMat3 {
    DMat3 { x_axis: s.x(), y_axis: s.y(), z_axis: s.z() }
}
