//! A blend under forces that grow from nothing in small steps: where the valley of its energy leads
//! that begins at rest, by a Newton's method of the judge's own.

use forks_blend::BlendedModel;
use forks_mechanism::{
    lie::{Wrench, glam::DVec3},
    linalg::{Matrix, dense::cholesky_solve},
};
use forks_place::Forces;
use forks_rom::{EffectorLoad, LoadFrame};

use crate::validate::{record::larger, slope::slope};

/// Steps in which the forces grow.
const LOAD_STEPS: usize = 40;
const NEWTON_STEPS: usize = 80;
const HALVINGS: usize = 40;
/// Unbalanced force over what is balanced.
const BALANCED: f64 = 1e-9;
/// A step of this length (over r, rad) changes nothing.
const STILL: f64 = 1e-10;
/// The same where the energy's rounding hides what a step changes.
const NEARLY_STILL: f64 = 1e-6;
/// Longest step.
const LONGEST: f64 = 0.1;
/// The slope is kept while steps leave less than this part of the force.
const QUICK: f64 = 0.2;
/// Part of the decrease that the gradient promises.
const SUFFICIENT: f64 = 1e-4;

/// Forces fixed in the world.
pub(super) fn loads(forces: &Forces, part: f64) -> Vec<EffectorLoad> {
    let load = |&(effector, force): &(usize, DVec3)| EffectorLoad {
        effector,
        wrench: Wrench::new(force * part, DVec3::ZERO),
        frame: LoadFrame::World,
    };
    forces.iter().map(load).collect()
}

/// Coordinates under forces that grew to their size; `None` where the way is lost.
pub(super) fn grown(model: &BlendedModel, rest: &[f64], forces: &Forces) -> Option<Vec<f64>> {
    let mut x = rest.to_vec();
    for k in 1..=LOAD_STEPS {
        let part = k as f64 / LOAD_STEPS as f64;
        Valley { model, forces, part }.settle(&mut x)?;
    }
    Some(x)
}

/// Coordinates without forces.
pub(super) fn rest(model: &BlendedModel) -> Option<Vec<f64>> {
    let mut x = vec![0.0; model.dof()];
    Valley { model, forces: &vec![], part: 0.0 }.settle(&mut x)?;
    Some(x)
}

/// Second derivative of the energy without forces.
pub(super) fn stiffness(model: &BlendedModel, x: &[f64]) -> Matrix {
    Valley { model, forces: &vec![], part: 0.0 }.slope(x)
}

/// U(x) − Σ fᵀ p(x).
struct Valley<'a> {
    model: &'a BlendedModel,
    forces: &'a Forces,
    part: f64,
}

impl Valley<'_> {
    /// To the bottom, downhill all the way.
    fn settle(&self, x: &mut Vec<f64>) -> Option<()> {
        let mut slope: Option<Matrix> = None;
        let mut last = f64::INFINITY;
        for _ in 0..NEWTON_STEPS {
            let (force, size) = self.unbalanced(x);
            let left = force.iter().map(|f| f.abs()).fold(0.0, larger) / size;
            if left <= BALANCED {
                return Some(());
            }
            if !left.is_finite() {
                return None;
            }
            let fresh = slope.is_none() || left > QUICK * last;
            if fresh {
                slope = Some(self.slope(x));
            }
            last = left;
            let step = solved(slope.as_ref()?, &force)?;
            let length = step.iter().map(|d| d * d).sum::<f64>().sqrt();
            let promised: f64 = step.iter().zip(&force).map(|(d, f)| d * f).sum();
            let mut part = if length > LONGEST { LONGEST / length } else { 1.0 };
            let (here, rounding) = self.potential(x, x);
            // The energy cannot show what such a step does, and it changes nothing.
            if fresh && promised <= rounding && length <= NEARLY_STILL {
                return Some(());
            }
            let trial = (0..HALVINGS).find_map(|_| {
                let y: Vec<f64> = x.iter().zip(&step).map(|(x, d)| x - part * d).collect();
                let lower =
                    self.potential(&y, x).0 - here <= rounding - SUFFICIENT * part * promised;
                part *= 0.5;
                lower.then_some(y)
            });
            match trial {
                Some(y) => *x = y,
                None if !fresh => {
                    slope = None;
                    continue;
                }
                None => return (length <= NEARLY_STILL).then_some(()),
            }
            if length <= STILL {
                return Some(());
            }
        }
        None
    }

    /// The energy less the work of the forces from a place, and its rounding.
    fn potential(&self, x: &[f64], from: &[f64]) -> (f64, f64) {
        let energy = self.model.potential_energy(x);
        let tip = |e: usize, x: &[f64]| self.model.effector_pose(e, x).translation;
        let work = self.forces.iter().map(|&(e, f)| f.dot(tip(e, x) - tip(e, from)));
        let work = self.part * work.sum::<f64>();
        let size = self.forces.iter().map(|&(e, f)| f.length() * tip(e, from).length());
        let size = energy.abs() + self.part * size.sum::<f64>();
        (energy - work, 32.0 * f64::EPSILON * size)
    }

    /// ∇U − g and the size of what is balanced.
    fn unbalanced(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let held = self.model.elastic_force(x);
        let load = self.model.generalised_force(x, &loads(self.forces, self.part));
        let size = held.iter().chain(&load).map(|f| f.abs()).fold(f64::MIN_POSITIVE, larger);
        (held.iter().zip(&load).map(|(u, g)| u - g).collect(), size)
    }

    fn slope(&self, x: &[f64]) -> Matrix {
        slope(x, &|x: &[f64]| self.unbalanced(x).0).symmetric_part()
    }
}

/// The step of a slope that is made positive definite where it is not.
fn solved(slope: &Matrix, force: &[f64]) -> Option<Vec<f64>> {
    let n = force.len();
    let right = Matrix::from_fn(n, 1, |i, _| force[i]);
    let size = slope.max_abs();
    let mut shift = 0.0;
    while shift <= 10.0 * size {
        let shifted =
            Matrix::from_fn(n, n, |i, j| slope[(i, j)] + if i == j { shift } else { 0.0 });
        if let Some(step) = cholesky_solve(&shifted, &right) {
            return Some(step.as_slice().to_vec());
        }
        shift = if shift == 0.0 { 1e-10 * size } else { 4.0 * shift };
    }
    None
}
