//! Regions of forces in all directions in which effectors give way.

use forks_mechanism::{
    lie::glam::DVec3,
    linalg::{Matrix, dense},
};
use forks_reduce::{Problem, Reduction};

use crate::{error::BlendError, region::LoadRegion};

/// A compliance below this part of the largest moves nothing that counts.
const RIGID: f64 = 1e-9;

impl LoadRegion {
    /// For each effector forces in all directions in which it gives way at the pose of a reduction:
    /// all of space, a plane or a line, up to a relative displacement.
    ///
    /// # Errors
    /// [`BlendError::Unmoved`] for an effector that forces at its origin do not move.
    pub fn in_all_directions(
        problem: &Problem,
        reduction: &Reduction<'_>,
        displacement: f64,
    ) -> Result<Vec<Self>, BlendError> {
        let c = &reduction.linear.compliance;
        let rest = &reduction.model.data().effectors;
        let region = |(e, effector): (usize, &forks_reduce::Effector)| {
            let unmoved = || BlendError::Unmoved { effector: effector.name.clone() };
            let block = Matrix::from_fn(3, 3, |i, j| c[(6 * e + i, 6 * e + j)]);
            let (values, v) =
                dense::symmetric_eigen(&block.symmetric_part()).ok_or_else(unmoved)?;
            let axis =
                |k: usize| rest[e].rest.rotation * DVec3::new(v[(0, k)], v[(1, k)], v[(2, k)]);
            if values[2].is_nan() || values[2] <= 0.0 {
                return Err(unmoved());
            }
            let gives_way = |k: usize| values[k] > RIGID * values[2];
            let mut region = Self::cone(e, axis(2), core::f64::consts::PI);
            region.displacement = displacement;
            if !gives_way(1) {
                region.half_angle = 0.0;
            } else if !gives_way(0) {
                region.normal = Some(axis(0));
            }
            Ok(region)
        };
        problem.effectors.iter().enumerate().map(region).collect()
    }
}
