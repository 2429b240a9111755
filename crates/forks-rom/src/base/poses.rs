//! World poses of the links: the base's pose times the poses relative to it.

use forks_linalg::simd::{Arithmetic, Kernel, LANES, Lanes, Wide};

use forks_lie::{Pose, glam::DMat3};

use super::{model::FloatingModel, state::FloatingState};
use crate::{
    PoseBuffer,
    kernel::{Isa, POSE},
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
            carry(isa, &world_from_rest, chunk);
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

/// A pose times poses of links, in their place.
pub fn carry(isa: Isa, world_from_rest: &Pose, blocks: &mut [Lanes]) {
    isa.run(Carry { world_from_rest, blocks });
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
            let [px, py, pz, bx, by, bz, bw]: [Wide<L>; POSE] =
                core::array::from_fn(|k| l.load(&block[k]));
            for i in 0..3 {
                let [a, b, c] = rows[i];
                let turned = c * pz + shift[i] + b * py + a * px;
                block[i] = turned.store();
            }
            // (w, xyz) (bw, bxyz)
            let part = |s: [Wide<L>; 4], t: [Wide<L>; 4]| {
                let first = (s[0] * t[0]).rounded();
                let second = s[1] * t[1] + first;
                s[2] * t[2] + second - s[3] * t[3]
            };
            block[3] = part([w, x, y, z], [bx, bw, bz, by]).store();
            block[4] = part([w, y, z, x], [by, bw, bx, bz]).store();
            block[5] = part([w, z, x, y], [bz, bw, by, bx]).store();
            let vector = x * bx + y * by + z * bz;
            block[6] = (w * bw - 1.0 * vector).store();
        }
    }
}

const _: () = assert!(LANES == 4);
