//! The linear response by finite differences of full equilibria: the slow rival of the sweep.

use forks_dynamics::{
    AppliedWrench, Equilibrium, EquilibriumOptions, Loads, WrenchFrame, continue_equilibrium,
};
use forks_mechanism::{
    Mechanism,
    lie::{Pose, Twist, Wrench},
    linalg::Matrix,
};

use crate::response::Effector;

/// Linear response by differences; see [`response_by_differences`].
#[derive(Clone, Debug)]
pub struct Differences {
    /// Effector twists per world-fixed wrench, components in the effector's axes at the pose, 6E ×
    /// 6E.
    pub compliance: Matrix,
    /// Twist of each link (the ground first) per such wrench, 6 × 6E.
    pub twists: Vec<Matrix>,
}

/// Differentiates the full equilibrium with respect to wrenches on the effectors that keep their
/// world axes, by central differences with one Richardson step.
///
/// `at` is an equilibrium under `loads`; `compliance` (6E × 6E) only sets the size of the steps, so
/// that the effectors move by about `displacement` (dimensionless, lengths over `r`; 2e-4 balances
/// truncation and rounding).
///
/// `None` where a displaced equilibrium is not found.
pub fn response_by_differences(
    m: &Mechanism,
    effectors: &[Effector],
    at: &Equilibrium,
    loads: &Loads,
    compliance: &Matrix,
    r: f64,
    displacement: f64,
) -> Option<Differences> {
    let n = 6 * effectors.len();
    let mut out = Differences {
        compliance: Matrix::zeros(n, n),
        twists: vec![Matrix::zeros(6, n); m.links().len()],
    };
    for k in 0..n {
        let step = step_size(compliance, k, r) * displacement;
        let solve = |h: f64| {
            let changed = loads.clone().with(increment(&effectors[k / 6], at, k % 6, h));
            let e = continue_equilibrium(m, at, &changed, &EquilibriumOptions::default());
            e.status.is_equilibrium().then_some(e.world_from_link)
        };
        let coarse = (solve(step)?, solve(-step)?);
        let fine = (solve(0.5 * step)?, solve(-0.5 * step)?);
        let slope = |rest: &Pose, f: &dyn Fn(&[Pose]) -> Pose| {
            let central = |(plus, minus): &(Vec<Pose>, Vec<Pose>), h: f64| {
                (rest.twist_to(&f(plus)) - rest.twist_to(&f(minus))) * (0.5 / h)
            };
            let (a, b) = (central(&coarse, step), central(&fine, 0.5 * step));
            (b * 4.0 - a) * (1.0 / 3.0)
        };
        for (l, rest) in at.world_from_link.iter().enumerate() {
            set_column(&mut out.twists[l], 0, k, slope(rest, &|poses| poses[l]));
        }
        for (e, effector) in effectors.iter().enumerate() {
            let pose = |poses: &[Pose]| poses[effector.link.index()] * effector.link_from_effector;
            let twist = slope(&pose(&at.world_from_link), &pose);
            set_column(&mut out.compliance, 6 * e, k, twist);
        }
    }
    Some(out)
}

fn set_column(m: &mut Matrix, first_row: usize, column: usize, twist: Twist) {
    for (i, x) in twist.to_array().into_iter().enumerate() {
        m[(first_row + i, column)] = x;
    }
}

/// Wrench component that moves the effectors by a dimensionless displacement of about 1.
fn step_size(compliance: &Matrix, k: usize, r: f64) -> f64 {
    let scale = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let column = |k: usize| {
        (0..compliance.rows()).fold(0.0f64, |m, i| m.max((scale(i) * compliance[(i, k)]).abs()))
    };
    // Rigid directions take the step of the softest direction.
    let softest = (0..compliance.columns()).fold(0.0f64, |m, k| m.max(column(k) * scale(k)));
    let own = column(k);
    if own * scale(k) > 1e-6 * softest {
        1.0 / own
    } else {
        scale(k) / softest.max(f64::MIN_POSITIVE)
    }
}

/// A wrench of `h` along one axis of the effector's frame at the pose, fixed in the world.
fn increment(effector: &Effector, at: &Equilibrium, axis: usize, h: f64) -> AppliedWrench {
    let pose = at.world_from_link[effector.link.index()] * effector.link_from_effector;
    let w = Wrench::unit(axis) * h;
    effector
        .applied(Wrench::new(pose.rotation * w.force, pose.rotation * w.torque), WrenchFrame::World)
}

/// Relative difference of two matrices over effectors, lengths over `r` (Frobenius norm).
pub fn relative_difference(a: &Matrix, b: &Matrix, r: f64) -> f64 {
    let s = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let scaled =
        |m: &Matrix| Matrix::from_fn(m.rows(), m.columns(), |i, j| s(i) * m[(i, j)] * s(j));
    scaled(a).sub(&scaled(b)).norm() / scaled(b).norm().max(f64::MIN_POSITIVE)
}
