//! From poses of the effectors to a place in a chart of joint displacements: Gauss and Newton's
//! method, damped.

use alloc::{vec, vec::Vec};

use forks_lie::{Pose, Twist, Wrench, glam::DVec3};
use forks_linalg::{Matrix, Pivots, norm};
use forks_rom::ModelError;

use crate::{evaluation::Evaluation, handover::check_effectors, model::BlendedModel};

const ITERATIONS: usize = 60;
/// A gap (lengths over r) below this is none.
const CLOSED: f64 = 1e-13;
/// Longest step, relative to how far samples are from x = 0.
const LONGEST: f64 = 0.5;
/// A step of this part of it changes nothing.
const STILL: f64 = 1e-12;
/// Samples that are tried as starts, and the gap at which no other one is.
const STARTS: usize = 3;
const THERE: f64 = 1e-9;

impl BlendedModel {
    /// Body twist of effector `e` per coordinate, at the last place of an evaluation.
    pub(crate) fn chart_jacobian(&self, here: &Evaluation, e: usize, out: &mut Matrix) {
        if let Some(tree) = &self.tree {
            return self.tree_jacobian(tree, here, e, out);
        }
        let (back, first) = (here.poses[e].rotation.conjugate(), out.columns() - self.dof());
        for (j, m) in here.places.motions(self.dof(), e).iter().enumerate() {
            let column = Twist::new(back * m.0, back * m.1).to_array();
            column.into_iter().enumerate().for_each(|(i, y)| out[(i, first + j)] = y);
        }
    }

    /// The smallest wrenches (lengths over r) that hold the effectors at the last place of an
    /// evaluation, in their own frames: w = S⁻²J (JᵀS⁻²J)⁻¹ ∂U/∂x; none where there is no such.
    pub(crate) fn holding_wrenches(&self, here: &Evaluation) -> Vec<Wrench> {
        let (jacobian, r) = (self.scaled_jacobian(here), self.data().radius);
        let force = here.elastic_force();
        let normal = jacobian.transpose_mul(&jacobian);
        let part = normal.solve_vec(force, Pivots::AboveZero).unwrap_or(vec![0.0; force.len()]);
        let scaled = jacobian.mul_vec(&part);
        let wrench = |w: &[f64]| {
            let (force, torque) = (DVec3::from_slice(w), DVec3::from_slice(&w[3..]));
            Wrench::new(force / r, torque)
        };
        scaled.chunks_exact(6).map(wrench).collect()
    }

    /// [`BlendedModel::coordinates_of`] where poses are a function of the coordinates: they are as
    /// near as they come.
    pub(crate) fn chart_coordinates_of(
        &self,
        poses: &[Pose],
        twists: &[Twist],
    ) -> Result<(Vec<f64>, Vec<f64>, f64), ModelError> {
        check_effectors(self.effector_count(), poses, twists)?;
        let mut here = Evaluation::new(self);
        let mut starts: Vec<Nearness> =
            self.samples.iter().map(|s| self.nearness(&mut here, &s.place, poses)).collect();
        starts.sort_by(|a, b| a.size.total_cmp(&b.size));
        let mut best: Option<Nearness> = None;
        for start in starts.into_iter().take(STARTS) {
            let found = self.approach(&mut here, start, poses);
            if best.as_ref().is_none_or(|b| found.size < b.size) {
                best = Some(found);
            }
            if best.as_ref().is_some_and(|b| b.size < THERE) {
                break;
            }
        }
        let Some(Nearness { x, size, .. }) = best else { return Err(ModelError::NoSample) };
        here.at(self, &x);
        let jacobian = self.scaled_jacobian(&here);
        let moving: Vec<f64> = twists.iter().flat_map(|t| self.scaled(*t)).collect();
        let rate = least_squares(&jacobian, &moving, 1e-14).unwrap_or(vec![0.0; x.len()]);
        let left = jacobian.mul_vec(&rate);
        let left = left.iter().zip(&moving).map(|(a, b)| (a - b) * (a - b)).sum();
        Ok((x, rate, size.max(forks_linalg::sqrt(left))))
    }

    /// Gauss and Newton's method from a place on.
    fn approach(&self, here: &mut Evaluation, start: Nearness, poses: &[Pose]) -> Nearness {
        let far = self.samples.iter().map(|s| norm(&s.place)).fold(0.0, f64::max);
        let longest = if far > 0.0 { LONGEST * far } else { LONGEST };
        let (mut at, mut damping) = (start, 1e-10);
        for _ in 0..ITERATIONS {
            if at.size <= CLOSED || damping > 1e6 {
                break;
            }
            here.at(self, &at.x);
            let jacobian = self.scaled_jacobian(here);
            let Some(step) = least_squares(&jacobian, &at.gap, damping) else { break };
            let length = norm(&step);
            let part = if length > longest { longest / length } else { 1.0 };
            let x: Vec<f64> = at.x.iter().zip(&step).map(|(x, d)| x + part * d).collect();
            let next = self.nearness(here, &x, poses);
            if next.size < at.size {
                let still = length < STILL * longest;
                at = next;
                damping = (0.1 * damping).max(1e-14);
                if still {
                    break;
                }
            } else {
                damping = (10.0 * damping).max(1e-12);
            }
        }
        at
    }

    fn nearness(&self, here: &mut Evaluation, x: &[f64], poses: &[Pose]) -> Nearness {
        here.at(self, x);
        let twist = |(a, b): (&Pose, &Pose)| self.scaled(a.twist_to(b));
        let gap: Vec<f64> = here.poses.iter().zip(poses).flat_map(twist).collect();
        Nearness { x: x.to_vec(), size: norm(&gap), gap }
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

/// A place, and what is between the effectors there and where they should be.
struct Nearness {
    x: Vec<f64>,
    gap: Vec<f64>,
    size: f64,
}

/// (JᵀJ + d tr(JᵀJ)) x = Jᵀ b.
fn least_squares(j: &Matrix, b: &[f64], damping: f64) -> Option<Vec<f64>> {
    let normal = j.transpose_mul(j);
    let n = normal.rows();
    let size: f64 = (0..n).map(|i| normal[(i, i)]).sum();
    let shifted =
        Matrix::from_fn(n, n, |i, k| normal[(i, k)] + if i == k { damping * size } else { 0.0 });
    shifted.solve_vec(&j.transpose_mul_vec(b), Pivots::AboveZero)
}
