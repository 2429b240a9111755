//! The search for an equilibrium: follows the path of the loads from the start pose.

use forks_mechanism::{
    JointId, Mechanism,
    linalg::{Matrix, norm},
};

mod branching;

use branching::Leaving;

use crate::{
    equilibrium::{
        Equilibrium, EquilibriumOptions, EquilibriumStatus, LoadPath, PathEvent, PathEventKind,
    },
    mass::mass_matrix,
    newton::{NewtonEnd, Point, Work, newton, relax},
    phases::Phases,
    scaling::Scaling,
    stability::Stability,
    stage::Stage,
};

/// Relative residual at which an intermediate stage is good enough to go on from.
pub(crate) const INTERMEDIATE_TOLERANCE: f64 = 1e-6;
/// Newton steps after convergence, as long as each halves the residual.
pub(crate) const POLISHING_STEPS: usize = 3;
/// A load step is too long if it ends further than this part of its length from where the tangent
/// at its beginning points: the solution may lie on another branch.
const LARGEST_DEVIATION: f64 = 0.5;
/// Steps shorter than this (radians, lengths over r) are not examined.
const SHORT_STEP: f64 = 0.05;
/// Load steps that took at most so many iterations are followed by one of double length.
const QUICK: usize = 6;
/// Breaks of the path after which the search is given up.
const MAX_JUMPS: usize = 3;
/// Branches that begin further away (radians, lengths over r) than the shortest step reaches are
/// other ones.
const NEAR: f64 = 0.25;
/// Coordinates (radians, lengths over r) beyond this mean that the mechanism runs away.
const DIVERGED: f64 = 1e5;

