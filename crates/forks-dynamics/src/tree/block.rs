//! Kernels on 3×3 blocks: what the sweeps do to twists, wrenches and inertias.
//!
//! An inertia maps a twist (v; ω) to a wrench (f; τ): f = A v + B ω, τ = Bᵀ v + D ω, with A and D
//! symmetric. All functions are inlined by force: they are the inner loop.

use forks_mechanism::lie::{
    SpatialInertia, Twist, Wrench,
    glam::{DMat3, DVec3},
    skew,
};

/// A symmetric 3×3 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sym3 {
    pub(crate) xx: f64,
    pub(crate) yy: f64,
    pub(crate) zz: f64,
    pub(crate) xy: f64,
    pub(crate) xz: f64,
    pub(crate) yz: f64,
}

impl Sym3 {
    pub(crate) const ZERO: Self = Self::isotropic(0.0);

    pub(crate) const fn isotropic(s: f64) -> Self {
        Self { xx: s, yy: s, zz: s, xy: 0.0, xz: 0.0, yz: 0.0 }
    }

    /// The symmetric part of a matrix.
    pub(crate) fn from_matrix(m: DMat3) -> Self {
        let half = |a: f64, b: f64| 0.5 * (a + b);
        Self {
            xx: m.x_axis.x,
            yy: m.y_axis.y,
            zz: m.z_axis.z,
            xy: half(m.x_axis.y, m.y_axis.x),
            xz: half(m.x_axis.z, m.z_axis.x),
            yz: half(m.y_axis.z, m.z_axis.y),
        }
    }

    #[inline(always)]
    pub(crate) fn x(&self) -> DVec3 {
        DVec3::new(self.xx, self.xy, self.xz)
    }

    #[inline(always)]
    pub(crate) fn y(&self) -> DVec3 {
        DVec3::new(self.xy, self.yy, self.yz)
    }

    #[inline(always)]
    pub(crate) fn z(&self) -> DVec3 {
        DVec3::new(self.xz, self.yz, self.zz)
    }

    #[inline(always)]
    pub(crate) fn trace(&self) -> f64 {
        self.xx + self.yy + self.zz
    }

    #[inline(always)]
    pub(crate) fn mul(&self, v: DVec3) -> DVec3 {
        self.x() * v.x + self.y() * v.y + self.z() * v.z
    }

    #[inline(always)]
    fn plus(&self, o: &Self) -> Self {
        Self {
            xx: self.xx + o.xx,
            yy: self.yy + o.yy,
            zz: self.zz + o.zz,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yz: self.yz + o.yz,
        }
    }

    /// S − a bᵀ for parallel a and b.
    #[inline(always)]
    fn minus_outer(&self, a: DVec3, b: DVec3) -> Self {
        Self {
            xx: self.xx - a.x * b.x,
            yy: self.yy - a.y * b.y,
            zz: self.zz - a.z * b.z,
            xy: self.xy - a.x * b.y,
            xz: self.xz - a.x * b.z,
            yz: self.yz - a.y * b.z,
        }
    }

    /// R S Rᵀ.
    #[inline(always)]
    pub(crate) fn rotated(&self, r: &DMat3) -> Self {
        let (x, y, z) = (*r * self.x(), *r * self.y(), *r * self.z());
        let (a, b, c) = (r.x_axis, r.y_axis, r.z_axis);
        Self {
            xx: x.x * a.x + y.x * b.x + z.x * c.x,
            yy: x.y * a.y + y.y * b.y + z.y * c.y,
            zz: x.z * a.z + y.z * b.z + z.z * c.z,
            xy: x.x * a.y + y.x * b.y + z.x * c.y,
            xz: x.x * a.z + y.x * b.z + z.x * c.z,
            yz: x.y * a.z + y.y * b.z + z.y * c.z,
        }
    }
}

/// Rᵀ v.
#[inline(always)]
pub(crate) fn turn_back(r: &DMat3, v: DVec3) -> DVec3 {
    DVec3::new(r.x_axis.dot(v), r.y_axis.dot(v), r.z_axis.dot(v))
}

/// A rotation and a translation that map a frame to the one inward of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transform {
    pub(crate) rotation: DMat3,
    pub(crate) translation: DVec3,
}

impl Transform {
    pub(crate) const IDENTITY: Self = Self { rotation: DMat3::IDENTITY, translation: DVec3::ZERO };

    /// Ad⁻¹: a twist of the inner frame seen in the outer one.
    #[inline(always)]
    pub(crate) fn twist_outward(&self, t: &Twist) -> Twist {
        Twist {
            linear: turn_back(&self.rotation, t.linear + t.angular.cross(self.translation)),
            angular: turn_back(&self.rotation, t.angular),
        }
    }

    /// Ad⁻ᵀ: a wrench of the outer frame seen in the inner one.
    #[inline(always)]
    pub(crate) fn wrench_inward(&self, w: &Wrench) -> Wrench {
        let force = self.rotation * w.force;
        Wrench { force, torque: self.rotation * w.torque + self.translation.cross(force) }
    }
}

/// Mass properties about the origin of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RigidInertia {
    pub(crate) mass: f64,
    /// Mass times centre of mass.
    pub(crate) moment: DVec3,
    /// Inertia tensor about the origin.
    pub(crate) tensor: Sym3,
}

impl RigidInertia {
    pub(crate) const ZERO: Self = Self { mass: 0.0, moment: DVec3::ZERO, tensor: Sym3::ZERO };

