//! Poses of all links of many instances.

use forks_linalg::simd::{LANES, Lanes};

use alloc::{vec, vec::Vec};

use forks_lie::Pose;

use super::{Batch, CHUNK};
use crate::{
    ReducedModel,
    kernel::{POSE, pose_of},
    parallel,
};

/// Link blocks that stay in the first-level cache while several instances use them.
const TILE: usize = 16;

/// Links (over all instances) from which several threads are used: an estimate from 6 ns a link.
const PARALLEL_LINKS: usize = 4096;

/// World poses of the links of every instance of a batch: room that is filled again at every step.
#[derive(Clone, Debug)]
pub struct BatchPoses {
    groups: Vec<Group>,
    instances: usize,
    links: Vec<usize>,
}

/// Poses of four instances (fewer in the last group).
#[derive(Clone, Debug)]
struct Group {
    instances: usize,
    /// Instance after instance, blocks of four links within.
    blocks: Vec<Lanes>,
    /// Scratch: the instances' reduced coordinates one after the other.
    eta: Vec<f64>,
}

impl BatchPoses {
    /// Room for all links of all instances but the ground and massless frames inside joints.
    pub fn new(model: &ReducedModel, instances: usize) -> Self {
        let group = |first: usize| {
            let count = (instances - first).min(LANES);
            Group {
                instances: count,
                blocks: vec![Lanes::default(); count * model.blocks().blocks() * POSE],
                eta: vec![0.0; count * model.dof()],
            }
        };
        Self {
            groups: (0..instances).step_by(LANES).map(group).collect(),
            instances,
            links: model.shown_links().collect(),
        }
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// Links of every instance, indices into [`ModelData::links`](crate::data::ModelData::links),
    /// ascending.
    pub fn links(&self) -> &[usize] {
        &self.links
    }

    /// World pose of the `i`-th link of [`BatchPoses::links`] in an instance.
    ///
    /// # Panics
    /// If there is no such instance or link.
    pub fn get(&self, instance: usize, i: usize) -> Pose {
        assert!(instance < self.instances, "instance {instance} of {}", self.instances);
        assert!(i < self.links.len(), "pose {i} of {}", self.links.len());
        let blocks = self.links.len().div_ceil(LANES);
        let first = (instance % LANES * blocks + i / LANES) * POSE;
        let block = &self.groups[instance / LANES].blocks[first..][..POSE];
        pose_of(core::array::from_fn(|k| block[k].0[i % LANES]))
    }

    /// Links of an instance with their world poses.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn iter(&self, instance: usize) -> impl ExactSizeIterator<Item = (usize, Pose)> + '_ {
        assert!(instance < self.instances, "instance {instance} of {}", self.instances);
        self.links.iter().enumerate().map(move |(i, &link)| (link, self.get(instance, i)))
    }
}

impl Batch {
    /// Poses of all links of all instances, every link on its own. Allocates nothing.
    ///
    /// With the feature `rayon`, on the threads of the current pool where there are enough links to
    /// pay.
    ///
    /// # Panics
    /// If the room is for another number of instances or a model of another size.
    pub fn poses(&self, out: &mut BatchPoses) {
        let model = self.stepper.model();
        let size = model.blocks().blocks() * POSE;
        assert_eq!(out.instances, self.instances, "instances of the poses");
        let fits = |g: &Group| {
            g.blocks.len() == g.instances * size && g.eta.len() == g.instances * model.dof()
        };
        assert!(out.groups.iter().all(fits), "size of the poses");
        let pays = self.instances > 1 && self.instances * out.links.len() >= PARALLEL_LINKS;
        parallel::for_each(&mut out.groups, pays, |g, group| self.group_poses(g * LANES, group));
    }

    /// Poses of the instances from `first` on, tile by tile of links.
    fn group_poses(&self, first: usize, out: &mut Group) {
        let model = self.stepper.model();
        let (n, size) = (model.dof(), model.blocks().blocks() * POSE);
        let chunk = &self.chunks[first / CHUNK];
        let instances = out.instances;
        for i in 0..instances {
            let eta = &mut out.eta[i * n..][..n];
            eta.iter_mut().zip(self.coordinates(first + i)).for_each(|(a, b)| *a = b);
        }
        for tile in (0..size).step_by(TILE * POSE) {
            let end = size.min(tile + TILE * POSE);
            for i in 0..instances {
                let targets: &[f64] = match chunk.driven[first % CHUNK + i] {
                    true => self.servo_targets(first + i),
                    false => &[],
                };
                let eta = &out.eta[i * n..][..n];
                let out = &mut out.blocks[i * size..][tile..end];
                model.blocks().displace(model.isa(), tile / POSE, eta, targets, out);
            }
        }
    }
}
