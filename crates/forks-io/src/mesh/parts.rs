//! Shapes taken apart into scaled surfaces, each surface kept once.

use forks_geometry::{Geometry, convex_hull};
use forks_lie::{
    Pose,
    glam::{DQuat, DVec3},
};

use super::{Surface, crease::creased, height_field, lathe::Unit};
use crate::animation::{Colour, Form, VisualShape};

/// A scaled surface at a place: `x_owner = pose (scale ∘ x_surface)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// Number of the surface.
    pub(crate) surface: usize,
    /// Pose in the owner of the shape.
    pub(crate) pose: Pose,
    /// Factors along the surface's own axes, positive.
    pub(crate) scale: DVec3,
    pub(crate) colour: Colour,
}

/// Where a surface came from.
#[derive(Debug, PartialEq)]
enum Origin<'a> {
    Unit(Unit),
    Form(&'a Geometry),
}

/// All surfaces of an animation.
#[derive(Debug, Default)]
pub(crate) struct Parts<'a> {
    origins: Vec<Origin<'a>>,
    pub(crate) surfaces: Vec<Surface>,
}

/// Half thickness of an axis over its length.
const AXIS_RADIUS: f64 = 0.02;
/// Length of an axis' head over the whole.
const AXIS_HEAD: f64 = 0.2;

impl<'a> Parts<'a> {
    /// The parts of a shape; none for a plane, which has no end. The shape must have passed the
    /// check.
    pub(crate) fn of(&mut self, shape: &'a VisualShape, default: Colour) -> Vec<Part> {
        let colour = shape.colour.unwrap_or(default);
        let mut parts = self.of_form(&shape.form, colour);
        for part in &mut parts {
            part.pose = shape.body_from_shape * part.pose;
        }
        parts
    }

    fn of_form(&mut self, form: &'a Form, colour: Colour) -> Vec<Part> {
        let geometry = match form {
            Form::Geometry(geometry) => geometry,
            Form::Axes { length } => return self.axes(*length),
        };
        let mut unit = |unit, pose, scale| Part {
            surface: self.number(Origin::Unit(unit)),
            pose,
            scale,
            colour,
        };
        let here = Pose::IDENTITY;
        match geometry {
            Geometry::Plane => vec![],
            Geometry::Sphere { radius } => vec![unit(Unit::Sphere, here, DVec3::splat(*radius))],
            Geometry::Ellipsoid { radii } => vec![unit(Unit::Sphere, here, *radii)],
            Geometry::Box { half_extents } => vec![unit(Unit::Cube, here, *half_extents)],
            Geometry::Cylinder { radius, half_length } => {
                vec![unit(Unit::Cylinder, here, DVec3::new(*radius, *radius, *half_length))]
            }
            Geometry::Capsule { radius, half_length } => {
                let end = Pose::from_translation(DVec3::Z * *half_length);
                let ball = DVec3::splat(*radius);
                vec![
                    unit(Unit::Tube, here, DVec3::new(*radius, *radius, *half_length)),
                    unit(Unit::HalfSphere, end, ball),
                    unit(Unit::HalfSphere, Pose::from_rotation(upside_down()) * end, ball),
                ]
            }
            _ => {
                let surface = self.number(Origin::Form(geometry));
                vec![Part { surface, pose: here, scale: DVec3::ONE, colour }]
            }
        }
    }

    /// Three arrows.
    fn axes(&mut self, length: f64) -> Vec<Part> {
        let [rod, tip] = [Unit::Cylinder, Unit::Cone].map(|u| self.number(Origin::Unit(u)));
        let (radius, head) = (AXIS_RADIUS * length, AXIS_HEAD * length);
        let half = 0.5 * (length - head);
        let colours = [
            Colour::rgb(0xd6, 0x3a, 0x3a),
            Colour::rgb(0x2f, 0x9e, 0x44),
            Colour::rgb(0x2b, 0x6c, 0xd9),
        ];
        let arrow = |(colour, axis): (Colour, DVec3)| {
            let turned = DQuat::from_rotation_arc(DVec3::Z, axis);
            let at = |z: f64| Pose::new(turned, axis * z);
            [
                Part {
                    surface: rod,
                    pose: at(half),
                    scale: DVec3::new(radius, radius, half),
                    colour,
                },
                Part {
                    surface: tip,
                    pose: at(2.0 * half),
                    scale: DVec3::new(2.5 * radius, 2.5 * radius, head),
                    colour,
                },
            ]
        };
        colours.into_iter().zip([DVec3::X, DVec3::Y, DVec3::Z]).flat_map(arrow).collect()
    }

    /// The number of a surface, made if it is new.
    fn number(&mut self, origin: Origin<'a>) -> usize {
        if let Some(known) = self.origins.iter().position(|o| *o == origin) {
            return known;
        }
        self.surfaces.push(match &origin {
            Origin::Unit(unit) => unit.surface(),
            Origin::Form(form) => triangulated(form),
        });
        self.origins.push(origin);
        self.surfaces.len() - 1
    }
}

/// A half turn that swaps x and y and inverts z, so that quadrants keep their place.
fn upside_down() -> DQuat {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    DQuat::from_xyzw(half, half, 0.0, 0.0)
}

fn triangulated(form: &Geometry) -> Surface {
    match form {
        Geometry::Mesh { vertices, triangles } => creased(vertices, triangles),
        Geometry::Hull { points } => {
            let faces = convex_hull(points).unwrap_or_default();
            let faces: Vec<[u32; 3]> = faces.iter().map(|f| f.map(|i| i as u32)).collect();
            creased(points, &faces)
        }
        Geometry::HeightField { size, columns, heights } => {
            let (vertices, triangles) = height_field::triangles(*size, *columns, heights);
            creased(&vertices, &triangles)
        }
        // Every other form is made of unit surfaces.
        _ => creased(&[], &[]),
    }
}
