//! Wrenches that keep their direction in space while their links turn.

use forks_dynamics::{
    Loads,
    integrate::{Integrator, Simulation, SimulationOptions, SimulationStatus},
    mechanism::{
        LinkId, Mechanism,
        lie::{Wrench, glam::DVec3},
    },
    statics::{EquilibriumOptions, EquilibriumStatus, solve_equilibrium},
};
use forks_models::{HelixJoints, helix, irregular_ladder};

fn still(m: &Mechanism, integrator: Integrator) -> Simulation<'_> {
    let q = m.start_positions();
    let options = SimulationOptions { integrator, ..SimulationOptions::default() };
    let v = vec![0.0; m.tree_velocity_count()];
    Simulation::new(m, &q[..m.tree_position_count()], &v, options)
}

/// Distance of the last links' origins from where statics has them, after a minute of steps at
/// 1/60 s.
fn distance_from_equilibrium(m: &Mechanism, tip: LinkId, wrench: Wrench) -> f64 {
    let mut s = still(m, Integrator::Implicit);
    s.set_dead_wrenches(&[(tip, wrench)]);
    for _ in 0..3600 {
        assert_eq!(s.step(1.0 / 60.0), SimulationStatus::Completed);
    }
    let loads = Loads::gravity().with_world_wrench(tip, wrench);
    let options = EquilibriumOptions::default();
    let found = solve_equilibrium(m, &m.start_positions(), &loads, &options);
    assert_eq!(found.status, EquilibriumStatus::Converged);
    let (ours, theirs) = (s.link_poses()[tip.index()], m.link_poses(&found.q)[tip.index()]);
    let moved =
        theirs.translation.distance(m.link_poses(&m.start_positions())[tip.index()].translation);
    assert!(moved > 1e-3, "the wrench moves the tip by {moved} m");
    ours.translation.distance(theirs.translation)
}

#[test]
fn they_lead_to_their_static_equilibrium() {
    for torque in [DVec3::ZERO, DVec3::new(0.1, -0.2, 0.3)] {
        let p = helix(20, HelixJoints::Alternating);
        let wrench = Wrench::new(DVec3::new(5.0, 2.0, -3.0), torque);
        let away = distance_from_equilibrium(&p.mechanism, p.effectors[0], wrench);
        assert!(away < 1e-9, "torque {torque}: {away} m");
    }
    let p = irregular_ladder(6);
    let wrench = Wrench::new(DVec3::new(50.0, 0.0, -30.0), DVec3::ZERO);
    let away = distance_from_equilibrium(&p.mechanism, p.effectors[0], wrench);
    assert!(away < 1e-9, "ladder: {away} m");
}

/// The difference from wrenches that are turned back at every step's start falls with the step.
#[test]
fn turned_back_at_every_step_they_are_the_same_in_the_limit() {
    let p = helix(10, HelixJoints::Alternating);
    let (m, tip) = (&p.mechanism, p.effectors[0]);
    let wrench = Wrench::new(DVec3::new(20.0, 5.0, 0.0), DVec3::new(0.0, 0.5, 0.5));
    let gap = |integrator: Integrator, steps: usize| {
        let (mut s, mut turned) = (still(m, integrator), still(m, integrator));
        s.set_dead_wrenches(&[(tip, wrench)]);
        let (h, torques) = (0.05 / steps as f64, vec![0.0; m.tree_velocity_count()]);
        for _ in 0..steps {
            let back = turned.link_poses()[tip.index()].rotation.conjugate();
            let mut wrenches = vec![Wrench::ZERO; m.links().len()];
            wrenches[tip.index()] = Wrench::new(back * wrench.force, back * wrench.torque);
            turned.set_loads(&torques, &wrenches);
            assert_eq!(s.step(h), SimulationStatus::Completed);
            assert_eq!(turned.step(h), SimulationStatus::Completed);
        }
        let pairs = s.state().q.iter().zip(&turned.state().q);
        pairs.fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
    };
    for integrator in [Integrator::Implicit, Integrator::RungeKutta4] {
        let (coarse, fine) = (gap(integrator, 100), gap(integrator, 200));
        let order = (coarse / fine).log2();
        assert!(coarse > 1e-9 && order > 0.8, "{integrator:?}: {coarse:e}, {fine:e}");
    }
}
