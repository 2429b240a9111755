//! Random states.

use forks_mechanism::Mechanism;

use crate::{Rng, System, linear::product};

/// A mechanism in motion under forces.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Positions of all joints, loop-closing joints last.
    pub q: Vec<f64>,
    /// Velocities of all joints, loop-closing joints last.
    pub v: Vec<f64>,
    /// Generalised forces on the tree's velocity coordinates.
    pub tau: Vec<f64>,
    /// External wrenches on the links, ground first, in the links' frames at their origins, force
    /// first; empty for none.
    pub wrenches: Vec<[f64; 6]>,
}

impl State {
    /// The start pose at rest without forces.
    pub fn rest(m: &Mechanism) -> Self {
        Self {
            q: m.start_positions(),
            v: vec![0.0; m.velocity_count()],
            tau: vec![0.0; m.tree_velocity_count()],
            wrenches: vec![],
        }
    }

    /// Positions of the tree joints.
    pub fn tree_q<'a>(&'a self, m: &Mechanism) -> &'a [f64] {
        &self.q[..m.tree_position_count()]
    }

    /// Velocities of the tree joints.
    pub fn tree_v<'a>(&'a self, m: &Mechanism) -> &'a [f64] {
        &self.v[..m.tree_velocity_count()]
    }
}

/// Sizes of random velocities and forces, per coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateOptions {
    /// rad/s; m/s over the mechanism's size.
    pub velocity: f64,
    /// N·m; N times the mechanism's size.
    pub torque: f64,
    /// N·m; N times the mechanism's size.
    pub wrench: f64,
}

impl Default for StateOptions {
    fn default() -> Self {
        Self { velocity: 2.0, torque: 1.0, wrench: 1.0 }
    }
}

/// A random state at the start pose. Velocities keep all loops closed and couplings satisfied: they
/// are random combinations of an orthonormal basis of the motions that do.
pub fn random_state(seed: u64, m: &Mechanism, o: &StateOptions) -> State {
    let mut rng = Rng::new(seed ^ 0x57a7_e003);
    let mut s = State::rest(m);
    let system = System::new(m, &s.q);
    let n = &system.scaled_nullspace;
    let free = crate::Matrix::from_fn(n.columns(), 1, |_, _| o.velocity * rng.symmetric());
    let v = product(&system.nullspace(), &free);
    s.v.iter_mut().enumerate().for_each(|(i, x)| *x = v[(i, 0)]);
    for (tau, scale) in s.tau.iter_mut().zip(&system.scale) {
        *tau = o.torque * rng.symmetric() / scale;
    }
    let r = system.size;
    s.wrenches = (0..m.links().len())
        .map(|l| {
            std::array::from_fn(|i| {
                let x = o.wrench * rng.symmetric() / if i < 3 { r } else { 1.0 };
                if l == 0 { 0.0 } else { x }
            })
        })
        .collect();
    s
}