    pub(crate) fn new(i: &SpatialInertia) -> Self {
        let c = skew(i.center_of_mass);
        Self {
            mass: i.mass,
            moment: i.center_of_mass * i.mass,
            tensor: Sym3::from_matrix(i.inertia - c * c * i.mass),
        }
    }

    /// I t.
    #[inline(always)]
    pub(crate) fn apply(&self, t: &Twist) -> Wrench {
        Wrench {
            force: t.linear * self.mass + t.angular.cross(self.moment),
            torque: self.tensor.mul(t.angular) + self.moment.cross(t.linear),
        }
    }

    /// The gyroscopic wrench −ad_vᵀ I v.
    #[inline(always)]
    pub(crate) fn gyroscopic(&self, v: &Twist) -> Wrench {
        let p = self.apply(v);
        Wrench {
            force: v.angular.cross(p.force),
            torque: v.linear.cross(p.force) + v.angular.cross(p.torque),
        }
    }

    #[inline(always)]
    pub(crate) fn blocks(&self) -> Inertia {
        // f = m v − h × ω.
        let h = self.moment;
        Inertia {
            a: Sym3::isotropic(self.mass),
            b: DMat3 {
                x_axis: DVec3::new(0.0, -h.z, h.y),
                y_axis: DVec3::new(h.z, 0.0, -h.x),
                z_axis: DVec3::new(-h.y, h.x, 0.0),
            },
            d: self.tensor,
        }
    }
}

/// A symmetric 6×6 inertia in blocks: f = A v + B ω, τ = Bᵀ v + D ω.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inertia {
    pub(crate) a: Sym3,
    pub(crate) b: DMat3,
    pub(crate) d: Sym3,
}

impl Inertia {
    pub(crate) const ZERO: Self = Self { a: Sym3::ZERO, b: DMat3::ZERO, d: Sym3::ZERO };

    #[inline(always)]
    pub(crate) fn apply(&self, t: &Twist) -> Wrench {
        Wrench {
            force: self.a.mul(t.linear) + self.b * t.angular,
            torque: turn_back(&self.b, t.linear) + self.d.mul(t.angular),
        }
    }

    /// I − u gᵀ for parallel u and g.
    #[inline(always)]
    pub(crate) fn minus_outer(&self, u: &Wrench, g: &Wrench) -> Self {
        Self {
            a: self.a.minus_outer(u.force, g.force),
            b: DMat3 {
                x_axis: self.b.x_axis - u.force * g.torque.x,
                y_axis: self.b.y_axis - u.force * g.torque.y,
                z_axis: self.b.z_axis - u.force * g.torque.z,
            },
            d: self.d.minus_outer(u.torque, g.torque),
        }
    }

    #[inline(always)]
    pub(crate) fn plus(&self, o: &Self) -> Self {
        Self { a: self.a.plus(&o.a), b: self.b + o.b, d: self.d.plus(&o.d) }
    }

    /// Ad⁻ᵀ I Ad⁻¹: the inertia of the outer frame seen in the inner one.
    ///
    /// Turned to the inner axes first, then moved by p with P = p×:
    /// B' = B − A P, D' = D + P B' + (P B)ᵀ.
    #[inline(always)]
    pub(crate) fn inward(&self, x: &Transform) -> Self {
        let r = &x.rotation;
        let turned =
            Self { a: self.a.rotated(r), b: *r * self.b * r.transpose(), d: self.d.rotated(r) };
        turned.moved(x.translation)
    }

    /// Seen at an origin that lies −p away.
    #[inline(always)]
    pub(crate) fn moved(&self, p: DVec3) -> Self {
        let Self { a, b, d } = self;
        let (ax, ay, az) = (a.x(), a.y(), a.z());
        let moved = DMat3 {
            x_axis: b.x_axis - (ay * p.z - az * p.y),
            y_axis: b.y_axis - (az * p.x - ax * p.z),
            z_axis: b.z_axis - (ax * p.y - ay * p.x),
        };
        let (mx, my, mz) = (p.cross(moved.x_axis), p.cross(moved.y_axis), p.cross(moved.z_axis));
        let (bx, by, bz) = (p.cross(b.x_axis), p.cross(b.y_axis), p.cross(b.z_axis));
        let d = Sym3 {
            xx: d.xx + mx.x + bx.x,
            yy: d.yy + my.y + by.y,
            zz: d.zz + mz.z + bz.z,
            xy: d.xy + my.x + bx.y,
            xz: d.xz + mz.x + bx.z,
            yz: d.yz + mz.y + by.z,
        };
        Self { a: *a, b: moved, d }
    }
}

/// The bracket ad_v t.
#[inline(always)]
pub(crate) fn bracket(v: &Twist, t: &Twist) -> Twist {
    Twist {
        linear: v.angular.cross(t.linear) + v.linear.cross(t.angular),
        angular: v.angular.cross(t.angular),
    }
}

/// w + u s.
#[inline(always)]
pub(crate) fn add_scaled(w: &mut Wrench, u: &Wrench, s: f64) {
    w.force += u.force * s;
    w.torque += u.torque * s;
}

/// w + u.
#[inline(always)]
pub(crate) fn add(w: &mut Wrench, u: &Wrench) {
    w.force += u.force;
    w.torque += u.torque;
}

/// The power of a wrench on a twist.
#[inline(always)]
pub(crate) fn power(w: &Wrench, t: &Twist) -> f64 {
    w.force.dot(t.linear) + w.torque.dot(t.angular)
}
