//! Newton's method on one stage of loading: the pose is the only unknown, multipliers are
//! least-squares estimates at every pose.
//!
//! Each iteration solves, in dimensionless coordinates x (see [`Scaling`]),
//!
//! \[K_t  Yᵀ; Y  0\] (x; y) = (f + Gᵀλ; −L⁻¹ g),
//!
//! Y an orthonormal basis of the rows of G (or independent rows themselves: see [`Space`]).

use forks_mechanism::{
    Mechanism,
    kinematics::loops,
    lie::Pose,
    linalg::{dot, norm},
};

use crate::{
    algebra::{Space, Tangent},
    branches::Branches,
    energy::{force_parts, force_parts_by},
    equilibrium::{EquilibriumOptions, LoadPath},
    scaling::Scaling,
    stage::Stage,
};

/// Steps longer than this (radians, or lengths over r) mean that the tangent is singular.
const SINGULAR_STEP: f64 = 1e4;
/// Iterations without a new smallest residual after which there is no use in going on.
const FRUITLESS: usize = 20;
/// The residual must fall by this part of what the linear model promises.
const SUFFICIENT_DECREASE: f64 = 1e-3;
const SMALLEST_STEP: f64 = 1.0 / 128.0;
/// Eigenvalues above this part of the stiffness' size are told from zero with certainty.
const SAFELY_DEFINITE: f64 = 1e-9;
const CLOSING_STEPS: usize = 8;
/// Relaxation gives up where steps of this part of the largest one still overshoot.
const SMALLEST_RADIUS: f64 = 1e-9;

/// A pose with everything that the residual needs.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) q: Vec<f64>,
    pub(crate) world_from_link: Vec<Pose>,
    pub(crate) space: Space,
    /// λ in the dimensionless rows.
    scaled_multipliers: Vec<f64>,
    /// Unbalanced generalised force, as energy.
    unbalanced: Vec<f64>,
    /// Loop gaps, dimensionless.
    pub(crate) gaps: Vec<f64>,
    /// Largest generalised force of any origin, as energy.
    pub(crate) force_scale: f64,
}

impl Point {
    pub(crate) fn new(stage: &Stage<'_>, scaling: &Scaling, q: Vec<f64>) -> Option<Self> {
        let m = stage.m;
        // Large mechanisms are walked through once only.
        let branches = scaling.plan.as_ref().map(|_| Branches::at(m, &q));
        let (edges, nv) = (m.forest().edges().len(), m.velocity_count());
        let (world_from_link, parts) = match &branches {
            Some(b) => {
                let poses = b.world_from_link[..m.links().len()].to_vec();
                let parts = force_parts_by(stage, &q, &poses, |w| b.pull_back(edges, nv, w));
                (poses, parts)
            }
            None => {
                let poses = m.link_poses(&q);
                let parts = force_parts(stage, &q, &poses);
                (poses, parts)
            }
        };
        let elastic = scaling.forces(&parts.elastic);
        let external = scaling.forces(&parts.external);
        let total: Vec<f64> = elastic.iter().zip(&external).map(|(a, b)| a + b).collect();
        let gaps = scaling.residuals(&loops::constraint_residual(m, &q, &world_from_link));
        let places = world_from_link.iter().fold(0.0, |s, p| s + p.translation.length());
        if !(norm(&total) + norm(&gaps) + places).is_finite() {
            return None;
        }
        let space = Space::new(m, &q, &world_from_link, branches, scaling)?;
        let (unbalanced, scaled_multipliers) = space.balance(m, scaling, &total);
        let reaction: Vec<f64> = total.iter().zip(&unbalanced).map(|(t, u)| t - u).collect();
        let force_scale = [&elastic, &external, &reaction]
            .into_iter()
            .flatten()
            .fold(0.0f64, |m, x| m.max(x.abs()));
        Some(Self { q, world_from_link, space, scaled_multipliers, unbalanced, gaps, force_scale })
    }

    /// λ in the rows of the loop equations.
    pub(crate) fn multipliers(&self, m: &Mechanism, scaling: &Scaling) -> Vec<f64> {
        let mut out: Vec<f64> =
            self.scaled_multipliers.iter().zip(&scaling.rows).map(|(l, s)| l * s).collect();
        loops::carry_multipliers(m, &mut out);
        out
    }

    /// Generalised forces as energies, without what the loops carry.
    pub(crate) fn unbalanced(&self) -> &[f64] {
        &self.unbalanced
    }

