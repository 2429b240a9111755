//! Static equilibrium by dense Newton steps on the Lagrangian, loads eased in.

use forks_mechanism::Mechanism;

use crate::{
    Matrix, System,
    kinematics::displace,
    linear::{product, solve, transposed_product},
    potential::{Loads, Potential, multipliers},
};

/// Largest scaled displacement of one Newton step.
const LARGEST_STEP: f64 = 0.3;
const NEWTON_STEPS: usize = 40;
/// Smallest part of the loads that is added at once.
const SMALLEST_INCREMENT: f64 = 1.0 / 1024.0;

/// A static equilibrium.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// Positions of all joints, loops closed.
    pub positions: Vec<f64>,
    /// Largest unbalanced generalised force in scaled coordinates, N·m.
    pub imbalance: f64,
    /// Largest scaled residual of the loop equations.
    pub gap: f64,
    /// Newton steps in all.
    pub steps: usize,
}

/// The equilibrium reached from `start` as loads and spring preloads grow together from 0 to 1;
/// `None` where the path cannot be followed.
pub fn equilibrium(m: &Mechanism, start: &[f64], loads: &Loads) -> Option<Equilibrium> {
    let mut at = Equilibrium { positions: start.to_vec(), imbalance: 0.0, gap: 0.0, steps: 0 };
    let (mut done, mut increment) = (0.0, 0.5);
    while done < 1.0 {
        let next = f64::min(1.0, done + increment);
        let potential = Potential::eased(m, loads, start, next);
        match newton(m, &potential, &at) {
            Some(found) => {
                (at, done) = (found, next);
                increment *= 2.0;
            }
            None => increment *= 0.5,
        }
        if increment < SMALLEST_INCREMENT {
            return None;
        }
    }
    Some(at)
}

/// The equilibrium under full loads near `q`, by Newton steps alone.
pub fn settle(m: &Mechanism, q: &[f64], loads: &Loads) -> Option<Equilibrium> {
    let at = Equilibrium { positions: q.to_vec(), imbalance: 0.0, gap: 0.0, steps: 0 };
    newton(m, &Potential::new(m, loads), &at)
}

fn newton(m: &Mechanism, potential: &Potential<'_>, from: &Equilibrium) -> Option<Equilibrium> {
    let mut at = from.clone();
    let mut settled = false;
    for _ in 0..NEWTON_STEPS {
        let (step, imbalance, gap) = newton_step(m, potential, &at.positions);
        let size = step.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        (at.imbalance, at.gap) = (imbalance, gap);
        if !size.is_finite() {
            return None;
        }
        // One step after the first that is nothing but rounding.
        if settled {
            return Some(at);
        }
        settled = size < 1e-12;
        let shrink = f64::min(1.0, LARGEST_STEP / size.max(f64::MIN_POSITIVE));
        let delta: Vec<f64> = step.iter().map(|x| shrink * x).collect();
        at.positions = displace(m, &at.positions, &delta);
        at.steps += 1;
    }
    None
}

/// One step: [[K, Gᵀ], [G, 0]] (δ, Δλ) = −(∇V + Gᵀλ, g), with the tangent restricted to the loops'
/// nullspace. Returns δ, the imbalance and the gap.
fn newton_step(m: &Mechanism, potential: &Potential<'_>, q: &[f64]) -> (Vec<f64>, f64, f64) {
    let system = System::new(m, q);
    let gradient = potential.gradient(q);
    let (multipliers, rest) = multipliers(&system, &gradient);
    let hessian = potential.lagrangian_hessian(q, &multipliers);
    let largest = |v: &[f64]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scaled_rest: Vec<f64> = rest.iter().zip(&system.scale).map(|(x, s)| x * s).collect();
    // Close the loops first: the shortest motion that does, in scaled coordinates.
    let closing = closing_motion(&system);
    // Then move in the nullspace: Nᵀ K (N y + δ₀) = −Nᵀ (∇V + Gᵀλ).
    let n = &system.scaled_nullspace;
    let k = system.scaled(&hessian);
    let right = Matrix::from_fn(closing.len(), 1, |i, _| {
        -scaled_rest[i] - (0..closing.len()).map(|j| k[(i, j)] * closing[j]).sum::<f64>()
    });
    let reduced = transposed_product(n, &product(&k, n));
    let y = product(n, &solve(&reduced, &transposed_product(n, &right)));
    let motion = |i: usize| {
        let along = if y.columns() == 0 { 0.0 } else { y[(i, 0)] };
        system.scale[i] * (closing[i] + along)
    };
    let step = (0..closing.len()).map(motion).collect();
    (step, largest(&scaled_rest), largest(&system.scaled_residual()))
}

/// The smallest scaled displacement that closes the loops to first order.
fn closing_motion(system: &System) -> Vec<f64> {
    let right: Vec<f64> = system.scaled_residual().iter().map(|x| -x).collect();
    crate::linear::least_squares(&system.scaled_constraints, &right, 1e-9)
}
