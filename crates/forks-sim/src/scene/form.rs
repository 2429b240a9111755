//! Forms, places and materials of scene files.

use forks_geometry::{Geometry, hills};
use forks_lie::{
    Pose, SpatialInertia,
    glam::{DQuat, DVec2, DVec3, EulerRot},
};

use super::{
    error::{SceneError, invalid},
    spec::{FormSpec, HeightsSpec, HillsSpec, PlaceSpec, ShapeSpec},
};
use crate::{CollisionShape, Material};

impl PlaceSpec {
    /// The pose.
    ///
    /// # Errors
    /// Two rotations, a quaternion without direction, numbers that are not finite.
    pub fn pose(&self, element: &str) -> Result<Pose, SceneError> {
        let rotation = match (self.rpy_deg, self.quaternion_wxyz) {
            (Some(_), Some(_)) => {
                return Err(invalid(element, "has both rpy_deg and quaternion_wxyz"));
            }
            (Some([r, p, y]), None) => {
                let [r, p, y] = [r, p, y].map(f64::to_radians);
                DQuat::from_euler(EulerRot::ZYX, y, p, r)
            }
            (None, Some([w, x, y, z])) => {
                let q = DQuat::from_xyzw(x, y, z, w);
                if !(q.length() > 1e-6 && q.is_finite()) {
                    return Err(invalid(element, format!("has the quaternion {q}")));
                }
                q.normalize()
            }
            (None, None) => DQuat::IDENTITY,
        };
        let pose = Pose { rotation, translation: DVec3::from_array(self.position) };
        if !pose.is_finite() {
            return Err(invalid(element, "has a place that is not finite"));
        }
        Ok(pose)
    }
}

impl ShapeSpec {
    /// The shape for a world, with a name of its own or made up.
    pub(super) fn shape(&self, owner: &str, number: usize) -> Result<CollisionShape, SceneError> {
        let name = self.name.clone().unwrap_or_else(|| format!("{owner}.{number}"));
        let default = Material::default();
        let material = Material {
            friction: self.friction.unwrap_or(default.friction),
            restitution: self.restitution.unwrap_or(default.restitution),
            compliance: self.compliance.unwrap_or(default.compliance),
            relaxation: self.relaxation.unwrap_or(default.relaxation),
        };
        let pose = self.place.pose(&format!("shape {name:?}"))?;
        let form = self.form.form(&format!("shape {name:?}"))?;
        Ok(CollisionShape::new(name, form).at(pose).of(material))
    }
}

impl FormSpec {
    /// The form.
    ///
    /// # Errors
    /// Rows of heights that differ in length, hills without points.
    pub(super) fn form(&self, element: &str) -> Result<Geometry, SceneError> {
        Ok(match self {
            Self::Geometry(geometry) => geometry.clone(),
            Self::Hills(hills) => hills.height_field(element)?,
            Self::Heights(HeightsSpec { size, rows }) => {
                let columns = rows.first().map_or(0, Vec::len);
                if rows.iter().any(|r| r.len() != columns) {
                    return Err(invalid(element, "has rows of heights that differ in length"));
                }
                let heights = rows.concat();
                Geometry::HeightField { size: DVec2::from_array(*size), columns, heights }
            }
        })
    }

    /// Mass properties about the form's frame, filled evenly.
    ///
    /// # Errors
    /// Forms without an end or a simple formula.
    pub(super) fn inertia(&self, element: &str, mass: f64) -> Result<SpatialInertia, SceneError> {
        let solid = self.form(element)?.solid_inertia(mass);
        solid.ok_or_else(|| invalid(element, "needs `inertia`: its first shape has no formula"))
    }
}

impl HillsSpec {
    fn height_field(&self, element: &str) -> Result<Geometry, SceneError> {
        let Self { size, points, height, spacing, seed, flat } = self;
        if points[0] < 2 || points[1] < 2 || points[0].saturating_mul(points[1]) > 4_000_000 {
            return Err(invalid(element, format!("has hills of {points:?} points")));
        }
        let sizes = [size[0], size[1], *height, *spacing];
        if sizes.iter().any(|x| !(x.is_finite() && *x > 0.0)) || !flat.is_finite() {
            return Err(invalid(element, "has hills whose sizes are not above 0"));
        }
        let heights = hills(*size, *points, *height, *spacing, *seed, *flat);
        Ok(Geometry::HeightField { size: DVec2::from_array(*size), columns: points[0], heights })
    }
}
