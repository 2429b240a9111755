//! The rivals of `reduced/…` in this repository: the full mechanism under the same force.

use forks_dynamics::{
    integrate::{Simulation, SimulationOptions, SimulationState, SimulationStatus},
    passive::{PassiveWorkspace, passive_forces},
    tree::{AbaWorkspace, LinkLoads, Tree, aba},
};
use forks_mechanism::{
    Mechanism,
    lie::{Pose, Wrench, glam::DVec3},
};
use forks_models::Parametric;

use super::{
    forward::Setup,
    measure::{Timing, time},
};

/// Force on the first effector at its frame's origin, world components, N.
pub(super) const FORCE: DVec3 = DVec3::new(100.0, 0.0, 0.0);
/// Steps before anything is timed.
pub(super) const STEPS_BEFORE: usize = 100;

/// A time, and how far the first effector went in [`STEPS_BEFORE`] steps.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) timing: Timing,
    pub(super) displacement: Option<DVec3>,
    pub(super) settings: String,
}

/// A mechanism under a force on its first effector.
pub(super) struct Pushed<'a> {
    pub(super) p: &'a Parametric,
    /// World components, N.
    pub(super) force: DVec3,
    /// Seconds that a run lasts at least.
    pub(super) batch: f64,
}

impl<'a> Pushed<'a> {
    pub(super) fn mechanism(&self) -> &'a Mechanism {
        &self.p.mechanism
    }

    /// The full solver's implicit step with the poses of all links.
    pub(super) fn implicit(&self, dt: f64) -> Result<Measured, String> {
        let mut run = FullRun::new(self, dt);
        let start = run.position();
        run.warm_up()?;
        let displacement = Some(run.position() - start);
        let timing = time(self.batch, || run.step());
        run.checked_step()?;
        let settings = "linearly implicit Euler of the full mechanism, poses of all links".into();
        Ok(Measured { timing, displacement, settings })
    }

    /// Springs, dampers and the articulated-body algorithm, no step; of a mechanism with loops its
    /// spanning tree.
    pub(super) fn aba(&self, dt: f64) -> Result<Measured, String> {
        let m = self.mechanism();
        let [first, second] = self.states(dt)?;
        let tree = Tree::new(m);
        let (mut ws, mut passive) = (AbaWorkspace::new(&tree), PassiveWorkspace::new(m));
        let all = |s: &SimulationState| (all_positions(m, s), all_velocities(m, s));
        let states = [all(&first), all(&second)];
        let mut force = vec![0.0; m.velocity_count()];
        let (positions, velocities) = (m.tree_position_count(), m.tree_velocity_count());
        let mut acceleration = vec![0.0; velocities];
        let mut turn = 0;
        let timing = time(self.batch, || {
            turn ^= 1;
            let (q, v) = &states[turn];
            passive_forces(m, &mut passive, q, v, &mut force);
            let (q, v, tau) = (&q[..positions], &v[..velocities], &force[..velocities]);
            aba(&tree, &mut ws, q, v, tau, &LinkLoads::NONE, &mut acceleration)
        });
        if acceleration.iter().any(|a| !a.is_finite()) {
            return Err("accelerations are not finite".into());
        }
        let loops = m.forest().closures().len();
        let tree = if loops > 0 { ", loops left open" } else { "" };
        let settings = format!("springs, dampers and ABA, states of two steps in turn{tree}");
        Ok(Measured { timing, displacement: None, settings })
    }

    /// The tree in the states after [`STEPS_BEFORE`] and one more step, with the springs' and
    /// dampers' torques.
    pub(super) fn setup(&self, dt: f64) -> Result<Setup<'a>, String> {
        let m = self.mechanism();
        let [first, second] = self.states(dt)?;
        let mut tau = vec![0.0; m.velocity_count()];
        let (q, v) = (all_positions(m, &second), all_velocities(m, &second));
        passive_forces(m, &mut PassiveWorkspace::new(m), &q, &v, &mut tau);
        tau.truncate(m.tree_velocity_count());
        Ok(Setup::at(m, [first.q, second.q], second.v, tau))
    }

    fn states(&self, dt: f64) -> Result<[SimulationState; 2], String> {
        let mut run = FullRun::new(self, dt);
        run.warm_up()?;
        let first = run.simulation.state().clone();
        run.checked_step()?;
        Ok([first, run.simulation.state().clone()])
    }
}

/// Positions of the tree's joints and, fitted, of those that close loops.
fn all_positions(m: &Mechanism, s: &SimulationState) -> Vec<f64> {
    let mut q = m.start_positions();
    q[..s.q.len()].copy_from_slice(&s.q);
    m.fit_closures(&mut q);
    q
}

/// Velocities of the tree's joints; those that close loops have no dampers here and stay 0.
fn all_velocities(m: &Mechanism, s: &SimulationState) -> Vec<f64> {
    let mut v = vec![0.0; m.velocity_count()];
    v[..s.v.len()].copy_from_slice(&s.v);
    v
}

/// A full simulation under the force, which keeps its direction.
struct FullRun<'m> {
    simulation: Simulation<'m>,
    dt: f64,
    /// Index of the link that is pushed.
    link: usize,
    poses: Vec<Pose>,
}

impl<'m> FullRun<'m> {
    fn new(pushed: &Pushed<'m>, dt: f64) -> Self {
        let m = pushed.mechanism();
        let mut q = m.start_positions();
        q.truncate(m.tree_position_count());
        let still = vec![0.0; m.tree_velocity_count()];
        let mut simulation = Simulation::new(m, &q, &still, SimulationOptions::default());
        let link = pushed.p.effectors[0];
        simulation.set_dead_wrenches(&[(link, Wrench::new(pushed.force, DVec3::ZERO))]);
        Self { dt, link: link.index(), poses: simulation.link_poses(), simulation }
    }

    fn position(&self) -> DVec3 {
        self.poses[self.link].translation
    }

    fn step(&mut self) -> SimulationStatus {
        let status = self.simulation.step(self.dt);
        self.simulation.write_link_poses(&mut self.poses);
        status
    }

    fn checked_step(&mut self) -> Result<(), String> {
        match self.step() {
            SimulationStatus::Completed if self.poses.iter().all(Pose::is_finite) => Ok(()),
            status => Err(format!("a step ended with {}", status.name())),
        }
    }

    fn warm_up(&mut self) -> Result<(), String> {
        (0..STEPS_BEFORE).try_for_each(|_| self.checked_step())
    }
}