    fn force_error(&self) -> f64 {
        self.unbalanced.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    fn gap_error(&self) -> f64 {
        self.gaps.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// Norm of the residual with forces in units of `scale`.
    fn merit(&self, scale: f64) -> f64 {
        (norm(&self.unbalanced) / scale).hypot(norm(&self.gaps))
    }

    /// Largest relative residual: forces against the largest force, gaps against r.
    pub(crate) fn residual(&self) -> f64 {
        let forces =
            if self.force_scale > 0.0 { self.force_error() / self.force_scale } else { 0.0 };
        forces.max(self.gap_error())
    }

    /// Converged to `tolerance`, or to the rounding of coordinates of size one times the stiffness.
    fn converged(&self, tolerance: f64, stiffness: f64) -> bool {
        let floor = 8.0 * f64::EPSILON;
        self.force_error() <= tolerance * self.force_scale + floor * stiffness
            && self.gap_error() <= tolerance.max(floor)
    }

    /// The scaled tangent stiffness.
    pub(crate) fn tangent(&self, stage: &Stage<'_>, scaling: &Scaling) -> Tangent {
        let lambda = self.multipliers(stage.m, scaling);
        Tangent::new(stage, &self.q, &self.world_from_link, &self.space, &lambda, scaling)
    }
}

/// How Newton's method ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewtonEnd {
    Converged,
    /// No step decreases the residual, or too many iterations.
    Stalled,
    /// The tangent is singular on the admissible motions.
    Singular,
    /// Numbers overflowed.
    NotFinite,
    /// The search shall stop.
    Cancelled,
}

/// Counters of the work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) iterations: usize,
    pub(crate) factorisations: usize,
}

/// Unit of stiffness: the largest entry, or the largest force (an energy too) where that is larger.
fn stiffness_size(k: &Tangent, point: &Point) -> f64 {
    k.size().max(point.force_scale).max(f64::MIN_POSITIVE)
}

/// Solves the bordered system with the stiffness shifted by `shift` times its [`stiffness_size`];
/// `None` where it is singular.
fn newton_step(
    stage: &Stage<'_>,
    scaling: &Scaling,
    k: &Tangent,
    point: &Point,
    shift: f64,
    work: &mut Work,
) -> Option<Vec<f64>> {
    let size = stiffness_size(k, point);
    let force: Vec<f64> = point.unbalanced.iter().map(|f| f / size).collect();
    work.factorisations += 1;
    let x = k.step(stage.m, scaling, &point.space, (size, shift), &force, &point.gaps)?;
    let largest = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let sound = x.iter().all(|x| x.is_finite()) && largest < SINGULAR_STEP;
    sound.then_some(x)
}

pub(crate) fn displaced(
    stage: &Stage<'_>,
    scaling: &Scaling,
    from: &Point,
    x: &[f64],
    part: f64,
) -> Option<Point> {
    let mut q = from.q.clone();
    let v: Vec<f64> = scaling.velocities(x).iter().map(|v| v * part).collect();
    stage.m.integrate(&mut q, &v);
    Point::new(stage, scaling, q)
}

/// A point nearby whose loops are closed: shortest steps, as often as they help.
pub(crate) fn closed(stage: &Stage<'_>, scaling: &Scaling, mut point: Point) -> Option<Point> {
    for _ in 0..CLOSING_STEPS {
        let gap = norm(&point.gaps);
        if gap == 0.0 {
            break;
        }
        let x = point.space.closing_motion(stage.m, scaling, &point.gaps);
        let next = displaced(stage, scaling, &point, &x, 1.0)?;
        if norm(&next.gaps) >= 0.5 * gap {
            break;
        }
        point = next;
    }
    Some(point)
}

/// Largest allowed part of a step.
fn step_limit(x: &[f64], largest: f64) -> f64 {
    let size = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if size > largest { largest / size } else { 1.0 }
}

/// Where Newton's method got to.
pub(crate) struct NewtonRun {
    /// The last point, whatever the end.
    pub(crate) point: Point,
    pub(crate) end: NewtonEnd,
    /// The first full step (dimensionless): the tangent's prediction of where the solution is.
    pub(crate) prediction: Option<Vec<f64>>,
}

/// Newton's method with step limit and line search on the residual; after convergence to
/// `tolerance` up to `polish` further steps are taken while they help.
pub(crate) fn newton(
    stage: &Stage<'_>,
    scaling: &Scaling,
    start: Point,
    options: &EquilibriumOptions,
    tolerance: f64,
    polish: usize,
    work: &mut Work,
) -> NewtonRun {
    let mut point = start;
    let mut prediction = None;
    let (mut smallest, mut since) = (f64::INFINITY, 0);
    for _ in 0..options.max_iterations {
        if options.cancel.is_asked() {
            return NewtonRun { point, end: NewtonEnd::Cancelled, prediction };
        }
        // Without a line search a residual may rise for a while, but not for long on its way to a
        // solution.
        since = if point.residual() < smallest { 0 } else { since + 1 };
        smallest = smallest.min(point.residual());
        if since > FRUITLESS {
            return NewtonRun { point, end: NewtonEnd::Stalled, prediction };
        }
        let k = point.tangent(stage, scaling);
        if !k.is_finite() {
            return NewtonRun { point, end: NewtonEnd::NotFinite, prediction };
        }
        if point.converged(tolerance, k.size()) {
            let point = polished(stage, scaling, point, polish, work);
            return NewtonRun { point, end: NewtonEnd::Converged, prediction };
        }
        work.iterations += 1;
        let Some(x) = newton_step(stage, scaling, &k, &point, 0.0, work) else {
            return NewtonRun { point, end: NewtonEnd::Singular, prediction };
        };
        let next = match options.path {
            LoadPath::Continuous => line_search(stage, scaling, &point, &x, options),
            LoadPath::EqualSteps => {
                displaced(stage, scaling, &point, &x, step_limit(&x, options.max_step))
            }
        };
        prediction.get_or_insert(x);
        match next {
            Some(next) => point = next,
            None => {
                // At the rounding limit no step helps any more.
                let rounding = point.converged(100.0 * tolerance, 100.0 * k.size());
                let end = if rounding { NewtonEnd::Converged } else { NewtonEnd::Stalled };
                return NewtonRun { point, end, prediction };
            }
        }
    }
    NewtonRun { point, end: NewtonEnd::Stalled, prediction }
}

