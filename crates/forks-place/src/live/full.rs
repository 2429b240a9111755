//! From a blend to the full solver and back with continuous effectors.
//!
//! What a blend does not know, the motion inside the mechanism, begins as the blend assumes it: the
//! full equilibrium with the effectors where they are, and the velocities of the static shapes, θ̇
//! = Z η̇.

use forks_blend::{BlendedModel, BlendedState};
use forks_mechanism::{
    Mechanism,
    kinematics::link_twists,
    lie::{Pose, Twist},
};
use forks_reduce::{Problem, relative_displacement};

use super::{LiveOptions, held_at};
use crate::{error::BlendError, truth::effector_poses};

/// A state of the full mechanism, as [`forks_dynamics::integrate::Simulation::new`] takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct FullState {
    /// Positions of the tree's joints.
    pub q: Vec<f64>,
    /// Their velocities.
    pub v: Vec<f64>,
    /// Largest relative displacement between the effectors of the two states.
    pub distance: f64,
    /// Largest difference of the effectors' body twists, lengths over r, 1/s.
    pub velocity_distance: f64,
}

/// The state of the full mechanism with the effectors of a blend's state.
///
/// # Errors
/// No equilibrium there, servo targets that are not 0, a blend of another problem.
pub fn hand_over(
    problem: &Problem,
    model: &BlendedModel,
    state: &BlendedState,
    options: &LiveOptions,
) -> Result<FullState, BlendError> {
    let servos = &model.data().samples[0].model.data().servos;
    if let Some((servo, &value)) = servos.iter().zip(state.servo_targets()).find(|s| *s.1 != 0.0) {
        return Err(BlendError::Driven { servo: servo.clone(), value });
    }
    let all = 0..model.effector_count();
    let poses: Vec<Pose> =
        all.clone().map(|e| model.effector_pose(e, state.coordinates())).collect();
    let twists: Vec<Twist> = all.map(|e| model.effector_velocity(e, state)).collect();
    let (equilibrium, sample) = held_at(problem, model, &poses, options, &|| Ok(()))?;
    let m = problem.mechanism();
    let d = &sample.data;
    // η̇ = BᵀS² φ: at the sample body twists are rates of exponential coordinates.
    let per_area = 1.0 / (d.radius * d.radius);
    let scaled: Vec<f64> =
        twists.iter().flat_map(|t| Twist::new(t.linear * per_area, t.angular).to_array()).collect();
    let rate = d.basis.transpose_mul_vec(&scaled);
    let mut v = vec![0.0; m.velocity_count()];
    for (edge, joint) in m.forest().edges().iter().zip(&d.joints) {
        v[m.velocity_range(edge.joint)].copy_from_slice(&joint.map.mul_vec(&rate));
    }
    v.truncate(m.tree_velocity_count());
    let q = equilibrium.q[..m.tree_position_count()].to_vec();
    let (at, moving) = effectors_of(problem, &q, &v);
    let radius = model.data().radius;
    let pairs = poses.iter().zip(&at);
    let distance = pairs.map(|(a, b)| relative_displacement(a, b, radius)).fold(0.0, f64::max);
    let pairs = twists.iter().zip(&moving);
    let off = pairs.map(|(a, b)| (*a - *b).scale_linear(1.0 / radius).norm());
    Ok(FullState { distance, velocity_distance: off.fold(0.0, f64::max), q, v })
}

/// The state of a blend with the effectors of a full one, and what the blend's chart does not span
/// of it (lengths over r).
///
/// # Errors
/// Numbers that are not finite, a blend of another problem.
///
/// # Panics
/// If there are not as many numbers as the mechanism's tree has coordinates.
pub fn take_back(
    problem: &Problem,
    model: &BlendedModel,
    q: &[f64],
    v: &[f64],
) -> Result<(BlendedState, f64), BlendError> {
    let (poses, twists) = effectors_of(problem, q, v);
    let (x, rate, lost) = model.coordinates_of(&poses, &twists)?;
    let mut state = BlendedState::new(model, &x)?;
    state.set(&x, &rate)?;
    Ok((state, lost))
}

/// Poses and body twists of the effectors for coordinates of the tree.
fn effectors_of(problem: &Problem, q: &[f64], v: &[f64]) -> (Vec<Pose>, Vec<Twist>) {
    let m: &Mechanism = problem.mechanism();
    assert_eq!(q.len(), m.tree_position_count(), "number of tree positions");
    assert_eq!(v.len(), m.tree_velocity_count(), "number of tree velocities");
    let mut all_q = m.start_positions();
    all_q[..q.len()].copy_from_slice(q);
    let mut all_v = vec![0.0; m.velocity_count()];
    all_v[..v.len()].copy_from_slice(v);
    let poses = effector_poses(problem, &m.link_poses(&all_q));
    let twists = link_twists(m, &all_q, &all_v);
    let of = |e: &forks_reduce::Effector| {
        e.link_from_effector.inverse().adjoint().apply(twists[e.link.index()])
    };
    (poses, problem.effectors.iter().map(of).collect())
}
