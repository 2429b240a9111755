//! Positions of a skin's vertices: room that is filled again at every step.

use forks_rom::{
    LinkSelection, PoseBuffer, ReducedModel, State,
    lie::{Pose, glam::DVec3},
    linalg::simd::{LANES, Lanes},
};

use crate::{
    kernel::{PLACE, PoseRow, pose_row},
    skin::{Following, Skin},
};

/// World positions of the vertices of a skin.
#[derive(Clone, Debug)]
pub struct SkinBuffer {
    places: Vec<Lanes>,
    count: usize,
    /// Of skins in links: their poses, and where among them each block has its four.
    links: Option<(LinkSelection, PoseBuffer)>,
    poses: Vec<PoseRow>,
    slots: Vec<[u32; LANES]>,
}

impl SkinBuffer {
    /// Room for a skin of a model.
    ///
    /// # Panics
    /// If the skin is in links that the model does not have.
    pub fn new(skin: &Skin, model: &ReducedModel) -> Self {
        let blocks = skin.blocks.blocks();
        let mut out = Self {
            places: vec![Lanes::default(); PLACE * blocks],
            count: skin.len(),
            links: None,
            poses: vec![],
            slots: vec![],
        };
        if let Following::Link(parents) = skin.following() {
            let mut all = parents.clone();
            all.sort_unstable();
            all.dedup();
            // Padding lanes have a link too.
            out.slots = vec![[0; LANES]; blocks];
            for (v, l) in parents.iter().enumerate() {
                out.slots[v / LANES][v % LANES] = all.partition_point(|x| x < l) as u32;
            }
            out.poses = all.iter().map(|_| pose_row(&Pose::IDENTITY)).collect();
            let selection = LinkSelection::new(model, &all).expect("links of the skin's model");
            let room = PoseBuffer::of_selection(&selection);
            out.links = Some((selection, room));
        }
        out
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True without vertices.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Position of a vertex, m.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn get(&self, vertex: usize) -> DVec3 {
        assert!(vertex < self.count, "vertex {vertex} of {}", self.count);
        let block = &self.places[vertex / LANES * PLACE..][..PLACE];
        DVec3::from_array(std::array::from_fn(|k| block[k].0[vertex % LANES]))
    }

    /// Positions of all vertices, m.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        (0..self.count).map(|v| self.get(v))
    }
}

impl Skin {
    /// Positions of all vertices in a state; allocates nothing.
    ///
    /// # Panics
    /// If model, state or buffer are of other sizes than the skin's.
    pub fn place(&self, model: &ReducedModel, state: &State, out: &mut SkinBuffer) {
        let (eta, drive) = (state.coordinates(), state.servo_targets());
        assert_eq!(out.count, self.len(), "vertices of the buffer");
        assert_eq!(eta.len() + drive.len(), self.blocks.columns, "columns of the skin");
        if let Some((selection, mut links)) = out.links.take() {
            model.poses_of(&selection, state, &mut links);
            for (slot, row) in out.poses.iter_mut().enumerate() {
                *row = pose_row(&links.get(slot));
            }
            out.links = Some((selection, links));
            let poses = (&*out.poses, &*out.slots);
            self.blocks.in_links(model.isa(), poses, eta, drive, &mut out.places);
        } else {
            self.blocks.by_twist(model.isa(), eta, drive, &mut out.places);
        }
    }
}
