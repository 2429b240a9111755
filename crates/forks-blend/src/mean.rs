//! Weighted means of a few poses.

use forks_lie::{Pose, Twist};

/// How the samples' poses of a link become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkBlend {
    /// Positions averaged, quaternions averaged with aligned signs, without logarithms. Differs
    /// from [`LinkBlend::Logarithm`] in rotation by third order in how far the samples' poses are
    /// apart, in position by about ½ Σ α_i ω_i × t_i, ω_i and t_i the rotation and distance from
    /// the average to sample i: positions here do not follow screws.
    #[default]
    Average,
    /// \[A16\] Eq. 28, H̄ exp(Σ α_i log(H̄⁻¹ H_i)) with H̄ the average of the samples' poses, so
    /// that their order does not matter.
    Logarithm,
}

/// The mean of poses with weights whose sum is 1, in any order.
pub(crate) fn mean(blend: LinkBlend, poses: impl Iterator<Item = (f64, Pose)> + Clone) -> Pose {
    let base = average(poses.clone());
    match blend {
        LinkBlend::Average => base,
        LinkBlend::Logarithm => {
            let sum = poses.fold(Twist::ZERO, |sum, (w, p)| sum + base.twist_to(&p) * w);
            base.displaced(sum).normalized()
        }
    }
}

/// Positions averaged, and quaternions with the signs that are nearer to the first one's.
fn average(mut poses: impl Iterator<Item = (f64, Pose)>) -> Pose {
    let Some((weight, first)) = poses.next() else { return Pose::IDENTITY };
    let mut sum =
        Pose { rotation: first.rotation * weight, translation: first.translation * weight };
    for (weight, p) in poses {
        let signed = if first.rotation.dot(p.rotation) < 0.0 { -weight } else { weight };
        sum.translation += p.translation * weight;
        sum.rotation += p.rotation * signed;
    }
    sum.normalized()
}
