//! Static equilibrium: the one reached from a start pose by scaling loads and spring preloads from 0 to 1.

use forks_mechanism::{JointId, Mechanism, lie::Pose};

use crate::{
    loads::Loads,
    newton::{NewtonEnd, Point, Work, newton, relax},
    scaling::Scaling,
    springs::StartRest,
    stability::{Stability, stability},
    stage::Stage,
};

/// Relative residual at which an intermediate stage is good enough to go on from.
const INTERMEDIATE_TOLERANCE: f64 = 1e-6;
/// Newton steps after convergence, as long as each halves the residual.
const POLISHING_STEPS: usize = 3;
/// Coordinates (radians, lengths over r) beyond this mean that the mechanism runs away.
const DIVERGED: f64 = 1e5;

/// How the search for an equilibrium ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquilibriumStatus {
    /// A stable equilibrium.
    Converged,
    /// An equilibrium at which the tangent stiffness has a negative eigenvalue on the admissible motions.
    Unstable,
    /// The loads could not be brought to full size; the pose is the last equilibrium on the way.
    Stalled,
    /// A motion is resisted by nothing: see [`Equilibrium::free_motion`].
    Singular,
    /// The mechanism ran away.
    Diverged,
}

impl EquilibriumStatus {
    /// True if the pose is an equilibrium under the full loads.
    pub fn is_equilibrium(self) -> bool {
        matches!(self, Self::Converged | Self::Unstable)
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Unstable => "unstable",
            Self::Stalled => "stalled",
            Self::Singular => "singular",
            Self::Diverged => "diverged",
        }
    }
}

/// Settings of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct EquilibriumOptions {
    /// Largest unbalanced force over the largest force, and largest loop gap over the mechanism's size.
    /// Default 1e-12; further digits are polished off as far as rounding allows.
    pub tolerance: f64,
    /// Load steps tried first, default 10. They grow where Newton's method converges quickly.
    pub load_steps: usize,
    /// Smallest load step, as part of the whole load, before the path counts as broken; default 1/640.
    pub min_load_step: f64,
    /// Newton iterations in one load step; default 30.
    pub max_iterations: usize,
    /// Largest change of a coordinate in one iteration: radians, or lengths over the mechanism's size;
    /// default 0.5.
    pub max_step: f64,
    /// Steps of pseudo-transient relaxation where the path breaks; 0 turns it off. Default 400.
    pub max_relaxation_steps: usize,
}

impl Default for EquilibriumOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            load_steps: 10,
            min_load_step: 1.0 / 640.0,
            max_iterations: 30,
            max_step: 0.5,
            max_relaxation_steps: 400,
        }
    }
}

/// A static equilibrium, or how far the search got.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// How the search ended.
    pub status: EquilibriumStatus,
    /// Positions of all joints, loop-closing ones included.
    pub q: Vec<f64>,
    /// World poses of all links, the ground first.
    pub world_from_link: Vec<Pose>,
    /// λ with f + Gᵀλ = 0, rows as in [`forks_mechanism::loops`]; redundant rows carry nothing.
    pub multipliers: Vec<f64>,
    /// Largest unbalanced generalised force over the largest one, or loop gap over the mechanism's size.
    pub residual: f64,
    /// Part of the loads that is balanced: 1 at an equilibrium.
    pub load_scale: f64,
    /// Newton iterations, all load steps together.
    pub iterations: usize,
    /// Load steps that converged.
    pub load_steps: usize,
    /// Linear systems factored.
    pub factorisations: usize,
    /// Times the path broke and a new equilibrium was found by relaxation.
    pub relaxations: usize,
    /// Joints that take part in unresisted motions; empty unless the status is singular.
    pub free_motion: Vec<JointId>,
}

