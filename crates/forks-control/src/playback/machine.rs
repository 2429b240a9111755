//! A mechanism under forces on some coordinates, by either scheme.

use std::sync::Arc;

use forks_dynamics::mechanism::{
    Mechanism,
    lie::Pose,
    linalg::{Matrix, dot},
};

use super::scheme::Scheme;
use crate::plant::{Command, ImplicitPlant, Kinematics, Plant, PlantError, TreePlant};

/// A plant that takes forces.
#[derive(Clone, Debug)]
pub(super) enum Machine {
    Explicit(Box<TreePlant>),
    Implicit(Box<ImplicitPlant>),
}

impl Machine {
    pub(super) fn new(
        scheme: Scheme,
        m: Arc<Mechanism>,
        q: &[f64],
        v: &[f64],
        commanded: &[usize],
        h: f64,
    ) -> Result<Self, PlantError> {
        let q = &q[..m.tree_position_count().min(q.len())];
        Ok(match scheme {
            Scheme::Explicit => {
                let forces: Vec<Command> = commanded.iter().map(|c| Command::Force(*c)).collect();
                Self::Explicit(Box::new(TreePlant::new(m, q, v, &forces, h)?))
            }
            Scheme::Implicit => {
                Self::Implicit(Box::new(ImplicitPlant::new(m, q, v, commanded, h)?))
            }
        })
    }

    /// Positions, those of the tree first.
    pub(super) fn positions(&self) -> &[f64] {
        match self {
            Self::Explicit(p) => p.positions(),
            Self::Implicit(p) => p.stepper().positions(),
        }
    }

    /// Velocities of the tree.
    pub(super) fn velocities(&self) -> &[f64] {
        match self {
            Self::Explicit(p) => p.velocities(),
            Self::Implicit(p) => p.stepper().tree_velocities(),
        }
    }

    pub(super) fn link_poses(&self, m: &Mechanism) -> Vec<Pose> {
        match self {
            Self::Explicit(p) => m.link_poses(p.positions()),
            Self::Implicit(p) => p.stepper().link_poses().to_vec(),
        }
    }

    /// Rates of coordinates at the end of the step: without forces, and by them.
    pub(super) fn response(&mut self, of: &[usize]) -> Result<(Vec<f64>, Matrix), PlantError> {
        let (response, rows) = match self {
            Self::Explicit(p) => (p.response()?, rows(&**p, of)),
            Self::Implicit(p) => (p.response()?, rows(&**p, of)),
        };
        let free = rows.iter().map(|r| dot(r, &response.free)).collect();
        let over: Vec<Vec<f64>> = rows.iter().map(|r| response.gain.transpose_mul_vec(r)).collect();
        Ok((free, Matrix::from_fn(of.len(), response.gain.columns(), |i, j| over[i][j])))
    }

    pub(super) fn step(&mut self, forces: &[f64]) -> Result<(), PlantError> {
        match self {
            Self::Explicit(p) => p.step(forces),
            Self::Implicit(p) => p.step(forces),
        }
    }
}

fn rows(p: &impl Kinematics, of: &[usize]) -> Vec<Vec<f64>> {
    let row = |c: &usize| {
        let mut row = vec![0.0; p.rates().len()];
        p.coordinate(*c, &mut row);
        row
    };
    of.iter().map(row).collect()
}
