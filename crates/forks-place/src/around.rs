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

#[cfg(test)]
mod tests {
    use core::f64::consts::PI;

    use forks_mechanism::{
        Joint, JointKind, Link, LinkId, MechanismBuilder,
        lie::{Pose, SpatialInertia, glam::DMat3},
    };
    use forks_reduce::{ProblemOptions, ReduceOptions};

    use super::*;

    /// Links of 1 m along x on sprung hinges about the given axes.
    fn regions(axes: &[DVec3]) -> Vec<LoadRegion> {
        let mut b = MechanismBuilder::new("arm");
        let (mut last, mut at) = (LinkId::WORLD, Pose::IDENTITY);
        for (k, axis) in axes.iter().enumerate() {
            let body = SpatialInertia::new(1.0, DVec3::ZERO, DMat3::IDENTITY);
            let link = b.add_link(Link::new(format!("l{k}")).with_inertia(body));
            let kind = JointKind::Revolute { axis: *axis };
            let at_end = Joint::new(format!("j{k}"), kind, last, link).at(at);
            let outward = Pose::from_translation(-DVec3::X);
            b.add_joint(at_end.child_at(outward).with_stiffness(2.0));
            (last, at) = (link, Pose::IDENTITY);
        }
        let name = format!("l{}", axes.len() - 1);
        let m = b.build().expect("an arm");
        let problem = Problem::new(&m, &[&name], &ProblemOptions::default()).expect("a problem");
        let reduction = problem.reduce(problem.at_rest(), &ReduceOptions::default());
        let reduction = reduction.expect("a model");
        LoadRegion::in_all_directions(&problem, &reduction, 0.3).expect("regions")
    }

    #[test]
    fn an_arm_in_a_line_gives_way_along_a_line() {
        // Stretched, so that both hinges move its end along z.
        let [one] = regions(&[DVec3::Y, DVec3::Y])[..] else { panic!("one effector") };
        assert_eq!((one.half_angle, one.displacement), (0.0, 0.3));
        assert!(one.axis.z.abs() > 1.0 - 1e-12, "{}", one.axis);
    }

    #[test]
    fn hinges_about_two_axes_give_way_in_a_plane() {
        let [one] = regions(&[DVec3::Y, DVec3::Z])[..] else { panic!("one effector") };
        assert_eq!(one.half_angle, PI);
        let normal = one.normal.expect("a plane");
        assert!(normal.x.abs() > 1.0 - 1e-12, "{normal}");
    }
}
