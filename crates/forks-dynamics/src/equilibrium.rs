//! Static equilibrium: the one reached from a start pose by scaling loads and spring preloads from 0 to 1.

use forks_mechanism::{
    JointId, Mechanism,
    lie::{Matrix, Pose},
};

use crate::{
    constraint_space::norm,
    loads::Loads,
    mass::mass_matrix,
    newton::{NewtonEnd, Point, Work, newton, relax},
    scaling::Scaling,
    springs::StartRest,
    stability::{Stability, is_positive_definite, stability},
    stage::Stage,
};

/// Relative residual at which an intermediate stage is good enough to go on from.
const INTERMEDIATE_TOLERANCE: f64 = 1e-6;
/// Newton steps after convergence, as long as each halves the residual.
const POLISHING_STEPS: usize = 3;
/// A load step is too long if it ends further than this part of its length from where the tangent at its
/// beginning points: the solution may lie on another branch.
const LARGEST_DEVIATION: f64 = 0.5;
/// Steps shorter than this (radians, lengths over r) are not examined.
const SHORT_STEP: f64 = 0.05;
/// Load steps that took at most so many iterations are followed by one of double length.
const QUICK: usize = 6;
/// Breaks of the path after which the search is given up.
const MAX_JUMPS: usize = 3;
/// Coordinates (radians, lengths over r) beyond this mean that the mechanism runs away.
const DIVERGED: f64 = 1e5;

/// How the search for an equilibrium ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquilibriumStatus {
    /// A stable equilibrium.
    Converged,
    /// An equilibrium at which the tangent stiffness has a negative eigenvalue on the admissible motions (with
    /// dead torques or follower loads: at which M⁻¹K_t has a negative real one).
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

/// How the loads are brought up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadPath {
    /// The continuous path from the start pose: adaptive steps, refused where they leave the branch that the
    /// tangent points along.
    #[default]
    Continuous,
    /// `load_steps` equal steps, each solved by plain Newton steps of limited length, nothing else controlled.
    /// May jump to another branch, often a saddle; for comparison with programs that work like this.
    EqualSteps,
}

/// Settings of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct EquilibriumOptions {
    /// Largest unbalanced force over the largest force, and largest loop gap over the mechanism's size.
    /// Default 1e-12; further digits are polished off as far as rounding allows.
    pub tolerance: f64,
    /// How the loads are brought up; default [`LoadPath::Continuous`].
    pub path: LoadPath,
    /// Load steps tried first, default 10. On the continuous path they grow where Newton's method converges quickly.
    pub load_steps: usize,
    /// Smallest load step, as part of the whole load, before the path counts as broken; default 1/640.
    pub min_load_step: f64,
    /// Newton iterations in one load step; default 30.
    pub max_iterations: usize,
    /// Largest change of a coordinate in one iteration: radians, or lengths over the mechanism's size;
    /// default 0.5.
    pub max_step: f64,
    /// Steps of relaxation where the path breaks; 0 turns it off. Default 200.
    pub max_relaxation_steps: usize,
}

impl EquilibriumOptions {
    /// Ten equal load steps of up to 80 plain Newton iterations each ([`LoadPath::EqualSteps`]), as the
    /// golden equilibria were made.
    pub fn equal_steps() -> Self {
        Self { path: LoadPath::EqualSteps, max_iterations: 80, ..Self::default() }
    }
}

impl Default for EquilibriumOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            path: LoadPath::Continuous,
            load_steps: 10,
            min_load_step: 1.0 / 640.0,
            max_iterations: 30,
            max_step: 0.5,
            max_relaxation_steps: 200,
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
    if options.path == LoadPath::EqualSteps {
        return search.equal_steps(point, stage_at);
    }
    // Close the loops under unstressed springs; a motion without springs may still be held by the loads.
    if let Some(closed) = search.solve(&stage_at(0.0), &point, INTERMEDIATE_TOLERANCE, 0) {
        point = closed;
    }
    search.follow(point, stage_at)
}

