//! Poses of the links of a blend: every sample's pose, positions averaged and quaternions averaged with aligned
//! signs.
//!
//! The average differs from \[A16\] Eq. 28 by third order in the spread of the samples' poses and costs no logarithm.

use forks_lie::{Pose, Twist};

use super::{model::BlendedModel, step::BlendedState};
use crate::{
    PoseBuffer,
    kernel::{Kernel, LANES, Lane4, Lanes, LinkBlocks, POSE, block_pose, pose_entries, pose_of},
};

impl BlendedModel {
    /// Room for the poses of all links but the ground and massless frames inside joints.
    pub fn pose_buffer(&self) -> PoseBuffer {
        PoseBuffer::new(&self.data().samples[0].model)
    }

    /// Poses of all links, each on its own: weighted averages of the samples' poses H_l exp(X_l η_i).
    ///
    /// # Panics
    /// If the buffer or the state belong to a model of other sizes.
    pub fn poses(&self, state: &mut BlendedState, out: &mut PoseBuffer) {
        assert_eq!(state.x.len(), self.dof(), "coordinates of the state");
        assert_eq!(out.blocks.len(), self.blocks(0).blocks() * POSE, "size of the pose buffer");
        state.here.reduced_coordinates(self);
        self.isa().run(BlendLinks {
            model: self,
            weights: &state.here.weights,
            etas: &state.here.etas,
            out: &mut out.blocks,
        });
    }

    pub(super) fn blocks(&self, sample: usize) -> &LinkBlocks {
        self.data().samples[sample].model.blocks()
    }
}

struct BlendLinks<'a> {
    model: &'a BlendedModel,
    weights: &'a [f64],
    /// η_i, sample after sample.
    etas: &'a [f64],
    out: &'a mut [Lane4],
}

impl Kernel for BlendLinks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Self { model, weights, etas, out } = self;
        let n = model.dof();
        for (b, out) in out.chunks_exact_mut(POSE).enumerate() {
            let mut beyond = false;
            let mut sum = block_pose(l, model.blocks(0).block(b), &etas[..n], &mut beyond);
            if weights.len() > 1 {
                let first = sum;
                let alpha = l.splat(weights[0]);
                for x in &mut sum {
                    *x = l.mul(alpha, *x);
                }
                for i in 1..weights.len() {
                    let eta = &etas[i * n..(i + 1) * n];
                    let pose = block_pose(l, model.blocks(i).block(b), eta, &mut beyond);
                    add_weighted(l, weights[i], &first, &pose, &mut sum);
                }
                normalise(l, &mut sum);
            }
            for (o, p) in out.iter_mut().zip(sum) {
                *o = l.store(p);
            }
            if beyond {
                far_block(model, weights, etas, b, out);
            }
        }
    }
}

/// sum += α pose, the quaternion with the sign that is nearer to the first sample's.
#[inline(always)]
fn add_weighted<L: Lanes>(
    l: L,
    alpha: f64,
    first: &[L::V; POSE],
    pose: &[L::V; POSE],
    sum: &mut [L::V; POSE],
) {
    let alpha = l.splat(alpha);
    let mut dot = l.mul(first[3], pose[3]);
    for k in 4..POSE {
        dot = l.mul_add(first[k], pose[k], dot);
    }
    let signed = l.turn_sign(alpha, dot);
    for k in 0..3 {
        sum[k] = l.mul_add(alpha, pose[k], sum[k]);
    }
    for k in 3..POSE {
        sum[k] = l.mul_add(signed, pose[k], sum[k]);
    }
}

/// Scales the quaternion to unit length.
#[inline(always)]
fn normalise<L: Lanes>(l: L, pose: &mut [L::V; POSE]) {
    let mut square = l.mul(pose[3], pose[3]);
    for x in &pose[4..] {
        square = l.mul_add(*x, *x, square);
    }
    let scale = l.inverse_root(square);
    for x in &mut pose[3..] {
        *x = l.mul(*x, scale);
    }
}

/// A block in which some sample turns a link by more than 16π.
#[cold]
fn far_block(model: &BlendedModel, weights: &[f64], etas: &[f64], b: usize, out: &mut [Lane4]) {
    let n = model.dof();
    for lane in 0..LANES {
        let pose = |i: usize| {
            let block = model.blocks(i).block(b);
            let eta = &etas[i * n..(i + 1) * n];
            let t = Twist::from_array(core::array::from_fn(|k| {
                eta.iter().enumerate().map(|(j, x)| block[POSE + 6 * j + k].0[lane] * x).sum()
            }));
            let rest = pose_of(core::array::from_fn(|k| block[k].0[lane]));
            let turn = Pose::exp(t);
            Pose::new(turn.rotation * rest.rotation, rest.translation + turn.translation)
        };
        let first = pose(0);
        let mut sum = Pose::new(first.rotation * weights[0], first.translation * weights[0]);
        for (i, &alpha) in weights.iter().enumerate().skip(1) {
            let p = pose(i);
            let signed = if first.rotation.dot(p.rotation) < 0.0 { -alpha } else { alpha };
            sum.translation += p.translation * alpha;
            sum.rotation = sum.rotation + p.rotation * signed;
        }
        for (entry, x) in out.iter_mut().zip(pose_entries(&sum.normalized())) {
            entry.0[lane] = x;
        }
    }
}
