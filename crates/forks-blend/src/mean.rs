//! Weighted means of a few poses.

use forks_lie::{Pose, Twist};

use crate::links::LinkBlend;

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
