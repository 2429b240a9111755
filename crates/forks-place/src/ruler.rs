//! Errors of any model of a problem at full equilibria: of effectors, and gaps at joints.

use forks_mechanism::{
    kinematics::{Connection, connections, constraint_error},
    lie::Pose,
};
use forks_reduce::Problem;
use forks_rom::EffectorLoad;

use crate::{
    measure::{SMALL_DISPLACEMENT, effector_loads},
    truth::{Truth, effector_poses},
};

/// Where a model shows effectors and links.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Poses of the effectors.
    pub effectors: Vec<Pose>,
    /// Poses of all links of the mechanism.
    pub links: Vec<Pose>,
}

/// Largest errors over loads; infinite where a model has no equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// |p − p_full| / max(|p_full − p_rest|, 0.1 r) of an effector.
    pub statics: f64,
    /// Gaps at joints and effectors over the mechanism's size r.
    pub constraint: f64,
}

/// Measures models of one problem at its loads, whatever they are made of; [`crate::Gauge`] does
/// more for blends.
#[derive(Debug)]
pub struct Ruler<'a> {
    problem: &'a Problem,
    connections: Vec<Connection>,
    rest: Vec<Pose>,
    radius: f64,
    truths: &'a [Truth],
}

impl<'a> Ruler<'a> {
    /// `rest`: poses of all links without loads; `radius`: the mechanism's size r, m.
    pub fn new(problem: &'a Problem, rest: &[Pose], radius: f64, truths: &'a [Truth]) -> Self {
        let connections = connections(problem.mechanism());
        Self { rest: effector_poses(problem, rest), problem, connections, radius, truths }
    }

    /// The gaps of the full equilibria themselves, over r.
    pub fn own(&self) -> f64 {
        let gap = |t: &Truth| self.gaps(&t.equilibrium.world_from_link);
        self.truths.iter().map(gap).fold(0.0, f64::max) / self.radius
    }

    fn gaps(&self, links: &[Pose]) -> f64 {
        constraint_error(self.problem.mechanism(), &self.connections, links).position_sum
    }

    /// The largest errors of what `shown` gives at each load.
    pub fn worst(&self, mut shown: impl FnMut(&[EffectorLoad]) -> Option<Shown>) -> Worst {
        let mut worst = Worst { statics: 0.0, constraint: 0.0 };
        for truth in self.truths {
            let Some(shown) = shown(&effector_loads(truth)) else {
                return Worst { statics: f64::INFINITY, constraint: f64::INFINITY };
            };
            let full = effector_poses(self.problem, &truth.equilibrium.world_from_link);
            for ((at, full), rest) in shown.effectors.iter().zip(&full).zip(&self.rest) {
                let moved = full.translation.distance(rest.translation);
                let moved = moved.max(SMALL_DISPLACEMENT * self.radius);
                let off = at.translation.distance(full.translation) / moved;
                worst.statics = worst.statics.max(off);
            }
            let of_links = effector_poses(self.problem, &shown.links);
            let apart = of_links.iter().zip(&shown.effectors);
            let apart: f64 = apart.map(|(a, b)| a.translation.distance(b.translation)).sum();
            let gap = (self.gaps(&shown.links) + apart) / self.radius;
            worst.constraint = worst.constraint.max(gap);
        }
        worst
    }
}