/// The equilibrium under `loads` reached from the pose `start` by scaling wrenches, gravity and spring
/// preloads together from 0 to 1.
///
/// At scale s every spring is s parts of itself and 1 − s parts of the same spring at rest in the start
/// pose. Servos are ignored ([`forks_mechanism::Preparation`] turns them into springs). Loops that are
/// open at the start are closed first.
///
/// # Panics
/// If `start` does not have `position_count` entries or a wrench acts on a link that does not exist.
pub fn solve_equilibrium(
    m: &Mechanism,
    start: &[f64],
    loads: &Loads,
    options: &EquilibriumOptions,
) -> Equilibrium {
    assert_eq!(start.len(), m.position_count(), "number of start positions");
    let rest = StartRest::new(m, start);
    let mut search = Search::new(m, start, options);
    let stage_at = |scale| Stage { m, loads, scale, rest: Some(&rest) };
    let Some(mut point) = Point::new(&stage_at(0.0), &search.scaling, start.to_vec()) else {
        return search.unusable(start);
    };
    // Close the loops under unstressed springs; a motion without springs may still be held by the loads.
    if let Some(closed) = search.solve(&stage_at(0.0), &point, INTERMEDIATE_TOLERANCE, 0) {
        point = closed;
    }
    search.follow(point, stage_at)
}

/// The equilibrium under `loads` reached from another equilibrium under slightly different loads, without
/// load steps: for changes of a wrench at full load.
///
/// Falls back to scaling the remaining unbalanced force away in steps where Newton's method fails.
///
/// # Panics
/// As [`solve_equilibrium`].
pub fn continue_equilibrium(
    m: &Mechanism,
    from: &Equilibrium,
    loads: &Loads,
    options: &EquilibriumOptions,
) -> Equilibrium {
    assert_eq!(from.q.len(), m.position_count(), "number of start positions");
    let mut search = Search::new(m, &from.q, options);
    let stage = Stage::full(m, loads);
    let Some(point) = Point::new(&stage, &search.scaling, from.q.clone()) else {
        return search.unusable(&from.q);
    };
    search.load_steps = 1;
    match search.solve(&stage, &point, options.tolerance, POLISHING_STEPS) {
        Some(point) => search.finished(&stage, point, 1.0),
        None => {
            search.relaxations += 1;
            let relaxed = relax(&stage, &search.scaling, point, options, &mut search.work);
            match search.solve(&stage, &relaxed, options.tolerance, POLISHING_STEPS) {
                Some(point) => search.finished(&stage, point, 1.0),
                None => search.failed(&stage, relaxed, 0.0),
            }
        }
    }
}

struct Search<'a> {
    m: &'a Mechanism,
    options: &'a EquilibriumOptions,
    scaling: Scaling,
    start: Vec<f64>,
    work: Work,
    load_steps: usize,
    relaxations: usize,
    last_end: NewtonEnd,
}

impl<'a> Search<'a> {
    fn new(m: &'a Mechanism, start: &[f64], options: &'a EquilibriumOptions) -> Self {
        Self {
            m,
            options,
            scaling: Scaling::new(m, start),
            start: start.to_vec(),
            work: Work::default(),
            load_steps: 0,
            relaxations: 0,
            last_end: NewtonEnd::Converged,
        }
    }

    /// Newton's method from `from` on `stage`; `None` where it does not converge.
    fn solve(
        &mut self,
        stage: &Stage<'_>,
        from: &Point,
        tolerance: f64,
        polish: usize,
    ) -> Option<Point> {
        let start = Point::new(stage, &self.scaling, from.q.clone())?;
        let (point, end) =
            newton(stage, &self.scaling, start, self.options, tolerance, polish, &mut self.work);
        self.last_end = end;
        (end == NewtonEnd::Converged && !self.ran_away(&point)).then_some(point)
    }

    fn ran_away(&self, point: &Point) -> bool {
        let v = self.m.difference(&self.start, &point.q);
        v.iter().zip(&self.scaling.coordinates).any(|(v, d)| (v / d).abs() > DIVERGED)
    }

