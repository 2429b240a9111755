//! Positions of a skin's vertices: room that is filled again at every step.

use forks_rom::{
    LinkSelection, PoseBuffer, ReducedModel, State,
    internal::{POSE, pose_entries},
    lie::{Pose, glam::DVec3},
    linalg::simd::{LANES, Lanes},
};

use crate::{
    kernel::PLACE,
    skin::{Following, Skin},
};

/// World positions of the vertices of a skin.
#[derive(Clone, Debug)]
pub struct SkinBuffer {
    places: Vec<Lanes>,
    count: usize,
    /// Of skins in links: poses of the links of every block, those of each link, where among them
    /// every vertex's link is.
    poses: Vec<[Lanes; POSE]>,
    links: Option<(LinkSelection, PoseBuffer)>,
    slots: Vec<usize>,
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
            poses: vec![],
            links: None,
            slots: vec![],
        };
        if let Following::Link(parents) = skin.following() {
            let mut all = parents.clone();
            all.sort_unstable();
            all.dedup();
            let place = |l: &usize| all.partition_point(|x| x < l);
            out.slots = parents.iter().map(place).collect();
            out.poses = vec![[Lanes::default(); POSE]; blocks];
            // Padding lanes hold a pose too.
            out.poses.iter_mut().for_each(|p| p[POSE - 1] = Lanes([1.0; LANES]));
            let selection = LinkSelection::new(model, &all).expect("links of the skin's model");
            let room = PoseBuffer::of_selection(&selection);
            out.links = Some((selection, room));
        }
        out
    }

    fn set_pose(&mut self, vertex: usize, pose: &Pose) {
        for (entry, x) in self.poses[vertex / LANES].iter_mut().zip(pose_entries(pose)) {
            entry.0[vertex % LANES] = x;
        }
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
            for v in 0..out.count {
                out.set_pose(v, &links.get(out.slots[v]));
            }
            out.links = Some((selection, links));
            self.blocks.in_links(model.isa(), &out.poses, eta, drive, &mut out.places);
        } else {
            self.blocks.by_twist(model.isa(), eta, drive, &mut out.places);
        }
    }
}
