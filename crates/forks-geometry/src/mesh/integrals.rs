//! Volume, centre of mass and inertia of what triangles enclose, or of the triangles themselves.
//!
//! A solid is the sum of the tetrahedra that its triangles span with one point. With a tetrahedron
//! of volume V, corners p₁…p₄ and s = Σ pᵢ: ∫ x = V s/4 and ∫ x xᵀ = V/20 (s sᵀ + Σ pᵢ pᵢᵀ); a
//! triangle of area A has A s/3 and A/12 (s sᵀ + Σ pᵢ pᵢᵀ).

use std::collections::HashMap;

use forks_lie::{
    SpatialInertia,
    glam::{DMat3, DVec3},
};

use super::{Mesh, MeshError};
use crate::convex_hull;

/// How a mesh turns into mass, as MJCF's `inertia` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MassRule {
    /// The solid that the triangles enclose.
    Exact,
    /// The convex hull of the vertices.
    Convex,
    /// Tetrahedra that are all counted positive; MuJoCo's default. Exact for convex meshes.
    Legacy,
    /// The surface itself.
    Shell,
}

/// What a mesh weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshMass {
    /// Volume, or area of a shell.
    pub amount: f64,
    /// Mass properties with mass 1.
    pub unit: SpatialInertia,
}

/// Amounts below this are none, as in MuJoCo.
const LEAST: f64 = 1e-15;

impl Mesh {
    /// Volume or area, and mass properties.
    ///
    /// # Errors
    /// [`MeshError`] where the triangles enclose nothing or contradict each other.
    pub fn mass(&self, rule: MassRule) -> Result<MeshMass, MeshError> {
        if self.faces.is_empty() || rule == MassRule::Convex {
            let hull = convex_hull(&self.vertices)
                .ok_or_else(|| "its vertices lie in one plane".to_owned())?;
            let rule = if rule == MassRule::Shell { rule } else { MassRule::Exact };
            return Self { vertices: self.vertices.clone(), faces: hull }.sum(rule);
        }
        if rule == MassRule::Exact {
            self.check_orientation()?;
        }
        self.sum(rule)
    }

    fn sum(&self, rule: MassRule) -> Result<MeshMass, MeshError> {
        let first = self.surface_centroid();
        let center = first + self.moments(rule, first).center()?;
        // As MuJoCo, cut again from there: closed surfaces give the same, others and positive
        // tetrahedra do not.
        let again = self.moments(rule, center);
        again.center()?;
        Ok(again.unit(center))
    }

    fn moments(&self, rule: MassRule, around: DVec3) -> Moments {
        let mut total = Moments::NONE;
        for f in &self.faces {
            let [a, b, c] = f.map(|i| self.vertices[i] - around);
            let cross = (b - a).cross(c - a);
            match rule {
                MassRule::Shell => total.add(0.5 * cross.length(), a, b, c, 3.0, 12.0),
                MassRule::Legacy => total.add((a.dot(cross) / 6.0).abs(), a, b, c, 4.0, 20.0),
                _ => total.add(a.dot(cross) / 6.0, a, b, c, 4.0, 20.0),
            }
        }
        total
    }

    /// Mean of the triangles, weighted by area.
    fn surface_centroid(&self) -> DVec3 {
        let (mut sum, mut area) = (DVec3::ZERO, 0.0);
        for f in &self.faces {
            let [a, b, c] = f.map(|i| self.vertices[i]);
            let size = (b - a).cross(c - a).length();
            sum += (a + b + c) * (size / 3.0);
            area += size;
        }
        if area > 0.0 { sum / area } else { DVec3::ZERO }
    }

    /// Two triangles at an edge run along it in opposite directions.
    fn check_orientation(&self) -> Result<(), String> {
        let mut edges = HashMap::new();
        for (n, f) in self.faces.iter().enumerate() {
            for (i, j) in [(f[0], f[1]), (f[1], f[2]), (f[2], f[0])] {
                if let Some(other) = edges.insert((i, j), n) {
                    return Err(format!(
                        "faces {other} and {n} look in opposite directions at the edge of vertices \
                        {i} and {j}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// ∫ 1, ∫ x and ∫ x xᵀ.
struct Moments {
    amount: f64,
    first: DVec3,
    second: DMat3,
}

impl Moments {
    const NONE: Self = Self { amount: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };

    fn add(&mut self, amount: f64, a: DVec3, b: DVec3, c: DVec3, first: f64, second: f64) {
        let s = a + b + c;
        self.amount += amount;
        self.first += s * (amount / first);
        self.second += (outer(s) + outer(a) + outer(b) + outer(c)) * (amount / second);
    }

    /// Mean position.
    fn center(&self) -> Result<DVec3, String> {
        if self.amount < -LEAST {
            return Err("its triangles look inwards: the volume is negative".into());
        }
        if self.amount < LEAST {
            return Err("it encloses no volume".into());
        }
        Ok(self.first / self.amount)
    }

    /// Mass properties of moments about `center`.
    fn unit(&self, center: DVec3) -> MeshMass {
        let s = self.second * (1.0 / self.amount);
        let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        let tensor = DMat3::from_diagonal(DVec3::splat(trace)) - s;
        MeshMass { amount: self.amount, unit: SpatialInertia::new(1.0, center, tensor) }
    }
}

fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}
