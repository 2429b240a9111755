//! Which joints take part in motions.

use forks_mechanism::{JointId, Mechanism, linalg::Matrix};

/// Joints that move in the columns of `motions` by more than `part` of the largest entry.
pub(crate) fn moving_joints(m: &Mechanism, motions: &Matrix, part: f64) -> Vec<JointId> {
    (0..m.joints().len())
        .map(JointId::new)
        .filter(|&id| {
            (0..motions.columns()).any(|c| {
                let largest = (0..motions.rows()).fold(0.0f64, |s, r| s.max(motions[(r, c)].abs()));
                m.velocity_range(id).any(|r| motions[(r, c)].abs() > part * largest)
            })
        })
        .collect()
}
