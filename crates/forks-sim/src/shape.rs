//! Shapes that touch, and what they are to the geometry library.

use forks_geometry::Geometry;
use forks_lie::{
    Pose,
    glam::{DQuat, DVec2, DVec3},
};
use parry3d_f64::{
    shape::{HeightField, HeightFieldFlags, SharedShape, TriMeshFlags},
    utils::Array2,
};

use crate::{
    Material, SimError,
    convert::{vector, vectors},
    error::check_range,
    handles::Owner,
};

/// A shape as it is added to a world.
#[derive(Clone, Debug, PartialEq)]
pub struct CollisionShape {
    /// Name, for messages.
    pub name: String,
    /// Pose in the frame of the body, effector or world that carries it.
    pub owner_from_shape: Pose,
    /// The form. An ellipsoid becomes the hull of [`ELLIPSOID_POINTS`] points on it (less than 1 %
    /// of its radii inside); what is behind the triangles of a mesh and below a height field is
    /// solid, and both belong to the world alone, as planes do.
    pub form: Geometry,
    /// Its surface.
    pub material: Material,
}

impl CollisionShape {
    /// A shape at its owner's frame, of the default material.
    pub fn new(name: impl Into<String>, form: Geometry) -> Self {
        Self {
            name: name.into(),
            owner_from_shape: Pose::IDENTITY,
            form,
            material: Material::default(),
        }
    }

    /// The same elsewhere.
    #[must_use]
    pub fn at(self, owner_from_shape: Pose) -> Self {
        Self { owner_from_shape, ..self }
    }

    /// The same of another material.
    #[must_use]
    pub fn of(self, material: Material) -> Self {
        Self { material, ..self }
    }
}

/// A shape and its owner.
#[derive(Clone, Debug)]
pub(crate) struct OwnedShape {
    pub(crate) name: String,
    pub(crate) owner: Owner,
    /// Owner's frame (of a rigid body: the frame at its centre of mass) from the library's shape.
    pub(crate) owner_from_placed: Pose,
    /// True if that is no motion.
    pub(crate) is_at_owner: bool,
    pub(crate) material: Material,
}

/// Points on an ellipsoid whose hull stands for it.
pub const ELLIPSOID_POINTS: usize = 400;

/// A form as the geometry library has it, and its frame there.
pub(crate) struct Prepared {
    pub(crate) shape: SharedShape,
    pub(crate) shape_from_prepared: Pose,
    /// What it is called, if it can belong to the world only.
    pub(crate) static_only: Option<&'static str>,
}

/// Checks a form and hands it over.
pub(crate) fn prepare(name: &str, form: &Geometry) -> Result<Prepared, SimError> {
    let mut static_only = None;
    let mut turned = Pose::IDENTITY;
    let element = format!("shape {name:?}");
    let size = |what, x| check_range(&element, what, x, (f64::MIN_POSITIVE, f64::MAX), "above 0");
    let shape = match form {
        Geometry::Plane => {
            static_only = Some("plane");
            SharedShape::halfspace(vector(DVec3::Z))
        }
        Geometry::Sphere { radius } => {
            size("the radius", *radius)?;
            SharedShape::ball(*radius)
        }
        Geometry::Capsule { radius, half_length } => {
            size("the radius", *radius)?;
            size("the half length", *half_length)?;
            SharedShape::capsule_z(*half_length, *radius)
        }
        Geometry::Cylinder { radius, half_length } => {
            size("the radius", *radius)?;
            size("the half length", *half_length)?;
            turned = up_is_z();
            SharedShape::cylinder(*half_length, *radius)
        }
        Geometry::Box { half_extents: e } => {
            e.to_array().into_iter().try_for_each(|x| size("a half extent", x))?;
            SharedShape::cuboid(e.x, e.y, e.z)
        }
        Geometry::Ellipsoid { radii } => {
            radii.to_array().into_iter().try_for_each(|x| size("a semi-axis", x))?;
            hull(name, &ellipsoid(*radii))?
        }
        Geometry::Hull { points } => hull(name, points)?,
        Geometry::Mesh { vertices, triangles } => {
            static_only = Some("mesh");
            mesh(name, vertices, triangles)?
        }
        Geometry::HeightField { size: sides, columns, heights } => {
            static_only = Some("height field");
            turned = up_is_z();
            size("the side along x", sides.x)?;
            size("the side along y", sides.y)?;
            height_field(name, *sides, *columns, heights)?
        }
        _ => {
            let reason = "this geometry has no contact yet";
            return Err(SimError::Surface { shape: name.into(), reason, index: 0 });
        }
    };
    Ok(Prepared { shape, shape_from_prepared: turned, static_only })
}

