//! The length of a cable between two points past a sphere or cylinder, with both derivatives by the
//! points, all in the obstacle's frame.
//!
//! Outside, with distances a and b of the points from the centre, s = √(a² − r²) and the angle Φ
//! swept from one point to the other, the length in a plane is
//!
//! ℓ = F(a) + F(b) + r Φ, F(a) = s − r acos(r/a), F′ = s/a, F″ = r²/(s a²).
//!
//! On a sphere that plane turns with the points. On a cylinder ℓ is the length of the projection;
//! the unrolled path is straight, √(ℓ² + Δz²). Inside, the touching point t makes |u − t| + |v − t|
//! stationary on the surface, so the derivatives follow from those at fixed t.

use forks_lie::glam::{DMat3, DVec2, DVec3};

use super::{
    ObstacleKind,
    circle::{self, Turn},
};

/// Below this the sine of the angle between two points counts as zero: the plane through both and
/// the centre is undefined, and so is how it turns.
const NO_PLANE: f64 = 1e-9;

/// A plane through the centre.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plane {
    x: DVec3,
    y: DVec3,
}

impl Plane {
    const UPRIGHT: Self = Self { x: DVec3::X, y: DVec3::Y };

    /// Through both points, the first on the x axis, the second above it. For points in line with
    /// the centre the second axis leans to those of the frame along which the first is short.
    fn through(u: DVec3, v: DVec3) -> Self {
        let x = u.normalize();
        let mut normal = u.cross(v);
        if normal.length() < 1e-15 {
            let size = x.abs();
            let other = match () {
                () if size.y > size.x && size.y > size.z => DVec3::new(1.0, 0.0, 1.0),
                () if size.z > size.x && size.z > size.y => DVec3::new(1.0, 1.0, 0.0),
                () => DVec3::new(0.0, 1.0, 1.0),
            };
            normal = x.cross(other);
        }
        Self { x, y: normal.cross(x).normalize() }
    }

    fn project(&self, p: DVec3) -> DVec2 {
        DVec2::new(p.dot(self.x), p.dot(self.y))
    }

    fn lift(&self, p: DVec2) -> DVec3 {
        self.x * p.x + self.y * p.y
    }
}

/// A path that wraps: see the module's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wrap {
    kind: ObstacleKind,
    radius: f64,
    plane: Plane,
    turn: Turn,
    ends: [DVec3; 2],
}

/// A length with its gradient and second derivative by two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Derivatives {
    pub(crate) gradient: [DVec3; 2],
    /// Rows by the first point: by the first, by the second; by the second twice.
    pub(crate) hessian: [DMat3; 3],
}

impl Derivatives {
    const ZERO: Self = Self { gradient: [DVec3::ZERO; 2], hessian: [DMat3::ZERO; 3] };
}

impl Wrap {
    /// How a path from `u` to `v` wraps; `None` where it is straight.
    pub(super) fn new(
        kind: ObstacleKind,
        radius: f64,
        u: DVec3,
        v: DVec3,
        side: Option<DVec3>,
    ) -> Option<Self> {
        if u.length() < 1e-15 || v.length() < 1e-15 {
            return None;
        }
        let plane = match kind {
            ObstacleKind::Sphere => Plane::through(u, v),
            ObstacleKind::Cylinder => Plane::UPRIGHT,
        };
        let [a, b] = [u, v].map(|p| plane.project(p));
        let turn = match side {
            Some(s) if s.length() < radius => circle::inside(a, b, radius),
            side => circle::around(a, b, radius, side.map(|s| plane.project(s))),
        }?;
        Some(Self { kind, radius, plane, turn, ends: [u, v] })
    }

    /// Length of the projection onto the plane.
    fn planar(&self) -> f64 {
        let [a, b] = self.ends.map(|p| self.plane.project(p));
        match self.turn {
            Turn::Around { angle, points, .. } => {
                a.distance(points[0]) + self.radius * angle + b.distance(points[1])
            }
            Turn::Inside { point } => a.distance(point) + b.distance(point),
        }
    }

    fn rise(&self) -> f64 {
        match self.kind {
            ObstacleKind::Sphere => 0.0,
            ObstacleKind::Cylinder => self.ends[1].z - self.ends[0].z,
        }
    }

    /// Length of the path.
    pub(super) fn length(&self) -> f64 {
        self.planar().hypot(self.rise())
    }

    /// Points of the path on the obstacle, `between` more than its two ends.
    pub(super) fn contour(&self, between: usize) -> Vec<DVec3> {
        let a = self.plane.project(self.ends[0]);
        let planar = self.planar();
        let rise = |reached: f64| DVec3::Z * (self.ends[0].z + self.rise() * reached / planar);
        let lift = |p: DVec2, reached: f64| match self.kind {
            ObstacleKind::Sphere => self.plane.lift(p),
            ObstacleKind::Cylinder => self.plane.lift(p) + rise(reached),
        };
        match self.turn {
            Turn::Inside { point } => vec![lift(point, a.distance(point))],
            Turn::Around { positive, angle, points } => (0..between + 2)
                .map(|k| {
                    let part = angle * k as f64 / (between + 1) as f64;
                    let turned = if positive { part } else { -part };
                    let p = DVec2::from_angle(turned).rotate(points[0]);
                    lift(p, a.distance(points[0]) + self.radius * part)
                })
                .collect(),
        }
    }

