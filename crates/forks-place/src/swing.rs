//! Whether static shapes swing as the mechanism does: where effectors go when small forces on them
//! end, by the vibrations of both.
//!
//! A force f on an effector ends at rest: the effector moves as Σ_k p_k² cos(ω_k t)/ω_k² along it,
//! p_k = φ_kᵀ Bᵀf, φ_k the modes with unit mass. At t = 0 both models agree, as shapes are exact in
//! statics; how far they part later is what the unloaded branches' own motions make.

use forks_mechanism::{lie::glam::DVec3, linalg::dense::generalized_symmetric_eigen};
use forks_rom::data::ModelData;

use crate::region::LoadRegion;

/// Times in a period of the vibration that carries most at which both are compared.
const TIMES: usize = 256;

/// Largest distance between released effectors of two models of one mechanism, over where they
/// start, in a period of the vibration that carries most; along the axis of each region and its
/// rim. `None` where not everything swings.
pub(crate) fn swing_error(
    whole: &ModelData,
    shapes: &ModelData,
    regions: &[LoadRegion],
) -> Option<f64> {
    let (whole, shapes) = (Swing::new(whole)?, Swing::new(shapes)?);
    let mut worst = 0.0f64;
    for r in regions {
        for direction in r.spread() {
            let (a, b) = (whole.parts(r.effector, direction), shapes.parts(r.effector, direction));
            let start: f64 = a.iter().sum();
            let main = (0..a.len()).max_by(|&i, &k| a[i].total_cmp(&a[k]))?;
            let frequency = whole.squares[main].sqrt();
            for k in 0..TIMES {
                let t = core::f64::consts::TAU * k as f64 / (TIMES as f64 * frequency);
                let apart = (whole.at(&a, t) - shapes.at(&b, t)).abs();
                worst = worst.max(apart / start);
            }
        }
    }
    worst.is_finite().then_some(worst)
}

/// Vibrations of a model about its rest.
struct Swing<'a> {
    model: &'a ModelData,
    /// ω².
    squares: Vec<f64>,
    /// φ, column after column.
    modes: forks_mechanism::linalg::Matrix,
}

impl<'a> Swing<'a> {
    fn new(model: &'a ModelData) -> Option<Self> {
        let (squares, modes) = generalized_symmetric_eigen(&model.hessian, &model.mass)?;
        let swings = squares.iter().all(|s| *s > 0.0 && s.is_finite());
        (swings && modes.is_finite()).then_some(Self { model, squares, modes })
    }

    /// p_k²/ω_k² of a force on an effector, world axes.
    fn parts(&self, effector: usize, force: DVec3) -> Vec<f64> {
        let body = self.model.effectors[effector].rest.rotation.conjugate() * force;
        let (basis, n) = (&self.model.basis, self.squares.len());
        let rows = body.to_array();
        let pull =
            |j: usize| -> f64 { (0..3).map(|i| basis[(6 * effector + i, j)] * rows[i]).sum() };
        let pulls: Vec<f64> = (0..n).map(pull).collect();
        let part = |(k, square): (usize, &f64)| {
            let p: f64 = (0..n).map(|j| self.modes[(j, k)] * pulls[j]).sum();
            p * p / square
        };
        self.squares.iter().enumerate().map(part).collect()
    }

    fn at(&self, parts: &[f64], t: f64) -> f64 {
        parts.iter().zip(&self.squares).map(|(p, s)| p * (s.sqrt() * t).cos()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ports::all_links, sample::Sample};
    use forks_dynamics::{Loads, statics::EquilibriumOptions};
    use forks_mechanism::{
        Joint, JointKind, Link, LinkId, MechanismBuilder,
        lie::{SpatialInertia, glam::DMat3},
    };
    use forks_reduce::{Problem, ProblemOptions};

    /// A mass on a spring and another on a spring on it: the one shape of the first carries the
    /// second along. Both motions are known by hand.
    #[test]
    fn two_masses_in_a_row_part_as_their_vibrations_say() {
        let (first, second, spring) = (1.0, 0.5, 100.0);
        for between in [20.0, 100.0, 1e7] {
            let mut b = MechanismBuilder::new("row");
            let mut inner = LinkId::WORLD;
            for (name, mass, stiffness) in [("a", first, spring), ("b", second, between)] {
                let inertia = SpatialInertia::new(mass, DVec3::ZERO, DMat3::IDENTITY * 0.01);
                let link = b.add_link(Link::new(name).with_inertia(inertia));
                let kind = JointKind::Prismatic { axis: DVec3::X };
                b.add_joint(Joint::new(name, kind, inner, link).with_stiffness(stiffness));
                inner = link;
            }
            let m = b.build().unwrap();
            let problem = Problem::new(&m, &["a"], &ProblemOptions::default()).unwrap();
            let sample = |problem: &Problem| {
                let at = problem.equilibrium(&Loads::none(), &EquilibriumOptions::default());
                Sample::new(problem, &at, &Loads::none()).unwrap()
            };
            let (whole, shapes) = (sample(&all_links(&problem)), sample(&problem));
            let regions = [LoadRegion::cone(0, DVec3::X, 0.0)];
            assert!(swing_error(&whole.data, &whole.data, &regions).unwrap() < 1e-12);
            // ω² of M⁻¹K with M = diag(m₁, m₂); a mode (1, r) has r = k/(k − m₂ω²).
            let (k, half) = (between, 0.5 * ((spring + between) / first + between / second));
            let root = (half * half - spring * k / (first * second)).sqrt();
            let mode = |square: f64| {
                let r = k / (k - second * square);
                (square, 1.0 / (square * (first + second * r * r)))
            };
            let modes = [mode(half - root), mode(half + root)];
            let start: f64 = modes.iter().map(|m| m.1).sum();
            assert!((start * spring - 1.0).abs() < 1e-6, "statics");
            let main = if modes[0].1 > modes[1].1 { modes[0].0 } else { modes[1].0 };
            let alone = spring / (first + second);
            let apart = |k: usize| {
                let t = core::f64::consts::TAU * k as f64 / (TIMES as f64 * main.sqrt());
                let whole: f64 = modes.iter().map(|m| m.1 * (m.0.sqrt() * t).cos()).sum();
                (whole / start - (alone.sqrt() * t).cos()).abs()
            };
            let expected = (0..TIMES).map(apart).fold(0.0, f64::max);
            let found = swing_error(&whole.data, &shapes.data, &regions).unwrap();
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            assert_eq!(found < 1e-3, between > 1e3);
        }
    }
}
