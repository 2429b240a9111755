//! Random cables.

use forks_mechanism::{Cable, CableBranch, CableNode, LinkId, MechanismBuilder, lie::glam::DVec3};

use super::Draw;
use crate::rigid::Rigid;

impl Draw<'_> {
    /// Cables through points near the origins of links, one in three with a second branch.
    pub(super) fn add_cables(&mut self, b: &mut MechanismBuilder) {
        let l = self.options.length;
        for i in 0..self.options.cables {
            let second = self.rng.chance(0.33);
            let mut branches = vec![self.branch(1.0)];
            if second {
                let divisor = self.rng.range(1.0, 3.0);
                branches.push(self.branch(divisor));
            }
            let (low, high) = self.spread();
            let mut cable = Cable {
                name: format!("cable{i}"),
                branches,
                stiffness: self.rng.range(low, high) / (l * l),
                damping: if self.options.damping { 1e-3 * low / (l * l) } else { 0.0 },
                rest: [0.0; 2],
            };
            let poses: Vec<_> = self.poses.iter().map(Rigid::to_pose).collect();
            let off = l * self.options.preload * self.rng.symmetric();
            cable.rest = [cable.length(&poses) + off; 2];
            b.add_cable(cable);
        }
    }

    /// Two to four points of different links, neighbours apart.
    fn branch(&mut self, divisor: f64) -> CableBranch {
        let l = self.options.length;
        let count = 2 + self.rng.index(3);
        let mut nodes = Vec::with_capacity(count);
        let (mut last, mut at) = (usize::MAX, [f64::INFINITY; 3]);
        while nodes.len() < count {
            let link = self.rng.index(self.poses.len());
            let position = self.rng.vector().map(|x| 0.7 * l * x);
            let world = self.poses[link].point(&position);
            let apart = (0..3).map(|k| (world[k] - at[k]).powi(2)).sum::<f64>().sqrt();
            if link != last && apart > 0.4 * l {
                (last, at) = (link, world);
                nodes.push(CableNode::point(LinkId::new(link), DVec3::from_array(position)));
            }
        }
        CableBranch { divisor, nodes }
    }
}