    /// The length's derivatives by the two points.
    pub(super) fn derivatives(&self) -> Derivatives {
        let planar = match self.turn {
            Turn::Around { positive, .. } => self.around(positive),
            Turn::Inside { point } => self.inside(point),
        };
        match self.kind {
            ObstacleKind::Sphere => planar,
            ObstacleKind::Cylinder => unrolled(&planar, self.planar(), self.rise()),
        }
    }

    fn around(&self, positive: bool) -> Derivatives {
        let r = self.radius;
        let (sense, normal) = (if positive { r } else { -r }, self.plane.x.cross(self.plane.y));
        let mut out = Derivatives::ZERO;
        let mut reach = [0.0; 2];
        for (i, p) in self.ends.iter().enumerate() {
            let p = self.plane.project(*p);
            let a = p.length();
            let (e, t) = (self.plane.lift(p / a), self.plane.lift(p.perp() / a));
            reach[i] = a;
            let s = (a * a - r * r).max(0.0).sqrt();
            // The angle from the first point to the second grows with the second.
            let sweep = if i == 0 { -sense } else { sense };
            out.gradient[i] = e * (s / a) + t * (sweep / a);
            // A point on the surface is at the end of its tangent: no curvature along it.
            let along = if s > 1e-12 * r { r * r / (s * a * a) } else { 0.0 };
            out.hessian[2 * i] = outer(e, e) * along + outer(t, t) * (s / (a * a))
                - (outer(e, t) + outer(t, e)) * (sweep / (a * a));
        }
        if self.kind == ObstacleKind::Sphere {
            // The plane turns: cos φ = û·v̂ of the two directions.
            let [p, q] = self.ends.map(|p| self.plane.project(p));
            let (sine, cosine) =
                (p.perp_dot(q) / (reach[0] * reach[1]), p.dot(q) / (reach[0] * reach[1]));
            let across = outer(normal, normal);
            for i in 0..2 {
                let a = reach[i];
                let s = (a * a - r * r).max(0.0).sqrt();
                out.hessian[2 * i] += across * (s / (a * a));
                if sine.abs() > NO_PLANE {
                    out.hessian[2 * i] += across * (sense * cosine / (sine * a * a));
                }
            }
            if sine.abs() > NO_PLANE {
                out.hessian[1] -= across * (sense / (sine * reach[0] * reach[1]));
            }
        }
        out
    }

    fn inside(&self, point: DVec2) -> Derivatives {
        let normal = point / self.radius;
        let (out_of, along) = (self.plane.lift(normal), self.plane.lift(normal.perp()));
        let t = out_of * self.radius;
        let flat = |p: DVec3| match self.kind {
            ObstacleKind::Sphere => p,
            ObstacleKind::Cylinder => DVec3::new(p.x, p.y, 0.0),
        };
        let across = self.plane.x.cross(self.plane.y);
        let in_plane = DMat3::IDENTITY
            - match self.kind {
                ObstacleKind::Sphere => DMat3::ZERO,
                ObstacleKind::Cylinder => outer(across, across),
            };
        let mut out = Derivatives::ZERO;
        let (mut straight, mut bend) = ([DMat3::ZERO; 2], 0.0);
        for i in 0..2 {
            let d = flat(self.ends[i]) - t;
            let n = d.normalize();
            out.gradient[i] = n;
            straight[i] = (in_plane - outer(n, n)) * (1.0 / d.length());
            bend += n.dot(out_of) / self.radius;
        }
        let (both, freedoms) = match self.kind {
            ObstacleKind::Sphere => ([along, across], 2),
            ObstacleKind::Cylinder => ([along, across], 1),
        };
        [out.hessian[0], out.hessian[2]] = straight;
        for d in both.into_iter().take(freedoms) {
            let curvature = d.dot((straight[0] + straight[1]) * d) + bend;
            let pull = straight.map(|h| h * d);
            out.hessian[0] -= outer(pull[0], pull[0]) * (1.0 / curvature);
            out.hessian[1] -= outer(pull[0], pull[1]) * (1.0 / curvature);
            out.hessian[2] -= outer(pull[1], pull[1]) * (1.0 / curvature);
        }
        out
    }
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// √(ℓ² + Δz²) from ℓ in the plane.
fn unrolled(planar: &Derivatives, length: f64, rise: f64) -> Derivatives {
    let whole = length.hypot(rise);
    let (level, steep) = (length / whole, rise / whole);
    let ends = [-DVec3::Z, DVec3::Z];
    let mut out = Derivatives::ZERO;
    for i in 0..2 {
        out.gradient[i] = planar.gradient[i] * level + ends[i] * steep;
    }
    // The direction in which neither the whole nor its slope is.
    let across = |i: usize| planar.gradient[i] * steep - ends[i] * level;
    for (k, (i, j)) in [(0, 0), (0, 1), (1, 1)].into_iter().enumerate() {
        out.hessian[k] = planar.hessian[k] * level + outer(across(i), across(j)) * (1.0 / whole);
    }
    out
}

#[cfg(test)]
mod tests;
