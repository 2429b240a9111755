//! Full equilibria under loads on the effectors: what blends are measured against.

use forks_dynamics::{
    AppliedWrench, Loads, WrenchFrame,
    statics::{Equilibrium, EquilibriumOptions, EquilibriumStatus, continue_equilibrium},
};
use forks_mechanism::lie::{Pose, Wrench, glam::DVec3};
use forks_reduce::{Problem, relative_displacement};

/// Forces on effectors, fixed in the world, N.
pub type Forces = Vec<(usize, DVec3)>;

/// A load with the full equilibrium under it.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Forces on the effectors.
    pub forces: Forces,
    /// The equilibrium.
    pub equilibrium: Equilibrium,
    /// Largest relative displacement of an effector.
    pub displacement: f64,
}

/// Solves full equilibria of one problem.
#[derive(Debug)]
pub(crate) struct Solver<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) gravity: bool,
    pub(crate) options: &'a EquilibriumOptions,
    /// Poses of the effectors without loads.
    pub(crate) rest: Vec<Pose>,
    pub(crate) radius: f64,
}

impl Solver<'_> {
    pub(crate) fn loads(&self, forces: &[(usize, DVec3)]) -> Loads {
        loads_of(self.problem, self.gravity, forces)
    }

    /// The equilibrium reached from the start pose.
    pub(crate) fn solve(&self, forces: Forces) -> Truth {
        let equilibrium = self.problem.equilibrium(&self.loads(&forces), self.options);
        Truth { displacement: self.displacement(&equilibrium), forces, equilibrium }
    }

    /// The equilibrium next to another one.
    pub(crate) fn next_to(&self, from: &Equilibrium, forces: Forces) -> Truth {
        let m = self.problem.mechanism();
        let equilibrium = continue_equilibrium(m, from, &self.loads(&forces), self.options);
        Truth { displacement: self.displacement(&equilibrium), forces, equilibrium }
    }

    pub(crate) fn displacement(&self, e: &Equilibrium) -> f64 {
        let poses = effector_poses(self.problem, &e.world_from_link);
        let each = self.rest.iter().zip(&poses);
        each.map(|(a, b)| relative_displacement(a, b, self.radius)).fold(0.0, f64::max)
    }
}

/// Loads of forces on effectors.
pub(crate) fn loads_of(problem: &Problem, gravity: bool, forces: &[(usize, DVec3)]) -> Loads {
    let wrench = |&(e, force): &(usize, DVec3)| AppliedWrench {
        link: problem.effectors[e].link,
        link_from_point: problem.effectors[e].link_from_effector,
        wrench: Wrench::new(force, DVec3::ZERO),
        frame: WrenchFrame::World,
    };
    Loads { gravity, wrenches: forces.iter().map(wrench).collect() }
}

/// Poses of the effectors for poses of the links.
pub(crate) fn effector_poses(problem: &Problem, world_from_link: &[Pose]) -> Vec<Pose> {
    let pose = |e: &forks_reduce::Effector| world_from_link[e.link.index()] * e.link_from_effector;
    problem.effectors.iter().map(pose).collect()
}

/// True if a blend can learn from it: stable, and not on the far side of a jump.
pub(crate) fn is_stable(e: &Equilibrium) -> bool {
    e.status == EquilibriumStatus::Converged && e.relaxations == 0
}

/// Why a blend cannot.
pub(crate) fn why_not(e: &Equilibrium) -> &'static str {
    match e.status {
        EquilibriumStatus::Converged => "the mechanism jumps: the path ends at a limit load",
        status => status.name(),
    }
}
