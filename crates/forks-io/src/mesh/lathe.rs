//! Surfaces of revolution about z, and the cube: everything in units of 1.

use forks_lie::{
    glam::{DVec2, DVec3},
    so3::exp_rotation,
};

use super::{Pattern, Surface};

/// Corners around the axis.
const SLICES: usize = 32;
/// Arcs from the equator of a sphere to a pole.
const STACKS: usize = 8;

/// The surfaces that others are scaled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Radius 1.
    Sphere,
    /// The half of it at z > 0, open.
    HalfSphere,
    /// Radius 1, z from −1 to 1, without ends.
    Tube,
    /// The same with ends.
    Cylinder,
    /// Base of radius 1 at z = 0, tip at z = 1.
    Cone,
    /// Half extents of 1.
    Cube,
}

impl Unit {
    pub(super) fn surface(self) -> Surface {
        let (below, above) = (DVec2::NEG_Y, DVec2::Y);
        let outward = DVec2::X;
        match self {
            Self::Sphere => lathe(&arc(-(STACKS as i32)), Pattern::Octants),
            Self::HalfSphere => lathe(&arc(0), Pattern::Quadrants),
            Self::Tube => {
                let side = [(DVec2::new(1.0, -1.0), outward), (DVec2::new(1.0, 1.0), outward)];
                lathe(&side, Pattern::Quadrants)
            }
            Self::Cylinder => {
                let profile = [
                    (DVec2::new(0.0, -1.0), below),
                    (DVec2::new(1.0, -1.0), below),
                    (DVec2::new(1.0, -1.0), outward),
                    (DVec2::new(1.0, 1.0), outward),
                    (DVec2::new(1.0, 1.0), above),
                    (DVec2::new(0.0, 1.0), above),
                ];
                lathe(&profile, Pattern::Quadrants)
            }
            Self::Cone => {
                let slope = DVec2::ONE.normalize();
                let profile =
                    [(DVec2::ZERO, below), (DVec2::X, below), (DVec2::X, slope), (DVec2::Y, slope)];
                lathe(&profile, Pattern::Plain)
            }
            Self::Cube => cube(),
        }
    }
}

/// Points and normals (ρ, z) on the unit circle from `first`/STACKS of a right angle to the pole.
fn arc(first: i32) -> Vec<(DVec2, DVec2)> {
    let step = std::f64::consts::FRAC_PI_2 / STACKS as f64;
    let point = |i: i32| match i.unsigned_abs() as usize {
        // Exactly on the axis, so that the pole is closed.
        STACKS => DVec2::new(0.0, f64::from(i.signum())),
        // Our own rotation instead of the platform's sine: the same bytes everywhere.
        _ => (exp_rotation(DVec3::Z * (step * f64::from(i))) * DVec3::X).truncate(),
    };
    (first..=STACKS as i32).map(|i| (point(i), point(i))).collect()
}

/// Turns a profile of points and normals (ρ, z), from bottom to top on the outside, about z.
fn lathe(profile: &[(DVec2, DVec2)], pattern: Pattern) -> Surface {
    let mut surface = Surface { positions: vec![], normals: vec![], triangles: vec![], pattern };
    for (point, normal) in profile {
        for slice in 0..SLICES {
            let angle = std::f64::consts::TAU * slice as f64 / SLICES as f64;
            let out = exp_rotation(DVec3::Z * angle) * DVec3::X;
            surface.positions.push((out * point.x + DVec3::Z * point.y).as_vec3().to_array());
            surface.normals.push((out * normal.x + DVec3::Z * normal.y).as_vec3().to_array());
        }
    }
    let corner = |ring: usize, slice: usize| (ring * SLICES + slice % SLICES) as u32;
    for (ring, pair) in profile.windows(2).enumerate() {
        let (lower, upper) = (pair[0].0, pair[1].0);
        if lower == upper {
            continue; // an edge: same place, another normal
        }
        for slice in 0..SLICES {
            let [a, b] = [corner(ring, slice), corner(ring, slice + 1)];
            let [c, d] = [corner(ring + 1, slice + 1), corner(ring + 1, slice)];
            // Where one side is a point only the triangle on the wide side is left.
            if lower.x > 0.0 {
                surface.triangles.push([a, b, c]);
            }
            if upper.x > 0.0 {
                surface.triangles.push([a, c, d]);
            }
        }
    }
    surface
}

/// Six faces of four corners.
fn cube() -> Surface {
    let mut surface =
        Surface { positions: vec![], normals: vec![], triangles: vec![], pattern: Pattern::Plain };
    for (axis, right) in [(0, 1), (1, 2), (2, 0)] {
        for sign in [-1.0_f32, 1.0] {
            let mut normal = [0.0_f32; 3];
            normal[axis] = sign;
            let up = 3 - axis - right;
            let first = surface.positions.len() as u32;
            for (u, v) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut p = normal;
                // Mirrored on the negative side, so that corners go counter-clockwise from outside.
                (p[right], p[up]) = (u * sign, v);
                surface.positions.push(p);
                surface.normals.push(normal);
            }
            surface.triangles.push([first, first + 1, first + 2]);
            surface.triangles.push([first, first + 2, first + 3]);
        }
    }
    surface
}
