//! Forms that stand for meshes: convex hulls, and primitives as MuJoCo fits them.

use forks_geometry::{
    Geometry, convex_hull,
    lie::{
        Pose,
        glam::{DMat3, DQuat, DVec3},
    },
    mesh::{Mesh, MeshMass},
};
use forks_linalg::{Matrix, dense};

/// The convex hull of a mesh: its corners, in the order of the file; `None` for a flat mesh.
pub fn hull(mesh: &Mesh) -> Option<Geometry> {
    let faces = convex_hull(&mesh.vertices)?;
    let mut corners: Vec<usize> = faces.into_iter().flatten().collect();
    corners.sort_unstable();
    corners.dedup();
    Some(Geometry::Hull { points: corners.into_iter().map(|i| mesh.vertices[i]).collect() })
}

/// A primitive of a kind (`sphere`, `capsule`, `cylinder`, `ellipsoid`, `box`) that stands for a
/// mesh, as MuJoCo fits it, and its pose in the mesh's frame: one with the moments of `mass`, or
/// around the mesh's vertices.
pub fn fitted(
    mesh: &Mesh,
    mass: &MeshMass,
    kind: &str,
    around_vertices: bool,
    scale: f64,
) -> (Pose, Geometry) {
    let (rotation, moments) = principal_axes(mass.unit.inertia);
    let mut center = mass.unit.center_of_mass;
    // Half the sides of the box with these moments, the shortest first.
    let side = |i: usize, j: usize, k: usize| {
        (1.5 * (moments[i] + moments[j] - moments[k])).max(0.0).sqrt()
    };
    let mut half = DVec3::new(side(1, 2, 0), side(0, 2, 1), side(0, 1, 2));
    if around_vertices {
        let inverse = rotation.conjugate();
        let points = mesh.vertices.iter().map(|v| inverse * (*v - center));
        let (low, high) =
            points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        center += rotation * ((low + high) * 0.5);
        half = (high - low) * 0.5;
    }
    (Pose::new(rotation, center), primitive(kind, half, around_vertices, scale))
}

/// The primitive of a box.
fn primitive(kind: &str, half: DVec3, around: bool, scale: f64) -> Geometry {
    let across = if around { half.x.max(half.y) } else { 0.5 * (half.x + half.y) };
    match kind {
        "sphere" if around => Geometry::Sphere { radius: scale * half.max_element() },
        "sphere" => Geometry::Sphere { radius: scale * half.element_sum() / 3.0 },
        "capsule" => {
            let cap = if around { across } else { 0.5 * across };
            let half_length = scale * (half.z - cap).max(0.0);
            Geometry::Capsule { radius: scale * across, half_length }
        }
        "cylinder" => Geometry::Cylinder { radius: scale * across, half_length: scale * half.z },
        "ellipsoid" => Geometry::Ellipsoid { radii: half * scale },
        _ => Geometry::Box { half_extents: half * scale },
    }
}

/// Axes of decreasing moments, right-handed.
fn principal_axes(inertia: DMat3) -> (DQuat, DVec3) {
    let m = Matrix::from_fn(3, 3, |r, c| inertia.col(c)[r]);
    let Some((values, v)) = dense::symmetric_eigen(&m) else {
        return (DQuat::IDENTITY, DVec3::ZERO);
    };
    let column = |k| DVec3::new(v[(0, k)], v[(1, k)], v[(2, k)]);
    let (x, y) = (column(2), column(1));
    let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize();
    (rotation, DVec3::new(values[2], values[1], values[0]))
}
