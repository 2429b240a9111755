//! Bodies that are the even surface of their form.

use core::f64::consts::PI;

use forks_lie::glam::DVec3;

use crate::Geometry;

impl Geometry {
    /// Surface (m²) and principal moments per unit mass (m²) about the form's own frame, as MuJoCo
    /// has them; `None` for what has no end or no formula.
    pub fn shell(&self) -> Option<(f64, DVec3)> {
        let turned = |across: f64, along: f64| DVec3::new(across, across, along);
        Some(match *self {
            Self::Sphere { radius: r } => {
                (4.0 * PI * r * r, turned(2.0 / 3.0 * r * r, 2.0 / 3.0 * r * r))
            }
            Self::Capsule { radius, half_length } => capsule_shell(radius, 2.0 * half_length),
            Self::Cylinder { radius: r, half_length } => {
                // Two discs and the lateral surface.
                let h = 2.0 * half_length;
                let (ends, side) = (2.0 * PI * r * r, 2.0 * PI * r * h);
                let across =
                    ends * (r * r / 4.0 + h * h / 4.0) + side * (r * r / 2.0 + h * h / 12.0);
                let along = ends * r * r / 2.0 + side * r * r;
                (ends + side, turned(across / (ends + side), along / (ends + side)))
            }
            Self::Ellipsoid { radii: r } => ellipsoid_shell(r),
            Self::Box { half_extents: b } => box_shell(b),
            _ => return None,
        })
    }
}

/// The surface of a cylinder of height h with a half sphere at each end.
fn capsule_shell(r: f64, h: f64) -> (f64, DVec3) {
    let (ends, side) = (4.0 * PI * r * r, 2.0 * PI * r * h);
    let sphere = 2.0 / 3.0 * r * r;
    // Both halves moved by h/2 away from the centre of their sphere: + (h/2)² + 2 (h/2) · r/2.
    let ends_across = sphere + 0.25 * h * h + h * (r / 2.0);
    let side_across = r * r / 2.0 + h * h / 12.0;
    let total = ends + side;
    let across = (ends * ends_across + side * side_across) / total;
    let along = (ends * sphere + side * (r * r)) / total;
    (total, DVec3::new(across, across, along))
}

/// MuJoCo's ellipsoidal shell: the area by Thomsen's formula, the moments those of what lies
/// between the ellipsoid and one with semi-axes that are longer by a micrometre.
fn ellipsoid_shell(r: DVec3) -> (f64, DVec3) {
    const P: f64 = 1.6075;
    const THICKNESS: f64 = 1e-6;
    let mean = ((r.y * r.z).powf(P) + (r.x * r.z).powf(P) + (r.x * r.y).powf(P)) / 3.0;
    let solid = |r: DVec3| {
        let volume = r.x * r.y * r.z;
        (volume, r * r * (volume / 5.0))
    };
    let (inner, outer) = (solid(r), solid(r + DVec3::splat(THICKNESS)));
    let second = (outer.1 - inner.1) / (outer.0 - inner.0);
    let moments = DVec3::new(second.y + second.z, second.x + second.z, second.x + second.y);
    (4.0 * PI * mean.powf(1.0 / P), moments)
}

/// Six faces.
fn box_shell(b: DVec3) -> (f64, DVec3) {
    let mut surface = 0.0;
    let mut second = DVec3::ZERO; // ∫ x², ∫ y², ∫ z²
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let area = 2.0 * 4.0 * b[j] * b[k];
        surface += area;
        second[i] += area * b[i] * b[i];
        second[j] += area * b[j] * b[j] / 3.0;
        second[k] += area * b[k] * b[k] / 3.0;
    }
    let m = DVec3::new(second.y + second.z, second.x + second.z, second.x + second.y);
    (surface, m / surface)
}
