//! Large trees of rods: chain, polymer-like, bushy; and the links that their benchmarks load.

use forks_mechanism::{
    LinkId, Mechanism,
    lie::{SplitMix64, glam::DVec3},
};

use crate::{
    Parametric,
    sketch::{Sketch, slender_rod},
};

/// Length of a rod, m.
const LENGTH: f64 = 0.2;
/// Moment of inertia of a rod about its own axis, kg·m² (a rod of 14 mm radius).
const AXIAL: f64 = 1e-4;

/// A tree of rods of 1 kg and 0.2 m under construction: each hangs by one springless hinge about a
/// random axis from the far end of another, turned away from it by a random angle below 90°.
pub(super) struct Rods {
    sketch: Sketch,
    random: SplitMix64,
    /// Direction and far end of every link, the ground's first.
    ends: Vec<(DVec3, DVec3)>,
}

impl Rods {
    pub(super) fn new(name: String, seed: u64) -> Self {
        Self {
            sketch: Sketch::new(name),
            random: SplitMix64::new(seed),
            ends: vec![(DVec3::X, DVec3::ZERO)],
        }
    }

    pub(super) fn add(&mut self, parent: LinkId) -> LinkId {
        let (before, at) = self.ends[parent.index()];
        let direction = self.random.direction();
        let direction = if direction.dot(before) < 0.0 { -direction } else { direction };
        let axis = self.random.direction();
        let k = self.ends.len() - 1;
        let rod = direction * LENGTH;
        let link = self.sketch.link(format!("link{k}"), at, slender_rod(1.0, rod, AXIAL));
        self.sketch.hinge(format!("joint{k}"), [parent, link], at, axis, None);
        self.ends.push((direction, at + rod));
        link
    }

    /// A chain of further rods; gives the last.
    pub(super) fn add_chain(&mut self, parent: LinkId, links: usize) -> LinkId {
        (0..links).fold(parent, |at, _| self.add(at))
    }

    pub(super) fn finish(self, effector: LinkId) -> Parametric {
        Parametric { mechanism: self.sketch.build(), effectors: vec![effector] }
    }
}

/// A chain of `n` rods `link0`…: 1 kg, 0.2 m, one springless hinge each about a seeded random axis,
/// in a seeded random pose. Effector: the last rod.
pub fn chain(n: usize, seed: u64) -> Parametric {
    let n = n.max(1);
    let mut rods = Rods::new(format!("chain-{n}"), seed);
    let last = rods.add_chain(LinkId::WORLD, n);
    rods.finish(last)
}

/// A polymer of `n` rods as in [`chain`]: a backbone of n/3 rods (rounded up), each with a side
/// chain of two rods at its far end (the last side chains are shorter where n is no multiple of 3).
/// Effector: the last backbone rod.
pub fn polymer(n: usize, seed: u64) -> Parametric {
    let n = n.max(1);
    let mut rods = Rods::new(format!("polymer-{n}"), seed);
    let mut backbone = LinkId::WORLD;
    let mut left = n;
    while left > 0 {
        backbone = rods.add(backbone);
        let side = (left - 1).min(2);
        rods.add_chain(backbone, side);
        left -= 1 + side;
    }
    rods.finish(backbone)
}

/// A bushy tree of `n` rods as in [`chain`]: every rod hangs from a rod drawn uniformly among those
/// that have fewer than four joints. Effector: the last rod.
pub fn bushy(n: usize, seed: u64) -> Parametric {
    let n = n.max(1);
    let mut rods = Rods::new(format!("bushy-{n}"), seed);
    let mut last = rods.add(LinkId::WORLD);
    // Rods that have room, with the number of joints they have.
    let mut open = vec![(last, 1)];
    for _ in 1..n {
        let i = rods.random.below(open.len());
        last = rods.add(open[i].0);
        open[i].1 += 1;
        if open[i].1 == 4 {
            open.swap_remove(i);
        }
        open.push((last, 1));
    }
    rods.finish(last)
}

/// `count` links with neighbouring numbers from the middle on (fewer if there are not so many).
pub fn neighbouring_links(m: &Mechanism, count: usize) -> Vec<LinkId> {
    let n = m.links().len() - 1;
    (n / 2..n).take(count).map(|i| LinkId::new(i + 1)).collect()
}

/// `count` different links at seeded random places, ascending (all if there are not so many).
pub fn scattered_links(m: &Mechanism, count: usize, seed: u64) -> Vec<LinkId> {
    let mut all: Vec<LinkId> = m.moving_links().map(|(id, _)| id).collect();
    let mut random = SplitMix64::new(seed);
    let count = count.min(all.len());
    // The first steps of a Fisher–Yates shuffle.
    for i in 0..count {
        let j = i + random.below(all.len() - i);
        all.swap(i, j);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}
