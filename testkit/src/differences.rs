//! The linear response by finite differences of equilibria: the slow rival of a reduction.

use forks_mechanism::{
    LinkId,
    lie::{Pose, Twist, Wrench},
    linalg::Matrix,
};

/// Linear response by differences; see [`response_by_differences`].
#[derive(Clone, Debug)]
pub struct Differences {
    /// Effector twists per world-fixed wrench, components in the effector's axes at the pose, 6E ×
    /// 6E.
    pub compliance: Matrix,
    /// Twist of each link (the ground first) per such wrench, 6 × 6E.
    pub twists: Vec<Matrix>,
}

/// Differentiates an equilibrium with respect to wrenches on effectors (a link, and the effector's
/// frame in it) that keep their world axes, by central differences with one Richardson step.
///
/// `rest` are the links' world poses there; `solve` finds those with a further wrench, in world
/// axes, at the origin of an effector. `compliance` (6E × 6E) only sets the size of the steps, so
/// that the effectors move by about `displacement` (dimensionless, lengths over `r`; 2e-4 balances
/// truncation and rounding).
///
/// `None` where a displaced equilibrium is not found.
pub fn response_by_differences(
    effectors: &[(LinkId, Pose)],
    rest: &[Pose],
    compliance: &Matrix,
    r: f64,
    displacement: f64,
    solve: impl Fn(usize, Wrench) -> Option<Vec<Pose>>,
) -> Option<Differences> {
    let n = 6 * effectors.len();
    let mut out = Differences {
        compliance: Matrix::zeros(n, n),
        twists: vec![Matrix::zeros(6, n); rest.len()],
    };
    let pose = |poses: &[Pose], e: usize| poses[effectors[e].0.index()] * effectors[e].1;
    for k in 0..n {
        let step = step_size(compliance, k, r) * displacement;
        let axes = pose(rest, k / 6).rotation;
        let unit = Wrench::unit(k % 6);
        let unit = Wrench::new(axes * unit.force, axes * unit.torque);
        let at = |h: f64| solve(k / 6, unit * h);
        let coarse = (at(step)?, at(-step)?);
        let fine = (at(0.5 * step)?, at(-0.5 * step)?);
        let slope = |f: &dyn Fn(&[Pose]) -> Pose| {
            let rest = f(rest);
            let central = |(plus, minus): &(Vec<Pose>, Vec<Pose>), h: f64| {
                (rest.twist_to(&f(plus)) - rest.twist_to(&f(minus))) * (0.5 / h)
            };
            let (a, b) = (central(&coarse, step), central(&fine, 0.5 * step));
            (b * 4.0 - a) * (1.0 / 3.0)
        };
        for (l, twists) in out.twists.iter_mut().enumerate() {
            set_column(twists, 0, k, slope(&|poses| poses[l]));
        }
        for e in 0..effectors.len() {
            set_column(&mut out.compliance, 6 * e, k, slope(&|poses| pose(poses, e)));
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

/// Relative difference of two matrices over effectors, lengths over `r` (Frobenius norm).
pub fn relative_difference(a: &Matrix, b: &Matrix, r: f64) -> f64 {
    let s = |i: usize| if i % 6 < 3 { 1.0 / r } else { 1.0 };
    let scaled =
        |m: &Matrix| Matrix::from_fn(m.rows(), m.columns(), |i, j| s(i) * m[(i, j)] * s(j));
    scaled(a).sub(&scaled(b)).norm() / scaled(b).norm().max(f64::MIN_POSITIVE)
}