    /// Raises the scale from 0 to 1 with adaptive steps.
    fn follow<'s>(&mut self, start: Point, stage_at: impl Fn(f64) -> Stage<'s>) -> Equilibrium {
        let options = self.options;
        let (mut point, mut scale) = (start, 0.0);
        let mut step = 1.0 / options.load_steps.max(1) as f64;
        loop {
            let next: f64 = if scale + step > 1.0 - 1e-9 { 1.0 } else { scale + step };
            let stage = stage_at(next);
            let last = next == 1.0;
            let (tolerance, polish) = if last {
                (options.tolerance, POLISHING_STEPS)
            } else {
                (INTERMEDIATE_TOLERANCE, 0)
            };
            let before = self.work.iterations;
            if let Some(solved) = self.solve(&stage, &point, tolerance, polish) {
                (point, scale) = (solved, next);
                self.load_steps += 1;
                if last {
                    return self.finished(&stage, point, 1.0);
                }
                if self.work.iterations - before <= 6 {
                    step *= 2.0;
                }
                continue;
            }
            if step > options.min_load_step {
                step *= 0.5;
                continue;
            }
            // The path ends here: look for another equilibrium at this scale.
            self.relaxations += 1;
            if self.relaxations > 3 || options.max_relaxation_steps == 0 {
                return self.failed(&stage_at(scale), point, scale);
            }
            let Some(from) = Point::new(&stage, &self.scaling, point.q.clone()) else {
                return self.failed(&stage_at(scale), point, scale);
            };
            let relaxed = relax(&stage, &self.scaling, from, options, &mut self.work);
            match self.solve(&stage, &relaxed, tolerance, polish) {
                Some(solved) => {
                    (point, scale) = (solved, next);
                    self.load_steps += 1;
                    if last {
                        return self.finished(&stage, point, 1.0);
                    }
                    step = 1.0 / options.load_steps.max(1) as f64;
                }
                None if self.ran_away(&relaxed) => return self.failed(&stage, relaxed, scale),
                None => return self.failed(&stage_at(scale), point, scale),
            }
        }
    }

    fn finished(&self, stage: &Stage<'_>, point: Point, scale: f64) -> Equilibrium {
        let k = point.tangent(stage, &self.scaling);
        let (status, free) = match stability(self.m, &k, &point.space) {
            Stability::Stable => (EquilibriumStatus::Converged, vec![]),
            Stability::Unstable => (EquilibriumStatus::Unstable, vec![]),
            Stability::Free(joints) => (EquilibriumStatus::Singular, joints),
        };
        self.outcome(status, free, point, scale)
    }

    fn failed(&self, stage: &Stage<'_>, point: Point, scale: f64) -> Equilibrium {
        let k = point.tangent(stage, &self.scaling);
        let (status, free) = if self.ran_away(&point) {
            (EquilibriumStatus::Diverged, vec![])
        } else {
            match stability(self.m, &k, &point.space) {
                Stability::Free(joints) => (EquilibriumStatus::Singular, joints),
                _ if self.last_end == NewtonEnd::NotFinite => (EquilibriumStatus::Diverged, vec![]),
                _ => (EquilibriumStatus::Stalled, vec![]),
            }
        };
        self.outcome(status, free, point, scale)
    }

    fn outcome(
        &self,
        status: EquilibriumStatus,
        free_motion: Vec<JointId>,
        point: Point,
        load_scale: f64,
    ) -> Equilibrium {
        Equilibrium {
            status,
            multipliers: point.multipliers(&self.scaling),
            residual: point.residual(),
            q: point.q,
            world_from_link: point.world_from_link,
            load_scale,
            iterations: self.work.iterations,
            load_steps: self.load_steps,
            factorisations: self.work.factorisations,
            relaxations: self.relaxations,
            free_motion,
        }
    }

    /// The start pose itself overflows.
    fn unusable(&self, start: &[f64]) -> Equilibrium {
        Equilibrium {
            status: EquilibriumStatus::Diverged,
            q: start.to_vec(),
            world_from_link: self.m.link_poses(start),
            multipliers: vec![0.0; forks_mechanism::loops::constraint_rows(self.m)],
            residual: f64::MAX,
            load_scale: 0.0,
            iterations: 0,
            load_steps: 0,
            factorisations: 0,
            relaxations: 0,
            free_motion: vec![],
        }
    }
}
