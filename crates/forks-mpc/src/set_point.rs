//! Commands under which effectors rest at poses (\[A16\] §9.1: the static wrench is what is
//! commanded).
//!
//! Least squares within bounds by the method of Gauss and Newton: rests of the reduced system and
//! their differences, a quadratic problem with bounds in every round. A round that does not make
//! the error smaller is halved.

use forks_rom::{
    EffectorLoad, EffectorState, ModelError, StaticStatus, System, lie::Pose, linalg::Matrix,
};

use crate::{
    box_qp::{BoxQp, QpStatus},
    commands::{Commands, command_loads},
    goals::{Goal, Measure, error},
};

/// Commands that hold poses, or come as close as bounds allow.
#[derive(Clone, Debug, PartialEq)]
pub struct SetPoint {
    /// The commands.
    pub commands: Vec<f64>,
    /// Coordinates at rest under them.
    pub coordinates: Vec<f64>,
    /// Weighted errors left, six of each goal.
    pub errors: Vec<f64>,
    /// True if no change of the commands within bounds makes the errors smaller, to first order.
    pub settled: bool,
}

/// Rounds at most, and halvings in each.
const ROUNDS: usize = 30;
const HALVINGS: usize = 12;
/// A round that changes commands by less than this part of them is the last.
const STILL: f64 = 1e-10;
/// A difference of commands, over what the errors ask for.
const DIFFERENCE: f64 = 1e-5;
/// Part of the largest cost that keeps commands in place which move nothing.
const RIDGE: f64 = 1e-12;

/// Finds commands from `start` on, under loads that stay (contact forces too).
///
/// # Errors
/// Numbers that are not finite, sizes that do not fit, no rest at the start.
pub fn set_point<S: System>(
    system: &S,
    commands: &Commands,
    goals: &[(Goal, Pose)],
    bounds: &[(f64, f64)],
    loads: &[EffectorLoad],
    start: &[f64],
) -> Result<SetPoint, ModelError> {
    let m = commands.count(system);
    for (quantity, found) in [("commands", start.len()), ("bounds of commands", bounds.len())] {
        if found != m {
            return Err(ModelError::WrongSize { quantity, found, expected: m });
        }
    }
    let count = system.data().effectors.len();
    for (goal, pose) in goals {
        if goal.effector >= count {
            let (quantity, found) = ("effector index", goal.effector);
            return Err(ModelError::WrongSize { quantity, found, expected: count });
        }
        if !(pose.is_finite() && goal.position.is_finite() && goal.orientation.is_finite()) {
            return Err(ModelError::NotFinite { quantity: "pose of a goal" });
        }
    }
    if bounds.iter().any(|(l, u)| l.is_nan() || u.is_nan() || l > u) {
        return Err(ModelError::NotFinite { quantity: "bounds of commands" });
    }
    let mut at = Rests { system, commands, goals, loads, state: system.state() };
    let mut u: Vec<f64> = start.iter().zip(bounds).map(|(u, (l, h))| u.clamp(*l, *h)).collect();
    let none = ModelError::NotFinite { quantity: "rest of the system" };
    let (mut x, mut e) = at.rest(&u)?.ok_or(none)?;
    let (mut settled, size) = (false, at.difference());
    for _ in 0..ROUNDS {
        let mut slopes = Matrix::zeros(e.len(), m);
        for j in 0..m {
            let mut ends = [0.0, 0.0].map(|_| vec![]);
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                let mut v = u.clone();
                v[j] += sign * size;
                let Some((_, e)) = at.rest(&v)? else { break };
                *end = e;
            }
            for (i, (a, b)) in ends[0].iter().zip(&ends[1]).enumerate() {
                slopes[(i, j)] = (a - b) / (2.0 * size);
            }
        }
        let mut cost = slopes.transpose_mul(&slopes);
        let ridge = RIDGE * cost.max_abs().max(f64::MIN_POSITIVE);
        (0..m).for_each(|i| cost[(i, i)] += ridge);
        let g = slopes.transpose_mul_vec(&e);
        let Ok(mut qp) = BoxQp::new(cost) else { break };
        let lower: Vec<f64> = bounds.iter().zip(&u).map(|(b, u)| b.0 - u).collect();
        let upper: Vec<f64> = bounds.iter().zip(&u).map(|(b, u)| b.1 - u).collect();
        if qp.solve(&g, &lower, &upper, 8 * m + 8, || true) != QpStatus::Solved {
            break;
        }
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let (now, step) = (length(&e), qp.solution());
        let mut better = None;
        for halved in 0..HALVINGS {
            let part = 0.5f64.powi(halved as i32);
            let v: Vec<f64> = u.iter().zip(step).map(|(u, d)| u + part * d).collect();
            if let Some((x, e)) = at.rest(&v)?
                && length(&e) < now
            {
                better = Some((v, x, e));
                break;
            }
        }
        let small = length(step) <= (STILL * STILL) * length(&u);
        let Some((v, y, f)) = better else {
            settled = small || length(&e) <= f64::EPSILON;
            break;
        };
        (u, x, e) = (v, y, f);
        if small {
            settled = true;
            break;
        }
    }
    Ok(SetPoint { commands: u, coordinates: x, errors: e, settled })
}

/// Coordinates, and the errors there.
type Rest = (Vec<f64>, Vec<f64>);

/// Rests of a system and the errors there.
struct Rests<'a, S: System> {
    system: &'a S,
    commands: &'a Commands,
    goals: &'a [(Goal, Pose)],
    loads: &'a [EffectorLoad],
    state: S::State,
}

impl<S: System> Rests<'_, S> {
    /// A change of commands that moves effectors a little, N or rad.
    fn difference(&self) -> f64 {
        let data = self.system.data();
        match self.commands {
            Commands::Servos => DIFFERENCE,
            Commands::Forces(_) => DIFFERENCE * (data.hessian.max_abs() / data.radius).max(1e-9),
        }
    }

    /// Coordinates and errors; `None` where nothing rests.
    fn rest(&mut self, u: &[f64]) -> Result<Option<Rest>, ModelError> {
        let (system, n) = (self.system, self.system.dof());
        let mut loads = self.loads.to_vec();
        let targets: &[f64] = match self.commands {
            Commands::Servos => u,
            Commands::Forces(effectors) => {
                loads.extend(command_loads(effectors, u));
                &[]
            }
        };
        let found = system.solve_static(&loads, targets)?;
        if found.status != StaticStatus::Converged {
            return Ok(None);
        }
        let still = vec![0.0; n];
        system.set(&mut self.state, &found.coordinates, &still)?;
        if *self.commands == Commands::Servos {
            system.set_servo_targets(&mut self.state, u)?;
        }
        let mut effectors = vec![EffectorState::new(n); system.data().effectors.len()];
        system.effectors(&self.state, &system.workspace(), &still, &mut effectors);
        let mut e = vec![0.0; 6 * self.goals.len()];
        for (i, (goal, target)) in self.goals.iter().enumerate() {
            let at = (&found.coordinates[..], &effectors[goal.effector]);
            error(system, Measure::World, goal, target, at, &mut e[6 * i..6 * i + 6], None);
        }
        Ok(e.iter().all(|e| e.is_finite()).then_some((found.coordinates, e)))
    }
}
