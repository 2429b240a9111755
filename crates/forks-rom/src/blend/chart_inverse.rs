//! From poses of the effectors to a place in a chart of joint displacements: Gauss and Newton's method, damped.

use alloc::{vec, vec::Vec};

use forks_lie::{Matrix, Pose, Twist};

use super::{evaluate::Evaluation, handover::check_effectors, model::BlendedModel};
use crate::{ModelError, linear::solve};

const ITERATIONS: usize = 60;
/// A gap (lengths over r) below this is none.
const CLOSED: f64 = 1e-13;
/// Longest step, relative to how far samples are from x = 0.
const LONGEST: f64 = 0.5;

impl BlendedModel {
    /// Fails where targets of servos would move a chart of joint displacements.
    pub(super) fn check_targets(&self, targets: &[f64]) -> Result<(), ModelError> {
        match self.is_curved() && targets.iter().any(|s| *s != 0.0) {
            true => Err(ModelError::DrivenChart),
            false => Ok(()),
        }
    }

    /// Body twist of effector `e` per coordinate, at the last place of an evaluation.
    pub(super) fn chart_jacobian(&self, here: &Evaluation, e: usize, out: &mut Matrix) {
        let back = here.poses[e].rotation.conjugate();
        for (j, m) in here.places.motions(self.dof(), e).iter().enumerate() {
            let column = Twist::new(back * m.0, back * m.1).to_array();
            column.into_iter().enumerate().for_each(|(i, y)| out[(i, j)] = y);
        }
    }

    /// [`BlendedModel::coordinates_of`] where poses are a function of the coordinates: they are as near as they come.
    pub(super) fn chart_coordinates_of(
        &self,
        poses: &[Pose],
        twists: &[Twist],
    ) -> Result<(Vec<f64>, Vec<f64>, f64), ModelError> {
        check_effectors(self.effector_count(), poses, twists)?;
        let mut here = Evaluation::new(self);
        let gap_at = |here: &mut Evaluation, x: &[f64]| -> (Vec<f64>, f64) {
            here.at(self, x);
            let twist = |(a, b): (&Pose, &Pose)| self.scaled(a.twist_to(b));
            let gap: Vec<f64> = here.poses.iter().zip(poses).flat_map(twist).collect();
            let size = crate::scalar::sqrt(gap.iter().map(|g| g * g).sum());
            (gap, size)
        };
        let starts = self.samples.iter().map(|s| s.place.clone());
        let mut best: Option<(Vec<f64>, Vec<f64>, f64)> = None;
        let mut far = 0.0f64;
        for x in starts {
            far = far.max(crate::scalar::sqrt(x.iter().map(|x| x * x).sum()));
            let (gap, size) = gap_at(&mut here, &x);
            if best.as_ref().is_none_or(|b| size < b.2) {
                best = Some((x, gap, size));
            }
        }
        let Some((mut x, mut gap, mut size)) = best else { return Err(ModelError::NoSample) };
        let longest = if far > 0.0 { LONGEST * far } else { LONGEST };
        let mut damping = 1e-10;
        for _ in 0..ITERATIONS {
            if size <= CLOSED || damping > 1e6 {
                break;
            }
            here.at(self, &x);
            let jacobian = self.scaled_jacobian(&here);
            let Some(mut dx) = least_squares(&jacobian, &gap, damping) else { break };
            let length = crate::scalar::sqrt(dx.iter().map(|d| d * d).sum());
            let part = if length > longest { longest / length } else { 1.0 };
            dx.iter_mut().zip(&x).for_each(|(d, x)| *d = x + part * *d);
            let (there, now) = gap_at(&mut here, &dx);
            if now < size {
                let done = now > 0.999_999 * size && length < 1e-12 * longest;
                (x, gap, size) = (dx, there, now);
                damping = (0.1 * damping).max(1e-14);
                if done {
                    break;
                }
            } else {
                damping = (10.0 * damping).max(1e-12);
            }
        }
        here.at(self, &x);
        let jacobian = self.scaled_jacobian(&here);
        let moving: Vec<f64> = twists.iter().flat_map(|t| self.scaled(*t)).collect();
        let rate = least_squares(&jacobian, &moving, 1e-14).unwrap_or(vec![0.0; x.len()]);
        let left = jacobian.mul_vec(&rate);
        let left = left.iter().zip(&moving).map(|(a, b)| (a - b) * (a - b)).sum();
        Ok((x, rate, size.max(crate::scalar::sqrt(left))))
    }

    /// Lengths over r.
    fn scaled(&self, t: Twist) -> [f64; 6] {
        Twist::new(t.linear / self.data().radius, t.angular).to_array()
    }

    /// All effectors' body twists per coordinate, lengths over r.
    fn scaled_jacobian(&self, here: &Evaluation) -> Matrix {
        let (n, count) = (self.dof(), self.effector_count());
        let mut out = Matrix::zeros(6 * count, n);
        let mut own = Matrix::zeros(6, n);
        for e in 0..count {
            self.chart_jacobian(here, e, &mut own);
            for i in 0..6 {
                let scale = if i < 3 { 1.0 / self.data().radius } else { 1.0 };
                (0..n).for_each(|j| out[(6 * e + i, j)] = scale * own[(i, j)]);
            }
        }
        out
    }
}

/// (JᵀJ + d tr(JᵀJ)) x = Jᵀ b.
fn least_squares(j: &Matrix, b: &[f64], damping: f64) -> Option<Vec<f64>> {
    let normal = j.transpose_mul(j);
    let n = normal.rows();
    let size: f64 = (0..n).map(|i| normal[(i, i)]).sum();
    let shifted =
        Matrix::from_fn(n, n, |i, k| normal[(i, k)] + if i == k { damping * size } else { 0.0 });
    solve(shifted, &j.transpose_mul_vec(b))
}
