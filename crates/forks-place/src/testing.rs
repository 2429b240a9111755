//! What tests of several modules need: samples of small mechanisms under load, alone in a blend.

use std::sync::Arc;

use forks_blend::{BlendData, BlendedModel, SampleData, Weights};
use forks_dynamics::{Loads, WrenchFrame, statics::EquilibriumOptions};
use forks_mechanism::{
    lie::{Wrench, glam::DVec3},
    linalg::Matrix,
};
use forks_models::HelixJoints;
use forks_reduce::{Problem, ProblemOptions};
use forks_rom::ReducedModel;

use crate::sample::Sample;

/// A chain that moves in every way and a ladder that does not.
pub(crate) fn problems() -> [Problem; 2] {
    [forks_models::helix(6, HelixJoints::Hinge3), forks_models::ladder(6)].map(|p| {
        let tip = p.mechanism.link(p.effectors[0]).name.clone();
        Problem::new(&p.mechanism, &[&tip], &ProblemOptions::default()).unwrap()
    })
}

/// The bent sample under a force.
pub(crate) fn bent_sample(problem: &Problem) -> Sample {
    let e = &problem.effectors[0];
    let loads = Loads::none()
        .with(e.applied(Wrench::new(DVec3::new(30.0, 0.0, -8.0), DVec3::ZERO), WrenchFrame::World));
    let options = EquilibriumOptions::default();
    let at = problem.equilibrium(&loads, &options);
    assert!(at.status.is_equilibrium());
    Sample::bent(problem, &at, &loads, &options).unwrap()
}

/// A blend of one sample, with its own coordinates.
pub(crate) fn alone(s: &Sample) -> BlendedModel {
    let d = &s.data;
    BlendedModel::new(BlendData {
        reference: s.effector_poses(),
        basis: d.basis.clone(),
        radius: d.radius,
        range: d.range,
        weights: Weights::Shepard { exponent: 4 },
        chart: vec![],
        guard: None,
        kinematics: Default::default(),
        link_forces: vec![],
        samples: vec![SampleData {
            model: Arc::new(ReducedModel::held_by_loads(d.clone()).unwrap()),
            potential: s.potential,
            servos: s.servos.clone(),
            curvature: s.curvature.clone(),
        }],
    })
    .unwrap()
}

/// q(η).
pub(crate) fn quadratic(c: &Matrix, eta: &[f64]) -> Vec<f64> {
    let pairs = (0..eta.len()).flat_map(|i| (i..eta.len()).map(move |j| eta[i] * eta[j]));
    c.mul_vec(&pairs.collect::<Vec<_>>())
}
