//! Relative motions of tree joints in dimensionless form: lengths divided by the mechanism's size
//! r.
//!
//! Twists are (v/r; ω), wrenches (r f; τ), so that energies keep their unit and all entries of a
//! compliance are comparable.

use std::ops::Range;

use forks_mechanism::{
    JointColumns, JointMatrix, Mechanism,
    kinematics::tree_joint_motion,
    lie::{Adjoint, Pose, Twist, Wrench},
    linalg::{Accuracy, Matrix},
};

/// A joint's motion: `ξ_outer = Ad ξ_inner + J θ`.
pub(crate) struct ScaledMotion {
    /// Adjoint of outer_from_inner.
    pub(crate) ad: Adjoint,
    /// Columns J.
    pub(crate) columns: JointColumns,
    /// Where the joint's coordinates are in `v`.
    pub(crate) velocities: Range<usize>,
}

impl ScaledMotion {
    /// Divides lengths by `r`.
    pub(crate) fn scale(&mut self, r: f64) {
        self.ad.translation /= r;
        self.columns = self.columns.map(|c| scale_twist(c, r));
    }
}

pub(crate) fn scale_pose(p: &Pose, r: f64) -> Pose {
    Pose::new(p.rotation, p.translation / r)
}

pub(crate) fn scale_twist(t: Twist, r: f64) -> Twist {
    t.scale_linear(1.0 / r)
}

pub(crate) fn scale_wrench(w: Wrench, r: f64) -> Wrench {
    Wrench::new(w.force * r, w.torque)
}

/// The motions of all tree joints in SI units, and the world poses of the links; joints are visited
/// once.
pub(crate) fn tree_motions(m: &Mechanism, q: &[f64]) -> (Vec<ScaledMotion>, Vec<Pose>) {
    let mut world_from_link = vec![Pose::IDENTITY; m.links().len()];
    let edges = m.forest().edges().iter();
    let motions = edges.map(|e| {
        let motion = tree_joint_motion(m, e, q);
        world_from_link[e.outer.index()] =
            (world_from_link[e.inner.index()] * motion.inner_from_outer).normalized();
        ScaledMotion {
            ad: motion.inner_from_outer.inverse().adjoint(),
            columns: motion.columns,
            velocities: m.velocity_range(e.joint),
        }
    });
    let motions = motions.collect();
    (motions, world_from_link)
}

/// The compliance of a joint's spring and the directions that it leaves free.
pub(crate) struct JointCompliance {
    /// d×d compliance of the resisted directions.
    pub(crate) compliance: Matrix,
    /// Free directions as columns (d×k).
    pub(crate) free: Matrix,
}

impl JointCompliance {
    /// True if some direction is not resisted.
    pub(crate) fn is_free(&self) -> bool {
        self.free.columns() > 0
    }
}

/// Relative size below which an eigenvalue of a stiffness matrix counts as zero.
const ZERO_STIFFNESS: f64 = 1e-12;

/// Splits a joint's stiffness (its Hessian at a loaded pose may have either sign).
pub(crate) fn joint_compliance(dof: usize, stiffness: Option<&JointMatrix>) -> JointCompliance {
    let Some(k) = stiffness.filter(|k| !k.is_zero()) else {
        return JointCompliance {
            compliance: Matrix::zeros(dof, dof),
            free: Matrix::identity(dof),
        };
    };
    if dof == 1 {
        return JointCompliance {
            compliance: Matrix::from_fn(1, 1, |_, _| 1.0 / k.get(0, 0)),
            free: Matrix::zeros(1, 0),
        };
    }
    let (values, vectors) =
        Matrix::from_fn(dof, dof, |i, j| k.get(i, j)).jacobi_eigen(Accuracy::Norm);
    let top = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let (kept, free): (Vec<usize>, Vec<usize>) =
        (0..dof).partition(|&i| values[i].abs() > ZERO_STIFFNESS * top);
    JointCompliance {
        compliance: Matrix::from_fn(dof, dof, |i, j| {
            kept.iter().map(|&c| vectors[(i, c)] * vectors[(j, c)] / values[c]).sum()
        }),
        free: Matrix::from_fn(dof, free.len(), |i, c| vectors[(i, free[c])]),
    }
}
