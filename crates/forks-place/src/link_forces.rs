//! The links' weights on a manifold: their energy is known where the links are, so that the
//! sample's polynomial need not follow it.

use std::sync::Arc;

use forks_blend::{
    BlendData, BlendedModel, ChartSample, Kinematics, LinkForce, SampleData, Weights,
};
use forks_mechanism::{lie::glam::DVec3, linalg::Matrix};
use forks_reduce::Problem;
use forks_rom::{ReducedModel, ServoTerms, data::ModelData};

use crate::{jets::Jets, ports::of_first_effectors};

/// Joints that a unit of a servo's target moves by less, at a fixed place, are not moved by it.
const UNMOVED: f64 = 1e-9;

/// Weights of all links; none where servos move joints at a fixed place: what they add to the
/// energy has the work of the weights already.
pub(crate) fn weights(problem: &Problem, d: &ModelData) -> Vec<LinkForce> {
    if d.joints.iter().any(|j| j.servo_map.max_abs() > UNMOVED) {
        return vec![];
    }
    let m = problem.mechanism();
    let weight = |(link, l): (usize, &forks_mechanism::Link)| {
        let force = m.gravity() * (l.inertia.mass * (1.0 - l.gravity_compensation));
        (force != DVec3::ZERO).then_some(LinkForce { link, force, point: l.inertia.center_of_mass })
    };
    m.links().iter().enumerate().skip(1).filter_map(weight).collect()
}

/// Takes from a sample's second and third orders those of forces on links; `steps` are the
/// displacements of its differences. `None` where numbers are not finite.
pub(crate) fn leave_out(
    forces: &[LinkForce],
    c: &mut ChartSample,
    d: &ModelData,
    steps: &[f64],
) -> Option<()> {
    let (n, servos) = (steps.len(), d.servos.len());
    let mut d = d.clone();
    of_first_effectors(&mut d, c.twists.rows() / 6);
    let chart = ChartSample {
        stiffness: Matrix::zeros(n, n),
        cubic: vec![0.0; c.cubic.len()],
        ..c.clone()
    };
    let alone = BlendedModel::new(BlendData {
        reference: d.effectors.iter().map(|e| e.rest).collect(),
        basis: d.basis.clone(),
        radius: d.radius,
        range: d.range,
        weights: Weights::Shepard { exponent: 4 },
        samples: vec![SampleData {
            model: Arc::new(ReducedModel::held_by_loads(d.clone()).ok()?),
            potential: 0.0,
            servos: ServoTerms {
                force: vec![0.0; servos],
                stiffness: Matrix::zeros(servos, servos),
            },
            curvature: Matrix::zeros(0, 0),
        }],
        chart: vec![chart],
        guard: None,
        kinematics: Kinematics::Joints,
        link_forces: forces.to_vec(),
    });
    let alone = alone.ok()?;
    let slope = |y: Vec<f64>| -> Option<Vec<f64>> {
        let x: Vec<f64> = c.place.iter().zip(&y).map(|(x, y)| x + y).collect();
        Some(alone.elastic_force(&x))
    };
    let jets = Jets::new(steps, slope(vec![0.0; n])?, slope)?;
    c.stiffness = c.stiffness.sub(&jets.second());
    c.cubic.iter_mut().zip(jets.third()).for_each(|(all, own)| *all -= own);
    (c.stiffness.is_finite() && c.cubic.iter().all(|x| x.is_finite())).then_some(())
}
