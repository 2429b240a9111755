//! Rope ladders: two hanging chains tied by rungs, one loop per rung.

use forks_mechanism::{
    JointKind, LinkId,
    lie::{SpatialInertia, glam::DVec3},
};

use crate::{
    Parametric,
    sketch::{Compliance, Sketch, slender_rod},
};

const SPRING: Compliance = Compliance::new(1000.0, 0.1);
const MASS: f64 = 0.1;
/// Moment of inertia of a bar about its own axis, kg·m².
const AXIAL: f64 = 1e-4;

/// Where a chain hangs, and how long its links are.
struct Side {
    top: DVec3,
    length: f64,
}

impl Side {
    /// The joint above link `k`, which is the lower end of link `k − 1`.
    fn joint(&self, k: usize) -> DVec3 {
        self.top - DVec3::Z * (self.length * k as f64)
    }
}

/// A ladder with the given number of rungs: links `left0`…, `right0`…, `rung0`….
///
/// Two chains of links of 0.3 m hang down from (0, 0, 0) and (0.4, 0, 0), hinges about y with K =
/// 1000 N·m/rad, D = 0.1 N·m·s/rad, 0.1 kg each. At the lower end of each left link a rung of 0.4 m
/// along x sits on a sprung hinge about y; a springless spherical joint ties its far end to the
/// lower end of the right link of the same level. Link frames are at the upper (left) ends.
/// Effector: the last rung.
pub fn ladder(rungs: usize) -> Parametric {
    let left = Side { top: DVec3::ZERO, length: 0.3 };
    let right = Side { top: DVec3::new(0.4, 0.0, 0.0), length: 0.3 };
    build("ladder", rungs, &left, &right)
}

/// The ladder of about `links` links in all, three per rung: `ladder_of_links(48)` has 16 rungs.
pub fn ladder_of_links(links: usize) -> Parametric {
    ladder(links / 3)
}

/// A ladder without parallel sides: as [`ladder`], with the right chain from (0.5, 0, 0.05) and
/// right links of 0.27 m; each rung spans the two lower ends.
pub fn irregular_ladder(rungs: usize) -> Parametric {
    let left = Side { top: DVec3::ZERO, length: 0.3 };
    let right = Side { top: DVec3::new(0.5, 0.0, 0.05), length: 0.27 };
    build("irregular-ladder", rungs, &left, &right)
}

/// The irregular ladder of about `links` links in all, three per rung.
pub fn irregular_ladder_of_links(links: usize) -> Parametric {
    irregular_ladder(links / 3)
}

fn bar(axis: DVec3) -> SpatialInertia {
    slender_rod(MASS, axis, AXIAL)
}

fn build(name: &str, rungs: usize, left: &Side, right: &Side) -> Parametric {
    let rungs = rungs.max(1);
    let mut s = Sketch::new(format!("{name}-{}", 3 * rungs));
    let mut above = [LinkId::WORLD; 2];
    let mut last = LinkId::WORLD;
    for k in 0..rungs {
        for (i, side, label) in [(0, left, "left"), (1, right, "right")] {
            let at = side.joint(k);
            let link = s.link(format!("{label}{k}"), at, bar(DVec3::Z * -side.length));
            s.hinge(format!("{label}{k}"), [above[i], link], at, DVec3::Y, Some(SPRING));
            above[i] = link;
        }
        let (from, to) = (left.joint(k + 1), right.joint(k + 1));
        last = s.link(format!("rung{k}"), from, bar(to - from));
        s.hinge(format!("rung{k}"), [above[0], last], from, DVec3::Y, Some(SPRING));
        s.joint(format!("ball{k}"), JointKind::Spherical, [last, above[1]], to, None);
    }
    Parametric { mechanism: s.build(), effectors: vec![last] }
}