/// The equilibrium under `loads` reached from another equilibrium under slightly different loads, without
/// load steps: for changes of a wrench at full load.
///
/// Falls back to relaxation where Newton's method fails.
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
    if let Some(point) = search.solve(&stage, &point, options.tolerance, POLISHING_STEPS) {
        return search.finished(&stage, point, 1.0);
    }
    match search.jump(&stage, &point, options.tolerance, POLISHING_STEPS) {
        Ok(point) => search.finished(&stage, point, 1.0),
        Err(reached) => search.failed(&stage, reached.map_or(point, |p| *p), 0.0),
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
    prediction: Option<Vec<f64>>,
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
            prediction: None,
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
        let run =
            newton(stage, &self.scaling, start, self.options, tolerance, polish, &mut self.work);
        self.last_end = run.end;
        self.prediction = run.prediction;
        (run.end == NewtonEnd::Converged && !self.ran_away(&run.point)).then_some(run.point)
    }

    /// True if the last solution continues the path from `from`: it lies where the tangent pointed.
    fn continues(&self, from: &Point, to: &Point) -> bool {
        let Some(prediction) = &self.prediction else { return true };
        let v = self.m.difference(&from.q, &to.q);
        let x: Vec<f64> = v.iter().zip(&self.scaling.coordinates).map(|(v, d)| v / d).collect();
        let largest = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let off: Vec<f64> = x.iter().zip(prediction).map(|(x, p)| x - p).collect();
        largest < SHORT_STEP || norm(&off) <= LARGEST_DEVIATION * norm(&x)
    }

    fn is_stable(&self, stage: &Stage<'_>, point: &Point) -> bool {
        is_positive_definite(&point.tangent(stage, &self.scaling), &point.space)
    }

    fn ran_away(&self, point: &Point) -> bool {
        let v = self.m.difference(&self.start, &point.q);
        v.iter().zip(&self.scaling.coordinates).any(|(v, d)| (v / d).abs() > DIVERGED)
    }

    /// Raises the scale from 0 to 1 in equal steps, each solved from the pose of the one before.
    fn equal_steps<'s>(
        &mut self,
        start: Point,
        stage_at: impl Fn(f64) -> Stage<'s>,
    ) -> Equilibrium {
        let steps = self.options.load_steps.max(1);
        let mut point = start;
        for i in 1..=steps {
            let scale = i as f64 / steps as f64;
            let stage = stage_at(scale);
            match self.solve(&stage, &point, self.options.tolerance, POLISHING_STEPS) {
                Some(solved) => point = solved,
                None => {
                    let scale = (i - 1) as f64 / steps as f64;
                    return self.failed(&stage_at(scale), point, scale);
                }
            }
            self.load_steps += 1;
        }
        self.finished(&stage_at(1.0), point, 1.0)
    }

    /// Raises the scale from 0 to 1 with adaptive steps.
    ///
    /// A step is halved where Newton's method fails, where the solution is not where the tangent pointed, and
    /// where a stable path would turn unstable: only what the shortest step still shows is believed.
    fn follow<'s>(&mut self, start: Point, stage_at: impl Fn(f64) -> Stage<'s>) -> Equilibrium {
        let options = self.options;
        let (mut point, mut scale) = (start, 0.0);
        let mut stable = self.is_stable(&stage_at(0.0), &point);
        let mut step = 1.0 / options.load_steps.max(1) as f64;
        loop {
            let next: f64 = if scale + step > 1.0 - 1e-9 { 1.0 } else { scale + step };
            let stage = stage_at(next);
            let (tolerance, polish) = if next == 1.0 {
                (options.tolerance, POLISHING_STEPS)
            } else {
                (INTERMEDIATE_TOLERANCE, 0)
            };
            let before = self.work.iterations;
            let shortest = step <= options.min_load_step;
            let solved = self.solve(&stage, &point, tolerance, polish);
            let solved = solved.and_then(|p| {
                let p_stable = self.is_stable(&stage, &p);
                let sound = self.continues(&point, &p) && (p_stable || !stable);
                (sound || shortest).then_some((p, p_stable))
            });
            let reached = match solved {
                Some(solved) => {
                    if self.work.iterations - before <= QUICK {
                        step *= 2.0;
                    }
                    solved
                }
                None if !shortest => {
                    step *= 0.5;
                    continue;
                }
                None => match self.jump(&stage, &point, tolerance, polish) {
                    Ok(p) => {
                        step = 1.0 / options.load_steps.max(1) as f64;
                        let p_stable = self.is_stable(&stage, &p);
                        (p, p_stable)
                    }
                    Err(Some(p)) if self.ran_away(&p) => return self.failed(&stage, *p, scale),
                    Err(_) => return self.failed(&stage_at(scale), point, scale),
                },
            };
            (point, stable) = reached;
            scale = next;
            self.load_steps += 1;
            if next == 1.0 {
                return self.finished(&stage, point, 1.0);
            }
        }
    }

    /// The path ends here: looks for another equilibrium on the same stage by relaxation. An error is where
    /// that got to.
    fn jump(
        &mut self,
        stage: &Stage<'_>,
        from: &Point,
        tolerance: f64,
        polish: usize,
    ) -> Result<Point, Option<Box<Point>>> {
        self.relaxations += 1;
        if self.relaxations > MAX_JUMPS || self.options.max_relaxation_steps == 0 {
            return Err(None);
        }
        let from = Point::new(stage, &self.scaling, from.q.clone()).ok_or(None)?;
        let relaxed = relax(stage, &self.scaling, from, self.options, &mut self.work);
        self.solve(stage, &relaxed, tolerance, polish).ok_or_else(|| Some(Box::new(relaxed)))
    }

    /// The scaled mass matrix.
    fn mass(&self, point: &Point) -> Matrix {
        let mut mass = mass_matrix(self.m, &point.q);
        self.scaling.stiffness(&mut mass);
        mass
    }

    fn finished(&self, stage: &Stage<'_>, point: Point, scale: f64) -> Equilibrium {
        let k = point.tangent(stage, &self.scaling);
        let (status, free) = match stability(self.m, &k, &point.space, || self.mass(&point)) {
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
            match stability(self.m, &k, &point.space, || self.mass(&point)) {
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
