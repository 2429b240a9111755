//! World poses of the links: the base's pose times the poses relative to it.

use forks_lie::{Pose, glam::DMat3};

use super::{model::FloatingModel, state::FloatingState};
use crate::{
    PoseBuffer,
    kernel::{Arithmetic, Kernel, LANES, Lanes, POSE},
};

/// Blocks that are moved while they are still in the first cache.
const CHUNK: usize = 32;

impl FloatingModel {
    /// World poses of all links.
    ///
    /// # Panics
    /// If buffer or state belong to a model of other sizes.
    pub fn poses(&self, state: &FloatingState, out: &mut PoseBuffer) {
        let world_from_rest = self.world_from_rest(state);
        let isa = self.model.isa();
        assert_eq!(
            out.blocks.len(),
            self.model.blocks().blocks() * POSE,
            "size of the pose buffer"
        );
        for (i, chunk) in out.blocks.chunks_mut(CHUNK * POSE).enumerate() {
            self.model.pose_blocks(&state.shape, i * CHUNK, chunk);
            isa.run(Carry { world_from_rest: &world_from_rest, blocks: chunk });
        }
    }

    /// World pose of one link; the ground moves with the base.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn pose_of_link(&self, link: usize, state: &FloatingState) -> Pose {
        self.world_from_rest(state) * self.model.pose_of_link(link, &state.shape)
    }
}

/// Pose times pose, four links at a time.
struct Carry<'a> {
    world_from_rest: &'a Pose,
    blocks: &'a mut [Lanes],
}

impl Kernel for Carry<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) {
        let rotation = DMat3::from_quat(self.world_from_rest.rotation);
        let row = |i: usize| rotation.row(i).to_array().map(|x| l.splat(x));
        let rows = [row(0), row(1), row(2)];
        let shift = self.world_from_rest.translation.to_array().map(|x| l.splat(x));
        let [x, y, z, w] = self.world_from_rest.rotation.to_array().map(|x| l.splat(x));
        for block in self.blocks.chunks_exact_mut(POSE) {
            let [px, py, pz, bx, by, bz, bw]: [L::V; POSE] =
                core::array::from_fn(|k| l.load(&block[k]));
            for i in 0..3 {
                let [a, b, c] = rows[i];
                let turned = l.mul_add(a, px, l.mul_add(b, py, l.mul_add(c, pz, shift[i])));
                block[i] = l.store(turned);
            }
            // (w, xyz) (bw, bxyz)
            let part = |s: [L::V; 4], t: [L::V; 4]| {
                let first = l.mul(s[0], t[0]);
                let second = l.mul_add(s[1], t[1], first);
                l.neg_mul_add(s[3], t[3], l.mul_add(s[2], t[2], second))
            };
            block[3] = l.store(part([w, x, y, z], [bx, bw, bz, by]));
            block[4] = l.store(part([w, y, z, x], [by, bw, bx, bz]));
            block[5] = l.store(part([w, z, x, y], [bz, bw, by, bx]));
            let vector = l.mul_add(z, bz, l.mul_add(y, by, l.mul(x, bx)));
            block[6] = l.store(l.neg_mul_add(l.splat(1.0), vector, l.mul(w, bw)));
        }
    }
}

const _: () = assert!(LANES == 4);