/// The library's cylinders and height fields have their axis along y.
fn up_is_z() -> Pose {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    Pose { rotation: DQuat::from_xyzw(half, 0.0, 0.0, half), translation: DVec3::ZERO }
}

/// Points in equal steps of height, turned by the golden angle from one to the next.
fn ellipsoid(radii: DVec3) -> Vec<DVec3> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let on_sphere = |i: usize| {
        let z = 1.0 - 2.0 * i as f64 / (ELLIPSOID_POINTS - 1) as f64;
        let (s, c) = (golden * i as f64).sin_cos();
        let r = (1.0 - z * z).max(0.0).sqrt();
        DVec3::new(r * c, r * s, z) * radii
    };
    (0..ELLIPSOID_POINTS).map(on_sphere).collect()
}

fn hull(name: &str, points: &[DVec3]) -> Result<SharedShape, SimError> {
    let fail = |reason, index| SimError::Surface { shape: name.into(), reason, index };
    if let Some(i) = points.iter().position(|p| !p.is_finite()) {
        return Err(fail("a point is not finite", i));
    }
    if !has_volume(points) {
        return Err(fail("fewer than four points, or all of them in one plane", points.len()));
    }
    SharedShape::convex_hull(&vectors(points))
        .ok_or_else(|| fail("the points have no hull", points.len()))
}

/// True if four of the points make a tetrahedron that is not flat.
fn has_volume(points: &[DVec3]) -> bool {
    let Some(&a) = points.first() else {
        return false;
    };
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        points
            .iter()
            .map(|p| (*p - a, measure(*p - a)))
            .fold((DVec3::ZERO, 0.0), |best, x| if x.1 > best.1 { x } else { best })
    };
    let (first, length) = farthest(&|d| d.length());
    let along = first / length;
    let (second, width) = farthest(&|d| d.cross(along).length());
    let normal = along.cross(second).normalize_or_zero();
    let (_, height) = farthest(&|d| d.dot(normal).abs());
    length > 0.0 && width > FLATNESS * length && height > FLATNESS * length
}

/// Thickness over length below which points count as flat.
const FLATNESS: f64 = 1e-6;

fn mesh(name: &str, vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<SharedShape, SimError> {
    let fail = |reason, index| SimError::Surface { shape: name.into(), reason, index };
    if let Some(i) = vertices.iter().position(|p| !p.is_finite()) {
        return Err(fail("a vertex is not finite", i));
    }
    let corner = |i: u32| vertices.get(i as usize).copied();
    for (i, [a, b, c]) in triangles.iter().enumerate() {
        let (Some(a), Some(b), Some(c)) = (corner(*a), corner(*b), corner(*c)) else {
            return Err(fail("a triangle has a corner that is no vertex", i));
        };
        let sides = (b - a).length() * (c - a).length();
        if (b - a).cross(c - a).length() <= f64::EPSILON * sides {
            return Err(fail("a triangle has no area", i));
        }
    }
    let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
    SharedShape::trimesh_with_flags(vectors(vertices), triangles.to_vec(), flags)
        .map_err(|_| fail("the triangles make no mesh", triangles.len()))
}

fn height_field(
    name: &str,
    size: DVec2,
    columns: usize,
    heights: &[f64],
) -> Result<SharedShape, SimError> {
    let fail = |reason, index| SimError::Surface { shape: name.into(), reason, index };
    if let Some(i) = heights.iter().position(|x| !x.is_finite()) {
        return Err(fail("a height is not finite", i));
    }
    let rows = heights.len() / columns.max(1);
    if columns < 2 || rows < 2 || rows * columns != heights.len() {
        return Err(fail("heights are not at least two whole rows of two", heights.len()));
    }
    // Column after column; rows along the library's z = −y.
    let entry = |k: usize| heights[(rows - 1 - k % rows) * columns + k / rows];
    let matrix = Array2::new(rows, columns, (0..heights.len()).map(entry).collect());
    let scale = vector(DVec3::new(size.x, 1.0, size.y));
    let flags = HeightFieldFlags::FIX_INTERNAL_EDGES;
    Ok(SharedShape::new(HeightField::with_flags(matrix, scale, flags)))
}
