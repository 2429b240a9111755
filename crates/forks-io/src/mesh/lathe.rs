//! Surfaces of revolution about z, and the cube: everything in units of 1.
//!
//! Round surfaces carry coarser ones for where they are small: fewer of the same corners.

use forks_lie::{
    glam::{DVec2, DVec3},
    so3::exp_rotation,
};

use super::{Pattern, Round, Surface};

/// Corners around the axis.
const SLICES: usize = 32;
/// Arcs from the equator of a sphere to a pole.
const STACKS: usize = 8;
/// Of so many corners around the axis, and arcs, the coarser surfaces keep one.
const STRIDES: [usize; 2] = [2, 4];

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
            Self::Sphere => lathe(&arc(-(STACKS as i32)), true, Pattern::Octants),
            Self::HalfSphere => lathe(&arc(0), true, Pattern::Quadrants),
            Self::Tube => {
                let side = [(DVec2::new(1.0, -1.0), outward), (DVec2::new(1.0, 1.0), outward)];
                lathe(&side, false, Pattern::Quadrants)
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
                lathe(&profile, false, Pattern::Quadrants)
            }
            Self::Cone => {
                let slope = DVec2::ONE.normalize();
                let profile =
                    [(DVec2::ZERO, below), (DVec2::X, below), (DVec2::X, slope), (DVec2::Y, slope)];
                lathe(&profile, false, Pattern::Plain)
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
/// Coarser surfaces leave out corners of the profile too if it is an arc.
fn lathe(profile: &[(DVec2, DVec2)], arc: bool, pattern: Pattern) -> Surface {
    let (mut positions, mut normals) = (vec![], vec![]);
    for (point, normal) in profile {
        for slice in 0..SLICES {
            let angle = std::f64::consts::TAU * slice as f64 / SLICES as f64;
            let out = exp_rotation(DVec3::Z * angle) * DVec3::X;
            positions.push((out * point.x + DVec3::Z * point.y).as_vec3().to_array());
            normals.push((out * normal.x + DVec3::Z * normal.y).as_vec3().to_array());
        }
    }
    let triangles = turned(profile, 1, 1);
    let coarser = STRIDES.map(|n| turned(profile, if arc { n } else { 1 }, n)).to_vec();
    let round = Some(Round { slices: SLICES, coarser });
    Surface { positions, normals, triangles, pattern, round }
}

/// Triangles between every so many-th corner of a profile and around the axis.
fn turned(profile: &[(DVec2, DVec2)], along: usize, around: usize) -> Vec<[u32; 3]> {
    let mut triangles = vec![];
    let corner = |ring: usize, slice: usize| (ring * SLICES + slice % SLICES) as u32;
    for ring in (0..profile.len() - 1).step_by(along) {
        let (lower, upper) = (profile[ring].0, profile[ring + along].0);
        if lower == upper {
            continue; // an edge: same place, another normal
        }
        for slice in (0..SLICES).step_by(around) {
            let [a, b] = [corner(ring, slice), corner(ring, slice + around)];
            let [c, d] = [corner(ring + along, slice + around), corner(ring + along, slice)];
            // Where one side is a point only the triangle on the wide side is left.
            if lower.x > 0.0 {
                triangles.push([a, b, c]);
            }
            if upper.x > 0.0 {
                triangles.push([a, c, d]);
            }
        }
    }
    triangles
}

/// Six faces of four corners.
fn cube() -> Surface {
    let mut surface = Surface::empty();
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
