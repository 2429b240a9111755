//! Assembly: moving all joints until the loops are closed and the couplings hold.

use super::{
    loops::{self, ClosureGap},
    scaling::ScaledJacobian,
};
use crate::{CouplingId, Mechanism};
use forks_linalg::{
    dense::{self, Svd},
    norm,
};

/// How an assembly is carried out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssemblySettings {
    /// Largest remaining residual: lengths over the mechanism's size, angles in rad. Default 1e-12;
    /// values below the rounding of the longest loop are raised to it.
    pub tolerance: f64,
    /// Most iterations; default 100. Ten are enough near a solution.
    pub max_iterations: usize,
    /// Largest motion of a coordinate per iteration: rad, or the mechanism's size for lengths.
    /// Default 0.5: rotations are linearised, larger steps lead to far-away solutions.
    pub max_step: f64,
    /// Singular values below this times the largest count as redundant equations; default 1e-8.
    pub rank_tolerance: f64,
}

impl Default for AssemblySettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            max_iterations: 100,
            max_step: 0.5,
            rank_tolerance: super::RANK_TOLERANCE,
        }
    }
}

/// How an assembly ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssemblyStatus {
    /// All residuals are within the tolerance.
    Assembled,
    /// No step makes the gaps smaller, or the iterations ran out: the closest positions found.
    Stalled,
    /// The given positions or the mechanism's numbers are not finite; the positions are unchanged.
    NotFinite,
}

/// What is left of a coupling's equation.
#[derive(Clone, Debug, PartialEq)]
pub struct CouplingGap {
    /// The coupling.
    pub coupling: CouplingId,
    /// Its name, `#index` where it has none.
    pub name: String,
    /// Σ pₖ(ℓₖ(q)), in the coupling's own unit.
    pub residual: f64,
}

/// Result of [`assemble`].
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// How it ended.
    pub status: AssemblyStatus,
    /// Positions of all joints.
    pub positions: Vec<f64>,
    /// Gauss–Newton steps taken.
    pub iterations: usize,
    /// Largest residual, lengths over the mechanism's size, angles in rad.
    pub residual: f64,
    /// Remaining gap of every loop-closing joint.
    pub closures: Vec<ClosureGap>,
    /// Remaining residual of every coupling.
    pub couplings: Vec<CouplingGap>,
}

/// Closes the loops from positions `q` of all joints by damped Gauss–Newton steps of smallest norm.
///
/// Every joint coordinate, those of loop-closing joints included, may move; motions are measured in
/// rad and in units of the mechanism's size. Redundant equations do no harm. Limits are not looked
/// at.
pub fn assemble(m: &Mechanism, q: &[f64], settings: &AssemblySettings) -> Assembly {
    let mut q = q.to_vec();
    let r = m.bounding_radius(&m.link_poses(&q));
    let floor = 8.0 * f64::EPSILON * m.links().len() as f64;
    let tolerance = settings.tolerance.max(floor);
    let mut iterations = 0;
    let status = loop {
        let step = match GaussNewton::new(m, &q, r) {
            None => break AssemblyStatus::NotFinite,
            Some(s) if s.largest() <= tolerance => break AssemblyStatus::Assembled,
            Some(s) => s,
        };
        if iterations == settings.max_iterations {
            break AssemblyStatus::Stalled;
        }
        match step.damped_step(m, &q, settings) {
            Some(next) => q = next,
            None => break AssemblyStatus::Stalled,
        }
        iterations += 1;
    };
    let residual = GaussNewton::new(m, &q, r).map_or(f64::INFINITY, |s| s.largest());
    let closures = loops::closure_gaps(m, &q, &m.link_poses(&q));
    let couplings = coupling_gaps(m, &q);
    Assembly { status, positions: q, iterations, residual, closures, couplings }
}

fn coupling_gaps(m: &Mechanism, q: &[f64]) -> Vec<CouplingGap> {
    let residual = |c: &crate::Coupling| {
        c.terms.iter().map(|t| t.evaluate(loops::combination_value(m, &t.combination, q)).0).sum()
    };
    m.couplings()
        .iter()
        .enumerate()
        .map(|(i, c)| CouplingGap {
            coupling: CouplingId::new(i),
            name: if c.name.is_empty() { format!("#{i}") } else { c.name.clone() },
            residual: residual(c),
        })
        .collect()
}

/// The scaled loop equations linearised at one configuration.
struct GaussNewton {
    residual: Vec<f64>,
    rows: Vec<f64>,
    coordinates: Vec<f64>,
    svd: Svd,
}

impl GaussNewton {
    fn new(m: &Mechanism, q: &[f64], r: f64) -> Option<Self> {
        let poses = m.link_poses(q);
        let j = ScaledJacobian::new(m, q, &poses, r);
        let residual = scaled_residual(m, q, &j.rows);
        if !residual.iter().all(|x| x.is_finite()) {
            return None;
        }
        Some(Self {
            residual,
            svd: dense::svd(&j.matrix)?,
            rows: j.rows,
            coordinates: j.coordinates,
        })
    }

    fn largest(&self) -> f64 {
        self.residual.iter().fold(0.0, |a, x| a.max(x.abs()))
    }

    /// The first step that shortens the residual, with more and more damping λ:
    /// δ = −V diag(σ/(σ² + λ²)) Uᵀ r. `None` if none does.
    fn damped_step(
        &self,
        m: &Mechanism,
        q: &[f64],
        settings: &AssemblySettings,
    ) -> Option<Vec<f64>> {
        let before = norm(&self.residual);
        let top = self.svd.s.first().copied().unwrap_or(0.0);
        for damping in [0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0] {
            let v = self.step(damping * top, settings);
            let mut next = q.to_vec();
            m.integrate(&mut next, &v);
            let after = norm(&scaled_residual(m, &next, &self.rows));
            if after < before * (1.0 - 1e-9) {
                return Some(next);
            }
        }
        None
    }

    fn step(&self, damping: f64, settings: &AssemblySettings) -> Vec<f64> {
        let rank = dense::numerical_rank(&self.svd.s, settings.rank_tolerance);
        let mut v = vec![0.0; self.coordinates.len()];
        for k in 0..rank {
            let sigma = self.svd.s[k];
            let along: f64 =
                (0..self.residual.len()).map(|i| self.svd.u[(i, k)] * self.residual[i]).sum();
            let c = -along * sigma / (sigma * sigma + damping * damping);
            for (j, v) in v.iter_mut().enumerate() {
                *v += c * self.svd.v[(j, k)];
            }
        }
        let largest = v.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let shrink = if largest > settings.max_step { settings.max_step / largest } else { 1.0 };
        v.iter().zip(&self.coordinates).map(|(v, s)| v * s * shrink).collect()
    }
}

fn scaled_residual(m: &Mechanism, q: &[f64], rows: &[f64]) -> Vec<f64> {
    let g = loops::constraint_residual(m, q, &m.link_poses(q));
    g.iter().zip(rows).map(|(x, s)| x * s).collect()
}