pub(crate) struct Search<'a> {
    pub(crate) m: &'a Mechanism,
    pub(crate) options: &'a EquilibriumOptions,
    pub(crate) scaling: Scaling,
    start: Vec<f64>,
    pub(crate) work: Work,
    pub(crate) load_steps: usize,
    relaxations: usize,
    last_end: NewtonEnd,
    prediction: Option<Vec<f64>>,
    pub(crate) events: Vec<PathEvent>,
    on_path: bool,
    own_loads: Option<Box<Equilibrium>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(m: &'a Mechanism, start: &[f64], options: &'a EquilibriumOptions) -> Self {
        Self {
            m,
            options,
            scaling: Scaling::new(m, start).with_algebra(m, options.algebra),
            start: start.to_vec(),
            work: Work::default(),
            load_steps: 0,
            relaxations: 0,
            last_end: NewtonEnd::Converged,
            prediction: None,
            events: vec![],
            on_path: true,
            own_loads: None,
        }
    }

    /// The equilibrium at the end of a path.
    pub(crate) fn along(mut self, phases: &Phases<'_>) -> Equilibrium {
        let start = phases.start();
        let unloaded = phases.stage(0.0);
        let Some(mut point) = Point::new(&unloaded, &self.scaling, start.to_vec()) else {
            return self.unusable(start);
        };
        if self.options.path == LoadPath::EqualSteps {
            return self.equal_steps(point, phases);
        }
        // Close the loops under unstressed springs; a motion without springs may still be held by
        // the loads.
        if let Some(closed) = self.solve(&unloaded, &point, INTERMEDIATE_TOLERANCE, 0) {
            point = closed;
        }
        self.follow(point, phases)
    }

    /// Newton's method from `from` on `stage`; `None` where it does not converge.
    pub(crate) fn solve(
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
        let x = self.displacement(from, to);
        let largest = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let off: Vec<f64> = x.iter().zip(prediction).map(|(x, p)| x - p).collect();
        largest < SHORT_STEP || norm(&off) <= LARGEST_DEVIATION * norm(&x)
    }

    /// True if the tangent at a point under the loads of another stage is positive definite.
    fn resists(&self, stage: &Stage<'_>, point: &Point) -> bool {
        let at = Point::new(stage, &self.scaling, point.q.clone());
        at.is_some_and(|p| self.is_stable(stage, &p))
    }

    pub(crate) fn is_stable(&self, stage: &Stage<'_>, point: &Point) -> bool {
        let k = point.tangent(stage, &self.scaling);
        k.is_positive_definite(
            self.m,
            &self.scaling,
            &point.space,
            k.size().max(f64::MIN_POSITIVE),
            0.0,
        )
    }

    pub(crate) fn ran_away(&self, point: &Point) -> bool {
        let v = self.m.difference(&self.start, &point.q);
        v.iter().zip(&self.scaling.coordinates).any(|(v, d)| (v / d).abs() > DIVERGED)
    }

    /// Raises the loads in equal steps, each solved from the pose of the one before.
    fn equal_steps(&mut self, start: Point, phases: &Phases<'_>) -> Equilibrium {
        let per_phase = self.options.load_steps.max(1);
        let steps = per_phase * phases.end() as usize;
        let mut point = start;
        let mut stable = self.is_stable(&phases.stage(0.0), &point);
        for i in 1..=steps {
            let at = i as f64 / per_phase as f64;
            let stage = phases.stage(at);
            let end = i % per_phase == 0;
            let polish = if end { POLISHING_STEPS } else { 0 };
            match self.solve(&stage, &point, self.options.tolerance, polish) {
                Some(solved) => {
                    let solved_stable = self.is_stable(&stage, &solved);
                    self.on_path &= self.continues(&point, &solved) && (solved_stable || !stable);
                    (point, stable) = (solved, solved_stable);
                    if end && i < steps {
                        self.own_loads = Some(Box::new(self.finished(&stage, point.clone())));
                    }
                }
                None => {
                    let at = (i - 1) as f64 / per_phase as f64;
                    return self.failed(&phases.stage(at), point, at / phases.end());
                }
            }
            self.load_steps += 1;
        }
        // An unstable end is no stable branch's, however it was reached.
        self.on_path &= stable;
        self.finished(&phases.stage(phases.end()), point)
    }

    /// Raises the loads with adaptive steps.
    ///
    /// A step is halved where Newton's method fails, where the solution is not where the tangent
    /// pointed, and where a stable path would turn unstable: only what the shortest step still
    /// shows is believed. An unstable equilibrium is left for the stable branch that leaves it.
    fn follow(&mut self, start: Point, phases: &Phases<'_>) -> Equilibrium {
        let options = self.options;
        let (mut point, mut at) = (start, 0.0);
        let mut stable = self.is_stable(&phases.stage(0.0), &point);
        let first = 1.0 / options.load_steps.max(1) as f64;
        let mut step = first;
        // No branch was found where the path turned unstable: it is looked for once more at the
        // end.
        let mut lost = false;
        loop {
            if options.cancel.is_asked() {
                return self.failed(&phases.stage(at), point, at / phases.end());
            }
            let end = phases.end_of_phase(at);
            let next: f64 = if at + step > end - 1e-9 { end } else { at + step };
            let (last, end_of_phase) = (next == phases.end(), next == end);
            let stage = phases.stage(next);
            let (tolerance, polish) = if end_of_phase {
                (options.tolerance, POLISHING_STEPS)
            } else {
                (INTERMEDIATE_TOLERANCE, 0)
            };
            let before = self.work.iterations;
            let shortest = step <= options.min_load_step;
            // On a stable path the pose resists the new loads as it resisted the old ones, or the
            // step is too long: Newton's method would head for a saddle, or for the other of two
            // branches.
            let resists = !stable || self.resists(&stage, &point);
            let solved = match (resists, shortest) {
                (true, _) => self.solve(&stage, &point, tolerance, polish),
                (false, true) => self.descend(&stage, &point, tolerance, polish).ok(),
                (false, false) => None,
            };
            let far = !resists && solved.as_ref().is_some_and(|p| self.is_far(&point, p));
            let solved = solved.and_then(|p| {
                let p_stable = self.is_stable(&stage, &p);
                let sound = self.continues(&point, &p) && (p_stable || !stable);
                (sound || shortest).then_some((p, p_stable))
            });
            if let Some((p, _)) = solved.as_ref().filter(|_| far) {
                self.relaxations += 1;
                self.record(next / phases.end(), PathEventKind::SnapThrough, &point, p);
            }
            let (mut reached, mut reached_stable) = match solved {
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
                        step = first;
                        let part = next / phases.end();
                        self.record(part, PathEventKind::SnapThrough, &point, &p);
                        let p_stable = self.is_stable(&stage, &p);
                        (p, p_stable)
                    }
                    Err(Some(p)) if self.ran_away(&p) => {
                        return self.failed(&stage, *p, at / phases.end());
                    }
                    Err(_) => return self.failed(&phases.stage(at), point, at / phases.end()),
                },
            };
            if !reached_stable && (!lost || last) {
                match self.leave(&stage, &reached, next / phases.end(), tolerance, polish) {
                    Leaving::Left(p) => {
                        (reached, reached_stable, step) = (*p, true, first);
                        lost = false;
                    }
                    Leaving::Nowhere => lost = true,
                    Leaving::NotUnstable => {}
                    // The next step is as careful as the one before.
                    Leaving::Neutral => reached_stable = stable,
                }
            }
            (point, stable) = (reached, reached_stable);
            at = next;
            self.load_steps += 1;
            if last {
                return self.finished(&stage, point);
            }
            if end_of_phase {
                step = first;
                self.own_loads = Some(Box::new(self.finished(&stage, point.clone())));
            }
        }
    }

    /// Notes an event of the path from `from` to `to`.
    pub(crate) fn record(&mut self, part: f64, kind: PathEventKind, from: &Point, to: &Point) {
        let moved = self.displacement(from, to);
        let mut largest = (JointId::new(0), -1.0f64);
        for id in (0..self.m.joints().len()).map(JointId::new) {
            let size = self.m.velocity_range(id).fold(0.0f64, |s, k| s.max(moved[k].abs()));
            if size > largest.1 {
                largest = (id, size);
            }
        }
        self.on_path = false;
        self.events.push(PathEvent { load_scale: part, kind, joint: largest.0 });
    }

    /// True if two points are too far apart for one step of a path.
    pub(crate) fn is_far(&self, from: &Point, to: &Point) -> bool {
        self.displacement(from, to).iter().any(|x| x.abs() > NEAR)
    }

    /// Dimensionless displacement between two points.
    pub(crate) fn displacement(&self, from: &Point, to: &Point) -> Vec<f64> {
        let v = self.m.difference(&from.q, &to.q);
        v.iter().zip(&self.scaling.coordinates).map(|(v, d)| v / d).collect()
    }

    /// The path ends here: looks for another equilibrium on the same stage by relaxation. An error
    /// is where that got to.
    pub(crate) fn jump(
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
        self.descend(stage, from, tolerance, polish)
    }

    /// The equilibrium on a stage downhill from a pose, or how far the descent got.
    fn descend(
        &mut self,
        stage: &Stage<'_>,
        from: &Point,
        tolerance: f64,
        polish: usize,
    ) -> Result<Point, Option<Box<Point>>> {
        let from = Point::new(stage, &self.scaling, from.q.clone()).ok_or(None)?;
        let relaxed = {
            let tolerance = self.options.tolerance.sqrt();
            relax(stage, &self.scaling, from, self.options, tolerance, &mut self.work)
        };
        self.solve(stage, &relaxed, tolerance, polish).ok_or_else(|| Some(Box::new(relaxed)))
    }

    /// The scaled mass matrix.
    pub(crate) fn mass(&self, point: &Point) -> Matrix {
        let mut mass = mass_matrix(self.m, &point.q);
        self.scaling.stiffness(&mut mass);
        mass
    }

    /// Whether an equilibrium is stable, and which joints move freely.
    pub(crate) fn judge(&self, stage: &Stage<'_>, point: &Point) -> Stability {
        let k = point.tangent(stage, &self.scaling);
        let mass = || self.mass(point);
        let found = k.stability(self.m, &self.scaling, &point.space, mass);
        found.unwrap_or_else(|| self.judge_dense(stage, point))
    }

    /// The same with the whole matrix: loads without a potential on a large mechanism whose
    /// tangent's symmetric part is not positive definite.
    fn judge_dense(&self, stage: &Stage<'_>, point: &Point) -> Stability {
        let scaling = Scaling { plan: None, ..self.scaling.clone() };
        let Some(point) = Point::new(stage, &scaling, point.q.clone()) else {
            return Stability::Unstable;
        };
        let k = point.tangent(stage, &scaling);
        let found = k.stability(self.m, &scaling, &point.space, || self.mass(&point));
        found.unwrap_or(Stability::Unstable)
    }

    pub(crate) fn finished(&self, stage: &Stage<'_>, point: Point) -> Equilibrium {
        let (status, free) = match self.judge(stage, &point) {
            Stability::Stable => (EquilibriumStatus::Converged, vec![]),
            Stability::Unstable => (EquilibriumStatus::Unstable, vec![]),
            Stability::Free(joints) => (EquilibriumStatus::Singular, joints),
        };
        self.outcome(status, free, point, 1.0)
    }

    pub(crate) fn failed(&self, stage: &Stage<'_>, point: Point, scale: f64) -> Equilibrium {
        let (status, free) = if self.options.cancel.is_asked() {
            (EquilibriumStatus::Cancelled, vec![])
        } else if self.ran_away(&point) {
            (EquilibriumStatus::Diverged, vec![])
        } else {
            match self.judge(stage, &point) {
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
            multipliers: point.multipliers(self.m, &self.scaling),
            residual: point.residual(),
            q: point.q,
            world_from_link: point.world_from_link,
            load_scale,
            iterations: self.work.iterations,
            load_steps: self.load_steps,
            factorisations: self.work.factorisations,
            relaxations: self.relaxations,
            free_motion,
            events: self.events.clone(),
            own_loads: self.own_loads.clone(),
            on_path: self.on_path,
        }
    }

    /// The start pose itself overflows.
    pub(crate) fn unusable(&self, start: &[f64]) -> Equilibrium {
        Equilibrium {
            status: EquilibriumStatus::Diverged,
            q: start.to_vec(),
            world_from_link: self.m.link_poses(start),
            multipliers: vec![0.0; forks_mechanism::kinematics::loops::constraint_rows(self.m)],
            residual: f64::MAX,
            load_scale: 0.0,
            iterations: 0,
            load_steps: 0,
            factorisations: 0,
            relaxations: 0,
            free_motion: vec![],
            events: vec![],
            own_loads: None,
            on_path: false,
        }
    }
}