fn line_search(
    stage: &Stage<'_>,
    scaling: &Scaling,
    point: &Point,
    x: &[f64],
    options: &EquilibriumOptions,
) -> Option<Point> {
    let mut part = step_limit(x, options.max_step);
    while part > SMALLEST_STEP * step_limit(x, options.max_step) {
        if let Some(next) = displaced(stage, scaling, point, x, part) {
            let scale = point.force_scale.max(next.force_scale).max(f64::MIN_POSITIVE);
            if next.merit(scale) <= (1.0 - SUFFICIENT_DECREASE * part) * point.merit(scale) {
                return Some(next);
            }
        }
        part *= 0.5;
    }
    None
}

fn polished(
    stage: &Stage<'_>,
    scaling: &Scaling,
    mut point: Point,
    steps: usize,
    work: &mut Work,
) -> Point {
    for _ in 0..steps {
        let k = point.tangent(stage, scaling);
        let Some(x) = newton_step(stage, scaling, &k, &point, 0.0, work) else { break };
        let Some(next) = displaced(stage, scaling, &point, &x, 1.0) else { break };
        work.iterations += 1;
        let scale = point.force_scale.max(next.force_scale).max(f64::MIN_POSITIVE);
        if next.merit(scale) >= 0.5 * point.merit(scale) {
            break;
        }
        point = next;
    }
    point
}

/// Descends to a stable equilibrium where Newton's path has a gap: a limit point, a pendulum that
/// nothing holds at the start.
///
/// Newton steps with the tangent shifted until it is positive definite on the admissible motions go
/// downhill. Loads need not have a potential, so overshooting is seen from the force along the
/// step: it must not turn round by more than half of what it was.
pub(crate) fn relax(
    stage: &Stage<'_>,
    scaling: &Scaling,
    start: Point,
    options: &EquilibriumOptions,
    tolerance: f64,
    work: &mut Work,
) -> Point {
    let mut point = start;
    let (mut shift, mut least_shift): (f64, f64) = (0.0, 0.0);
    let mut radius = options.max_step;
    for _ in 0..options.max_relaxation_steps {
        if options.cancel.is_asked() {
            break;
        }
        let k = point.tangent(stage, scaling);
        if !k.is_finite() || point.converged(tolerance, k.size()) {
            break;
        }
        work.iterations += 1;
        shift = definite_shift(stage, scaling, &k, &point, shift).max(least_shift);
        let Some(x) = newton_step(stage, scaling, &k, &point, shift, work) else {
            least_shift = (4.0 * shift).max(1e-6);
            if least_shift > 1e6 {
                break;
            }
            continue;
        };
        least_shift *= 0.25;
        let part = step_limit(&x, radius);
        let next = displaced(stage, scaling, &point, &x, part)
            .filter(|next| -dot(&next.unbalanced, &x) <= 0.5 * dot(&point.unbalanced, &x).abs());
        match next {
            Some(next) => {
                point = next;
                radius = (2.0 * radius).min(options.max_step);
            }
            None => {
                radius *= 0.5;
                if radius < SMALLEST_RADIUS * options.max_step {
                    break;
                }
            }
        }
    }
    point
}

/// A shift, not much larger than needed, with which the tangent is positive definite on the
/// admissible motions.
fn definite_shift(
    stage: &Stage<'_>,
    scaling: &Scaling,
    k: &Tangent,
    point: &Point,
    last: f64,
) -> f64 {
    let size = stiffness_size(k, point);
    let definite = |shift: f64| k.is_positive_definite(stage.m, scaling, &point.space, size, shift);
    if definite(-SAFELY_DEFINITE) {
        return 0.0;
    }
    let mut shift = (0.25 * last).max(4.0 * SAFELY_DEFINITE);
    while shift < 1e3 && !definite(shift) {
        shift *= 4.0;
    }
    // Clear of the singular shift.
    2.0 * shift
}
